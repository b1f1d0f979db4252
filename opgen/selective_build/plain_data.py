"""Values that a YAML or JSON library loaded → values of known types, or errors.

A value of another type is logged as an error and treated as absent.  Such data has no locations; use
`opgen.frontend.selection` for selection files by users, since it reports locations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from opgen.diagnostics import Diagnostics, did_you_mean, expected


def as_mapping(value: object, what: str, log: Diagnostics) -> Mapping[str, object]:
    """Return `value` as a mapping with string keys; None is an empty one."""
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    if value is not None:
        log.error("wrong-kind", f"{what} must be a mapping, not {value!r}")
    return {}


def as_boolean(value: object, what: str, log: Diagnostics) -> bool:
    """Return `value` as a bool."""
    if not isinstance(value, bool):
        log.error("wrong-kind", f"{what} must be true or false, not {value!r}")
    return value is True


def as_texts(value: object, what: str, log: Diagnostics) -> tuple[str, ...]:
    """Return `value` as strings; it may be any collection but a string or a mapping."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return tuple(str(item) for item in value)
    log.error("wrong-kind", f"{what} must be a list, not {value!r}")
    return ()


def check_keys(data: Mapping[str, object], legal: Collection[str], what: str, log: Diagnostics) -> None:
    """Log the unknown keys."""
    for key in data:
        if key not in legal:
            log.error(
                "unknown-key", f"unknown key '{key}' in {what}", label=did_you_mean(key, legal) or expected(key, legal)
            )
