"""The heuristics that the installed torch ships, as oracles: contexts like those that Inductor makes, and decisions."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator
from typing import Any, Final

import torch
from torch._inductor.autoheuristic import autoheuristic_utils as utilities
from torch._inductor.autoheuristic.autoheuristic_utils import AHContext
from torch._inductor.fx_passes import pad_mm

SHIPPED: Final = ("MMRankingA100", "MMRankingH100", "MixedMMA100", "MixedMMH100", "PadMMA100", "PadMMH200")


def load(name: str) -> Any:
    """The heuristic that torch ships under this name."""
    return getattr(importlib.import_module(f"torch._inductor.autoheuristic.artifacts._{name}"), name)()


def contexts(decision: str, count: int, seed: int) -> Iterator[AHContext]:
    """Contexts drawn from a grid of sizes, element types and layouts, without what torch computes of them."""
    draw = random.Random(f"{decision} {seed}")
    make = {"pad_mm": _pad_context, "mm": _mm_context, "mixed_mm": _mixed_context}[decision]
    for _ in range(count):
        yield make(draw)


def augmented(decision: str, context: AHContext) -> AHContext:
    """The context with what torch computes before it asks a heuristic."""
    context.apply_operations(getattr(utilities, f"{decision}_operations")())
    return context


def _size(draw: random.Random, low: float, high: float) -> int:
    """One of twelve sizes to the octave, between 2**low and 2**high; half of them odd."""
    size = round(2 ** (round(draw.uniform(low, high) * 12) / 12))
    return size if draw.random() < 0.5 else size // 16 * 16 or size


def _layout(draw: random.Random, rows: int, columns: int) -> tuple[int, int]:
    return (columns, 1) if draw.random() < 0.5 else (1, rows)


def _pad_context(draw: random.Random) -> AHContext:
    m, k, n = (_size(draw, 9, 14) for _ in range(3))
    dtype = draw.choice([torch.float16, torch.bfloat16, torch.float32])
    mat1 = torch.empty_strided((m, k), _layout(draw, m, k), dtype=dtype, device="meta")
    mat2 = torch.empty_strided((k, n), _layout(draw, k, n), dtype=dtype, device="meta")
    alignment = pad_mm.get_alignment_size(mat1)
    padded = [pad_mm.get_padded_length(size, alignment) for size in (m, k, n)]
    context = pad_mm.get_context(mat1, mat2, draw.random() < 0.5, draw.random() < 0.5, *padded)
    if dtype is torch.float32:
        _set(context, "using_tf32", draw.random() < 0.5)
    return context


def _set(context: AHContext, name: str, value: object) -> None:
    context.context_dict[name] = value
    next(feature for feature in context.features if feature.name == name).value = value


def _mm_context(draw: random.Random) -> AHContext:
    dtype = draw.choice([torch.float16, torch.bfloat16, torch.float32])
    context = _matmul_context(draw, (0, 13), dtype, dtype)
    tf32 = draw.random() < 0.5 if dtype is torch.float32 else "not_float_32"
    context.add_feature("using_tf32", tf32, is_categorical=True)
    return context


def _mixed_context(draw: random.Random) -> AHContext:
    return _matmul_context(
        draw, (0, 7), draw.choice([torch.float16, torch.bfloat16]), draw.choice([torch.int8, torch.uint8]), least=10
    )


def _matmul_context(
    draw: random.Random, rows: tuple[int, int], dtype1: torch.dtype, dtype2: torch.dtype, least: int = 4
) -> AHContext:
    m, k, n = _size(draw, *rows), _size(draw, least, 14), _size(draw, least, 14)
    context = AHContext()
    for name, size in (("m", m), ("k", k), ("n", n)):
        context.add_feature(name, size)
    context.add_feature("mat1_dtype", dtype1, is_categorical=True)
    context.add_feature("mat2_dtype", dtype2, is_categorical=True)
    stride1, stride2 = _layout(draw, m, k), _layout(draw, k, n)
    utilities.context_add_strides(context, "mat1", stride1)
    utilities.context_add_strides(context, "mat2", stride2)
    context.add_feature("mat1_iscontig", stride1[1] == 1, is_categorical=True)
    context.add_feature("mat2_iscontig", stride2[1] == 1, is_categorical=True)
    return context
