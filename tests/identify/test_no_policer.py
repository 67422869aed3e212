"""Links without a policer whose losses a bucket explains in part."""

from __future__ import annotations

from pathlib import Path

import pytest
import tidegate as tg

SPACED = """
duration = "25 s"
seed = 277
[gate.link]
rate = "{rate} Mbit/s"
queue.limit = "1000 packets"
queue.aqm = "{aqm}"
delay = "{delay} ms"
[flow.a]
path = ["link"]
rtt = "{rtt} ms"
tcp.base = "linux"
tcp.cc = "{cc}"
"""

#: A queue whose rate falls, with packets that the capture does not show, or one answer after the other.
FALLS = {
    "hidden traffic": """
duration = "25 s"
seed = 275
[gate.link]
rate.steps = [["0 s", "12 Mbit/s"], ["12.3 s", "3.6 Mbit/s"]]
queue = "62670 B"
delay = "10.048 ms"
[flow.a]
path = ["link"]
rtt = "20.096 ms"
tcp.base = "linux"
tcp.cc = "bbr"
[traffic.cross]
path = ["link"]
source.poisson = { rate = "600 kbit/s", packet = "500 B" }
""",
    "answers": """
duration = "25 s"
seed = 356
[gate.link]
rate.steps = [["0 s", "2.4 Mbit/s"], ["9.7 s", "720 kbit/s"]]
queue = "15000 B"
delay = "8.318 ms"
[flow.a]
path = ["link"]
rtt = "16.635 ms"
tcp.base = "linux"
tcp.cc = "bbr"
app.request.response = "529466 B"
app.request.think = "0.57 s"
""",
}


def law(scenario: str, folder: Path, end: str) -> tg.Law:
    tg.run(tg.Scenario.from_toml(scenario), record="summary", pcap=folder / "link.pcap")
    return tg.identify(folder / end).limits[0].law


@pytest.mark.parametrize("end", ["link.pcap", "link-receiver.pcap"])
@pytest.mark.parametrize("what", FALLS)
def test_a_queue_whose_rate_falls(what: str, end: str, tmp_path: Path) -> None:
    """BBR keeps the old rate for some round trips, and loses what a bucket of megabytes would drop."""
    found = law(FALLS[what], tmp_path, end)
    assert found.kind == "steps", found.sentence


@pytest.mark.parametrize(
    ("aqm", "rate", "rtt", "cc"),
    [("red", 22, 96, "cubic"), ("codel", 26, 120, "reno"), ("red", 17, 112, "cubic")],
)
def test_packets_that_a_link_has_spaced(aqm: str, rate: int, rtt: int, cc: str, tmp_path: Path) -> None:
    """They have passed a bucket of one packet that fills at the link's rate."""
    scenario = SPACED.format(aqm=aqm, rate=rate, delay=rtt / 2, rtt=rtt, cc=cc)
    found = law(scenario, tmp_path, "link-receiver.pcap")
    assert found.kind != "policer", found.sentence
