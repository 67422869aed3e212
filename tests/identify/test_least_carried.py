"""What a link carries at least, where no limit was reached: never more than its rate."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.made_captures import POLICED, captured, records

if TYPE_CHECKING:
    from pathlib import Path

LINE = """
duration = "15 s"
seed = 1
[gate.l]
rate = "50 Mbit/s"
queue = "300 packets"
delay = "10 ms"
jitter = "200 us"
loss.gilbert_elliott = { good_to_bad = 0.001, bad_to_good = 0.3, loss_bad = 1.0 }
[flow.x]
path = ["l"]
rtt = "40 ms"
"""


@pytest.mark.parametrize(("rate", "least"), [("50 Mbit/s", 40.0), ("100 Mbit/s", 80.0), ("1 Gbit/s", 20.0)])
def test_the_most_that_arrived_is_less_than_the_line_carries(tmp_path: Path, rate: str, least: float) -> None:
    captured(LINE.replace("50 Mbit/s", rate), tmp_path / "a.pcap")
    most = {"M": 1.0, "G": 1000.0}[rate.split()[1][0]] * float(rate.split()[0])
    for end in ("a.pcap", "a-receiver.pcap"):
        (limit,) = tg.identify(tmp_path / end).limits
        said = re.search(r"at least (\S+) Mbit/s, the most that arrived in 100 ms", limit.law.sentence)
        if said is None:
            assert limit.law.rate_bps is not None
            assert limit.law.rate_bps.value == pytest.approx(1e6 * most, rel=0.01)
        else:
            assert least < float(said[1]) <= most, end


def test_a_capture_without_a_clock_tells_no_rate(tmp_path: Path) -> None:
    head, found = records(captured(POLICED, tmp_path / "a.pcap"))
    (tmp_path / "b.pcap").write_bytes(head + b"".join(struct.pack("<II", 7, 0) + each[8:] for each in found))
    (limit,) = tg.identify(tmp_path / "b.pcap").limits
    assert "How much it carries cannot be told" in limit.law.sentence
    assert "Gbit/s" not in limit.law.sentence
