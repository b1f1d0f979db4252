"""Templates and values → files, one call each, for programs that write their own files beside opgen's.

    files = FileManager(install_dir="out", template_dir="templates", dry_run=False)
    files.write("Ops.h", lambda: {"declarations": ["void f();"]})
    files.write_sharded("Ops.cpp", ops, key_fn=name_of, env_callable=values_of, num_shards=4, sharded_keys={"body"})
    files.write_outputs("generated", "out/generated.cmake")

opgen's own emitters return values instead.  A file whose bytes are unchanged is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from opgen.output.dependencies import render_cmake_list
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.template import TemplateSet
from opgen.output.writer import write_files

__all__ = ["FileManager"]

T = TypeVar("T")
Env = Callable[[], "str | Mapping[str, Any]"]
"""Returns the values of a template, or the text of the file itself."""


class FileManager:
    """The folder that files are written to, and their templates."""

    def __init__(self, install_dir: str | Path, template_dir: str | Path, dry_run: bool = False) -> None:
        self.install_dir = Path(install_dir)
        self.template_dir = Path(template_dir)
        self.dry_run = dry_run
        self.files: set[Path] = set()
        """The files that were written, or would be without `dry_run`; the `Everything` files are not included."""
        self._templates = TemplateSet(template_dir)

    def write(self, filename: str | Path, env_callable: Env) -> None:
        """Write a file with the name of its template."""
        self.write_with_template(filename, filename, env_callable)

    def write_with_template(self, filename: str | Path, template_fn: str | Path, env_callable: Env) -> None:
        """Write a file of any template."""
        self._put([OutputFile(_posix(filename), self.substitute_with_template(template_fn, env_callable))])

    def substitute_with_template(self, template_fn: str | Path, env_callable: Env) -> str:
        """Return the text of a template with values; if `env_callable` returns a string, return that."""
        env = env_callable()
        return env if isinstance(env, str) else self._templates.render(_posix(template_fn), env)

    def write_sharded(self, filename: str | Path, items: Iterable[T], **how: Any) -> None:
        """Call `write_sharded_with_template` for a file with the name of its template."""
        self.write_sharded_with_template(filename, filename, items, **how)

    def write_sharded_with_template(
        self,
        filename: str | Path,
        template_fn: str | Path,
        items: Iterable[T],
        *,
        key_fn: Callable[[T], str],
        env_callable: Callable[[T], Mapping[str, Sequence[str]]],
        num_shards: int,
        base_env: Mapping[str, Any] | None = None,
        sharded_keys: Collection[str],
    ) -> None:
        """Distribute items over several files by a stable hash of their keys, and write one file with all of them."""
        files = emit_sharded(
            self._templates,
            _posix(template_fn),
            base_env or {},
            items,
            key=key_fn,
            item_env=env_callable,
            shards=num_shards,
            sharded_keys=sharded_keys,
            path=_posix(filename),
        )
        self._put(files)

    def write_outputs(self, variable_name: str, filename: str | Path) -> None:
        """Write a CMake variable that lists the files."""
        text = render_cmake_list(variable_name, [path.as_posix() for path in self.files])
        path = Path(filename)
        write_files([OutputFile(path.name, text)], {"install": path.parent}, dry_run=self.dry_run)

    def _put(self, files: Iterable[OutputFile]) -> None:
        written = tuple(files)
        write_files(written, {"install": self.install_dir}, dry_run=self.dry_run)
        self.files |= {self.install_dir / file.path for file in written if file.group is not None}


def _posix(name: str | Path) -> str:
    return Path(name).as_posix()
