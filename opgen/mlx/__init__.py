"""Operators of MLX: one YAML file in, primitives, gradients, Python bindings and Metal glue out."""

from __future__ import annotations

from typing import Final

FILE_NAME: Final = "mlx_ops.yaml"
"""The file that defines the operators; here, because `opgen gen` looks for it without importing the rest."""
