"""Numbers of gates' books that a summary cannot have: each of these runs once had one."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tidegate as tg
from tidegate._ask.compiled import simulate
from tidegate._ask.scenario import Scenario

#: Two constant sources at a gate with classes whose rate ends.
OUTAGE = """
duration = "1 s"
[gate.link]
rate.steps = [["0 s", "1 Mbit/s"], ["500 ms", "0 bit/s"]]
{queue}
[traffic.video]
path = ["link"]
dscp = "EF"
source.constant = {{ rate = "800 kbit/s" }}
[traffic.bulk]
path = ["link"]
source.constant = {{ rate = "800 kbit/s" }}
"""

CLASSES = """
scheduler = "strict"
classes.voice.dscp = ["EF"]
classes.voice.queue = "20 kB"
classes.rest.queue = "20 kB"
"""

#: A queue of 900 packets when the measured time begins, after which nothing comes any more.
BEFORE = """
duration = "3 s"
warmup = "1 s"
[gate.link]
rate.steps = [["0 s", "10 Mbit/s"], ["900 ms", "100 kbit/s"]]
queue.limit = "1000 packets"
{aqm}
[traffic.x]
path = ["link"]
source.on_off = {{ rate = "20 Mbit/s", on = "{on}", off = "10 s" }}
"""

#: A second at a rate at which a packet takes more than one, with a queue of 30.
SLOW = """
duration = "1 s"
[gate.link]
rate = "10 kbit/s"
queue = "30 packets"
[traffic.x]
path = ["link"]
source.constant = { rate = "1 Mbit/s", packet = "125 B" }
"""


def gate(text: str) -> dict[str, Any]:
    (row,) = tg.run(Scenario.from_toml(text), seed=1, record="summary").summary["gates"]
    return dict(row)


@pytest.mark.parametrize("queue", [CLASSES, 'queue.aqm = "cake"', 'queue.limit = "27 packets"'])
def test_what_no_service_ends_for_still_waits(queue: str) -> None:
    link = gate(OUTAGE.format(queue=queue))
    assert 0 < link["queue_delay_p50_ms"] < link["queue_delay_p99_ms"] < 500
    # One packet was in service when the rate ended.
    assert link["waiting_packets"] == pytest.approx(link["queue_max_packets"], abs=1)
    assert 300 < link["waiting_mean_ms"] < link["waiting_max_ms"] < 1000
    rows = link.get("classes", [])
    for name in ("offered_packets", "delivered_packets", "dropped_packets", "waiting_packets"):
        assert sum(row[name] for row in rows) in (0, link[name])
    if queue == CLASSES:
        assert [row["waiting_packets"] for row in rows] == [13, 13]
        # Nothing of the rest is served after the outage, so none of it waited longer than half a second.
        assert rows[1]["queue_delay_max_ms"] < 500 < rows[1]["waiting_max_ms"]


@pytest.mark.parametrize("aqm", ['queue.aqm = "codel"', 'queue.aqm = "fq_codel"', 'queue.aqm = "cake"'])
def test_what_is_dropped_is_part_of_what_was_offered(aqm: str) -> None:
    link = gate(BEFORE.format(aqm=aqm, on="1005 ms"))
    assert link["dropped_packets"] > 20
    assert link["offered_packets"] == link["delivered_packets"] + link["dropped_packets"]
    assert link["loss"] == link["dropped_packets"] / link["offered_packets"] < 1


def test_the_largest_queue_was_there_at_the_beginning() -> None:
    """Nothing comes in the measured time, so the queue only falls."""
    link = gate(BEFORE.format(aqm="", on="950 ms"))
    assert link["queue_max_packets"] - 17 < link["queue_mean_packets"] < link["queue_max_packets"]
    assert link["queue_max_bytes"] == 1500 * link["queue_max_packets"]
    assert link["queue_delay_p99_ms"] is None
    # 2 s at 100 kbit/s are 16.7 packets; one is in service at either end.
    assert link["waiting_packets"] == link["queue_max_packets"] - 17
    assert 2000 < link["waiting_mean_ms"] < link["waiting_max_ms"] < 3000


def test_nobody_waits_longer_than_the_run() -> None:
    link = gate(SLOW)
    # A packet takes 100 ms and comes every millisecond: the service of the tenth ends with the run.
    assert (link["delivered_packets"], link["waiting_packets"]) == (9, 30)
    assert link["offered_packets"] == 9 + link["dropped_packets"]
    assert link["queue_delay_p99_ms"] < 1000
    assert link["waiting_max_ms"] < 1000
    said = tg.run(Scenario.from_toml(SLOW), seed=1).report()
    assert "Still waiting at gate link when the run ended: 30 packets" in " ".join(said.split())


def test_a_recorded_slotted_gate_has_the_same_waits() -> None:
    """A slot of 12.848 us is no whole number of picoseconds."""
    text = """
        duration = "300 ms"
        [gate.link]
        rate = "33 Mbit/s"
        slotted = true
        framing.aal5.llc = true
        [flow.a]
        path = ["link"]
        rtt = "20 ms"
        """
    loaded = Scenario.from_toml(text)
    alone, recorded, exact = (
        json.loads(simulate(loaded, seed=1, record=record, exact=exact).summary_json)["gates"]
        for record, exact in (("summary", False), ("10 ms", False), ("summary", True))
    )
    assert alone == recorded == exact
    assert alone[0]["queue_delay_mean_ms"] > 1


@pytest.mark.parametrize("counts", ["waiting", "all"])
@pytest.mark.parametrize("aqm", ["none", "red", "codel", "pie", "dualpi2", "step", "fq_codel"])
def test_the_queue_at_every_change_has_the_mean_of_the_summary(aqm: str, counts: str) -> None:
    """PIE and DualPI2 looked at a departure, which then had no row of its own."""
    queue = {"limit": "100 packets", "counts": counts}
    if aqm == "red":
        queue |= {"aqm": {"red": {"min": "5 packets", "max": "15 packets"}}}
    elif aqm == "step":
        queue |= {"aqm": {"step": {"threshold": "2 ms"}}}
    elif aqm != "none":
        queue |= {"aqm": aqm}
    run = tg.run(
        {
            "duration": "2 s",
            "gate": {"link": {"rate": "10 Mbit/s", "queue": queue}},
            "traffic": {"t": {"path": ["link"], "source": {"poisson": {"rate": "8 Mbit/s"}}}},
        },
        seed=1,
        record="events",
    )
    rows = run.table("gates")
    ends = [*rows["time_s"][1:], 2.0]
    held = [
        packets * (end - at) for at, packets, end in zip(*rows["time_s", "queue_packets"], ends, strict=True)
    ]
    assert sum(held) / 2 == pytest.approx(run.gates["link"]["queue_mean_packets"])


@pytest.mark.parametrize("peak_burst", [None, "3 kB"])
def test_a_bucket_passes_no_more_than_its_peak(peak_burst: str | None) -> None:
    bucket = {"rate": "10 Mbit/s", "burst": "200 kB", "peak": "20 Mbit/s"}
    if peak_burst is not None:
        bucket["peak_burst"] = peak_burst
    row = tg.run(
        {
            "duration": "100 ms",
            "gate": {"link": {"rate": {"token_bucket": bucket}, "queue": "100 packets"}},
            "traffic": {"t": {"path": ["link"], "source": {"constant": {"rate": "30 Mbit/s"}}}},
        },
        seed=1,
    ).gates["link"]
    burst = 0 if peak_burst is None else 3000
    assert row["capacity_bytes"] == 250_000 + burst
    assert 0.99 < row["utilisation"] <= 1


def test_a_gate_is_never_used_more_than_wholly() -> None:
    """The packet in service when counting begins counts whole at its end, which is most of these 10 ms."""
    row = tg.run(
        {
            "duration": "10 s",
            "warmup": "9990 ms",
            "gate": {"link": {"rate": "10 Mbit/s", "queue": "100 packets"}},
            "flow": {"a": {"path": ["link"], "rtt": "40 ms"}},
        },
        seed=1,
    ).gates["link"]
    assert row["delivered_bytes"] > row["capacity_bytes"]
    assert row["utilisation"] == 1


def test_cells_that_a_policer_drops_are_their_classes() -> None:
    link = {
        "framing": "aal5",
        "rate": "10 Mbit/s",
        "queue": "200 cells",
        "scheduler": "drr",
        "classes": {"one": {"members": ["a"], "queue": "100 cells"}, "rest": {"queue": "100 cells"}},
        "police": {"pcr": "5 Mbit/s", "burst": "100 cells"},
    }
    sources = {name: {"path": ["link"], "source": {"poisson": {"rate": "4 Mbit/s"}}} for name in "ab"}
    scenario = {"duration": "1 s", "gate": {"link": link}, "traffic": sources}
    row = tg.run(scenario, seed=1).summary["gates"][0]
    for name in ("offered_cells", "delivered_cells", "dropped_cells"):
        assert sum(of[name] for of in row["classes"]) == row[name] > 0
    assert all(of["drops"]["policed"] > 1000 for of in row["classes"])
