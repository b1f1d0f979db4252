"""The YAML loader that torchgen's users subclass: PyYAML's, in C if available."""

from __future__ import annotations

from typing import Any

import yaml

YamlLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
YamlDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
