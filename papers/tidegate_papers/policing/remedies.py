"""Claims on what helps: pacing, a limit of the sender's rate, TCPs of today; and on random loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, above, below, claim, ratio, scaled, shown, together, within
from tidegate_papers.policing import cases
from tidegate_papers.policing.cases import point
from tidegate_papers.policing.laboratory import SAME
from tidegate_papers.policing.measured import REMEDIES

if TYPE_CHECKING:
    from tidegate_papers.api import Lab, Study

#: "Collapses": less than this share of the policed goodput.
COLLAPSES = 0.5


def tamed(lab: Lab, name: str) -> Study:
    """Return 16 runs behind 1.5 Mbit/s with 8 kB with a sender that is plain, paced or limited."""
    return point(lab, "policer", 1.5, "8 kB", cases.REMEDIES[name])


@claim(
    "plain",
    where="§5.2",
    says="Behind 1.5 Mbit/s with 8 kB a plain sender has 452 kbit/s and loses 5.2%.",
    unit="Mbit/s",
    paper=REMEDIES["plain"][0],
    figures=("remedies",),
)
def claim_plain(lab: Lab) -> Finding:
    """Measure a plain sender."""
    found, loss = (tamed(lab, "plain").estimate(metric) for metric in ("goodput", "lost"))
    old = point(lab, "policer", 1.5, "8 kB", {**cases.WITHOUT_PRR, **cases.STRETCHED})
    return Finding(
        together(
            within(found, 0.452 / SAME, 0.452 * SAME, "goodput", of="goodput in Mbit/s"),
            within(
                loss, 5.2 / SAME, 5.2 * SAME, "loss", of="the loss in percent", unit="% of the packets lost"
            ),
        ),
        f"{shown(found)} Mbit/s and {shown(loss)}% lost. The five chunks in the validation set have "
        f"0.48 to 0.98 "
        "Mbit/s at the same setting and lose 4.0%: how a kernel repairs the loss of a whole train decides. "
        f"With an ACK for every eighth segment and without PRR it is {shown(old.estimate('goodput'))} "
        f"Mbit/s",
    )


@claim(
    "paced",
    where="§5.2",
    says="Pacing takes it to 1.23 Mbit/s.",
    unit="Mbit/s",
    paper=REMEDIES["paced"][0],
    figures=("remedies",),
)
def claim_paced(lab: Lab) -> Finding:
    """Measure a paced sender."""
    found, loss = (tamed(lab, "paced").estimate(metric) for metric in ("goodput", "lost"))
    return Finding(
        within(found, 1.23 / SAME, 1.23 * SAME),
        f"The same is within {SAME:g} times. Lost: {shown(loss)}% (printed: 1.3%). The pace is that "
        f"of Linux: twice "
        "the window a round trip in slow start, then 1.2 times",
    )


@claim(
    "limited",
    where="§5.2",
    says="A sender limited to 1.425 Mbit/s, 95% of the rate, has 1.38 Mbit/s.",
    unit="Mbit/s",
    paper=REMEDIES["limited"][0],
    figures=("remedies",),
)
def claim_limited(lab: Lab) -> Finding:
    """Measure a sender that keeps to a rate below the policer's."""
    found, loss = (tamed(lab, "limited").estimate(metric) for metric in ("goodput", "lost"))
    return Finding(
        within(found, 1.38 / SAME, 1.38 * SAME),
        f"1.425 Mbit/s of packets are 1.3756 Mbit/s of user data. Lost: {shown(loss)}%",
    )


@claim(
    "pacing-helps",
    where="§5.2",
    says="Pacing more than doubles the goodput, and loses fewer packets.",
    unit="paced / plain",
    paper=1.23 / 0.452,
    figures=("remedies",),
)
def claim_helps(lab: Lab) -> Finding:
    """Compare the paced sender with the plain one."""
    plain, paced = tamed(lab, "plain"), tamed(lab, "paced")
    return Finding(
        together(
            above(
                ratio(paced.values("goodput"), plain.values("goodput")),
                2,
                "goodput",
                of="goodput, paced over plain,",
            ),
            below(ratio(paced.values("lost"), plain.values("lost")), 1, "loss", of="loss, paced over plain,"),
        ),
        "It helps, but by less than printed, because the plain sender does better here",
    )


@claim(
    "today",
    where="beyond the paper",
    says="Behind 1.5 Mbit/s with 8 kB CUBIC of today (RACK) has what CUBIC of 2015 had; BBR has the rate.",
    unit="today / 2015",
    figures=("tcps",),
)
def claim_today(lab: Lab) -> Finding:
    """Compare TCPs of today with that of the laboratory."""
    old = point(lab, "policer", 1.5, "8 kB")
    numbers, found = [], {}
    for words, changes in lab.points(cases.TCPS):
        study = found[words] = point(lab, "policer", 1.5, "8 kB", changes)
        numbers.append(f"{words} {shown(study.estimate('goodput'))}, {shown(study.estimate('lost'))}% lost")
    new = ratio(found["CUBIC of today"].values("goodput"), old.values("goodput"))
    return Finding(
        together(
            within(new, 1 / SAME, SAME, "CUBIC", of="CUBIC's goodput, today's over that of 2015,"),
            above(
                scaled(found["BBR"].estimate("goodput"), 1.5),
                0.85,
                "BBR",
                of="BBR's goodput over the rate",
                unit="share of the rate",
            ),
        ),
        f"Mbit/s: {'; '.join(numbers)}. BBR paces, and detects policers (bbr version 1)",
    )


@claim(
    "not-random-loss",
    where="§2, §3",
    says="Losses of a policer are no random losses: as many of those cost a transfer most of its goodput.",
    unit="random loss / policed",
    figures=("random-loss",),
)
def claim_random(lab: Lab) -> Finding:
    """Compare a policer of 1.5 Mbit/s and 1 MB with random loss of the share that it drops."""
    policed = point(lab, "policer", 1.5, "1 MB")
    random = cases.lossy(lab, 12.3)
    found = ratio(random.values("goodput"), policed.values("goodput"))
    return Finding(
        below(found, COLLAPSES),
        f"1.5 Mbit/s and 1 MB lose {shown(policed.estimate('lost'))}% and give "
        f"{shown(policed.estimate('goodput'))} "
        f"Mbit/s; with 12.3% of random loss and no limit of the rate it is "
        f"{shown(random.estimate('goodput'))}. A "
        "policer loses many in a row when slow start has emptied the bucket, and few afterwards",
    )
