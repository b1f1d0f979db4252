"""The formulas of derivatives.yaml, compiled: each becomes an operator that Python can call.

    self: grad * other.conj()      opgen_formulas::formula_12(Tensor[] grads, Tensor self, Tensor other,
                                                              Tensor result) -> Tensor[]

A formula takes the gradients of the results (a forward formula takes a tangent for each tensor instead),
the operator's arguments, and its results.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from opgen.api import cpp
from opgen.api.autograd import DEFAULT_KEY, DifferentiabilityInfo
from opgen.api.dispatcher import arguments as dispatcher_arguments
from opgen.frontend.derivatives import Derivatives
from opgen.model import Argument, Arguments, FunctionSchema, OperatorName, Return, Type
from tests.compilers import QUICK

HELPERS = Path(__file__).with_name("formula_helpers.h")
LIBRARY = "opgen_formulas"
_CALL = re.compile(r"(?<![.>:\w])(\w+)\(")


@dataclass(frozen=True)
class Formula:
    """One formula, as a C++ function."""

    number: int
    info: DifferentiabilityInfo
    names: tuple[str, ...]
    """The arguments that it gives gradients of, or the result that it gives the tangent of."""
    text: str
    is_forward: bool

    @property
    def operator(self) -> str:
        """The name and overload of the operator that it belongs to."""
        return str(self.info.func.func.name)

    @property
    def types(self) -> dict[str, str]:
        """The operator's arguments and their types."""
        return {argument.name: str(argument.type) for argument in self.info.func.func.arguments.flat_all}

    @property
    def gives_list(self) -> bool:
        """Whether it gives a list: the gradients of a list of tensors, or the tangents of one."""
        if self.is_forward:
            return any(returned.type.is_list_like() for returned in self.info.func.func.returns)
        return "Tensor[]" in {self.types[name] for name in self.names}

    def schema(self) -> FunctionSchema:
        """What it takes and gives."""
        func = self.info.func.func
        plain = [Argument(_given(a), a.type, None, None) for a in func.arguments.flat_all]
        tangents = [Argument(_given(a, "_t"), a.type, None, None) for a in func.arguments.flat_all if _is_tensor(a)]
        given = tangents if self.is_forward else [Argument("grads_", Type.parse("Tensor[]"), None, None)]
        names = ("result",) if func.name.name.inplace else cpp.return_names(self.info.func)
        taken = {argument.name for argument in plain}
        results = [
            Argument(f"{name}_result" if name in taken else name, returned.type, None, None)
            for name, returned in zip(names, func.returns)
        ]
        arguments = Arguments.arrange((*given, *plain, *results), ())
        return FunctionSchema(
            OperatorName.parse(f"formula_{self.number}"), arguments, (Return(None, Type.parse("Tensor[]"), None),)
        )

    def definition(self) -> str:
        """The C++ function."""
        parameters = ", ".join(binding.defn() for binding in dispatcher_arguments(self.schema()))
        body = "\n".join(f"  {line}" for line in (*self._locals(), *self._returned()))
        function = f"// {self.operator}\nstd::vector<Tensor> formula_{self.number}({parameters}) {{\n{body}\n}}\n"
        return function + self._boxed()

    def _boxed(self) -> str:
        """The function that takes the arguments from a stack."""
        types = [binding.type for binding in dispatcher_arguments(self.schema())]
        given = ", ".join(f"unboxed<{type}>(given[{index}])" for index, type in enumerate(types))
        return f"""\
void boxed_formula_{self.number}(torch::jit::Stack& stack) {{
  const auto given = stack.end() - {len(types)};
  auto made = formula_{self.number}({given});
  stack.erase(given, stack.end());
  stack.emplace_back(std::move(made));
}}
"""

    def _locals(self) -> Iterator[str]:
        for argument in self.schema().arguments.flat_all:
            if argument.name.endswith("_opt"):
                yield f"const Tensor {argument.name.removesuffix('_opt')} = toNonOptTensor({argument.name});"
        if self.is_forward:
            yield from (f"const auto& {name}_p = {name};" for name, type in self.types.items() if "Tensor" in type)
            return
        yield "const variable_list grads = grads_.vec();"
        yield "const Tensor grad = grads.empty() ? Tensor() : grads[0];"
        for index, name in enumerate(self.info.available_named_gradients):
            yield f"const Tensor {name} = grads[{index}];"
        yield f"std::array<bool, {len(self.names)}> grad_input_mask;"
        yield "grad_input_mask.fill(true);"

    def _returned(self) -> Iterator[str]:
        # Only an optional tensor's sizes are asked for while it may be absent.
        text = re.sub(r"\b(\w+)->sym_sizes\(\)", r"sizes_of(\1_opt)", self.text)
        if self.gives_list:
            yield f"return std::vector<Tensor>({text});"
        elif len(self.names) == 1:
            yield f"return {{{text}}};"
        else:
            yield f"const auto all = {text};"
            yield f"return {{{', '.join(f'std::get<{index}>(all)' for index in range(len(self.names)))}}};"


def _is_tensor(argument: Argument) -> bool:
    return argument.type.is_tensor_like()


def _given(argument: Argument, suffix: str = "") -> str:
    return f"{argument.name}{suffix}" + ("_opt" if str(argument.type) == "Tensor?" else "")


def runnable(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    """The formulas all of whose helpers have stand-ins."""
    missing = _only_torch_has()
    return tuple(formula for formula in formulas if not missing & set(_CALL.findall(formula.text)))


def _only_torch_has() -> frozenset[str]:
    """The helpers of FunctionsManual.h that have no stand-in."""
    include = Path(torch.__file__).parent / "include"
    header = (include / "torch" / "csrc" / "autograd" / "FunctionsManual.h").read_text(encoding="utf-8")
    inline = {"apply_loss_reduction", "toNonOptTensor"}
    stand_ins = re.findall(r"^Tensor (\w+)\(", HELPERS.read_text(encoding="utf-8"), re.M)
    return frozenset(_CALL.findall(header)) - inline - set(stand_ins)


def formulas_of(derivatives: Derivatives, first: int = 0) -> tuple[Formula, ...]:
    """The formulas, numbered from `first`; those of views' copies are left out: they are the views' own."""
    formulas: list[Formula] = []
    for infos in derivatives.values():
        info = infos[DEFAULT_KEY]
        if "view_copy" in info.func.tags:
            continue
        for one in info.derivatives:
            formulas.append(Formula(first + len(formulas), info, one.var_names, one.original_formula, False))
        if not info.func.func.name.name.inplace:
            for forward in info.forward_derivatives:
                formulas.append(Formula(first + len(formulas), info, forward.var_names, forward.formula, True))
    return tuple(formulas)


def build_library(formulas: Iterable[Formula], folder: Path) -> None:
    """Compiles the formulas in `folder`, and loads them."""
    definitions, registrations = [], []
    for formula in formulas:
        definitions.append(formula.definition())
        registrations.append(f'  m.def("{formula.schema()}", boxed(boxed_formula_{formula.number}));')
    text = [
        HELPERS.read_text(encoding="utf-8"),
        "namespace {",
        *definitions,
        "}",
        f"TORCH_LIBRARY({LIBRARY}, m) {{",
        *registrations,
        "}",
    ]
    source, library = folder / "formulas.cpp", folder / "formulas.so"
    source.write_text("\n".join(text) + "\n", encoding="utf-8")
    torch_folder = Path(torch.__file__).parent
    includes = [f"-I{torch_folder / 'include'}", f"-I{torch_folder / 'include' / 'torch' / 'csrc' / 'api' / 'include'}"]
    links = [f"-L{torch_folder / 'lib'}", "-ltorch_cpu", "-lc10"]
    # What is bound lazily may be missing, as long as nobody calls it.
    flags = ["-std=c++20", "-O0", "-w", QUICK, "-fPIC", "-shared", "-Wl,-z,lazy"]
    run = subprocess.run(
        ["g++", *flags, *includes, str(source), "-o", str(library), *links], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[:10_000]
    ctypes.CDLL(str(library), mode=os.RTLD_LAZY)
