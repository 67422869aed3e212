"""Papers: the report and its parts, exit statuses, and a paper that is only a folder."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from common import SMALL, tidegate
from tidegate._cli import errors as _cli_errors
from tidegate._cli import main as _cli
from tidegate._reproduce import paper as _paper
from tidegate._reproduce import start as _reproduce

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {"id", "where", "claim", "verdict", "measured", "interval", "unit", "paper_value", "note"}
VERDICTS = {"reproduced", "partly", "not reproduced", "undecided"}


class Page(HTMLParser):
    """What stands in a page, and what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.pictures = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        assert found.get("id") not in self.ids, f"{found.get('id')} twice"
        if found.get("id"):
            self.ids.add(str(found["id"]))
        self.pictures += tag == "svg"
        if tag in ("script", "link", "img", "iframe"):
            self.loads.append(tag)
        for name in ("src", "href", "xlink:href"):
            if found.get(name):
                self.links.append(str(found[name]))


def read(file: Path) -> Page:
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def test_the_dtm_paper_quickly(tmp_path: Path) -> None:
    done = tidegate("reproduce", "dtm", "--quick", "--json", "--out", tmp_path / "dtm")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["paper"] == "dtm"
    assert result["left_out"].startswith("Quick: ")
    claims = {claim["id"]: claim for claim in result["claims"]}
    assert len(claims) == len(result["claims"]) > 20
    for claim in claims.values():
        assert claim.keys() >= KEYS
        assert claim["verdict"] in VERDICTS
        assert claim["measured"] is not None
        assert claim["runs"] >= 16, "chaotic TCP"
        assert "Quick" not in claim["note"], "what was left out is said once"
        assert claim["rule"], "what reproduced asks for is said"
        assert claim["shown"]
        if claim["interval"] is not None:
            low, high = claim["interval"]
            assert low <= claim["measured"] <= high
    # Figs. 8 and 9, the heart of the paper: whole numbers apart, so safe in any phase.
    assert claims["static"]["verdict"] == claims["dynamic"]["verdict"] == "reproduced"
    assert claims["hold-tick"]["verdict"] == "not reproduced"
    assert claims["first-change"]["measured"] == 1.0

    folder = tmp_path / "dtm"
    page = read(folder / "report.html")
    figures = [f"fig-{n}" for n in range(2, 10)] + [
        "margin",
        "queue",
        "remedies",
        "variants",
        "saving",
        "map",
    ]
    assert [figure["id"] for figure in result["figures"]] == figures
    assert {*figures} <= page.ids
    assert page.pictures == len(figures)
    assert {f"claim-{name}" for name in claims} <= page.ids
    assert page.loads == [], "one page with everything in it"
    for link in page.links:
        assert link.startswith(("#", "data:")) or (folder / link).is_file(), link
    assert {link[1:] for link in page.links if link.startswith("#")} <= page.ids
    for name in figures:
        assert (folder / f"{name}.svg").stat().st_size > 3000
    for file in _paper.open_paper("dtm").scenarios():
        assert (folder / file.name).read_bytes() == file.read_bytes()
        assert tomllib.loads(file.read_text())["seed"] == 1

    again = tidegate("reproduce", "dtm", "--quick", "--json", "--out", folder, "--force")
    assert json.loads(again.stdout) == result, "from the store, the same"
    command = next(text for text in claims["static"]["commands"])
    assert tidegate(*_split(command), cwd=folder).returncode == 0, "the report says how to run it again"


def _split(command: str) -> list[str]:
    import shlex

    return shlex.split(command)[1:]


def test_one_item(tmp_path: Path) -> None:
    done = tidegate("reproduce", "dtm/fig-3", "--out", tmp_path / "three")
    assert done.returncode == 0
    assert read(tmp_path / "three" / "report.html").pictures == 1
    one = tidegate("reproduce", "dtm/first-change", "--quick", "--json")
    assert [claim["id"] for claim in json.loads(one.stdout)["claims"]] == ["first-change"]
    by_figure = tidegate("reproduce", "dtm/fig-6", "--quick", cwd=tmp_path)
    assert by_figure.returncode == 0
    assert "tahoe-follows" in by_figure.stdout
    assert (tmp_path / "reproduced" / "dtm" / "report.html").is_file()


@pytest.mark.parametrize(
    ("target", "offered"),
    [("dtn", "dtm"), ("dtm/fig9", "fig-9"), ("dtm/hold-second2", "hold-second"), ("dtm/", "first-change")],
)
def test_unknown_names_offer_the_nearest(target: str, offered: str) -> None:
    done = tidegate("reproduce", target)
    assert (done.returncode, done.stdout) == (2, "")
    assert offered in done.stderr
    assert ("--list" in done.stderr) == target.startswith("dtm"), "where all of them are to be had"


def test_everything_that_can_be_reproduced_is_listed() -> None:
    done = tidegate("reproduce", "--list", "--json")
    items = {row["target"]: row for row in json.loads(done.stdout)["items"]}
    for name in _paper.names():
        paper = _paper.open_paper(name)
        known = {f"{name}/{each.id}" for each in (*paper.claims, *paper.figures)}
        assert known | {name} <= items.keys()
    one = tidegate("reproduce", "dtm/fig-9", "--list")
    assert "claim, §3.1, Fig. 9" in one.stdout
    assert "fig-8" not in one.stdout


# --- a paper that is only a folder --------------------------------------------------------------

CLAIMS = """
from tidegate._reproduce.paper import Claim, Finding
from tidegate._reproduce.verdict import above

TITLE = "A toy"
SOURCE = "Nobody, nowhere"
QUICK = "Quick: nothing is left out"


def goodput(lab):
    return Finding(above(lab.study("small", runs=RUNS).estimate("goodput_bps"), 1e6), "some <note> & more")


CLAIMS = [
    Claim("fast", "§1", "It is fast & <good>.", goodput, "bit/s", 2e6, ("one",) EXACT),
    Claim("window", "§2", "Windows grow.", MEASURE, "segments"),
]
"""
FIGURES = """
from matplotlib.figure import Figure as Picture
from tidegate._reproduce.paper import Figure


def one(lab):
    picture = Picture(figsize=(3, 2))
    picture.subplots().plot(lab.run("small").flows["bulk"].series("cwnd")["cwnd_segments"])
    return picture


FIGURES = [Figure("one", "Fig. 1", "A window", "It grows", one)]
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that writes a paper of this kind and makes it the only one there is."""
    import tidegate.papers

    folder = tmp_path / "papers"
    (folder / "toy_paper").mkdir(parents=True)
    monkeypatch.setattr(_paper, "FOLDER", folder)
    monkeypatch.setattr(tidegate.papers, "__path__", [str(folder)])

    def write(*, runs: int = 16, exact: str = "", measure: str = "goodput", figures: str = FIGURES) -> None:
        for name in [name for name in sys.modules if name.startswith("tidegate.papers.toy")]:
            monkeypatch.delitem(sys.modules, name)
        text = CLAIMS.replace("RUNS", str(runs)).replace("EXACT", exact).replace("MEASURE", measure)
        (folder / "toy_paper" / "claims.py").write_text(text, encoding="utf-8")
        (folder / "toy_paper" / "figures.py").write_text(figures, encoding="utf-8")
        (folder / "toy_paper" / "small.toml").write_text("seed = 1\nruns = 16\n" + SMALL, encoding="utf-8")
        sys.dont_write_bytecode = True

    yield write
    for name in [name for name in sys.modules if name.startswith("tidegate.papers.toy")]:
        del sys.modules[name]


def command(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """The command line in this process, where the toy is known."""
    status = _cli_errors.guarded(lambda: _cli.cli.main([*words], standalone_mode=False))
    said = capsys.readouterr()
    return status, said.out, said.err


def test_a_paper_is_a_folder(toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy()
    status, out, _ = command("reproduce", "--out", str(tmp_path / "all"), capsys=capsys)
    assert status == 0
    assert "toy-paper: A toy" in out
    page = (tmp_path / "all" / "toy-paper" / "report.html").read_text(encoding="utf-8")
    assert "It is fast &amp; &lt;good&gt;." in page
    assert "<note>" not in page
    assert len(re.findall("<svg", page)) == 1
    status, out, _ = command("reproduce", "--json", capsys=capsys)
    assert [paper["paper"] for paper in json.loads(out)["papers"]] == ["toy-paper"]
    result = tg.reproduce("toy-paper/fast")
    assert [claim.verdict for claim in result.claims] == ["reproduced"]
    assert result.claims[0].commands == ["tidegate study small.toml --runs 16"]


@pytest.mark.parametrize(
    ("unit", "cases", "shown"),
    [
        ("share of cases", "1 of 4", "1 of 4 cases"),
        ("share of cases", "1 of 4, 2 undecided", "1 of 4 cases, 2 undecided"),
        ("share of capacity", "", "90.57 ±0.12% of capacity"),
        ("12 packets / 8 packets", "", "12 packets / 8 packets: 0.9057 ±0.0012×"),
        ("Mbit/s", "", "0.9057 ±0.0012 Mbit/s"),
    ],
)
def test_numbers_are_told_as_people_say_them(unit: str, cases: str, shown: str) -> None:
    from tidegate._reproduce.value import Measured, number_text

    claim = _paper.Claim("x", "§1", "It is.", lambda _: None, unit)  # type: ignore[arg-type,return-value]
    entry = Measured(claim, "partly", 0.9057, None if cases else (0.9045, 0.9069), 16, "", [], cases=cases)
    assert number_text(entry) == shown


def test_a_quick_report_says_what_the_full_run_says(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tidegate._reproduce import full_runs as _full_runs

    toy()
    command("reproduce", "toy-paper", "--out", str(tmp_path / "full"), capsys=capsys)
    file = _full_runs.record(tmp_path / "full", tmp_path / "papers")
    assert file == tmp_path / "papers" / "toy_paper" / "full-run.json"
    assert json.loads(file.read_text())["fast"]["verdict"] == "reproduced"
    status, out, _ = command("reproduce", "toy-paper", "--quick", "--out", str(tmp_path / "q"), capsys=capsys)
    assert status == 0
    assert "Full run: reproduced, " in out
    page = (tmp_path / "q" / "report.html").read_text(encoding="utf-8")
    assert page.count("Quick: nothing is left out") == 1, "once, and not with each claim"
    assert "in the full run" in page
    with pytest.raises(ValueError, match="not a full run"):
        _full_runs.record(tmp_path / "q", tmp_path / "papers")


def test_a_page_fits_a_phone_and_the_night(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy()
    command("reproduce", "toy-paper", "--out", str(tmp_path / "r"), capsys=capsys)
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "color-scheme: light dark" in page
    assert "prefers-color-scheme: dark" in page
    # Every table and picture is inside a box that scrolls by itself.
    for inner in ("<table", "<svg"):
        for found in re.finditer(inner, page):
            assert '<div class="wide"' in page[max(0, found.start() - 160) : found.start()], inner
    # A picture of 3 inches shrinks to four fifths and no further.
    assert 'style="min-width: 173pt"' in page


@pytest.mark.parametrize("name", _paper.names())
def test_what_is_recorded_of_a_full_run_is_of_the_papers_claims(name: str) -> None:
    from tidegate._reproduce import full_runs as _full_runs

    paper = _paper.open_paper(name)
    kept = _full_runs.recorded(paper)
    assert [*kept] == [claim.id for claim in paper.claims], f"record the full run of {name} again"
    assert {each["verdict"] for each in kept.values()} <= VERDICTS


def test_few_runs_are_refused(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    toy(runs=8)
    status, out, _ = command("reproduce", "toy-paper", "--json", capsys=capsys)
    assert status == 1, "a claim that could not be measured"
    for claim in json.loads(out)["claims"]:
        assert claim["verdict"] is None
        assert "16 runs or more, not on 8" in claim["note"]
    toy(runs=8, exact=', exact="nothing is random"')
    status, out, _ = command("reproduce", "toy-paper/fast", "--json", capsys=capsys)
    assert (status, json.loads(out)["claims"][0]["verdict"]) == (0, "reproduced")


def test_what_fails_does_not_stop_the_rest(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy(measure="lambda lab: 1 / 0", figures=FIGURES.replace('"small"', '"smal"'))
    status, out, _ = command("reproduce", "toy-paper", "--out", str(tmp_path / "out"), capsys=capsys)
    assert status == 1
    assert "NOT MEASURED" in out
    assert "ZeroDivisionError" in out
    assert 'did you mean "small"?' in out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Could not be drawn" in page
    assert "reproduced" in page
    status, _, err = command("reproduce", "toy-paper", "--out", str(tmp_path / "out"), capsys=capsys)
    assert (status, "--force" in err) == (2, True)


def test_closures_are_not_measured(toy: Any) -> None:
    toy()
    paper = _paper.open_paper("toy-paper")
    lab = _paper.Lab(paper)
    factor = 2.0
    with pytest.raises(tg.ArgumentError, match="values of its own"):
        lab.study("small", measure=lambda run: {"x": factor * run.seed})
    assert _reproduce.targets(None) == ["toy-paper"]
