"""Theories of one TCP connection: policers, random loss, RFC 6349; against simulations and by hand."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest
import tidegate as tg
from tidegate._ask.source import as_scenario
from tidegate._base.estimate import Estimate, estimate

RUNS = 8
#: A rate that limits no window of these tests.
RATE = "100 Mbit/s"


def policed(rate_mbps: float, rtt_ms: float, bucket_bdp: float, **tcp: Any) -> dict[str, Any]:
    """Return a scenario of one NewReno behind a policer."""
    burst = int(rate_mbps * rtt_ms * 125 * bucket_bdp)
    return {
        "duration": "100 s",
        "warmup": "30 s",
        "seed": 1,
        "gate": {
            "isp": {
                "rate": "10 Gbit/s",
                "police": {"rate": f"{rate_mbps} Mbit/s", "burst": f"{burst} B"},
                "delay": f"{rtt_ms / 2} ms",
            }
        },
        "flow": {
            "bulk": {
                "path": ["isp"],
                "start": {"uniform": ["0 s", "1 s"]},
                "tcp": {"base": "rfc", "cc": "newreno", **tcp},
            }
        },
    }


def losing(cc: str, loss: float, rtt_ms: float, **tcp: Any) -> dict[str, Any]:
    """Return a scenario of one connection with random loss."""
    return {
        "duration": "150 s",
        "warmup": "20 s",
        "seed": 1,
        "gate": {"air": {"loss": loss, "delay": f"{rtt_ms / 2} ms"}},
        "flow": {"bulk": {"path": ["air"], "tcp": {"base": "rfc", "cc": cc, **tcp}}},
    }


def fits(scenario: dict[str, Any]) -> dict[str, tg.theory.Fit]:
    return {each.theory: each for each in tg.theory.match(scenario) if isinstance(each, tg.theory.Fit)}


def simulated(scenario: dict[str, Any], column: str = "goodput_bps") -> Estimate:
    rows = [tg.run(scenario, replication=n).flows["bulk"][column] for n in range(RUNS)]
    return estimate(rows)


def over(scenario: dict[str, Any], theory: str) -> tuple[float, float]:
    """Return the interval of simulation over theory."""
    told = fits(scenario)[theory].flows[0]["goodput_bps"]
    found = simulated(scenario)
    assert found.mean is not None
    half = found.half_width or 0.0
    return (found.mean - half) / told, (found.mean + half) / told


@pytest.mark.parametrize("growth", [1, 0.5])
@pytest.mark.parametrize("bdp", [20, 90, 400])
def test_both_regimes_meet(bdp: float, growth: float) -> None:
    edge = bdp * bdp / (18 * growth)
    below = tg.theory.policer(edge * (1 - 1e-9), bdp, growth=growth)
    above = tg.theory.policer(edge * (1 + 1e-9), bdp, growth=growth)
    assert (below.always_used, above.always_used) == (False, True)
    assert below.share == pytest.approx(1, abs=1e-6) == above.share
    assert below.window_max == pytest.approx(4 * bdp / 3) == above.window_max
    # By hand: 0.75 (1 + sqrt(2 a b) / B).
    some = tg.theory.policer(edge / 4, bdp, growth=growth)
    assert some.share == pytest.approx(0.75 * (1 + sqrt(2 * growth * edge / 4) / bdp))


def test_tokens_are_not_made() -> None:
    """By stepping the model itself: a window that grows, a bucket that fills, no closed form."""
    for bucket, bdp, growth in ((50, 80, 1.0), (300, 80, 1.0), (1000, 80, 0.5), (2000, 80, 1.0)):
        step, tokens, window, passed, time = 0.01, float(bucket), bdp / 2, 0.0, 0.0
        peak = 0.0
        for n in range(300_000):
            tokens = min(bucket, tokens + (bdp - window) * step)
            if n > 100_000:
                passed, time, peak = passed + window * step, time + step, max(peak, window)
            window += growth * step
            if tokens < 0:
                tokens, window = 0.0, window / 2
        found = tg.theory.policer(bucket, bdp, growth=growth)
        assert passed / time / bdp == pytest.approx(found.share, rel=0.01)
        assert peak == pytest.approx(found.window_max, rel=0.01)


def test_the_inverse() -> None:
    for paced in (True, False):
        for wanted in (0.8, 0.9, 0.99):
            bucket = tg.theory.policer_bucket(wanted, 83, paced=paced)
            assert tg.theory.policer(bucket, 83, paced=paced).share == pytest.approx(wanted, rel=1e-6)
            assert tg.theory.policer(0.99 * bucket, 83, paced=paced).share < wanted
    for share in (0, 1):
        with pytest.raises(tg.errors.ArgumentError, match=f"wanted: {share} is .*; above 0 and below 1"):
            tg.theory.policer_bucket(share, 83)
    with pytest.raises(tg.errors.ArgumentError, match="bucket"):
        tg.theory.policer("8 kB", 83)


@pytest.mark.parametrize("tcp", [{}, {"increase": "per ack"}], ids=["bytes", "acks"])
@pytest.mark.parametrize(("rate", "rtt"), [(10, 100), (20, 40), (50, 60)])
@pytest.mark.parametrize("ratio", [1.5, 4])
def test_a_policer_and_its_simulation(rate: float, rtt: float, ratio: float, tcp: dict[str, Any]) -> None:
    scenario = policed(rate, rtt, ratio, **tcp)
    low, high = over(scenario, "policer")
    assert high > 0.98
    assert low < 1.025
    told = fits(scenario)["policer"].result
    lost = estimate(tg.run(scenario, replication=n).gates["isp"]["loss"] for n in range(RUNS)).mean or 0
    assert lost == pytest.approx(told.loss, rel=0.35)


@pytest.mark.parametrize(("rate", "rtt"), [(10, 100), (50, 60)])
@pytest.mark.parametrize("ratio", [0.25, 1, 4])
def test_a_paced_sender(rate: float, rtt: float, ratio: float) -> None:
    low, high = over(policed(rate, rtt, ratio, pacing=True), "policer")
    assert high > 0.96
    assert low < 1.02


def test_where_it_breaks_it_says_so() -> None:
    small = fits(policed(10, 100, 0.5))["policer"]
    assert any("below a round trip's 83.3" in text for text in small.unmet)
    low, high = over(policed(10, 100, 0.5), "policer")
    assert 1.0 < low <= high < 1.4
    tiny = fits(policed(1.5, 100, 8000 / 18750))["policer"]
    assert any("time-outs" in text for text in tiny.unmet)


@pytest.mark.parametrize(
    ("tcp", "ratio", "words", "least", "most"),
    [
        ({}, 0.32, "one and a half times", 1, 1.5),
        ({"base": "linux"}, 0.1, "four times", 1.1, 4),
        ({"base": "linux"}, 0.32, "three times", 2, 3),
        ({"base": "linux", "arithmetic": "rfc"}, 0.48, "three times", 1.8, 3),
        ({"base": "linux"}, 0.75, "twice", 1.2, 2),
        ({"base": "bsd44", "cc": "reno"}, 0.32, "twice", 0.9, 2),
    ],
    ids=str,
)
def test_a_small_bucket_says_how_much_more_passes(
    tcp: dict[str, Any], ratio: float, words: str, least: float, most: float
) -> None:
    """It said two fifths, also where Linux's repair gets three times as much."""
    scenario = policed(10, 100, ratio, **tcp)
    assert any(f"gets up to {words} this" in text for text in fits(scenario)["policer"].unmet)
    low, high = over(scenario, "policer")
    assert least < low <= high < most


def test_the_repair_of_losses_is_told_as_well_as_the_arithmetic() -> None:
    unmet = fits(policed(10, 100, 2, base="linux", arithmetic="rfc"))["policer"].unmet
    assert any("repairs losses as Linux does" in text for text in unmet)
    assert not any("Linux" in text for text in fits(policed(10, 100, 2))["policer"].unmet)
    assert not any("SACK" in text for text in fits(policed(10, 100, 2))["policer"].unmet)
    without = policed(10, 100, 2, sack=False)
    assert any("has no SACK" in text for text in fits(without)["policer"].unmet)
    assert over(without, "policer")[1] < 0.9


@pytest.mark.parametrize(
    ("theory", "scenario", "least", "most"),
    [
        ("mathis", losing("newreno", 0.001, 20), 0.93, 1.05),
        ("mathis", losing("newreno", 0.001, 50, increase="per ack"), 0.93, 1.05),
        ("mathis", losing("newreno", 0.01, 100), 0.78, 0.92),
        ("pftk", losing("newreno", 0.001, 100), 1.0, 1.2),
        ("pftk", losing("newreno", 0.01, 100), 1.0, 1.25),
        ("pftk", losing("newreno", 0.03, 100), 1.1, 1.5),
        ("rfc-9438", losing("cubic", 0.001, 100), 1.1, 1.3),
        ("rfc-9438", losing("cubic", 0.005, 20), 1.0, 1.15),
    ],
)
def test_random_loss_and_its_simulation(
    theory: str, scenario: dict[str, Any], least: float, most: float
) -> None:
    low, high = over(scenario, theory)
    assert high > least
    assert low < most


def test_formulas_by_hand() -> None:
    # Mathis et al., table 1: 1.22 with regular losses, 0.87 with delayed ACKs; 0.93 with random ones.
    assert tg.theory.mathis(0.01, 0.1, regular=True) == pytest.approx(122.5, abs=0.1)
    assert tg.theory.mathis(0.01, 0.1, regular=True, segments_per_ack=2) == pytest.approx(86.6, abs=0.1)
    assert tg.theory.mathis(0.01, 0.1, segments_per_ack=2) == pytest.approx(92.6, abs=0.1)
    # PFTK for rare losses is Mathis with regular losses, and is limited by the receiver's window.
    assert tg.theory.pftk(1e-6, 0.1, 1, segments_per_ack=2) == pytest.approx(8660, rel=0.01)
    assert tg.theory.pftk(1e-6, 0.1, 1, window=20) == pytest.approx(200, rel=0.01)
    # RFC 9438 §5, the table of response functions for a round trip of 0.1 s, C = 0.4.
    for loss, window in ((1e-3, 39), (1e-4, 187), (1e-5, 1054), (1e-6, 5926), (1e-7, 33325), (1e-8, 187398)):
        assert 0.1 * tg.theory.cubic(loss, 0.1) == pytest.approx(window, rel=0.02)


@pytest.mark.parametrize("loss", [0, 1, 2])
def test_a_loss_is_above_0_and_below_1(loss: float) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=f"loss: {loss} is .*; above 0 and below 1"):
        tg.theory.mathis(loss, 0.1)


def test_the_frame_rate_of_rfc_6349() -> None:
    found = tg.theory.rfc6349(100e6, 0.05)
    # §4.1.1: 100 Mbit/s of Ethernet with 1538 bytes a frame are 8127 frames a second: 94.9 Mbit/s.
    assert found.frames == pytest.approx(8127, abs=1)
    assert found.rate_bps == pytest.approx(94.9e6, rel=1e-3)
    assert found.bdp_bytes == 625_000
    assert not found.window_limits
    assert tg.theory.rfc6349(100e6, 0.05, window=65_535).goodput_bps == pytest.approx(8 * 65_535 / 0.05)


@pytest.mark.parametrize("tcp", [{}, {"window": "10 segments"}, {"cc": "cubic"}], ids=str)
def test_one_rate_and_its_simulation(tcp: dict[str, Any]) -> None:
    link = {"rate": "10 Mbit/s", "queue": "100 packets", "delay": "20 ms", "framing": {"overhead": "38 B"}}
    scenario = {
        "duration": "60 s",
        "warmup": "20 s",
        "seed": 1,
        "gate": {"link": link},
        "flow": {"bulk": {"path": ["link"], "tcp": {"base": "rfc", **tcp}}},
    }
    told = fits(scenario)["rfc-6349"].flows[0]["goodput_bps"]
    assert tg.run(scenario).flows["bulk"]["goodput_bps"] == pytest.approx(told, rel=0.01)


def windowed(theory: str, window: str, **tcp: Any) -> dict[str, Any]:
    """Return a scenario that the receiver's window limits."""
    gate = {"rate": "10 Mbit/s"} if theory == "rfc-6349" else {"loss": 0.0001}
    return {
        "duration": "60 s",
        "warmup": "10 s",
        "seed": 3,
        "gate": {"link": gate},
        "flow": {
            "bulk": {
                "path": ["link"],
                "rtt": "50 ms",
                "tcp": {"base": "rfc", "cc": "reno", "window": window, **tcp},
            }
        },
    }


WAITS = "the last ones wait"


@pytest.mark.parametrize("theory", ["rfc-6349", "pftk"])
@pytest.mark.parametrize(
    ("window", "delayed", "costs"),
    [
        ("1600 B", False, None),
        ("2900 B", False, None),
        ("5000 B", False, None),
        ("5000 B", True, 1 / 3),
        ("7300 B", True, 1 / 5),
        ("10 kB", True, None),
        ("20 kB", True, 1 / 13),
        ("50 kB", True, None),
    ],
)
def test_a_window_counts_whole_segments(theory: str, window: str, delayed: bool, costs: float | None) -> None:
    """A window of 1.99 segments was reckoned as such, and is one."""
    scenario = windowed(theory, window, delayed_ack=delayed)
    fit = fits(scenario)[theory]
    share = tg.run(scenario).flows["bulk"]["goodput_bps"] / fit.flows[0]["goodput_bps"]
    assert any(WAITS in text for text in fit.unmet) == (costs is not None)
    assert 0.97 * (1 - (costs or 0)) < share < 1.03


@pytest.mark.parametrize("theory", ["rfc-6349", "pftk"])
def test_a_window_that_an_ack_waits_for_is_none_of_the_theory(theory: str) -> None:
    tried = tg.theory.match(windowed(theory, "2900 B"))
    miss = next(each for each in tried if each.theory == theory)
    assert isinstance(miss, tg.theory.Miss)
    assert "holds 1 segment, and an ACK waits for 2" in miss.reason


def test_a_window_that_does_not_limit_waits_for_nothing() -> None:
    assert not any(WAITS in text for text in fits(windowed("rfc-6349", "99 segments"))["rfc-6349"].unmet)


MISSES: list[tuple[str, dict[str, Any], str]] = [
    ("policer", {"flow.bulk.tcp.cc": "cubic"}, "about reno and newreno"),
    ("policer", {"gate.isp.loss": "1%"}, "loses packets at random"),
    ("policer", {"gate.isp.police.action": "tag"}, "does not drop what is above one rate"),
    ("policer", {"gate.isp.rate": "11 Mbit/s"}, "hardly faster than the contract"),
    ("policer", {"flow.bulk.tcp.window": "20 segments"}, "below the"),
    ("policer", {"flow.bulk.count": 2}, "one flow, and the scenario has 2"),
    ("policer", {"gate.isp.police.burst": "1000 B"}, "does not hold one segment"),
]


@pytest.mark.parametrize(("theory", "changes", "reason"), MISSES, ids=[reason for _, _, reason in MISSES])
def test_what_is_not_recognised(theory: str, changes: dict[str, Any], reason: str) -> None:
    told = {each.theory: each for each in tg.theory.match(as_scenario(policed(10, 100, 2), changes))}
    miss = told[theory]
    assert isinstance(miss, tg.theory.Miss)
    assert reason in miss.reason


def test_what_random_loss_is_not() -> None:
    def reason(scenario: dict[str, Any], theory: str, **changes: Any) -> str:
        told = {each.theory: each for each in tg.theory.match(as_scenario(scenario, changes))}
        return str(getattr(told[theory], "reason", ""))

    base = losing("newreno", 0.01, 50)
    assert "about cubic" in reason(base, "rfc-9438")
    assert "not in it" in reason(base, "mathis", **{"gate.air.loss": "5%"})
    assert "it limits" in reason(base, "mathis", **{"gate.air.rate": "2 Mbit/s"})
    assert "so it limits" in reason(base, "mathis", **{"flow.bulk.tcp.window": "5 segments"})
    assert reason(base, "pftk") == ""


@pytest.mark.parametrize(("theory", "cc"), [("mathis", "reno"), ("rfc-9438", "cubic")])
def test_linuxs_tcp_is_told_where_the_theory_is_of_the_rfcs(theory: str, cc: str) -> None:
    rfc, linux = (fits(losing(cc, 0.001, 100, base=base))[theory].unmet for base in ("rfc", "linux"))
    told = "flow bulk has Linux's TCP; the theory is of the window of the RFCs"
    assert told in linux
    assert told not in rfc


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"flow.bulk.start": "300 s"}, "does not start before the run ends"),
        ({"gate.air.advice": "2 Mbit/s", "flow.bulk.tcp.advice": "pace"}, "no faster than gates advise"),
    ],
)
def test_what_the_theories_do_not_describe(changes: dict[str, Any], words: str) -> None:
    plan = losing("reno", 0.001, 100)
    assert "mathis" in fits(plan)
    tried = tg.theory.match(as_scenario(plan, changes))
    found = next(each for each in tried if each.theory == "mathis")
    assert not isinstance(found, tg.theory.Fit)
    assert words in str(found)


def test_a_flow_that_starts_late_has_not_settled() -> None:
    plan = losing("reno", 0.001, 100)
    plan["flow"]["bulk"]["start"] = "110 s"
    assert any("start at 110 s" in text for text in fits(plan)["mathis"].unmet)


TOO_FEW = "the queue of gate air holds"
SELDOM = "the receiver of flow bulk sends an ACK for every 10 segments"
EARLY = "is over before an ACK comes"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gate.air.queue": "1 packets"}, TOO_FEW),
        ({"gate.air.queue": "0 packets"}, TOO_FEW),
        ({"gate.air.queue": "2999 B"}, TOO_FEW),
        ({"gate.air.queue.limit": "2 packets", "gate.air.queue.counts": "all"}, TOO_FEW),
        ({"flow.bulk.tcp.delayed_ack": {"every": 10}}, SELDOM),
        ({"flow.bulk.tcp.rto": {"fixed": "100 ms"}}, EARLY),
    ],
    ids=str,
)
@pytest.mark.parametrize(("theory", "cc"), [("mathis", "reno"), ("pftk", "reno"), ("rfc-9438", "cubic")])
def test_what_makes_a_theory_of_random_loss_wrong_is_told(
    theory: str, cc: str, changes: dict[str, Any], words: str
) -> None:
    def told(more: dict[str, Any]) -> list[str]:
        plan = as_scenario(losing(cc, 0.001, 100, delayed_ack={"every": 2}), {"gate.air.rate": RATE, **more})
        return [text for text in fits(plan)[theory].unmet if words in text]

    assert len(told(changes)) == 1
    assert not told({"gate.air.queue": "2 packets", "flow.bulk.tcp.rto": {"fixed": "101 ms"}})


def test_a_policers_theory_names_a_short_queue_too() -> None:
    plan = policed(10, 100, 2)
    plan["gate"]["isp"]["queue"] = "0 packets"
    assert any("the queue of gate isp holds 0 packets" in text for text in fits(plan)["policer"].unmet)


def test_where_a_queue_is_too_short_the_theory_is_far_off() -> None:
    """The bound is where the simulation leaves it: two segments of an ACK and a third leave at once."""
    plan = losing("newreno", 0.001, 50, delayed_ack={"every": 2})
    plan["gate"]["air"] |= {"rate": "20 Mbit/s", "queue": "2 packets"}
    low, high = over(plan, "mathis")
    assert 0.8 < low <= high < 1.05
    plan["gate"]["air"]["queue"] = "1 packets"
    assert over(plan, "mathis")[1] < 0.2


def test_a_flow_without_fast_retransmit_is_no_flow_of_another_controller() -> None:
    for theory, cc in (("mathis", "newreno"), ("rfc-9438", "cubic")):
        tried = tg.theory.match(losing(cc, 0.001, 100, dupthresh="never"))
        found = next(each for each in tried if each.theory == theory)
        assert "has no fast retransmit (tcp.dupthresh)" in str(found)


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("5 Mbit/s", "carries 416.7: above 80% of that it often limits"),
        ("4 Mbit/s", "carries 333.3: it limits"),
    ],
)
def test_a_gate_limits_where_it_is_said(rate: str, words: str) -> None:
    tried = tg.theory.match(as_scenario(losing("newreno", 0.005, 50), {"gate.air.rate": rate}))
    assert words in str(next(each for each in tried if each.theory == "mathis"))


@pytest.mark.parametrize("key", ["gate.air.jitter", "flow.bulk.jitter"])
def test_jitter_is_no_part_of_the_round_trip_of_a_theory(key: str) -> None:
    tried = tg.theory.match(as_scenario(losing("reno", 0.001, 100), {key: "50 ms"}))
    fit = next(each for each in tried if each.theory == "mathis")
    assert isinstance(fit, tg.theory.Fit)
    assert any("has jitter" in text for text in fit.unmet)
