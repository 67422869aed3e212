"""The claims of the image server paper, the rules that judge them, and what they rest on."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidegate.papers.api import (
    Claim,
    Estimate,
    Finding,
    Judgement,
    above,
    below,
    count,
    number_of,
    paired,
    ratio_of_means,
    shown,
    together,
    within,
)
from tidegate.papers.image_server import cases
from tidegate.papers.image_server.cases import (
    APART,
    CLAIMED_BYTES,
    HOLD,
    LATE_S,
    TODAY,
    alone,
    bound_by_circuit,
    bound_by_processor,
    gain_of_window,
    least_by_processor,
    over,
    point,
    response,
    waits,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.papers.api import Lab, Study

TITLE = "A Simulation Study of TCP/IP over ATM on Interactive Environment"
SOURCE = (
    "U. Bunworasate, T. Aoki, H. Aida and T. Saito. Five clients fetch images over circuits from one virtual "
    "path, through an IP processor that may be slow for a while."
)
QUICK = "Quick: fewer rates and windows, and two of the open choices"
#: "Very high" is so many times what 20 Mbit/s gives.
VERY_HIGH = 1.5
#: "Reasonably low" is within this much of the least response time of the figure.
LOW = 1.25
#: A window that takes less than this share off is not "faster as expected".
NOT_FASTER = 0.1
#: A closed form holds within this share.
EXACT = 0.005


def _at_each(found: list[Estimate], rates: list[int]) -> list[Judgement]:
    """Judge of each rate whether its difference is above 0."""
    return [above(each, 0, f"at {rate} Mbit/s") for each, rate in zip(found, rates, strict=True)]


def rises(this: Study, that: Study) -> Estimate:
    """Return this - that in response time, run by run."""
    return paired(this.values("response"), that.values("response"))


def by_rate(lab: Lab, metric: str = "response") -> str:
    """Return a metric at every rate, in words."""
    return ", ".join(f"{shown(point(lab, rate).estimate(metric))} at {rate}" for rate in cases.rates(lab))


def claim_slow(lab: Lab) -> Finding:
    """Compare every rate below 10 Mbit/s with 20."""
    slow = [rate for rate in cases.rates(lab) if rate < 10]
    found = [over(point(lab, rate), point(lab)) for rate in slow]
    told = ", ".join(f"{shown(each)} at {rate}" for each, rate in zip(found, slow, strict=True))
    parts = [above(each, VERY_HIGH, f"at {rate} Mbit/s") for each, rate in zip(found, slow, strict=True)]
    return Finding(
        together(*parts),
        f"Mean response time over that at 20 Mbit/s: {told}. Very high is taken as {VERY_HIGH:g} times. All "
        f"responses, s: {by_rate(lab)}. For one image alone the circuit takes longer than the IP processor "
        f"below {cases.even_rate(64):.1f} Mbit/s; the five clients' images share the processor as well, so "
        "the "
        "rise is slower at first",
    )


def claim_low(lab: Lab) -> Finding:
    """Compare 10 to 30 Mbit/s with the best rate of the figure."""
    studies = {rate: point(lab, rate) for rate in cases.rates(lab)}
    best = min(studies, key=lambda rate: response(studies[rate]).mean or 0)
    found = [over(studies[rate], studies[best]) for rate in studies if 10 <= rate <= 30]
    waited = max(studies[rate].estimate("waited").mean or 0 for rate in studies if rate <= 30)
    worst = max(found, key=lambda each: each.mean or 0)
    return Finding(
        within(worst, 0.99, LOW),
        f"Largest mean response time from 10 to 30 Mbit/s over the least of the figure, at {best} Mbit/s; "
        f"low is taken as up to {LOW:g}. Five circuits of 30 Mbit/s fit: {waited:g} calls waited. "
        f"From {cases.even_rate(64):.1f} Mbit/s on an image takes longer at the IP processor than on its "
        "circuit",
    )


def claim_rises(lab: Lab) -> Finding:
    """Compare 50 to 70 Mbit/s with 30."""
    where = [rate for rate in cases.rates(lab) if 50 <= rate <= 70]
    found = [rises(point(lab, rate), point(lab, 30)) for rate in where]
    told = ", ".join(f"{shown(each)} at {rate}" for each, rate in zip(found, where, strict=True))
    share = over(point(lab, 70), point(lab, 30))
    return Finding(
        together(above(share, 1), count(_at_each(found, where), runs=16)),
        f"Mean response time at 70 over that at 30 Mbit/s. Seconds more than at 30 Mbit/s: {told}",
    )


def claim_circuits(lab: Lab) -> Finding:
    """Count the circuits that were open together."""
    where = [rate for rate in cases.rates(lab) if 50 <= rate <= 70]
    found = [point(lab, rate).estimate("circuits") for rate in where]
    told = ", ".join(f"{each.mean:g} of {rate} Mbit/s" for each, rate in zip(found, where, strict=True))
    return Finding(
        together(*(within(each, 2, 3) for each in found)),
        f"The most circuits that were ever open together: {told}. 155.52 Mbit/s have room for no more",
    )


def claim_higher(lab: Lab) -> Finding:
    """Compare 80 Mbit/s and more with 70."""
    where = [rate for rate in cases.rates(lab) if rate >= 80]
    found = [rises(point(lab, rate), point(lab, 70)) for rate in where]
    share = over(point(lab, 80), point(lab, 70))
    late = over(point(lab, 80), point(lab, 70), "with_unfinished")
    return Finding(
        together(above(share, 1), count(_at_each(found, where), runs=16)),
        "Mean response time at 80 over that at 70 Mbit/s; with the unfinished requests "
        f"{shown(late)}. From 77.76 Mbit/s on one circuit fits: more than 80 Mbit/s change nothing",
    )


def claim_hold(lab: Lab) -> Finding:
    """Compare 80 with 20 Mbit/s where circuits are released at once, and held for ever."""
    at_once = over(point(lab, 80, changes={HOLD: "0 s"}), point(lab, 20, changes={HOLD: "0 s"}))
    held = over(point(lab, 80), point(lab, 20))
    always = point(lab, 80, changes={HOLD: "forever"})
    all_of = over(always, point(lab, 20), "with_unfinished")
    return Finding(
        together(within(at_once, 0.5, 1.05), above(held, 1.5)),
        "Response time at 80 over that at 20 Mbit/s with circuits that are released at once; held for 5 s "
        f"it is {shown(held)}. Held for ever, the first client keeps the path: the mean of the finished is "
        f"{shown(response(always))} s, that of all {shown(all_of)} times that at 20 Mbit/s",
    )


def claim_theory(lab: Lab) -> Finding:
    """Compare one client's best response with the closed forms."""
    parts, told = [], []
    cases_ = [(rate, 64, bound_by_circuit(rate)) for rate in ((2, 5) if not lab.quick else (5,))]
    cases_ += [(50, window, bound_by_processor(window)) for window in ((64, 256) if not lab.quick else (64,))]
    for rate, window, expected in cases_:
        found = alone(lab, rate, window)
        share = Estimate((found.mean or 0) / expected, (found.half_width or 0) / expected, None, found.n)
        parts.append(within(share, 1 - EXACT, 1 + EXACT))
        told.append(f"{shown(found)} s at {rate} Mbit/s and {window} KiB, expected {expected:.4f}")
    return Finding(
        together(*parts),
        "Simulated over expected, one client whose window is open. 0.1 s + 1866 · 5512 bit / rate where the "
        "circuit limits; 0.1 s + (N + W ⌊(N - 1) / W⌋) / 5000 for N = 1866 segments and a window of W where "
        f"the processor does: {', '.join(told)}. The bound that every ACK but the last window's is served, "
        f"0.1 s + (2 N - W) / 5000, is {least_by_processor(64):.4f} s with 64 KiB",
    )


def claim_faster(lab: Lab) -> Finding:
    """Compare windows without dips."""
    found = gain_of_window(lab, dips=False)
    apart = gain_of_window(lab, dips=False, changes=APART)
    each = [response(point(lab, window=window)) for window in cases.windows(lab)]
    told = ", ".join(f"{shown(one)} with {w}" for one, w in zip(each, cases.windows(lab), strict=True))
    return Finding(
        below(found, 1),
        f"Response time with 1 MiB over that with 64 KiB. In s, by KiB: {told}. The path holds a few "
        "segments, so a window of 64 KiB fills it; a larger one helps where it sends an image before its "
        f"ACKs come to the same processor. With ACKs past it: {shown(apart)}",
    )


def claim_not_faster(lab: Lab) -> Finding:
    """Compare windows with dips."""
    found = gain_of_window(lab, dips=True)
    plain = gain_of_window(lab, dips=False)
    each = [response(point(lab, window=window, dips=True)) for window in cases.windows(lab)]
    told = ", ".join(f"{shown(one)} with {w}" for one, w in zip(each, cases.windows(lab), strict=True))
    return Finding(
        above(found, 1 - NOT_FASTER),
        f"The same with dips to 1000 packets/s; not reduced is taken as by less than {NOT_FASTER:.0%}. "
        f"Without dips {shown(plain)}. In s, by KiB: {told}",
    )


def claim_why(lab: Lab) -> Finding:
    """Count time-outs and losses with dips."""
    large, small = point(lab, window=1024, dips=True), point(lab, dips=True)
    dropped = max(study.estimate("dropped").mean or 0 for study in (large, small))
    outs = [point(lab, window=window, dips=True).estimate("timeouts") for window in cases.windows(lab)]
    told = ", ".join(f"{shown(one)} with {w}" for one, w in zip(outs, cases.windows(lab), strict=True))
    return Finding(
        together(
            above(large.estimate("timeouts"), 0.5),
            below(small.estimate("timeouts"), 0.5),
            within(large.estimate("dropped"), 0, 0),
        ),
        f"Time-outs of all clients with 1 MiB and dips. {dropped:g} packets were dropped anywhere: every "
        "time-out comes of a wait longer than the timer, and what it repeats has arrived "
        f"({shown(large.estimate('resent'))} segments sent again). By KiB: {told}",
    )


def claim_queue(lab: Lab) -> Finding:
    """Compare waits in the IP queue inside and outside the dips."""
    study = waits(lab, 256)
    inside, outside, most = (study.estimate(name) for name in ("inside", "outside", "most"))
    ratio = ratio_of_means(study.values("inside"), study.values("outside"))
    return Finding(
        above(ratio, 2),
        f"Mean wait of an IP datagram in the dips over that outside, 256 KiB. In the dips {shown(inside)} s, "
        f"{shown(most)} s at most; outside {shown(outside)} s",
    )


def claim_forty(lab: Lab) -> Finding:
    """Measure how long a window takes to come to 70 kB."""
    study, large = waits(lab, 256), waits(lab, 1024)
    first, late = study.estimate("first"), study.estimate("late")
    return Finding(
        together(above(first, LATE_S), below(late, CLAIMED_BYTES)),
        "Seconds from a client's first request to a window of 70 kB, with 256 KiB. At 40 s, after both dips, "
        f"the mean window is {shown(late, 'B')}. {shown(study.estimate('timed_out'))} of the clients had a "
        f"time-out by the end, and the slowest of a run took {shown(study.estimate('longest'))} s to come to "
        "70 kB again: slow start goes on to half of 256 KiB. Only time-outs that follow each other leave a "
        f"threshold from which growth is linear, as with 1 MiB: {shown(large.estimate('longest'))} s",
    )


def claim_today(lab: Lab) -> Finding:
    """Compare TCP of today with the paper's, with dips."""
    old = point(lab, window=1024, dips=True)
    same = point(lab, window=4096, dips=True, changes={"flow.client.tcp": {**TODAY, "mss": "536 B"}})
    now = point(lab, window=4096, dips=True, changes={"flow.client.tcp": {**TODAY, "mss": "1460 B"}})
    return Finding(
        below(over(now, old), 1),
        "Response time of CUBIC with SACK, timestamps, delayed ACKs, a scaled window of 4 MiB and segments "
        "of 1460 B over that of Reno with 1 MiB, both with dips. With segments of 536 B "
        f"{shown(over(same, old))}: what helps is fewer packets, larger ones and fewer ACKs, through a "
        "processor that counts packets",
    )


def whatever(lab: Lab, judge: Callable[[dict[str, Any]], Judgement], what: str) -> Finding:
    """Judge one statement under every open choice."""
    found = [replace(judge(changes), name=words) for words, changes in cases.choices(lab)]
    told = ", ".join(f"{one.name} {shown(number_of(one))}" for one in found)
    untried = len(cases.CHOICES) - len(found)
    return Finding(count(found, runs=16, untried=untried), f"{what}, by open choice: {told}")


def claim_any_rise(lab: Lab) -> Finding:
    """Compare 80 with 20 Mbit/s under every open choice."""
    return whatever(
        lab,
        lambda changes: above(rises(point(lab, 80, changes=changes), point(lab, 20, changes=changes)), 0),
        "Seconds by which responses are longer at 80 than at 20 Mbit/s",
    )


def claim_any_faster(lab: Lab) -> Finding:
    """Compare windows without dips under every open choice."""
    return whatever(
        lab,
        lambda changes: below(gain_of_window(lab, dips=False, changes=changes), 1),
        "Response time with 1 MiB over that with 64 KiB without dips",
    )


def claim_any_dips(lab: Lab) -> Finding:
    """Compare windows with dips under every open choice."""
    return whatever(
        lab,
        lambda changes: above(gain_of_window(lab, dips=True, changes=changes), 1 - NOT_FASTER),
        f"Response time with 1 MiB over that with 64 KiB with dips; a tenth off, {1 - NOT_FASTER:g}, is "
        "counted as faster",
    )


def claim_steps(lab: Lab) -> Finding:
    """Compare neighbouring windows with dips."""
    parts, told = [], []
    for less, more in itertools.pairwise(cases.windows(lab)):
        found = over(point(lab, window=more, dips=True), point(lab, window=less, dips=True))
        parts.append(above(found, 1 - NOT_FASTER, f"from {less} to {more} KiB"))
        told.append(f"{shown(found)} from {less} to {more}")
    return Finding(
        count(parts, runs=16),
        "Response time with the larger window over that with the smaller, with dips, in KiB: "
        f"{', '.join(told)}. "
        f"A step that takes off less than {NOT_FASTER:.0%} does not help",
    )


CLAIMS = [
    Claim(
        "slow-below-10", "§3, Fig. 3", "Below 10 Mbit/s the mean response time becomes very high.",
        claim_slow, "slowest / 20 Mbit/s", "very high", ("fig-3",),
    ),
    Claim(
        "low-10-to-30", "§3, Fig. 3", "With 10 to 30 Mbit/s the response time is reasonably low.",
        claim_low, "largest / least of the figure", "low", ("fig-3",),
    ),
    Claim(
        "higher-50-to-70", "§3, Fig. 3", "Between 50 and 70 Mbit/s the response time becomes higher.",
        claim_rises, "70 / 30 Mbit/s", "above 1", ("fig-3",),
    ),
    Claim(
        "two-or-three", "§3", "Only two or three circuits of 50 to 70 Mbit/s are established at one time.",
        claim_circuits, "circuits", "2 or 3", ("fig-3",),
    ),
    Claim(
        "higher-above-80", "§3, Fig. 3", "More than 80 Mbit/s make the response time higher still.",
        claim_higher, "80 / 70 Mbit/s", "above 1", ("fig-3",),
    ),
    Claim(
        "larger-window", "§4, Fig. 4", "A larger window reduces the response time.",
        claim_faster, "1 MiB / 64 KiB", "below 1", ("fig-4",),
    ),
    Claim(
        "not-with-dips", "§4, Fig. 4",
        "With dips of the processor a larger window does not reduce it as expected.",
        claim_not_faster, "1 MiB / 64 KiB", "about 1", ("fig-4",),
    ),
    Claim(
        "congestion", "§4", "TCP takes the dips for congestion.",
        claim_why, "time-outs", None, ("fig-4", "fig-5"),
    ),
    Claim(
        "ip-queue", "§4, Fig. 5", "IP datagrams wait long in the dips, with a window of 256 KiB.",
        claim_queue, "in the dips / outside", None, ("fig-5",),
    ),
    Claim(
        "forty-seconds", "§4", "The window takes more than 40 s to grow to about 70 kB.",
        claim_forty, "s", 40.0, ("windows",),
    ),
    Claim(
        "holding-decides", "beyond the paper",
        "The rise above 30 Mbit/s comes of holding circuits after a response.",
        claim_hold, "80 / 20 Mbit/s, released at once", None, ("fig-3",),
    ),
    Claim(
        "closed-forms", "beyond the paper", "One image with an open window takes what closed forms say.",
        claim_theory, "simulated / formula", 1.0, ("fig-3",),
    ),
    Claim(
        "each-step", "beyond the paper", "With dips no step to a larger window helps.",
        claim_steps, "share of steps", None, ("fig-4",),
    ),
    Claim(
        "today", "beyond the paper", "TCP of today is faster through the dips.",
        claim_today, "today's TCP / Reno", None, ("fig-4",),
    ),
    Claim(
        "any-rise", "beyond the paper", "80 Mbit/s are slower than 20 whatever the open choices.",
        claim_any_rise, "share of choices", None, ("choices",),
    ),
    Claim(
        "any-faster", "beyond the paper", "Without dips a larger window is faster whatever the open choices.",
        claim_any_faster, "share of choices", None, ("choices",),
    ),
    Claim(
        "any-not-with-dips", "beyond the paper", "With dips it is not, whatever the open choices.",
        claim_any_dips, "share of choices", None, ("choices",),
    ),
]  # fmt: skip
