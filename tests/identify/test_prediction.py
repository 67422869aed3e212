"""A law is tried before it is believed: its scenario runs, and stands beside the measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.made_captures import captured
from tidegate._identify.doubts import tried
from tidegate._identify.follows import follows
from tidegate._identify.prediction import Predicted
from tidegate._identify.share import crossings
from tidegate._identify.streams import streams_of

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
duration = "10 s"
seed = 2
[gate.link]
rate = "1 Gbit/s"
{gate}
delay = "10 ms"
[flow.a]
path = ["link"]
rtt = "40 ms"
"""


def row(measured: float, said: float) -> Predicted:
    return Predicted(1, (measured, said), (said, said), (None, None), (None, None))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tg.Identification:
    place = tmp_path_factory.mktemp("prediction") / "loss.pcap"
    return tg.identify(captured(TEXT.format(gate="loss = 0.02"), place))


def test_what_agrees_is_left_as_it_is(found: tg.Identification) -> None:
    assert tried(found.limits, found.directions, [row(3e6, 3.5e6)]) == found.limits


def test_a_law_of_weak_evidence_that_contradicts_the_capture_is_withdrawn(found: tg.Identification) -> None:
    law = tried(found.limits, found.directions, [row(3e6, 9e6)])[0].law
    assert law.kind == "cannot tell"
    assert law.random_loss is None
    assert "predicts 9.00 Mbit/s, and 3.00 were measured" in law.sentence


def test_what_does_not_fit_is_said(found: tg.Identification) -> None:
    law = tried(found.limits, found.directions, [row(3e6, 5e6)])[0].law
    assert law.kind == found.limits[0].law.kind
    assert "does not explain the goodput" in law.evidence[-1]


def test_every_answer_has_its_prediction(found: tg.Identification) -> None:
    (one,) = found.predicted
    measured, said = one.goodput_bps
    assert one.range_bps[0] <= said <= one.range_bps[1]
    assert said == pytest.approx(measured, rel=0.25)
    assert "What a scenario with this law predicts" in found.report()
    assert found.to_dict()["predicted"][0]["goodput_bps"] == {"measured": measured, "predicted": said}


@pytest.mark.parametrize(
    ("gate", "slope"),
    [
        ('police = { rate = "8 Mbit/s", burst = "60 kB" }', 0.0),
        ('rate = "8 Mbit/s"\nqueue = "60 kB"', 1.0),
    ],
    ids=["policer", "queue"],
)
def test_round_trips_follow_a_queue_and_no_policer(tmp_path: Path, gate: str, slope: float) -> None:
    from tidegate._capture.start import read_capture

    text = TEXT.format(gate=gate) if "police" in gate else TEXT.replace('rate = "1 Gbit/s"\n{gate}', gate)
    capture = read_capture([captured(text, tmp_path / "slope.pcap")])
    (stream,) = streams_of(capture.connections, [], lambda _share: None)
    packets, trip = crossings([stream.sent])
    told = follows(packets, trip, 8e6)
    assert told is not None
    assert told.value == pytest.approx(slope, abs=0.05)
    assert told.none == (slope == 0.0)


def test_another_round_trip_and_other_losses_are_said(found: tg.Identification) -> None:
    def evidence(lost: tuple[float, float], trip_s: tuple[float, float]) -> list[str]:
        one = Predicted(1, (3e6, 3e6), (3e6, 3e6), lost, trip_s)
        law = tried(found.limits, found.directions, [one])[0].law
        return law.evidence[len(found.limits[0].law.evidence) :]

    assert evidence((0.02, 0.024), (0.05, 0.06)) == []
    assert evidence((0.0, 0.004), (0.002, 0.004)) == []
    assert evidence((0.02, 0.02), (0.0576, 0.236)) == [
        "A simulation of this law has another round trip: the median is 236 ms, and 57.6 ms in the capture.",
    ]
    assert evidence((0.0, 0.01), (0.05, 0.05))[0] == (
        "A simulation of this law resends 1.00% of the packets; 0% were lost in the capture."
    )


@pytest.mark.parametrize(
    ("gate", "sender", "assumed"),
    [
        ('queue = { limit = "500 packets", aqm = "pie" }', 'tcp.cc = "cubic"', True),
        ("", 'tcp.window = "200 segments"', True),
        ('queue = "60 packets"', "", False),
    ],
    ids=["pie", "window", "told"],
)
def test_what_is_assumed_of_a_queue_is_named(tmp_path: Path, gate: str, sender: str, assumed: bool) -> None:
    text = TEXT.replace("1 Gbit/s", "10 Mbit/s").replace("link", "l").replace("flow.a", "flow.x")
    text = text.format(gate=f'{gate}\njitter = "200 us"') + sender
    it = tg.identify(captured(text.replace('"10 s"\nseed = 2', '"15 s"\nseed = 1'), tmp_path / "queue.pcap"))
    words = (" ".join(it.report().split()), it.scenario(), it.to_dict()["assumed_queue"] or "")
    if not assumed:
        assert not any("assumes" in each for each in words)
        return
    assert all(
        "The capture does not tell all of the queue: the scenario assumes that it" in each for each in words
    )
    assert "has another round trip" in " ".join(it.limits[0].law.evidence)
    assert tg.run(tg.Scenario.from_toml(it.scenario()), record="summary").summary["flows"]
