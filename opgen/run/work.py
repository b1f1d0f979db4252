"""Emitters, output folders and the files that were read → files on the disk: render, then write.

    Work(bind(EMITTERS, program, templates), {"install": options.install_dir}, templates, read=inputs.files)

Writing ends in this order: a manifest that says whose the new files will be, the files, the lists that build systems
asked for, the manifest that says that everything is done, the stamp.
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
from opgen.run.command import Answer
from opgen.run.parallel import available_jobs
from opgen.run.record import RunRecord
from opgen.run.render import files_read, render

WORTH_FORKING: Final = 300
"""The number of operators from which several processes are faster than one; below it, `--jobs` changes nothing."""

Lists = Callable[[Sequence[PlacedFile]], Iterable[tuple[Path, str]]]
"""Makes the files that tell a build what was written: their paths and texts."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The files that a command writes, and what it read."""

    emitters: tuple[Emitter[[]], ...]
    roots: Mapping[str, Path]
    """The output folders by name; the manifest is in `install`."""
    templates: TemplateSet
    read: tuple[Path, ...] = ()
    """The files that were read or looked for, other than templates and code."""
    operators: int = 0
    """How many operators there are."""
    lists: Lists = lambda placed: ()
    """The lists that a build asked for."""
    text: str = ""
    """Printed before the summary of the run."""
    next_step: str = ""
    """What to do after a run that changed something: printed after the summary, on a terminal."""
    has_manifest: bool = True
    """Whether the next run with the same flags may find that there is nothing to do."""

    def carry_out(self, record: RunRecord, log: Diagnostics) -> Answer | None:
        """Write the files; return None, with the reasons logged, if anything is wrong."""
        flags = record.flags
        jobs = (flags.jobs or available_jobs()) if self.operators >= WORTH_FORKING else 1
        with Target(self.roots, dry_run=flags.dry_run) as target:
            if self.has_manifest:
                record.load(self.roots["install"])
                target.known = record.known
            rendered = render(self.emitters, target, self.templates, jobs=jobs, quiet=flags.quiet)
            log.extend(problem for result in rendered for problem in result.problems)
            if log.has_errors:
                return None
            read = [*map(os.fspath, self.read), *files_read(rendered)]
            placed = [file for result in rendered for file in result.placed]
            warnings = flags.remarks(log)
            report = self._write(target, record, placed, read, warnings)
        if flags.prints_document:
            return Answer(warnings)
        text = "" if flags.quiet else self.text
        is_news = bool(self.next_step and report.changed and not flags.quiet and sys.stdout.isatty())
        step = f"next: {self.next_step}\n" if is_news else ""
        return Answer(text + record.render_report(report) + step, warnings=warnings)

    def _write(
        self, target: Target, record: RunRecord, placed: Sequence[PlacedFile], read: Sequence[str], warnings: str
    ) -> WriteReport:
        """Move the files to their places and write what builds and the next run need to know."""
        target.check_names(placed)
        lists, stamp = list(self.lists(placed)), record.flags.stamp
        if record.flags.depfile is not None and not target.is_dry_run:
            rule = render_depfile(os.fspath(stamp or ""), filter(os.path.isfile, read))
            lists.append((record.flags.depfile, rule))
        paths = [os.fspath(path) for path, _ in lists]
        beside = [*paths, *([] if stamp is None else [os.fspath(stamp)])]
        _check_places(read, [file.path for file in placed], beside)
        keeps_manifest = self.has_manifest and not target.is_dry_run
        announcement = record.announcement(placed) if keeps_manifest else None
        if announcement is not None:
            target.replace("install", MANIFEST, announcement)
        report = target.commit(placed, record.gone((*paths, *(file.path for file in placed))))
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
    """Return the folders that are not inside of another one, in order."""
    known = list(dict.fromkeys(folders))
    return tuple(os.fspath(each) for each in known if not any(other in each.parents for other in known))


def _check_places(read: Iterable[str], outputs: Sequence[str], beside: Sequence[str]) -> None:
    """Refuse outputs that are inputs too, and lists or a stamp (`beside`) that are any other file of the run."""
    folders: dict[str, str] = {}

    def real(path: str) -> str:
        folder, name = os.path.split(os.path.abspath(path))
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        return os.path.join(folders[folder], name)

    taken = {real(path): "the run reads it" for path in read}
    problems = [_overwritten(path, taken[real(path)]) for path in outputs if real(path) in taken]
    taken.update((real(path), "the run writes it") for path in outputs)
    for path in beside:
        if real(path) in taken:
            problems.append(_overwritten(path, taken[real(path)]))
        taken[real(path)] = "another flag names it too"
    if problems:
        raise UserError(*problems)


def _overwritten(path: str, reason: str) -> Diagnostic:
    return Diagnostic("output-overwrites", f"'{path}' can't be written: {reason}", label="name another file or folder")


def write_or_raise(load: Callable[[Diagnostics], Work | None], *, dry_run: bool = False) -> None:
    """Write the files of a work, for programs that call a generator; raise `UserError` with every mistake."""
    log = Diagnostics()
    work = load(log)
    if work is None or log.has_errors:
        raise UserError(*log.found)
    write_files(collect_files(work.emitters), work.roots, dry_run=dry_run)


def install_root(folder: Path) -> Mapping[str, Path]:
    """Return the roots of a command that writes to one folder."""
    return MappingProxyType({"install": folder})
