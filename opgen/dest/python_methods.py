"""One Python name and its overloads → the C++ function that Python calls.

The function has torch's parser read the arguments, hands the call to `__torch_function__` if an
argument asks for that, and else calls the overload that the parser found (see
`opgen.api.python_calls`).  A method without arguments needs no parser.

    static PyObject * THPVariable_neg(PyObject* self_, PyObject* args, PyObject* kwargs)
    {
      HANDLE_TH_ERRORS
      static PythonArgParser parser({
        "neg(Tensor input, *, Tensor out=None)",
      }, /*traceable=*/true);
      …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from opgen.api.python import structseq_fieldnames
from opgen.api.python_calls import DispatchCall, dispatch_call, parsed_values
from opgen.api.python_overloads import Overload, Pair
from opgen.api.signatures import Signatures
from opgen.dest.cpp_text import string_literal
from opgen.dest.trace_type import should_trace
from opgen.model import NativeFunction, SchemaKind
from opgen.python_program import PythonFunction
from opgen.values import dataclass

GetSignatures = Callable[[NativeFunction], Signatures]


@dataclass(frozen=True, slots=True)
class PythonModule:
    """Where functions live in Python."""

    name: str
    """As `__torch_function__` is told: `torch.linalg`."""
    object: str
    """The C++ variable that holds the module, or the class."""
    is_class: bool = False
    """Whether the functions are methods."""
    is_static: bool = False
    """Whether they are static methods of a class that stands for the module."""
    namespace: str | None = None
    """The namespace of the C++ functions that are called, where they aren't torch's."""
    prefix: str = "THPVariable_"
    """What the names of the C++ functions behind Python's begin with."""
    wrap: str = "wrap"
    """The C++ function that makes Python's objects of results."""


@dataclass(frozen=True, slots=True)
class Binding:
    """The C++ texts for one Python function."""

    name: str
    base_name: str
    """The name without marks, by which functions are sharded and headers are called."""
    forward: str
    method_def: str
    method: str


def render_binding(
    function: PythonFunction, module: PythonModule, signatures: GetSignatures, doc: str | None = None
) -> Binding:
    """The binding of one Python function."""
    pairs = function.pairs
    name = pairs[0].function.func.name.name
    head = f"static PyObject * {module.prefix}{name}(PyObject* self_, PyObject* args"
    is_noarg = len(pairs) == 1 and pairs[0].signature.arguments_count() == 0 and module.namespace is None
    head += ")" if is_noarg else ", PyObject* kwargs)"
    types = _structseq_variables(pairs, module)
    if is_noarg:
        lines = _noarg_body(function, module, types, signatures)
    else:
        lines = _parser_body(function, module, types, signatures)
    body = "\n".join(lines)
    return Binding(
        name=str(name),
        base_name=name.base,
        forward=f"{head};",
        method_def=_method_def(str(name), name.dunder_method, is_noarg, module, doc),
        method=f"// {name}\n{head}\n{{\n  HANDLE_TH_ERRORS\n{body}\n  END_HANDLE_TH_ERRORS\n}}\n",
    )


def _method_def(name: str, is_dunder: bool, is_noarg: bool, module: PythonModule, doc: str | None) -> str:
    """The entry of the module's table."""
    function = f"{module.prefix}{name}"
    flags = "METH_NOARGS" if is_noarg and module.is_class else "METH_VARARGS | METH_KEYWORDS"
    if is_dunder:
        # Python then tries the reflected method of the other operand.
        function = f"TypeError_to_NotImplemented_<{function}>"
    if not is_noarg:
        function = f"castPyCFunctionWithKeywords({function})"
    static = " | METH_STATIC" if module.is_static else ""
    documentation = "nullptr" if doc is None else string_literal(doc)
    return f'{{"{name}", {function}, {flags}{static}, {documentation}}},'


# ------------------------------------------------------------------------------- named tuples


@dataclass(frozen=True, slots=True)
class Structseq:
    """A named tuple that a function returns."""

    name: str
    """Of the Python class: `max`, `max_out`."""
    fields: tuple[str, ...]


def structseq_of(function: NativeFunction, *, is_out_apart: bool = True) -> Structseq | None:
    """The named tuple that the function returns, if it does; torch's out forms have one of their own."""
    fields = structseq_fieldnames(function.func.returns)
    if not fields:
        return None
    suffix = "_out" if function.func.is_out_fn() and is_out_apart else ""
    return Structseq(f"{function.func.name.name}{suffix}", fields)


def structseqs_of(functions: Iterable[NativeFunction], *, is_out_apart: bool = True) -> dict[Structseq, str]:
    """The named tuples that functions of one name return, each with the suffix that tells it from the others."""
    found: dict[Structseq, str] = {}
    for function in functions:
        structseq = structseq_of(function, is_out_apart=is_out_apart)
        if structseq is not None and structseq not in found:
            found[structseq] = str(len(found) or "")
    return found


def _structseq_variables(pairs: Sequence[Pair], module: PythonModule) -> dict[Structseq, str]:
    found = structseqs_of((pair.function for pair in pairs), is_out_apart=module.namespace is None)
    return {structseq: f"NamedTuple{suffix}" for structseq, suffix in found.items()}


# ------------------------------------------------------------------------------------- bodies


def _opening(module: PythonModule, types: Mapping[Structseq, str]) -> list[str]:
    lines = [
        f"  static PyTypeObject* {variable} = generated::get_{structseq.name}_structseq();"
        for structseq, variable in types.items()
    ]
    if module.is_class:
        lines.append("  const Tensor& self = THPVariable_Unpack(self_);")
    return lines


def _noarg_body(
    function: PythonFunction, module: PythonModule, types: Mapping[Structseq, str], signatures: GetSignatures
) -> list[str]:
    lines = _opening(module, types)
    if module.is_class:
        lines += [
            "  if (has_torch_function(self_)) {",
            f'    return handle_torch_function(self_, "{function.name}");',
            "  }",
        ]
    (overload,) = function.overloads
    return [*lines, *_dispatch(overload, module, types, signatures, "  ")]


def _parser_body(
    function: PythonFunction, module: PythonModule, types: Mapping[Structseq, str], signatures: GetSignatures
) -> list[str]:
    overloads = function.overloads
    self_ = "self_" if module.is_class else "nullptr"
    traceable = "true" if all(should_trace(pair.function) for pair in function.pairs) else "false"
    signature_strs = [overload.signature.signature_str() for overload in overloads]
    if module.namespace is None:
        override = f'handle_torch_function(_r, {self_}, args, kwargs, {module.object}, "{module.name}")'
    else:
        # Messages name the package, which torch would look the function up by.
        signature_strs = [f"{module.name}.{text}" for text in signature_strs]
        override = f'call_override(_r, args, kwargs, "{function.name}")'
    return [
        *_opening(module, types),
        "  static PythonArgParser parser({",
        *(f"    {string_literal(text)}," for text in signature_strs),
        f"  }}, /*traceable=*/{traceable});",
        "",
        f"  ParsedArgs<{max(overload.signature.arguments_count() for overload in overloads)}> parsed_args;",
        f"  auto _r = parser.parse({self_}, args, kwargs, parsed_args);",
        "  if(_r.has_torch_function()) {",
        f"    return {override};",
        "  }",
        *_switch(overloads, module, types, signatures),
        "  Py_RETURN_NONE;",
    ]


def _switch(
    overloads: Sequence[Overload], module: PythonModule, types: Mapping[Structseq, str], signatures: GetSignatures
) -> list[str]:
    if len(overloads) == 1:
        return _dispatch(overloads[0], module, types, signatures, "  ")
    lines = ["  switch (_r.idx) {"]
    for index, overload in enumerate(overloads):
        lines += [f"    case {index}: {{", *_dispatch(overload, module, types, signatures, "      "), "    }"]
    return [*lines, "  }"]


def _dispatch(
    overload: Overload,
    module: PythonModule,
    types: Mapping[Structseq, str],
    signatures: GetSignatures,
    indent: str,
) -> list[str]:
    """What is done once the parser has found an overload."""
    values = parsed_values(overload.signature)

    def called(function: NativeFunction, indent: str) -> list[str]:
        call = dispatch_call(overload.signature, signatures(function), values, namespace=module.namespace)
        return _call(call, overload, module, signatures(function), types, indent)

    if overload.outplace is None:
        return called(overload.base, indent)
    return [
        f"{indent}if (_r.isNone({overload.signature.output_idx()})) {{",
        *called(overload.base, f"{indent}  "),
        f"{indent}}} else {{",
        *called(overload.outplace, f"{indent}  "),
        f"{indent}}}",
    ]


# --------------------------------------------------------------------------------- one call


def _call(
    call: DispatchCall,
    overload: Overload,
    module: PythonModule,
    own: Signatures,
    types: Mapping[Structseq, str],
    indent: str,
) -> list[str]:
    function = own.function
    deprecation, library = overload.signature.deprecated, module.namespace or "aten"
    schema = f"{library}::{own.schema}" if deprecation is None else f"[deprecated] {library}::{deprecation.schema}"
    name = f"dispatch_{function.func.name.name}" + ("_out" if function.func.is_out_fn() else "")
    parameters = ", ".join([f"{parameter.type} {parameter.name}" for parameter in call.parameters])
    result = "" if call.return_type == "void" else "return "
    inits = "\n".join(call.inits).split("\n") if call.inits else []
    lines = [
        f"// {schema}",
        *inits,
        f"auto {name} = []({parameters}) -> {call.return_type} {{",
        "  pybind11::gil_scoped_release no_gil;",
        f"  {result}{call.target};",
        "};",
        *_results(call, overload, function, module, name, types),
    ]
    return [f"{indent}{line}" for line in lines]


def _results(
    call: DispatchCall,
    overload: Overload,
    function: NativeFunction,
    module: PythonModule,
    name: str,
    types: Mapping[Structseq, str],
) -> tuple[str, ...]:
    """The call, and what Python gets."""
    called = f"{name}({', '.join(call.arguments)})"
    if call.return_type == "void":
        return (f"{called};", *(_SELF_LIST if _returns_its_list(function) else ("Py_RETURN_NONE;",)))
    if call.requires_grad is not None:
        called += f".set_requires_grad({call.requires_grad})"
    structseq = structseq_of(function) if module.namespace is None else structseq_of(overload.base)
    named = "" if structseq is None else f"{types[structseq]}, "
    return (f"return {module.wrap}({named}{called});",)


_SELF_LIST: Final = (
    "PyObject* self_tensorlist = _r.args[0];",
    "Py_INCREF(self_tensorlist);",
    "return self_tensorlist;",
)


def _returns_its_list(function: NativeFunction) -> bool:
    """Whether it works in place on a list of tensors: Python then gets the list back."""
    func = function.func
    return func.kind() is SchemaKind.inplace and func.name.name.base.startswith("_foreach_")
