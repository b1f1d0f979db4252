"""Ufuncs, groups whose author wrote only the loop body → their kernels for CPU and CUDA.

For `add`: `UfuncCPU_add.cpp` has the structured kernel, which calls a dispatch stub;
`UfuncCPUKernel_add.cpp`, compiled once for each set of CPU features, has the loop behind the stub;
`UfuncCUDA_add.cu` has all of it, with a functor for each way in which operands may be CPU scalars.

    AT_DISPATCH_CASE(at::ScalarType::Bool,
      [&]() {
        cpu_kernel(iter,
          [=](scalar_t self, scalar_t other) { return ufunc::add(self, other, _s_alpha); }
        );
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from opgen.api import ufunc
from opgen.api.types import Binding, render_defns, render_types, scalar_t
from opgen.dest.meta_functions import render_meta_class
from opgen.dest.native_functions import render_structured_class
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    DispatchKey,
    NativeFunctionsGroup,
    ScalarType,
    UfuncInnerLoop,
    UfuncKey,
)
from opgen.output.files import OutputFile
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_SNIPPETS: Final = Snippets("ufunc.cpp")

_TENSOR: Final = BaseType(BaseTy.Tensor)
_SCALAR: Final = BaseType(BaseTy.Scalar)
_VECTORIZED: Final = "at::vec::Vectorized<scalar_t>"

_SCALAR_KEYS: Final = (UfuncKey.CPUScalar, UfuncKey.ScalarOnly, UfuncKey.Generic)
"""The keys of the loop body for single elements on the CPU, the most specific first."""
_VECTOR_KEYS: Final = (UfuncKey.CPUVector, UfuncKey.Generic)
"""The keys of the loop body for vectors."""
_SHARED_CUDA_KEYS: Final = (UfuncKey.ScalarOnly, UfuncKey.Generic)
"""The keys of the loop body of a generated functor."""
_BINARY_FUNCTORS: Final = MappingProxyType({UfuncKey.CUDAFunctorOnSelf: 1, UfuncKey.CUDAFunctorOnOther: 0})
"""Functors for two tensors, one of which is a CPU scalar: the index of that one."""


def emit_ufunc_sources(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `UfuncCPU_….cpp`, `UfuncCPUKernel_….cpp` and `UfuncCUDA_….cu` for each ufunc."""
    for group in program.structured_groups:
        if not group.out.ufunc_inner_loop:
            continue
        parts = UfuncParts.of(group)
        if DispatchKey.CPU in options.dispatch_keys:
            yield from _emit_cpu(program, parts, templates)
        if DispatchKey.CUDA in options.dispatch_keys:
            yield _emit_cuda(program, parts, templates, rocm=options.rocm)


@dataclass(frozen=True, slots=True)
class UfuncParts:
    """A ufunc, and the values that its files share."""

    group: NativeFunctionsGroup
    name: str
    """The operator's name without its overload."""
    arguments: tuple[Argument, ...]
    """All except the out arguments."""
    stub_parameters: tuple[Binding, ...]
    """The parameters of the loop after the iterator."""

    @staticmethod
    def of(group: NativeFunctionsGroup) -> UfuncParts:
        arguments = group.out.func.arguments.flat_non_out
        return UfuncParts(group, str(group.functional.func.name.name), tuple(arguments), ufunc.stub_arguments(group))

    def loop_head(self) -> str:
        """Return the head of the function that runs the loop."""
        return f"void {self.name}_kernel({_comma('TensorIteratorBase& iter', render_defns(self.stub_parameters))})"

    def stub_declaration(self) -> str:
        """Return the dispatch stub through which the loop is found."""
        types = _comma("TensorIteratorBase&", render_types(self.stub_parameters))
        return _SNIPPETS.render("stub_declaration", name=self.name, types=types)

    def impl(self, program: Program, key: DispatchKey, callee: str, first: str) -> str:
        """Return the structured kernel's `impl`, which calls the loop."""
        head = program.group_signatures(self.group).impl(ufunc.kernel_name(self.group, key)).defn()
        arguments = [first, *(parameter.name for parameter in self.stub_parameters)]
        return _SNIPPETS.render("impl", head=head, callee=callee, arguments=arguments)

    def declarations(self, program: Program, key: DispatchKey) -> dict[str, object]:
        """Return the classes of the meta function and the kernel, as template values."""
        index = program.backend_indices[key]
        kernel = index.index[self.group.out.func.name]
        return {
            "name": self.name,
            "meta_declaration": render_meta_class(program, self.group),
            "native_declaration": render_structured_class(program, index, kernel, self.group),
        }


def _comma(first: str, rest: str) -> str:
    return f"{first}, {rest}" if rest else first


def _first_loops(loops: Mapping[UfuncKey, UfuncInnerLoop], keys: Iterable[UfuncKey]) -> dict[ScalarType, str]:
    """Return the loop body's name for each element type, from the first of the keys that has one."""
    loops_by_dtype: dict[ScalarType, str] = {}
    for key in keys:
        if key in loops:
            for dtype in loops[key].supported_dtypes:
                loops_by_dtype.setdefault(dtype, loops[key].name)
    return loops_by_dtype


def _render_switch(name: str, cases: Iterable[tuple[ScalarType, str]]) -> str:
    """Return a switch over the iterator's element type."""
    rows = [{"dtype": dtype, "statements": statements} for dtype, statements in cases]
    return _SNIPPETS.render("switch", name=name, cases=rows)


# ------------------------------------------------------------------------------------------- CPU


def _emit_cpu(program: Program, parts: UfuncParts, templates: TemplateSet) -> Iterator[OutputFile]:
    stub = f"{parts.name}_stub"
    impl = parts.impl(program, DispatchKey.CPU, stub, "device_type(), *this")
    env = parts.declarations(program, DispatchKey.CPU)
    stub_declaration, operator = parts.stub_declaration(), parts.group.root_name
    env["native_definitions"] = _SNIPPETS.render("cpu", stub_declaration=stub_declaration, stub=stub, impl=impl)
    yield OutputFile(f"UfuncCPU_{parts.name}.cpp", templates.render("UfuncCPU.cpp", env), operator=operator)
    env["native_definitions"] = _SNIPPETS.render(
        "cpu_loop",
        head=parts.loop_head(),
        switch=render_cpu_switch(parts),
        stub_declaration=stub_declaration,
        stub=stub,
        name=parts.name,
    )
    text = templates.render("UfuncCPUKernel.cpp", env)
    yield OutputFile(f"UfuncCPUKernel_{parts.name}.cpp", text, group="cpu_vec_", operator=operator)


def render_cpu_switch(parts: UfuncParts) -> str:
    """Return the body of the function that runs the loop."""
    return _render_switch(f"{parts.name}_stub", _cpu_cases(parts))


def _cpu_cases(parts: UfuncParts) -> Iterator[tuple[ScalarType, str]]:
    loops = parts.group.out.ufunc_inner_loop
    vectors = _first_loops(loops, _VECTOR_KEYS)
    for dtype, scalar_loop in _first_loops(loops, _SCALAR_KEYS).items():
        yield dtype, _render_cpu_loop(parts, scalar_loop, vectors.get(dtype))


def _render_cpu_loop(parts: UfuncParts, scalar_loop: str, vector_loop: str | None) -> str:
    """Return statements that run the loop, with vectors where there is a body for them."""
    numbers = [a.name for a in parts.arguments if a.type == _SCALAR]
    statements = [f"auto _s_{name} = {name}.to<scalar_t>();" for name in numbers]
    lambdas = [_render_lambda(parts, scalar_loop, "scalar_t", "_s_")]
    if vector_loop is not None:
        statements += [f"auto _v_{name} = {_VECTORIZED}(_s_{name});" for name in numbers]
        lambdas.append(_render_lambda(parts, vector_loop, _VECTORIZED, "_v_"))
    function = "cpu_kernel" if vector_loop is None else "cpu_kernel_vec"
    lines = [*statements, f"{function}(iter,", *[f"  {text}," for text in lambdas[:-1]], f"  {lambdas[-1]}", ");"]
    return "\n".join(lines)


def _render_lambda(parts: UfuncParts, loop: str, element: str, prefix: str) -> str:
    """Return a call of the loop body with the lambda's elements and the converted numbers."""
    parameters = ", ".join([f"{element} {a.name}" for a in parts.arguments if a.type == _TENSOR])
    arguments = ", ".join([f"{prefix}{a.name}" if a.type == _SCALAR else a.name for a in parts.arguments])
    return f"[=]({parameters}) {{ return ufunc::{loop}({arguments}); }}"


# ------------------------------------------------------------------------------------------ CUDA


def _emit_cuda(program: Program, parts: UfuncParts, templates: TemplateSet, *, rocm: bool) -> OutputFile:
    functors, switch = render_cuda_kernel(parts)
    env = parts.declarations(program, DispatchKey.CUDA)
    env["cuda_headers"] = f"#include <ATen/native/{'hip' if rocm else 'cuda'}/Loops.cuh>"
    env["native_definitions"] = _SNIPPETS.render(
        "cuda",
        functors=functors,
        stub_declaration=parts.stub_declaration(),
        head=parts.loop_head(),
        switch=switch,
        name=parts.name,
        impl=parts.impl(program, DispatchKey.CUDA, f"{parts.name}_kernel", "*this"),
    )
    text = templates.render("UfuncCUDA.cu", env)
    return OutputFile(f"UfuncCUDA_{parts.name}.cu", text, group="cuda_", operator=parts.group.root_name)


def render_cuda_kernel(parts: UfuncParts) -> tuple[str, str]:
    """Return the generated functors, and the body of the function that runs the loop."""
    plan = _CudaPlan.of(parts)
    switch = _render_switch(ufunc.kernel_name(parts.group, DispatchKey.CUDA), _cuda_cases(parts, plan))
    return "".join(plan.definitions), switch


@dataclass(frozen=True, slots=True)
class _CudaPlan:
    """The functors, and the cases that each handles."""

    definitions: tuple[str, ...]
    """Those that are generated."""
    chosen: Mapping[ScalarType, Mapping[UfuncKey, str]]
    """The functor's class for each element type and each kind of operands."""

    @staticmethod
    def of(parts: UfuncParts) -> _CudaPlan:
        """Return the functor for each key and dtype: the author's, or else a generated one."""
        loops = parts.group.out.ufunc_inner_loop
        bodies = _first_loops(loops, _SHARED_CUDA_KEYS)
        definitions: list[str] = []
        chosen: dict[ScalarType, dict[UfuncKey, str]] = {}
        for key in _functor_keys(parts):
            if key in loops:
                classes = dict.fromkeys(loops[key].supported_dtypes, loops[key].name)
            else:
                classes = {dtype: f"{key}_{body}" for dtype, body in bodies.items()}
                definitions += [_render_functor(parts, key, body) for body in dict.fromkeys(bodies.values())]
            for dtype, functor in classes.items():
                chosen.setdefault(dtype, {})[key] = functor
        return _CudaPlan(tuple(definitions), chosen)


def _functor_keys(parts: UfuncParts) -> tuple[UfuncKey, ...]:
    """Return the functors: CPU scalars have their own only if there are two tensors."""
    is_binary = sum(a.type == _TENSOR for a in parts.arguments) == 2
    return (*_BINARY_FUNCTORS, UfuncKey.CUDAFunctor) if is_binary else (UfuncKey.CUDAFunctor,)


def _render_functor(parts: UfuncParts, key: UfuncKey, body: str) -> str:
    """Return a class that is constructed with the constants and called with elements."""
    bindings = ufunc.ufunctor_arguments(parts.group, scalar_tensor_idx=_BINARY_FUNCTORS.get(key), scalar_t=scalar_t)
    name = f"{key}_{body}"
    elements = {b.name for b in bindings.apply}
    arguments = [f"static_cast<opmath_t>({a.name})" if a.name in elements else f"{a.name}_" for a in parts.arguments]
    functor = _SNIPPETS.render(
        "functor",
        name=name,
        parameters=bindings.ctor,
        constructor=render_defns(bindings.ctor),
        initializers=[f"{parameter.name}_({parameter.name})" for parameter in bindings.ctor],
        elements=render_defns(bindings.apply),
        body=body,
        arguments=arguments,
    )
    return f"{functor}\n"


def _cuda_cases(parts: UfuncParts, plan: _CudaPlan) -> Iterator[tuple[ScalarType, str]]:
    for dtype, functors in plan.chosen.items():
        branches = [
            _render_branch(parts, functors[key], index)
            for key, index in sorted(_BINARY_FUNCTORS.items(), key=lambda item: item[1])
            if key in functors
        ]
        if UfuncKey.CUDAFunctor in functors:
            call = f"{functors[UfuncKey.CUDAFunctor]}<scalar_t>({_constants(parts, None)})"
            branches.append(_SNIPPETS.render("else_tensors", call=call).removesuffix("\n"))
        yield dtype, _SNIPPETS.render("cuda_case", branches="".join(branches))


def _render_branch(parts: UfuncParts, functor: str, index: int) -> str:
    """Return the branch for a CPU scalar as the tensor at `index`."""
    return _SNIPPETS.render(
        "else_scalar", operand=index + 1, functor=functor, constants=_constants(parts, index)
    ).removesuffix("\n")


def _constants(parts: UfuncParts, scalar_index: int | None) -> str:
    """Return the constructor's arguments of a functor; the tensor at `scalar_index` is read from the iterator."""
    bindings = ufunc.ufunctor_arguments(parts.group, scalar_tensor_idx=scalar_index, scalar_t=scalar_t)
    values: list[str] = []
    for binding in bindings.ctor:
        if isinstance(binding.argument, Argument) and binding.argument.type == _TENSOR:
            values.append(f"iter.scalar_value<opmath_t>({(scalar_index or 0) + 1})")
        elif isinstance(binding.argument, Argument) and binding.argument.type == _SCALAR:
            values.append(f"({binding.name}).to<opmath_t>()")
        else:
            values.append(binding.name)
    return ", ".join(values)
