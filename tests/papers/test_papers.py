"""Papers: the report and its parts, what can be reproduced, and that papers are whole."""

from __future__ import annotations

import importlib
import json
import tomllib
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import tidegate
from support.reproduction import SECONDS, VERDICTS, says_no_more_than_the_full_run
from tidegate_papers._reproduce import paper as _paper
from tidegate_papers._reproduce.claim import Claim

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {"id", "where", "claim", "verdict", "measured", "interval", "unit", "paper_value", "note"}


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


@pytest.mark.timeout(SECONDS + 100)
def test_the_dtm_paper_quickly(tmp_path: Path) -> None:
    done = tidegate("reproduce", "dtm", "--quick", "--json", "--out", tmp_path / "dtm", seconds=SECONDS)
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
    says_no_more_than_the_full_run(claims.values())
    assert result["tcp"] == "reno and tahoe, rfc"
    assert claims["newer-tcp"]["tcp"] == "newreno, rfc; cubic, rfc; reno, rfc"
    # The number is that of the part which is the reason of the verdict.
    assert claims["map"]["part"] == "Reno"
    assert claims["over-allocation"]["part"] == "with MARGIN alone"
    assert claims["over-allocation"]["measured"] == pytest.approx(0.363, abs=0.01)
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
    from tidegate_papers._reproduce.value import Measured, number_text

    claim = Claim("x", "§1", "It is.", lambda _: None, unit)  # type: ignore[arg-type,return-value]
    entry = Measured(claim, "partly", 0.9057, None if cases else (0.9045, 0.9069), 16, "", [], cases=cases)
    assert number_text(entry) == shown


@pytest.mark.parametrize("name", _paper.names())
def test_every_claim_that_is_defined_is_listed(name: str) -> None:
    package = f"tidegate_papers.{name.replace('-', '_')}"
    defined: dict[str, list[str]] = {"sim": [], "live": []}
    for file in sorted((_paper.FOLDER / name.replace("-", "_")).glob("*.py")):
        module = importlib.import_module(f"{package}.{file.stem}")
        made = vars(module).values()
        several = [one for each in made if isinstance(each, tuple) for one in each]
        for each in (*made, *several):
            if isinstance(each, Claim) and each.measure.__module__ == module.__name__:
                defined["live" if file.stem == "live" else "sim"].append(each.id)
    listed = {"sim": _paper.open_paper(name).claims, "live": ()}
    if name in _paper.live_names():
        listed["live"] = _paper.open_paper(name, "live").claims
    for engine, claims in listed.items():
        assert sorted(each.id for each in claims) == sorted(defined[engine]), engine


@pytest.mark.parametrize("name", _paper.names())
def test_what_is_recorded_of_a_full_run_is_of_the_papers_claims(name: str) -> None:
    from tidegate_papers._reproduce import full_runs as _full_runs

    paper = _paper.open_paper(name)
    kept = _full_runs.recorded(paper)
    assert [*kept] == [claim.id for claim in paper.claims], f"record the full run of {name} again"
    assert {each["verdict"] for each in kept.values()} <= VERDICTS


@pytest.mark.parametrize(
    "file", [file for name in _paper.names() for file in _paper.open_paper(name).scenarios()]
)
def test_a_scenario_of_an_older_tcp_says_so_in_its_title(file: Path) -> None:
    from tidegate._ask.plan import plan_of

    scenario = tg.load(file)
    bases = {flow["tcp"]["label"].split(", ")[1] for flow in plan_of(scenario)["flows"]}
    if file.parents[1].name == "transports":
        # No paper: it is about the TCP of today.
        assert bases == {"linux-6.18"}
        return
    words = {"rfc": "RFCs", "bsd44": "4.4BSD", "linux-6.18": "Linux in 2015"}
    assert {words[base] for base in bases} == {word for word in words.values() if word in scenario.title}
