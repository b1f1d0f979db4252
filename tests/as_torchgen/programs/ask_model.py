"""Asks the model about every operator: a program against torchgen."""

from __future__ import annotations

import dataclasses
import pickle
from collections import defaultdict
from typing import Any

import yaml
from torchgen import context, local, model
from torchgen.gen import LineLoader, ParsedYaml, parse_native_yaml, parse_native_yaml_struct, parse_tags_yaml
from torchgen.model import (
    DEFAULT_KERNEL_NAMESPACE,
    STRUCTURED_DISPATCH_KEYS,
    Annotation,
    Argument,
    Arguments,
    BackendIndex,
    BackendMetadata,
    BaseOperatorName,
    BaseTy,
    BaseType,
    CustomClassType,
    DeviceCheckType,
    DispatchKey,
    FunctionSchema,
    ListType,
    Location,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    OperatorName,
    OptionalType,
    Return,
    SchemaKind,
    SelfArgument,
    TensorOptionsArguments,
    Type,
    Variant,
    _TorchDispatchModeKey,
)
from torchgen.utils import NamespaceHelper, dataclass_repr

MALFORMED = (
    (FunctionSchema.parse, "add(Tensor self"),
    (FunctionSchema.parse, "add(Tensor self) -> Nothing"),
    (Argument.parse, "Nothing x"),
    (Type.parse, "Nothing"),
    (DispatchKey.parse, "Nowhere"),
)


def kind_of(t: Any) -> str:
    """What a type is, as generators walk it."""
    if isinstance(t, OptionalType):
        return f"optional {kind_of(t.elem)}"
    if isinstance(t, ListType):
        return f"list[{t.size}] of {kind_of(t.elem)}"
    if isinstance(t, CustomClassType):
        return f"class {t.class_name}"
    assert isinstance(t, BaseType)
    if t.name in (BaseTy.Tensor, BaseTy.SymInt, BaseTy.int, BaseTy.bool, BaseTy.float, BaseTy.str):
        return f"usual {t.name.name}"
    if t.name in (BaseTy.Scalar, BaseTy.ScalarType, BaseTy.MemoryFormat):
        return f"torch's {t.name.name}"
    return str(t.name.name)


def argument_text(argument: Any) -> list[object]:
    if isinstance(argument, SelfArgument):
        return ["self", *argument_text(argument.argument)]
    if isinstance(argument, TensorOptionsArguments):
        return ["options", *map(argument_text, argument.all())]
    assert isinstance(argument, Argument)
    return [argument.name, str(argument.type), argument.default, str(argument.annotation), argument.is_write]


def function_text(f: Any) -> dict[str, object]:
    func, arguments = f.func, f.func.arguments
    assert isinstance(f, NativeFunction)
    assert isinstance(func, FunctionSchema)
    assert isinstance(arguments, Arguments)
    assert FunctionSchema.parse(str(func)) == func
    assert OperatorName.parse(str(func.name)) == func.name
    assert Arguments.parse(str(arguments)) == arguments
    assert all(Argument.parse(str(a)) == a and Type.parse(str(a.type)) == a.type for a in arguments.flat_all)
    assert all(Return.parse(str(r)) == r and isinstance(r, Return) for r in func.returns)
    return {
        "text": [f.namespace, str(func), str(f.loc.line), func.name.unambiguous_name()],
        "kind": [func.kind().name, func.is_out_fn(), func.is_functional_fn(), func.has_symint(), str(func.signature())],
        "kinds": [k.name for k in SchemaKind if k is func.kind()],
        "arguments": [argument_text(a) for a in arguments.all],
        "positional": [a.name for a in arguments.flat_positional],
        "types": [kind_of(a.type) for a in arguments.flat_all],
        "returns": [[r.name, str(r.type), str(r.annotation), kind_of(r.type)] for r in func.returns],
        "aliases": func.aliased_return_names(),
        "variants": [Variant.function in f.variants, Variant.method in f.variants],
        "flags": [f.device_guard, f.manual_kernel_registration, f.manual_cpp_binding, f.is_abstract, f.structured],
        "check": f.device_check is DeviceCheckType.NoCheck,
        "names": [f.python_module, f.category_override, str(f.structured_delegate), f.structured_inherits],
        "more": [f.root_name, f.is_view_op, f.has_composite_kernel, f.view_schema_kind.name, sorted(f.tags)],
        "autogen": list(map(str, f.autogen)),
        "defaults": sorted(f.cpp_no_default_args),
        "base": [func.name.name.base, func.name.name.inplace, func.name.name.dunder_method],
        "is base": isinstance(func.name.name, BaseOperatorName),
        "copied": str(dataclasses.replace(f, namespace="mine").func),
    }


def index_text(index: Any) -> list[object]:
    assert isinstance(index, BackendIndex)
    kernels = [(str(name), m.kernel, m.structured, m.cpp_namespace) for name, m in index.index.items()]
    return [index.use_out_as_primary, index.device_guard, index.external, sorted(kernels)]


def error_kind(call: Any, text: str) -> str:
    try:
        call(text)
    except (AssertionError, RuntimeError):  # of a type, torchgen says it with the latter
        return "refused"
    return "taken"


def entries(path: str, tags_path: str) -> dict[str, object]:
    """What comes of entries that are read by the program itself."""
    tags = parse_tags_yaml(tags_path)
    with open(path, encoding="utf-8") as file:
        listed = yaml.load(file, Loader=LineLoader)
    lines = [entry.pop("__line__") for entry in (dict(entry) for entry in listed[:300])]
    indices: defaultdict[Any, dict[Any, Any]] = defaultdict(dict)
    functions = []
    for entry, line in zip(listed[:300], lines, strict=True):
        plain = {key: value for key, value in entry.items() if key != "__line__"}
        if isinstance(plain.get("dispatch"), dict):
            plain["dispatch"] = {key: value for key, value in plain["dispatch"].items() if key != "__line__"}
        function, kernels = NativeFunction.from_yaml(plain, Location("ops.yaml", line), tags)
        functions.append(function)
        BackendIndex.grow_index(indices, kernels)
    parsed = parse_native_yaml_struct(listed, tags, path="ops.yaml")
    skipped = parse_native_yaml_struct(listed, tags, {DispatchKey.CUDA}, "ops.yaml", skip_native_fns_gen=True)
    assert isinstance(parsed, ParsedYaml)
    return {
        "tags": sorted(tags),
        "lines": lines,
        "from_yaml": [function_text(function) for function in functions],
        "kernels": sorted([str(k), sorted(map(str, names))] for k, names in indices.items()),
        "struct": [[str(f.func), str(f.loc)] for f in parsed.native_functions],
        "struct kernels": [index_text(parsed.backend_indices[k]) for k in (DispatchKey.CPU, DispatchKey.Meta)],
        "skipped": [[str(f.func), str(f.loc)] for f in skipped.native_functions],
        "ignored": DispatchKey.CUDA in skipped.backend_indices,
    }


def small_values() -> dict[str, object]:
    """What programs make themselves."""
    metadata = BackendMetadata("abs_symint", False, "my::native")
    index = BackendIndex(DispatchKey.PrivateUse1, True, False, True, {OperatorName.parse("abs"): metadata})
    index.index[OperatorName.parse("neg.out")] = BackendMetadata("neg", True, DEFAULT_KERNEL_NAMESPACE)
    model.dispatch_keys.append(DispatchKey.PrivateUse1)
    added = list(map(str, model.dispatch_keys))
    model.dispatch_keys.remove(DispatchKey.PrivateUse1)
    tensor = BaseType(BaseTy.Tensor)
    argument = Argument("x", ListType(OptionalType(tensor), 3), "None", None)
    return_ = Return("y", tensor, Annotation(("a",), True, ()))
    name = OperatorName(BaseOperatorName.parse("__iand__"), "Tensor")
    keys = (
        *(DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.Meta, DispatchKey.Undefined, DispatchKey.PrivateUse1),
        *(DispatchKey.AutogradCPU, DispatchKey.AutogradCUDA, DispatchKey.AutogradPrivateUse1),
        *(DispatchKey.CompositeExplicitAutograd, DispatchKey.CompositeExplicitAutogradNonFunctional),
        *(DispatchKey.CompositeImplicitAutograd, DispatchKey.CompositeImplicitAutogradNestedTensor),
        *(DispatchKey.NestedTensorCPU, DispatchKey.NestedTensorCUDA, DispatchKey.NestedTensorPrivateUse1),
        *(DispatchKey.QuantizedCPU, DispatchKey.QuantizedCUDA, DispatchKey.QuantizedPrivateUse1),
        *(DispatchKey.SparseCPU, DispatchKey.SparseCUDA, DispatchKey.SparsePrivateUse1),
        *(DispatchKey.SparseCsrCPU, DispatchKey.SparseCsrCUDA, DispatchKey.SparseCsrPrivateUse1),
    )
    kinds = (SchemaKind.functional, SchemaKind.inplace, SchemaKind.out, SchemaKind.mutable, SchemaKind.scratch)
    helper = NamespaceHelper.from_namespaced_entity("my::native::abs", max_level=3)
    return {
        "index": index_text(index),
        "class": index.native_function_class_name(),
        "symint": metadata.supports_symint(),
        "dispatch keys": added,
        "structured keys": sorted(map(str, STRUCTURED_DISPATCH_KEYS)),
        "argument": [str(argument), *argument_text(argument)],
        "return": str(return_),
        "name": [str(name), name.name.inplace, name.name.dunder_method, str(name.remove_inplace())],
        "annotation": [list(Annotation.parse("a|b -> *").alias_set), str(Annotation.parse("a -> *"))],
        "class type": str(Type.parse("__torch__.torch.classes.a.B")),
        "keys": [f"{key} {key.lower()} {DispatchKey.parse(str(key)) is key}" for key in keys],
        "kinds": [kind.name for kind in kinds],
        "modes": [mode.name for mode in _TorchDispatchModeKey],
        "malformed": [error_kind(call, text) for call, text in MALFORMED],
        "variants": [variant.name for variant in Variant],
        "helper": [helper.prologue, helper.epilogue, helper.entity_name, helper.get_cpp_namespace(default="d")],
        "location": str(Location("a.yaml", 3)),
        "repr": dataclass_repr(name),
        "pickled": str(pickle.loads(pickle.dumps(argument))),
        "hash": len({name, OperatorName.parse("__iand__.Tensor")}),
    }


def choices(functions: Any) -> list[object]:
    """What operators say of C++ types."""
    found: list[object] = []
    for function in functions:
        with context.native_function_manager(function):
            found.append(local.use_const_ref_for_mutable_tensors())
    with local.parametrize(use_const_ref_for_mutable_tensors=True, use_ilistref_for_tensor_lists=False):
        found.append(local.use_const_ref_for_mutable_tensors())
    return found


def answers(path: str, tags_path: str) -> dict[str, object]:
    parsed = parse_native_yaml(path, tags_path)
    keys = [key for key in model.dispatch_keys if key in parsed.backend_indices]
    found = {f"function {f.func.name}": function_text(f) for f in parsed.native_functions}
    groups = (NativeFunctionsGroup, NativeFunctionsViewGroup)
    return {
        **found,
        **{f"index {key}": index_text(parsed.backend_indices[key]) for key in keys},
        **{f"entries {name}": value for name, value in entries(path, tags_path).items()},
        **{f"value {name}": value for name, value in small_values().items()},
        "choices": choices(parsed.native_functions),
        "groups": [isinstance(f, groups) for f in parsed.native_functions[:10]],
    }
