"""A selection → YAML text that `SelectiveBuilder.from_yaml_str` reads.

Equal selections have equal text: everything unordered is sorted.

    operators:
      aten::relu:
        include_all_overloads: false
        is_root_operator: true
        is_used_for_training: false
"""

from __future__ import annotations

from typing import Final

import yaml

from opgen.selective_build.selector import SelectiveBuilder

_LISTS: Final = ("kernel_metadata", "et_kernel_metadata", "custom_classes", "build_features")


class _Dumper(yaml.SafeDumper):
    """Writes YAML without aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def render_selection(selector: SelectiveBuilder) -> str:
    """Return the selection as YAML."""
    data = selector.to_dict()
    # Empty values have no effect; torch's own tools omit them too.
    kept = {key: value for key, value in data.items() if value or key not in _LISTS}
    return yaml.dump(kept, Dumper=_Dumper, sort_keys=True, default_flow_style=False, allow_unicode=True)
