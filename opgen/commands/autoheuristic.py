"""`opgen autoheuristic`: trains heuristics from measurements, collects measurements, and draws heuristics.

opgen autoheuristic mm.txt --heuristic-name MyMM --output-dir heuristics     →  heuristics/_MyMM.py
opgen autoheuristic collect --name mm --log mm.txt script.py                 →  mm.txt
opgen autoheuristic show heuristics/_MyMM.py --output-dir drawings           →  drawings/MyMM.tree.svg, …
"""

from __future__ import annotations

import argparse
import importlib
import keyword
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from opgen.autoheuristic.choices_map import AT_FLAG, OVER_FLAG, RANGE_FLAG, Axis, ChoicesMap, Derive, MapFlags, draw_map
from opgen.autoheuristic.collecting import collect
from opgen.autoheuristic.combinations import FLAG as COMBINE_FLAG
from opgen.autoheuristic.combinations import PRODUCTS, TORCH, combine, parse_combination, products
from opgen.autoheuristic.drawing import emit_map, emit_tree
from opgen.autoheuristic.emit import emit_heuristic, quality_table, tree_size
from opgen.autoheuristic.log_reader import parse_number, read_logs
from opgen.autoheuristic.measurements import Feature, Measurements, Value
from opgen.autoheuristic.reading import ReadHeuristic, read_heuristics
from opgen.autoheuristic.trained import MAX_SLOWDOWN, Settings, Trained
from opgen.diagnostics import Diagnostics, UserError, did_you_mean
from opgen.frontend.nodes import read_source
from opgen.frozen_dataclass import dataclass
from opgen.output.emitter import Emitter, bind
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.run.arguments import Parser
from opgen.run.command import Action, Command, Group, Result
from opgen.run.flags import add_dry_run, add_verbosity
from opgen.run.inputs import packaged_templates
from opgen.run.work import Work, install_root

NAME: Final = "autoheuristic"
COLLECT: Final = "collect"
SHOW: Final = "show"
_MAX_DEPTH: Final = 60
"""The maximum depth of a tree: Python's compiler allows 100 levels of indentation."""


@dataclass(frozen=True, slots=True)
class _Subcommand:
    """A subcommand."""

    description: str
    add_flags: Callable[[argparse.ArgumentParser], None]


@dataclass(frozen=True, slots=True)
class _AutoheuristicCommand(Command):
    """A command whose first argument may be a subcommand."""

    def read_options(self, arguments: Sequence[str], log: Diagnostics) -> argparse.Namespace:
        subcommand = SUBCOMMANDS.get(arguments[0]) if arguments else None
        if subcommand is None:
            return Command.read_options(self, arguments, log)
        prog = f"opgen {NAME} {arguments[0]}"
        parser = Parser(prog=prog, description=subcommand.description)
        subcommand.add_flags(parser)
        return parser.parse_args(arguments[1:])


def load(options: argparse.Namespace, log: Diagnostics) -> Action | None:
    """Load the subcommand; return None, with errors logged, if it fails."""
    action: Action | None = options.load(options, log)
    return action


# ------------------------------------------------------------------------------- training


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of training."""
    parser.epilog = f"'opgen {NAME} {COLLECT} --help' and 'opgen {NAME} {SHOW} --help' describe the other forms."
    parser.set_defaults(load=_train)
    parser.add_argument("data", nargs="+", type=Path, metavar="DATA", help="logs of Inductor's AutoHeuristic")
    parser.add_argument(
        "--heuristic-name", required=True, metavar="NAME", help="name of the class; the file is _NAME.py"
    )
    parser.add_argument("--output-dir", type=Path, required=True, metavar="DIR", help="folder to write to")
    tree = parser.add_argument_group("the tree")
    tree.add_argument(
        "--depth", type=_int_type(1, _MAX_DEPTH), metavar="N", help="depth; default: cross-validation decides"
    )
    tree.add_argument(
        "--leaf-size", type=_int_type(1), metavar="N", help="fewest inputs of a leaf; default: cross-validation decides"
    )
    tree.add_argument(
        "--max-slowdown",
        type=_slowdown,
        default=MAX_SLOWDOWN,
        metavar="X",
        help="abstain where the choice may be more than X times slower than the best; inf: never; default: %(default)s",
    )
    tree.add_argument(
        "--ranking", type=_int_type(1), default=1, metavar="K", help="name the K best choices; default: 1"
    )
    tree.add_argument("--seed", type=_int_type(0, 2**32 - 1), default=0, metavar="N", help="for the splits; default: 0")
    tree.add_argument(
        COMBINE_FLAG,
        action="append",
        default=[],
        metavar="FORMULA",
        help=f"add a feature, such as m*n; '{PRODUCTS}': those of all pairs; '{TORCH}': what Inductor adds itself",
    )
    tree.add_argument("--fallback", metavar="CHOICE", help="what to compare with; default: the choice named extern…")
    add_dry_run(parser)
    add_verbosity(parser)


def _int_type(least: int, most: int | None = None) -> Any:
    def parse(text: str) -> int:
        if (
            not (text.isascii() and text.isdecimal())
            or len(text) > 18
            or int(text) < least
            or (most and int(text) > most)
        ):
            limits = f"from {least} to {most}" if most else f"of at least {least}"
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number {limits}")
        return int(text)

    return parse


def _slowdown(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value >= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return value


def _train(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Train a heuristic for each device."""
    _check_name(options.heuristic_name, log)
    measurements = _load(options, log)
    training = _import_training(log)
    if log.has_errors or training is None:
        return None
    settings = _settings(options)
    trained = tuple(training.train(each, settings) for each in measurements)
    templates = TemplateSet(*packaged_templates(NAME))
    emitters = bind(
        (Emitter("heuristic", _emit),), options.heuristic_name, measurements[0].name, trained, settings, templates
    )
    return _work(options, emitters, templates, "".join(_describe(trained)))


def _emit(*args: Any) -> Iterator[OutputFile]:
    yield emit_heuristic(*args)


def _work(
    options: argparse.Namespace, emitters: tuple[Emitter[[]], ...], templates: TemplateSet, text: str = ""
) -> Work:
    # The folder belongs to the user, so no manifest is written.
    return Work(emitters, install_root(options.output_dir), templates, text=text, has_manifest=False)


def _check_name(name: str, log: Diagnostics) -> None:
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        log.error("bad-heuristic-name", f"'{name}' is not a name for a class", label="letters, digits and '_' only")
    elif name.startswith("_"):
        log.error("bad-heuristic-name", f"'{name}' begins with '_', which the file's name has anyway")


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        options.depth, options.leaf_size, options.max_slowdown, options.seed, options.ranking, options.fallback
    )


def _import_training(log: Diagnostics) -> Any:
    """Return the module that needs scikit-learn; None, with the fix logged, if that is missing."""
    try:
        return importlib.import_module("opgen.autoheuristic.training")
    except ImportError as error:
        message = f"opgen {NAME} needs scikit-learn, and {sys.executable} can't import it: {error}"
        log.error("scikit-learn-missing", message, label="install it: pip install 'opgen[heuristics]'")
        return None


def _load(options: argparse.Namespace, log: Diagnostics) -> tuple[Measurements, ...]:
    """Return the measurements of each device, with all features."""
    sources = []
    for path in sorted(dict.fromkeys(options.data)):
        try:
            sources.append(read_source(path))
        except UserError as problem:
            log.extend(problem.diagnostics)
    measurements = read_logs(sources, log)
    if not measurements:
        return ()
    wanted = _combinations(options.combine, measurements[0].features, log)
    if TORCH in options.combine:
        measurements = _with_operations(measurements, log)
    measurements = tuple(combine(each, wanted, log) for each in measurements)
    choices = sorted({choice for each in measurements for choice in each.choices})
    if options.fallback is not None and options.fallback not in choices:
        near = did_you_mean(options.fallback, choices)
        log.error("unknown-choice", f"the choice '{options.fallback}' was not measured", label=near)
    return measurements


def _combinations(formulas: Sequence[str], features: Sequence[Feature], log: Diagnostics) -> list[Feature]:
    combined = list[Feature]()
    for formula in formulas:
        if formula == PRODUCTS:
            combined += products(features)
        elif formula != TORCH and (feature := parse_combination(formula, features, log)):
            combined.append(feature)
    return combined


def _with_operations(measurements: tuple[Measurements, ...], log: Diagnostics) -> tuple[Measurements, ...]:
    """Return the measurements with the features that Inductor computes itself."""
    operations = importlib.import_module("opgen.autoheuristic.torch_operations")
    return tuple(operations.add_operations(each, log) for each in measurements)


def _describe(trained: Sequence[Trained]) -> Iterator[str]:
    for each in trained:
        yield f"{each.device}: {each.inputs:,} inputs, {len(each.choices)} choices\n"
        yield f"  {tree_size(each)}\n"
        yield from (f"  {line}\n" for line in quality_table(each))


# ------------------------------------------------------------------------------- collecting


def _add_collect_flags(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(load=_collect)
    parser.add_argument("--name", required=True, help="the decision to measure, such as mm or pad_mm")
    parser.add_argument("--log", type=Path, required=True, metavar="FILE", help="the log; measurements are appended")
    parser.add_argument("script", type=Path, metavar="SCRIPT", help="the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="…", help="the program's arguments")


def _collect(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """Run the script."""
    code = collect(options.name, options.log, options.script, options.arguments, log)
    return None if log.has_errors else Result("", code)


# ------------------------------------------------------------------------------- drawing


def _add_show_flags(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(load=_show)
    parser.add_argument("file", type=Path, metavar="FILE", help="a heuristic: opgen's, or one that torch ships")
    parser.add_argument("--output-dir", type=Path, required=True, metavar="DIR", help="folder to write to")
    parser.add_argument(OVER_FLAG, nargs=2, metavar=("ACROSS", "UP"), help="the two features; default: the most used")
    parser.add_argument(
        AT_FLAG,
        action="append",
        default=[],
        type=_assignment,
        metavar="NAME=VALUE",
        help="the value of another feature; default: one from the middle",
    )
    parser.add_argument(
        RANGE_FLAG,
        action="append",
        default=[],
        type=_range,
        metavar="NAME=LOW:HIGH",
        help="what part of a feature to draw; default: what was measured",
    )
    add_dry_run(parser)
    add_verbosity(parser)


def _assignment(text: str) -> tuple[str, Value]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    number = parse_number(value) if value not in ("True", "False") else None
    return name, value if number is None else number


def _range(text: str) -> Axis:
    name, equals, limits = text.rpartition("=")
    low, high = map(parse_number, limits.split(":")) if limits.count(":") == 1 else (None, None)
    if not equals or low is None or high is None or not -math.inf < low < high < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=LOW:HIGH")
    return Axis(name, low, high)


def _show(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the heuristics of a file, and compute what is drawn."""
    flags = MapFlags(tuple(options.over or ()), tuple(options.at), tuple(options.range))
    heuristics = read_heuristics(read_source(options.file), log)
    maps = [(each, draw_map(each, flags, _derivation(each), log)) for each in heuristics]
    if log.has_errors:
        return None
    templates = TemplateSet(*packaged_templates(NAME))
    trees = bind((Emitter("trees", _emit_trees),), heuristics, templates)
    choices = bind((Emitter("choices", _emit_maps),), [(each, drawn) for each, drawn in maps if drawn], templates)
    return _work(options, (*trees, *choices), templates)


def _emit_trees(heuristics: Sequence[ReadHeuristic], templates: TemplateSet) -> Iterator[OutputFile]:
    return (emit_tree(heuristic, templates) for heuristic in heuristics)


def _emit_maps(maps: Sequence[tuple[ReadHeuristic, ChoicesMap]], templates: TemplateSet) -> Iterator[OutputFile]:
    return (emit_map(heuristic, drawn, templates) for heuristic, drawn in maps)


def _derivation(heuristic: ReadHeuristic) -> Derive:
    """Return what computes the features that torch adds for the decision, if torch is installed."""
    operations = importlib.import_module("opgen.autoheuristic.torch_operations")
    if find_spec("torch") is None:
        return lambda values: {}
    return lambda values: operations.compute(heuristic.decision, values)


SUBCOMMANDS: Final[Mapping[str, _Subcommand]] = MappingProxyType(
    {
        COLLECT: _Subcommand(
            "Run a Python script with Inductor's collection of measurements on; ends with its exit code.",
            _add_collect_flags,
        ),
        SHOW: _Subcommand("Draw the tree of a heuristic, and its choices over two features, as SVG.", _add_show_flags),
    }
)
"""The subcommands by name; without one, the command trains."""

COMMAND: Final = _AutoheuristicCommand(
    name=NAME,
    group=Group.RUNTIMES,
    summary="train heuristics that Inductor follows, from measurements",
    produces="Writes a Python module with a decision tree into the output directory, or nothing if the tree is no "
    "better than a fixed choice.",
    add_flags=add_flags,
    load=load,
)
