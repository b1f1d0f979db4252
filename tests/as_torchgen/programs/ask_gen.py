"""Asks `gen`, `dest` and their neighbours about every operator: a program against torchgen."""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from torchgen import dest
from torchgen import utils as torchgen_utils
from torchgen.aoti.fallback_ops import inductor_fallback_ops
from torchgen.api.types import CppSignatureGroup, DispatcherSignature
from torchgen.code_template import CodeTemplate
from torchgen.context import native_function_manager, with_native_function
from torchgen.dest import lazy_ir, native_functions, register_dispatch_key
from torchgen.dest.lazy_ir import GenLazyNativeFuncDefinition, GenTSLazyIR, aten_symbol, node_ctor_inputs
from torchgen.dest.register_dispatch_key import StructuredRegisterDispatchKey
from torchgen.gen import (
    _GLOBAL_PARSE_NATIVE_YAML_CACHE,
    RegisterSchema,
    compute_meta_function_declaration,
    cpp_string,
    error_check_native_functions,
    get_custom_build_selector,
    get_grouped_native_functions,
    get_native_function_declarations,
    get_native_function_declarations_from_ns_grouped_kernels,
    get_native_function_schema_registrations,
    main,
    parse_native_yaml,
    static_dispatch,
)
from torchgen.gen_aoti_c_shim import (
    gen_declaration_and_definition,
    gen_static_dispatch_backend_call_signature,
    get_backend_index_for_aoti,
)
from torchgen.gen_schema_utils import FunctionSchemaGen
from torchgen.model import (
    BackendIndex,
    BackendMetadata,
    DeviceCheckType,
    DispatchKey,
    NativeFunctionsGroup,
    OperatorName,
)
from torchgen.native_function_generation import (
    OUT_OPS_THAT_DONT_GET_GROUPED_PROPERLY,
    add_generated_native_functions,
    functional_to_out_signature,
    mutable_to_out_signature,
    self_to_out_signature,
)
from torchgen.selective_build.operator import SelectiveBuildOperator, merge_operator_dicts
from torchgen.selective_build.selector import (
    SelectiveBuilder,
    combine_selective_builders,
    merge_et_kernel_metadata,
    merge_kernel_metadata,
)
from torchgen.utils import (
    FileManager,
    NamespaceHelper,
    Target,
    assert_never,
    concatMap,
    context,
    make_file_manager,
    mapMaybe,
)

TARGETS = (
    Target.ANONYMOUS_DEFINITION,
    Target.NAMESPACED_DEFINITION,
    Target.NAMESPACED_DECLARATION,
    Target.REGISTRATION,
)
DEVICES = ("CPU", "CUDA", "Meta", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd", "SparseCUDA")
SELECTION = """
operators:
  aten::add.Tensor: {is_root_operator: true, is_used_for_training: false, include_all_overloads: false}
  aten::abs: {debug_info: [a]}
kernel_metadata: {add_kernel: [float, int64_t]}
et_kernel_metadata: {aten::add.out: ["v1/6;0,1|6;0,1"]}
custom_classes: [a.B]
build_features: [C]
"""


def selector_text(selector: Any) -> list[object]:
    names = ("aten::add.Tensor", "aten::add.out", "aten::abs", "aten::abs.out", "aten::mul")
    return [
        [[selector.is_operator_selected(n), selector.is_root_operator(n)] for n in names],
        [selector.is_operator_selected_for_training(n) for n in names],
        [selector.is_kernel_dtype_selected("add_kernel", t) for t in ("float", "double")],
        json.dumps(selector.to_dict(), sort_keys=True),
    ]


def selectors(folder: Path) -> dict[str, object]:
    path = folder / "selection.yaml"
    path.write_text(SELECTION, encoding="utf-8")
    read = SelectiveBuilder.from_yaml_str(SELECTION)
    legacy = SelectiveBuilder.from_legacy_op_registration_allow_list({"aten::mul"}, True, False)
    one = SelectiveBuildOperator.from_yaml_dict("aten::abs", {"is_root_operator": False})
    other = SelectiveBuildOperator.from_yaml_dict("aten::abs", {"is_used_for_training": False})
    merged = merge_operator_dicts({"aten::abs": one}, {"aten::abs": other})
    merged["aten::neg"] = one
    return {
        "nop": selector_text(SelectiveBuilder.get_nop_selector()),
        "text": selector_text(read),
        "dict": selector_text(SelectiveBuilder.from_yaml_dict({"operators": {"aten::mul": {}}})),
        "path": selector_text(SelectiveBuilder.from_yaml_path(str(path))),
        "legacy": selector_text(legacy),
        "both": selector_text(combine_selective_builders(read, legacy)),
        "custom": [selector_text(get_custom_build_selector(*a)) for a in ((["aten::add"], None), (None, str(path)))],
        "operators": sorted((name, sorted(o.to_dict().items())) for name, o in merged.items()),
        "kernels": {k: sorted(v) for k, v in merge_kernel_metadata({"a": ["x"]}, {"a": ["y"], "b": ["z"]}).items()},
        "et kernels": {k: sorted(v) for k, v in merge_et_kernel_metadata({"a": ["x"]}, {"a": ["y"]}).items()},
        "keys": read.et_get_selected_kernels("aten::add.out", ["v1/6;0,1|6;0,1", "default"]),
    }


def registrations(parsed: Any, groups: Any) -> dict[str, object]:
    """What each key has for each group, under each target."""
    found: dict[str, object] = {}
    selector = SelectiveBuilder.get_nop_selector()
    for name in DEVICES:
        index = parsed.backend_indices[DispatchKey.parse(name)]
        found[f"helpers {name}"] = dest.gen_registration_helpers(index)
        for target in TARGETS:
            made = dest.RegisterDispatchKey(
                index,
                target,
                selector,
                rocm=False,
                symint=True,
                class_method_name=None,
                skip_dispatcher_op_registration=False,
            )
            for group in groups:
                texts = made(group)
                if texts:
                    found[f"{name} {target.name} {root(group)}"] = texts
    return found


def root(group: Any) -> str:
    return str(group.functional.func.name if isinstance(group, NativeFunctionsGroup) else group.func.name)


@with_native_function
def pieces(group: Any) -> dict[str, object]:
    """Parts of a structured kernel's class, and other methods that programs call or replace."""
    selector = SelectiveBuilder.get_nop_selector()
    index = BackendIndex(
        DispatchKey.CUDA, True, True, False, {OperatorName.parse("add.out"): BackendMetadata("k", True, "n")}
    )
    made = StructuredRegisterDispatchKey(index, Target.ANONYMOUS_DEFINITION, selector, False, True, None, False, group)
    outer = register_dispatch_key.RegisterDispatchKey(
        index, Target.ANONYMOUS_DEFINITION, selector, False, False, "Cls", False
    )
    checked = list(group.functional.func.arguments.flat_all)
    found: dict[str, object] = {
        "check": outer.gen_device_check(DeviceCheckType.ExactSame, checked, "m"),
        "no check": dest.RegisterDispatchKey.gen_device_check(DeviceCheckType.NoCheck, checked, "m"),
        "wrapper": outer.wrapper_kernel_sig(group.functional).defn(),
        "one": [made.gen_one(f) for f in group.functions()],
        "wrapped": outer.gen_out_inplace_wrapper(group.out, group),
    }
    for f in group.functions():
        kind = f.func.kind()
        found[f"ctor {kind.name}"] = made.gen_class_ctor(kind, "C", 1)
        found[f"functions {kind.name}"] = made.gen_class_set_output_functions(kind, "P", True)
        found[f"body {kind.name}"] = [made.gen_class_set_output_body(kind, proxy) for proxy in (True, False)]
        found[f"class {kind.name}"] = made.gen_class(f, kind, class_name="C", parent_class="P", generate_super=False)
    return found


def declarations(parsed: Any, groups: Any) -> dict[str, object]:
    keys = (DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.CompositeImplicitAutograd)
    found: dict[str, object] = {}
    for group in groups:
        for key in keys:
            found[f"{key} {root(group)}"] = dest.compute_native_function_declaration(group, parsed.backend_indices[key])
        if isinstance(group, NativeFunctionsGroup):
            found[f"meta {root(group)}"] = compute_meta_function_declaration(group)
    native = get_native_function_declarations(
        grouped_native_functions=groups,
        backend_indices={key: parsed.backend_indices[key] for key in keys},
        native_function_decl_gen=native_functions.compute_native_function_declaration,
    )
    lines = get_native_function_declarations_from_ns_grouped_kernels(ns_grouped_kernels={"a::b": ["x;", "x;"], "c": []})
    return {**found, "native": "\n".join(native), "lines": "\n".join(lines)}


def schemas(parsed: Any) -> dict[str, object]:
    selector = SelectiveBuilder.from_yaml_str(SELECTION)
    register = RegisterSchema(SelectiveBuilder.get_nop_selector())
    others = [dataclasses.replace(f, namespace="mine") for f in parsed.native_functions[:5]]
    quantized = [dataclasses.replace(f, namespace="quantized") for f in parsed.native_functions[5:6]]
    every = SelectiveBuilder.get_nop_selector()
    functions = [*parsed.native_functions[5:100], *others, *quantized]
    return {
        "each": [register(f) for f in parsed.native_functions],
        "selected": list(mapMaybe(RegisterSchema(selector), parsed.native_functions)),
        "libraries": get_native_function_schema_registrations(native_functions=functions, schema_selector=every),
        "strings": [cpp_string(text) for text in ("a", 'b"c', "d\\e")],
    }


def calls(parsed: Any, groups: Any) -> dict[str, object]:
    """Calls past the dispatcher, and functions with a C interface."""
    found: dict[str, object] = {}
    mapping = {f.func.name: g for g in groups if isinstance(g, NativeFunctionsGroup) for f in g.functions()}
    indices = [parsed.backend_indices[DispatchKey.CPU]]
    for f in parsed.native_functions:
        with native_function_manager(f):
            found[f"static {f.func.name}"] = static_dispatch(DispatcherSignature.from_schema(f.func), f, indices)
            found[f"call {f.func.name}"] = gen_static_dispatch_backend_call_signature(f).decl()
        for key in (DispatchKey.CPU, DispatchKey.CUDA):
            index = get_backend_index_for_aoti(f, mapping, key, parsed.backend_indices, False)
            found[f"{key} {f.func.name}"] = None if index is None else str(index.dispatch_key)
    by_name = {f"aten.{f.func.name.name}.{f.func.name.overload_name or 'default'}": f for f in parsed.native_functions}
    for name, facts in inductor_fallback_ops.items():
        call = f"at::cpu::{by_name[name].func.name.name}"
        found[f"shim {name}"] = gen_declaration_and_definition(by_name[name].func, "cpu", call, facts)
    found["fallbacks"] = dict(sorted(inductor_fallback_ops.items()))
    found["none"] = inductor_fallback_ops.get("aten.nothing.default")
    return found


def derived(path: str, tags_path: str) -> dict[str, object]:
    _GLOBAL_PARSE_NATIVE_YAML_CACHE.clear()
    plain = parse_native_yaml(path, tags_path, skip_native_fns_gen=True)
    functions = list(plain.native_functions)
    kernels: defaultdict[Any, dict[Any, Any]] = defaultdict(dict)
    before = len(functions)
    out_ops = list(OUT_OPS_THAT_DONT_GET_GROUPED_PROPERLY)
    OUT_OPS_THAT_DONT_GET_GROUPED_PROPERLY.append("mine.out")
    add_generated_native_functions(functions, kernels)
    OUT_OPS_THAT_DONT_GET_GROUPED_PROPERLY.remove("mine.out")
    _GLOBAL_PARSE_NATIVE_YAML_CACHE.clear()
    forms = {"functional": functional_to_out_signature, "inplace": self_to_out_signature}
    forms["mutable"] = mutable_to_out_signature
    outs = {}
    for f in plain.native_functions:
        kind = f.func.kind().name
        plain_self = kind != "functional" or all(a.annotation is None for a in f.func.arguments.flat_all)
        if kind in forms and plain_self and {str(r.type) for r in f.func.returns} == {"Tensor"}:
            outs[str(f.func.name)] = str(forms[kind](f.func))
    error_check_native_functions(plain.native_functions)
    return {
        "made": [[str(f.func), str(f.loc.line), sorted(f.tags)] for f in functions[before:]],
        "kernels": sorted([str(k), str(n), m.kernel] for k, names in kernels.items() for n, m in names.items()),
        "outs": outs,
        "listed": sorted(out_ops),
        "between": between(plain.native_functions),
    }


def checked(functions: Any, name: str, **changes: Any) -> str:
    """What the check between functions says if one of them is otherwise."""
    changed = [dataclasses.replace(f, **changes) if str(f.func.name) == name else f for f in functions]
    try:
        error_check_native_functions(changed)
    except AssertionError:
        return "fails"
    return "passes"


def between(functions: Any) -> list[str]:
    missing, plain = OperatorName.parse("nothing.out"), OperatorName.parse("add_.Tensor")
    return [
        *(checked(functions, "add.Tensor", structured_delegate=name) for name in (missing, plain)),
        *(checked(functions, name, tags={"inplace_view"}) for name in ("abs", "abs_", "zero_", "resize_")),
        checked(functions, "squeeze_", tags=set()),
    ]


def lazy_texts(parsed: Any) -> dict[str, object]:
    from torchgen.api.lazy import LazyIrSchema, setValueT
    from torchgen.api.types import BaseCppType

    setValueT(BaseCppType("torch::lazy", "Value"))
    kernels = {f.func.name: BackendMetadata(str(f.func.name.name), False, "my") for f in parsed.native_functions}
    index = BackendIndex(DispatchKey.Lazy, False, False, True, kernels)
    plain = dest.GenLazyIR(index, "Mine", "Node", use_lazy_shape=True)
    script = GenTSLazyIR(index, "Mine", "TsNode", use_lazy_shape=False)
    shape = dest.GenLazyShapeInferenceDefinition(index, "torch::lazy::LazyTensor")
    kernel = GenLazyNativeFuncDefinition(
        *("Cls", index, "LazyTensor", True, "my", "GetList", "GetOrWrap", "TryGet", "COUNT()", "Create", False),
        *("FromLtc", "TupleFromLtc", "LazyTensorPtr", "GetDevice"),
    )
    found: dict[str, object] = {}
    for f in parsed.native_functions:
        # Of lists of numbers, lists of tensors and no result at all, torchgen makes nothing that a compiler takes.
        lists = "Scalar[]" in str(f.func) or any(r.type.is_list_like() for r in f.func.returns)
        if f.func.kind().name != "functional" or lists or not f.func.returns:
            continue
        try:
            with native_function_manager(f):
                schema = LazyIrSchema(f.func, symint=False)
                sig = DispatcherSignature.from_schema(f.func)
                texts = [node_ctor_inputs(schema), aten_symbol(schema)]
                texts.append(lazy_ir.gen_fallback_code(schema, sig, f.func.name.overload_name))
                texts += [plain.gen(schema), script.gen(schema), shape(f), kernel(f)]
        except (AssertionError, NotImplementedError, AttributeError):
            texts = ["refused"]
        found[f"lazy {f.func.name}"] = texts
    return found


def files(folder: Path, source: str) -> dict[str, object]:
    """Small things: files, templates, lists, namespaces."""
    (folder / "templates").mkdir()
    (folder / "templates/A.cpp").write_text("// ${generated_comment}\n${body}\n", encoding="utf-8")
    options = argparse.Namespace(source_path=str(folder), install_dir=str(folder / "out"), dry_run=False)
    manager = make_file_manager(options)
    assert isinstance(manager, FileManager)
    manager.write("A.cpp", lambda: {"body": ["int a;", "int b;"], "generated_comment": "by hand"})
    make_file_manager(options, str(folder / "other")).write_with_template("b/B.cpp", "A.cpp", lambda: "as it is")
    written = sorted(path for path in folder.rglob("*.cpp") if "templates" not in path.parts)
    helper = NamespaceHelper("a::b")
    try:
        with context(lambda: "at this place"):
            raise ValueError("wrong")
    except ValueError as error:
        message = str(error)
    schema = FunctionSchemaGen.from_example("scale", (("by", 3), ("on", True), ("factors", [1.5, 2.5])), (1.0,))
    return {
        "files": {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8").strip() for path in written},
        "names": sorted(Path(name).name for name in manager.filenames),
        "template": CodeTemplate("f(${args}) {\n  $body\n}").substitute(args=["a", "b"], body=["x;", "y;"]),
        "lists": [list(concatMap(lambda n: [n, n], [1, 2])), list(mapMaybe(lambda n: n or None, [0, 1]))],
        "helper": [helper.prologue, helper.epilogue],
        "context": message,
        "targets": [each.name for each in (*TARGETS, Target.DEFINITION, Target.DECLARATION)],
        "schema": str(schema),
        "callable": [callable(main), callable(assert_never), callable(torchgen_utils.mapMaybe)],
    }


def answers(path: str, tags_path: str) -> dict[str, object]:
    parsed = parse_native_yaml(path, tags_path)
    groups = get_grouped_native_functions(parsed.native_functions)
    ufuncs = [g for g in groups if isinstance(g, NativeFunctionsGroup) and g.out.ufunc_inner_loop]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        found = {"selectors": selectors(folder), "files": files(folder, path)}
    assert CppSignatureGroup
    return {
        **found,
        "registrations": registrations(parsed, groups),
        "pieces": pieces(next(g for g in groups if root(g) == "add.Tensor")),
        "declarations": declarations(parsed, groups),
        "schemas": schemas(parsed),
        "calls": calls(parsed, groups),
        "lazy": lazy_texts(parsed),
        "ufuncs": [
            [dest.compute_ufunc_cpu(g), dest.compute_ufunc_cpu_kernel(g), dest.compute_ufunc_cuda(g)] for g in ufuncs
        ],
        "derived": derived(path, tags_path),
    }
