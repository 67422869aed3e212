"""A law is tried before it is believed: its scenario runs, and stands beside the measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.made_captures import captured
from tidegate._identify.follows import follows
from tidegate._identify.predicted import Predicted, tried
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
