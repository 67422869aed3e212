"""Transports in Python between the gates of a scenario."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import tidegate as tg

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "network.md"
LINK: dict[str, Any] = {
    "duration": "10 s",
    "seed": 1,
    "gate": {"link": {"rate": "10 Mbit/s", "queue": "20 packets"}},
    "flow": {"mine": {"path": ["link"], "rtt": "20 ms"}},
}


def windowed(packets: int, **changes: Any) -> tuple[tg.Run, list[tg.Step]]:
    """A sender with so many packets in flight, each of which is acknowledged."""
    net = tg.Network(LINK | changes)
    drops = []
    for step in net:
        assert step.time == net.now
        if step.kind == "drop":
            drops.append(step)
        elif step.kind == "start":
            for _ in range(packets):
                net.send("mine", "sender", bytes(1200))
        elif step.end == "receiver":
            net.delivered("mine", len(step.data))
            net.send("mine", "receiver", b"ack")
        else:
            net.send("mine", "sender", bytes(1200))
    return net.finish(), drops


def test_a_window_limits_what_a_window_limits() -> None:
    run, drops = windowed(8)
    row = run.flows["mine"]
    # Eight packets in 20 ms and the time that one of them takes on the link.
    assert row["goodput_bps"] == pytest.approx(8 * 1200 * 8 / 0.021, rel=0.01)
    assert row["limited_by"]["congestion window"] > 0.99
    assert row["cc"] == "hosted"
    assert not drops
    assert not run.warnings


@pytest.mark.parametrize("seed", range(1, 5))
def test_each_packet_arrives_or_its_drop_is_told(seed: int) -> None:
    """Packets refused at one instant are known after a random loss that comes later."""
    gates = {
        "far": {"delay": "10 ms"},
        "link": {"rate": "10 Mbit/s", "queue": "2 packets", "loss": 0.5},
    }
    net = tg.Network(LINK | {"seed": seed, "gate": gates, "flow": {"mine": {"path": ["far", "link"]}}})
    arrived, drops = 0, []
    for step in net:
        if step.kind == "start":
            for number in range(12):
                net.send("mine", "sender", bytes(1000 + number))
        elif step.kind == "drop":
            drops.append(step)
        elif step.end == "receiver":
            arrived += 1
    assert arrived + len(drops) == 12
    assert [step.time for step in drops] == sorted(step.time for step in drops)
    refused = [len(step.data) for step in drops if step.reason == "queue full"]
    assert len(refused) > 5
    assert refused == sorted(refused)
    assert net.finish().flows["mine"]["dropped_packets"] == len(drops)


def test_a_full_queue_limits_and_its_drops_are_told() -> None:
    run, drops = windowed(40)
    row = run.flows["mine"]
    assert 9e6 < row["goodput_bps"] < row["throughput_bps"] <= 10e6
    assert len(drops) == row["dropped_packets"]
    assert {(step.end, step.gate, step.reason, len(step.data)) for step in drops} == {
        ("sender", "link", "queue full", 1200)
    }
    longer = {"link": {"rate": "10 Mbit/s", "queue": "60 packets"}}
    run, drops = windowed(40, gate=longer)
    assert run.flows["mine"]["limited_by"]["gate.link"] > 0.99
    assert not drops


def test_it_is_the_same_again_with_rows(tmp_path: Path) -> None:
    once, again = (windowed(8, record={"every": "10 ms"})[0] for _ in range(2))
    assert once.summary == again.summary
    columns = once.flows["mine"].series("delivered")
    assert len(columns) > 900
    once.plot(tmp_path / "a.png")
    once.save(tmp_path / "run")
    assert tg.open(tmp_path / "run").summary == once.summary


@pytest.mark.parametrize(("headers", "starts"), [(28, b"\x45"), (0, b"\x00")])
def test_a_capture_has_its_packets(tmp_path: Path, headers: int, starts: bytes) -> None:
    net = tg.Network(LINK, pcap=tmp_path / "a.pcap")
    for step in net:
        if step.kind == "start":
            net.send("mine", "sender", bytes(range(100)), ecn=2, headers=headers)
    assert net.finish().pcap == tmp_path / "a.pcap"
    for name in ("a.pcap", "a-receiver.pcap"):
        # A header of 24 bytes, one of 16 for the only packet, and the packet.
        packet = (tmp_path / name).read_bytes()[40:]
        assert packet[:1] == starts
        assert packet[headers:] == bytes(range(100))
        if headers:
            # ECT(0), UDP, and the length of the datagram.
            assert (packet[1], packet[9], int.from_bytes(packet[24:26])) == (2, 17, 108)


def test_an_alarm_is_never_early() -> None:
    net = tg.Network(LINK | {"duration": "1 s"})
    asked = [0.1, 0.123456789012345, 1 / 3, 0.7 - 1e-13]
    heard = []
    for step in net:
        if step.kind == "alarm":
            heard.append(step.time)
        due = [at for at in asked if at > net.now]
        net.alarm("mine", "receiver", due[0] if due else None)
    assert len(heard) == len(asked)
    assert all(0 <= at - due < 2e-12 for at, due in zip(heard, asked, strict=True))


def test_an_alarm_takes_the_place_of_the_one_before() -> None:
    net = tg.Network(LINK | {"duration": "1 s"})
    for step in net:
        if step.kind == "start":
            net.alarm("mine", "sender", 0.2)
            net.alarm("mine", "sender", 0.4)
            net.alarm("mine", "receiver", 0.3)
            net.alarm("mine", "receiver", None)
        else:
            assert (step.kind, step.end, step.time) == ("alarm", "sender", 0.4)


def test_a_packet_leaves_when_it_says_and_marks_come_through() -> None:
    net = tg.Network(LINK)
    for step in net:
        if step.kind == "start":
            net.send("mine", "sender", b"later", ecn=2, at=0.5)
        else:
            assert step.data == b"later"
            assert step.ecn == 2
            # 33 bytes at 10 Mbit/s; the round trip is all on the way back.
            assert step.time == pytest.approx(0.5 + 33 * 8 / 10e6, abs=1e-12) or step.time > 0.5
            break
    assert net.finish().flows["mine"]["limited_by"]["pacing"] > 0


def test_what_it_reports_is_in_the_columns() -> None:
    net = tg.Network(LINK | {"record": {"every": "100 ms"}})
    for step in net:
        if step.kind == "start":
            net.report("mine", window=14480, srtt=0.02, rtt=0.025, lost=3, timeouts=1, held_by="pacing")
    run = net.finish()
    row = run.flows["mine"]
    assert (row["cwnd_max_segments"], row["rtt_p50_ms"]) == pytest.approx((10, 25), rel=0.01)
    assert (row["segments_retransmitted"], row["timeouts"]) == (3, 1)


def test_others_keep_the_scenarios_tcp() -> None:
    flows = {"mine": LINK["flow"]["mine"], "theirs": {"path": ["link"], "rtt": "20 ms"}}
    net = tg.Network(LINK | {"flow": flows}, flows=["mine"])
    assert net.flows == ("mine",)
    assert {step.flow for step in net} == {"mine"}
    run = net.finish()
    assert run.flows["theirs"]["goodput_bps"] > 9e6
    assert run.flows["mine"]["goodput_bps"] == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda net: net.send("his", "sender", b"x"), "flow: 'his' is none of yours; one of mine"),
        (lambda net: net.send("mine", "client", b"x"), 'end: \'client\'; give "sender" or "receiver"'),
        (
            lambda net: net.send("mine", "sender", bytes(70_000)),
            "data: a packet of 70028 bytes; from 1 to 65535",
        ),
        (lambda net: net.send("mine", "sender", b"x", ecn=4), "ecn: 4 is out of range"),
        (lambda net: net.send("mine", "sender", b"x", held_by="fate"), "held_by: 'fate'; one of application"),
        (lambda net: net.alarm("mine", "sender", float("nan")), "at: nan s is out of range"),
        (lambda net: net.delivered("mine", -1), "count: -1 is out of range"),
        (lambda net: net.report("mine", window=-1), "window: -1 bytes"),
        (lambda net: (net.finish(), net.now), "this run is over"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(wrong: Any, said: str) -> None:
    net = tg.Network(LINK)
    with pytest.raises(tg.errors.ArgumentError, match=re.escape(said)):
        wrong(net)


def test_a_scenario_that_cannot_be_is_refused() -> None:
    with pytest.raises(tg.errors.ArgumentError, match="flows: there is no flow 'his'; one of mine"):
        tg.Network(LINK, flows=["his"])
    with pytest.raises(tg.errors.ArgumentError, match="flows: name one at least; there is mine"):
        tg.Network(LINK, flows=[])


def test_a_run_until_done_ends_when_what_is_sent_has_come() -> None:
    transfer = {"mine": LINK["flow"]["mine"] | {"app": {"transfer": "600 kB"}}}
    run, _ = windowed(8, flow=transfer, duration="until done", record={"every": "10 ms"})
    row = run.flows["mine"]
    # 500 packets, eight in each 21 ms, of a flow that is done: the same in a run that is known to be so long.
    assert row["completion_s"] == pytest.approx(500 / 8 * 0.021, rel=0.01)
    assert run.summary["duration_s"] == pytest.approx(row["completion_s"], abs=1e-9)
    assert row["goodput_bps"] == pytest.approx(600_000 * 8 / row["completion_s"])
    assert len(run.flows["mine"].series("delivered")) == 1 + int(row["completion_s"] * 100)
    assert not run.warnings
    limited = {"duration": "1 s"}
    run, _ = windowed(8, flow=transfer, duration="until done", limits=limited)
    assert run.summary["duration_s"] == 1
    assert any("done" in text for text in run.warnings)


def wake_again_and_again(net: tg.Network) -> None:
    for _ in net:
        net.alarm("mine", "receiver", 0)


def send_again_and_again(net: tg.Network) -> None:
    while True:
        net.send("mine", "sender", b"x")


@pytest.mark.parametrize(
    ("does", "said"),
    [(wake_again_and_again, "receiver never sleeps"), (send_again_and_again, "sender sends without end")],
)
def test_an_end_that_misbehaves_is_named(does: Any, said: str) -> None:
    with pytest.raises(tg.errors.RunError, match=rf"flow\.mine: at 0 s the transport of its {said}"):
        does(tg.Network(LINK))


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (lambda net: net.send("mine", "sender", "text"), "data: 'text' is no bytes"),
        (lambda net: net.send("mine", "sender", b"x", at="1 s"), "at: '1 s' is no number of seconds"),
        (lambda net: net.alarm("mine", "sender", "soon"), "at: 'soon' is no number of seconds"),
        (lambda net: net.report("mine", window="3"), "window: '3' bytes; give a number from 0 on"),
        (lambda net: net.report("mine", rtt=-1), "rtt: -1 s is below 0"),
        (lambda net: net.delivered("mine", 1), "count: 1 bytes more are more than have arrived"),
    ],
)
def test_what_a_transport_says_wrongly_is_named(does: Any, said: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=re.escape(said)):
        does(tg.Network(LINK))


def test_quic_of_the_guide_fills_most_of_its_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty lines drive aioquic, and its run is the same again to the packet."""
    pytest.importorskip("aioquic")
    monkeypatch.chdir(ROOT)
    block = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.S | re.M)[1]
    assert len(block.splitlines()) <= 42
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)
    row = names["run"].flows["bulk"]
    assert 5e6 < row["goodput_bps"] < row["throughput_bps"] < 20e6
    assert row["dropped_packets"] == row["policed_packets"]
