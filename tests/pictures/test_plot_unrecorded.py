"""Pictures of runs that did not record everything say what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import command, tidegate
from support.figures import BASE, FLOW, LINK, texts, titles

if TYPE_CHECKING:
    from pathlib import Path


TWO: dict[str, Any] = {
    **BASE,
    "duration": "2 s",
    "gate": {"link": LINK, "two": {**LINK, "rate": "20 Mbit/s"}},
    "flow": {
        "user": {**FLOW, "path": ["link", "two"], "count": 3},
        "solo": {**FLOW, "path": ["two"]},
    },
}
#: Recordings that leave out the gate that limits the flows, with what stands in the picture's panels.
WITHOUT_LINK: list[tuple[dict[str, Any], list[str]]] = [
    ({"groups": ["user"]}, ["Congestion window of 3 flows", "Goodput of 3 flows together"]),
    ({"groups": ["user"], "solo": ["rtt_ms"]}, ["Congestion window", "Goodput of 4 flows together"]),
    ({"user": ["cwnd_segments"]}, ["Congestion window (dotted: ssthresh)", "Goodput of each flow"]),
    ({"solo": ["delivered_bytes"]}, ["Congestion window", "Goodput"]),
    ({"two": ["rate_bps"]}, ["Rate in force at gate two (shaded); what gate two carried"]),
    ({"two": ["rate_bps"], "solo": ["rtt_ms"]}, ["Goodput; rate in force at gate two (shaded)"]),
]


@pytest.mark.parametrize(("record", "told"), WITHOUT_LINK, ids=lambda each: "+".join(each))
def test_a_gate_that_was_not_recorded_is_left_out(record: dict[str, Any], told: list[str]) -> None:
    found = tg.run({**TWO, "record": {"every": "50 ms", **record}})
    figure = found.plot()
    assert {*told} <= {*titles(figure)}
    assert not any("at gate link" in title for title in titles(figure))
    assert "gate link was not recorded" in texts(figure)
    page = found.page()
    assert "Gate link was not recorded: its rate and its queue are not drawn." in page
    assert found._repr_html_()
    with pytest.raises(tg.errors.NotRecordedError, match=r'gate "link" is not recorded.* add link = '):
        found.plot(gate="link")


def test_variants_without_the_gate_that_is_compared_have_no_empty_panel() -> None:
    document = {**TWO, "record": {"every": "50 ms", "two": ["rate_bps"]}}
    both = tg.compare(document, vary={"flow.solo.tcp.cc": ["reno", "cubic"]})
    assert not [title for title in titles(both.plot()) if "Carried" in title]
    document["record"] = {"every": "50 ms", "groups": ["user"]}
    both = tg.compare(document, vary={"flow.solo.tcp.cc": ["reno", "cubic"]})
    assert [title for title in titles(both.plot()) if "Goodput (line)" in title]
    assert both.page()


def test_counts_of_flows_that_were_not_recorded_are_not_told() -> None:
    found = tg.run({**TWO, "record": {"every": "50 ms", "link": ["rate_bps"]}})
    assert sum(row["fast_retransmits"] for row in found.flows) > 0
    assert "drops" in texts(found.plot())
    assert "fast retransmit" not in texts(found.plot())


@pytest.mark.parametrize(
    ("gate", "words"),
    [("link", "recorded gates: none; add link = "), ("lonk", 'did you mean "link"?')],
)
def test_a_gate_that_cannot_be_drawn_is_refused_before_the_run(tmp_path: Path, gate: str, words: str) -> None:
    (tmp_path / "a.toml").write_text(
        tg.Scenario.from_dict({**TWO, "record": {"groups": ["user"]}}).to_toml(), encoding="utf-8"
    )
    done = tidegate("run", "a.toml", "--out", "a", "--plot", "a.png", "--gate", gate, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["a.toml"]


def test_a_run_without_its_gate_is_drawn_reported_and_drawn_again_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        tg.Scenario.from_dict({**TWO, "record": {"groups": ["user"]}}).to_toml(), encoding="utf-8"
    )
    command("run", "a.toml", "--out", "a", "--plot", "a.png", "--report", "a.html", cwd=tmp_path)
    command("plot", "a", "-o", "b.png", cwd=tmp_path)
    assert "was not recorded" in (tmp_path / "a.html").read_text(encoding="utf-8")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
