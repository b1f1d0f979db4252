"""Operators of MLX: one YAML file in, primitives, gradients, Python bindings and Metal glue out."""
