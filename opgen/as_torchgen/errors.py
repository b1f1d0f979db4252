"""opgen's reports of errors → the `AssertionError` that torchgen's users expect, with the same message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opgen.api.types import UnsupportedTypeError
from opgen.diagnostics import UserError


@contextmanager
def asserted() -> Iterator[None]:
    """Raise what opgen reports within, or within the function that this decorates, as an AssertionError."""
    try:
        yield
    except (UserError, UnsupportedTypeError) as problem:
        raise AssertionError(str(problem)) from problem
