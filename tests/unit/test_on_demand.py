"""What tables only name: that it is there, and is what they say."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence

import pytest

from opgen.dest.autograd_table import AUTOGRAD_EMITTERS, OPERATOR_EMITTERS
from opgen.dest.python_table import BINDING_EMITTERS, NODE_EMITTERS
from opgen.dest.table import EMITTERS
from opgen.on_demand import OnDemand

NAMED = (
    *((emitter.emit, ["Program", "Options", "TemplateSet"]) for emitter in EMITTERS),
    *((emitter.emit, ["AutogradProgram", "TemplateSet"]) for emitter in AUTOGRAD_EMITTERS),
    *((emitter.emit, ["AutogradProgram", "TemplateSet"]) for emitter in NODE_EMITTERS),
    *((emitter.emit, ["Program", "TemplateSet"]) for emitter in OPERATOR_EMITTERS),
    *((emitter.emit, ["PythonProgram", "TemplateSet"]) for emitter in BINDING_EMITTERS),
)


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
