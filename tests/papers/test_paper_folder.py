"""A paper is a folder and nothing else: a toy paper, its report, its refusals and failures."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
import tidegate_papers
from support.common import SMALL
from tidegate._cli import errors as _cli_errors
from tidegate._cli import main as _cli
from tidegate_papers._reproduce import paper as _paper
from tidegate_papers._reproduce import start as _reproduce
from tidegate_papers._reproduce.lab import Lab

if TYPE_CHECKING:
    from pathlib import Path

CLAIMS = """
from tidegate_papers.api import Finding, above, claim

TITLE = "A toy"
SOURCE = "Nobody, nowhere"
QUICK = "Quick: nothing is left out"


@claim("fast", where="§1", says="It is fast & <good>.", unit="bit/s", paper=2e6, figures=("one",) EXACT)
def goodput(lab):
    return Finding(above(lab.study("small", runs=RUNS).estimate("goodput_bps"), 1e6), "some <note> & more")


@claim("window", where="§2", says="Windows grow.", unit="segments")
def window(lab):
    return MEASURE


CLAIMS = [goodput, window]
"""

FIGURES = """
from matplotlib.figure import Figure as Picture
from tidegate_papers.api import Figure


def one(lab):
    picture = Picture(figsize=(3, 2))
    picture.subplots().plot(lab.run("small").flows["bulk"].series("cwnd")["cwnd_segments"])
    return picture


FIGURES = [Figure("one", "Fig. 1", "A window", "It grows", one)]
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that writes a paper of this kind and makes it the only one there is."""

    folder = tmp_path / "papers"
    (folder / "toy_paper").mkdir(parents=True)
    monkeypatch.setattr(_paper, "FOLDER", folder)
    monkeypatch.setattr(tidegate_papers, "__path__", [str(folder), *tidegate_papers.__path__])

    def write(
        *, runs: int = 16, exact: str = "", measure: str = "goodput.measure(lab)", figures: str = FIGURES
    ) -> None:
        for name in [name for name in sys.modules if name.startswith("tidegate_papers.toy")]:
            monkeypatch.delitem(sys.modules, name)
        text = CLAIMS.replace("RUNS", str(runs)).replace("EXACT", exact).replace("MEASURE", measure)
        (folder / "toy_paper" / "claims.py").write_text(text, encoding="utf-8")
        (folder / "toy_paper" / "figures.py").write_text(figures, encoding="utf-8")
        (folder / "toy_paper" / "small.toml").write_text("seed = 1\nruns = 16\n" + SMALL, encoding="utf-8")
        sys.dont_write_bytecode = True

    yield write
    for name in [name for name in sys.modules if name.startswith("tidegate_papers.toy")]:
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
    assert "TCP of its scenarios: newreno, rfc" in out
    page = (tmp_path / "all" / "toy-paper" / "report.html").read_text(encoding="utf-8")
    assert "It is fast &amp; &lt;good&gt;." in page
    assert "<note>" not in page
    assert "<p>TCP of its scenarios: newreno, rfc.</p>" in page
    assert "<dt>TCP</dt><dd>newreno, rfc</dd>" in page
    assert "</a></td><td>newreno, rfc</td><td>1</td>" in page
    manifest = json.loads((tmp_path / "all" / "toy-paper" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["tcp"] == "newreno, rfc"
    assert len(re.findall("<svg", page)) == 1
    status, out, _ = command("reproduce", "--json", capsys=capsys)
    assert [paper["paper"] for paper in json.loads(out)["papers"]] == ["toy-paper"]
    result = tidegate_papers.reproduce("toy-paper/fast")
    assert [claim.verdict for claim in result.claims] == ["reproduced"]
    assert result.claims[0].commands == ["tidegate study small.toml --runs 16"]
    assert (result.tcp, result.claims[0].tcp) == ("newreno, rfc", "newreno, rfc")


def test_a_quick_report_says_what_the_full_run_says(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tidegate_papers._reproduce import full_runs as _full_runs

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
    toy(measure="1 / 0", figures=FIGURES.replace('"small"', '"smal"'))
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
    lab = Lab(paper.folder)
    factor = 2.0
    with pytest.raises(tg.errors.ArgumentError, match="values of its own"):
        lab.study("small", measure=lambda run: {"x": factor * run.seed})
    assert _reproduce.targets(None) == ["toy-paper"]
