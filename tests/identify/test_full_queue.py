"""A queue whose rate changes: it is full where all losses come at one backlog, and an AQM only where told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.made_captures import captured

if TYPE_CHECKING:
    from pathlib import Path

LINK = """
duration = "15 s"
seed = 1
[gate.l]
rate.steps = [["0 s", "20 Mbit/s"], ["5 s", "5 Mbit/s"], ["10 s", "20 Mbit/s"]]
queue = {queue}
delay = "10 ms"
jitter = "200 us"
[flow.x]
path = ["l"]
rtt = "40 ms"
"""


@pytest.mark.parametrize("end", ["a", "a-receiver"])
@pytest.mark.parametrize(("queue", "size"), [('"100 packets"', 150e3), ('"60 kB"', 60e3)])
def test_a_full_queue_of_a_stepped_rate(tmp_path: Path, queue: str, size: float, end: str) -> None:
    captured(LINK.format(queue=queue), tmp_path / "a.pcap")
    found = tg.identify(tmp_path / f"{end}.pcap")
    law = found.limits[0].law
    assert law.drops == "queue full"
    assert law.queue_bytes is not None
    assert law.queue_bytes.interval[0] <= size <= law.queue_bytes.interval[1]
    assert "It loses packets when it is full." in law.sentence
    assert not any("AQM" in cause for cause in found.directions[0].limited_by)
    # Its scenario has that queue, and so its delays and losses.
    assert found.predicted[0].lost[1]
    assert f'queue = "{round(law.queue_bytes.value)} B"' in found.scenario()


@pytest.mark.parametrize("aqm", ["codel", "red"])
def test_early_drops_of_a_stepped_rate_stay_open(tmp_path: Path, aqm: str) -> None:
    captured(LINK.format(queue=f'{{ limit = "500 packets", aqm = "{aqm}" }}'), tmp_path / "a.pcap")
    found = tg.identify(tmp_path / "a.pcap")
    law = found.limits[0].law
    assert (law.drops, law.aqm, law.queue_bytes) == ("early", None, None)
    assert "an AQM, or a queue often full" in law.sentence
    assert found.directions[0].limited_by["AQM or full queue"] > 0.3
    assert "AQM" not in found.directions[0].limited_by
