"""Logs → heuristics: what they decide, when they abstain, and that the same data gives the same bytes."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from opgen.run.spine import run
from tests.autoheuristic.trained import COMMAND, context, decide, load, log_text, toy_rows, toy_times, train

FLAGS = ("--depth", "4", "--leaf-size", "2")


def test_the_best_choice_is_picked(tmp_path: Path) -> None:
    heuristic = load(train(tmp_path, log_text(toy_rows()), "--combine", "m*n"))
    assert decide(heuristic, m=16, n=16, dtype="torch.float32") == "small"
    assert decide(heuristic, m=1990, n=1990, dtype="torch.float32") == "large"


def test_each_part_is_reported_and_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.txt"
    log.write_text(log_text(toy_rows(100)))
    assert (
        run(
            COMMAND, [str(log), "--heuristic-name", "Toy", "--output-dir", str(tmp_path), "--fallback", "small", *FLAGS]
        )
        == 0
    )
    table = [line.strip() for line in capsys.readouterr().out.splitlines()[2:6]]
    assert re.split(r"  +", table[0]) == [
        *("inputs", "abstains", "picks the best", "slowdown", "worst", "against small", "worst")
    ]
    assert [line.split()[:2] for line in table[1:]] == [["training", "60"], ["validation", "20"], ["test", "20"]]
    text = (tmp_path / "_Toy.py").read_text()
    assert all(f"# {line}" in text.replace("#            ", "# ") for line in table[1:])
    assert re.search(r"^# Data: sha256 [0-9a-f]{64}$", text, re.MULTILINE)


def test_figures_are_those_of_the_decisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One split can't be right everywhere: the worst slowdown of all parts is recomputed from the decisions."""
    log = tmp_path / "log.txt"
    log.write_text(log_text(rows := toy_rows(100)))
    flags = ("--depth", "1", "--leaf-size", "1", "--max-slowdown", "inf")
    assert run(COMMAND, [str(log), "--heuristic-name", "Toy", "--output-dir", str(tmp_path), *flags]) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines()[3:6]]
    heuristic = load((tmp_path / "_Toy.py").read_text())
    slowdowns = []
    for row in rows[::2]:
        m, n = map(int, row.split(",")[:2])
        times, decision = toy_times(m, n), decide(heuristic, m=m, n=n, dtype="torch.float32")
        assert decision is not None
        slowdowns.append(times[decision] / min(times.values()))
    assert max(slowdowns) > 1.1
    assert max(float(row[-1]) for row in table) == pytest.approx(max(slowdowns), abs=1e-3)
    best = sum(slowdown == 1 for slowdown in slowdowns)
    assert sum(float(row[3].rstrip("%")) / 100 * int(row[1]) for row in table) == pytest.approx(best, abs=0.1)


def test_a_leaf_abstains_where_a_wrong_choice_costs_too_much(tmp_path: Path) -> None:
    """Below 1000 the choices are told apart; above, which one is three times slower is random."""
    draw = random.Random(0)
    rows = []
    for m in range(10, 2000, 10):
        slower = draw.choice(["small", "large"]) if m > 1000 else "large"
        rows += [f"{m},1,x,{choice},{3.0 if choice == slower else 1.0}" for choice in ("small", "large")]
    log = log_text(rows)
    strict = load(train(tmp_path, log, *FLAGS, "--leaf-size", "20"))
    assert decide(strict, m=500, n=1, dtype="x") == "small"
    assert decide(strict, m=1500, n=1, dtype="x") is None
    for limit in ("3.1", "inf"):
        bold = load(train(tmp_path, log, *FLAGS, "--leaf-size", "20", "--max-slowdown", limit))
        assert decide(bold, m=1500, n=1, dtype="x") in ("small", "large")


def test_texts_that_were_not_measured_are_for_other_heuristics(tmp_path: Path) -> None:
    from torch._inductor.autoheuristic.autoheuristic_utils import AHMetadata

    heuristic = load(train(tmp_path, log_text(toy_rows()), *FLAGS))
    metadata = AHMetadata(0, (0, 0), ["small", "large"], "toy")
    assert heuristic.check_precondition(metadata, context(m=1, n=1, dtype="torch.float32"))
    assert not heuristic.check_precondition(metadata, context(m=1, n=1, dtype="torch.float64"))
    for other in (AHMetadata(1, (0, 0), [], "toy"), AHMetadata(0, (9, 0), [], "toy"), AHMetadata(0, (0, 0), [], "mm")):
        assert not heuristic.check_precondition(other, context(m=1, n=1, dtype="torch.float32"))


def test_a_ranking_names_the_best_choices_in_order(tmp_path: Path) -> None:
    rows = []
    for m in range(1, 41):
        times = {f"c{k}": 1.0 + (k if m <= 20 else 9 - k) / 10 for k in range(10)}
        rows += [f"{m},1,x,{choice},{time}" for choice, time in times.items()]
    heuristic = load(train(tmp_path, log_text(rows), "--ranking", "3"))
    assert heuristic.get_decisions_ranked(context(m=1, n=1, dtype="x")) == ["c0", "c1", "c2"]
    assert heuristic.get_decisions_ranked(context(m=40, n=1, dtype="x")) == ["c9", "c8", "c7"]
    assert decide(heuristic, m=40, n=1, dtype="x") == "c9"


def test_each_device_has_a_class_of_its_own(tmp_path: Path) -> None:
    logs = {"a.txt": log_text(toy_rows()), "b.txt": log_text(toy_rows(), shared_memory=232448, device_capa=[9, 0])}
    text = train(tmp_path, logs, *FLAGS)
    first, second = load(text, "Toy_0_0_0"), load(text, "Toy_9_0_232448")
    assert first.get_name() == second.get_name() == "toy"


def test_a_choice_that_fails_is_not_picked(tmp_path: Path) -> None:
    rows = [
        f"{m},1,x,{choice},{time}" for m in range(50) for choice, time in (("a", 1.0), ("b", "inf" if m > 25 else 0.5))
    ]
    heuristic = load(train(tmp_path, log_text(rows)))
    assert decide(heuristic, m=1, n=1, dtype="x") == "b"
    assert decide(heuristic, m=49, n=1, dtype="x") == "a"


def test_repeated_measurements_count_by_their_median(tmp_path: Path) -> None:
    rows = [f"{m},1,x,{c},{t}" for m in range(20) for c, t in (("a", 2), ("b", 1), ("b", 1.5), ("b", 900))]
    assert decide(load(train(tmp_path, log_text(rows))), m=1, n=1, dtype="x") == "b"


# The same data, the same bytes.


def test_bytes_do_not_depend_on_order_newlines_or_the_hash_seed(tmp_path: Path) -> None:
    rows, draw = toy_rows(60), random.Random(1)
    expected = train(tmp_path, log_text(rows), *FLAGS)
    draw.shuffle(rows)
    assert train(tmp_path, log_text(rows), *FLAGS) == expected
    assert train(tmp_path, {"b.txt": log_text(rows[:50]), "a.txt": log_text(rows[50:])}, *FLAGS) == expected
    assert train(tmp_path, "\ufeff" + log_text(rows).replace("\n", "\r\n"), *FLAGS) == expected
    swapped = [",".join([r.split(",")[1], r.split(",")[0], *r.split(",")[2:]]) for r in rows]
    other = log_text(swapped, "n,m,dtype,choice,feedback", numerical_features=["n", "m"])
    assert train(tmp_path, other, *FLAGS) == expected
    command = [sys.executable, "-m", "opgen", "autoheuristic", str(tmp_path / "log.txt"), "--heuristic-name", "Toy"]
    for seed in ("1", "2"):
        out = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([*command, "--output-dir", str(out), "-q", *FLAGS], env=environment, check=True)
        assert (out / "_Toy.py").read_text() == expected


def test_the_seed_decides_the_parts(tmp_path: Path) -> None:
    one, other = (train(tmp_path, log_text(toy_rows(60)), *FLAGS, "--seed", seed) for seed in ("1", "2"))
    assert one != other
    digests = [re.findall("sha256 (.*)", text) for text in (one, other)]
    assert digests[0] == digests[1], "the data is the same"


def test_other_data_has_another_fingerprint(tmp_path: Path) -> None:
    texts = [train(tmp_path, log_text(toy_rows(60, seed)), *FLAGS) for seed in (1, 2)]
    assert re.findall("sha256 (.*)", texts[0]) != re.findall("sha256 (.*)", texts[1])


# What is written is Python that formatters leave alone.

NASTY = ("it's", 'say "hi"', "a,b", "größe ≤ 2", "back\\slash", "tab\tbed", "$dollar ${x}", "# no comment", " spaces ")


def _nasty_log() -> str:
    rows = []
    for at, text in enumerate(NASTY * 8):
        quoted = '"' + text.replace('"', '""') + '"'
        for which in range(2):
            choice = f'"choice {which} {text[:3]}"' if '"' not in text else f"choice {which}"
            rows.append(f"{at},{quoted},{choice},{1 if (which + at) % 2 else 4}")
    columns = '"m ""m"", $x",dtype,choice,feedback'
    return log_text(rows, columns, name='na"me\\', numerical_features=['m "m", $x'])


def _texts(folder: Path) -> Iterator[str]:
    yield train(folder, log_text(toy_rows(120)), "--combine", "products", "--combine", "m/(n+1)", "--combine", "m%8")
    yield train(folder, _nasty_log(), "--max-slowdown", "inf")
    rows = [
        f"{m},{n},x,a_rather_long_choice_{c},{1 + (m * c) % 7 + c / 9}"
        for m in range(12)
        for n in (1, 2)
        for c in range(9)
    ]
    yield train(folder, log_text(rows), "--ranking", "9", "--depth", "6", "--leaf-size", "1")
    many = {f"{d}.txt": log_text(toy_rows(30), device_capa=[d, 0]) for d in (8, 9)}
    yield train(folder, many, *FLAGS)


def test_modules_are_formatted(tmp_path: Path) -> None:
    for number, text in enumerate(_texts(tmp_path)):
        (tmp_path / f"_{number}.py").write_text(text, encoding="utf-8")
    files = sorted(str(path) for path in tmp_path.glob("_?.py"))
    assert len(files) == 4
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run([*ruff, "format", "--check", "--isolated", "--line-length", "120", *files], check=True)
    rules = ["check", "--isolated", "--line-length", "120", "--select", "F,E,W,I,UP,RET,SIM"]
    subprocess.run([*ruff, *rules, "--ignore", "SIM103", *files], check=True)
    mypy = [sys.executable, "-m", "mypy", "--config-file", os.devnull, "--ignore-missing-imports"]
    subprocess.run([*mypy, "--follow-imports=skip", files[0]], check=True)


def test_texts_of_any_kind_survive(tmp_path: Path) -> None:
    heuristic = load(train(tmp_path, _nasty_log(), "--max-slowdown", "inf"))
    assert heuristic.get_name() == 'na"me\\'
    assert {text for _, text in heuristic.KNOWN_TEXTS} == set(NASTY)
    features = context(dtype="it's")
    features.add_feature('m "m", $x', 1)
    assert heuristic.get_decision(features, []) in heuristic.CHOICES


# Numbers of any size.


def test_numbers_beyond_32_and_64_bits_are_told_apart(tmp_path: Path) -> None:
    for start in (2**24, 2**53, 2**70):
        rows = [f"{start + m},1,x,{c},{t}" for m in range(40) for c, t in (("a", 1 + (m > 20)), ("b", 1 + (m <= 20)))]
        heuristic = load(train(tmp_path, log_text(rows), "--depth", "2", "--leaf-size", "1", "--seed", "3"))
        decisions = [decide(heuristic, m=start + m, n=1, dtype="x") for m in (0, 10, 30, 39)]
        assert decisions == ["a", "a", "b", "b"]


@pytest.mark.parametrize("values", [(-1e308, 1e308), (5e-324, 1e-323), (-3, 0.5), (0, 1)])
def test_extreme_numbers_are_told_apart(tmp_path: Path, values: tuple[float, float]) -> None:
    rows = [
        f"{v},{n},x,{c},{1 if (c == 'a') == (v == values[0]) else 3}" for v in values for n in range(20) for c in "ab"
    ]
    heuristic = load(train(tmp_path, log_text(rows), *FLAGS))
    assert [decide(heuristic, m=value, n=3, dtype="x") for value in values] == ["a", "b"]


def test_numbers_may_be_booleans(tmp_path: Path) -> None:
    rows = [f"{v},{n},x,{c},{1 if (c == 'a') == v else 3}" for v in (True, False) for n in range(20) for c in "ab"]
    heuristic = load(train(tmp_path, log_text(rows), *FLAGS))
    assert [decide(heuristic, m=value, n=3, dtype="x") for value in (True, False)] == ["a", "b"]


# Combined features.


FORMULAS: Final[Mapping[str, tuple[Callable[[int, int], float], int]]] = {
    "m*n": (lambda m, n: m * n, 200),
    "m/n": (lambda m, n: m / n, 1),
    "m%8": (lambda m, n: m % 8, 3),
    "-m + 3*n": (lambda m, n: 3 * n - m, 50),
    "(m+n)/(n%2)": (lambda m, n: (m + n) * (n % 2), 9),
}
"""Formulas, what they mean, and a value that divides the inputs in two."""


@pytest.mark.parametrize("formula", FORMULAS)
def test_combined_features_decide_as_in_training(tmp_path: Path, formula: str) -> None:
    """Each module computes by itself what the times depend on; a division by zero gives zero."""
    value, low = FORMULAS[formula]
    sizes = [(m, n) for m in range(1, 40) for n in range(1, 16)]
    rows = [f"{m},{n},x,{c},{1 if (c == 'a') == (value(m, n) <= low) else 2}" for m, n in sizes for c in "ab"]
    heuristic = load(train(tmp_path, log_text(rows), "--combine", formula, "--depth", "1", "--leaf-size", "1"))
    wrong = [size for size in sizes if decide(heuristic, m=size[0], n=size[1], dtype="x") != "ab"[value(*size) > low]]
    assert len(wrong) <= 1, "one size next to the threshold may not be among those for training"


def test_scikit_learn_is_named_where_it_is_missing(tmp_path: Path) -> None:
    """In a process whose Python can't import it."""
    (tmp_path / "log.txt").write_text(log_text(toy_rows(20)))
    program = (
        "import sys; sys.modules['sklearn'] = None; from opgen.run.spine import run;"
        "sys.exit(run('autoheuristic', ['log.txt', '--heuristic-name', 'Toy', '--output-dir', 'out']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "[scikit-learn-missing]" in done.stderr
    assert "pip install 'opgen[heuristics]'" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--depth", "0"), ("--depth", "99"), ("--leaf-size", "x"), ("--max-slowdown", "0.5"), ("--max-slowdown", "nan"),
     ("--seed", "-1"), ("--ranking", "0")],
)  # fmt: skip
def test_flags_out_of_range_are_refused(flag: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run(COMMAND, ["log.txt", "--heuristic-name", "Toy", "--output-dir", "out", f"{flag}={value}"])
    assert end.value.code == 2
    assert f"argument {flag}: '{value}' is not a" in capsys.readouterr().err
