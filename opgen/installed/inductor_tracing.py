"""Functions that describe patterns of the installed Inductor → the Python code that builds the patterns.

Inductor registers its patterns when it is first used: from the modules that it ships, or by tracing, in which case it
writes the modules into its own folder.  This module replaces the
function that registers a pattern by one that traces it and returns the pattern as text.  Nothing is registered or
written.

The replaced parts of torch are restored at the end.  Still, a process should not use Inductor afterwards, since
Inductor assumes that its patterns are registered.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from opgen.dest.inductor_patterns import Pattern

MATCHER: Final = "torch._inductor.pattern_matcher"
STARTERS: Final = (
    ("torch._inductor.fx_passes.joint_graph", "lazy_init"),
    ("torch._inductor.fx_passes.fuse_attention", "_sfdp_init"),
    ("torch._inductor.fx_passes.pad_mm", "_pad_mm_init"),
)
"""The functions that register patterns; the first calls the others.  Each runs only once."""

_REGISTER: Final = "gen_register_replacement"
_CACHE_VARIABLE: Final = "TORCHINDUCTOR_CACHE_DIR"

Wanted = Callable[[str], bool]
"""Decides by a function's name whether its patterns are wanted."""


@contextmanager
def scratch_cache() -> Iterator[None]:
    """Give Inductor a temporary folder for its cache, which it makes when it is imported."""
    if _CACHE_VARIABLE in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ[_CACHE_VARIABLE] = folder
        try:
            yield
        finally:
            os.environ.pop(_CACHE_VARIABLE, None)


def trace_patterns(torch: Any, matcher: Any, wanted: Wanted) -> tuple[tuple[Pattern, ...], tuple[str, ...]]:
    """Return the wanted patterns, and the names of all functions that have patterns, in order."""
    patterns: list[Pattern] = []
    functions: dict[str, None] = {}
    register = getattr(matcher, _REGISTER)
    signature = inspect.signature(register)

    def note(*args: Any, **kwargs: Any) -> None:
        call = signature.bind(*args, **kwargs)
        call.apply_defaults()
        function = str(call.arguments["search_fn"].__name__)
        functions[function] = None
        if wanted(function):
            patterns.append(Pattern(function, call.arguments["unique_name"], _code(matcher, call.arguments)))

    starters = [getattr(importlib.import_module(module), name) for module, name in STARTERS]
    with _in_place_of(register, note), _forgetting(starters):
        # Patterns don't depend on a device, but on a GPU, which Inductor prefers, some are traced differently.
        # torch 2.10 has no such parameter.
        takes_device = bool(inspect.signature(starters[0]).parameters)
        starters[0](*([torch.device("cpu")] if takes_device else []))
    return tuple(patterns), tuple(functions)


def pattern_names(matcher: Any) -> tuple[str, ...]:
    """Return the classes of patterns, by the names that generated code uses."""
    classes = (value for value in vars(matcher).values() if inspect.isclass(value))
    return tuple(sorted(each.__name__ for each in classes if issubclass(each, matcher.PatternExpr)))


def _code(matcher: Any, arguments: Mapping[str, Any]) -> str:
    names = ("search_fn", "example_inputs", "trace_fn", "scalar_workaround", "exclusive_arg_names")
    pattern = matcher.gen_pattern(*(arguments[name] for name in names))
    return str(matcher.PatternPrettyPrinter.run(pattern, output_name=arguments["unique_name"]))


@contextmanager
def _in_place_of(function: object, other: object) -> Iterator[None]:
    """Replace `function` by `other` in all of Inductor's modules."""
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("torch._inductor")]
    holders = [module for module in modules if getattr(module, _REGISTER, None) is function]
    for module in holders:
        setattr(module, _REGISTER, other)
    try:
        yield
    finally:
        for module in holders:
            setattr(module, _REGISTER, function)


@contextmanager
def _forgetting(functions: list[Any]) -> Iterator[None]:
    """Clear the caches of the registering functions, before and after."""
    forget = [function.cache_clear for function in functions if hasattr(function, "cache_clear")]
    for each in forget:
        each()
    try:
        yield
    finally:
        for each in forget:
            each()
