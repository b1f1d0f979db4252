"""A drop-in replacement for torchgen: programs that import torchgen run on opgen instead.

    import opgen.as_torchgen
    opgen.as_torchgen.install()

    from torchgen.gen import parse_native_yaml      # opgen's

The modules in this package have torchgen's names and APIs (methods where torchgen has methods, mutable lists,
`AssertionError` for errors), and wrap opgen's values.  Nothing else in opgen imports them.  docs/library.md lists
the supported names and their counterparts in opgen.
"""

from __future__ import annotations

from opgen.as_torchgen.finder import install as install
from opgen.as_torchgen.finder import installed as installed
from opgen.as_torchgen.finder import uninstall as uninstall

__all__ = ["install", "installed", "uninstall"]
