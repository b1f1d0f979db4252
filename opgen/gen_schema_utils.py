"""Example values → the schema of an operator that takes and returns such values.

    FunctionSchemaGen.from_example("scale", (("x", torch.ones(2)), ("by", 3), ("dims", [0, 1])), (torch.ones(2),))
    # scale(Tensor x, int by, int[2] dims) -> Tensor

Torch is not imported: values of its classes are known by the names of their classes.  What has no type in
a schema is a `SchemaInferenceError`, which tells of every such value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeVar

from opgen.diagnostics import Diagnostic, Diagnostics, UserError
from opgen.model import (
    Annotation,
    Argument,
    Arguments,
    BaseTy,
    BaseType,
    CustomClassType,
    FunctionSchema,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    Type,
)

__all__ = ["ArgumentGen", "FunctionSchemaGen", "ReturnGen", "SchemaInferenceError", "TypeGen"]

T = TypeVar("T")

_TORCH_TYPES: Final[Mapping[str, BaseTy]] = MappingProxyType(
    {
        "torch.Tensor": BaseTy.Tensor,
        "torch.SymInt": BaseTy.SymInt,
        "torch.SymBool": BaseTy.SymBool,
        "torch.SymFloat": BaseTy.float,
        "torch.dtype": BaseTy.ScalarType,
        "torch.layout": BaseTy.Layout,
        "torch.device": BaseTy.Device,
        "torch.memory_format": BaseTy.MemoryFormat,
        "torch.qscheme": BaseTy.QScheme,
        "torch._C.Generator": BaseTy.Generator,
        "torch.storage.UntypedStorage": BaseTy.Storage,
        "torch.storage.TypedStorage": BaseTy.Storage,
        "torch.Stream": BaseTy.Stream,
        "torch._utils._CudaStreamBase": BaseTy.Stream,
        "torch.fx.graph_module.GraphModule": BaseTy.GraphModule,
    }
)
"""Torch's classes, and those that they derive from, by their full names."""
_NUMBERS: Final = (BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.Scalar)
"""Types of numbers, each of which holds values of those before it."""
_SCRIPT_OBJECTS: Final = ("torch.ScriptObject", "torch._library.fake_class_registry.FakeScriptObject")
_CLASS_PREFIX: Final = "__torch__.torch.classes."


class SchemaInferenceError(UserError, RuntimeError):
    """Values that have no type in a schema."""


class TypeGen:
    """The type of a value."""

    convert_to_base_ty: Final[Mapping[type, BaseTy]] = MappingProxyType(
        {
            int: BaseTy.int,
            float: BaseTy.float,
            str: BaseTy.str,
            bool: BaseTy.bool,
            complex: BaseTy.Scalar,
        }
    )
    """The types of Python's own values."""

    @staticmethod
    def from_example(obj: Any) -> Type:
        """Return the type that a schema has for `obj`; a list or tuple is a list of that length."""
        if isinstance(obj, (list, tuple)):
            return ListType(_element_type(obj), len(obj))
        for parent in type(obj).__mro__:
            name = f"{parent.__module__}.{parent.__qualname__}"
            if name in _SCRIPT_OBJECTS:
                return CustomClassType(_class_name(obj))
            base = TypeGen.convert_to_base_ty.get(parent) or _TORCH_TYPES.get(name)
            if base is not None:
                return BaseType(base)
        if obj is None:
            raise _no_type("None doesn't tell the type of the argument", "give an example that has a value")
        raise _no_type(f"a schema has no type for {_described(obj)}", "take it apart into tensors, numbers and text")


class ReturnGen:
    """A returned value of a schema."""

    @staticmethod
    def from_example(name: str | None, obj: Any, annotation: Annotation | None) -> Return:
        """Return the schema of a returned `obj`."""
        return Return(name, TypeGen.from_example(obj), annotation)


class ArgumentGen:
    """An argument of a schema."""

    @staticmethod
    def from_example(name: str, obj: Any, default: str | None, annotation: Annotation | None) -> Argument:
        """Return the schema of the argument `name`, for which `obj` may be passed."""
        return Argument(name, TypeGen.from_example(obj), default, annotation)


class FunctionSchemaGen:
    """A whole schema."""

    @staticmethod
    def from_example(
        op_name: str, example_inputs: Iterable[tuple[str, Any]], example_outputs: Sequence[Any]
    ) -> FunctionSchema:
        """Return the schema of an operator that takes these arguments and returns these values.

        All arguments are positional.  Names that can't stand in a schema are errors, with their places.
        """
        log = Diagnostics()
        arguments = list(_inferred(_inputs(example_inputs), "argument", log))
        # What returns None returns nothing.
        outputs = () if len(example_outputs) == 1 and example_outputs[0] is None else example_outputs
        returns = tuple(_inferred(_outputs(outputs), "result", log))
        parsed = _collected(lambda: Arguments.parse(", ".join(map(str, arguments))), log)
        name = _collected(lambda: OperatorName.parse(op_name), log)
        if parsed is None or name is None or log.has_errors:
            raise SchemaInferenceError(*log.all)
        return FunctionSchema(name, parsed, returns)


def _inputs(examples: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Callable[[], Argument]]]:
    """Yield each argument by its name, and how to infer it."""
    for name, value in examples:
        yield name, partial(ArgumentGen.from_example, name, value, None, None)


def _outputs(examples: Iterable[Any]) -> Iterator[tuple[str, Callable[[], Return]]]:
    """Yield each returned value by its number, and how to infer it."""
    for at, value in enumerate(examples):
        yield str(at), partial(ReturnGen.from_example, None, value, None)


def _inferred(parts: Iterable[tuple[str, Callable[[], T]]], what: str, log: Diagnostics) -> Iterator[T]:
    """Yield what can be inferred; the log names each argument or result that can't."""
    for name, infer in parts:
        try:
            yield infer()
        except SchemaInferenceError as problem:
            for found in problem.diagnostics:
                log.error(found.id, f"{what} '{name}': {found.message}", label=found.label)


def _collected(make: Callable[[], T], log: Diagnostics) -> T | None:
    try:
        return make()
    except UserError as problem:
        log.extend(problem.diagnostics)
        return None


def _element_type(values: Sequence[Any]) -> Type:
    """Return the type that all elements of a list have in common."""
    if not values:
        raise _no_type("an empty list doesn't tell the type of its elements", "give an example that has elements")
    types = list(dict.fromkeys(TypeGen.from_example(value) for value in values if value is not None))
    if not types:
        raise _no_type("a list of None doesn't tell the type of its elements", "give an example that has elements")
    joined = _join(types)
    if joined is None:
        spelled = ", ".join(map(str, types))
        raise _no_type(f"the elements of a list must be of one type, not of {spelled}", "give each a name of its own")
    return OptionalType(joined) if any(value is None for value in values) else joined


def _join(types: Sequence[Type]) -> Type | None:
    """Return a type for values of any of these; None if there is none."""
    if len(types) == 1:
        return types[0]
    lists = [t for t in types if isinstance(t, ListType)]
    if len(lists) == len(types):
        elem = _join(list(dict.fromkeys(t.elem for t in lists)))
        sizes = {t.size for t in lists}
        return None if elem is None else ListType(elem, sizes.pop() if len(sizes) == 1 else None)
    names = [t.name for t in types if isinstance(t, BaseType) and t.name in _NUMBERS]
    return BaseType(max(names, key=_NUMBERS.index)) if len(names) == len(types) else None


def _class_name(script_object: Any) -> str:
    """Return the name of a TorchBind class, with its namespace."""
    given = getattr(script_object, "script_class_name", None)
    name = str(script_object._type().qualified_name() if given is None else given)
    return name.removeprefix(_CLASS_PREFIX)


def _described(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _no_type(message: str, label: str) -> SchemaInferenceError:
    return SchemaInferenceError(Diagnostic("no-schema-type", message, label=label))
