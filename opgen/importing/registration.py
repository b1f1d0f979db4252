"""One registration in a source."""

from __future__ import annotations

from opgen.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Registration:
    """A schema, or a kernel under a key, or both."""

    namespace: str
    schema: str
    """Without the namespace; the operator's name alone if this is a kernel."""
    offset: int
    """Its location in the source."""
    key: str = ""
    """The dispatch key of the kernel; empty without a kernel."""
    kernel: str = ""
    """The kernel's name in C++."""
    tags: tuple[str, ...] = ()
    problem: str = ""
    """The reason why it can't be read; empty if it can."""

    @property
    def is_kernel(self) -> bool:
        """Whether there is no schema."""
        return "(" not in self.schema
