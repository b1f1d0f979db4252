"""The YAML reader that torchgen's users derive theirs from: PyYAML's, in C where there is one."""

from __future__ import annotations

from typing import Any

import yaml

YamlLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
YamlDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
