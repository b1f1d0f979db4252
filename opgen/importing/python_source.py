"""A Python source → its registrations with `torch.library`.

    lib = Library("mylib", "DEF"); lib.define("f(Tensor x) -> Tensor"); lib.impl("f", f, "CPU")
    torch.library.define("mylib::f", "(Tensor x) -> Tensor")
    @torch.library.custom_op("mylib::f", mutates_args=())
    def f(x: Tensor, n: int = 1) -> Tensor: ...

The kernels are in Python; the name of a kernel in C++ is assumed to be the operator's name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from opgen.importing.registration import Registration
from opgen.python_text import parse_python, parse_python_expression

_DEVICES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cpu": "CPU",
        "cuda": "CUDA",
        "xpu": "XPU",
        "mps": "MPS",
        "meta": "Meta",
        "hpu": "HPU",
    }
)
_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Tensor": "Tensor",
        "int": "SymInt",
        "float": "float",
        "bool": "bool",
        "str": "str",
        "dtype": "ScalarType",
        "device": "Device",
        "Number": "Scalar",
        "layout": "Layout",
        "memory_format": "MemoryFormat",
    }
)
_LISTS: Final = frozenset({"List", "list", "Sequence", "Tuple", "tuple"})


def read_python(text: str) -> Iterator[Registration]:
    """Yield the registrations in `text`."""
    try:
        tree = parse_python(text)
    except SyntaxError as problem:
        yield Registration("", "", 0, problem=f"this isn't valid Python: {problem}")
        return
    reader = _Reader(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            reader.note_library(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from reader.read_call(node)
        elif isinstance(node, ast.FunctionDef):
            yield from reader.read_function(node)


class _Reader:
    """Tracks which variables hold a `Library`."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._libraries: dict[str, tuple[str, str]] = {}
        """The namespace and the default dispatch key of each variable."""

    def note_library(self, node: ast.Assign) -> None:
        """Record a variable that holds a `Library`."""
        call = node.value
        if isinstance(call, ast.Call) and _last(call.func) == "Library" and call.args:
            namespace, key = _text(call.args[0]), _text(call.args[2]) if len(call.args) > 2 else ""
            for target in node.targets:
                if namespace is not None:
                    self._libraries[ast.unparse(target)] = (namespace, key or "")

    def _offset(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def read_call(self, node: ast.Call) -> Iterator[Registration]:
        """Yield the registrations of a call."""
        word, offset = _last(node.func), self._offset(node)
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if owner in self._libraries and node.args:
            namespace, key = self._libraries[owner]
            if word == "define":
                yield _defined(namespace, _text(node.args[0]), node, offset)
            elif word == "impl":
                given = _text(node.args[2]) if len(node.args) > 2 else _keyword_text(node, "dispatch_key")
                yield _implemented(namespace, _text(node.args[0]), given or key, offset)
        elif word == "define" and owner.endswith("library") and len(node.args) > 1:
            name, schema = _text(node.args[0]), _text(node.args[1])
            namespace, _, base = (name or "").partition("::")
            yield _defined(namespace, None if schema is None or not base else base + schema, node, offset)

    def read_function(self, node: ast.FunctionDef) -> Iterator[Registration]:
        """Yield the registrations of the decorators of a function."""
        for decorator in node.decorator_list:
            if not isinstance(decorator, ast.Call) or not decorator.args:
                continue
            word, offset = _last(decorator.func), self._offset(decorator)
            name = _text(decorator.args[0])
            if word == "custom_op":
                yield from _custom(name, decorator, node, offset)
            elif word in ("impl", "register_kernel") and name and "::" in name:
                key = _text(decorator.args[1]) if len(decorator.args) > 1 else ""
                namespace, _, base = name.partition("::")
                yield _implemented(namespace, base, key or "CompositeExplicitAutograd", offset)
            elif word in ("register_fake", "impl_abstract") and name and "::" in name:
                namespace, _, base = name.partition("::")
                yield _implemented(namespace, base, "Meta", offset)


def _last(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr) -> str | None:
    """Return the value of a string literal; None for other expressions."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _keyword_text(node: ast.Call, name: str) -> str | None:
    return next((_text(keyword.value) for keyword in node.keywords if keyword.arg == name), None)


def _tags(node: ast.Call) -> tuple[str, ...]:
    tags = next((keyword.value for keyword in node.keywords if keyword.arg == "tags"), None)
    names = (each.attr for each in ast.walk(tags) if isinstance(each, ast.Attribute)) if tags is not None else ()
    return tuple(name for name in names if name not in ("Tag", "_C", "torch"))


def _defined(namespace: str, schema: str | None, node: ast.Call, offset: int) -> Registration:
    if schema is None:
        return Registration(namespace, "", offset, problem="a schema that is not a literal can't be read")
    return Registration(namespace, " ".join(schema.split()), offset, tags=_tags(node))


def _implemented(namespace: str, name: str | None, key: str, offset: int) -> Registration:
    if name is None:
        return Registration(
            namespace, "", offset, problem="a kernel of an operator whose name is not a literal can't be read"
        )
    base = name.rpartition("::")[2]
    key = _DEVICES.get(key, key) or "CompositeImplicitAutograd"
    stem = base.replace(".", "_")
    return Registration(namespace, base, offset, key, stem if key == "CPU" else f"{stem}_{key.lower()}")


def _custom(name: str | None, decorator: ast.Call, function: ast.FunctionDef, offset: int) -> Iterator[Registration]:
    namespace, _, base = (name or "").partition("::")
    if not base:
        yield Registration("", "", offset, problem="an operator whose name is not a literal can't be read")
        return
    schema = _keyword_text(decorator, "schema")
    text = base + schema if schema else _inferred(base, decorator, function)
    if text is None:
        problem = f"torch can't infer the schema of '{name}' from its annotations"
        yield Registration(namespace, base, offset, problem=problem)
        return
    yield Registration(namespace, text, offset)
    devices = next((keyword.value for keyword in decorator.keywords if keyword.arg == "device_types"), None)
    key = _DEVICES.get(_text(devices) or "", "") if devices is not None else ""
    yield _implemented(namespace, base, key or "CompositeExplicitAutograd", offset)


# ------------------------------------------------------------------------------------- annotations


def _inferred(name: str, decorator: ast.Call, function: ast.FunctionDef) -> str | None:
    """Return the schema that torch infers from a function's annotations."""
    mutated = next((keyword.value for keyword in decorator.keywords if keyword.arg == "mutates_args"), None)
    names = [each.value for each in ast.walk(mutated) if isinstance(each, ast.Constant)] if mutated is not None else []
    if "unknown" in names:
        return None
    arguments = function.args
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + list(arguments.defaults)
    listed = [*zip(arguments.args, defaults, strict=True)]
    parts: list[str] = []
    for place, (argument, default) in enumerate(
        [*listed, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    ):
        if place == len(listed):
            parts.append("*")
        type = _type(argument.annotation)
        if type is None:
            return None
        if argument.arg in names:
            type = type.replace("Tensor", f"Tensor(a{place}!)", 1)
        value = "" if default is None else f"={_default(default)}"
        parts.append(f"{type} {argument.arg}{value}")
    returns = _returns(function.returns)
    return None if returns is None else f"{name}({', '.join(parts)}) -> {returns}"


def _default(node: ast.expr) -> str:
    text = _text(node)
    return f'"{text}"' if text is not None else ast.unparse(node).removeprefix("torch.")


def _type(node: ast.expr | None) -> str | None:
    """Return the schema's type for an annotation."""
    if node is None:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _type(parse_python_expression(node.value).body)
        except SyntaxError:
            return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [
            side for side in (node.left, node.right) if not (isinstance(side, ast.Constant) and side.value is None)
        ]
        inner = _type(sides[0]) if len(sides) == 1 else None
        return None if inner is None else f"{inner}?"
    if isinstance(node, ast.Subscript):
        inner = _type(node.slice)
        if _last(node.value) == "Optional":
            return None if inner is None else f"{inner}?"
        return f"{inner}[]" if inner is not None and _last(node.value) in _LISTS else None
    return _TYPES.get(_last(node))


def _returns(node: ast.expr | None) -> str | None:
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return "()"
    if (
        isinstance(node, ast.Subscript)
        and _last(node.value) in ("Tuple", "tuple")
        and isinstance(node.slice, ast.Tuple)
    ):
        types = [_type(each) for each in node.slice.elts]
        return None if None in types else f"({', '.join(map(str, types))})"
    return _type(node)
