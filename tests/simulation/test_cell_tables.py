"""What tables, pictures, reports and captures say of a run with cells."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import tidegate as tg

LOSSY = """
duration = "4 s"
[gate.host]
framing = "aal5"
rate = "100 Mbit/s"
[gate.link]
framing = "aal5"
rate = "10 Mbit/s"
queue = "100 cells"
delay = "10 ms"
loss = 0.0002
[flow.bulk]
path = ["host", "link"]
"""


def test_drops_of_packets_and_of_cells() -> None:
    run = tg.run(tg.Scenario.from_toml(LOSSY), seed=2, record="events")
    link = run.gates["link"]
    drops = link.drops()
    assert drops.height == link["dropped_packets"] > 0
    # A packet is dropped once, however many of its cells are lost.
    assert link["dropped_cells"] >= link["dropped_packets"]
    assert link["wasted_cells"] > 0
    assert {"queue full", "random loss", "reassembly"} == {*drops["reason"].cast(pl.String)}
    dropped = link.series("dropped")
    assert dropped["cells"][-1] == link["dropped_cells"]
    assert link["offered_cells"] >= link["delivered_cells"] + link["dropped_cells"]
    assert link["loss"] == pytest.approx(link["dropped_cells"] / link["offered_cells"])
    shares = run.flows["bulk"]["limited_by"]
    assert sum(shares.values()) == pytest.approx(1)


def test_each_nth_unit_is_lost_by_count_and_not_at_random() -> None:
    # At a cell gate cells are counted, at another one packets.
    for changes in (
        {},
        {"gate.link.framing": "ip", "gate.host.framing": "ip", "gate.link.queue": "9 packets"},
    ):
        scenario = tg.Scenario.from_toml(LOSSY, changes={**changes, "gate.link.loss": {"every": 200}})
        link = tg.run(scenario, record="events").gates["link"]
        assert "random loss" not in link["drops"]
        assert link["drops"]["loss by count"] > 0
        assert "loss by count" in {*link.drops()["reason"].cast(pl.String)}


def test_simple_reassembly_saves_the_next_packet() -> None:
    reasons = {}
    for rule in ("aal5", "simple"):
        scenario = tg.Scenario.from_toml(LOSSY, changes={"gate.link.reassembly": rule})
        reasons[rule] = {*tg.run(scenario, seed=2, record="10 ms").drops["reason"].cast(pl.String)}
    assert reasons["aal5"] - reasons["simple"] == {"reassembly"}


def test_packet_discard_saves_capacity() -> None:
    """Cells of packets that are lost anyway are thrown away at their arrival."""
    wasted = {}
    for name, changes in {
        "neither": {},
        "ppd": {"gate.link.queue.ppd": True},
        "epd": {"gate.link.queue.epd": "60 cells"},
    }.items():
        scenario = tg.Scenario.from_toml(LOSSY, changes={"gate.link.loss": 0.0, **changes})
        run = tg.run(scenario, seed=2, record="10 ms")
        wasted[name] = run.gates["link"]["wasted_cells"] / run.gates["link"]["dropped_packets"]
        if name == "epd":
            assert "packet discard" in {*run.drops["reason"].cast(pl.String)}
    assert wasted["ppd"] < wasted["neither"]
    assert wasted["epd"] < wasted["neither"]


def test_a_picture_and_a_report_in_cells(tmp_path: Path) -> None:
    from tidegate._run import history as _plot_history
    from tidegate._run import text as _run_text

    run = tg.run(tg.Scenario.from_toml(LOSSY), seed=2, record="10 ms")
    data = _plot_history.history(run, "link")
    assert data.queue_unit == "cells"
    assert data.queue.max() > 50
    run.plot(tmp_path / "cells.svg", gate="link")
    assert "cells" in (tmp_path / "cells.svg").read_text()
    said = _run_text.run_report(run.summary, run.title)
    assert "cells" in said
    assert "were carried in vain" in said
    again = tg.open(run.save(tmp_path / "run"))
    assert again.gates["link"].series("queue").equals(run.gates["link"].series("queue"))


def test_a_capture_of_a_run_with_cells(tmp_path: Path) -> None:
    run = tg.run(tg.Scenario.from_toml(LOSSY), seed=2, record="summary", pcap=tmp_path / "x.pcap")
    assert (tmp_path / "x.pcap").stat().st_size > 1000
    plain = tg.run(tg.Scenario.from_toml(LOSSY), seed=2, record="summary")
    assert plain.to_json() == run.to_json()


def test_drops_of_a_cell_gate_are_packets_and_those_of_its_classes_cells() -> None:
    document = {
        "duration": "5 s",
        "seed": 1,
        "gate": {
            "link": {
                "framing": "aal5",
                "rate": "10 Mbit/s",
                "scheduler": "drr",
                "queue": {"epd": "60 cells", "ppd": True},
                "classes": {
                    "one": {"members": ["a"], "queue": "100 cells"},
                    "rest": {"queue": "100 cells"},
                },
            }
        },
        "flow": {name: {"path": ["link"], "rtt": "20 ms"} for name in ("a", "b")},
    }
    link = tg.run(tg.Scenario.from_dict(document)).gates["link"].summary
    assert sum(link["drops"].values()) == link["dropped_packets"] < link["dropped_cells"]
    for row in link["classes"]:
        assert sum(row["drops"].values()) == row["dropped_cells"] > 0
    assert sum(row["dropped_cells"] for row in link["classes"]) == link["dropped_cells"]
