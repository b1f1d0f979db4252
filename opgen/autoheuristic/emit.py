"""Trained heuristics → the Python module that Inductor loads, one class for each device.

Split(AtMost(m, 32), Leaf(((1.0, 0),)), Leaf(()))
→  m = context.get_value("m")
   if m <= 32:
       return [(1.0, 0)]
   return None
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Final

from opgen.autoheuristic import combinations
from opgen.autoheuristic.measurements import Device, Feature
from opgen.autoheuristic.python_text import in_comment, quoted
from opgen.autoheuristic.trained import Quality, Settings, Trained
from opgen.autoheuristic.tree import Condition, Equals, Leaf, Split, Tree, depth, walk
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

TEMPLATE: Final = "heuristic.py.in"
_RESERVED: Final = ("context", "self", "str")
_WIDTH: Final = 120
_INDENT: Final = " " * 4


def emit_heuristic(
    name: str, decision: str, trained: Sequence[Trained], settings: Settings, templates: TemplateSet
) -> OutputFile:
    """Return the module `_NAME.py`.

    Args:
        name: the name of the class; with several devices, the prefix of their names.
        decision: Inductor's name of the decision, such as `mm`.
        trained: the heuristic of each device.
        settings: the settings of training.
        templates: the folder of the module's template.
    """
    named = {each.device: name if len(trained) == 1 else device_class(name, each.device) for each in trained}
    classes = [_class_values(named[each.device], each) for each in trained]
    formulas = [feature.name for each in trained for feature in _used(each.tree) if feature.is_combined]
    values: Mapping[str, object] = {
        "decision": quoted(decision),
        "title": in_comment(decision).replace("\\", "\\\\").replace('"', '\\"'),
        "settings": _settings_text(settings),
        "classes": classes,
        "needs_ratio": any("/" in formula for formula in formulas),
        "needs_remainder": any("%" in formula for formula in formulas),
    }
    return OutputFile(f"_{name}.py", templates.render(TEMPLATE, values))


def device_class(name: str, device: Device) -> str:
    """Return the class of one of several devices."""
    major, minor = device.capability
    return f"{name}_{major}_{minor}_{device.shared_memory}"


def _used(tree: Tree) -> tuple[Feature, ...]:
    """Return the features that a tree uses, in order of use."""
    return tuple(dict.fromkeys(part.condition.feature for part in walk(tree) if isinstance(part, Split)))


def _class_values(name: str, trained: Trained) -> Mapping[str, object]:
    device, variables = trained.device, _variables(trained.tree)
    return {
        "name": name,
        "device": str(device),
        "shared_memory": device.shared_memory,
        "capability": quoted(str(device.capability)),
        "fingerprint": trained.fingerprint,
        "counts": f"{trained.inputs:,} inputs, {trained.measurements:,} measurements of {len(trained.choices)} choices",
        "size": tree_size(trained),
        "quality": [f"# {line}".rstrip() for line in quality_table(trained)],
        "constants": [
            *_constant("CHOICES", map(quoted, trained.choices)),
            *_constant(
                "KNOWN_NUMBERS", (f"({quoted(name)}, {low!r}, {high!r})" for name, low, high in trained.numbers)
            ),
            *_constant("KNOWN_TEXTS", (f"({quoted(name)}, {quoted(text)})" for name, text in trained.texts)),
        ],
        "has_texts": bool(trained.texts),
        "body": [*_assignments(trained.tree, variables), *_statements(trained.tree, variables, "")],
    }


def _constant(name: str, items: Iterable[str]) -> Iterator[str]:
    """Yield a tuple as a constant, as a formatter would; nothing for an empty tuple."""
    listed = list(items)
    if len(listed) == 1:
        yield f"{name} = ({listed[0]},)"
    elif listed:
        yield f"{name} = ("
        yield from (f"{_INDENT}{item}," for item in listed)
        yield ")"


def _variables(tree: Tree) -> Mapping[str, str]:
    """Return a variable for each feature that a tree uses, including those that features are computed from."""
    names = list[str]()
    for feature in _used(tree):
        names += [*(combinations.names_in(feature.name) if feature.is_combined else ()), feature.name]
    taken, variables = {*_RESERVED, *combinations.HELPERS}, dict[str, str]()
    for name in dict.fromkeys(names):
        base = re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_") or "feature"
        base = base if base.isidentifier() and not keyword.iskeyword(base) else f"feature_{base}"
        candidates = chain([base], (f"{base}_{number}" for number in count(2)))
        variables[name] = next(candidate for candidate in candidates if candidate not in taken)
        taken.add(variables[name])
    return variables


def _assignments(tree: Tree, variables: Mapping[str, str]) -> Iterator[str]:
    used = {feature.name: feature for feature in _used(tree)}
    for name, variable in variables.items():
        value = f"context.get_value({quoted(name)})"
        feature = used.get(name, Feature(name))
        if feature.is_combined:
            value = combinations.code(name, variables)
        yield f"{variable} = {f'str({value})' if feature.is_categorical else value}"


def tree_size(trained: Trained) -> str:
    """Return the size of a tree, and its maximum size."""
    leaves = sum(isinstance(part, Leaf) for part in walk(trained.tree))
    size = f"{leaves} {'leaf' if leaves == 1 else 'leaves'}, depth {depth(trained.tree)}"
    return f"{size}; grown to a depth of {trained.depth}, with at least {trained.leaf_size} inputs in each leaf"


def _settings_text(settings: Settings) -> str:
    ranked = f", ranking of {settings.ranking}" if settings.ranking > 1 else ""
    return f"seed {settings.seed}, slowdown of at most {settings.max_slowdown:g}{ranked}"


def _statements(tree: Tree, variables: Mapping[str, str], indent: str) -> Iterator[str]:
    """Yield the statements of a tree, indented relative to the method's body."""
    if isinstance(tree, Leaf):
        yield from _return(tree, indent)
        return
    yield f"{indent}if {_condition_code(tree.condition, variables)}:"
    yield from _statements(tree.then, variables, indent + _INDENT)
    yield from _statements(tree.otherwise, variables, indent)


def _condition_code(condition: Condition, variables: Mapping[str, str]) -> str:
    variable = variables[condition.feature.name]
    if isinstance(condition, Equals):
        return f"{variable} == {quoted(condition.value)}"
    return f"{variable} <= {condition.threshold!r}"


def _return(leaf: Leaf, indent: str) -> Iterator[str]:
    if not leaf.ranked:
        yield f"{indent}return None"
        return
    pairs = [f"({share!r}, {index})" for share, index in leaf.ranked]
    line = f"{indent}return [{', '.join(pairs)}]"
    if len(line) + 2 * len(_INDENT) <= _WIDTH:
        yield line
        return
    yield f"{indent}return ["
    yield from (f"{indent}{_INDENT}{pair}," for pair in pairs)
    yield f"{indent}]"


def quality_table(trained: Trained) -> Iterator[str]:
    """Yield the figures of a heuristic as lines of a table."""
    against = f"against {in_comment(trained.fallback)}" if trained.fallback else ""
    head = ("", "inputs", "abstains", "picks the best", "slowdown", "worst", against, "worst" if against else "")
    rows = [head, *(_quality_row(quality) for quality in trained.quality)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()


def _quality_row(quality: Quality) -> tuple[str, ...]:
    decided = quality.inputs - quality.abstains
    return (
        quality.part,
        f"{quality.inputs:,}",
        f"{quality.abstains / quality.inputs:.1%}" if quality.inputs else "",
        f"{quality.best / decided:.1%}" if decided else "",
        *_pair(quality.slowdown),
        *_pair(quality.against_fallback),
    )


def _pair(figures: tuple[float, float] | None) -> tuple[str, str]:
    return ("", "") if figures is None else (f"{figures[0]:.3f}", f"{figures[1]:.3f}")
