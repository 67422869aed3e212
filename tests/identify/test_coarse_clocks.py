"""Captures by a clock with a coarse tick: the tick is named, and no interval is narrower than it allows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tidegate as tg
from support.made_captures import captured, coarse
from tidegate._capture.place import answered
from tidegate._identify.ticks import Ticks, tick_ns

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._identify.found import Number

FLOW = """
delay = "20 ms"
[flow.a]
path = ["link"]
rtt = "40 ms"
tcp.base = "linux"
tcp.cc = "{cc}"
"""
POLICER = """
duration = "15 s"
seed = {seed}
[gate.link]
rate = "1 Gbit/s"
police = {{ rate = "{rate} Mbit/s", burst = "{burst} kB" }}
"""
QUEUE = 'duration = "15 s"\nseed = 1\n[gate.link]\nrate = "{rate} Mbit/s"\nqueue = "80 kB"\n'


def holds(number: Number | None, truth: float) -> bool:
    assert number is not None
    return number.interval[0] <= truth <= number.interval[1]


@pytest.mark.parametrize("tick", [100_000, 1_000_000, 4_000_000, 10_000_000, 1e9 / 2**10, 1e9 / 2**6])
def test_a_tick_is_found_by_the_times(tick: float) -> None:
    times = np.random.default_rng(1).integers(0, 10**10, 2000)
    assert tick_ns(times) == 0
    assert tick_ns((np.floor(np.sort(times) / tick) * tick).astype(np.int64)) == round(tick)
    # Microseconds are fine enough, and one time is no clock.
    assert tick_ns(times // 1000 * 1000) == 0
    assert tick_ns(np.zeros(100, dtype=np.int64)) is None


@pytest.mark.parametrize(
    ("rate", "burst", "cc", "seed"),
    [
        (20, 50, "reno", 5),
        (20, 150, "cubic", 7),
        (50, 30, "cubic", 19),
        (50, 50, "reno", 23),
        (20, 30, "bbr", 6),
    ],
)
def test_a_policer_by_milliseconds(tmp_path: Path, rate: int, burst: int, cc: str, seed: int) -> None:
    text = POLICER.format(rate=rate, burst=burst, seed=seed) + FLOW.format(cc=cc)
    captured(text, tmp_path / "a.pcap")
    found = tg.identify(coarse(tmp_path / "a.pcap", tmp_path / "b.pcap", 1_000_000))
    law = found.limits[0].law
    assert law.kind == "policer"
    assert holds(law.rate_bps, rate * 1e6)
    assert holds(law.burst_bytes, burst * 1e3)
    assert "the capture's clock has a tick of 1.00 ms" in " ".join(found.notes)
    assert "clock has a tick" not in " ".join(tg.identify(tmp_path / "a.pcap").notes)


@pytest.mark.parametrize("rate", [4.4, 9.2, 13.0])
@pytest.mark.parametrize("end", ["a", "a-receiver"])
def test_a_queue_by_milliseconds(tmp_path: Path, rate: float, end: str) -> None:
    captured(QUEUE.format(rate=rate) + FLOW.format(cc="cubic"), tmp_path / "a.pcap")
    found = tg.identify(coarse(tmp_path / f"{end}.pcap", tmp_path / "b.pcap", 1_000_000))
    law = found.limits[0].law
    assert law.kind == "constant"
    assert holds(law.rate_bps, rate * 1e6)
    assert holds(law.queue_bytes, 80e3)
    trip = found.directions[0].base_round_trip_s
    assert end != "a" or holds(trip, 0.0404)


def test_one_coarse_clock_of_two_is_named_alone() -> None:
    """Each file's clock is told once, whichever of its connections show it."""
    ticks = Ticks()
    times = np.arange(2000, dtype=np.int64) * 1_234_567
    for file, number, tick in (("a", 1, 1), ("b", 2, 10**6), ("b", 3, 2 * 10**6), ("b", 4, 10**6)):
        packets = SimpleNamespace(time_ns=times // tick * tick)
        ticks.note(SimpleNamespace(number=number, file=file, packets=packets))
    few = SimpleNamespace(number=5, file="c", packets=SimpleNamespace(time_ns=times[:5]))
    ticks.note(few)
    assert [ticks.of([file]) for file in "abc"] == [0, 10**6, 0]
    assert ticks.of(["a", "b"]) == 10**6
    words = ticks.words(["a", "b", "b", "c"])
    assert len(words) == 1
    assert words[0].startswith("b: the capture's clock has a tick of 1.00 ms")


def test_an_ack_in_the_tick_of_its_data_is_behind_them() -> None:
    """Near a receiver ACKs leave at once: where the capture stands is told by them, whatever the clock."""
    packets = SimpleNamespace(
        from_client=np.array([True, False, True, False]),
        payload=np.array([1000, 0, 1000, 0]),
        has_ack=np.array([True, True, True, True]),
        seq=np.array([0, 0, 1000, 0]),
        ack=np.array([0, 1000, 0, 2000]),
        time_ns=np.array([0, 0, 4_000_000, 8_000_000]),
    )
    assert answered(packets, True) == 0
