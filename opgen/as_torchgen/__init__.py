"""Programs that import torchgen → the same programs, running on opgen.

    import opgen.as_torchgen
    opgen.as_torchgen.install()

    from torchgen.gen import parse_native_yaml      # opgen's

The modules below this package have torchgen's names and its calling conventions (methods where torchgen has
methods, lists that may be changed, `AssertionError` for errors), over opgen's values.  Nothing else in opgen
imports them.  docs/library.md says what there is, and which name of opgen's each stands for.
"""

from __future__ import annotations

from opgen.as_torchgen.finder import install as install
from opgen.as_torchgen.finder import installed as installed
from opgen.as_torchgen.finder import uninstall as uninstall

__all__ = ["install", "installed", "uninstall"]
