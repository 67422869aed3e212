"""Rows at every change, and queues in rows, are those of the summary."""

from __future__ import annotations

import numpy as np
import pytest
import tidegate as tg

ONE = """
duration = "2 s"
seed = 1
gate.g = { rate = "10 Mbit/s", queue = "10 packets" }
flow.f = { path = ["g"], tcp = { window = "1 segments", delayed_ack = false } }
"""
MARKED = """
duration = "30 s"
seed = 1
gate.g.rate = "100 kbit/s"
gate.g.delay = "5 ms"
gate.g.queue = { limit = "50 packets", aqm = "AQM", counts = "all" }
flow.f = { path = ["g"], tcp.ecn = "classic" }
"""
BUCKET = """
duration = "20 s"
seed = 1
gate.g.rate.token_bucket = { rate = "1 Mbit/s", burst = "1600 B" }
gate.g.queue = { limit = "20 packets", aqm = "AQM" }
gate.g.delay = "20 ms"
flow.f.path = ["g"]
traffic.t = { path = ["g"], count = 5, source.constant = { rate = "100 kbit/s", packet = "540 B" } }
"""


@pytest.mark.parametrize(
    "text",
    [ONE]
    + [MARKED.replace("AQM", aqm) for aqm in ("codel", "fq_codel", "cake")]
    + [BUCKET.replace("AQM", aqm) for aqm in ("fq_codel", "cake")],
)
def test_a_row_at_every_change(text: str) -> None:
    run = tg.run(tg.Scenario.from_toml(text), record="events")
    rows, gate = run.table("gates"), run.gates[0].summary
    assert rows["delivered_bytes"][-1] == gate["delivered_bytes"]
    if "token_bucket" not in text:
        # A bucket lets several go at one instant, which has one row.
        assert rows["delivered_bytes"].n_unique() >= gate["delivered_packets"], "each departure has a row"
    assert rows["queue_packets"].max() == gate["queue_max_packets"]
    times = np.append(rows["time_s"].to_numpy(), run.summary["duration_s"])
    mean = (rows["queue_packets"].to_numpy() * np.diff(times)).sum() / times[-1]
    assert mean == pytest.approx(gate["queue_mean_packets"], rel=2e-3, abs=1e-6)


@pytest.mark.parametrize("aqm", ["fq_codel", "cake"])
@pytest.mark.parametrize("record", ["10 ms", "events"])
def test_a_unit_that_is_chosen_as_it_comes_leaves_the_recorded_queue(aqm: str, record: str) -> None:
    run = tg.run(tg.Scenario.from_toml(BUCKET.replace("AQM", aqm)), record=record)
    queue = run.table("gates")["queue_packets"]
    assert queue.max() <= run.gates[0].summary["queue_max_packets"] <= 20


@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_each_arrival_at_a_receiver_is_a_change(transport: str) -> None:
    text = ONE.replace('queue = "10 packets"', 'delay = "25 ms"').replace(
        'window = "1 segments"', 'window = "20 segments"'
    )
    if transport == "quic":
        text = text.partition("flow.f")[0] + 'flow.f = { path = ["g"], transport = "quic" }\n'
    run = tg.run(tg.Scenario.from_toml(text), record="events")
    rows = run.table("flows")["delivered_bytes"]
    assert rows[-1] == pytest.approx(run.flows["f"].summary["goodput_bps"] * 2 / 8)
    assert rows.n_unique() >= 0.99 * run.flows["f"].summary["segments_delivered"]
    assert rows.equals(
        tg.run(tg.Scenario.from_toml(text), record="events", exact=True).table("flows")["delivered_bytes"]
    )
