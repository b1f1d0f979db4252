"""Files that wait → files in their places, and what builds and the next run must know of it.

    finish(target, record, placed, read, others=[(Path("out.d"), "…")], said="", stamp=None)

The one end of all commands that keep a manifest.  First comes a manifest that says whose the new files will
be, then the files, then those that build systems ask for, then the manifest that says all is done, and the stamp.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from opgen.diagnostics import Diagnostic, UserError
from opgen.output.build_files import touch
from opgen.output.files import OutputFile
from opgen.output.manifest import NAME as MANIFEST
from opgen.output.report import WriteReport
from opgen.output.writer import PlacedFile, Target, write_files
from opgen.run.record import RunRecord


def finish(
    target: Target,
    record: RunRecord,
    placed: Sequence[PlacedFile],
    read: Iterable[str],
    *,
    others: Sequence[tuple[Path, str]] = (),
    said: str = "",
    stamp: Path | None = None,
) -> WriteReport:
    """Ends a run whose files are `placed`; a dry run writes the `others` and nothing else.

    `others` are files that tell a build of the run, and `said` is what it had to remark.
    """
    target.check_names(placed)
    announcement = None if target.is_dry_run else record.announcement(placed)
    if announcement is not None:
        target.replace("install", MANIFEST, announcement)
    paths = [os.fspath(path) for path, _ in others]
    report = target.commit(placed, record.gone(chain(paths, (file.path for file in placed))))
    for path, text in others:
        write_files([OutputFile(path.name, text)], {"install": path.parent}, beside=target)
    if target.is_dry_run:
        return report
    text = record.manifest(read, placed, others=paths, total=report.total, said=said)
    target.replace("install", MANIFEST, text)
    if stamp is not None and not touch(os.fspath(stamp)):
        raise UserError(Diagnostic("output-not-written", f"can't write '{stamp}'"))
    return report
