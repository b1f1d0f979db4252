"""Groups with structured kernels → the classes of their meta functions.

`NativeMetaFunctions.h` declares them, or one header per operator, `ops/add_meta.h`.  A meta function
sets the shapes of results; it returns precomputed values for the kernels in an object whose type
ensures that each value is set exactly once.

    struct TORCH_API structured_add_Tensor : public TensorIteratorBase {
      void meta(const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha);
    };
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from opgen.api import structured
from opgen.api.types import Binding, render_defns
from opgen.dest.includes import by_root_name, ops_include
from opgen.model import NativeFunctionsGroup
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_DEFAULT_PARENT: Final = "at::impl::MetaBase"


def emit_meta_headers(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `NativeMetaFunctions.h` and the `ops/…_meta.h`."""
    includes: list[str] = []
    declarations: list[str] = []
    if options.per_operator_headers:
        yield from _emit_per_operator(program, templates)
        # All operators, even those without such a header, for compatibility with torch's build.
        root_names = {group.root_name for group in program.grouped}
        includes = [ops_include(root_name, "_meta") for root_name in sorted(root_names)]
    else:
        declarations = [render_meta_class(program, group) for group in program.structured_groups]
    env = {"NativeMetaFunctions_includes": includes, "NativeMetaFunctions_declarations": declarations}
    yield OutputFile("NativeMetaFunctions.h", templates.render("NativeMetaFunctions.h", env))


def _emit_per_operator(program: Program, templates: TemplateSet) -> Iterator[OutputFile]:
    for root_name, groups in by_root_name(program.structured_groups).items():
        declared = [render_meta_class(program, group) for group in groups]
        text = templates.render("NativeMetaFunction.h", {"meta_function_declarations": declared})
        yield OutputFile(f"ops/{root_name}_meta.h", text, group="ops_", operator=root_name)


def render_meta_class(program: Program, group: NativeFunctionsGroup) -> str:
    """Return the class that the classes of the group's structured kernels derive from."""
    signatures = program.group_signatures(group)
    parent = group.out.structured_inherits or _DEFAULT_PARENT
    returns, before = "void", ""
    if group.out.precomputed is not None:
        values = [structured.argument(a) for a in group.out.precomputed.added_and_replacing()]
        returns, before = "meta_return_ty", render_precomputed(values)
    return (
        f"struct TORCH_API structured_{signatures.meta_name} : public {parent} {{\n"
        f"{before}"
        f"  {returns} meta({render_defns(signatures.meta_arguments)});\n"
        "};"
    )


def render_precomputed(values: Sequence[Binding]) -> str:
    """Return a class template for the values, whose parameters record which are set, and `meta_return_ty`."""
    parameters = ", ".join([f"bool {value.name.upper()} = false" for value in values])
    setters = "\n".join([_render_setter(values, at) for at in range(len(values))])
    members = "".join([f"    {_kept_type(value)} {value.name};\n" for value in values])
    all_set = ", ".join(["true"] * len(values))
    return (
        f"  template <{parameters}>\n"
        "  struct TORCH_API precompute_out {\n"
        f"{setters}\n"
        f"{members}"
        "  };\n"
        f"  using meta_return_ty = precompute_out<{all_set}>;\n"
    )


def _kept_type(value: Binding) -> str:
    """Return the type of a precomputed value, which isn't a reference."""
    return str(value.nctype.type.remove_const_ref())


def _render_setter(values: Sequence[Binding], at: int) -> str:
    """Return the function that sets one of the values and returns an object of another type."""
    value = values[at]
    flags = ", ".join(["true" if other is value else other.name.upper() for other in values])
    copies = "".join(
        [f"      ret.{other.name} = {'value' if other is value else f'this->{other.name}'};\n" for other in values]
    )
    return (
        f"    precompute_out<{flags}> set_{value.name}({_kept_type(value)} value) {{\n"
        f'      static_assert({value.name.upper()} == false, "{value.name} already set");\n'
        f"      precompute_out<{flags}> ret;\n"
        f"{copies}"
        "      return ret;\n"
        "    }\n"
    )
