"""A cellular link in two stages (`rate.cellreplay`) in whole runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tidegate as tg

LINK = """
duration = "4 s"
seed = 1
[gate.link]
rate.cellreplay = {{ light = "light", heavy = "heavy", opportunity = "1500 B"{more} }}
queue = "60 packets"
[gate.up]
delay = "30 ms"
[flow.page]
path = ["link"]
back = ["up"]
{app}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "light").write_text("0 30 0 4 8 12 16 20\n500 34 0 5 10 15\n1000 30\n", encoding="utf-8")
    (tmp_path / "heavy").write_text("1\n", encoding="utf-8")
    return tmp_path


def scenario(folder: Path, app: str, more: str = "", edits: Any = None) -> Any:
    (folder / "link.toml").write_text(LINK.format(app=app, more=more), encoding="utf-8")
    return tg.load(folder / "link.toml", changes=edits)


def flow(run: Any) -> dict[str, Any]:
    return dict(run.flows["page"])


def test_a_short_flow_is_slower_than_over_the_heavy_trace_alone(folder: Path) -> None:
    """Ten segments leave together: over the heavy trace they take a millisecond each.

    Of the train, six find opportunities, up to 20 ms after the first; the rest follows them.
    """
    trace = {"file": "heavy", "format": "mahimahi", "opportunity": "1500 B"}
    runs = ({}, {"gate.link.rate.trace": trace, "gate.link.delay": "30 ms"})
    app = 'app.transfer = "14480 B"'
    pair, heavy = (flow(tg.run(scenario(folder, app, edits=edits)))["completion_s"] for edits in runs)
    assert heavy + 0.010 < pair < heavy + 0.030


def test_a_long_flow_fills_the_heavy_trace(folder: Path) -> None:
    run = tg.run(scenario(folder, "", ', timer = "20 ms"', {"warmup": "1 s"}))
    link = run.gates.row("link").summary
    assert flow(run)["goodput_bps"] == pytest.approx(12e6 * 1448 / 1500, rel=0.03)
    assert link["limit_bps"] == pytest.approx(12e6)
    # The least base delay counts in the path's round trip, and waiting does not have it.
    assert flow(run)["rtt_path_ms"] == pytest.approx(60)
    assert link["queue_delay_p99_ms"] < 60 + 20


@pytest.mark.parametrize(
    "app", ["", 'app.transfer = "200 kB"', 'app.request = { response = "10 kB", think = "50 ms" }']
)
def test_the_slow_way_agrees(folder: Path, app: str) -> None:
    loaded = scenario(folder, app, ', timer = "5 ms"')
    ways = [tg.run(loaded, exact=exact).summary for exact in (False, True, False)]
    for way in ways[1:]:
        assert way["flows"] == ways[0]["flows"]
        assert way["gates"] == ways[0]["gates"]


def test_rtt_has_the_base_delay_inside(folder: Path) -> None:
    text = (
        LINK.format(app='rtt = "80 ms"', more="")
        .replace('back = ["up"]\n', "")
        .replace('[gate.up]\ndelay = "30 ms"\n', "")
    )
    run = tg.run(tg.Scenario.from_toml(text, folder=folder))
    assert flow(run)["rtt_path_ms"] == pytest.approx(80)
