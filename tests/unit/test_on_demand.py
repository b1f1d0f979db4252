"""The functions that tables of emitters only name exist and have the arguments that the table says."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Sequence

import pytest

from opgen.commands import (
    _bindings,
    _derivatives,
    _extension,
    gen,
    gen_annotated_fn_args,
    gen_autograd,
    gen_pyi,
    gen_static_runtime,
    gen_unboxing,
)
from opgen.extension import units
from opgen.output.emitter import Emitter, OnDemand

ATEN = ["Program", "Options", "TemplateSet"]
NODES = ["AutogradProgram", "TemplateSet"]
OPERATORS = ["Program", "TemplateSet"]
TABLES: tuple[tuple[Iterable[Emitter[...]], Sequence[str]], ...] = (
    *((table, ATEN) for table in gen.EMITTERS.values()),
    ([Emitter("shims", gen.SHIM_SOURCES), Emitter("shim headers", gen.SHIM_HEADERS)], ATEN),
    (
        (*_extension.EMITTERS, *_extension.STABLE_EMITTERS, *_extension.KERNEL_EMITTERS, *units.EMITTERS),
        ["Extension", "TemplateSet"],
    ),
    ((*_derivatives.NODES, *_derivatives.KERNELS, *_derivatives.PYTHON_NODES), NODES),
    ((*gen_autograd.TRACING, *gen_autograd.FACTORIES), OPERATORS),
    (_bindings.BINDING_EMITTERS, ["PythonProgram", "TemplateSet"]),
    (gen_pyi.EMITTERS, ["PythonProgram"]),
    ((*gen_annotated_fn_args.EMITTERS, *gen_static_runtime.EMITTERS, *gen_unboxing.EMITTERS), OPERATORS),
)
NAMED = [(emitter.emit, takes) for table, takes in TABLES for emitter in table]


@pytest.mark.parametrize(("emit", "takes"), NAMED, ids=str)
def test_emitters_are_what_their_table_says(emit: object, takes: Sequence[str]) -> None:
    """A type checker can't see through a name."""
    assert isinstance(emit, OnDemand)
    signature = inspect.signature(getattr(importlib.import_module(emit.module), emit.name))
    assert [parameter.annotation for parameter in signature.parameters.values()] == takes
    assert signature.return_annotation == "Iterator[OutputFile]"


def test_a_function_on_demand_is_called_with_what_is_given() -> None:
    assert OnDemand("operator", "sub")(5, 3) == 2
    assert OnDemand("builtins", "sorted")([1, 2], reverse=True) == [2, 1]
