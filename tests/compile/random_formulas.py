"""Formulas of a grammar: right C++ if `grad` and `self` are tensors, and the library has the functions of `HEADER`."""

from __future__ import annotations

import random
from typing import Final

HEADER: Final = """
#pragma once
#include <ATen/core/Tensor.h>
#include <tuple>
#include <vector>
namespace {namespace} {{
template <typename... T> at::Tensor use(const T&...);
template <typename... T> std::vector<at::Tensor> use_list(const T&...);
template <typename... T> std::tuple<at::Tensor, at::Tensor> use_two(const T&...);
template <typename... T> std::tuple<at::Tensor, at::Tensor, at::Tensor> use_three(const T&...);
}}
"""
"""What formulas call: functions that take everything."""


def formula(chance: random.Random, depth: int = 3) -> str:
    """Return a formula that is right C++ if `grad` and `self` are tensors."""
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(("grad", "grad", "self", "grad.clone()", "self.sin()", "at::zeros_like(self)", "(grad)"))
    inner = [formula(chance, depth - 1) for _ in range(2)]
    shapes = (
        *("{0} * {1}", "{0} + {1}", "-({0})", "({0}) / ({1} + 1.5e-3)", "at::where({0} > 0, {1}, {0})"),
        *("({0}).mul(0x1F).sum_to_size_symint(self.sym_sizes())", "[&] {{ return {0}; }}()", "(true ? {0} : {1})"),
        *("[](const at::Tensor & t) {{ return t * 2; }}({0})", "({0}).to(self.options())", "at::add({0}, {1}, 1'000)"),
        *("std::vector<at::Tensor>{{{0}, {1}}}[0]", "({0}).index_select(0, at::arange(1)).expand_as(self)"),
        *("static_cast<at::Tensor>({0})", "{0} /* a comment: ' */", "std::get<0>(std::make_tuple({0}, {1}))"),
        *(
            'use({0}, \'\\\'\', "a\\"b", R"(raw ")", 1e-3f, 0b11, nullptr)',
            "use({0}, !({0}).defined(), sizeof(int) << 2)",
        ),
        *(
            "[t = {0}](auto... rest) {{ return use(t, rest...); }}({1}, 2)",
            "({0}, {1})",
            "(({0}).defined() ? {0} : {1})",
        ),
        *("use<at::Tensor, int>({0}, 'x')", "at::Tensor({0})", "c10::MaybeOwned<at::Tensor>::borrowed({0})->sum()"),
    )
    return chance.choice(shapes).format(*inner)
