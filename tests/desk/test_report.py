"""`opgen report`, in a browser: search, filters, links, the matrix, on a phone, in the dark and by keyboard."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pytest

from opgen.desk.report import entry_text, file_names
from opgen.diagnostics import Source
from tests.desk.browser import DESKTOP, PHONE, Browser, Keys
from tests.sharing import Share

RATIONAL = Path(__file__).resolve().parents[2] / "examples" / "rational" / "ops"


def write_report(folder: Path, *flags: str) -> str:
    command = [sys.executable, "-m", "opgen", "report", str(folder), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def report(share: Share) -> Path:
    return share.folder("report", lambda folder: write_report(folder, "--source-path", str(RATIONAL)))


@pytest.fixture(scope="module")
def torch_report(share: Share) -> Path:
    return share.folder("report_of_torch", lambda folder: write_report(folder, "--from-torch"))


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """The window, which the console must not complain in."""
    window.resize(DESKTOP)
    window.prefer("light")
    window.complaints()
    yield window
    assert window.complaints() == []


def names(browser: Browser) -> list[str]:
    return browser.texts("#results .row b")


def choose(browser: Browser, filter_: str, value: str) -> None:
    browser.run(
        "const each = document.getElementById(arguments[0]); each.value = arguments[1];"
        "each.dispatchEvent(new Event('input', {bubbles: true}))",
        filter_,
        value,
    )


def open_operator(browser: Browser, page: Path, name: str) -> None:
    browser.open(page / "index.html", f"#op={name}")
    browser.wait(lambda: browser.all("#details h2"))


# ------------------------------------------------------------------------------ list, search, filters


def test_all_operators_are_listed(browser: Browser, report: Path) -> None:
    browser.open(report / "index.html")
    assert browser.driver.title == "Operators of rational"
    assert browser.text("#count") == f"{len(names(browser))} operators"
    # The forms of an operator are one row, under the form that somebody wrote.
    assert [name for name in names(browser) if "ratio" in name.partition("::")[2]] == [
        "rational::ratio.Scalar",
        "rational::ratio.Tensor",
        "rational::ratio_.Scalar",
    ]
    assert "rational::saturate_" in names(browser)


def test_search_looks_at_names_forms_types_and_tags(browser: Browser, report: Path) -> None:
    browser.open(report / "index.html")
    browser.find("#q").send_keys("mean dim")
    assert names(browser) == ["rational::harmonic_mean"]
    assert browser.text("#count").startswith("1 of ")
    for words, expected in (("SATURATE.OUT", "rational::saturate_"), ("Generator?", "rational::jitter")):
        browser.find("#q").clear()
        browser.find("#q").send_keys(words)
        assert names(browser) == [expected]
    browser.find("#q").clear()
    browser.find("#q").send_keys("nondeterministic")
    assert names(browser) == ["rational::jitter"]
    browser.find("#q").clear()
    browser.find("#q").send_keys("no such operator")
    browser.find("#clear").click()
    browser.wait(lambda: len(names(browser)) > 10)
    assert browser.find("#q").get_property("value") == ""


@pytest.mark.parametrize(
    ("filter_", "value", "has", "has_not"),
    [
        ("key", "FuncTorchBatched", "running_mean", "jitter"),
        ("form", "structured", "ratio.Tensor", "jitter"),
        ("form", "in-place", "ratio.Tensor", "jitter"),
        ("missing", "vmap", "jitter", "running_mean"),
        ("missing", "autograd", "jitter", "ratio.Tensor"),
        ("tag", "reduction", "harmonic_mean", "jitter"),
    ],
)
def test_filters(browser: Browser, report: Path, filter_: str, value: str, has: str, has_not: str) -> None:
    browser.open(report / "index.html")
    choose(browser, filter_, value)
    browser.wait(lambda: "of" in browser.text("#count").split())
    assert f"rational::{has}" in names(browser)
    assert f"rational::{has_not}" not in names(browser)
    # The address has the filter, so that it can be sent to somebody.
    assert f"{filter_}={value}" in unquote(browser.driver.current_url)
    shown = names(browser)
    browser.open(report / "index.html", f"#{filter_}={value}")
    assert names(browser) == shown
    assert browser.find(f"#{filter_}").get_property("value") == value


# ------------------------------------------------------------------------------ one operator


def test_an_operator_has_its_definition_next_to_its_code(browser: Browser, report: Path) -> None:
    browser.open(report / "index.html", "#q=ratio.Tensor")
    browser.find("#results .row").click()
    browser.wait(lambda: browser.all("#details h2"))
    assert browser.text("#details h2") == "rational::ratio.Tensor"
    definitions, gradients = browser.texts(".side > div:first-child pre")[0], browser.texts(".side pre")[3]
    assert definitions.startswith("# A structured operator:")
    assert "  structured_delegate: ratio.out\n  tags: pointwise\n" in definitions
    assert "self: ratio(grad, other, eps)" in gradients
    places = browser.texts(".side > div:first-child .place")
    assert [place.partition(":")[0] for place in places] == [
        *["native/native_functions.yaml"] * 3,
        "autograd/derivatives.yaml",
    ]
    left, right = browser.all(".side > div")
    assert left.rect["y"] == right.rect["y"]
    assert left.rect["x"] + left.rect["width"] <= right.rect["x"]
    files = browser.texts("details.file > summary")
    for file in (
        "rational/ops/ratio.h",
        "RegisterCPU.cpp",
        "RegisterMeta.cpp",
        "RegisterDerivatives.cpp",
        "RegisterBatched.cpp",
    ):
        assert file in files
    code = browser.text("details.file[open]")
    assert "wrapper_CPU_Tensor_ratio_Tensor(const at::Tensor & self, const at::Tensor & other" in code
    assert "blend" not in code
    # Nodes of autograd's graph, which no comment and no registration names.
    browser.run("document.querySelectorAll('details.file').forEach(each => each.open = true)")
    assert "RatioBackward0::apply(variable_list&& grads)" in browser.text("#details")


def test_what_is_missing_is_shown(browser: Browser, report: Path) -> None:
    open_operator(browser, report, "jitter")
    gaps = browser.text(".gaps")
    assert "autograd of jitter: no formula in derivatives.yaml: backward raises an error" in gaps
    assert "vmap of jitter: vmap falls back to a loop over the batch, with a warning" in gaps
    open_operator(browser, report, "relative_error")
    assert not browser.all(".gaps")


def test_places_are_links_to_the_code(browser: Browser, report: Path) -> None:
    open_operator(browser, report, "ratio.Tensor")
    link = next(each for each in browser.all("#details td a[data-file='RegisterMeta.cpp']"))
    link.click()
    browser.wait(lambda: browser.find("details.file[data-path='RegisterMeta.cpp']").get_attribute("open"))
    assert "file=RegisterMeta.cpp" in browser.driver.current_url
    browser.driver.back()
    browser.wait(lambda: "file=" not in browser.driver.current_url)
    assert browser.text("#details h2") == "rational::ratio.Tensor"


def test_every_operator_opens_and_every_link_leads_somewhere(browser: Browser, report: Path) -> None:
    browser.open(report / "index.html")
    for name in [each.get_attribute("data-op") for each in browser.all("#results .row")]:
        browser.run("location.hash = 'op=' + arguments[0]", name)
        browser.wait(partial(browser.all, f".row[aria-current][data-op='{name}']"))
        browser.wait(partial(browser.all, "#details h2"))
        broken = browser.run(
            "return Array.from(document.querySelectorAll('#details a[data-file]')).map(each => each.dataset.file)"
            ".filter(file => !document.querySelector('details.file[data-path=\"' + file + '\"]'))"
        )
        assert broken == []
        assert browser.all("details.file"), name


def test_an_operator_that_is_not_there(browser: Browser, report: Path) -> None:
    browser.open(report / "index.html", "#op=nothing")
    assert browser.text("#details") == "There is no operator “nothing”."


def test_a_missing_file_of_the_folder(window: Browser, report: Path, tmp_path: Path) -> None:
    for name in ("index.html", "report.css", "report.js", "operators.js"):
        (tmp_path / name).write_bytes((report / name).read_bytes())
    window.open(tmp_path / "index.html", "#op=jitter")
    window.wait(lambda: "be read: copy the whole folder" in window.text("#details"))
    assert "ERR_FILE_NOT_FOUND" in window.complaints()[0]


# ------------------------------------------------------------------------------ the matrix


def test_the_matrix_of_forms_and_keys(browser: Browser, report: Path) -> None:
    browser.open(report / "index.html")
    browser.find("#show-matrix").click()
    browser.wait(lambda: browser.all("table.matrix"))
    keys = browser.texts("table.matrix thead th")[1:]
    row = next(each for each in browser.all("table.matrix tbody tr") if each.text.startswith("harmonic_mean.out"))
    cells = dict(
        zip(keys, [cell.get_attribute("title") for cell in row.find_elements("css selector", "td")], strict=True)
    )
    assert cells["CPU"] == "CPU: a kernel that is written by hand"
    assert cells["Meta"] == "Meta: a generated kernel"
    row.find_element("css selector", "a").click()
    browser.wait(lambda: browser.all("#details h2"))
    assert browser.text("#details h2") == "rational::harmonic_mean"


# ------------------------------------------------------------------------------ phone, dark, keyboard


def test_a_phone_shows_one_thing_at_a_time(browser: Browser, report: Path) -> None:
    browser.resize(PHONE)
    browser.open(report / "index.html")
    assert not browser.find("#form").is_displayed()
    browser.find("#more summary").click()
    assert browser.find("#form").is_displayed()
    browser.find("#results .row").click()
    browser.wait(lambda: browser.all("#details h2"))
    assert not browser.find("#results").is_displayed()
    # Nothing makes the page wider than the screen: tables and code scroll by themselves.
    assert browser.run("return document.documentElement.scrollWidth") <= PHONE[0]
    assert browser.find("#details h2").rect["y"] < PHONE[1]
    browser.find(".back").click()
    browser.wait(lambda: browser.find("#results").is_displayed())
    browser.find("#show-matrix").click()
    browser.wait(lambda: browser.all("table.matrix"))
    assert browser.run("return document.documentElement.scrollWidth") <= PHONE[0]


def luminance(color: str) -> float:
    channels = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(browser: Browser, report: Path, scheme: str) -> None:
    browser.prefer(scheme)
    open_operator(browser, report, "jitter")
    colors = browser.run(
        "const found = []; for (const each of document.querySelectorAll('body *')) {"
        " if (!each.innerText || !each.checkVisibility()) continue;"
        " const style = getComputedStyle, words = each.innerText.slice(0, 40); let below = each;"
        " while (style(below).backgroundColor === 'rgba(0, 0, 0, 0)') below = below.parentElement;"
        " found.push([style(each).color, style(below).backgroundColor, words]);"
        "} return found"
    )
    page = luminance(browser.run("return getComputedStyle(document.body).backgroundColor"))
    assert page > 0.8 if scheme == "light" else page < 0.05
    for text, background, words in colors:
        high, low = sorted((luminance(text), luminance(background)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, background, words)


def test_everything_can_be_done_by_keyboard(browser: Browser, report: Path) -> None:
    browser.open(report / "index.html")
    browser.press(Keys.TAB)
    assert browser.focused.text == "Skip to the operators"
    browser.press(Keys.ENTER)
    assert browser.focused.get_attribute("id") == "results"
    browser.press("/")
    assert browser.focused.get_attribute("id") == "q"
    browser.press(*"ratio", Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert browser.focused.get_attribute("data-op") == "ratio.Tensor"
    browser.press(Keys.ARROW_UP)
    assert browser.focused.get_attribute("data-op") == "ratio.Scalar"
    browser.press(Keys.ENTER)
    browser.wait(lambda: browser.focused.text == "rational::ratio.Scalar")
    browser.press(Keys.ESCAPE)
    assert browser.focused.get_attribute("data-op") == "ratio.Scalar"
    assert "op=" not in browser.driver.current_url
    browser.press(Keys.ARROW_UP)
    assert browser.focused.get_attribute("id") == "q"


# ------------------------------------------------------------------------------ torch's operators


def test_the_report_of_torch_opens_at_once(browser: Browser, torch_report: Path) -> None:
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    browser.open(torch_report / "index.html")
    browser.wait(lambda: browser.all("#results .row"))
    metrics = {
        each["name"]: each["value"] for each in browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    }
    assert metrics["TaskDuration"] < 1, metrics
    assert int(browser.text("#count").split()[0].replace(",", "")) > 1500
    browser.find("#q").send_keys("add.Tensor")
    assert names(browser)[0] == "aten::add.Tensor"
    # Of operators on lists, the formulas are those for tensors.
    assert "no autograd" not in browser.text(".row[data-op='_foreach_add.Tensor']")
    # The row of an operator is in sight, however far down it is.
    browser.open(torch_report / "index.html", "#op=zeros")
    row = browser.find(".row[aria-current]")
    assert 0 < row.rect["y"] - browser.run("return scrollY") < DESKTOP[1]
    browser.open(torch_report / "index.html")
    # Further rows come when they are scrolled to.
    browser.find("#q").clear()
    first = len(browser.all("#results .row"))
    browser.run("document.querySelector('#results').scrollTop = 1e6")
    browser.wait(lambda: len(browser.all("#results .row")) > first)


def test_an_operator_of_torch(browser: Browser, torch_report: Path) -> None:
    open_operator(browser, torch_report, "add.Tensor")
    browser.run("document.querySelectorAll('details.file').forEach(each => each.open = true)")
    text = browser.text("#details")
    assert "at::Tensor wrapper_CPU_add_Tensor(const at::Tensor & self" in text
    assert "struct TORCH_API AddBackward0 : public TraceableFunction" in text
    assert "other: handle_r_to_c(other.scalar_type(), maybe_multiply(grad, alpha.conj()))" in text
    # Places don't say where this torch is installed.
    assert "native/native_functions.yaml:" in text
    assert "site-packages" not in text


def test_all_operators_of_torch_have_their_definition_and_code(torch_report: Path) -> None:
    text = (torch_report / "operators.js").read_text(encoding="ascii")
    rows = json.loads(text.removeprefix("window.opgenOperators = ").removesuffix(";\n"))["operators"]
    assert len({row["file"].lower() for row in rows}) == len(rows)
    for row in rows:
        call = (torch_report / "operators" / f"{row['file']}.js").read_text(encoding="ascii")
        details = json.loads(call.partition(", ")[2].removesuffix(");\n"))
        schemas = [form["schema"] for form in details["forms"] if not form["origin"].startswith("autogen")]
        definitions = "\n".join(entry["text"] for entry in details["definitions"])
        assert all(f"func: {schema.partition('(')[0]}(" in definitions for schema in schemas), row["name"]
        assert details["code"], row["name"]


# ------------------------------------------------------------------------------ files


def test_the_same_definitions_give_the_same_bytes(report: Path, tmp_path: Path) -> None:
    said = write_report(tmp_path / "again", "--source-path", str(RATIONAL))
    paths = [path.relative_to(report) for path in report.rglob("*") if path.is_file() and path.name[0] != "."]
    assert len(paths) > 20
    assert all((report / path).read_bytes() == (tmp_path / "again" / path).read_bytes() for path in paths)
    assert said.startswith(f"{tmp_path / 'again'}: {len(paths)} files, {len(paths)} changed, ")
    assert " 0 changed, " in write_report(tmp_path / "again", "--source-path", str(RATIONAL))


def test_file_names_differ_where_case_makes_no_difference() -> None:
    assert file_names(["a.Scalar", "a.scalar", "b", "a.SCALAR"]) == ["a.Scalar", "a.scalar-2", "b", "a.SCALAR-3"]


@pytest.mark.parametrize(
    ("before", "entry", "after"),
    [
        ("- func: f()\n\n", "# About g.\n- func: g()\n  tags: x", "\n\n# About h.\n- func: h()\n"),
        ("", "- doc: |\n    - no entry\n\n    # no comment\n  precomputed:\n  - int n\n  func: g()", "\n"),
        ("  - func: f()\n", "  - func: g()\n    dispatch:\n      CPU: g", "\n  # About h.\n  - func: h()"),
    ],
)
def test_the_text_of_an_entry(before: str, entry: str, after: str) -> None:
    source = Source("ops.yaml", before + entry + after)
    start = source.text.index("g()")
    assert entry_text(source.span(start, start + 3)) == (entry, before.count("\n") + 1)
