"""What differs between our definitions and the installed torch → its part of `differences.yaml`.

python -m tests.packaged.rewrite
"""

from __future__ import annotations

from pathlib import Path

import torchgen
import yaml

from opgen.releases.known import packaged_release
from tests.packaged import test_declarations, test_definitions
from tests.packaged.differences import FILE, installed_release, read_differences


def main() -> None:
    """Rewrite the part of the installed release; its own definitions may not differ from it."""
    release = installed_release()
    found = {**test_definitions.differences(), "declarations": test_declarations.differences(_torch_source())}
    differing = {kind: sorted(facts) for kind, facts in found.items() if facts}
    if differing and release == packaged_release():
        raise SystemExit(f"our definitions are those of torch {release.name}, and must not differ:\n{found}")
    everything = {**read_differences(), release.name: differing}
    ordered = {name: everything[name] for name in sorted(everything) if everything[name]}
    FILE.write_text(yaml.safe_dump(ordered, sort_keys=False, width=1000), encoding="utf-8")
    print(f"torch {release.name}: {sum(map(len, differing.values()))} facts differ")


def _torch_source() -> Path:
    return Path(torchgen.__path__[0]) / "packaged" / "ATen"


if __name__ == "__main__":
    main()
