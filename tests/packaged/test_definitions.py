"""Our own definitions say what is true of torch; where one doesn't, the failure names its line.

Every entry, and every operator that is derived for one, is held against the running torch: its schema
with aliases and defaults, the dispatch keys that have kernels, its tags, and what C++ and Python see of
it.  The kernels' names are those that torch's headers declare, so that generated code links.  The entries are
those of one release of torch; `differences.yaml` lists what differs in the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from pathlib import Path

import pytest
import torch

from opgen.dest.backend_select import needs_backend_select
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.native_functions import Definitions, load_definitions, load_program
from opgen.model import DispatchKey, NativeFunction, SchemaKind, Variant
from opgen.releases.known import packaged_release
from tests.fetch import TORCH_VERSIONS
from tests.packaged.differences import check_differences, installed_release, read_differences
from tests.packaged.torch_facts import TorchFacts, spelled

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path("opgen") / "packaged" / "ATen" / "native"
ELSEWHERE = ("MPS", "XPU", "MTIA") if torch.version.cuda else ("CUDA", "MPS", "XPU", "MTIA")
"""What keys are about that this build of torch can't tell of."""
FEWEST = 400


@pytest.fixture(scope="module")
def facts() -> TorchFacts:
    return TorchFacts.gather()


@pytest.fixture(scope="module")
def tags(repository: Path) -> Source:
    return _source(repository, "tags.yaml")


@pytest.fixture(scope="module")
def definitions(repository: Path, tags: Source) -> Definitions:
    return _load(_source(repository, "native_functions.yaml"), tags)


def _source(repository: Path, name: str) -> Source:
    return Source(str(FOLDER / name), (repository / FOLDER / name).read_text(encoding="utf-8"))


def _load(functions: Source, tags: Source) -> Definitions:
    log = Diagnostics()
    loaded = load_definitions(functions, tags, log)
    assert loaded is not None, log.render()
    return loaded


# --------------------------------------------------------------------------- what is checked


def _check_schema(function: NativeFunction, facts: TorchFacts, definitions: Definitions) -> Iterator[str]:
    registered = facts.schemas.get(str(function.func.name))
    if registered is None:
        yield "torch has no such operator"
    elif spelled(str(function.func)) != registered:
        yield f"torch's schema is {registered}"


def _check_keys(function: NativeFunction, facts: TorchFacts, definitions: Definitions) -> Iterator[str]:
    ours = {str(key) for key in _served_keys(function, definitions) if _is_told_of(key)}
    theirs = facts.keys(str(function.func.name))
    yield from _compare(ours, theirs)


def _served_keys(function: NativeFunction, definitions: Definitions) -> Iterator[DispatchKey]:
    """The keys under which kernels of `function` are registered: its own, and those that follow."""
    name = function.func.name
    yield from (key for key, index in definitions.backend_indices.items() if name in index.index)
    if function.structured_delegate is not None:
        target = function.structured_delegate
        structured = (index.index.get(target) for index in definitions.backend_indices.values())
        keys = zip(definitions.backend_indices, structured)
        yield from (key for key, kernel in keys if kernel is not None and kernel.structured)
        # These forms exist for any backend that has the out form.
        yield DispatchKey.CompositeExplicitAutogradNonFunctional
    if function.part_of_structured_group or _is_inplace_without_meta(function):
        yield DispatchKey.Meta
    if needs_backend_select(function):
        yield DispatchKey.BackendSelect


def _is_inplace_without_meta(function: NativeFunction) -> bool:
    """Whether the kernel for meta tensors is generated: it returns `self`."""
    is_inplace = function.func.kind() is SchemaKind.inplace and len(function.func.returns) == 1
    return is_inplace and not function.has_composite_kernel


def _is_told_of(key: DispatchKey) -> bool:
    return not any(device in key.name for device in ELSEWHERE)


def _compare(ours: Set[str], theirs: Set[str]) -> Iterator[str]:
    if theirs - ours:
        yield f"torch also has {', '.join(sorted(theirs - ours))}"
    if ours - theirs:
        yield f"torch doesn't have {', '.join(sorted(ours - theirs))}"


def _check_tags(function: NativeFunction, facts: TorchFacts, definitions: Definitions) -> Iterator[str]:
    for message in _compare(function.tags, facts.tags(str(function.func.name))):
        yield message.replace("have", "have the tags").replace("has", "has the tags")


def _check_kernels(function: NativeFunction, facts: TorchFacts, definitions: Definitions) -> Iterator[str]:
    """Headers are the same for all builds that have CUDA or not; those for other devices differ."""
    declared = facts.kernels(function.root_name)
    for key, index in definitions.backend_indices.items():
        kernel = index.index.get(function.func.name)
        is_known = not any(device in key.name for device in ("MPS", "XPU", "MTIA"))
        if kernel is not None and is_known and kernel.kernel not in declared:
            yield f"torch declares no kernel '{kernel.kernel}', which is named under {key}"


def _check_variants(function: NativeFunction, facts: TorchFacts, definitions: Definitions) -> Iterator[str]:
    identifier = function.func.name.unambiguous_name()
    is_method = identifier in facts.methods
    if (Variant.method in function.variants) != is_method:
        yield "torch has this as a method" if is_method else "torch has no such method"
    is_function = facts.is_function(function.root_name, identifier)
    # What takes SymInts has functions in at::symint, whatever its variants.
    if (Variant.function in function.variants) != is_function and not function.func.has_symint():
        yield "torch has this as a function" if is_function else "torch has no such function"


def _check_module(function: NativeFunction, facts: TorchFacts, definitions: Definitions) -> Iterator[str]:
    modules = tuple(facts.modules(function.root_name))
    if modules and "generated" not in function.tags and function.python_module not in modules:
        yield f"torch binds this in the Python module {' or '.join(modules)}, and not in {function.python_module}"


Check = Callable[[NativeFunction, TorchFacts, Definitions], Iterator[str]]
CHECKS: tuple[Check, ...] = (
    _check_schema,
    _check_keys,
    _check_tags,
    _check_kernels,
    _check_variants,
    _check_module,
)


def _mistakes(check: Check, definitions: Definitions, facts: TorchFacts) -> Iterator[tuple[NativeFunction, str]]:
    for function in definitions.functions:
        if str(function.func.name) in facts.schemas or check is _check_schema:
            for message in check(function, facts, definitions):
                yield function, message


def _kind(check: Check) -> str:
    return check.__name__.removeprefix("_check_")


def _facts(check: Check, definitions: Definitions, facts: TorchFacts) -> list[str]:
    """What differs, without its place."""
    return [f"{function.func.name}: {message}" for function, message in _mistakes(check, definitions, facts)]


def differences() -> dict[str, list[str]]:
    """What is not as in the installed torch, by kind."""
    facts, tags = TorchFacts.gather(), _source(ROOT, "tags.yaml")
    definitions = _load(_source(ROOT, "native_functions.yaml"), tags)
    return {_kind(check): _facts(check, definitions, facts) for check in CHECKS}


# --------------------------------------------------------------------------- our definitions


@pytest.mark.parametrize("check", CHECKS, ids=_kind)
def test_facts(check: Check, definitions: Definitions, facts: TorchFacts) -> None:
    check_differences(_kind(check), _facts(check, definitions, facts))


def test_the_page_counts_the_differences(repository: Path) -> None:
    rows = (line.strip("| ").split(" | ") for line in (repository / "docs" / "releases.md").read_text().splitlines())
    counts = {row[0]: int(row[4]) for row in rows if len(row) == 5 and row[0] in TORCH_VERSIONS}
    listed = read_differences()
    assert counts == {
        version: sum(map(len, listed.get(version.rpartition(".")[0], {}).values())) for version in TORCH_VERSIONS
    }


def test_a_program_is_made_of_them_without_a_word(repository: Path, tags: Source) -> None:
    log = Diagnostics()
    program = load_program(_source(repository, "native_functions.yaml"), tags, log)
    assert program is not None, log.render()
    assert not log.render()
    written = [function for function in program.functions if "generated" not in function.tags]
    assert len(written) >= FEWEST


def test_tags_are_those_of_torch(tags: Source, definitions: Definitions) -> None:
    assert installed_release().tags == torch.Tag.__members__.keys()
    assert packaged_release().tags == definitions.tags.keys()


def test_every_field_that_torch_uses_has_an_example(repository: Path) -> None:
    text = _source(repository, "native_functions.yaml").text
    keys = {line.strip().partition(":")[0] for line in text.splitlines() if line.startswith("  ")}
    assert keys >= {
        "variants",
        "tags",
        "python_module",
        "category_override",
        "manual_cpp_binding",
        "device_guard",
        "device_check",
        "cpp_no_default_args",
        "use_const_ref_for_mutable_tensors",
        "structured",
        "structured_delegate",
        "structured_inherits",
        "precomputed",
        "ufunc_inner_loop",
        "dispatch",
        "autogen",
    }


# --------------------------------------------------------------------------- wrong ones

RIGHT = """\
- func: cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
  variants: function, method
  tags: core
  structured_delegate: cumsum.out
- func: cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)
  variants: method
  structured_delegate: cumsum.out
- func: cumsum.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: cumsum_out
- func: fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)
  variants: function, method
  dispatch:
    CPU, CUDA: fill_
    Meta: fill_meta_
    QuantizedCPU, QuantizedCUDA: fill_quantized_
    SparseCsrCPU, SparseCsrCUDA, SparseCsrMeta: fill_sparse_csr_
    NestedTensorCPU, NestedTensorCUDA, NestedTensorHPU: fill_nested_
  autogen: fill.Scalar_out
- func: fill.Scalar(Tensor self, Scalar value) -> Tensor
  tags: core
  dispatch:
    CompositeExplicitAutograd: fill
- func: softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
  tags: pointwise
  python_module: nn
  structured_delegate: softplus.out
- func: softplus.out(Tensor self, Scalar beta=1, Scalar threshold=20, *, Tensor(a!) out) -> Tensor(a!)
  python_module: nn
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU, CUDA: softplus_out
- func: unsqueeze(Tensor(a) self, int dim) -> Tensor(a)
  variants: function, method
  tags: core
  dispatch:
    CompositeExplicitAutograd: unsqueeze
    SparseCPU, SparseCUDA: unsqueeze_sparse
    QuantizedCPU, QuantizedCUDA: unsqueeze_quantized
    NestedTensorCPU, NestedTensorCUDA, NestedTensorHPU: unsqueeze_nested
"""


def _report(text: str, tags: Source, facts: TorchFacts) -> list[str]:
    loaded = _load(Source("ops.yaml", text), tags)
    return [
        f"{function.loc.source.name}:{function.loc.line}: {function.func.name}: {message}"
        for check in CHECKS
        for function, message in _mistakes(check, loaded, facts)
    ]


def test_right_entries_pass(tags: Source, facts: TorchFacts) -> None:
    assert not _report(RIGHT, tags, facts)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("cumsum", "cumsam", ":1: cumsam: torch has no such operator"),
        ("threshold=20", "threshold=21", ":25: softplus: torch's schema is aten::softplus("),
        (
            "(Tensor(a) self, int dim) -> Tensor(a)",
            "(Tensor self, int dim) -> Tensor",
            ":35: unsqueeze: torch's schema",
        ),
        ("Scalar beta=1", "Scalar slope=1", ":25: softplus: torch's schema is aten::softplus("),
        (
            "QuantizedCPU, QuantizedCUDA: fill",
            "QuantizedCUDA: fill",
            ":12: fill_.Scalar: torch also has QuantizedCPU",
        ),
        ("    Meta: fill_meta_\n", "    Meta: fill_meta_\n    MkldnnCPU: fill_\n", "torch doesn't have MkldnnCPU"),
        ("Autograd: fill", "AutogradNonFunctional: fill", "fill.Scalar: torch also has CompositeExplicitAutograd"),
        (
            "tags: pointwise",
            "tags: [pointwise, core]",
            ":25: softplus: torch doesn't have the tags core",
        ),
        ("  tags: core\n", "", ":1: cumsum: torch also has the tags core"),
        ("fill_meta_", "fill_meta", ":12: fill_.Scalar: torch declares no kernel 'fill_meta'"),
        ("cumsum_out", "cumsum_out_cpu", ":8: cumsum.out: torch declares no kernel 'cumsum_out_cpu'"),
        ("variants: method", "variants: function, method", ":5: cumsum_: torch has no such function"),
        ("variants: function, method", "variants: function", ":1: cumsum: torch has this as a method"),
        ("module: nn", "module: fft", ":25: softplus: torch binds this in the Python module nn"),
    ],
)
def test_a_wrong_fact_is_told_with_its_line(old: str, new: str, told: str, tags: Source, facts: TorchFacts) -> None:
    assert old in RIGHT
    report = _report(RIGHT.replace(old, new), tags, facts)
    assert any(told in line for line in report), report
    assert all(line.startswith("ops.yaml:") for line in report)
