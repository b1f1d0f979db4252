"""A YAML file of MLX operators → primitives, gradients, Python bindings and Metal kernels."""

from __future__ import annotations

from typing import Final

FILE_NAME: Final = "mlx_ops.yaml"
"""The file that defines the operators; here, because `opgen gen` looks for it without importing the rest."""
