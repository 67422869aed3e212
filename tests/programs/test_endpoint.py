"""One TCP endpoint by hand: what it takes, what it refuses, what it tells."""

from __future__ import annotations

import doctest
from fractions import Fraction
from typing import Any

import pytest
import tidegate as tg

PLAIN: dict[str, Any] = {"mss": "1000 B", "handshake": False}


def test_the_example_of_the_module() -> None:
    assert doctest.testmod(tg.tcp).failed == 0


def test_both_ends_shake_hands() -> None:
    client = tg.tcp.Endpoint("active", base="rfc", mss="1000 B")
    server = tg.tcp.Endpoint("passive", base="rfc", mss="1000 B")
    client.write(0, 500)
    (syn,) = client.poll(0)
    assert (syn.seq, syn.ack, syn.flags, syn.payload) == (0, 0, "SYN", 0)
    server.receive("20 ms", flags=syn.flags)
    (answer,) = server.poll("20 ms")
    assert (answer.seq, answer.ack, answer.flags) == (0, 1, "SYN ACK")
    client.receive("40 ms", flags=answer.flags)
    (data,) = client.poll("40 ms")
    assert (data.seq, data.ack, data.payload, data.flags) == (1, 1, 500, "PSH ACK")
    server.receive("60 ms", payload=500)
    assert server.state.connection == client.state.connection == "ESTABLISHED"
    assert server.state.in_order_bytes == 500
    assert client.state.srtt_s == 0.04


def test_times_are_seconds_or_texts() -> None:
    for at in (0.02, "20 ms", Fraction(1, 50), "0.02 s"):
        end = tg.tcp.Endpoint(**PLAIN)
        assert end.poll("0 s") == []
        end.write(at, 100)
        assert [sent.time_s for sent in end.poll(1)] == [0.02], at


def test_timers_run_in_the_order_of_time() -> None:
    end = tg.tcp.Endpoint(base="rfc", **PLAIN)
    end.write(0, 1000)
    sent = end.poll(10)
    assert [(each.time_s, each.retransmission) for each in sent] == [
        (0, False),
        (1, True),
        (3, True),
        (7, True),
    ]
    assert (end.state.timeouts, end.state.rto_s, end.state.next_timer_s) == (3, 8, 15)
    assert str(sent[1]) == "1.000000 s PSH ACK 1:1001(1000) ack 1 again"


def test_at_one_instant_what_arrives_comes_before_a_timer() -> None:
    end = tg.tcp.Endpoint(**PLAIN)
    end.write(0, 1000)
    end.receive(1, ack=1001)
    assert len(end.poll(1)) == 1
    late = tg.tcp.Endpoint(**PLAIN)
    late.write(0, 1000)
    late.poll(1)
    late.receive(1, ack=1001)
    assert late.state.segments_retransmitted == 1


def test_the_state_counts_what_sack_reports() -> None:
    end = tg.tcp.Endpoint(base="linux", cc="reno", **PLAIN)
    end.write(0, 20_000)
    end.receive("50 ms", sack=[(3001, 6001)], timestamps=(50, 1))
    state = end.state
    assert (state.outstanding_segments, state.sacked_segments, state.lost_segments) == (10, 3, 3)
    assert (state.phase, state.retransmitted_segments) == ("recovery", 1)
    assert (state.ca_state, state.reordering_segments, state.delivered_ce_segments) == ("Recovery", 3, 0)
    assert "recovery" in repr(end)


def test_the_state_has_the_names_of_the_kernel() -> None:
    """Disorder while segments are SACKed, CWR while the window is reduced for a mark."""
    end = tg.tcp.Endpoint(base="linux", cc="reno", ecn="classic", **PLAIN)
    end.write(0, 20_000)
    end.poll(0)
    assert end.state.ca_state == "Open"
    end.receive("50 ms", sack=[(8001, 9001)])
    assert end.state.ca_state == "Disorder"
    end.receive("51 ms", sack=[(3001, 4001), (8001, 9001)])
    assert end.state.reordering_segments == 6
    end.receive("52 ms", ack=9001, flags="ACK ECE")
    assert (end.state.ca_state, end.state.delivered_ce_segments) == ("CWR", 7)


def test_the_state_sums_what_held_the_sender_back() -> None:
    """Ten segments leave, five more fill the receiver's window, and the last two wait for it to open."""
    end = tg.tcp.Endpoint(base="linux", cc="reno", **PLAIN)
    end.write("10 ms", 17_000)
    end.receive("60 ms", ack=10_001, window=5000)
    assert (end.state.held_by, end.state.busy_s, end.state.receiver_limited_s) == ("receiver window", 0.05, 0)
    end.receive("90 ms", ack=10_001, window=7000)
    end.receive("120 ms", ack=17_001)
    end.poll("200 ms")
    state = end.state
    assert (state.busy_s, state.receiver_limited_s) == (0.11, 0.03)
    # Before the write and after the last segment has left.
    assert state.application_limited_s == pytest.approx(0.01 + 0.11)
    end.close("200 ms")
    end.poll("300 ms")
    assert end.state.application_limited_s == pytest.approx(0.12)


def test_paced_data_leave_one_after_the_other() -> None:
    end = tg.tcp.Endpoint(base="rfc", cc="fixed_rate", rate="8 Mbit/s", **PLAIN)
    end.write(0, 30_000)
    times = [sent.time_s for sent in end.poll("20 ms")]
    assert times[-1] - times[-2] == pytest.approx(0.001)
    assert (end.state.pacing_bps, end.state.held_by) == (8_000_000, "pacing")


def test_a_connection_ends() -> None:
    client, server = tg.tcp.Endpoint(base="rfc", **PLAIN), tg.tcp.Endpoint("passive", base="rfc", **PLAIN)
    client.write(0, 1500)
    client.shutdown(0)
    _, last, fin = client.poll(0)
    assert (last.flags, fin.flags, fin.seq, fin.payload) == ("PSH ACK", "FIN ACK", 1501, 0)
    server.receive("20 ms", payload=1000)
    server.receive("20 ms", payload=500)
    server.receive("20 ms", flags="FIN ACK")
    assert (server.state.connection, server.state.in_order_bytes) == ("CLOSE-WAIT", 1500)
    server.close("20 ms")
    *_, answer = server.poll("20 ms")
    assert (answer.flags, answer.ack, server.state.connection) == ("FIN ACK", 1502, "LAST-ACK")
    client.receive("40 ms", ack=1502, flags="FIN ACK")
    (ack,) = client.poll("40 ms")
    assert (ack.flags, ack.ack, client.state.connection) == ("ACK", 2, "TIME-WAIT")
    assert (client.state.acked_bytes, client.state.next_timer_s) == (1500, 240.04)
    server.receive("60 ms", ack=2)
    assert server.state.connection == "CLOSED"
    with pytest.raises(
        tg.errors.ArgumentError, match="write: this end has ended its stream, and is TIME-WAIT"
    ):
        client.write("70 ms", 1)
    server.abort("70 ms")
    assert server.poll("70 ms") == []


def test_an_abort_is_a_reset() -> None:
    end = tg.tcp.Endpoint(base="rfc", **PLAIN)
    end.write(0, 1500)
    end.abort("5 ms")
    assert str(end.poll("5 ms")[-1]) == "0.005000 s RST ACK 1501:1501(0) ack 1"
    assert (end.state.connection, end.state.in_flight_bytes) == ("CLOSED", 0)
    end.receive("9 ms", flags="RST", seq=1)
    assert end.poll("9 ms") == []


def test_a_receiver_reports_what_it_has() -> None:
    end = tg.tcp.Endpoint("passive", base="linux", **PLAIN)
    end.receive(0, seq=2001, payload=1000, timestamps=(7, 0))
    (ack,) = end.poll(0)
    assert (ack.ack, ack.sack, ack.timestamps) == (1, ((2001, 3001),), (1, 0))
    assert "sack 2001:3001 timestamps 1 0" in str(ack)


def test_accurate_marks_are_counted_in_bytes() -> None:
    receiver = tg.tcp.Endpoint("passive", ecn="accurate", delayed_ack=False, **PLAIN)
    receiver.receive(0, payload=1000, ecn="ECT(0)")
    receiver.receive(0, seq=1001, payload=500, ecn="CE")
    first, second = receiver.poll(0)
    assert (first.accecn, second.accecn) == ((("EE0B", 1001),), (("EE0B", 1001), ("ECEB", 500)))
    assert "accecn EE0B 1001 ECEB 500" in str(second)
    sender = tg.tcp.Endpoint("active", ecn="accurate", initial_window="20 segments", **PLAIN)
    sender.write(0, 20_000)
    sender.poll(0)
    # Of ten segments two were marked: the counter alone could mean ten.
    sender.receive("20 ms", flags="ACK AE CWR ECE", ack=10_001, accecn=[("EE0B", 8001), ("ECEB", 2000)])
    assert (sender.state.ecn_reductions, sender.state.delivered_ce_segments) == (1, 2)
    without = tg.tcp.Endpoint("passive", ecn="accurate", accecn_option=False, delayed_ack=False, **PLAIN)
    without.receive(0, payload=1000, ecn="ECT(0)")
    assert [sent.accecn for sent in without.poll(0)] == [None]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda end: end.write(1, 1), "at: 1 s is before 2 s"),
        (lambda end: end.poll("1 s"), "until: 1 s is before 2 s"),
        (lambda end: end.write(3, -1), "bytes: -1 is out of range"),
        (lambda end: end.write(3, 1.5), "bytes: 1.5 is not a whole number"),
        (lambda end: end.write("soon", 1), "at: "),
        (lambda end: end.write(-1, 1), "at: -1 s is out of range"),
        (lambda end: end.write(float("nan"), 1), "at: nan s is out of range"),
        (lambda end: end.write(None, 1), "at: None is no time"),
        (
            lambda end: end.receive(3, flags="ACK URGENT"),
            "flags: 'URGENT' is not known; some of FIN, SYN, RST, PSH, ACK",
        ),
        (lambda end: end.receive(3, payload=70_000), "payload: 70000 is out of range"),
        (lambda end: end.receive(3, seq=2**32), "seq: 4294967296 is out of range"),
        (lambda end: end.receive(3, sack=[1]), "sack: 1 is not a pair of numbers"),
        (lambda end: end.receive(3, sack=[(1, 2)] * 5), "sack: 5 blocks; at most 4"),
        (lambda end: end.receive(3, timestamps=(1, "x")), "timestamps: 'x' is not a whole number"),
        (lambda end: end.receive(3, accecn=[("ECEB", 1)]), "accecn: read ECEB; write EE0B, ECEB, EE1B or"),
        (lambda end: end.receive(3, accecn=[("EE0B", 2**24)]), "accecn: EE0B: 16777216 is out of range"),
        (lambda end: end.receive(3, accecn=5), "accecn: 5 is not pairs of a name and a number"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, message: str) -> None:
    end = tg.tcp.Endpoint(**PLAIN)
    end.poll(2)
    with pytest.raises(tg.errors.ArgumentError) as refused:
        call(end)
    assert message in str(refused.value)


def test_wrong_keys_are_named_as_in_scenarios() -> None:
    with pytest.raises(tg.errors.ScenarioError, match="did you mean cc"):
        tg.tcp.Endpoint(ccc="reno")
    with pytest.raises(tg.errors.ScenarioError, match=r"tcp\.mss: 1000 has no unit"):
        tg.tcp.Endpoint(mss=1000)
    with pytest.raises(tg.errors.ArgumentError, match='role: "listener" is not known'):
        tg.tcp.Endpoint("listener")
    with pytest.raises(tg.errors.EngineError, match="yeah"):
        tg.tcp.Endpoint(cc="yeah")
