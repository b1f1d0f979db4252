"""One Python name and its overloads → the C++ function that Python calls.

The function parses the arguments with torch's parser, calls `__torch_function__` if an argument
overrides it, and otherwise calls the overload that the parser selected (see `opgen.api.python_calls`).
A method without arguments needs no parser.

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

from opgen.api import cpp
from opgen.api.python import structseq_fieldnames
from opgen.api.python_calls import DispatchCall, dispatch_call, parsed_values
from opgen.api.python_overloads import Overload, Pair
from opgen.api.signatures import Signatures
from opgen.dest.cpp_text import string_literal
from opgen.dest.trace_type import should_trace
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, SchemaKind
from opgen.output.snippets import Snippets
from opgen.output.template import splice
from opgen.program.python import PythonFunction

_SNIPPETS: Final = Snippets("python_methods.cpp")

GetSignatures = Callable[[NativeFunction], Signatures]


@dataclass(frozen=True, slots=True)
class PythonModule:
    """The owner of functions in Python."""

    name: str
    """The module's name for `__torch_function__`: `torch.linalg`."""
    object: str
    """The C++ variable that holds the module, or the class."""
    is_class: bool = False
    """Whether the functions are methods."""
    is_static: bool = False
    """Whether the functions are static methods of a class that represents the module."""
    namespace: str | None = None
    """The namespace of the C++ functions to call; None for torch's."""
    prefix: str = "THPVariable_"
    """Prefix of the C++ functions that implement Python's."""
    override_check: str = "has_torch_function"
    """The C++ function that checks whether Python overrides a method."""
    starts_devices: bool = False
    """Whether methods initialize the device for any tensor, even for one that Python dispatches on."""
    wrap: str = "wrap"
    """The C++ function that converts results to Python objects."""
    parameter_name: Callable[[str], str] = str
    """The C++ parameter names of arguments, by the arguments' names."""
    unlock: str = "pybind11::gil_scoped_release"
    """The C++ class that releases the GIL."""
    spells_defaults: bool = False
    """Whether the C++ code also has the defaults of arguments, besides torch's parser."""


@dataclass(frozen=True, slots=True)
class PythonBinding:
    """The C++ texts for one Python function."""

    name: str
    base_name: str
    """The root name, which determines the shard and the headers."""
    forward: str
    method_def: str
    method: str


def render_binding(
    function: PythonFunction, module: PythonModule, signatures: GetSignatures, doc: str | None = None
) -> PythonBinding:
    """Return the binding of one Python function."""
    pairs = function.pairs
    own = pairs[0].function.func.name.name
    name = own.text
    head = f"static PyObject * {module.prefix}{name}(PyObject* self_, PyObject* args"
    is_noarg = len(pairs) == 1 and pairs[0].signature.arguments_count() == 0 and module.namespace is None
    head += ")" if is_noarg else ", PyObject* kwargs)"
    calls = _Calls(module, _structseq_variables(pairs, module), signatures)
    body = _noarg_body(function, calls) if is_noarg else _parser_body(function, calls)
    return PythonBinding(
        name=name,
        base_name=own.base,
        forward=f"{head};",
        method_def=_method_def(name, own.dunder_method, is_noarg, module, doc),
        method=_SNIPPETS.render("binding", name=name, head=head, body=body),
    )


def _method_def(name: str, is_dunder: bool, is_noarg: bool, module: PythonModule, doc: str | None) -> str:
    """Return the entry of the module's table."""
    function = f"{module.prefix}{name}"
    flags = "METH_NOARGS" if is_noarg and module.is_class else "METH_VARARGS | METH_KEYWORDS"
    if is_dunder and module.namespace is None:
        # Operators of torch only: Python then tries the reflected method of the other operand.
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
    """Return the named tuple that the function returns, if any; torch's out forms have their own."""
    fields = structseq_fieldnames(function.func.returns)
    if not fields:
        return None
    suffix = "_out" if function.func.is_out_fn() and is_out_apart else ""
    return Structseq(f"{function.func.name.name}{suffix}", fields)


def structseqs_of(functions: Iterable[NativeFunction], *, is_out_apart: bool = True) -> dict[Structseq, str]:
    """Return the named tuples that functions of one name return, each with its distinguishing suffix."""
    suffixes: dict[Structseq, str] = {}
    for function in functions:
        structseq = structseq_of(function, is_out_apart=is_out_apart)
        if structseq is not None and structseq not in suffixes:
            suffixes[structseq] = str(len(suffixes) or "")
    return suffixes


def _structseq_variables(pairs: Sequence[Pair], module: PythonModule) -> dict[Structseq, str]:
    functions = [pair.function for pair in pairs if len(pair.function.func.returns) > 1]
    if not functions:
        return {}
    suffixes = structseqs_of(functions, is_out_apart=module.namespace is None)
    return {structseq: f"NamedTuple{suffix}" for structseq, suffix in suffixes.items()}


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
        opening += _SNIPPETS.render("overridable", check=calls.module.override_check, name=function.name)
    (overload,) = function.overloads
    return opening + splice(calls.render(overload), "  ") + "\n"


def _parser_body(function: PythonFunction, calls: _Calls) -> str:
    overloads, module = function.overloads, calls.module
    self_ = "self_" if module.is_class else "nullptr"
    traceable = "true" if all(should_trace(pair.function) for pair in function.pairs) else "false"
    signature_strs = [overload.signature.signature_str() for overload in overloads]
    if module.namespace is None:
        override = f'handle_torch_function(_r, {self_}, args, kwargs, {module.object}, "{module.name}")'
    else:
        # Error messages name the package.
        signature_strs = [f"{module.name}.{text}" for text in signature_strs]
        override = f'call_override(_r, args, kwargs, "{function.name}")'
    parsed = "".join([f"    {string_literal(text)},\n" for text in signature_strs])
    return _SNIPPETS.render(
        "parser",
        opening=_opening(module, calls.structseqs),
        signatures=parsed,
        traceable=traceable,
        most_arguments=max([overload.signature.arguments_count() for overload in overloads]),
        self_=self_,
        override=override,
        is_overloaded=len(overloads) > 1,
        overloads=[{"index": index, "call": calls.render(overload)} for index, overload in enumerate(overloads)],
    )


# --------------------------------------------------------------------------------------- calls


@dataclass(frozen=True, slots=True)
class _Calls:
    """Renders the calls of the overloads of one Python function."""

    module: PythonModule
    structseqs: Mapping[Structseq, str]
    """The named tuples that they return, and the variables that hold their types."""
    signatures: GetSignatures

    def render(self, overload: Overload) -> str:
        """Return the statements that call `overload`, for use after the parser has selected it."""
        values = parsed_values(overload.signature, spells_defaults=self.module.spells_defaults)
        functional = self._call(overload, overload.base, values)
        if overload.outplace is None:
            return functional
        out = self._call(overload, overload.outplace, values)
        return _SNIPPETS.render("with_out", out_index=overload.signature.output_idx(), functional=functional, out=out)

    def _call(self, overload: Overload, function: NativeFunction, values: Mapping[str, str]) -> str:
        own, module = self.signatures(function), self.module
        call = dispatch_call(
            overload.signature,
            own,
            values,
            namespace=module.namespace,
            starts_devices=module.starts_devices,
            parameter_name=module.parameter_name,
        )
        deprecation, library = overload.signature.deprecated, module.namespace or "aten"
        schema = f"{library}::{own.schema}" if deprecation is None else f"[deprecated] {library}::{deprecation.schema}"
        name = f"dispatch_{cpp.name(function.func)}"
        called = f"{name}({', '.join(call.arguments)})"
        returns = call.return_type != "void"
        if returns:
            results = f"return {self._wrapped(call, overload, function, called)};\n"
        else:
            results = _SNIPPETS.render("returns_list" if _returns_its_list(function) else "returns_none", called=called)
        return _SNIPPETS.render(
            "call",
            schema=schema,
            inits=call.inits,
            name=name,
            call=call,
            unlock=module.unlock,
            returns=returns,
            results=results,
        )

    def _wrapped(self, call: DispatchCall, overload: Overload, function: NativeFunction, called: str) -> str:
        """Return the expression that converts the result of `called` for Python."""
        if call.requires_grad is not None:
            called += f".set_requires_grad({call.requires_grad})"
        named = ""
        if self.structseqs:
            structseq = structseq_of(function if self.module.namespace is None else overload.base)
            named = "" if structseq is None else f"{self.structseqs[structseq]}, "
        return f"{self.module.wrap}({named}{called})"


def _returns_its_list(function: NativeFunction) -> bool:
    """Return whether the operator works in place on a list of tensors, so that Python returns the list."""
    func = function.func
    return func.kind() is SchemaKind.inplace and func.name.name.base.startswith("_foreach_")
