"""A selection → YAML text that `SelectiveBuilder.from_yaml_str` reads.

The same selection is always the same text: whatever has no order of its own is sorted.

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
    # What is empty says nothing; torch's own tools leave it out as well.
    kept = {key: value for key, value in data.items() if value or key not in _LISTS}
    return yaml.dump(kept, Dumper=_Dumper, sort_keys=True, default_flow_style=False, allow_unicode=True)
