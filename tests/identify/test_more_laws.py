"""Policers of two buckets and behind queues, fair queues, marks, losses in bursts, and queues of ACKs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.made_captures import at_one_host, captured

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._identify.found import Law, Number

FLOW = """
[flow.a]
path = {path}
rtt = "40 ms"
tcp.cc = "{cc}"
{more}
"""
HEAD = 'duration = "20 s"\nseed = 3\n'


def law_of(text: str, place: Path, end: str = "sender") -> Law:
    near = captured(text, place)
    far = near.with_name(f"{near.stem}-receiver.pcap")
    found = tg.identify({"sender": [near], "receiver": [far], "both": [near, far]}[end])
    data = max(found.directions, key=lambda each: each.data_bytes)
    return found.limits[data.limit - 1].law


def holds(number: Number | None, truth: float) -> bool:
    assert number is not None
    return number.interval[0] <= truth <= number.interval[1]


@pytest.mark.parametrize("cc", ["cubic", "bbr", "reno"])
def test_a_policer_of_two_rates(tmp_path: Path, cc: str) -> None:
    gate = (
        '[gate.p]\nrate = "1 Gbit/s"\ndelay = "10 ms"\n'
        'police = { cir = "4 Mbit/s", cbs = "400 kB", pir = "12 Mbit/s", pbs = "20 kB" }'
    )
    law = law_of(HEAD + gate + FLOW.format(path='["p"]', cc=cc, more=""), tmp_path / "two.pcap")
    assert law.kind == "policer"
    assert holds(law.rate_bps, 4e6)
    assert holds(law.burst_bytes, 400e3)
    assert holds(law.peak_bps, 12e6)
    assert holds(law.peak_burst_bytes, 20e3)


@pytest.mark.parametrize(
    ("cc", "cir", "pir"), [("reno", 1, 3), ("bbr", 2, 4), ("bbr", 4, 12), ("cubic", 2, 10)]
)
def test_a_policer_of_two_rates_near_the_receiver(tmp_path: Path, cc: str, cir: int, pir: int) -> None:
    gate = (
        '[gate.p]\nrate = "1 Gbit/s"\ndelay = "10 ms"\n'
        f'police = {{ cir = "{cir} Mbit/s", cbs = "800 kB", pir = "{pir} Mbit/s", pbs = "20 kB" }}'
    )
    flow = FLOW.format(path='["p"]', cc=cc, more='app.request = { response = "1 MB", think = "1 s" }')
    law = law_of(HEAD + gate + flow, tmp_path / "two.pcap", "receiver")
    assert law.kind == "policer", law.sentence
    assert holds(law.rate_bps, cir * 1e6)
    assert holds(law.burst_bytes, 800e3)
    assert holds(law.peak_bps, pir * 1e6)
    assert holds(law.peak_burst_bytes, 20e3)


@pytest.mark.parametrize("seed", [1, 6])
@pytest.mark.parametrize(("jitter", "within"), [("200 us", 0.15), ("0 s", 0.0002)])
def test_a_peak_near_the_receiver_is_as_exact_as_its_times(
    tmp_path: Path, seed: int, jitter: str, within: float
) -> None:
    gate = (
        f'duration = "15 s"\nseed = {seed}\n[gate.p]\nqueue = "100 packets"\n'
        f'delay = "10 ms"\njitter = "{jitter}"\n'
        'rate.token_bucket = { rate = "10 Mbit/s", burst = "200 kB", peak = "100 Mbit/s" }'
    )
    flow = FLOW.format(path='["p"]', cc="cubic", more=f'start = "{7.3 * seed:.1f} ms"')
    law = law_of(gate + flow, tmp_path / "peak.pcap", "receiver")
    assert law.kind == "two rates"
    assert law.peak_bps is not None
    low, high = law.peak_bps.interval
    # Timestamps of 1 ms leave the peak open where jitter hides it in the gaps of neighbours.
    assert 1e8 * (1 - within) < low <= 1e8 <= high < 1e8 * (1 + 1.2 * within)
    assert holds(law.rate_bps, 1e7)
    assert holds(law.burst_bytes, 200e3)


@pytest.mark.parametrize("end", ["sender", "receiver", "both"])
@pytest.mark.parametrize("cc", ["cubic", "bbr"])
def test_a_policer_behind_a_queue(tmp_path: Path, cc: str, end: str) -> None:
    gates = (
        '[gate.q]\nrate = "20 Mbit/s"\nqueue = "60 kB"\n'
        '[gate.p]\nrate = "1 Gbit/s"\ndelay = "10 ms"\npolice = { rate = "12 Mbit/s", burst = "300 kB" }'
    )
    law = law_of(HEAD + gates + FLOW.format(path='["q", "p"]', cc=cc, more=""), tmp_path / "q.pcap", end)
    assert law.kind == "policer", law.sentence
    assert law.rate_bps is not None
    assert law.rate_bps.value == pytest.approx(12e6, rel=0.01)
    assert law.burst_bytes is not None
    assert law.burst_bytes.value == pytest.approx(300e3, rel=0.02)


def test_losses_beside_a_policer(tmp_path: Path) -> None:
    gate = (
        '[gate.link]\nrate = "1 Gbit/s"\ndelay = "10 ms"\nloss = 0.005\n'
        'police = { rate = "8 Mbit/s", burst = "80 kB" }'
    )
    text = HEAD.replace("seed = 3", "seed = 7") + gate
    law = law_of(text + FLOW.format(path='["link"]', cc="cubic", more=""), tmp_path / "loss.pcap")
    assert law.kind == "policer"
    assert holds(law.rate_bps, 8e6)
    assert holds(law.random_loss, 0.005)


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_losses_in_bursts(tmp_path: Path, end: str) -> None:
    gate = (
        '[gate.q]\nrate = "50 Mbit/s"\nqueue = "1 MB"\ndelay = "10 ms"\n'
        "loss.gilbert_elliott = { good_to_bad = 0.002, bad_to_good = 0.2, loss_good = 0, loss_bad = 1 }"
    )
    law = law_of(HEAD + gate + FLOW.format(path='["q"]', cc="bbr", more=""), tmp_path / "ge.pcap", end)
    assert law.drops == "random"
    assert law.loss_bursts is not None
    assert holds(law.loss_bursts[0], 0.002)
    assert holds(law.loss_bursts[1], 0.2)
    assert "bursts" in law.sentence


@pytest.mark.parametrize(
    ("loss", "every", "bursts"), [("0.004", None, False), ("{ every = 500 }", 500, False)]
)
def test_losses_that_are_random_or_periodic(
    tmp_path: Path, loss: str, every: int | None, bursts: bool
) -> None:
    gate = f'[gate.q]\nrate = "50 Mbit/s"\nqueue = "1 MB"\ndelay = "10 ms"\nloss = {loss}'
    law = law_of(HEAD + gate + FLOW.format(path='["q"]', cc="bbr", more=""), tmp_path / "loss.pcap")
    assert law.drops == "random"
    assert (law.loss_bursts is not None) == bursts
    assert law.loss_every == (None if every is None else pytest.approx(every, abs=1))


@pytest.mark.parametrize("end", ["sender", "receiver", "both"])
@pytest.mark.parametrize("queue", ["cake", "fq_codel"])
def test_a_link_that_serves_connections_in_turn(tmp_path: Path, queue: str, end: str) -> None:
    text = HEAD + (
        '[gate.q]\nrate = "20 Mbit/s"\nqueue.limit = "1000 packets"\ndelay = "10 ms"\n'
        f'queue.aqm = "{queue}"\n'
        + FLOW.format(path='["q"]', cc="cubic", more="")
        + FLOW.format(path='["q"]', cc="bbr", more='start = "1 s"').replace("flow.a", "flow.b")
    )
    law = law_of(text, tmp_path / "fair.pcap", end)
    assert law.fair, law.sentence
    assert law.rate_bps is not None
    assert law.rate_bps.value == pytest.approx(20e6, rel=0.01)
    assert holds(law.rate_bps, 20e6)


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_a_fair_link_s_rate_is_not_told_closer_than_gaps_tell_it(tmp_path: Path, end: str) -> None:
    flow = FLOW.format(path='["q"]', cc="cubic", more="")
    text = (
        HEAD.replace("seed = 3", "seed = 4")
        + '[gate.q]\nrate = "20 Mbit/s"\nqueue.aqm = "fq_codel"\ndelay = "15 ms"\njitter = "20 us"\n'
        + flow.replace("40 ms", "30 ms")
        + flow.replace("40 ms", "60 ms").replace("flow.a", "flow.b")
    )
    law = law_of(text, tmp_path / "fair.pcap", end)
    assert holds(law.rate_bps, 20e6), law.sentence


def test_connections_whose_acks_are_delayed_leave_a_link_its_rate(tmp_path: Path) -> None:
    gate = '[gate.q]\nrate = "50 Mbit/s"\nqueue = "200 kB"\ndelay = "10 ms"\n'
    flow = FLOW.format(path='["q"]', cc="cubic", more='count = 4\ntcp.base = "linux"')
    law = law_of(HEAD + gate + flow, tmp_path / "four.pcap")
    assert law.kind == "constant"
    assert holds(law.rate_bps, 50e6)


@pytest.mark.parametrize("cc", ["cubic", "reno", "bbr"])
def test_delayed_acks_of_several_connections_hide_neither_the_rate_nor_a_full_queue(
    tmp_path: Path, cc: str
) -> None:
    gate = '[gate.q]\nrate = "50 Mbit/s"\nqueue = "200 kB"\ndelay = "10 ms"\n'
    flow = FLOW.format(path='["q"]', cc=cc, more='count = 4\ntcp.base = "linux"')
    law = law_of(HEAD.replace("seed = 3", "seed = 4") + gate + flow, tmp_path / "four.pcap")
    assert (law.kind, law.drops) == ("constant", "queue full"), law.sentence
    assert holds(law.rate_bps, 50e6), law.sentence


def test_a_queue_that_connections_share_is_not_called_fair(tmp_path: Path) -> None:
    gate = '[gate.q]\nrate = "20 Mbit/s"\nqueue = "150 kB"\ndelay = "10 ms"\n'
    law = law_of(
        HEAD + gate + FLOW.format(path='["q"]', cc="cubic", more="count = 2"), tmp_path / "fifo.pcap"
    )
    assert not law.fair
    assert holds(law.rate_bps, 20e6)


@pytest.mark.parametrize("end", ["sender", "receiver", "both"])
def test_marks_of_a_step(tmp_path: Path, end: str) -> None:
    gate = (
        '[gate.q]\nrate = "10 Mbit/s"\nqueue.limit = "500 packets"\ndelay = "10 ms"\n'
        'queue.aqm.step = { threshold = "20 packets" }\n'
    )
    more = 'tcp.ecn = "accurate"'
    law = law_of(HEAD + gate + FLOW.format(path='["q"]', cc="dctcp", more=more), tmp_path / "step.pcap", end)
    assert holds(law.rate_bps, 10e6)
    assert law.marks is not None
    assert law.mark_threshold_s is not None
    # 20 packets of 1,500 bytes at 10 Mbit/s.
    assert law.mark_threshold_s.value == pytest.approx(0.024, abs=0.003)


@pytest.mark.parametrize("aqm", ["codel", "pie"])
def test_marks_of_an_aqm(tmp_path: Path, aqm: str) -> None:
    gate = (
        f'[gate.q]\nrate = "10 Mbit/s"\nqueue.limit = "500 packets"\nqueue.aqm = "{aqm}"\ndelay = "10 ms"\n'
    )
    more = 'tcp.ecn = "classic"'
    law = law_of(HEAD + gate + FLOW.format(path='["q"]', cc="cubic", more=more), tmp_path / "aqm.pcap")
    assert holds(law.rate_bps, 10e6)
    assert law.marks is not None
    assert law.mark_threshold_s is None
    assert law.drops == "early"


@pytest.mark.parametrize("end", ["sender", "receiver"])
@pytest.mark.parametrize("ecn", ["classic", "off"])
@pytest.mark.parametrize(
    ("aqm", "told"), [("codel", "codel"), ("pie", "at random"), ("dualpi2", "at random")]
)
def test_codel_is_told_from_what_draws_at_random(
    tmp_path: Path, aqm: str, told: str, ecn: str, end: str
) -> None:
    text = f"""
duration = "20 s"
seed = 3
gate.link = {{ rate = "10 Mbit/s", queue = {{ limit = "1000 packets", aqm = "{aqm}" }}, delay = "10 ms" }}
[flow.a]
path = ["link"]
rtt = "40 ms"
tcp.cc = "reno"
tcp.ecn = "{ecn}"
"""
    law = law_of(text, tmp_path / "a.pcap", end)
    # Where nearly all losses are of the start, which fills the queue, nothing tells.
    assert law.aqm in ({told, None} if aqm == "pie" and ecn == "off" else {told})
    assert (law.aqm is None) or (("It is a CoDel" in law.evidence[-1]) == (aqm == "codel"))


@pytest.mark.parametrize(("cc", "threshold", "rtt"), [("reno", 8, 30), ("reno", 16, 20), ("cubic", 14, 20)])
def test_a_step_is_told_near_the_sender_though_it_hides_marks(
    tmp_path: Path, cc: str, threshold: int, rtt: int
) -> None:
    text = f"""
duration = "20 s"
seed = 3
[gate.link]
rate = "20 Mbit/s"
queue.limit = "1000 packets"
queue.aqm.step = {{ threshold = "{threshold} ms" }}
delay = "10 ms"
[flow.a]
path = ["link"]
rtt = "{rtt} ms"
tcp.cc = "{cc}"
tcp.ecn = "classic"
"""
    law = law_of(text, tmp_path / "a.pcap", "sender")
    assert law.aqm is None
    assert law.mark_threshold_s is not None
    assert law.mark_threshold_s.value == pytest.approx(threshold / 1e3, abs=0.002)
    assert "At least" in law.sentence


def test_a_queue_that_is_full_has_no_aqm(tmp_path: Path) -> None:
    text = """
duration = "20 s"
seed = 3
gate.link = { rate = "10 Mbit/s", queue = "80 kB", delay = "10 ms" }
flow.a = { path = ["link"], rtt = "40 ms" }
"""
    assert law_of(text, tmp_path / "a.pcap").aqm is None


def test_a_queue_on_the_way_back_is_no_policer(tmp_path: Path) -> None:
    gates = (
        '[gate.down]\nrate = "30 Mbit/s"\nqueue = "100 kB"\ndelay = "20 ms"\n'
        '[gate.up]\nrate = "200 kbit/s"\nqueue = "100 kB"\ndelay = "20 ms"\n'
    )
    more = 'back = ["up"]'
    law = law_of(HEAD + gates + FLOW.format(path='["down"]', cc="cubic", more=more), tmp_path / "back.pcap")
    assert law.kind != "policer", law.sentence
    assert law.rate_bps is None or holds(law.rate_bps, 30e6), law.sentence


ASYMMETRIC = (
    HEAD + '[gate.down]\nrate = "20 Mbit/s"\nqueue = "100 packets"\ndelay = "10 ms"\n'
    '[gate.up]\nrate = "1 Mbit/s"\nqueue = "100 packets"\ndelay = "10 ms"\n'
    '[flow.a]\npath = ["down"]\nback = ["up"]\n[flow.b]\npath = ["up"]\nback = ["down"]\nstart = "5 s"\n'
)


def test_directions_of_an_asymmetric_line_are_told_apart(tmp_path: Path) -> None:
    near = captured(ASYMMETRIC, tmp_path / "line.pcap")
    found = tg.identify(near)
    assert len(found.limits) == 2
    assert holds(found.limits[0].law.rate_bps, 20e6)
    upward = found.limits[1].law.rate_bps
    # The ACKs of the other connection take a part.
    assert upward is not None
    assert 0.7e6 < upward.value < 1.01e6


def test_acks_of_a_download_count_where_an_upload_leaves_with_them(tmp_path: Path) -> None:
    near = captured(ASYMMETRIC, tmp_path / "line.pcap")
    host = at_one_host(near, tmp_path / "line-receiver.pcap", tmp_path / "host.pcap")
    found = tg.identify(host)
    down, up = (each.law for each in found.limits)
    assert down.kind == up.kind == "constant", (down.sentence, up.sentence)
    assert holds(down.rate_bps, 20e6)
    assert up.rate_bps is not None
    assert up.rate_bps.value == pytest.approx(1e6, rel=0.001)
    assert "ACKs of other connections" in up.evidence[-1]
    # ACKs that wait on their way back hold the sender no less than a congestion window does.
    assert found.directions[0].limited_by.get("application", 0.0) < 0.15
