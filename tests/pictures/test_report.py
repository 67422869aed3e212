"""Reports as HTML pages, and what a notebook shows of a result."""

from __future__ import annotations

import html.parser
import json
import re
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import EXAMPLES, SMALL, tidegate
from support.common import command as told_by
from tidegate._base.text import table

if TYPE_CHECKING:
    from pathlib import Path

#: Elements that have no end.
VOID = {"meta", "br", "link", "img", "hr"}


class Page(html.parser.HTMLParser):
    """Reads a page: its text, its elements with their parents, and whether every element ends."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.inside: list[tuple[str, tuple[str, ...]]] = []
        self.text: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.inside.append((f"{tag}.{found.get('class') or ''}", tuple(self.open)))
        self.ids += [found["id"]] if found.get("id") else []
        self.addresses += [found[key] or "" for key in ("href", "src") if key in found]
        if tag not in VOID:
            self.open.append(f"{tag}.{found.get('class') or ''}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open = self.open[:-1]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().split(".")[0] == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def run() -> tg.Run:
    return tg.run(tg.Scenario.from_toml(SMALL.replace('"Small"', '"Small & <fast>"')), seed=4)


def numbers(page: str) -> object:
    found = re.search(r'<script type="application/json" id="numbers">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_page_of_a_run_stands_alone(run: tg.Run) -> None:
    text = run.page()
    page = Page(text)
    said = "".join(page.text)
    assert "<title>Small &amp; &lt;fast&gt;</title>" in text
    assert len(page.ids) == len(set(page.ids)), "every id is there once"
    assert all(address.startswith("#") for address in page.addresses), "nothing is loaded"
    assert {address[1:] for address in page.addresses} <= {*page.ids}
    for tag, parents in page.inside:
        if tag.startswith(("table.", "svg.")):
            assert "div.wide" in parents, f"{tag} scrolls by itself"
    assert said.count("\nbottleneck") or "bottleneck" in said
    assert 'rate = "4 Mbit/s"' in said, "the scenario"
    assert numbers(text) == run.summary
    assert "color-scheme: light dark" in text


def test_the_page_says_what_the_table_says(run: tg.Run) -> None:
    said = " ".join("".join(Page(run.page()).text).split())
    shares = run.summary["flows"][0]["limited_by"]
    for what, share in shares.items():
        if share and share >= 0.005:
            assert f"{what.replace('gate.', 'gate ')} {100 * share:.0f}%" in said
    for line in run.report().splitlines():
        if line.startswith(("bulk", "bottleneck")):
            assert " ".join(line.split()) in said.replace("> ", " ") or all(w in said for w in line.split())


def test_bars_are_as_long_as_the_shares(run: tg.Run) -> None:
    widths = [float(each) for each in re.findall(r'style="flex: ([0-9.]+)"', run.page())]
    shares = [share for share in run.summary["flows"][0]["limited_by"].values() if share and share >= 0.005]
    assert sorted(widths) == pytest.approx(sorted(shares), abs=6e-5)


def test_the_same_results_are_the_same_bytes(run: tg.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    narrow = run.page()
    monkeypatch.setenv("COLUMNS", "110")
    again = tg.run(tg.Scenario.from_toml(SMALL.replace('"Small"', '"Small & <fast>"')), seed=4)
    assert again.page() == narrow == run.page()


def test_a_run_without_time_series_has_no_picture() -> None:
    page = tg.run(tg.Scenario.from_toml(SMALL), seed=4, record="summary").page()
    assert "<svg" not in page
    assert "What limited each flow" in page


def test_warnings_stand_at_the_top() -> None:
    run = tg.run(tg.Scenario.from_toml(SMALL + "\n[[sweep]]\nflow.bulk.tcp.cc = ['reno', 'cubic']\n"), seed=4)
    page = run.page()
    assert run.warnings
    assert page.index("Before you trust the numbers") < page.index("<main>")
    assert "2 combinations" in page


def test_a_comparison_and_a_study_have_pages(tmp_path: Path) -> None:
    scenario = tmp_path / "small.toml"
    scenario.write_text(SMALL)
    both = tg.compare(scenario, vary={"flow.bulk.tcp.cc": ["reno", "cubic"]}, seed=2)
    text = both.page()
    Page(text)
    assert numbers(text) == both.to_dict()
    assert text.count('class="bar"') == 2
    study = tg.study(scenario, vary={"flow.bulk.tcp.cc": ["reno", "cubic"]}, runs=3, seed=2, store=False)
    text = study.page()
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert numbers(text) == study.to_dict()
    assert len(re.findall("<svg", text)) == 2, "goodput and queueing delay"
    assert study.write_report(tmp_path / "s.html").read_text(encoding="utf-8") == study.page()


def test_theory_has_a_page() -> None:
    run = tg.run(EXAMPLES / "spacer.toml", engine="theory", changes={"gate.spacer.rate": "15.264 Mbit/s"})
    assert "engine theory" in run.page()
    assert run.report().startswith(run.title)


def test_the_commands_write_it(tmp_path: Path, small: Path) -> None:
    for command, more in (
        ("run", ()),
        ("compare", ("--vary", "flow.bulk.tcp.cc=reno,cubic")),
        ("study", ("--vary", "flow.bulk.tcp.cc=reno,cubic", "--runs", "2", "--no-store")),
    ):
        place = tmp_path / f"{command}.html"
        done = tidegate(command, str(small), *more, "--seed", "3", "--report", str(place), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"Report: {place}" in done.stdout
        text = place.read_text(encoding="utf-8")
        assert f"tidegate {command} " in text, "the command"
    wrong = tidegate("run", str(small), "--report", "x.pdf")
    assert wrong.returncode == 2
    assert "ends in .html" in wrong.stderr


def test_a_notebook_shows_tables_and_pictures(run: tg.Run) -> None:
    shown = run._repr_html_()
    Page(shown)
    assert 'src="data:image/png;base64,' in shown
    assert "<table" in shown
    for other in (run.flows[0], run.gates["bottleneck"], tg.Scenario.from_toml(SMALL)):
        Page(other._repr_html_())
        assert repr(other).startswith("<tidegate.")
    assert "goodput_bps" in repr(run.flows["bulk"])
    png = run.plot()._repr_png_()  # type: ignore[attr-defined]
    assert png.startswith(b"\x89PNG")
    with pytest.raises(RuntimeError, match="no notebook"):
        run.plot().show()


def test_a_table_knows_its_cells() -> None:
    text = table([["a", "b"], ["", "ms"]], [["x", "1"], ["yy", "22"]])
    assert text.rows == [["x", "1"], ["yy", "22"]]
    assert str(text.with_note("(2 of 9)")).splitlines()[-1] == "(2 of 9)"
    assert text.splitlines()[0] == "a    b"


def test_answers_of_size_and_tune_and_identify_have_reports(tmp_path: Path) -> None:
    scenario = tmp_path / "small.toml"
    scenario.write_text(SMALL.replace("loss = 0.002\n", ""))
    page = tmp_path / "size.html"
    told_by(
        "size", scenario, "--gate", "bottleneck", "--goal", "goodput > 50%", "--runs", "2", "--report", page
    )
    text = page.read_text(encoding="utf-8")
    assert "<pre>" in text
    assert "The scenario, small.toml" in text
    assert "tidegate size" in text
    told_by("run", scenario, "--pcap", "--out", tmp_path / "run")
    capture = tmp_path / "run" / "packets.pcap"
    page = tmp_path / "identify.html"
    told_by("identify", capture, "--report", page)
    text = page.read_text(encoding="utf-8")
    assert "What limited each sender" in text
    assert "<svg" in text
    assert "A scenario with the law" in text


def test_what_scripts_alone_draw_has_no_heading_on_paper(tmp_path: Path) -> None:
    scenario = tmp_path / "small.toml"
    scenario.write_text(SMALL)
    page = tmp_path / "compared.html"
    told_by("compare", scenario, "--vary", "flow.bulk.tcp.cc=newreno,cubic", "--report", page)
    text = page.read_text(encoding="utf-8")
    assert '<section id="against" class="scripted">' in text
    assert '<section id="picture">' in text
    assert "print-color-adjust" in text
    assert "details-content" in text
