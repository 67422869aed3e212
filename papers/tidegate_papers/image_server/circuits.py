"""Claims on the rate of the circuits: Section 3, Fig. 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import (
    Estimate,
    Finding,
    above,
    claim,
    paired,
    scaled,
    shown,
    together,
    within,
    worst,
)
from tidegate_papers.image_server import cases
from tidegate_papers.image_server.cases import (
    HOLD,
    RATES,
    alone,
    bound_by_circuit,
    bound_by_processor,
    least_by_processor,
    over,
    point,
    response,
)

if TYPE_CHECKING:
    from tidegate_papers.api import Lab, Study

#: "Very high" is so many times what 20 Mbit/s gives.
VERY_HIGH = 1.5

#: "Reasonably low" is within this much of the least response time of the figure.
LOW = 1.25

#: A closed form holds within this share.
EXACT = 0.005


def rises(this: Study, that: Study) -> Estimate:
    """Return this - that in response time, run by run."""
    return paired(this.values("response"), that.values("response"))


def by_rate(lab: Lab, metric: str = "response") -> str:
    """Return a metric at every rate, in words."""
    return ", ".join(f"{shown(point(lab, rate).estimate(metric))} at {rate}" for rate in lab.points(RATES))


@claim(
    "slow-below-10",
    where="§3, Fig. 3",
    says="Below 10 Mbit/s the mean response time becomes very high.",
    unit="slowest / 20 Mbit/s",
    paper="very high",
    figures=("fig-3",),
)
def claim_slow(lab: Lab) -> Finding:
    """Compare every rate below 10 Mbit/s with 20."""
    slow = lab.judged(RATES.only(lambda rate: rate < 10))
    found = [over(point(lab, rate), point(lab)) for rate in slow]
    numbers = ", ".join(f"{shown(each)} at {rate}" for each, rate in zip(found, slow, strict=True))
    parts = [above(each, VERY_HIGH, f"at {rate} Mbit/s") for each, rate in zip(found, slow, strict=True)]
    return Finding(
        together(*parts),
        f"Mean response time over that at 20 Mbit/s: {numbers}. Very high is taken as {VERY_HIGH:g} times. "
        "All "
        f"responses, s: {by_rate(lab)}. For one image alone the circuit takes longer than the IP processor "
        f"below {cases.even_rate(64):.1f} Mbit/s; the five clients' images share the processor as well, so "
        "the "
        "rise is slower at first",
    )


@claim(
    "low-10-to-30",
    where="§3, Fig. 3",
    says="With 10 to 30 Mbit/s the response time is reasonably low.",
    unit="largest / least of the figure",
    paper="low",
    figures=("fig-3",),
)
def claim_low(lab: Lab) -> Finding:
    """Compare 10 to 30 Mbit/s with the best rate of the figure."""
    lab.judged(RATES)
    studies = {rate: point(lab, rate) for rate in lab.points(RATES)}
    best = min(studies, key=lambda rate: response(studies[rate]).mean or 0)
    found = [over(studies[rate], studies[best]) for rate in studies if 10 <= rate <= 30]
    waited = max(studies[rate].estimate("waited").mean or 0 for rate in studies if rate <= 30)
    most = max(found, key=lambda each: each.mean or 0)
    return Finding(
        worst(within(most, 0.99, LOW)),
        f"Largest mean response time from 10 to 30 Mbit/s over the least of the figure, at {best} Mbit/s; "
        f"low is taken as up to {LOW:g}. Five circuits of 30 Mbit/s fit: {waited:g} calls waited. "
        f"From {cases.even_rate(64):.1f} Mbit/s on an image takes longer at the IP processor than on its "
        "circuit",
    )


@claim(
    "higher-50-to-70",
    where="§3, Fig. 3",
    says="Between 50 and 70 Mbit/s the response time becomes higher.",
    unit="times",
    paper="above 1",
    figures=("fig-3",),
)
def claim_rises(lab: Lab) -> Finding:
    """Compare 50 to 70 Mbit/s with 30."""
    where = lab.judged(RATES.only(lambda rate: 50 <= rate <= 70))
    found = [over(point(lab, rate), point(lab, 30)) for rate in where]
    numbers = ", ".join(f"{shown(each)} at {rate}" for each, rate in zip(found, where, strict=True))
    return Finding(
        together(*(above(each, 1, f"{rate} / 30 Mbit/s") for each, rate in zip(found, where, strict=True))),
        f"Mean response time over that at 30 Mbit/s: {numbers}",
    )


@claim(
    "two-or-three",
    where="§3",
    says="Only two or three circuits of 50 to 70 Mbit/s are established at one time.",
    unit="circuits",
    paper="2 or 3",
    figures=("fig-3",),
)
def claim_circuits(lab: Lab) -> Finding:
    """Count the circuits that were open together."""
    where = lab.judged(RATES.only(lambda rate: 50 <= rate <= 70))
    found = [point(lab, rate).estimate("circuits") for rate in where]
    numbers = ", ".join(f"{each.mean:g} of {rate} Mbit/s" for each, rate in zip(found, where, strict=True))
    return Finding(
        together(*(within(each, 2, 3, f"of {rate} Mbit/s") for each, rate in zip(found, where, strict=True))),
        f"The most circuits that were ever open together: {numbers}. 155.52 Mbit/s have room for no more",
    )


@claim(
    "higher-above-80",
    where="§3, Fig. 3",
    says="More than 80 Mbit/s make the response time higher still.",
    unit="times",
    paper="above 1",
    figures=("fig-3",),
)
def claim_higher(lab: Lab) -> Finding:
    """Compare 80 with 70 Mbit/s, and more than 80 with 80."""
    share = over(point(lab, 80), point(lab, 70))
    late = over(point(lab, 80), point(lab, 70), "with_unfinished")
    more = {rate: over(point(lab, rate), point(lab, 80)) for rate in lab.judged(RATES.only(lambda r: r > 80))}
    numbers = ", ".join(f"{shown(each)} at {rate}" for rate, each in more.items())
    return Finding(
        together(
            above(share, 1, "80 / 70 Mbit/s"),
            *(above(each, 1, f"{rate} / 80 Mbit/s") for rate, each in more.items()),
            rule="the whole 95% interval of the mean response time lies above 1, at 80 over that at 70 "
            "Mbit/s, "
            "and at each rate above 80 over that at 80",
        ),
        f"Mean response time at 80 over that at 70 Mbit/s: {shown(share)}, with the unfinished requests "
        f"{shown(late)}. Over that at 80 Mbit/s: {numbers}. Above 77.76 Mbit/s, half of the path, one "
        "circuit "
        "fits at a time, and the IP processor limits an image, not the circuit: faster ones change nothing",
    )


@claim(
    "holding-decides",
    where="beyond the paper",
    says="The rise above 30 Mbit/s comes of holding circuits after a response.",
    unit="80 / 20 Mbit/s, released at once",
    figures=("fig-3",),
)
def claim_hold(lab: Lab) -> Finding:
    """Compare 80 with 20 Mbit/s where circuits are released at once, and held for ever."""
    at_once = over(point(lab, 80, changes={HOLD: "0 s"}), point(lab, 20, changes={HOLD: "0 s"}))
    held = over(point(lab, 80), point(lab, 20))
    always = point(lab, 80, changes={HOLD: "forever"})
    all_of = over(always, point(lab, 20), "with_unfinished")
    return Finding(
        together(
            within(
                at_once, 0.5, 1.05, of="the response time at 80 over that at 20 Mbit/s, released at once,"
            ),
            above(held, 1.5, of="the same with circuits held for 5 s", unit="80 / 20 Mbit/s, held for 5 s"),
        ),
        "Response time at 80 over that at 20 Mbit/s with circuits that are released at once; held for 5 s "
        f"it is {shown(held)}. Held for ever, the first client keeps the path: the mean of the finished is "
        f"{shown(response(always))} s, that of all {shown(all_of)} times that at 20 Mbit/s",
    )


@claim(
    "closed-forms",
    where="beyond the paper",
    says="One image with an open window takes what closed forms say.",
    unit="simulated / formula",
    paper=1.0,
    figures=("fig-3",),
)
def claim_theory(lab: Lab) -> Finding:
    """Compare one client's best response with the closed forms."""
    parts, numbers = [], []
    tried = [(rate, 64, bound_by_circuit(rate)) for rate in (2, 5)]
    tried += [(50, window, bound_by_processor(window)) for window in (64, 256)]
    for rate, window, expected in tried:
        found = alone(lab, rate, window)
        share = scaled(found, expected)
        parts.append(within(share, 1 - EXACT, 1 + EXACT, f"at {rate} Mbit/s and {window} KiB"))
        numbers.append(f"{shown(found)} s at {rate} Mbit/s and {window} KiB, expected {expected:.4f}")
    return Finding(
        together(*parts),
        "Simulated over expected, one client whose window is open. Expected is 0.1 s + 1866 · 5512 bit / "
        "rate where the circuit limits. It is 0.1 s + (N + W ⌊(N - 1) / W⌋) / 5000 for N = 1866 segments and "
        f"a window of W where the processor does. Simulated: {', '.join(numbers)}. "
        "The bound that every ACK but the last window's is served, "
        f"0.1 s + (2 N - W) / 5000, is {least_by_processor(64):.4f} s with 64 KiB",
    )
