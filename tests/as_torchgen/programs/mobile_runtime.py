"""A generator in the style of a mobile runtime's: kernels with wrappers, unboxing and a header, for selected operators.

answers(definitions, tags, folder) writes Kernels.h, Register.cpp, Unboxing_0.cpp … below the folder
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from torchgen import dest, local
from torchgen.api import cpp, unboxing
from torchgen.api.translate import translate
from torchgen.api.types import BaseCType, CppSignatureGroup, CType, DispatcherSignature, NamedCType, tensorT
from torchgen.code_template import CodeTemplate
from torchgen.context import method_with_native_function, with_native_function_and_index
from torchgen.gen import (
    LineLoader,
    get_native_function_declarations,
    get_native_function_schema_registrations,
    parse_tags_yaml,
)
from torchgen.model import BackendIndex, DispatchKey, Location, NativeFunction, Variant
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import FileManager, NamespaceHelper, make_file_manager, mapMaybe

SELECTED = {"aten::add", "aten::abs", "aten::split", "aten::index", "aten::sum", "aten::topk", "aten::empty"}
HEADER = "#pragma once\n// ${generated_comment}\n${declarations}\n"
SOURCE = "// ${generated_comment}\n$registrations\n"
UNBOXING = "// ${generated_comment}\nnamespace my {\n$definitions\n}\n"
KERNEL = CodeTemplate("""\
void ${name}(Stack & stack) {
    ${code}
    ${result}${callee}(${arguments});
    drop(stack, ${count});
    ${push}
}
""")


@dataclass(frozen=True)
class EvalueCType(CType):
    """What the runtime holds a value in."""

    elem: CType

    def cpp_type(self, *, strip_ref: bool = False) -> str:
        return f"my::EValue<{self.elem.cpp_type(strip_ref=strip_ref)}>"

    def remove_const_ref(self) -> CType:
        return EvalueCType(self.elem.remove_const_ref())


@dataclass(frozen=True)
class Unboxing:
    """Makes the function that calls an operator with what is on a stack."""

    selector: Any

    @method_with_native_function
    def __call__(self, f: Any) -> str | None:
        if not self.selector.is_root_operator(f"{f.namespace}::{f.func.name}") or Variant.function not in f.variants:
            return None
        bindings, code = unboxing.convert_arguments(f)
        sig = CppSignatureGroup.from_native_function(f, method=False).most_faithful_signature()
        returned = cpp.returns_type(f.func.returns, symint=False).cpp_type()
        arguments = translate(bindings, sig.arguments(), method=False)
        return KERNEL.substitute(
            name=unboxing.name(f),
            code="\n".join(code).split("\n"),
            result="" if returned == "void" else "auto result_ = ",
            callee=f"at::{sig.name()}",
            arguments=[each.expr for each in arguments],
            count=len(bindings),
            push="" if returned == "void" else "pack(stack, std::move(result_));",
        )


@with_native_function_and_index
def wrapper(f: Any, index: Any) -> list[str]:
    """The declaration of the runtime's own kernel, behind a context."""
    kernel = index.get_kernel(f)
    if kernel is None:
        return []
    sig = DispatcherSignature.from_schema(f.func, symint=False)
    held = EvalueCType(BaseCType(tensorT))
    first = NamedCType("context", held)
    parameters = ", ".join([f"{first.cpp_type()} context", *(b.defn() for b in sig.arguments())])
    return [f"{sig.returns_type().cpp_type()} {kernel.kernel}({parameters});"]


def read(path: str, tags_path: str, selector: Any) -> tuple[list[Any], dict[Any, Any]]:
    """The selected operators and their kernels, entry by entry."""
    tags, functions = parse_tags_yaml(tags_path), []
    indices: defaultdict[Any, dict[Any, Any]] = defaultdict(dict)
    with open(path, encoding="utf-8") as file:
        for entry in yaml.load(file, Loader=LineLoader):
            line = entry.pop("__line__")
            if isinstance(entry.get("dispatch"), dict):
                entry["dispatch"].pop("__line__", None)
            if isinstance(entry.get("ufunc_inner_loop"), dict):
                continue
            if selector.is_operator_selected(f"aten::{entry['func'].partition('(')[0]}"):
                function, kernels = NativeFunction.from_yaml(entry, Location(path, line), tags)
                functions.append(function)
                BackendIndex.grow_index(indices, kernels)
    return functions, {key: BackendIndex(key, True, False, False, index) for key, index in indices.items()}


def answers(path: str, tags_path: str, folder: Path) -> None:
    templates = folder.parent / "templates"
    templates.mkdir(exist_ok=True)
    for name, text in (("Kernels.h", HEADER), ("Register.cpp", SOURCE), ("Unboxing.cpp", UNBOXING)):
        (templates / name).write_text(text, encoding="utf-8")
    options = argparse.Namespace(source_path=str(folder.parent), install_dir=str(folder), dry_run=False)
    selector = SelectiveBuilder.from_legacy_op_registration_allow_list(SELECTED, True, False)
    functions, indices = read(path, tags_path, selector)
    files: FileManager = make_file_manager(options)
    with local.parametrize(use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False):
        own = {DispatchKey.CPU: indices[DispatchKey.CPU]}
        wrapped = get_native_function_declarations(
            grouped_native_functions=functions, backend_indices=own, native_function_decl_gen=wrapper
        )
    native = [line for f in functions for line in dest.compute_native_function_declaration(f, own[DispatchKey.CPU])]
    helper = NamespaceHelper("my::kernels")
    declared = [*wrapped, helper.prologue, *native, helper.epilogue]
    files.write("Kernels.h", lambda: {"declarations": declared, "generated_comment": "by hand"})
    schemas, others = get_native_function_schema_registrations(native_functions=functions, schema_selector=selector)
    files.write("Register.cpp", lambda: {"registrations": [*schemas, others], "generated_comment": "by hand"})
    unbox = Unboxing(selector)
    files.write_sharded(
        "Unboxing.cpp",
        functions,
        key_fn=lambda f: str(f.root_name),
        env_callable=lambda f: {"definitions": list(mapMaybe(unbox, [f]))},
        num_shards=3,
        base_env={"generated_comment": "by hand"},
        sharded_keys={"definitions"},
    )
