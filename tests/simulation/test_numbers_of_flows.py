"""Numbers of a flow's summary in cases that one could compute on paper."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg


def flow(gates: dict[str, Any], keys: dict[str, Any], duration: str = "10 s") -> dict[str, Any]:
    """The only flow of a run, through all gates."""
    flows = {"f": {"path": list(gates), **keys}}
    return tg.run({"duration": duration, "seed": 1, "gate": gates, "flow": flows}).flows["f"].summary


def test_lost_acks_and_syns_are_no_lost_data() -> None:
    """The client sends 300 kB in each request; the other end's data are eight responses of one byte."""
    request = {"size": "300 kB", "response": "1 B", "think": "1 s", "count": 8}
    gates = {"down": {"rate": "20 Mbit/s", "loss": "10%"}, "up": {"rate": "20 Mbit/s"}}
    keys = {"path": ["down"], "back": ["up"], "rtt": "20 ms", "app": {"request": request}}
    found = flow(gates, keys)
    assert (found["segments_sent"], found["segments_delivered"], found["dropped_packets"]) == (8, 8, 0)
    assert found["efficiency"] == 1
    never = flow({"down": {"rate": "20 Mbit/s", "loss": {"every": 1}}}, {"app": {"transfer": "1 kB"}})
    assert (never["segments_sent"], never["dropped_packets"], never["efficiency"]) == (0, 0, None)


@pytest.mark.parametrize(
    ("keys", "holds"),
    [
        ({"rtt": "30 ms", "app": {"read": "1 kbit/s"}}, "receiver window"),
        ({"rtt": "30 ms", "tcp": {"cc": "fixed_rate", "rate": "1 kbit/s"}}, "pacing"),
        ({"rtt": "30 ms", "app": {"transfer": "10 kB"}}, "application"),
    ],
)
def test_the_end_of_a_run_is_owed_to_what_holds_the_sender_then(keys: dict[str, Any], holds: str) -> None:
    found = flow({"link": {"rate": "5 Mbit/s", "queue": "30 packets"}}, keys)
    assert found["limited_by"][holds] > 0.9, found["limited_by"]


def test_nothing_sent_over_a_dead_link_is_not_owed_to_the_application() -> None:
    """All that was sent is lost, and waits for a time-out."""
    steps = [["0 s", "5 Mbit/s"], ["1 s", "0 bit/s"]]
    found = flow({"link": {"rate": {"steps": steps}, "queue": "30 packets"}}, {"rtt": "30 ms"})
    assert found["limited_by"]["application"] < 0.05, found["limited_by"]
