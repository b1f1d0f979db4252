"""Small inputs of torch's generators, and what comes of them: rows of docs/differences.md, for `test_differences`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True)
class Case:
    """Definitions that torchgen is given, and what comes of them."""

    row: str
    """What the row of the document begins with."""
    definitions: str
    raises: str = ""
    """What torchgen raises; by default it accepts the definitions."""
    writes: Mapping[str, str] = field(default_factory=dict)
    """A pattern that is in the file of that name."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """A pattern that isn't."""
    flags: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """Files beside the definitions."""
    generator: str = "gen"
    code: int = 0
    """opgen's exit code, for `gen` with the same flags."""


OPTIONS: Final = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
OUT: Final = "*, Tensor(a!) out) -> Tensor(a!)"
SCALE: Final = "- func: scale(Tensor self) -> Tensor\n  dispatch: {CPU: scale}\n  variants: function, method\n"
PUT: Final = "- func: put_(Tensor(a!) self) -> Tensor(a!)\n  dispatch: {CPU: put_}\n  autogen: put, put.out\n"
COUNT: Final = "- func: count(int n) -> Tensor\n  dispatch: {CPU: count_cpu, CUDA: count_cuda}\n"
CORE: Final = MappingProxyType({"src/native/tags.yaml": "- tag: core\n  desc: basic\n"})
XLA: Final = "backend: XLA\ncpp_namespace: my\n"
LAZY: Final = "backend: Lazy\ncpp_namespace: torch::lazy\n"
SHAPES: Final = "TORCH_API std::vector<torch::lazy::Shape> compute_shape_{}({});\n"
SELF: Final = "const at::Tensor & self"


def structured(argument: str, more: str = "") -> str:
    return (
        f"- func: tw(Tensor self{argument}) -> Tensor\n  structured_delegate: tw.out\n"
        f"- func: tw.out(Tensor self{argument}, {OUT}\n  structured: True\n  dispatch: {{CPU: tw_out}}\n{more}"
    )


def taking(argument: str, results: str = "Tensor") -> str:
    return f"- func: f(Tensor self{argument}) -> {results}\n  tags: nondeterministic_seeded\n"


def kernel(key: str) -> str:
    return f"- func: scale(Tensor self) -> Tensor\n  dispatch:\n    CPU: scale\n    {key}: scale_there\n"


MISTAKES: Final = (
    Case("stops at the first error, with", "- func: a(Tenosr self) -> Tensor\n- func: b(\n", "type Tenosr", code=1),
    Case(
        "of two equal keys in a selection",
        "- func: a(Tensor self) -> Tensor\n  dispatch:\n    CPU, CUDA: one\n    CUDA, Meta: two\n",
        writes={"RegisterCUDA_0.cpp": "native::two"},
        lacks={"RegisterCUDA_0.cpp": "native::one"},
        code=1,
    ),
    Case(
        "of two equal keys in a selection",
        SCALE.replace("scale(", "scale.by("),
        flags=("--op-selection-yaml-path", "selection.yaml"),
        files={
            "selection.yaml": "operators:\n"
            + "".join(
                f"  aten::scale: {{is_root_operator: true, is_used_for_training: true, "
                f"include_all_overloads: {every}}}\n"
                for every in ("true", "false")
            )
        },
        lacks={"RegisterSchema.cpp": r'm\.def\("scale'},
        code=1,
    ),
    Case(
        "a kernel named `on`", "- func: a(Tensor self) -> Tensor\n  dispatch:\n    CPU: on\n", "illegal dispatch value"
    ),
    Case(
        "operators `a.b` and `a_b`",
        "- func: a.b(Tensor self) -> Tensor\n- func: a_b(Tensor self) -> Tensor\n",
        writes={"Operators.h": r"struct TORCH_API a_b \{[^}]*\};[\s\S]*struct TORCH_API a_b \{"},
        code=1,
    ),
    Case(
        "an operator named in `--op-registration-whitelist`",
        SCALE,
        flags=("--op-registration-whitelist", "aten::skale"),
        code=1,
    ),
    Case(
        "a selection entry with an empty value",
        SCALE,
        "AttributeError",
        flags=("--op-selection-yaml-path", "selection.yaml"),
        files={"selection.yaml": "operators:\n  aten::scale:\n"},
    ),
    Case(
        "a `dispatch` table with CompositeImplicitAutograd alone",
        "- func: a(Tensor self) -> Tensor\n  dispatch: {CompositeImplicitAutograd: a}\n",
        "unnecessary dispatch table",
    ),
    Case(
        "a functional operator with a kernel and without a tensor",
        "- func: a(Tensor self) -> int\n  dispatch: {CPU: a}\n",
        "don't have tensor-like return",
    ),
    Case(
        "an operator that sounds random",
        "- func: operand(Tensor self) -> Tensor\n",
        "nondeterministic_seeded tag missing",
        code=1,
    ),
    Case(
        "tensor options that are not optional",
        f"- func: a(int n, *, {OPTIONS.replace('ScalarType? dtype=None', 'ScalarType dtype')}) -> Tensor\n"
        "  dispatch: {CPU: a}\n",
        "UnsatError",
        code=1,
    ),
    Case(
        "a view with kernels of its own",
        "- func: a(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CompositeExplicitAutograd: a\n",
        "AssertionError: a appears to be a new operator that aliases",
        code=1,
    ),
)
WRITTEN: Final = (
    Case("a kernel under a key that torch's own build", kernel("PrivateUse1"), "is not a supported dispatch key"),
    Case("a kernel under a key that torch's own build", kernel("HPU"), "is not a supported dispatch key"),
    *(
        Case("a kernel under `Functionalize`", kernel(key), "is not a supported dispatch key")
        for key in ("Functionalize", "ADInplaceOrView", "Tracer", "Autograd")
    ),
    Case(
        "a kernel under `Functionalize`",
        f"- func: made(*, {OPTIONS}) -> Tensor\n  dispatch:\n    CPU: made\n    BackendSelect: made_s\n"
        "  autogen: made.out\n",
        "is not a supported dispatch key",
    ),
    Case(
        "derived forms have the tag",
        PUT,
        files=CORE,
        writes={"RegisterSchema.cpp": "at::Tag::generated, at::Tag::out"},
        lacks={"core/enum_tag.h": "\n +generated"},
    ),
    *(Case("since 2.13, `tags: inplace`", f"{SCALE}  tags: {tag}\n", code=1) for tag in ("inplace", "out")),
    Case(
        "`-o`, or a folder of templates",
        SCALE,
        flags=("-o", "src/native/native_functions.yaml"),
        writes={"../src/native/native_functions.yaml": r"^set\("},
        code=1,
    ),
    Case(
        "without `--aoti-install-dir`", SCALE, writes={"../torch/csrc/inductor/aoti_torch/generated/c_shim_cpu.cpp": ""}
    ),
    Case(
        "`--dry-run` makes folders",
        SCALE,
        flags=("--dry-run", "--aoti-install-dir", "out/aoti"),
        writes={"core/": "", "aoti/": ""},
    ),
    Case(
        "a shim header that would change",
        SCALE.replace("scale", "abs"),
        "C shim header files have unexpectedly changed",
        flags=("--aoti-install-dir", "aoti"),
        files={"aoti/c_shim_cpu.h": "int other;\n"},
        writes={"RegisterMeta_0.cpp": ""},
        code=1,
    ),
    Case(
        "without `--source-path`, looks for `aten/src/ATen`",
        SCALE,
        "'aten/src/ATen/native/tags.yaml'",
        flags=("-s", "aten/src/ATen"),
        code=1,
    ),
    Case(
        "paths in CMake lists",
        SCALE,
        flags=("-d", "o;u", "-o", "lists.cmake"),
        writes={"../lists.cmake": '"o;u/Functions.h"'},
    ),
)
NAMESPACES: Final = (
    Case(
        "`mylib::op` is looked up as `aten::op`",
        SCALE.replace("scale(", "mylib::scale("),
        writes={"MethodOperators.h": 'name = "aten::scale"'},
    ),
    Case(
        "backend select kernels of `mylib`",
        f"- func: mylib::made(int n, *, {OPTIONS}) -> Tensor\n  dispatch: {{CPU: made}}\n  autogen: made.out\n",
        writes={"RegisterBackendSelect.cpp": r'\(aten, BackendSelect, m\) \{\s*m.impl\("aten::made"'},
    ),
    Case(
        "`Declarations.yaml` and `RegistrationDeclarations.h`",
        SCALE.replace("scale(", "mylib::scale("),
        writes={"Declarations.yaml": "schema_string: aten::scale", "RegistrationDeclarations.h": '"aten::scale'},
    ),
    Case(
        "functionalization registers the kernel `my::half`",
        "- func: half(Tensor(a) self) -> Tensor(a)\n"
        "  dispatch: {CompositeImplicitAutograd: my::half, Meta: my::half_meta}\n",
        writes={
            "RegisterFunctionalizationEverything.cpp": r"\(at::native::half\)",
            "RegisterCompositeImplicitAutograd_0.cpp": "return my::native::half",
        },
    ),
    Case(
        "a kernel `my::k` of an `aten` operator",
        SCALE.replace("CPU: scale", "CPU: my::scale_cpu"),
        writes={"CPUFunctions_inl.h": r"namespace my \{\s*namespace cpu \{\s*TORCH_API at::Tensor scale\("},
    ),
    Case(
        "kernels of an operator in several namespaces",
        SCALE.replace("CPU: scale", "CPU: my::scale_cpu, CUDA: your::scale_cuda"),
        "only supports one namespace per operator",
    ),
    Case(
        "kernels of an operator in several namespaces",
        f"{SCALE.replace('CPU: scale', 'CPU: my::scale_cpu')}"
        f"- func: scale.out(Tensor self, {OUT}\n  dispatch: {{CPU: your::scale_out}}\n",
        writes={"NativeFunctions.h": "native::scale_cpu|at::Tensor scale_cpu"},
        lacks={"NativeFunctions.h": "namespace my"},
    ),
)
NO_CPP: Final = (
    Case(
        "an entry with two arguments of one name",
        "- func: f(Tensor self, int x, int x) -> Tensor\n",
        writes={"Functions.h": "int64_t x, int64_t x"},
        code=1,
    ),
    Case(
        "`precomputed` values with defaults",
        structured(", int x", "  precomputed:\n  - x -> int d=3\n"),
        writes={"NativeFunctions.h": "int64_t d, const"},
        code=1,
    ),
    Case(
        "`precomputed` values with defaults",
        structured(", int x", "  precomputed:\n  - x -> int self\n"),
        writes={"NativeFunctions.h": "const at::Tensor & self, int64_t self"},
        code=1,
    ),
    Case(
        "static dispatch to several backends of an operator without tensors",
        COUNT,
        flags=("--static-dispatch-backend", "CPU", "CUDA"),
        writes={"OperatorsEverything.cpp": "_dk_set = ;"},
    ),
    Case(
        "static dispatch of an operator with `manual_kernel_registration`",
        "- func: byhand(Tensor self) -> Tensor\n  manual_kernel_registration: True\n",
        flags=("--static-dispatch-backend", "CPU"),
        writes={"OperatorsEverything.cpp": r"byhand::call\(const at::Tensor & self\) \{\s*\}"},
    ),
    Case(
        "a static backend without any kernel",
        COUNT,
        flags=("--static-dispatch-backend", "XPU"),
        writes={"OperatorsEverything.cpp": "ATen/UndefinedFunctions.h"},
    ),
    Case(
        "a static backend given twice",
        SCALE.replace("CPU: scale", "CPU: scale, CUDA: scale"),
        flags=("--static-dispatch-backend", "CPU", "CUDA", "CPU"),
        writes={"OperatorsEverything.cpp": r"case DispatchKey::CPU:[\s\S]*case DispatchKey::CPU:"},
    ),
    Case(
        "`manual_kernel_registration` with per-operator headers",
        f"{SCALE}- func: byhand(Tensor self) -> Tensor\n  manual_kernel_registration: True\n",
        flags=("--per-operator-headers",),
        writes={"RegisterCompositeImplicitAutograd_0.cpp": "ops/byhand_compositeimplicitautograd_dispatch.h"},
        lacks={"ops/byhand_compositeimplicitautograd_dispatch.h": ""},
    ),
    Case(
        "a ufunc without scalar arguments",
        structured("").replace("  dispatch: {CPU: tw_out}\n", "")
        + "  structured_inherits: TensorIteratorBase\n  ufunc_inner_loop:\n    Generic: tw (Float)\n",
        writes={"UfuncCPUKernel_tw.cpp": r"\(TensorIteratorBase& iter, \)"},
    ),
    Case(
        "definitions that name Meta nowhere",
        structured(""),
        flags=("--per-operator-headers",),
        writes={"RegisterMeta_0.cpp": "ops/tw_meta_dispatch.h"},
        lacks={"ops/tw_meta_dispatch.h": "", "RegisterMeta_0.cpp": "m.impl"},
    ),
    Case(
        "an out form of a factory",
        f"- func: mk(int n, *, {OPTIONS}) -> Tensor\n  dispatch: {{CPU: mk}}\n"
        "- func: mk.out(int n, *, Tensor(a!) res) -> Tensor(a!)\n  dispatch: {CPU: mk_out}\n",
        "UnsatError",
    ),
    *(
        Case("arguments `int[][]`", taking(f", {type} x"), writes={"Functions.h": f"f\\({SELF}, {cpp} x\\)"}, code=1)
        for type, cpp in (
            ("int[][]", "at::ArrayRef<at::IntArrayRef>"),
            ("Tensor?[]?", "::std::optional<const c10::List<::std::optional<at::Tensor>> &>"),
            ("Scalar?[]", "at::ArrayRef<const ::std::optional<at::Scalar> &>"),
            ("Generator", "at::Generator"),
        )
    ),
    Case("arguments `int[][]`", taking("", "Scalar[]"), writes={"Functions.h": "vector<at::Scalar> f"}, code=1),
    *(
        Case("a default that is none of its type", taking(f", {default}"), writes={"Functions.h": text}, code=1)
        for default, text in (("int x=0.5", "int64_t x=0.5"), ("float x=nan", "x=nan"), ("Tensor[] x=[]", "x={}"))
    ),
    Case("the defaults of `bool[2] x", taking(", bool[2] x=[True,False]"), writes={"Functions.h": "{True,False}"}),
    Case("the defaults of `bool[2] x", taking(", Layout x=strided"), writes={"Functions.h": "x=strided"}),
    Case("an argument `SymInt?[]` or `SymInt??`", taking(", SymInt?[] x") + "  dispatch: {CPU: f}\n", "Unsat", code=1),
    Case("an argument `SymInt?[]` or `SymInt??`", taking(", SymInt?? x") + "  dispatch: {CPU: f}\n", "Unsat", code=1),
    Case(
        "an argument `SymInt?[]` or `SymInt??`",
        taking(", int?? x"),
        writes={"Functions.h": "optional<::std::o"},
        code=1,
    ),
    Case(
        "a default `Mean` of a list",
        taking(", SymInt[2] x=Mean"),
        writes={"Functions.h": "c10::SymIntArrayRef x=at::Reduction::Mean"},
        code=1,
    ),
    Case("a structured operator that takes a `SymInt[]?`", structured(", SymInt[]? x"), "UnsatError"),
    Case(
        "a structured operator that takes a `Tensor[]?`",
        structured(", Tensor[]? x"),
        writes={"NativeMetaFunctions.h": "optional<const at::ITensorListRef &> x"},
    ),
)


def shapes(*functions: tuple[str, str]) -> Mapping[str, str]:
    return {"shapes.h": "".join(SHAPES.format(*each) for each in functions)}


def lazy(
    row: str,
    operators: str,
    *,
    non_native: str = "",
    raises: str = "",
    writes: Mapping[str, str] = NOTHING,
    **more: str,
) -> Case:
    """A backend whose kernel for the last of the operators is generated; `shape` declares its function for shapes."""
    name = operators.rpartition("- func: ")[2].partition("(")[0]
    lists = f"full_codegen: [{name}]\nsymint: [{more.get('symint', '')}]\n{non_native}"
    given = shapes((name.replace(".", "_") + ("_symint" if more.get("symint") else ""), more.get("shape", SELF)))
    return Case(
        row,
        operators,
        raises,
        writes,
        flags=tuple(filter(None, [more.get("flag", "")])),
        files={**(NOTHING if "without_header" in more else given), "backend.yaml": more.get("head", LAZY) + lists},
        generator="lazy",
    )


def node(row: str, func: str, properties: str, text: str) -> Case:
    nodes = f"non_native:\n  - func: {func}\n    properties: [{properties}]\n"
    return lazy(row, SCALE, non_native=nodes, writes={"LazyNonNativeIr.h": text})


RESULT: Final = r"auto result = torch::lazy::CreateAtenFromLtcTensor\(\s*torch::lazy::LazyTensor::Create"
OUT_SHAPE: Final = f"{SELF}, at::Tensor & out"
TWO_OUT: Final = "*, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))"
VIEW: Final = (
    "- func: vw(Tensor(a) self) -> Tensor(a)\n  dispatch: {CompositeExplicitAutograd: vw}\n"
    "- func: vw_copy(Tensor self) -> Tensor\n  tags: view_copy\n"
    "  dispatch: {CompositeExplicitAutogradNonFunctional: vw_copy}\n"
    f"- func: vw_copy.out(Tensor self, {OUT}\n  tags: view_copy\n"
    "  dispatch: {CompositeExplicitAutograd: vw_copy_out}\n"
)
LAZY_CASES: Final = (
    Case(
        "`non_native` alone",
        SCALE,
        "backend_key must be non-None",
        files={"backend.yaml": f"{LAZY}non_native:\n  - func: cast(Tensor input) -> Tensor\n"},
        generator="lazy",
    ),
    lazy(
        "operators with a result `Tensor[]`",
        "- func: parts(Tensor self) -> Tensor[]\n  dispatch: {CPU: parts}\n",
        writes={"LazyIr.h": "num_outputs \\*/ 1,", "LazyNativeFunctions.cpp": RESULT},
    ),
    lazy(
        "`Scalar[]` arguments",
        "- func: sc(Tensor self, Scalar[] x) -> Tensor\n  dispatch: {CPU: sc}\n",
        raises="AssertionError",
        shape=f"{SELF}, at::ArrayRef<at::Scalar> x",
    ),
    lazy(
        "out forms: the first argument is written to",
        f"{SCALE}- func: scale.out(Tensor self, {OUT}\n  dispatch: {{CPU: scale_out}}\n",
        writes={"LazyNativeFunctions.cpp": "lazy_self->SetInPlaceIrValue"},
        shape=OUT_SHAPE,
    ),
    lazy(
        "out forms: the first argument is written to",
        "- func: two(Tensor self) -> (Tensor, Tensor)\n  dispatch: {CPU: two}\n"
        f"- func: two.out(Tensor self, {TWO_OUT}\n  dispatch: {{CPU: two_out}}\n",
        raises="AssertionError",
        shape=f"{SELF}, at::Tensor & a, at::Tensor & b",
    ),
    lazy("out forms of copies of views", VIEW, raises="AssertionError", shape=OUT_SHAPE),
    lazy(
        "`SymInt[]?` arguments of kernels",
        "- func: both(Tensor self, SymInt[]? sizes=None) -> Tensor\n  dispatch: {CPU: both}\n",
        symint="both",
        shape=f"{SELF}, at::OptionalSymIntArrayRef sizes",
        writes={"LazyNativeFunctions.cpp": r"ToOptionalVector<int64_t>\(sizes\)"},
    ),
    lazy(
        "operators without a tensor or `Device?`",
        "- func: number(Scalar value) -> Tensor\n  dispatch: {CPU: number}\n",
        raises="Expected at least one Value or Device type",
        shape="const at::Scalar & value",
    ),
    lazy(
        "with a class of its own for values",
        "- func: join(Tensor[] parts) -> Tensor\n  dispatch: {CPU: join}\n",
        raises="AssertionError",
        shape="at::TensorList parts",
        flag="lazy_value_class=own::Result",
    ),
    lazy(
        "results or arguments that have no place in a graph",
        "- func: is_zero(Tensor self) -> bool\n",
        writes={"LazyNativeFunctions.cpp": rf"bool LazyNativeFunctions::is_zero[\s\S]*{RESULT}"},
    ),
    lazy(
        "results or arguments that have no place in a graph",
        "- func: keep(Tensor self, Storage source) -> Tensor\n  dispatch: {CPU: keep}\n",
        raises="AssertionError",
        shape=f"{SELF}, at::Storage source",
    ),
    lazy(
        "arguments that are written to and not returned",
        "- func: noisy(Tensor self, Tensor(a!) noise) -> Tensor\n  dispatch: {CPU: noisy}\n"
        "  autogen: noisy_functional, noisy.out\n",
        shape=f"{SELF}, at::Tensor & noise",
        writes={"LazyNativeFunctions.cpp": rf"MakeNode<Noisy>[\s\S]*{RESULT}"},
    ),
    Case(
        "two nodes with classes of one name",
        f"{SCALE}- func: _scale(Tensor self) -> Tensor\n  dispatch: {{CPU: _scale}}\n",
        files={
            **shapes(("scale", SELF), ("_scale", SELF)),
            "backend.yaml": f"{LAZY}full_codegen: [scale, _scale]\n",
        },
        writes={"LazyIr.h": r"class Scale :[\s\S]*class Scale :"},
        generator="lazy",
    ),
    Case(
        "namespaces other than `torch::lazy`",
        SCALE,
        files={**shapes(("scale", SELF)), "backend.yaml": f"{LAZY.replace('torch', 'mine')}full_codegen: [scale]\n"},
        writes={"LazyIr.h": r"(?<!:)OpList\{self\}"},
        lacks={"LazyIr.h": "using namespace torch::lazy"},
        generator="lazy",
    ),
    node("`CreateFn`", "cast(Tensor input) -> Tensor", "CreateFn", r"ReuseOrMakeNode<Cast>\(data\)"),
    node("`CanBeReused` of a node that takes nothing", "none() -> Tensor", "CanBeReused", r"return \(\);"),
    node(
        "`CanBeReused` of kept numbers",
        "cast(Scalar value) -> Tensor",
        "CanBeReused, TreatScalarsAsConstants",
        r"const at::Scalar& value\) const \{[^}]*\(this->value == value\)",
    ),
    node("`ShapeCompute`", "cast.there(Tensor input) -> Tensor", "ShapeCompute", r"compute_shape_cast\.there\(input\)"),
    node("`non_native` nodes with operands", "cast(Tensor? x) -> Tensor", "", r"value_or\(kNullValue\)"),
    lazy(
        "without a header for shapes",
        SCALE,
        without_header="yes",
        writes={"LazyNativeFunctions.cpp": "#include <None>"},
    ),
)

DERIVATIVE: Final = "- name: scale(Tensor self) -> Tensor\n  self: grad\n"
LISTS: Final = (
    "- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  dispatch: {CPU: mul}\n"
    "- func: _foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]\n  device_check: NoCheck\n"
    "  dispatch: {CompositeExplicitAutograd: each_mul}\n"
)
TWO: Final = (
    "- func: two(Tensor self) -> (Tensor a, Tensor b)\n  dispatch: {CPU: two}\n"
    "- func: _foreach_two(Tensor[] self) -> (Tensor[] a, Tensor[] b)\n  device_check: NoCheck\n"
    "  dispatch: {CompositeExplicitAutograd: each_two}\n"
)
DETACH: Final = VIEW.replace("vw", "detach").replace("func: d", "func: mylib::d")


def autograd(row: str, more: str, derivatives: str, **expected: object) -> Case:
    files = {"autograd/derivatives.yaml": DERIVATIVE + derivatives, "autograd/deprecated.yaml": "[]\n"}
    return Case(row, SCALE + more, files=files, generator="autograd", **expected)  # type: ignore[arg-type]


AUTOGRAD: Final = (
    autograd("leaves `templates/VariableType.cpp`", "", "", writes={"templates/VariableType.cpp": r"\$\{"}),
    autograd("stops at the first error in `derivatives.yaml`", "", "- name: b(Tensor x) -> Tensor\n", raises="Error"),
    autograd(
        "operators outside of `aten` would be registered",
        "- func: mylib::half(Tensor self) -> Tensor\n  dispatch: {CPU: half}\n",
        "",
        writes={"VariableTypeEverything.cpp": r'm\.impl\("half"', "VariableType_0.cpp": r"_IMPL\(aten, Autograd"},
        lacks={"VariableTypeEverything.cpp": "mylib, "},
    ),
    autograd(
        "what is known of operators by their names",
        DETACH,
        "",
        writes={"VariableTypeEverything.cpp": r'm\.impl\("detach_copy"'},
        lacks={"VariableTypeEverything.cpp": r'm\.impl\("detach"'},
    ),
    autograd(
        "the tangent of an in-place operator",
        PUT,
        "- name: put_(Tensor(a!) self) -> Tensor(a!)\n  self: grad\n  result: self_t + self_t\n",
        writes={"VariableTypeEverything.cpp": r"self_new_fw_grad_opt = self_t \+ self_t;"},
    ),
    autograd(
        "crashes on derivatives of an operator on lists",
        LISTS,
        "- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  self: f(grad, self.sym_strides())\n",
        raises="KeyError",
    ),
    autograd(
        "crashes on derivatives of an operator on lists",
        LISTS,
        "- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  self, other: f(grad, self, other)\n",
        writes={
            "Functions.cpp": r"needs_input_grad\[1\]\) \{\s*auto grad_result = f\(grads\[i\], self\[i\], other\[i\]\)"
        },
    ),
    autograd(
        "of an operator on lists with several results",
        TWO,
        "- name: two(Tensor self) -> (Tensor a, Tensor b)\n  self: grads[0] + grads[1]\n",
        writes={"Functions.cpp": r"grads\[i\]s\[0\] \+ grads\[i\]s\[1\]"},
    ),
    autograd(
        "under autograd, writes to an argument",
        "- func: st(Tensor self, Tensor(a!) mean) -> Tensor\n  dispatch: {CPU: st}\n  autogen: st_functional, st.out\n",
        "- name: st(Tensor self, Tensor(a!) mean) -> Tensor\n  self: grad\n",
        writes={"ADInplaceOrViewTypeEverything.cpp": r'm\.impl\("st\.out"'},
        lacks={"ADInplaceOrViewTypeEverything.cpp": r'm\.impl\("st"'},
    ),
)


def python(row: str, more: str, raises: str = "", text: str = "", deprecated: str = "[]") -> Case:
    files = {"autograd/derivatives.yaml": DERIVATIVE, "autograd/deprecated.yaml": f"{deprecated}\n"}
    writes = {"python_torch_functionsEverything.cpp": text} if text else NOTHING
    return Case(row, SCALE + more, raises, writes, files=files, generator="python")


DEPRECATED: Final = "- name: scale(Tensor self{}) -> Tensor\n  aten: scale({})"
PYTHON: Final = (
    python("an argument type that Python can't give", taking(", str[] x"), "RuntimeError: type 'str[]'"),
    python(
        "an argument type that Python can't give",
        "- func: ramp(int n) -> Tensor\n  dispatch: {CompositeExplicitAutograd: ramp}\n",
        "RuntimeError: ramp",
    ),
    python(
        "an argument type that Python can't give",
        f"- func: like(Tensor a, *, {OPTIONS}) -> Tensor\n  dispatch: {{CompositeExplicitAutograd: like}}\n",
        "RuntimeError: like",
    ),
    python(
        "an out form without a functional form", taking(", int x") + f"- func: f.out(Tensor self, {OUT}\n", "Error: "
    ),
    python("`deprecated.yaml`", "", "Unrecognized value slef", deprecated=DEPRECATED.format("", "slef")),
    python(
        "`deprecated.yaml`",
        "",
        text=r'"scale\(Tensor input, int64_t unused=0\)\|deprecated"',
        deprecated=DEPRECATED.format(", int unused=0", "self"),
    ),
    python("a default with a blank after its comma", taking(", int[2] x=[0, 1]"), "illegal argument '1]'"),
    python("`int reduction=Mean` is 0", taking(", int x=Mean"), text="x=at::Reduction::Mean"),
    python("`float[] x=[1.0]` and `ScalarType x=long`", taking(", ScalarType x=long"), text="ScalarType x=at::kLong"),
    python("`Tensor[]?`, `Scalar[]?`", taking(", Tensor[]? x, Storage? y"), text="_r.storageOptional"),
)


def runtime(row: str, definitions: str, text: str) -> Case:
    return Case(row, definitions, writes={"generated_ops.cpp": text}, generator="static_runtime")


def with_out(name: str, arguments: str, first: str, second: str) -> str:
    return f"- func: {name}({arguments}) -> Tensor\n{first}- func: {name}.out({arguments}, {OUT}\n{second}"


STATIC_RUNTIME: Final = (
    runtime(
        "a kernel `my::k`, or a composite kernel",
        with_out(
            "half", "Tensor self", "  dispatch: {CPU: my::half_cpu}\n", "  dispatch: {CompositeExplicitAutograd: o}\n"
        ),
        r"at::native::half_cpu[\s\S]*at::native::half_out",
    ),
    runtime("`mylib::op` is registered", with_out("mylib::half", "Tensor self", "", ""), "aten::half,"),
    runtime(
        "a quoted default ends the string", with_out("half", 'Tensor self, str m="up"', "", ""), r'schema\("[^\n]*="up"'
    ),
    runtime("calls functions that aren't there", structured("").replace("CPU", "CUDA"), "at::cpu::tw"),
)


def backend(row: str, lists: str, raises: str = "", *, head: str = XLA, **expected: object) -> Case:
    definitions = str(expected.pop("definitions", SCALE))
    files = {"backend.yaml": head + lists, **expected.pop("files", NOTHING)}  # type: ignore[dict-item]
    return Case(row, definitions, raises, files=files, generator="backend", **expected)  # type: ignore[arg-type]


TWO_WRITES: Final = (
    "- func: grow_(Tensor(a!) self, Tensor(b!) by) -> Tensor(a!)\n  dispatch: {CPU: grow_}\n  autogen: grow, grow.out\n"
)
STATS: Final = (
    "- func: st(Tensor self, Tensor(a!) m) -> Tensor\n  dispatch: {CPU: st}\n  autogen: st_functional, st.out\n"
)
BACKENDS: Final = (
    backend("an operator that is listed twice", "supported: [scale, scale]\n"),
    backend("an operator that is listed twice", "supported: [scale]\nfull_codegen: [scale]\nsymint: [skale]\n"),
    backend("an operator under `full_codegen` and `ir_gen`", "full_codegen: [scale]\nir_gen: [scale]\n"),
    backend("`extra_headers` is refused", "extra_headers: x\nsupported: [scale]\n", "extra_headers, supported"),
    backend("`autograd:` without a value", "supported: [scale]\nautograd:\n", "AssertionError"),
    backend("kernels for autograd alone", "autograd: [scale]\n", lacks={"XLANativeFunctions.h": ""}),
    backend(
        "a namespace in a namespace",
        "supported: [scale]\n",
        "AssertionError",
        head="backend: XLA\ncpp_namespace: a::b::c\n",
    ),
    backend(
        "a key that any operator of torch's names",
        "supported: [scale]\n",
        "AssertionError",
        head="backend: XPU\ncpp_namespace: my\n",
        definitions=f"{SCALE}- func: other(Tensor self) -> Tensor\n  dispatch: {{XPU: other}}\n",
    ),
    backend(
        "`backend: Undefined`",
        "supported: [scale]\n",
        head="backend: Undefined\ncpp_namespace: my\n",
        writes={"RegisterUndefined.cpp": "aten, Undefined, m"},
    ),
    backend(
        "crashes on functional kernels of operators with lists",
        "supported: [each]\n",
        "AssertionError",
        definitions="- func: each_(Tensor(a!)[] self) -> ()\n  dispatch: {CPU: each_}\n  autogen: each, each.out\n",
    ),
    backend(
        "crashes on functional kernels of operators that change",
        "supported: [st_functional]\n",
        "AssertionError",
        definitions=STATS,
    ),
    backend(
        "`_amp_update_scale_`",
        "supported: [grow]\n",
        definitions=TWO_WRITES,
        writes={"RegisterXLA.cpp": r"at::_copy_from\(wrapper_XLA__grow__tmp, self\)"},
    ),
    *(
        backend("`--impl-path` counts", "supported: [scale]\n", raises, flags=("k.cpp",), files={"k.cpp": text})
        for text, raises in (
            ("// T XLANativeFunctions::scale(T self) {}\n", ""),
            ("T XLANativeFunctions::scale(T self);\n", ""),
            ("T my::XLANativeFunctions::scale(T self) {}\n", "missing a kernel"),
            ("T XLANativeFunctions::scale (T self) {}\n", "missing a kernel"),
        )
    ),
)

CASES: Final = (*MISTAKES, *WRITTEN, *NAMESPACES, *NO_CPP, *LAZY_CASES, *AUTOGRAD, *PYTHON, *STATIC_RUNTIME, *BACKENDS)
