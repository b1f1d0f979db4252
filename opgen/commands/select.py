"""`opgen select`: make selections for small builds, join and check them, and write the header of such builds.

    opgen select roots aten::add aten::relu.out -o selection.yaml      from operators that are named
    opgen select model net.ptl -o selection.yaml                       from what a model calls
    opgen select merge a.yaml b.yaml -o selection.yaml                 from other selections
    opgen select check selection.yaml                                  reports names that don't exist
    opgen select header selection.yaml -d out/ATen                     writes selected_mobile_ops.h

A selection is for `--op-selection-yaml-path` of the generators.  Its operators must be defined, unless
`--allow-unknown-operators` is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Final

from opgen.commands._selection_flags import add_operators, known_operators, load_definitions, templates_beside
from opgen.dest.mobile_header import header_values
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.fields import word_list
from opgen.frontend.nodes import Scalar
from opgen.frontend.selection import (
    KnownOperators,
    check_dtypes,
    check_listed_name,
    check_operators,
    checked_names,
    load_selection,
    load_words,
    words_of_flag,
)
from opgen.frozen_map import FrozenMap
from opgen.installed.exported_models import ExportedModel, load_libraries, read_model, registered_operators
from opgen.output.console import count
from opgen.output.emitter import Emitter, bind
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.run.command import Answer, Command, Group
from opgen.run.flags import add_flags_of_all, add_install_dir, add_talk
from opgen.run.inputs import find_inputs
from opgen.run.work import Work, install_root
from opgen.selective_build.roots import Extras, Root, select_operators
from opgen.selective_build.selection_text import render_selection
from opgen.selective_build.selector import SelectiveBuilder, combine_selective_builders

HEADER: Final = "selected_mobile_ops.h"
TORCH_OPERATORS_FLAG: Final = "--torch-operators"
TRAINING_FLAG: Final = "--training-operators"
KERNELS_FLAG: Final = "--kernels"
CLASSES_FLAG: Final = "--custom-classes"
FEATURES_FLAG: Final = "--build-features"
_ROOTS: Final = "<operators>"
"""The name of the text that arguments are read as, so that mistakes have places."""


# ------------------------------------------------------------------------------- command line


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add a word for what to do, and its flags."""
    commands = parser.add_subparsers(dest="what", metavar="COMMAND", required=True)
    _add_roots(commands.add_parser("roots", help="make a selection of operators that are named", allow_abbrev=False))
    _add_model(commands.add_parser("model", help="make a selection of what saved models call", allow_abbrev=False))
    merge = commands.add_parser("merge", help="join selections: keep what any of them keeps", allow_abbrev=False)
    _add_selections(merge)
    _add_output(merge)
    check = commands.add_parser("check", help="report what selections name that doesn't exist", allow_abbrev=False)
    _add_selections(check, writes=False)
    header = commands.add_parser("header", help=f"write {HEADER}, for small builds of torch", allow_abbrev=False)
    _add_selections(header)
    add_install_dir(header)


def _add_roots(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="aten::add, or aten::add.Tensor for one")
    parser.add_argument(
        "--from", type=Path, dest="listed", metavar="FILE", help="file that lists more of them, as YAML or one a line"
    )
    parser.add_argument(
        TRAINING_FLAG, nargs="+", default=(), metavar="OPERATOR", help="operators to keep with autograd kernels"
    )
    parser.add_argument(
        "--all-overloads",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether a name stands for all overloads; default: it does if it has none itself",
    )
    parser.add_argument("--all-operators", action="store_true", help="keep every operator, and every kernel")
    extras = parser.add_argument_group("besides operators")
    extras.add_argument(
        KERNELS_FLAG, nargs="+", default=(), metavar="TAG=DTYPE,…", help="types of elements that kernels are kept for"
    )
    extras.add_argument(CLASSES_FLAG, nargs="+", default=(), metavar="CLASS", help="TorchBind classes to keep")
    extras.add_argument(FEATURES_FLAG, nargs="+", default=(), metavar="FEATURE", help="features to keep")
    _add_attributes(parser)
    _add_output(parser)
    _finish(parser)


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="a .pt, .ptl or .pt2 file")
    parser.add_argument(
        "--load-library", nargs="+", type=Path, default=(), metavar="FILE", help="libraries with operators of models"
    )
    _add_attributes(parser)
    _add_output(parser)
    _finish(parser)


def _add_selections(parser: argparse.ArgumentParser, *, writes: bool = True) -> None:
    parser.add_argument("selections", nargs="+", type=Path, metavar="SELECTION", help="a selection (YAML)")
    _finish(parser, writes=writes)


def _add_attributes(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the settings of selected operators."""
    parser.add_argument("--training", action="store_true", help="keep the autograd kernels of all of them")
    parser.add_argument("--not-root", action="store_true", help="other operators call them, models don't")
    parser.add_argument("--everything-else", action="store_true", help="keep all kernels, classes and features")
    parser.add_argument("--debug-info", nargs="+", metavar="TEXT", help="say in the selection where it comes from")


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the selection to write")


def _finish(parser: argparse.ArgumentParser, *, writes: bool = True) -> None:
    """Add the flags that all of them have."""
    add_operators(parser)
    parser.add_argument(
        TORCH_OPERATORS_FLAG,
        action="store_true",
        help="also accept operators that the installed torch registers and no definition lists",
    )
    if writes:
        add_flags_of_all(parser)
    else:
        add_talk(parser)


# ------------------------------------------------------------------------------------ loader


def load(given: argparse.Namespace, log: Diagnostics) -> Work | Answer | None:
    """Do what the first word says; return None, with the reasons logged, if anything is wrong."""
    loaders = {"roots": _roots, "model": _model, "merge": _merge, "check": _check, "header": _header}
    return loaders[given.what](given, log)


def _roots(given: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Select the operators that are named."""
    plain, known = _root(given), _known(given, log)
    named = words_of_flag(_ROOTS, given.operators)
    if given.listed is not None:
        named += load_words(given.listed, log)
    trained = words_of_flag(TRAINING_FLAG, given.training_operators)
    if not named and not trained and not given.all_operators:
        log.warning("nothing-selected", "no operator is named: the selection keeps none")
    selections = [
        select_operators(_existing(named, plain, log, known), plain, _extras(given, log)),
        select_operators(_existing(trained, plain, log, known), replace(plain, for_training=True)),
    ]
    return _write_joined(selections, given, log)


def _model(given: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Select the operators that models call; each operator's debug info names its model."""
    given.from_torch = given.source_path is None  # the definitions that the models were made with
    load_libraries(given.load_library, log)
    models = [(path, read_model(path, log)) for path in given.models]
    # Torch is only asked what operators there are if any model can be read.
    known = _known(given, log, asks_torch=any(model is not None for _, model in models))
    selections = [_selection_of(path, model, given, log, known) for path, model in models if model is not None]
    return _write_joined(selections, given, log)


def _merge(given: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Join several selections."""
    return _write_joined(_load_all(given, log, _known(given, log)), given, log)


def _check(given: argparse.Namespace, log: Diagnostics) -> Answer | None:
    """Report what is wrong with selections, and write nothing."""
    selections = _load_all(given, log, _known(given, log))
    return Answer("" if given.quiet else f"{count(len(selections), 'selection')} checked\n")


def _header(given: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Write `selected_mobile_ops.h`, which torch's headers read."""
    known = _known(given, log)
    selections = _load_all(given, log, known)
    inputs = find_inputs(given.source_path, Diagnostics(), from_torch=given.from_torch)
    if log.has_errors or known is None or inputs is None:
        return None
    values = header_values(reduce(combine_selective_builders, selections), known.names)
    templates = templates_beside(inputs)
    emitters = bind((Emitter("header", _emit_header),), values, templates)
    return Work(emitters, install_root(given.install_dir), templates, read=(*inputs.files, *given.selections))


def _emit_header(values: Mapping[str, object], templates: TemplateSet) -> Iterator[OutputFile]:
    yield OutputFile(HEADER, templates.render(HEADER, values))


# ------------------------------------------------------------------------------ what they share


def _known(given: argparse.Namespace, log: Diagnostics, *, asks_torch: bool = False) -> KnownOperators | None:
    """Return the operators that there are; None, with the reasons logged, if the definitions are wrong."""
    loaded = load_definitions(given, log)
    known = known_operators(None if loaded is None else loaded[1], given)
    if known is None or not (asks_torch or given.torch_operators):
        return known
    registered = registered_operators(log)
    if registered is None:
        return None
    # Of libraries that are defined here, the definitions tell what there is.
    others = [name for name in registered.dispatched if name.partition("::")[0] not in known.namespaces]
    return KnownOperators.of((*known.names, *registered.interpreted, *others), must_exist=known.must_exist)


def _root(given: argparse.Namespace) -> Root:
    """Return the settings that a new selection has for each of its operators."""
    debug_info = None if given.debug_info is None else tuple(given.debug_info)
    return Root(not given.not_root, given.training, getattr(given, "all_overloads", False), debug_info)


def _existing(words: Iterable[Scalar], root: Root, log: Diagnostics, known: KnownOperators | None) -> list[str]:
    """Return the names that are valid; the others are logged."""
    good = checked_names(words, log)
    if known is not None:
        check_operators([(word, root.stands_for_all(word.text)) for word in good], known, log)
    return [word.text for word in good]


def _selection_of(
    path: Path, model: ExportedModel, given: argparse.Namespace, log: Diagnostics, known: KnownOperators | None
) -> SelectiveBuilder:
    root = _root(given)
    if root.debug_info is None:
        root = replace(root, debug_info=(path.name,))
    # The list is a text of its own, so that an unknown operator has a place in it.
    words = load_words(Source(f"<operators of {path}>", "\n".join(model.operators)), log)
    extras = Extras(FrozenMap(), frozenset(model.classes), everything_else=given.everything_else)
    return select_operators(_existing(words, root, log, known), root, extras)


def _extras(given: argparse.Namespace, log: Diagnostics) -> Extras:
    """Return what is selected besides operators; what is wrong in it is logged."""
    lists = [words_of_flag(CLASSES_FLAG, given.custom_classes), words_of_flag(FEATURES_FLAG, given.build_features)]
    for word in (*lists[0], *lists[1]):
        check_listed_name(word, log)
    classes, features = (frozenset(word.text for word in words) for words in lists)
    return Extras(
        FrozenMap(_kernels(given.kernels, log)), classes, features, given.everything_else, given.all_operators
    )


def _kernels(words: Sequence[str], log: Diagnostics) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield tags of kernels, each with the types of elements that it is kept for."""
    for word in words_of_flag(KERNELS_FLAG, words):
        tag, equals, listed = word.text.rpartition("=")
        if not equals:
            log.error("missing-value", f"'{word.text}' names no dtypes", word.span, "write tag=Float,Long")
            continue
        start = word.start + len(tag) + 1
        source = Source(word.source.name, word.source.text[: start + len(listed)])
        dtypes = word_list(Scalar(listed, source, start, start + len(listed)))
        check_dtypes(tag, dtypes, log)
        yield tag, tuple(dtype.text for dtype in dtypes)


def _load_all(given: argparse.Namespace, log: Diagnostics, known: KnownOperators | None) -> list[SelectiveBuilder]:
    """Return the selections that are given, as far as they can be read."""
    loaded = [load_selection(path, log, known) for path in given.selections]
    return [selection for selection in loaded if selection is not None]


def _write_joined(selections: Sequence[SelectiveBuilder], given: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Write the union of selections."""
    if log.has_errors:
        return None
    text, output = render_selection(reduce(combine_selective_builders, selections)), given.output
    emitters = bind((Emitter("selection", _emit_selection),), output.name, text)
    # The folder is the user's own: it gets no manifest.
    return Work(emitters, install_root(output.parent), TemplateSet(), has_manifest=False)


def _emit_selection(name: str, text: str) -> Iterator[OutputFile]:
    yield OutputFile(name, text)


COMMAND: Final = Command(
    name="select",
    group=Group.RUNTIMES,
    summary="make, join and check selections of operators for small builds",
    produces="Writes a selection file, or selected_mobile_ops.h, or prints what is wrong with a selection.",
    add_flags=add_flags,
    load=load,
)
