"""Where a closed form exists, the simulation meets it."""

from __future__ import annotations

import math
from statistics import mean, stdev

import pytest
from support.common import summary

WIRE, PAYLOAD = 1500 * 8, 1460 * 8


@pytest.mark.parametrize("window", [1, 2, 7, 40, 150])
@pytest.mark.parametrize("cc", ["fixed", "newreno"])
def test_a_window_per_round_trip(window: int, cc: str) -> None:
    """Window-limited goodput is W / RTT; the round trip holds one service time, no queue."""
    result = summary(f"""
        duration = "60 s"
        warmup = "10 s"
        [gate.link]
        rate = "50 Mbit/s"
        delay = "20 ms"
        [flow.bulk]
        path = ["link"]
        rtt = "80 ms"
        tcp.cc = "{cc}"
        tcp.window = "{window} segments"
        tcp.delayed_ack = false
        tcp.base = "rfc"
        """)
    flow = result["flows"][0]
    expected = window * PAYLOAD / (0.080 + WIRE / 50e6)
    # The last round is cut off by the end.
    assert flow["goodput_bps"] == pytest.approx(expected, rel=2e-3)
    assert flow["rtt_p50_ms"] == pytest.approx(80.24, rel=1e-3) or window > 7
    assert flow["segments_retransmitted"] == 0


@pytest.mark.parametrize("window", [60, 100, 200])
def test_a_saturated_gate(window: int) -> None:
    """A window above the pipe keeps the gate busy for ever; what does not fit waits."""
    result = summary(f"""
        duration = "60 s"
        warmup = "10 s"
        [gate.link]
        rate = "6 Mbit/s"
        delay = "20 ms"
        [flow.bulk]
        path = ["link"]
        rtt = "80 ms"
        tcp.cc = "fixed"
        tcp.window = "{window} segments"
        tcp.delayed_ack = false
        tcp.base = "rfc"
        """)
    gate, flow = result["gates"][0], result["flows"][0]
    service = WIRE / 6e6
    assert gate["utilisation"] == pytest.approx(1, abs=service / 50)
    assert flow["goodput_bps"] == pytest.approx(6e6 * PAYLOAD / WIRE, rel=1e-4)
    # In the network: 80 ms of pipe, one in service, the rest waits.
    waiting = window - 0.080 / service - 1
    assert gate["queue_mean_packets"] == pytest.approx(waiting, abs=0.01)
    assert gate["queue_delay_mean_ms"] == pytest.approx(1e3 * waiting * service, rel=1e-3)
    assert flow["rtt_mean_ms"] == pytest.approx(1e3 * window * service, rel=1e-3)


def test_evenly_spaced_packets_never_wait() -> None:
    """D/D/1 below capacity, and exactly at it."""
    for rate in ("3 Mbit/s", "9.7 Mbit/s", "10 Mbit/s"):
        result = summary(f"""
            duration = "20 s"
            [gate.link]
            rate = "10 Mbit/s"
            [traffic.even]
            path = ["link"]
            source.constant.rate = "{rate}"
            """)
        gate = result["gates"][0]
        assert gate["queue_delay_mean_ms"] == 0
        assert gate["queue_max_packets"] == 0
        assert gate["utilisation"] == pytest.approx(float(rate.split()[0]) / 10, abs=1e-3)


def test_evenly_spaced_packets_above_capacity() -> None:
    """D/D/1 with load 5/4: after t the queue holds t/5 of what came."""
    result = summary("""
        duration = "20 s"
        [gate.link]
        rate = "12 Mbit/s"
        [traffic.even]
        path = ["link"]
        source.constant.rate = "15 Mbit/s"
        """)
    gate = result["gates"][0]
    assert gate["queue_max_packets"] == pytest.approx(20 * 250, abs=2)
    assert gate["utilisation"] == pytest.approx(1, abs=1e-4)


#: Student's t for 99.9% and 19 degrees of freedom.
T_19 = 3.883


@pytest.mark.parametrize(("load", "seconds"), [(0.3, 100), (0.6, 200), (0.9, 1500)])
def test_poisson_packets_wait_as_pollaczek_and_khinchine_say(load: float, seconds: int) -> None:
    """M/D/1: the mean wait is load · service / (2 (1 - load)); 99.9% interval of 20 replications."""
    text = f"""
        duration = "{seconds + 20} s"
        warmup = "20 s"
        [gate.link]
        rate = "12 Mbit/s"
        [traffic.random]
        path = ["link"]
        source.poisson.rate = "{12 * load:g} Mbit/s"
        """
    runs = [summary(text, seed=2024, replication=n)["gates"][0] for n in range(20)]
    waits = [gate["queue_delay_mean_ms"] for gate in runs]
    expected = load * 1.0 / (2 * (1 - load))
    half = T_19 * stdev(waits) / math.sqrt(len(waits))
    assert half < 0.1 * expected, "too few packets to say anything"
    assert abs(mean(waits) - expected) < half, f"{mean(waits)} ± {half}, expected {expected}"
    # Little: the mean queue is the arrival rate times the mean wait.
    queue = mean(gate["queue_mean_packets"] for gate in runs)
    assert queue == pytest.approx(load * mean(waits), rel=0.01)
    assert mean(gate["utilisation"] for gate in runs) == pytest.approx(load, rel=0.01)


@pytest.mark.parametrize("initial", [1, 2, 10])
def test_slow_start_doubles_every_round(initial: int) -> None:
    """On a path without a rate the n-th round takes one RTT and sends 2^(n-1) initial windows."""
    for rounds in range(1, 9):
        for extra, more in ((0, 0), (1, 1)):
            segments = initial * (2**rounds - 1) + extra
            result = summary(f"""
                duration = "3 s"
                [gate.path]
                delay = "25 ms"
                [flow.file]
                path = ["path"]
                rtt = "100 ms"
                app.transfer = "{segments * 1460} B"
                tcp.initial_window = "{initial} segments"
                tcp.delayed_ack = false
                tcp.base = "rfc"
                """)
            # The handshake takes a round trip; the last segment 25 ms to arrive.
            expected = 0.1 * (rounds + more) + 0.025
            assert result["flows"][0]["completion_s"] == pytest.approx(expected, abs=1e-9), (rounds, extra)


@pytest.mark.parametrize("peak", ["", ', peak = "100 Mbit/s"'])
def test_a_token_bucket_gives_its_burst_and_then_its_rate(peak: str) -> None:
    """Under backlog, burst + rate · t has passed by t, at no more than the peak."""
    for milliseconds in (1, 7, 20, 60, 100, 500, 2000):
        result = summary(f"""
            duration = "{milliseconds} ms"
            [gate.shaper]
            rate.token_bucket = {{ rate = "5 Mbit/s", burst = "150 kB"{peak} }}
            [traffic.flood]
            path = ["shaper"]
            source.constant.rate = "200 Mbit/s"
            """)
        seconds = milliseconds / 1000
        arrived = 200e6 / 8 * seconds
        allowed = min(arrived, 150e3 + 5e6 / 8 * seconds)
        if peak:
            allowed = min(allowed, 100e6 / 8 * seconds)
        passed = result["gates"][0]["delivered_bytes"]
        assert allowed - 2 * 1500 < passed <= allowed + 1500, milliseconds


@pytest.mark.parametrize("every", [1, 2])
def test_the_square_root_law(every: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Reno under random loss: MSS/RTT · C/√p (Mathis et al., 1997).

    C = √(3/2) = 1.22 with an ACK per segment and √(3/4) = 0.87 with one for two, for losses that come
    regularly; random ones allow about a tenth more (1.31 with an ACK per segment).
    """
    classic = math.sqrt(1.5 / every)
    for loss in (0.0003, 0.001, 0.003):
        text = f"""
            duration = "1500 s"
            warmup = "50 s"
            [gate.link]
            rate = "1 Gbit/s"
            loss = {loss}
            delay = "20 ms"
            [flow.bulk]
            path = ["link"]
            rtt = "80 ms"
            tcp.cc = "reno"
            tcp.initial_ssthresh = "60 segments"
            tcp.increase = "per ack"
            tcp.delayed_ack = {"false" if every == 1 else "true"}
            tcp.base = "rfc"
            """
        goodput = mean(summary(text, seed=n)["flows"][0]["goodput_bps"] for n in range(3))
        constant = goodput / PAYLOAD * 0.080 * math.sqrt(loss)
        with capsys.disabled():
            print(
                f"\n  p = {loss}, an ACK for {every}: C = {constant:.3f}, regular losses {classic:.3f}",
                end="",
            )
        assert 0.93 * classic < constant < 1.2 * classic
