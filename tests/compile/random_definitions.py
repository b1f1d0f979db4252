"""A number → operators of every kind, with their derivatives; some have mistakes.

definitions(7, 200)      200 groups: an operator, or several that belong together
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from opgen.dispatch_keys import DispatchKey
from opgen.frontend.cpp_names import KEYWORDS
from opgen.schema.types import BaseTy
from tests.compile.random_formulas import formula

_WORDS: Final = (
    "scale",
    "blend",
    "row",
    "gain",
    "weight",
    "x",
    "y1",
    "Big",
    "a_b",
    "two__lines",
    "k",
    "x_",
    "_x",
    "__y",
)
_MACROS: Final = (
    *("EOF", "NULL", "errno", "assert", "linux", "unix", "stdin", "INT_MAX", "CHECK", "I", "major", "minor", "bool"),
    *("TORCH_API", "TORCH_CHECK", "C10_API", "M_PI", "isnan", "INFINITY", "NAN", "BUFSIZ", "signals", "ERROR", "DEBUG"),
    *("SEEK_SET", "FE_INVALID", "AT_ERROR", "Py_None", "PyAPI_FUNC", "THPUtils_assert", "slots", "emit", "interface"),
)
_GENERATED: Final = (
    *(
        "self",
        "self_",
        "other",
        "out",
        "out0",
        "out1",
        "result",
        "result_",
        "result0",
        "grad",
        "grads",
        "grad_fn",
        "ks",
    ),
    *("dispatchKeySet", "schema", "name", "overload_name", "call", "redispatch", "at", "c10", "std", "torch", "Tensor"),
    *("detail", "native", "meta", "structured", "wrapper_CPU__x", "guard", "device_guard", "common_device", "int64_t"),
    *("dtype", "layout", "device", "pin_memory", "TensorOptions", "options", "tmp", "box", "boxed", "functionalize_x"),
    *("node_", "guard_", "called", "kernel", "IValue", "Stack", "stack", "module", "m", "PyObject", "parser", "_r"),
    *("vmap", "batch_rule", "mine", "MINE_API", "lib", "register", "print", "None", "lambda", "len", "list", "ops"),
    *("self_p", "self_t", "self_sym_sizes", "x_bdim", "result_t", "grad_self", "x_size_", "self_options", "use"),
    *(
        "symint",
        "autograd",
        "ufunc",
        "cpu",
        "cuda",
        "_ops",
        "generator",
        "input",
        "requires_grad",
        "_C",
        "return_types",
    ),
)
"""Names in generated code, beside all words of templates."""
_REFUSED: Final = ("DimVector", "Dimname", "GraphModule")
_SCRIPT_TYPES: Final = (
    *("Any", "complex", "complex?", "complex[]", "number", "Dict(str, Tensor)", "Dict(int, float[])", "(int, Tensor)"),
    *("(Tensor, str?)[]", "__torch__.torch.classes.mine.Counter", "str[][]", "Tensor[][]", "Future(t)", "AnyEnumType"),
    *("Dict(str, int)?", "(Tensor, (int, float))", "bool[]", "Tensor(a!)?", "Scalar[]?", "Tensor?[]?", "Any?", "Any[]"),
)
_SUFFIXES: Final = ("", "", "", "", "?", "?", "[]", "[]", "[1]", "[2]", "[3]?", "[]?", "?[]", "[][]")
_TENSORS: Final = ("Tensor", "Tensor", "Tensor", "Tensor?", "Tensor?", "Tensor[]", "Tensor?[]")
_WHOLE: Final = ("0", "1", "-1", "7", "Mean", "9223372036854775807", "-9223372036854775808", "-9223372036854775807")
_NUMBERS: Final = ("0", "1", "-1", "2.5", "1e-05", ".5", "3.", "-0.0", "1e308", "-2.5e-300", "100000000000000000000")
_TEXTS: Final = (
    *(r'"a"', r"'b\\'", r'"it\'s"', r"'\"'", r"'\n'", r"'??/'", r"')delim\"'", r"'%s %d'", r"'$x ${y} $$'", r"'/*'"),
    *(
        r"'// x'",
        r"'# x'",
        r"''",
        r"'\x41b'",
        r"'\0'",
        r"'é☃'",
        r"'\u2028'",
        r"'R\"(x)\"'",
        r"'{}'",
        r"'a\tb'",
        r"'\101'",
    ),
)
_DEFAULTS: Final = {
    "int": _WHOLE,
    "SymInt": _WHOLE,
    "DeviceIndex": ("0", "-1", "127", "200"),
    "float": _NUMBERS,
    "Scalar": (*_NUMBERS, "True", "False", "1j", "-2.5j"),
    "bool": ("True", "False", "0", "1"),
    "str": _TEXTS,
    "ScalarType": ("long", "float32", "bfloat16", "bool", "6", "complex64", "float8_e4m3fn"),
    "Layout": ("strided", "0", "1"),
    "MemoryFormat": ("contiguous_format", "0", "2"),
    "Device": ('"cpu"', '"cuda:1"', "'meta'"),
    "complex": ("1j", "-2.5e3j"),
}
"""Defaults by base type; `None` is for all that may be None."""
_KEYS: Final = ("CPU", "CPU", "CUDA", "Meta", "PrivateUse1", "SparseCPU", "QuantizedCPU", "AutogradCPU", "MPS", "XPU")
_ALL_KEYS: Final = tuple(DispatchKey.__members__)
_COMPOSITES: Final = (
    *("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
    "CompositeImplicitAutogradNestedTensor",
)
_FLAGS: Final = (
    *("device_check: NoCheck", "device_check: ExactSame", "device_guard: False", "tags: pointwise", "tags: core"),
    *("tags: [pointwise, needs_exact_strides]", "variants: function, method", "random: False", "python_module: nn"),
    *("use_const_ref_for_mutable_tensors: True", "manual_cpp_binding: True", "category_override: dummy"),
    *(
        'doc: "a \\\\ \\" \\u2028 */ b"',
        "doc: |\n    '''Two\n    lines''' of `self` \\",
        "manual_kernel_registration: True",
    ),
    *("cpp_no_default_args: [{defaulted}]", "cpp_no_default_args: [{defaulted}]"),
)
_OPTIONS: Final = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_RANDOM: Final = "Generator? generator=None"

LOOPS: Final = """
#pragma once
namespace {namespace}::native::ufunc {{
template <typename T, typename... Rest> T {name}(T self, Rest...) {{ return self; }}
}}
"""
"""A body of a loop."""
BASE: Final = """
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/TensorMeta.h>
namespace {namespace} {{ struct RowBase : at::impl::MetaBase {{}}; }}
"""
"""A base class of structured operators."""
_TEMPLATES: Final = Path(__file__).parents[2] / "templates" / "extension"


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as a schema has it."""

    type: str
    name: str
    default: str = ""

    def __str__(self) -> str:
        return f"{self.type} {self.name}{self.default and f'={self.default}'}"


@dataclass(frozen=True, slots=True)
class Group:
    """Operators that belong together, and the entry of their derivatives, if they have one."""

    entries: str
    derivatives: str = ""

    @property
    def operators(self) -> int:
        """How many operators are written."""
        return self.entries.count("- func: ")


def in_namespace(group: Group, namespace: str) -> Group:
    """Return a group of the namespace `mine` with another one."""
    return replace(group, entries=group.entries.replace("mine::", f"{namespace}::"))


def iter_definitions(seed: int, namespace: str = "mine") -> Iterator[Group]:
    """Yield the operators of library number `seed` in groups, without end; some have mistakes."""
    chance = random.Random(seed)
    for number in itertools.count():
        yield _Maker(chance, number, namespace).group()


@cache
def _template_words() -> tuple[str, ...]:
    """Return every identifier in the templates of extensions, any of which may be a name in generated code."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(_TEMPLATES.rglob("*.*")))
    return tuple(sorted({word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}))


class _Maker:
    """Makes one group."""

    def __init__(self, chance: random.Random, number: int, namespace: str) -> None:
        self.chance = chance
        self.number = number
        self.namespace = namespace

    def group(self) -> Group:
        kinds = (
            *((self.plain, 8), (self.forms, 4), (self.structured, 4), (self.mutable, 3), (self.view, 3)),
            *((self.factory, 1), (self.foreach, 1), (self.loop, 1), (self.overloads, 2), (self.boxed, 2)),
            *((self.random_operator, 1), (self.pointwise, 2), (self.batched, 1), (self.mess, 2)),
        )
        kind = self.chance.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        return kind()

    # --------------------------------------------------------------------------------- names

    def likely(self, probability: float) -> bool:
        return self.chance.random() < probability

    def word(self) -> str:
        """A word of any pool: most clash with nothing."""
        pools: Sequence[tuple[Sequence[str], int]] = (
            *((_WORDS, 5), (_GENERATED, 4), (_template_words(), 4), (_MACROS, 1), (sorted(KEYWORDS), 1)),
        )
        return self.chance.choice(self.chance.choices([pool for pool, _ in pools], [n for _, n in pools])[0])

    def root(self) -> str:
        """The name of an operator without a mark of its form; most have a number."""
        name = self.word()
        if self.likely(0.08):
            name = self.chance.choice(
                ("__{}__", "_{}", "new_{}", "{}_like", "{}_copy", "_foreach_{}", "{}_out")
            ).format(name)
        return name if self.likely(0.15) else f"{name}_{self.number}"

    def names(self, count: int, used: set[str]) -> list[str]:
        """Different names for arguments."""
        found: list[str] = []
        while len(found) < count:
            name = self.word()
            if name not in used or self.likely(0.01):
                used.add(name)
                found.append(name)
        return found

    # ------------------------------------------------------------------------------- schemas

    def type(self, *, script: bool = False) -> str:
        if script and self.likely(0.3):
            return self.chance.choice(_SCRIPT_TYPES)
        if self.likely(0.3):
            return self.chance.choice(_TENSORS)
        base = self.chance.choice([name for name in BaseTy.__members__ if name not in _REFUSED or self.likely(0.02)])
        return base + self.chance.choice(_SUFFIXES)

    def default(self, type: str) -> str:
        """A value of the type, if it can have one; sometimes of another type."""
        base = re.sub(r"(\[\d*\]|\?)+$", "", type)
        values = _DEFAULTS.get(base, ())
        if self.likely(0.01):
            return self.chance.choice(_TEXTS + _NUMBERS)
        if type.endswith("?") and (not values or base == "Device" or self.likely(0.4)):
            return "None"
        if type.endswith("[]?") or (base in ("Tensor", "Generator") and type != base + "[]?"):
            return "None" if type.endswith("?") or base == "Generator" else ""
        if not values or "?[" in type or type.count("[") > 1:
            return ""
        if "[" in type:
            size = re.search(r"\[(\d+)\]", type)
            if base not in ("int", "SymInt", "float", "bool", "complex", "ScalarType"):
                return ""
            if size and (type.endswith("?") or self.likely(0.4)):
                return self.chance.choice(values)
            count = int(size[1]) if size else self.chance.randint(0, 3)
            return f"[{', '.join(self.chance.choice(values) for _ in range(count))}]"
        return self.chance.choice(values)

    def arguments(self, count: int, used: set[str], *, script: bool = False) -> list[Argument]:
        """Arguments with defaults at the end."""
        found: list[Argument] = []
        begun = False
        for name in self.names(count, used):
            type = self.type(script=script)
            default = self.default(type) if begun or self.likely(0.4) else ""
            if begun and not default and not type.endswith("]"):
                type = f"{type.removesuffix('?')}?"
                default = "None"
            begun = begun or bool(default)
            found.append(Argument(type, name, default))
        return found

    def parts(self, *, script: bool = False, least: int = 0) -> tuple[list[Argument], list[Argument]]:
        """The arguments after `self`: positional ones, and those after `*`."""
        used = {"self"}
        found = self.arguments(self.chance.randint(least, 4), used, script=script)
        only = self.arguments(self.chance.randint(1, 2), used, script=script) if self.likely(0.25) else []
        return found, only

    def returns(self, *, script: bool = False) -> str:
        names = self.names(3, set())
        kinds = (
            *(
                "Tensor",
                "Tensor",
                "Tensor",
                "Tensor[]",
                "()",
                "(Tensor, Tensor)",
                f"(Tensor {names[0]}, int {names[1]})",
            ),
            *(
                "Tensor?",
                "Tensor?[]",
                "(Tensor[], Tensor?)",
                f"(Tensor {names[0]}, Tensor[] {names[1]}, Scalar {names[2]})",
            ),
            *(f"Tensor {names[0]}", "(Tensor, Tensor, Tensor)", f"(Tensor {names[0]}, Tensor {names[1]})"),
        )
        if self.likely(0.75):
            return self.chance.choice(kinds)
        types = [re.sub(r"\[\d+\]", "[]", self.type(script=script)) for _ in range(2)]
        return types[0] if self.likely(0.7) else f"({', '.join(types)})"

    def schema(
        self, name: str, positional: Iterable[Argument | str], only: Iterable[Argument | str], returned: str
    ) -> str:
        listed = [*map(str, positional), *(["*", *map(str, only)] if only else [])]
        return f"{name}({', '.join(listed)}) -> {returned}"

    # ------------------------------------------------------------------------------- entries

    def entry(self, schema: str, *lines: str, flags: bool = True) -> str:
        quoted = f"{self.namespace}::{schema}".replace("'", "''")
        kept = [line for line in lines if line]
        defaulted = re.findall(r" (\w+)=", schema)
        if flags:
            given = "\n".join(kept)
            for flag in self.chance.sample(_FLAGS, self.chance.choice((0, 0, 1, 2))):
                key = flag.partition(":")[0]
                skipped = f"{key}:" in given or ("manual_kernel" in flag and "dispatch" in given)
                if not skipped and (defaulted or "{defaulted}" not in flag):
                    chosen = self.chance.choice(defaulted) if defaulted else ""
                    kept.append(f"  {flag.replace('{defaulted}', chosen)}")
                    given += f"\n{flag}"
        return "".join(f"{line}\n" for line in (f"- func: '{quoted}'", *kept))

    def kernel(self, root: str) -> str:
        identifier = root.replace(".", "_")
        suffix = "_symint" if self.likely(0.06) else ""
        kinds = (f"{identifier}{suffix}", f"k_{identifier}", f"own::{identifier}", f"own::deep::{identifier}{suffix}")
        return self.word() if self.likely(0.08) else self.chance.choice(kinds)

    def dispatch(self, root: str, *, composite: bool = True) -> str:
        if composite and self.likely(0.3):
            return (
                f"  dispatch:\n    {self.chance.choice(_COMPOSITES)}: {self.kernel(root)}" if self.likely(0.6) else ""
            )
        keys = self.chance.sample(_KEYS, self.chance.randint(1, 3))
        if self.likely(0.2):
            keys.append(self.chance.choice(_ALL_KEYS))
        lines = [f"    {', '.join(dict.fromkeys(keys))}: {self.kernel(root)}"]
        if composite and self.likely(0.1):
            lines.append(f"    {self.chance.choice(_COMPOSITES)}: {self.kernel(root)}_any")
        return "\n".join(["  dispatch:", *lines])

    # ---------------------------------------------------------------------------- the kinds

    def plain(self) -> Group:
        root = self.root() + (f".{self.word()}" if self.likely(0.15) else "")
        positional, only = self.parts()
        first = [Argument("Tensor", "self")] if self.likely(0.8) else []
        returned = self.returns()
        schema = self.schema(root, [*first, *positional], only, returned)
        text = self.entry(schema, self.dispatch(root), self.autogen(root, 0.15))
        return Group(text, self.derivatives(schema, [*first, *positional, *only], returned))

    def autogen(self, root: str, probability: float) -> str:
        base, _, overload = root.partition(".")
        return f"  autogen: {base}.{overload and f'{overload}_'}out" if self.likely(probability) else ""

    def forms(self) -> Group:
        """A functional, an in-place and an out form, or some of them."""
        root = self.root()
        positional, only = self.parts()
        first, written = Argument("Tensor", "self"), Argument("Tensor(a!)", "self")
        count = self.chance.choice((1, 1, 1, 2, 3))
        outs = [
            Argument(f"Tensor({'xyz'[i]}!)", name) for i, name in enumerate(self.names(count, _names(positional, only)))
        ]
        returned = ", ".join(f"Tensor({'xyz'[i]}!)" for i in range(count))
        several = "({})" if count > 1 else "{}"
        functional = self.schema(root, [first, *positional], only, several.format(", ".join(["Tensor"] * count)))
        inplace = self.schema(f"{root}_", [written, *positional], only, "Tensor(a!)")
        out = self.schema(f"{root}.out", [first, *positional], [*only, *outs], several.format(returned))
        tags = "  tags: pointwise" if self.likely(0.2) else ""
        text = self.entry(functional, self.dispatch(root), tags)
        text += self.entry(inplace, self.dispatch(f"{root}_"), tags) if count == 1 and self.likely(0.7) else ""
        text += self.entry(out, self.dispatch(f"{root}_out"), tags) if self.likely(0.7) else ""
        returned = several.format(", ".join(["Tensor"] * count))
        return Group(text, self.derivatives(functional, [first, *positional, *only], returned))

    def structured(self, *, loop: bool = False) -> Group:
        root = self.root()
        used = {"self"}
        is_precomputed = not loop and self.likely(0.3)
        if is_precomputed:  # the author's code has the names of arguments too, so few are free
            names = self.chance.sample(("dim", "size", "rows", "keep", "weight"), self.chance.randint(1, 3))
            used.update(names)
            more = [
                Argument(self.chance.choice(("int", "Tensor", "bool", "int[]", "Scalar", "SymInt")), n) for n in names
            ]
        else:
            more = self.arguments(self.chance.randint(0, 3), used)
        if loop:
            used = {"self", "other"}
            more = [Argument("Tensor", "other"), *(Argument("Scalar", name, "1") for name in self.names(1, used))]
        count = 1 if loop else self.chance.choice((1, 1, 1, 2))
        outs = [Argument(f"Tensor({'xyz'[i]}!)", name) for i, name in enumerate(self.names(count, used))]
        given = [Argument("Tensor", "self"), *more]
        several = "({})" if count > 1 else "{}"
        functional = self.schema(root, given, [], several.format(", ".join(["Tensor"] * count)))
        inplace = self.schema(f"{root}_", [Argument("Tensor(z!)", "self"), *more], [], "Tensor(z!)")
        out = self.schema(f"{root}.out", given, outs, several.format(", ".join(each.type for each in outs)))
        tags = "  tags: pointwise" if self.likely(0.3) else ""
        parents = (
            "",
            "",
            "  structured_inherits: TensorIteratorBase",
            f"  structured_inherits: {self.namespace}::RowBase",
        )
        delegate = f"  structured_delegate: {root}.out"
        text = self.entry(functional, delegate, tags, flags=self.likely(0.2))
        text += self.entry(inplace, delegate, tags, flags=False) if count == 1 and self.likely(0.7) else ""
        if loop:
            bodies = (
                "Generic: {} (AllAndComplex, BFloat16, Half)",
                "Generic: {} (Floating)\n    ScalarOnly: {} (Integral, Bool)",
            )
            lines = (
                "  structured_inherits: TensorIteratorBase",
                f"  ufunc_inner_loop:\n    {self.chance.choice(bodies).format(root, root)}",
            )
        else:
            keys = ", ".join(
                self.chance.sample(("CPU", "CUDA", "PrivateUse1", "MPS", "XPU", "SparseCPU"), self.chance.randint(1, 3))
            )
            lines = (
                self.chance.choice(parents),
                f"{self.precomputed(more) if is_precomputed else ''}  dispatch:\n    {keys}: {self.kernel(root)}",
            )
        text += self.entry(out, "  structured: True", *lines, tags, flags=False)
        return Group(text, self.derivatives(functional, given, several.format(", ".join(["Tensor"] * count))))

    def precomputed(self, arguments: Sequence[Argument]) -> str:
        names = self.chance.sample(("count", "first", "last", "scale", "stride"), 2) + self.names(1, set())
        replaced = self.chance.choice(arguments).name
        types = [
            self.chance.choice(("int", "bool", "SymInt", "Tensor", "DimVector", "float", "ScalarType", "int[]"))
            for _ in range(3)
        ]
        kinds = (
            f"  - {replaced} -> {types[0]} {replaced}\n",
            f"  - {replaced} -> {types[0]} {names[0]}, {types[1]} {names[1]}\n",
            f"  - {replaced} -> {types[0]} {names[0]}\n  - {types[1]} {names[1]}, {types[2]} {names[2]}\n",
            f"  - {types[0]} {names[0]}\n",
        )
        return f"  precomputed:\n{self.chance.choice(kinds)}"

    def loop(self) -> Group:
        return self.structured(loop=True)

    def mutable(self) -> Group:
        """An operator that writes to its arguments, with forms that are derived."""
        root = self.root()
        positional, only = self.parts()
        used = _names(positional, only)
        written = [
            Argument(f"Tensor({mark}!){self.chance.choice(('', '', '[]', '?'))}", name)
            for mark, name in zip("bc", self.names(self.chance.randint(1, 2), used), strict=False)
        ]
        returned = self.chance.choice(("()", "Tensor", "(Tensor, Tensor)", "Tensor(b!)", "Tensor[]"))
        first = Argument(self.chance.choice(("Tensor", "Tensor", "Tensor(a!)")), "self")
        forms = self.chance.choice(("", f"  autogen: {root}_functional, {root}.out", f"  autogen: {root}_functional"))
        if self.likely(0.3):
            schema = self.schema(f"{root}_", [Argument("Tensor(a!)", "self"), *positional], only, "Tensor(a!)")
            forms = self.chance.choice(("", f"  autogen: {root}, {root}.out"))
            text = self.entry(schema, self.dispatch(f"{root}_"), forms)
            return Group(text, self.derivatives(schema, [first, *positional, *only], "Tensor"))
        schema = self.schema(root, [first, *written, *positional], only, returned)
        return Group(self.entry(schema, self.dispatch(root), forms))

    def view(self) -> Group:
        root = self.root()
        positional, only = self.parts()
        kind = self.chance.choice(("Tensor(a)", "Tensor(a)", "Tensor(a)[]", "(Tensor(a), Tensor(a))"))
        schema = self.schema(root, [Argument("Tensor(a)", "self"), *positional], only, kind)
        plain = kind.replace("(a)", "")
        copied = self.schema(f"{root}_copy", [Argument("Tensor", "self"), *positional], only, plain)
        if self.likely(0.15):
            return Group(self.entry(schema))
        text = self.entry(schema, self.dispatch(root, composite=False))
        forms = f"  autogen: {root}_copy.out" if self.likely(0.5) else ""
        text += self.entry(
            copied,
            "  tags: view_copy",
            f"  dispatch:\n    CompositeExplicitAutogradNonFunctional: {root}_copy",
            forms,
            flags=False,
        )
        if self.likely(0.2):
            inplace = self.schema(f"{root}_", [Argument("Tensor(a!)", "self"), *positional], only, "Tensor(a!)")
            text += self.entry(inplace, "  tags: inplace_view", self.dispatch(f"{root}_", composite=False), flags=False)
        return Group(text, self.derivatives(schema, [Argument("Tensor", "self"), *positional, *only], plain))

    def factory(self) -> Group:
        root = self.root()
        positional, only = self.parts()
        schema = self.schema(root, positional, [*only, _OPTIONS], "Tensor")
        return Group(self.entry(schema, self.dispatch(root), self.autogen(root, 0.3)))

    def foreach(self) -> Group:
        root = f"_foreach_{self.root()}"
        positional, only = self.parts()
        schema = self.schema(root, [Argument("Tensor[]", "self"), *positional], only, "Tensor[]")
        text = self.entry(schema, "  device_check: NoCheck", self.dispatch(root), flags=False)
        if self.likely(0.7):
            inplace = self.schema(f"{root}_", [Argument("Tensor(a!)[]", "self"), *positional], only, "()")
            forms = f"  autogen: {root}.out" if self.likely(0.5) else ""
            text += self.entry(inplace, "  device_check: NoCheck", self.dispatch(f"{root}_"), forms, flags=False)
        return Group(text)

    def overloads(self) -> Group:
        """Several overloads of one name."""
        root = self.root()
        text = ""
        for overload in self.names(self.chance.randint(2, 4), set()):
            positional, only = self.parts()
            schema = self.schema(f"{root}.{overload}", [Argument("Tensor", "self"), *positional], only, self.returns())
            text += self.entry(schema, self.dispatch(f"{root}.{overload}"))
        return Group(text)

    def boxed(self) -> Group:
        """An operator with types that only boxed kernels take."""
        root = self.root()
        positional, only = self.parts(script=True, least=1)
        schema = self.schema(root, positional, only, self.returns(script=True))
        return Group(self.entry(schema, self.dispatch(root)))

    def random_operator(self) -> Group:
        root = self.root()
        positional, only = self.parts()
        schema = self.schema(root, [Argument("Tensor", "self"), *positional], [*only, _RANDOM], "Tensor")
        return Group(self.entry(schema, "  tags: nondeterministic_seeded", self.dispatch(root), flags=False))

    def pointwise(self) -> Group:
        """Its kernel for vmap is generated."""
        root = self.root()
        positional, only = self.parts()
        given = [Argument("Tensor", "self"), *positional]
        returned = self.chance.choice(("Tensor", "Tensor", "(Tensor, Tensor)", "Tensor[]"))
        schema = self.schema(root, given, only, returned)
        text = self.entry(schema, "  tags: pointwise", self.dispatch(root, composite=False))
        return Group(text, self.derivatives(schema, [*given, *only], returned))

    def batched(self) -> Group:
        """With an author's rule for vmap."""
        root = self.root()
        positional, only = self.parts()
        returned = self.chance.choice(("Tensor", "(Tensor, Tensor)", "Tensor[]", "(Tensor, Tensor[])", "()", "Tensor?"))
        schema = self.schema(root, [Argument("Tensor", "self"), *positional], only, returned)
        rule = f"  dispatch:\n    CPU, CUDA: {self.kernel(root)}\n    FuncTorchBatched: {self.kernel(root)}_batch_rule"
        return Group(self.entry(schema, rule))

    def mess(self) -> Group:
        """Annotations of every kind anywhere."""
        root = self.root() + self.chance.choice(("", "", "_", ".out"))
        marks = (
            "Tensor(a)",
            "Tensor(a!)",
            "Tensor(a|b)",
            "Tensor(a -> *)",
            "Tensor(b!)[]",
            "Tensor(b)",
            "Tensor(c!)?",
            "Tensor(*)",
        )
        positional, only = self.parts()
        mixed = [
            replace(one, type=self.chance.choice(marks), default="") if one.type.startswith("Tensor") else one
            for one in positional
        ]
        returned = self.chance.choice(
            (*marks, "(Tensor(a!), Tensor)", "()", "(Tensor(a), Tensor(b))", "(Tensor(a!), Tensor(b!))")
        )
        schema = self.schema(root, [Argument(self.chance.choice(marks), "self"), *mixed], only, returned)
        return Group(self.entry(schema, self.dispatch(root)))

    # -------------------------------------------------------------------------- derivatives

    def derivatives(self, schema: str, arguments: Sequence[Argument], returned: str) -> str:
        """An entry for an operator that returns tensors only; it uses arguments of all types."""
        if self.likely(0.25) or not re.fullmatch(r"\(?Tensor(\[\])?( \w+)?(, Tensor( \w+)?)*\)?", returned):
            return ""
        tensors = [one for one in arguments if re.fullmatch(r"Tensor(\(a!\))?(\?|\[\]|\?\[\])?", one.type)]
        if not tensors:
            return ""
        results = returned.count("Tensor")
        quoted = schema.replace("'", "''")
        lines = [f"- name: '{quoted}'"]
        formulas: list[tuple[str, str]] = []
        if len(tensors) in (2, 3) and self.likely(0.4) and not any("[" in one.type for one in tensors):
            mask = self.chance.choice((", grad_input_mask", ", grad_input_mask, retain_variables", ""))
            call = ("use_two", "use_three")[len(tensors) - 2]
            formulas.append(
                (", ".join(one.name for one in tensors), f"{call}({self.operands(arguments, results)}{mask})")
            )
        else:
            chosen = [one for one in tensors if self.likely(0.8) or one is tensors[0]]
            formulas += [(one.name, self.formula_for(one, arguments, results)) for one in chosen]
        if results == 1 and "[" not in returned and self.likely(0.4):
            tangent = self.chance.choice(("auto_linear", "auto_element_wise", "use(self_t, self_p)", "self_t * 2"))
            formulas.append((re.sub(r"\(?Tensor ?", "", returned).rstrip(")") or "result", tangent))
        if results > 1 and self.likely(0.3):
            lines.append(f"  output_differentiability: [{', '.join(['True'] + ['False'] * (results - 1))}]")
        lines += ["  handles_complex: True"] if self.likely(0.2) else []
        written = [f"'{name}': '{formula.replace(chr(39), chr(39) * 2)}'" for name, formula in formulas]
        if self.likely(0.1):
            lines += ["  dispatch:", "    Default:", *(f"      {one}" for one in written)]
            key = self.chance.choice(("AutogradCUDA", "AutogradNestedTensor", "AutogradMPS"))
            lines += [f"    {key}:", *(f"      {one}" for one in written)]
        else:
            lines += [f"  {one}" for one in written]
        return "\n".join(lines) + "\n"

    def operands(self, arguments: Sequence[Argument], results: int) -> str:
        """What a formula passes on: a gradient, arguments, and what is kept of tensors in their place."""
        grad = (
            self.chance.choice(("grad", "grads[0]", "grads"))
            if results == 1
            else f"grads[{self.chance.randrange(results)}]"
        )
        found = [grad]
        for one in self.chance.sample(list(arguments), min(len(arguments), self.chance.randint(0, 4))):
            kept = (
                "{}",
                "{}",
                "{}.sym_sizes()",
                "{}.options()",
                "{}.scalar_type()",
                "{}.dim()",
                "{}.sym_numel()",
                "{}.sym_size(0)",
            )
            more = (
                "{}.sym_strides()",
                "{}.layout()",
                "{}.device()",
                "zeros_like({})",
                "{}.defined()",
                "at::clone({})",
                "{}.is_conj()",
            )
            found.append(self.chance.choice(kept + more if one.type == "Tensor" else ("{}",)).format(one.name))
        if self.likely(0.2):
            found.append("result" if results == 1 else "result0")
        return ", ".join(found)

    def formula_for(self, one: Argument, arguments: Sequence[Argument], results: int) -> str:
        if "[" in one.type:
            return f"use_list({self.operands(arguments, results)})"
        kinds = ("non_differentiable", 'not_implemented("it")', f"use({self.operands(arguments, results)})")
        if results > 1 or one.name != "self" or self.likely(0.5):
            return self.chance.choice((kinds[2], *kinds, kinds[2], kinds[2]))
        return formula(self.chance)


def _names(*groups: Iterable[Argument]) -> set[str]:
    return {"self", *(one.name for group in groups for one in group)}
