"""Claims on TCP's window, with and without dips of the IP processor: Section 4, Figs. 4 and 5."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tidegate_papers.api import (
    Finding,
    above,
    below,
    claim,
    count,
    ratio_of_means,
    shown,
    together,
    within,
)
from tidegate_papers.image_server import cases
from tidegate_papers.image_server.cases import (
    APART,
    CLAIMED_BYTES,
    LATE_S,
    TODAY,
    gain_of_window,
    over,
    point,
    response,
    waits,
)

if TYPE_CHECKING:
    from tidegate_papers.api import Lab

#: A window that takes less than this share off is not "faster as expected".
NOT_FASTER = 0.1


@claim(
    "larger-window",
    where="§4, Fig. 4",
    says="A larger window reduces the response time.",
    unit="1 MiB / 64 KiB",
    paper="below 1",
    figures=("fig-4",),
)
def claim_faster(lab: Lab) -> Finding:
    """Compare windows without dips."""
    found = gain_of_window(lab, dips=False)
    apart = gain_of_window(lab, dips=False, changes=APART)
    windows = lab.points(cases.WINDOWS)
    each = [response(point(lab, window=window)) for window in windows]
    numbers = ", ".join(f"{shown(one)} with {w}" for one, w in zip(each, windows, strict=True))
    return Finding(
        below(found, 1),
        f"Response time with 1 MiB over that with 64 KiB. In s, by KiB: {numbers}. The path holds a few "
        "segments, so a window of 64 KiB fills it; a larger one helps where it sends an image before its "
        f"ACKs come to the same processor. With ACKs past it: {shown(apart)}",
    )


@claim(
    "not-with-dips",
    where="§4, Fig. 4",
    says="With dips of the processor a larger window does not reduce it as expected.",
    unit="1 MiB / 64 KiB",
    paper="about 1",
    figures=("fig-4",),
)
def claim_not_faster(lab: Lab) -> Finding:
    """Compare windows with dips."""
    found = gain_of_window(lab, dips=True)
    plain = gain_of_window(lab, dips=False)
    windows = lab.points(cases.WINDOWS)
    each = [response(point(lab, window=window, dips=True)) for window in windows]
    numbers = ", ".join(f"{shown(one)} with {w}" for one, w in zip(each, windows, strict=True))
    return Finding(
        above(found, 1 - NOT_FASTER),
        f"The same with dips to 1000 packets/s; not reduced is taken as by less than {NOT_FASTER:.0%}. "
        f"Without dips {shown(plain)}. In s, by KiB: {numbers}",
    )


@claim(
    "congestion",
    where="§4",
    says="TCP takes the dips for congestion.",
    unit="time-outs",
    figures=("fig-4", "fig-5"),
)
def claim_why(lab: Lab) -> Finding:
    """Count time-outs and losses with dips."""
    large, small = point(lab, window=1024, dips=True), point(lab, dips=True)
    dropped = max(study.estimate("dropped").mean or 0 for study in (large, small))
    windows = lab.points(cases.WINDOWS)
    outs = [point(lab, window=window, dips=True).estimate("timeouts") for window in windows]
    numbers = ", ".join(f"{shown(one)} with {w}" for one, w in zip(outs, windows, strict=True))
    return Finding(
        together(
            above(large.estimate("timeouts"), 0.5, of="the number of time-outs with 1 MiB"),
            below(small.estimate("timeouts"), 0.5, of="the number of time-outs with 64 KiB"),
            within(
                large.estimate("dropped"), 0, 0, of="the number of packets dropped with 1 MiB", unit="packets"
            ),
        ),
        f"Time-outs of all clients with 1 MiB and dips. {dropped:g} packets were dropped anywhere: every "
        "time-out comes of a wait longer than the timer, and what it repeats has arrived "
        f"({shown(large.estimate('resent'))} segments sent again). By KiB: {numbers}",
    )


@claim(
    "ip-queue",
    where="§4, Fig. 5",
    says="IP datagrams wait long in the dips, with a window of 256 KiB.",
    unit="in the dips / outside",
    figures=("fig-5",),
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


@claim(
    "forty-seconds",
    where="§4",
    says="The window takes more than 40 s to grow to about 70 kB.",
    unit="s",
    paper=40.0,
    figures=("windows",),
)
def claim_forty(lab: Lab) -> Finding:
    """Measure how long a window takes to come to 70 kB."""
    study, large = waits(lab, 256), waits(lab, 1024)
    first, late = study.estimate("first"), study.estimate("late")
    return Finding(
        together(
            above(first, LATE_S, of="the time from a client's first request to a window of 70 kB, s,"),
            below(late, CLAIMED_BYTES, of="the window at 40 s, bytes,", unit="B"),
        ),
        "Seconds from a client's first request to a window of 70 kB, with 256 KiB. At 40 s, after both dips, "
        f"the mean window is {shown(late, 'B')}. {shown(study.estimate('timed_out'))} of the clients had a "
        f"time-out by the end, and the slowest of a run took {shown(study.estimate('longest'))} s to come to "
        "70 kB again: slow start goes on to half of 256 KiB. Only time-outs that follow each other leave a "
        f"threshold from which growth is linear, as with 1 MiB: {shown(large.estimate('longest'))} s",
    )


@claim(
    "today",
    where="beyond the paper",
    says="TCP of today is faster through the dips.",
    unit="today's TCP / Reno",
    figures=("fig-4",),
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


@claim(
    "each-step",
    where="beyond the paper",
    says="With dips no step to a larger window helps.",
    unit="share of steps",
    figures=("fig-4",),
)
def claim_steps(lab: Lab) -> Finding:
    """Compare neighbouring windows with dips."""
    parts, numbers = [], []
    for less, more in itertools.pairwise(lab.judged(cases.WINDOWS)):
        found = over(point(lab, window=more, dips=True), point(lab, window=less, dips=True))
        parts.append(above(found, 1 - NOT_FASTER, f"from {less} to {more} KiB"))
        numbers.append(f"{shown(found)} from {less} to {more}")
    return Finding(
        count(parts, runs=16),
        "Response time with the larger window over that with the smaller, with dips, in KiB: "
        f"{', '.join(numbers)}. "
        f"A step that takes off less than {NOT_FASTER:.0%} does not help",
    )
