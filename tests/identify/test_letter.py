"""What is sent to a provider is what the capture shows, with evidence; else the reason to send nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import command
from support.made_captures import captured

if TYPE_CHECKING:
    from pathlib import Path

LINK = """
duration = "12 s"
seed = 7
[gate.link]
rate = "60 Mbit/s"
{gate}
delay = "10 ms"
[flow.a]
path = ["link"]
rtt = "40 ms"
{flow}
"""


def found(folder: Path, gate: str, flow: str = "") -> tg.Identification:
    return tg.identify(captured(LINK.format(gate=gate, flow=flow), folder / "a.pcap"))


def test_a_policer_is_told_with_its_numbers_evidence_and_questions(tmp_path: Path) -> None:
    it = found(tmp_path, 'police = { rate = "8 Mbit/s", burst = "60 kB" }')
    letter = it.letter()
    law, one = it.limits[0].law, it.directions[0]
    assert law.kind == "policer"
    words = " ".join(letter.split())
    assert words.startswith(f"{one.sender} to {one.receiver}.")
    assert all(" ".join(part.split()) in words for part in (law.sentence, *law.evidence))
    assert f"{one.lost} of {one.data_packets} packets" in words
    assert "(95%: " in words
    assert "Is this traffic policed" in words
    # A simulation has no date; a capture of 2026 has.
    assert "began" not in words
    dated = replace(it, start_s=1_795_867_200.5)
    assert "The capture began on 2026-11-28 at 12:00:00 UTC" in " ".join(dated.letter().split())


@pytest.mark.parametrize(
    ("flow", "why"),
    [
        ('app.constant = { rate = "3 Mbit/s", write = "7500 B" }', "no limit of the link was reached"),
        ('app.transfer = "4 kB"', "nothing to send"),
    ],
)
def test_where_the_link_limits_nothing_there_is_nothing_to_send(tmp_path: Path, flow: str, why: str) -> None:
    words = " ".join(found(tmp_path, 'queue = "300 kB"', flow).letter().split())
    assert "nothing to send" in words
    assert why in words
    assert "we ask" not in words


def test_a_law_whose_prediction_contradicts_the_capture_is_not_sent(tmp_path: Path) -> None:
    it = found(tmp_path, 'police = { rate = "8 Mbit/s", burst = "60 kB" }')
    far = [replace(each, range_bps=(9e8, 9e8)) for each in it.predicted]
    words = " ".join(replace(it, predicted=far).letter().split())
    assert "do not send" in words
    assert "we ask" not in words


def test_the_report_has_it(tmp_path: Path) -> None:
    it = found(tmp_path, 'police = { rate = "8 Mbit/s", burst = "60 kB" }')
    page = tmp_path / "page.html"
    command("identify", it.files[0], "--report", page)
    text = page.read_text(encoding="utf-8")
    assert text.count("<h2>What to send to a provider</h2>") == 1
    assert "Is this traffic policed" in text
