"""Emitters and output folders → files on disk: render, then write.

    Work(bind(EMITTERS, program, templates), {"install": options.install_dir}, templates, read=inputs.files)

Files are written in this order: a manifest that announces the new files, the files, the lists for build systems, the
manifest of the completed run, the stamp.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opgen.diagnostics import Diagnostic, Diagnostics, UserError
from opgen.frozen_dataclass import dataclass
from opgen.output.build_files import render_depfile, touch
from opgen.output.emitter import Emitter, collect_files
from opgen.output.files import OutputFile
from opgen.output.manifest import NAME as MANIFEST
from opgen.output.report import WriteReport
from opgen.output.template import TemplateSet
from opgen.output.writer import PlacedFile, Target, write_files
from opgen.run.command import Result
from opgen.run.parallel import available_jobs
from opgen.run.record import RunRecord
from opgen.run.render import files_read, render

WORTH_FORKING: Final = 300
"""The minimum number of operators for which several processes are faster than one; below it, `--jobs` has no effect."""

Lists = Callable[[Sequence[PlacedFile]], Iterable[tuple[Path, str]]]
"""Returns the paths and texts of files that list the outputs for a build system."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The files that a command writes, and those that it read."""

    emitters: tuple[Emitter[[]], ...]
    roots: Mapping[str, Path]
    """The output folders by name; the manifest is in `install`."""
    templates: TemplateSet
    read: tuple[Path, ...] = ()
    """The files that were read or searched for, other than templates and code."""
    operators: int = 0
    """The number of operators."""
    lists: Lists = lambda placed: ()
    """The requested lists for build systems."""
    text: str = ""
    """Printed before the summary of the run."""
    next_step: str = ""
    """A hint printed on a terminal after a run that changed files."""
    has_manifest: bool = True
    """Whether to write a manifest, so that a later run can be skipped if nothing changed."""

    def execute(self, record: RunRecord, log: Diagnostics) -> Result | None:
        """Write the files; return None, with errors logged, if it fails."""
        flags = record.flags
        jobs = (flags.jobs or available_jobs()) if self.operators >= WORTH_FORKING else 1
        with Target(self.roots, dry_run=flags.dry_run) as target:
            if self.has_manifest:
                record.load(self.roots["install"])
                target.previous_outputs = record.previous_outputs
            rendered = render(self.emitters, target, self.templates, jobs=jobs, quiet=flags.quiet)
            log.extend(problem for result in rendered for problem in result.problems)
            if log.has_errors:
                return None
            read = [*map(os.fspath, self.read), *files_read(rendered)]
            placed = [file for result in rendered for file in result.placed]
            warnings = flags.render_success(log)
            report = self._write(target, record, placed, read, warnings)
        if flags.prints_document:
            return Result(warnings)
        text = "" if flags.quiet else self.text
        shows_next_step = bool(self.next_step and report.changed and not flags.quiet and sys.stdout.isatty())
        step = f"next: {self.next_step}\n" if shows_next_step else ""
        return Result(text + record.render_report(report) + step, warnings=warnings)

    def _write(
        self, target: Target, record: RunRecord, placed: Sequence[PlacedFile], read: Sequence[str], warnings: str
    ) -> WriteReport:
        """Move the files into place; write the lists, the depfile, the manifest and the stamp."""
        target.check_names(placed)
        lists, stamp = list(self.lists(placed)), record.flags.stamp
        if record.flags.depfile is not None and not target.is_dry_run:
            rule = render_depfile(os.fspath(stamp or ""), filter(os.path.isfile, read))
            lists.append((record.flags.depfile, rule))
        paths = [os.fspath(path) for path, _ in lists]
        side_outputs = [*paths, *([] if stamp is None else [os.fspath(stamp)])]
        _check_collisions(read, [file.path for file in placed], side_outputs)
        keeps_manifest = self.has_manifest and not target.is_dry_run
        announcement = record.announcement(placed) if keeps_manifest else None
        if announcement is not None:
            target.replace("install", MANIFEST, announcement)
        report = target.commit(placed, record.obsolete((*paths, *(file.path for file in placed))))
        roots = sorted({file.root for file in placed})
        report = replace(report, folders=_outermost(self.roots[root] for root in roots))
        for path, text in lists:
            write_files([OutputFile(path.name, text)], {"install": path.parent}, beside=target)
        if keeps_manifest:
            manifest = record.manifest(read, placed, paths, report, warnings)
            target.replace("install", MANIFEST, manifest)
        if stamp is not None and not target.is_dry_run and not touch(os.fspath(stamp)):
            raise UserError(Diagnostic("output-not-written", f"can't write '{stamp}'"))
        return report


def _outermost(folders: Iterable[Path]) -> tuple[str, ...]:
    """Return the folders that are not inside another one, in order."""
    unique = list(dict.fromkeys(folders))
    return tuple(os.fspath(each) for each in unique if not any(other in each.parents for other in unique))


def _check_collisions(read: Iterable[str], outputs: Sequence[str], side_outputs: Sequence[str]) -> None:
    """Raise if an output is also an input, or a list or stamp (`side_outputs`) is also another file of the run."""
    folders: dict[str, str] = {}

    def real(path: str) -> str:
        folder, name = os.path.split(os.path.abspath(path))
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        return os.path.join(folders[folder], name)

    taken = {real(path): "the run reads it" for path in read}
    problems = [_overwritten(path, taken[real(path)]) for path in outputs if real(path) in taken]
    taken.update((real(path), "the run writes it") for path in outputs)
    for path in side_outputs:
        if real(path) in taken:
            problems.append(_overwritten(path, taken[real(path)]))
        taken[real(path)] = "another flag names it too"
    if problems:
        raise UserError(*problems)


def _overwritten(path: str, reason: str) -> Diagnostic:
    return Diagnostic("output-overwrites", f"'{path}' can't be written: {reason}", label="name another file or folder")


def write_or_raise(load: Callable[[Diagnostics], Work | None], *, dry_run: bool = False) -> None:
    """Write the files of a `Work`, for programs that call a generator; raise `UserError` with all errors."""
    log = Diagnostics()
    work = load(log)
    if work is None or log.has_errors:
        raise UserError(*log.all)
    write_files(collect_files(work.emitters), work.roots, dry_run=dry_run)


def install_root(folder: Path) -> Mapping[str, Path]:
    """Return the roots of a command that writes to one folder."""
    return MappingProxyType({"install": folder})
