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
from opgen.run.command import Command, Group, Result
from opgen.run.flags import add_common_flags, add_install_dir, add_output_flags
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
"""The source name of operators on the command line, for diagnostics."""


# ------------------------------------------------------------------------------- command line


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags."""
    commands = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)
    _add_roots(commands.add_parser("roots", help="make a selection from names of operators", allow_abbrev=False))
    _add_model(
        commands.add_parser(
            "model", help="make a selection from the operators that saved models call", allow_abbrev=False
        )
    )
    merge = commands.add_parser("merge", help="join selections: keep what any of them keeps", allow_abbrev=False)
    _add_selections(merge)
    _add_output(merge)
    check = commands.add_parser("check", help="report names in selections that don't exist", allow_abbrev=False)
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
        KERNELS_FLAG, nargs="+", default=(), metavar="TAG=DTYPE,…", help="dtypes that kernels are kept for"
    )
    extras.add_argument(CLASSES_FLAG, nargs="+", default=(), metavar="CLASS", help="TorchBind classes to keep")
    extras.add_argument(FEATURES_FLAG, nargs="+", default=(), metavar="FEATURE", help="features to keep")
    _add_attributes(parser)
    _add_output(parser)
    _add_common_flags(parser)


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="a .pt, .ptl or .pt2 file")
    parser.add_argument(
        "--load-library", nargs="+", type=Path, default=(), metavar="FILE", help="libraries with operators of models"
    )
    _add_attributes(parser)
    _add_output(parser)
    _add_common_flags(parser)


def _add_selections(parser: argparse.ArgumentParser, *, writes: bool = True) -> None:
    parser.add_argument("selections", nargs="+", type=Path, metavar="SELECTION", help="a selection (YAML)")
    _add_common_flags(parser, writes=writes)


def _add_attributes(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the settings of selected operators."""
    parser.add_argument("--training", action="store_true", help="keep the autograd kernels of all of them")
    parser.add_argument(
        "--not-root",
        action="store_true",
        help="mark the operators as non-root: other operators call them, models don't",
    )
    parser.add_argument("--everything-else", action="store_true", help="keep all kernels, classes and features")
    parser.add_argument("--debug-info", nargs="+", metavar="TEXT", help="say in the selection where it comes from")


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the selection to write")


def _add_common_flags(parser: argparse.ArgumentParser, *, writes: bool = True) -> None:
    """Add the flags of all subcommands."""
    add_operators(parser)
    parser.add_argument(
        TORCH_OPERATORS_FLAG,
        action="store_true",
        help="also accept operators that the installed torch registers and no definition lists",
    )
    if writes:
        add_common_flags(parser)
    else:
        add_output_flags(parser)


# ------------------------------------------------------------------------------------ loader


def load(options: argparse.Namespace, log: Diagnostics) -> Work | Result | None:
    """Load the subcommand; return None, with errors logged, if it fails."""
    loaders = {"roots": _roots, "model": _model, "merge": _merge, "check": _check, "header": _header}
    return loaders[options.subcommand](options, log)


def _roots(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Select the operators that are named."""
    plain, known = _root_settings(options), _known_operators(options, log)
    named = words_of_flag(_ROOTS, options.operators)
    if options.listed is not None:
        named += load_words(options.listed, log)
    trained = words_of_flag(TRAINING_FLAG, options.training_operators)
    if not named and not trained and not options.all_operators:
        log.warning("nothing-selected", "no operator is named: the selection keeps none")
    selections = [
        select_operators(_valid_names(named, plain, log, known), plain, _extras(options, log)),
        select_operators(_valid_names(trained, plain, log, known), replace(plain, for_training=True)),
    ]
    return _write_joined(selections, options, log)


def _model(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Select the operators that models call; each operator's debug info names its model."""
    options.from_torch = options.source_path is None  # the definitions that the models were made with
    load_libraries(options.load_library, log)
    models = [(path, read_model(path, log)) for path in options.models]
    # torch's operators are read only if any model can be read.
    known = _known_operators(options, log, reads_torch=any(model is not None for _, model in models))
    selections = [_selection_of(path, model, options, log, known) for path, model in models if model is not None]
    return _write_joined(selections, options, log)


def _merge(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Join several selections."""
    return _write_joined(_load_all(options, log, _known_operators(options, log)), options, log)


def _check(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """Report errors in selections, and write nothing."""
    selections = _load_all(options, log, _known_operators(options, log))
    return Result("" if options.quiet else f"{count(len(selections), 'selection')} checked\n")


def _header(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Write `selected_mobile_ops.h`, which torch's headers read."""
    known = _known_operators(options, log)
    selections = _load_all(options, log, known)
    inputs = find_inputs(options.source_path, Diagnostics(), from_torch=options.from_torch)
    if log.has_errors or known is None or inputs is None:
        return None
    values = header_values(reduce(combine_selective_builders, selections), known.names)
    templates = templates_beside(inputs)
    emitters = bind((Emitter("header", _emit_header),), values, templates)
    return Work(emitters, install_root(options.install_dir), templates, read=(*inputs.files, *options.selections))


def _emit_header(values: Mapping[str, object], templates: TemplateSet) -> Iterator[OutputFile]:
    yield OutputFile(HEADER, templates.render(HEADER, values))


# ------------------------------------------------------------------------------ what they share


def _known_operators(
    options: argparse.Namespace, log: Diagnostics, *, reads_torch: bool = False
) -> KnownOperators | None:
    """Return the operators that a selection may name; None, with errors logged, if the definitions are wrong."""
    loaded = load_definitions(options, log)
    known = known_operators(None if loaded is None else loaded[1], options)
    if known is None or not (reads_torch or options.torch_operators):
        return known
    registered = registered_operators(log)
    if registered is None:
        return None
    # For namespaces that are defined here, the definitions are authoritative.
    others = [name for name in registered.dispatched if name.partition("::")[0] not in known.namespaces]
    return KnownOperators.of((*known.names, *registered.interpreted, *others), must_exist=known.must_exist)


def _root_settings(options: argparse.Namespace) -> Root:
    """Return the settings that a new selection has for each of its operators."""
    debug_info = None if options.debug_info is None else tuple(options.debug_info)
    return Root(not options.not_root, options.training, getattr(options, "all_overloads", False), debug_info)


def _valid_names(words: Iterable[Scalar], root: Root, log: Diagnostics, known: KnownOperators | None) -> list[str]:
    """Return the names that are valid; the others are logged."""
    good = checked_names(words, log)
    if known is not None:
        check_operators([(word, root.stands_for_all(word.text)) for word in good], known, log)
    return [word.text for word in good]


def _selection_of(
    path: Path, model: ExportedModel, options: argparse.Namespace, log: Diagnostics, known: KnownOperators | None
) -> SelectiveBuilder:
    root = _root_settings(options)
    if root.debug_info is None:
        root = replace(root, debug_info=(path.name,))
    # The list is its own source, so that a diagnostic about an unknown operator has a location.
    words = load_words(Source(f"<operators of {path}>", "\n".join(model.operators)), log)
    extras = Extras(FrozenMap(), frozenset(model.classes), everything_else=options.everything_else)
    return select_operators(_valid_names(words, root, log, known), root, extras)


def _extras(options: argparse.Namespace, log: Diagnostics) -> Extras:
    """Return the selected kernels, classes and features; errors are logged."""
    lists = [words_of_flag(CLASSES_FLAG, options.custom_classes), words_of_flag(FEATURES_FLAG, options.build_features)]
    for word in (*lists[0], *lists[1]):
        check_listed_name(word, log)
    classes, features = (frozenset(word.text for word in words) for words in lists)
    return Extras(
        FrozenMap(_kernels(options.kernels, log)), classes, features, options.everything_else, options.all_operators
    )


def _kernels(words: Sequence[str], log: Diagnostics) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield kernel tags, each with the dtypes to keep."""
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


def _load_all(options: argparse.Namespace, log: Diagnostics, known: KnownOperators | None) -> list[SelectiveBuilder]:
    """Return the given selections that can be read."""
    loaded = [load_selection(path, log, known) for path in options.selections]
    return [selection for selection in loaded if selection is not None]


def _write_joined(selections: Sequence[SelectiveBuilder], options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Write the union of selections."""
    if log.has_errors:
        return None
    text, output = render_selection(reduce(combine_selective_builders, selections)), options.output
    emitters = bind((Emitter("selection", _emit_selection),), output.name, text)
    # The folder belongs to the user, so no manifest is written.
    return Work(emitters, install_root(output.parent), TemplateSet(), has_manifest=False)


def _emit_selection(name: str, text: str) -> Iterator[OutputFile]:
    yield OutputFile(name, text)


COMMAND: Final = Command(
    name="select",
    group=Group.RUNTIMES,
    summary="make, join and check selections of operators for small builds",
    produces="Writes a selection file or selected_mobile_ops.h, or prints the errors in a selection.",
    add_flags=add_flags,
    load=load,
)
