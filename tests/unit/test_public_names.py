"""The names that programs import from torchgen are there under the same modules, and mean the same.

`docs/library.md` has what is different: signatures are values here, whose arguments are an attribute.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest

from opgen.context import native_function_manager, with_native_function
from opgen.diagnostics import UserError
from opgen.gen import (
    FileManager,
    ParsedYaml,
    cpp_string,
    get_custom_build_selector,
    get_grouped_by_view_native_functions,
    get_grouped_native_functions,
    get_torchgen_root,
    parse_native_yaml,
    parse_tags_yaml,
)
from opgen.model import NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup

their_gen = pytest.importorskip("torchgen.gen")
their_model = pytest.importorskip("torchgen.model")

NAMES: Final = MappingProxyType(
    {
        "model": """
            AUGMENTED_ASSIGNMENT_NAMES Annotation Argument Arguments BACKEND_COMPONENTS BackendIndex BackendMetadata
            BaseOperatorName BaseTy BaseType CustomClassType DEFAULT_KERNEL_NAMESPACE DeviceCheckType DispatchKey
            FRAGMENT_NAMESPACES FUNCTIONALITY_KEYS FunctionSchema ListType NativeFunction NativeFunctionsGroup
            NativeFunctionsViewGroup OperatorName OptionalType Precompute Return STRUCTURED_DISPATCH_KEYS ScalarType
            SchemaKind SelfArgument TensorOptionsArguments Type UFUNC_DISPATCH_KEYS UfuncInnerLoop UfuncKey Variant
            ViewSchemaKind dispatch_keys get_view_copy_name gets_generated_out_inplace_wrapper
            gets_generated_view_copy is_cuda_dispatch_key is_generic_dispatch_key is_structured_dispatch_key
            is_ufunc_dispatch_key is_xpu_dispatch_key parse_returns
        """,
        "code_template": "CodeTemplate",
        "context": """
            method_with_native_function method_with_nested_native_function native_function_manager
            with_native_function with_native_function_and with_native_function_and_index
            with_native_function_and_indices
        """,
        "gen": """
            FileManager ParsedYaml cpp_string get_custom_build_selector get_grouped_by_view_native_functions
            get_grouped_native_functions get_torchgen_root main parse_native_yaml parse_tags_yaml
        """,
        "gen_backend_stubs": "main run",
        "gen_schema_utils": "ArgumentGen FunctionSchemaGen ReturnGen TypeGen",
        "selective_build.operator": """
            SelectiveBuildOperator combine_operators merge_debug_info merge_operator_dicts
            strip_operator_overload_name
        """,
        "selective_build.selector": """
            SelectiveBuilder combine_selective_builders merge_debug_info merge_et_kernel_metadata
            merge_kernel_metadata merge_operator_dicts op_name_from_native_function strip_operator_overload_name
        """,
        "api.types": """
            ArgName ArrayCType ArrayRefCType BaseCType BaseCppType BaseTypeToCppMapping Binding CType ConstRefCType
            CppSignature CppSignatureGroup DispatcherSignature Expr ListCType MutRefCType NamedCType NativeSignature
            OptionalCType ScalarTypeToCppMapping SpecialArgName StructuredImplSignature SymBoolT SymIntT TupleCType
            VectorCType VectorizedCType ViewInverseSignature bfloat16T boolT byteT charT complexDoubleT
            complexFloatT complexHalfT deviceT dimVectorT doubleT floatT generatorT halfT iOptTensorListRefT
            iTensorListRefT int32T intArrayRefT kernel_signature layoutT longT memoryFormatT opmath_t
            optionalIntArrayRefT optionalScalarRefT optionalSymIntArrayRefT optionalTensorRefT qschemeT scalarT
            scalarTypeT scalar_t shortT storageT streamT stringT symIntArrayRefT tensorListT tensorOptionsT tensorT
            voidT
        """,
        "api.cpp": """
            argument argument_type argumenttype_type arguments default_expr name return_names return_type
            returns_type returntype_type valuetype_type
        """,
        "api.dispatcher": "argument argumenttype_type arguments name returns_type",
        "api.native": "argument argument_type argumenttype_type arguments name returns_type",
        "api.structured": "argumenttype_type impl_arguments meta_arguments out_arguments",
        "api.translate": "UnsatError translate",
        "api.meta": "name",
        "api.unboxing": "argumenttype_ivalue_convert convert_arguments name",
    }
)
"""By module, as programs outside of torch import them."""

IN_A_ROOM_OF_ITS_OWN: Final = MappingProxyType(
    dict.fromkeys(
        (
            "CppSignature",
            "CppSignatureGroup",
            "DispatcherSignature",
            "NativeSignature",
            "StructuredImplSignature",
            "ViewInverseSignature",
            "kernel_signature",
        ),
        "api.signatures",
    )
)
"""What torchgen has in `api.types`, and opgen beside it."""


def _pairs() -> Iterator[tuple[str, str]]:
    for module, names in NAMES.items():
        yield from ((module, name) for name in names.split())


@pytest.mark.parametrize(("module", "name"), list(_pairs()))
def test_a_name_is_there(module: str, name: str) -> None:
    theirs = getattr(importlib.import_module(f"torchgen.{module}"), name)
    ours = getattr(importlib.import_module(f"opgen.{IN_A_ROOM_OF_ITS_OWN.get(name, module)}"), name)
    assert callable(ours) == callable(theirs)
    assert isinstance(ours, type) == isinstance(theirs, type) or name == "FileManager"


# ------------------------------------------------------------------------------- model

NOT_HERE: Final = MappingProxyType(
    {
        "BackendIndex.grow_index": "an index is made at once and never changed",
        "FunctionSchema.decl_re": "schemas are not read with a regular expression",
        "NativeFunction.from_yaml": "the front end reads entries, which are only right beside the others",
        "NativeFunction.validate_unstructured": "the front end checks them",
        "Precompute.parse": "as NativeFunction.from_yaml",
        "Precompute.to_list": "nothing in torch or beside it asks for it",
        "UfuncInnerLoop.parse": "as NativeFunction.from_yaml",
    }
)
"""What classes of torchgen's model have and ours don't, and why."""


def _classes() -> Iterator[tuple[str, type, type]]:
    ours = importlib.import_module("opgen.model")
    for name in NAMES["model"].split():
        theirs = getattr(their_model, name)
        if isinstance(theirs, type):
            yield name, getattr(ours, name), theirs


def _attributes(of: type) -> dict[str, str]:
    """The public attributes of a class: methods, or values (properties among them)."""
    found = {name: inspect.getattr_static(of, name) for name in dir(of) if not name.startswith("_")}
    kinds = {name: "method" if _is_method(value) else "value" for name, value in found.items()}
    return kinds | dict.fromkeys(getattr(of, "__dataclass_fields__", {}), "value")


def _is_method(value: object) -> bool:
    return isinstance(value, (staticmethod, classmethod)) or inspect.isfunction(value)


@pytest.mark.parametrize(("name", "ours", "theirs"), list(_classes()))
def test_classes_have_the_same_attributes(name: str, ours: type, theirs: type) -> None:
    mine, expected = _attributes(ours), _attributes(theirs)
    lacking = {attribute for attribute in expected if attribute not in mine}
    assert {f"{name}.{attribute}" for attribute in lacking} <= NOT_HERE.keys()
    assert {a: mine[a] for a in expected if a in mine} == {a: kind for a, kind in expected.items() if a in mine}


def _questions(part: str) -> Iterator[tuple[str, bool]]:
    """What a class can be asked without arguments, and whether by a call; not what makes another of its kind."""
    of = getattr(their_model, part)
    for name, kind in sorted(_attributes(of).items()):
        if f"{part}.{name}" in NOT_HERE or name.startswith(("remove_", "with_")) or name == "signature":
            continue
        if kind == "value" or list(inspect.signature(getattr(of, name)).parameters) == ["self"]:
            yield name, kind == "method"


def _answers(value: Any, questions: Iterable[tuple[str, bool]]) -> dict[str, object]:
    """Those answers that are true or false, text, or one of a few words."""
    found: dict[str, object] = {}
    for name, is_call in questions:
        answer = getattr(value, name)() if is_call else getattr(value, name)
        if answer is None or isinstance(answer, (bool, str)):
            found[name] = answer
        elif isinstance(answer, Enum):
            found[name] = answer.name
    return found


PARTS: Final[Mapping[str, Callable[[Any], Any]]] = MappingProxyType(
    {
        "NativeFunction": lambda function: function,
        "FunctionSchema": lambda function: function.func,
        "Arguments": lambda function: function.func.arguments,
        "OperatorName": lambda function: function.func.name,
        "BaseOperatorName": lambda function: function.func.name.name,
    }
)


@pytest.mark.parametrize("part", PARTS)
def test_the_same_is_said_of_every_operator(part: str, ours: ParsedYaml, theirs: Any) -> None:
    questions, take = list(_questions(part)), PARTS[part]
    mine = [_answers(take(function), questions) for function in ours.native_functions]
    expected = [_answers(take(function), questions) for function in theirs.native_functions]
    assert len(mine) == len(expected) > 3000
    assert mine[0]
    assert [pair for pair in zip(mine, expected, strict=True) if pair[0] != pair[1]][:3] == []


# --------------------------------------------------------------------------------- gen


@pytest.fixture(scope="module")
def paths(torch_source: Path) -> tuple[str, str]:
    return str(torch_source / "native/native_functions.yaml"), str(torch_source / "native/tags.yaml")


@pytest.fixture(scope="module")
def ours(paths: tuple[str, str]) -> ParsedYaml:
    return parse_native_yaml(*paths)


@pytest.fixture(scope="module")
def theirs(paths: tuple[str, str]) -> Any:
    return their_gen.parse_native_yaml(*paths)


def _shape(item: Any) -> tuple[str, ...]:
    """The kind of a group, and what is in it; for a function, its name."""
    if hasattr(item, "functions"):
        return (type(item).__name__, *(str(function.func.name) for function in item.functions()))
    return (str(item.func.name),)


def test_functions_in_the_same_groups(ours: ParsedYaml, theirs: Any) -> None:
    mine = list(map(_shape, get_grouped_native_functions(ours.native_functions)))
    assert mine == list(map(_shape, their_gen.get_grouped_native_functions(theirs.native_functions)))
    views = list(map(_shape, get_grouped_by_view_native_functions(ours.native_functions)))
    assert views == list(map(_shape, their_gen.get_grouped_by_view_native_functions(theirs.native_functions)))


def test_kernels_under_the_same_keys(ours: ParsedYaml, theirs: Any) -> None:
    assert {str(key) for key in ours.backend_indices} <= {str(key) for key in theirs.backend_indices}
    for key, index in ours.backend_indices.items():
        their_index = theirs.backend_indices[their_model.DispatchKey[key.name]].index
        mine = {str(name): (kernel.kernel, kernel.structured) for name, kernel in index.index.items()}
        assert mine == {str(name): (kernel.kernel, kernel.structured) for name, kernel in their_index.items()}


def test_questions_about_dispatch_keys() -> None:
    model = importlib.import_module("opgen.model")
    assert list(map(str, model.dispatch_keys)) == list(map(str, their_model.dispatch_keys))
    for question in ("generic", "cuda", "xpu", "structured", "ufunc"):
        ask, ask_them = (getattr(module, f"is_{question}_dispatch_key") for module in (model, their_model))
        for key in model.dispatch_keys:
            assert ask(key) == ask_them(their_model.DispatchKey[key.name])


def test_tags(paths: tuple[str, str]) -> None:
    assert parse_tags_yaml(paths[1]) == their_gen.parse_tags_yaml(paths[1])


@pytest.mark.parametrize("text", ["plain", 'a "quoted" word', "back\\slash", "two\nlines", "tab\t"])
def test_strings_in_cpp(text: str) -> None:
    assert cpp_string(text) == their_gen.cpp_string(text)


def test_definitions_are_below_the_root() -> None:
    for root in (get_torchgen_root(), their_gen.get_torchgen_root()):
        assert (root / "packaged/ATen/native/native_functions.yaml").is_file()
        assert (root / "packaged/ATen/native/tags.yaml").is_file()


def test_selectors(tmp_path: Path) -> None:
    path = tmp_path / "selection.yaml"
    path.write_text("operators:\n  aten::add.Tensor: {include_all_overloads: false}\n", encoding="utf-8")
    for arguments in ((["aten::add"], None), (None, str(path)), (None, None)):
        mine, other = get_custom_build_selector(*arguments), their_gen.get_custom_build_selector(*arguments)
        for name in ("aten::add.Tensor", "aten::add.out", "aten::mul"):
            assert mine.is_operator_selected(name) == other.is_operator_selected(name)
            assert mine.is_root_operator(name) == other.is_root_operator(name)
    with pytest.raises(UserError, match="conflicting-flags"):
        get_custom_build_selector(["aten::add"], str(path))


# ------------------------------------------------------------------------------- files

TEMPLATE = "// ${generated_comment}\n${body}\n$tail\n"


def _write_all(manager: Any, list_path: Path) -> None:
    manager.write("A.cpp", lambda: {"body": ["1", "2"], "tail": "t", "generated_comment": "by hand"})
    manager.write_with_template("deep/B.cpp", "A.cpp", lambda: "text as it is")
    manager.write_sharded(
        "S.cpp",
        ["a", "b", "c"],
        key_fn=lambda item: item,
        env_callable=lambda item: {"body": [item]},
        num_shards=2,
        base_env={"tail": "t", "generated_comment": "by hand"},
        sharded_keys={"body"},
    )
    manager.write_outputs("made", list_path)


def test_files_are_torchgens(tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    templates.mkdir()
    for name in ("A.cpp", "S.cpp"):
        (templates / name).write_text(TEMPLATE, encoding="utf-8")
    written = []
    for manager_type in (FileManager, importlib.import_module("torchgen.utils").FileManager):
        folder = tmp_path / f"out-of-{manager_type.__module__}"
        _write_all(manager_type(install_dir=folder / "out", template_dir=templates, dry_run=False), folder / "list")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        text = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8").strip() for path in files}
        written.append({name: value.replace(folder.as_posix(), "") for name, value in text.items()})
    assert written[0] == written[1]
    assert "out/SEverything.cpp" in written[0]


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    manager = FileManager(tmp_path / "out", tmp_path, dry_run=True)
    manager.write_with_template("A.h", "A.h", lambda: "text")
    assert not (tmp_path / "out").exists()
    assert manager.files == {tmp_path / "out/A.h"}


# ----------------------------------------------------------------------------- context


def test_errors_say_at_which_operator(ours: ParsedYaml) -> None:
    function = next(f for f in ours.native_functions if str(f.func.name) == "add.Tensor")
    group = next(
        g
        for g in get_grouped_native_functions(ours.native_functions)
        if isinstance(g, NativeFunctionsGroup) and g.functional is function
    )

    @with_native_function
    def emit(f: NativeFunction, text: str) -> str:
        raise ValueError(text)

    with pytest.raises(ValueError, match=r"(?s)wrong.*native_functions\.yaml:\d+:\d+:.*add\.Tensor\(Tensor self"):
        emit(function, "wrong")
    with pytest.raises(ValueError, match=r"(?s)wrong.*add\.Tensor"), native_function_manager(group):
        raise ValueError("wrong")


def test_what_works_is_left_alone(ours: ParsedYaml) -> None:
    view = next(
        g
        for g in get_grouped_by_view_native_functions(ours.native_functions)
        if isinstance(g, NativeFunctionsViewGroup)
    )

    @with_native_function
    def name_of(g: NativeFunctionsViewGroup) -> str:
        return g.root_name

    assert name_of(view) == view.root_name
