"""A receiver that does not read at once: it limits its flow, and says so."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg

LINK = """\
duration = "10 s"
seed = 1

[gate.link]
rate = "20 Mbit/s"
delay = "10 ms"

[flow.slow]
path = ["link"]
app.read = "5 Mbit/s"
"""
BASES: dict[str, dict[str, Any]] = {
    "linux": {"flow.slow.tcp.base": "linux"},
    "linux with a window": {"flow.slow.tcp.base": "linux", "flow.slow.tcp.window": "64 KiB"},
    "rfc": {"flow.slow.tcp.base": "rfc", "flow.slow.tcp.window": "64 KiB"},
    "bsd44": {"flow.slow.tcp.base": "bsd44", "flow.slow.tcp.window": "32 KiB"},
}


def flow(record: str = "summary", **changes: Any) -> dict[str, Any]:
    """Run the link with keys set otherwise; return what the summary says of its flow."""
    return tg.run(tg.Scenario.from_toml(LINK, changes=changes), record=record).summary["flows"][0]


@pytest.mark.parametrize("base", BASES)
def test_a_slow_reader_gets_its_rate_and_is_named(base: str) -> None:
    slow = flow(**BASES[base])
    # A buffer's worth arrives before it closes.
    assert 4.9e6 < slow["goodput_bps"] < 5.3e6
    assert slow["timeouts"] == 0
    assert slow["segments_retransmitted"] == 0
    assert max(slow["limited_by"], key=slow["limited_by"].get) == "receiver window"


def test_a_reader_that_is_faster_than_the_link_limits_nothing() -> None:
    quick = flow(**BASES["linux"], **{"flow.slow.app.read": "40 Mbit/s"})
    assert quick["goodput_bps"] > 18e6
    assert quick["limited_by"].get("receiver window", 0.0) < 0.2


def test_setting_the_application_keeps_how_it_is_read() -> None:
    sent = flow(**BASES["linux"], **{"flow.slow.app.transfer": "6 MB"})
    assert max(sent["limited_by"], key=sent["limited_by"].get) == "receiver window"


@pytest.mark.parametrize("base", BASES)
def test_each_way_of_running_gives_the_same(base: str) -> None:
    plain = flow(**BASES[base])
    assert plain == flow(**BASES[base], exact=True)
    assert plain == flow("10 ms", **BASES[base])
