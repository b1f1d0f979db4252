"""What a person at a terminal sees."""

from __future__ import annotations

import io

import pytest

from opgen.output.console import Progress, count, format_bar, format_report, format_seconds, format_summary
from opgen.output.writer import WriteReport


def report(changed: int = 12, *, dry_run: bool = False) -> WriteReport:
    return WriteReport(7150, tuple(f"out/{i}.h" for i in range(changed)), dry_run)


def test_summary() -> None:
    assert format_summary(report(), 1.94) == "7,150 files, 12 changed, 1.9 s"
    assert format_summary(report(7150), 75.2) == "7,150 files, 7,150 changed, 1 min 15 s"
    assert format_summary(report(0, dry_run=True), 0.01) == "7,150 files, 0 would change, 0.0 s"
    assert format_summary(WriteReport(1, ()), 1) == "1 file, 0 changed, 1.0 s"
    assert format_summary(WriteReport(1, (), folders=("out",)), 1) == "out: 1 file, 0 changed, 1.0 s"
    assert format_summary(WriteReport(2, (), folders=("out", "aoti")), 1) == "out and aoti: 2 files, 0 changed, 1.0 s"


def test_quiet_and_verbose() -> None:
    assert format_report(report(), 1.9, quiet=True) == ""
    assert format_report(report(2), 1.9) == "7,150 files, 2 changed, 1.9 s\n"
    verbose = format_report(report(2, dry_run=True), 1.9, verbose=True)
    assert verbose == "would write out/0.h\nwould write out/1.h\n7,150 files, 2 would change, 1.9 s\n"
    assert format_report(report(1), 1.9, verbose=True).startswith("wrote out/0.h\n")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (59.94, "59.9 s"), (59.96, "1 min 0 s"), (119.7, "2 min 0 s"), (61, "1 min 1 s")],
)
def test_seconds(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_count() -> None:
    assert [count(n, "file") for n in (0, 1, 2, 1000)] == ["0 files", "1 file", "2 files", "1,000 files"]


def test_bar() -> None:
    assert format_bar(0, 10) == "[....................]   0%"
    assert format_bar(4, 10, "Operators.cpp") == "[########............]  40%  Operators.cpp"
    assert format_bar(11, 10) == format_bar(10, 10) == format_bar(0, 0) == "[####################] 100%"


class Terminal(io.StringIO):
    def __init__(self, *, tty: bool = True) -> None:
        super().__init__()
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


def drawn(terminal: Terminal, times: list[float], *, enabled: bool = True) -> list[str]:
    now = iter([0.0, *times])
    with Progress(len(times), terminal, lambda: next(now), enabled) as progress:
        for index in range(len(times)):
            progress.advance(f"step {index}")
    return terminal.getvalue().split("\r\x1b[K")[1:]


def test_a_short_run_shows_no_bar() -> None:
    assert drawn(Terminal(), [0.1, 0.5, 0.99]) == []


def test_a_long_run_shows_one_and_removes_it() -> None:
    assert drawn(Terminal(), [0.5, 1.0, 1.01, 2.0]) == [
        "[##########..........]  50%  step 1",
        "[####################] 100%  step 3",
        "",
    ]


def test_nothing_when_piped_or_switched_off() -> None:
    assert drawn(Terminal(tty=False), [1.0, 2.0]) == []
    assert drawn(Terminal(), [1.0, 2.0], enabled=False) == []
