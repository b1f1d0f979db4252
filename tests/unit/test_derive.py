"""What `autogen` makes of an entry: the schemas, the kernels, and what both inherit."""

from __future__ import annotations

from expecttest import assert_expected_inline

from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.native_functions import Definitions, load_definitions
from opgen.model import DispatchKey
from tests.unit.tiny_programs import TAGS


def load(text: str) -> Definitions:
    log = Diagnostics()
    definitions = load_definitions(Source("ops.yaml", text), TAGS, log)
    assert definitions is not None, log.render()
    return definitions


def derived(text: str) -> str:
    """The derived functions: schema, kernel and tags."""
    definitions = load(text)
    index = definitions.backend_indices[DispatchKey.CompositeExplicitAutograd]
    lines = []
    for function in definitions.functions:
        if "generated" in function.tags:
            kernel = index.get_kernel(function)
            assert kernel is not None
            lines.append(str(function.func))
            lines.append(f"    {kernel.cpp_namespace}::{kernel.kernel}, {', '.join(sorted(function.tags))}")
    return "\n".join(lines)


def test_from_a_functional_form() -> None:
    assert_expected_inline(
        derived(
            """\
- func: a(Tensor self, SymInt n=1) -> Tensor
  dispatch:
    CPU: a_cpu
  tags: [core, nondeterministic_seeded]
  autogen: a.out
- func: b.Scalar(Tensor self) -> (Tensor x, Tensor y)
  dispatch:
    CPU: b_cpu
  autogen: b.Scalar_out
- func: c(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
    bool? pin_memory=None) -> Tensor
  dispatch:
    CPU: c_cpu
  autogen: c.out
- func: d(Tensor[] self) -> Tensor[]
  device_check: NoCheck
  dispatch:
    CPU: d_cpu
  autogen: d.out
"""
        ),
        """\
a.out(Tensor self, SymInt n=1, *, Tensor(a!) out) -> Tensor(a!)
    at::native::a_out_symint, generated, nondeterministic_seeded, out, pt2_compliant_tag
b.Scalar_out(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))
    at::native::b_Scalar_out, generated, out, pt2_compliant_tag
c.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)
    at::native::c_out_symint, generated, out, pt2_compliant_tag
d.out(Tensor[] self, *, Tensor(a!)[] out) -> ()
    at::native::d_out, generated, out, pt2_compliant_tag""",
    )


def test_from_an_inplace_form() -> None:
    assert_expected_inline(
        derived(
            """\
- func: a_(Tensor(a!) self, Tensor other) -> Tensor(a!)
  dispatch:
    CPU: a_cpu_
  autogen: a, a.out
"""
        ),
        """\
a.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
    at::native::a_out, generated, out, pt2_compliant_tag
a(Tensor self, Tensor other) -> Tensor
    at::native::a, generated, pt2_compliant_tag""",
    )


def test_from_a_mutable_form() -> None:
    assert_expected_inline(
        derived(
            """\
- func: a(Tensor self, Tensor(b!) running) -> Tensor
  dispatch:
    CPU: a_cpu
  autogen: a_functional, a.out
"""
        ),
        """\
a.out(Tensor self, Tensor(b!) running, *, Tensor(a!) out) -> Tensor(a!)
    at::native::a_out, generated, out, pt2_compliant_tag
a_functional(Tensor self, Tensor running) -> (Tensor, Tensor running_out)
    at::native::a_functional, generated, pt2_compliant_tag""",
    )


def test_no_alias_name_comes_twice() -> None:
    many = ", ".join(["Tensor"] * 30)
    text = derived(
        f"- func: a(Tensor self, Tensor(b!) x) -> ({many})\n  dispatch:\n    CPU: k\n  autogen: a_functional, a.out\n"
    )
    assert "Tensor(z!) out24, Tensor(a0!) out25, Tensor(a1!) out26" in text
    assert "(b!) out" not in text


def test_nothing_is_derived_of_views_and_composites() -> None:
    assert (
        derived(
            """\
- func: a(Tensor(a) self) -> Tensor(a)
- func: b(Tensor self) -> Tensor
- func: keep(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: keep
"""
        )
        == ""
    )


def test_derived_functions_are_plain_ones() -> None:
    function = load(
        """\
- func: mylib::a(Tensor self, int n=1) -> Tensor
  variants: function, method
  cpp_no_default_args: [n]
  dispatch:
    CPU: mine::a_cpu
  autogen: a.out
"""
    ).functions[-1]
    assert (function.namespace, str(function.func.name)) == ("mylib", "a.out")
    assert [variant.name for variant in function.variants] == ["function"]
    assert (function.python_module, function.cpp_no_default_args, function.autogen) == (None, frozenset(), ())
    assert function.has_composite_explicit_autograd_kernel
    assert function.tags == {"generated", "out"}
