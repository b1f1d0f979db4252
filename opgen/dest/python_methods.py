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
from dataclasses import dataclass

from opgen.api import cpp
from opgen.api.python import structseq_fieldnames
from opgen.api.python_calls import DispatchCall, dispatch_call, parsed_values
from opgen.api.python_overloads import Overload, Pair
from opgen.api.signatures import Signatures
from opgen.dest.cpp_text import string_literal
from opgen.dest.trace_type import should_trace
from opgen.model import NativeFunction, SchemaKind
from opgen.program.python import PythonFunction

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
    override_check: str = "has_torch_function"
    """The C++ function that says whether Python overrides a method."""
    starts_devices: bool = False
    """Whether methods start the device for any tensor, even for one that Python dispatches on."""
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
    own = pairs[0].function.func.name.name
    name = own.text
    head = f"static PyObject * {module.prefix}{name}(PyObject* self_, PyObject* args"
    is_noarg = len(pairs) == 1 and pairs[0].signature.arguments_count() == 0 and module.namespace is None
    head += ")" if is_noarg else ", PyObject* kwargs)"
    calls = _Calls(module, _structseq_variables(pairs, module), signatures)
    body = _noarg_body(function, calls) if is_noarg else _parser_body(function, calls)
    return Binding(
        name=name,
        base_name=own.base,
        forward=f"{head};",
        method_def=_method_def(name, own.dunder_method, is_noarg, module, doc),
        method=f"// {name}\n{head}\n{{\n  HANDLE_TH_ERRORS\n{body}  END_HANDLE_TH_ERRORS\n}}\n",
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
    functions = [pair.function for pair in pairs if len(pair.function.func.returns) > 1]
    if not functions:
        return {}
    found = structseqs_of(functions, is_out_apart=module.namespace is None)
    return {structseq: f"NamedTuple{suffix}" for structseq, suffix in found.items()}


# ------------------------------------------------------------------------------------- bodies


def _opening(module: PythonModule, structseqs: Mapping[Structseq, str]) -> str:
    lines = [
        f"  static PyTypeObject* {variable} = generated::get_{structseq.name}_structseq();\n"
        for structseq, variable in structseqs.items()
    ]
    if module.is_class:
        lines.append("  const Tensor& self = THPVariable_Unpack(self_);\n")
    return "".join(lines)


def _noarg_body(function: PythonFunction, calls: _Calls) -> str:
    opening = _opening(calls.module, calls.structseqs)
    if calls.module.is_class:
        opening += (
            f"  if ({calls.module.override_check}(self_)) {{\n"
            f'    return handle_torch_function(self_, "{function.name}");\n'
            "  }\n"
        )
    (overload,) = function.overloads
    return opening + calls.render(overload, "  ")


def _parser_body(function: PythonFunction, calls: _Calls) -> str:
    overloads, module = function.overloads, calls.module
    self_ = "self_" if module.is_class else "nullptr"
    traceable = "true" if all(should_trace(pair.function) for pair in function.pairs) else "false"
    signature_strs = [overload.signature.signature_str() for overload in overloads]
    if module.namespace is None:
        override = f'handle_torch_function(_r, {self_}, args, kwargs, {module.object}, "{module.name}")'
    else:
        # Messages name the package, which torch would look the function up by.
        signature_strs = [f"{module.name}.{text}" for text in signature_strs]
        override = f'call_override(_r, args, kwargs, "{function.name}")'
    parsed = "".join([f"    {string_literal(text)},\n" for text in signature_strs])
    return (
        f"{_opening(module, calls.structseqs)}"
        "  static PythonArgParser parser({\n"
        f"{parsed}"
        f"  }}, /*traceable=*/{traceable});\n"
        "\n"
        f"  ParsedArgs<{max([overload.signature.arguments_count() for overload in overloads])}> parsed_args;\n"
        f"  auto _r = parser.parse({self_}, args, kwargs, parsed_args);\n"
        "  if(_r.has_torch_function()) {\n"
        f"    return {override};\n"
        "  }\n"
        f"{_switch(overloads, calls)}"
        "  Py_RETURN_NONE;\n"
    )


def _switch(overloads: Sequence[Overload], calls: _Calls) -> str:
    if len(overloads) == 1:
        return calls.render(overloads[0], "  ")
    cases = [
        f"    case {index}: {{\n{calls.render(overload, '      ')}    }}\n" for index, overload in enumerate(overloads)
    ]
    return f"  switch (_r.idx) {{\n{''.join(cases)}  }}\n"


# --------------------------------------------------------------------------------------- calls


@dataclass(frozen=True, slots=True)
class _Calls:
    """What the calls of the overloads of one Python function have alike."""

    module: PythonModule
    structseqs: Mapping[Structseq, str]
    """The named tuples that they return, and the variables that hold their types."""
    signatures: GetSignatures

    def render(self, overload: Overload, indent: str) -> str:
        """What is done once the parser has found an overload."""
        values = parsed_values(overload.signature)
        if overload.outplace is None:
            return self._call(overload, overload.base, values, indent)
        return (
            f"{indent}if (_r.isNone({overload.signature.output_idx()})) {{\n"
            f"{self._call(overload, overload.base, values, f'{indent}  ')}"
            f"{indent}}} else {{\n"
            f"{self._call(overload, overload.outplace, values, f'{indent}  ')}"
            f"{indent}}}\n"
        )

    def _call(self, overload: Overload, function: NativeFunction, values: Mapping[str, str], indent: str) -> str:
        own, module = self.signatures(function), self.module
        call = dispatch_call(
            overload.signature, own, values, namespace=module.namespace, starts_devices=module.starts_devices
        )
        deprecation, library = overload.signature.deprecated, module.namespace or "aten"
        schema = f"{library}::{own.schema}" if deprecation is None else f"[deprecated] {library}::{deprecation.schema}"
        name = f"dispatch_{cpp.name(function.func)}"
        called = f"{name}({', '.join(call.arguments)})"
        if call.return_type == "void":
            results = _nothing(function, called, indent)
        else:
            results = f"{indent}return {self._wrapped(call, overload, function, called)};\n"
        inits = [f"{indent}{line}\n" for text in call.inits for line in text.split("\n")]
        return (
            f"{indent}// {schema}\n"
            f"{''.join(inits)}"
            f"{indent}auto {name} = []({call.parameters}) -> {call.return_type} {{\n"
            f"{indent}  pybind11::gil_scoped_release no_gil;\n"
            f"{indent}  {'' if call.return_type == 'void' else 'return '}{call.target};\n"
            f"{indent}}};\n"
            f"{results}"
        )

    def _wrapped(self, call: DispatchCall, overload: Overload, function: NativeFunction, called: str) -> str:
        """What Python gets of what is `called`."""
        if call.requires_grad is not None:
            called += f".set_requires_grad({call.requires_grad})"
        named = ""
        if self.structseqs:
            structseq = structseq_of(function if self.module.namespace is None else overload.base)
            named = "" if structseq is None else f"{self.structseqs[structseq]}, "
        return f"{self.module.wrap}({named}{called})"


def _nothing(function: NativeFunction, called: str, indent: str) -> str:
    """The call of what returns nothing, and what Python gets instead: None, or the list that was worked on in place."""
    if not _returns_its_list(function):
        return f"{indent}{called};\n{indent}Py_RETURN_NONE;\n"
    return (
        f"{indent}{called};\n"
        f"{indent}PyObject* self_tensorlist = _r.args[0];\n"
        f"{indent}Py_INCREF(self_tensorlist);\n"
        f"{indent}return self_tensorlist;\n"
    )


def _returns_its_list(function: NativeFunction) -> bool:
    """Whether it works in place on a list of tensors: Python then gets the list back."""
    func = function.func
    return func.kind() is SchemaKind.inplace and func.name.name.base.startswith("_foreach_")
