"""An operator of an extension → the C function through which AOTInductor's models call its kernel.

A model calls `aoti_torch_cpu_blend` for every overload of `mylib::blend`, including out forms and those of other
libraries, and passes numbers unconverted.  So the library's function has a distinct name, and an adapter that is
compiled with the model calls it: C++'s overload resolution selects the overload and the type of each number.

    - func: mylib::blend(Tensor self, Scalar by) -> Tensor

    aoti_mylib_cpu_blend(AtenTensorHandle self, double by, int64_t by_int_, int32_t by_type_, AtenTensorHandle* ret0)
    template <class T1, …> aoti_torch_cpu_blend(AtenTensorHandle self, T1 by, AtenTensorHandle* ret0)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.api import c_shim
from opgen.api.boxing import is_argument_boxed, is_return_boxed
from opgen.api.types import UnsupportedTypeError
from opgen.frozen_dataclass import dataclass
from opgen.model import Argument, BaseTy, BaseType, FunctionSchema, NativeFunction, OptionalType, Return, Type

_SCALAR: Final = BaseType(BaseTy.Scalar)
_RESULT_TYPES: Final = frozenset(BaseType(name) for name in (BaseTy.Tensor, BaseTy.int, BaseTy.SymInt))
"""The return types that models support."""
NO_RESULT: Final = "AtenTensorHandle* ret0 = nullptr"
"""An adapter's parameter for the result of an operator that returns nothing: models pass a null pointer."""


@dataclass(frozen=True, slots=True)
class _Passed:
    """How an argument is passed."""

    parameters: tuple[str, ...]
    """The C function's parameters."""
    expr: str
    """What the kernel gets."""
    type_parameter: str = ""
    """The type parameter of the adapter's parameter, if the model decides the type."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ShimSignature:
    """The C function of an operator, and its adapter."""

    passed: tuple[_Passed, ...]
    results: tuple[str, ...]
    """The C function's parameters for results."""
    statements: tuple[str, ...]
    """Statements that store the results, where `result_` is the return value of the kernel."""

    @property
    def parameters(self) -> str:
        """What the C function takes."""
        return ", ".join((*(text for each in self.passed for text in each.parameters), *self.results))

    @property
    def arguments(self) -> str:
        """What the kernel gets."""
        return ", ".join(each.expr for each in self.passed)

    @property
    def template(self) -> str:
        """The type parameters of the adapter: types of numbers."""
        types = [each.type_parameter for each in self.passed if each.type_parameter]
        numbers = " && ".join(f"std::is_arithmetic_v<{type}>" for type in types)
        return (
            ", ".join((*(f"class {type}" for type in types), f"class = std::enable_if_t<{numbers}>")) if types else ""
        )

    @property
    def taken(self) -> tuple[str, ...]:
        """What the adapter takes."""
        return (*(text for each in self.passed for text in _taken(each)), *(self.results or (NO_RESULT,)))

    @property
    def types(self) -> tuple[str, ...]:
        """The parameter types that distinguish the adapter's overload."""
        return tuple(text.partition(" = ")[0].rpartition(" ")[0] for text in self.taken)

    @property
    def handed_on(self) -> str:
        """The arguments with which the adapter calls the C function."""
        names = (text for each in self.passed for text in _handed_on(each))
        return ", ".join((*names, *map(_name, self.results)))


def _taken(passed: _Passed) -> tuple[str, ...]:
    return (f"{passed.type_parameter} {passed.name}",) if passed.type_parameter else passed.parameters


def _handed_on(passed: _Passed) -> Iterator[str]:
    if not passed.type_parameter:
        yield from map(_name, passed.parameters)
        return
    type, name = passed.type_parameter, passed.name
    is_float = f"std::is_same_v<{type}, double>"
    yield f"static_cast<double>({name})"
    yield f"{is_float} ? 0 : static_cast<int64_t>({name})"
    yield f"{is_float} ? 0 : sizeof({type}) == 8 ? 1 : 2"


def _name(parameter: str) -> str:
    return parameter.rpartition(" ")[2]


def shim_signature(function: NativeFunction) -> ShimSignature:
    """Return the signature of the operator's C function; raise UnsupportedTypeError if it can't have one."""
    func = function.func
    arguments = (*func.arguments.out, *func.arguments.flat_non_out)
    passed = tuple(_passed(function, argument, index) for index, argument in enumerate(arguments))
    results = c_shim.own_results(func)
    types = [_result_type(result) for result in results]
    return ShimSignature(
        passed,
        tuple(f"{type}* ret{index}" for index, type in enumerate(types)),
        tuple(f"*ret{index} = {expr};" for index, expr in enumerate(c_shim.result_exprs(func, "result_"))),
    )


def _passed(function: NativeFunction, argument: Argument, index: int) -> _Passed:
    name = argument.name
    if argument.type == _SCALAR:
        parameters = (f"double {name}", f"int64_t {name}_int_", f"int32_t {name}_type_")
        return _Passed(parameters, f"number({name}, {name}_int_, {name}_type_)", f"T{index}", name)
    if argument.type.is_base_ty_like(BaseTy.Scalar):
        raise UnsupportedTypeError(argument.type, "reaches compiled models as floats, so that integers are lost")
    if argument.is_write and argument.type.is_nullable():
        raise UnsupportedTypeError(
            argument.type, "of an argument that is written to can't be passed through a C interface"
        )
    if function.is_boxed and is_argument_boxed(argument.type, is_write=argument.is_write):
        raise _unsupported(argument.type)
    if _is_list_of_optional_enums(argument.type):
        raise _unsupported(argument.type)
    taken = c_shim.argument(argument)
    return _Passed(taken.parameters, taken.expr)


def _is_list_of_optional_enums(type: Type) -> bool:
    """Return whether it is a list that torch's C interface can't make of numbers."""
    listed = type.is_list_like()
    enums = (BaseTy.Layout, BaseTy.MemoryFormat, BaseTy.ScalarType)
    return listed is not None and isinstance(listed.elem, OptionalType) and listed.base_ty in enums


def _unsupported(type: Type) -> UnsupportedTypeError:
    return UnsupportedTypeError(type, "can't be passed through a C interface")


def _result_type(result: Return) -> str:
    if result.type not in _RESULT_TYPES or is_return_boxed(result.type):
        raise UnsupportedTypeError(result.type, "can't be returned to a compiled model")
    return "AtenTensorHandle" if result.type.is_tensor_like() else "int64_t"


def is_called_by_models(func: FunctionSchema) -> bool:
    """Return whether a compiled model may call a form: not those that functionalization replaces."""
    is_replaced = func.name.name.inplace or any(result.annotation is not None for result in func.returns)
    return bool(func.arguments.out) or not is_replaced
