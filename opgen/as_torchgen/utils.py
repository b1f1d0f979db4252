"""torchgen's helpers: small functions over lists, namespaces of C++, and the `FileManager`."""

from __future__ import annotations

import hashlib
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path
from pprint import pformat
from typing import Any, Final, TypeVar

from typing_extensions import assert_never

from opgen.as_torchgen.code_template import CodeTemplate as CodeTemplate
from opgen.output import file_manager

__all__ = [
    "CodeTemplate",
    "FileManager",
    "NamespaceHelper",
    "Target",
    "assert_never",
    "concatMap",
    "context",
    "dataclass_repr",
    "make_file_manager",
    "mapMaybe",
    "string_stable_hash",
]

S = TypeVar("S")
T = TypeVar("T")


class Target(Enum):
    """The code that a generator makes for an operator."""

    DEFINITION = auto()
    DECLARATION = auto()
    REGISTRATION = auto()
    ANONYMOUS_DEFINITION = auto()
    NAMESPACED_DEFINITION = auto()
    NAMESPACED_DECLARATION = auto()


def mapMaybe(func: Callable[[T], S | None], xs: Iterable[T]) -> Iterator[S]:
    """Yield the results of `func` that are not None."""
    return (made for made in map(func, xs) if made is not None)


def concatMap(func: Callable[[T], Sequence[S]], xs: Iterable[T]) -> Iterator[S]:
    """Yield the elements of the lists that `func` returns."""
    return (each for x in xs for each in func(x))


@contextmanager
def context(msg_fn: Callable[[], str]) -> Iterator[None]:
    """Add the result of `msg_fn` to the message of an error inside."""
    try:
        yield
    except Exception as error:
        message = f"{error.args[0]}\n  {msg_fn()}" if error.args else msg_fn()
        error.args = (message, *error.args[1:])
        raise


def string_stable_hash(s: str) -> int:
    """Return a hash of a string that is the same in every process."""
    return int.from_bytes(hashlib.sha1(s.encode("latin1"), usedforsecurity=False).digest(), "little")


def dataclass_repr(obj: Any, indent: int = 0, width: int = 80) -> str:
    """Return the representation of a dataclass, on several lines if it is long."""
    return pformat(obj, indent, width)


class NamespaceHelper:
    """A name in nested C++ namespaces, and their opening and closing lines."""

    def __init__(self, namespace_str: str, entity_name: str = "", max_level: int = 2) -> None:
        names = namespace_str.split("::")
        if len(names) > max_level:
            message = f"'{namespace_str}' has {len(names)} levels of namespaces; at most {max_level} can be generated"
            raise AssertionError(message)
        self.namespace: Final = namespace_str
        self.entity_name: Final = entity_name
        self.prologue: Final = "\n".join(f"namespace {name} {{" for name in names)
        self.epilogue: Final = "\n".join(f"}} // namespace {name}" for name in reversed(names))

    @staticmethod
    def from_namespaced_entity(namespaced_entity: str, max_level: int = 2) -> NamespaceHelper:
        """Split `at::native::add`."""
        namespace, _, entity = namespaced_entity.rpartition("::")
        return NamespaceHelper(namespace, entity, max_level)

    def get_cpp_namespace(self, default: str = "") -> str:
        """Return the namespace, or `default` if the name is in none."""
        return self.namespace or default


class FileManager(file_manager.FileManager):
    """opgen's `FileManager`, with torchgen's additional methods."""

    @property
    def filenames(self) -> set[str]:
        """The files that were written, or would have been."""
        return {str(path) for path in self.files}

    def template_dir_for_comments(self) -> str:
        """Return the name of the folder of templates, as comments in generated files have it."""
        return self.template_dir.as_posix()


def make_file_manager(options: Namespace, install_dir: str | Path | None = None) -> FileManager:
    """Return a manager for the folders on the command line."""
    template_dir = Path(options.source_path) / "templates"
    folder = options.install_dir if install_dir is None else install_dir
    return FileManager(folder, template_dir, options.dry_run)
