"""Entries → a diagnostic for each violation of a rule that depends on the release of torch.

ops.yaml:1:22: error: torch 2.13 has no type 'Dimname' [unknown-type]
    1 | - func: f(Tensor self, Dimname dim) -> Tensor
      |                        ^^^^^^^^^^^ --torch-version 2.12 has it
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from opgen.diagnostics import Diagnostic
from opgen.frontend.entries import Entry
from opgen.frontend.entry_fields import RANDOM, TAGS
from opgen.releases.choice import TORCH_VERSION_FLAG
from opgen.releases.known import known_releases
from opgen.releases.release import Release
from opgen.schema.types import BaseTy

_MAY_BE_RANDOM: Final = re.compile("Generator|rand|dropout")
"""Words in the schemas of random operators."""


def check_types(entries: Iterable[Entry], release: Release) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each argument whose type is missing from the release."""
    words = [str(type.name) for type in release.missing_types]
    for entry in entries:
        if not any(word in entry.func.text for word in words):
            continue
        for argument in entry.function.func.arguments.flat_all:
            type = argument.type.base_ty
            if type is not None and type in release.missing_types:
                message = f"torch {release.name} has no type '{type.name}'"
                yield Diagnostic("unknown-type", message, entry.argument_span(argument.name), _last_with(type))


def check_keys(entries: Iterable[Entry], release: Release) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each kernel under a dispatch key that is missing from the release."""
    for entry in entries:
        for key in filter(release.missing_keys.__contains__, entry.kernels):
            message = f"torch {release.name} has no dispatch key '{key}'"
            yield Diagnostic("unknown-dispatch-key", message, entry.key_span(key), "remove this kernel")


def _last_with(type: BaseTy) -> str:
    """Return the flag with which definitions may have a type that is missing from their release."""
    names = [release.name for release in known_releases() if type not in release.missing_types]
    return f"{TORCH_VERSION_FLAG} {names[-1]} has it" if names else ""


def check_seeded(entries: Iterable[Entry], release: Release) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each operator that draws random numbers and doesn't say so with its tag."""
    for entry in entries:
        function = entry.function
        name = function.func.name.text
        reason = _randomness_evidence(entry) if _MAY_BE_RANDOM.search(entry.func.text) else ""
        if not reason or "nondeterministic_seeded" in function.tags or name in release.unseeded_operators:
            continue
        if entry.values[RANDOM] is not False:
            key = entry.values.node.key(TAGS.name)
            message = f"{reason}, but '{name}' is not tagged 'nondeterministic_seeded'"
            label = "add 'tags: nondeterministic_seeded', or 'random: False' if it isn't random"
            yield Diagnostic("untagged-random", message, key.span if key is not None else entry.name_span, label)


def _randomness_evidence(entry: Entry) -> str:
    """Return why the operator seems random; empty if it doesn't."""
    name, arguments = entry.function.func.name.text, entry.function.func.arguments
    if arguments.has_generator_arg():
        return "it takes a generator"
    if "rand" in name:
        return "its name contains 'rand'"
    if "backward" in name:
        return ""
    if "dropout" in name or any("dropout" in argument.name for argument in arguments.flat_all):
        return "it is a dropout"
    return ""
