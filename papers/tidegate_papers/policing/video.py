"""Claims on video: Tables 5 and 6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, above, below, claim, count, paired, scaled, shown, within
from tidegate_papers.policing import cases
from tidegate_papers.policing.measured import JOIN, REBUFFERING

if TYPE_CHECKING:
    from tidegate_papers.api import Estimate, Judgement, Lab, Study

#: A time of the tables is met within this factor.
NEAR = 1.35


@claim(
    "small-bucket-rebuffers",
    where="§5.1, Table 5",
    says="At 0.5 Mbit/s a bucket of 8 kB makes a video wait longer than one of 32 to 256 kB.",
    unit="share of buckets",
    paper=1.0,
    figures=("video",),
)
def claim_small(lab: Lab) -> Finding:
    """Compare the waits of a player behind a small bucket with those behind larger ones."""
    small = cases.player(lab, 8).values("waited")
    middle = lab.judged(cases.BUCKETS.only(lambda bucket: 32 <= bucket <= 256))
    cells = [
        above(paired(small, cases.player(lab, bucket).values("waited")), 0, f"{bucket} kB")
        for bucket in middle
    ]
    numbers = ", ".join(
        f"{shown(cases.player(lab, bucket).estimate('waited'))} with {bucket} kB (printed: "
        f"{REBUFFERING[bucket]:g})"
        for bucket in lab.points(cases.BUCKETS)
    )
    return Finding(
        count(cells, runs=16),
        f"Seconds of waiting in a video of 30 s at 0.5 Mbit/s, in chunks of 2 s: {numbers}. The paper "
        f"does not say what "
        "rate its video has or how long its chunks are; these are our choice",
    )


@claim(
    "rebuffering",
    where="§5.1, Table 5",
    says="Seconds of rebuffering, by bucket.",
    unit="share of buckets",
    paper=1.0,
    figures=("video",),
)
def claim_seconds(lab: Lab) -> Finding:
    """Compare the waits with those of the table."""
    cells = [
        within(
            scaled(cases.player(lab, bucket).estimate("waited"), REBUFFERING[bucket]),
            1 / NEAR,
            NEAR,
            f"{bucket} kB",
        )
        for bucket in lab.judged(cases.BUCKETS)
    ]
    return Finding(
        count(cells, runs=16),
        f"Met is within {NEAR:g} times. A bucket of 256 kB or more brings the first 4 s of this video "
        "at once, and a player that goes on at the same quality then never waits. Players that adapt "
        "stand with the next claim",
    )


@claim(
    "large-bucket-misleads",
    where="§5.1, Table 5",
    says="With 512 kB and more a video waits longer than with 128 kB: 2.4 to 3.1 s after 1.6 s.",
    unit="share of cases",
    paper=1.0,
    figures=("video",),
)
def claim_misled(lab: Lab) -> Finding:
    """Compare the waits of players that adapt, behind large buckets and a middle one."""
    cells: list[Judgement] = []
    numbers: list[str] = []

    def longer(one: Study, other: Study) -> Estimate:
        return paired(one.values("waited"), other.values("waited"))

    for rule in lab.points(cases.RULES):
        middle, *large = (cases.player(lab, bucket, rule) for bucket in (cases.WITHOUT, *cases.BURSTS))
        seconds = ", ".join(shown(each.estimate("waited")) for each in (middle, *large))
        numbers.append(f"{rule} {seconds}, at {shown(large[-1].estimate('quality'))} Mbit/s with the largest")
        if rule in lab.judged(cases.RULES):
            cells.extend(
                above(longer(each, middle).single(), 0, f"{rule}, {bucket} kB")
                for bucket, each in zip(cases.BURSTS, large, strict=True)
            )
    sizes = ", ".join(f"{bucket}" for bucket in (cases.WITHOUT, *cases.BURSTS))
    return Finding(
        count(
            cells,
            runs=16,
            rule="the whole 95% interval of how much longer a video waits with the large bucket lies above 0",
        ),
        f"Seconds of waiting with {sizes} kB, by how the player chooses among 0.25, 0.5, 1 and 2 Mbit/s: "
        f"{'; '.join(numbers)}. A player that takes the first burst for the rate chooses a quality that the "
        "policer then does not carry; one that goes by its buffer waits hardly ever, at a lower quality. "
        "The paper does not say which rule its player has",
    )


@claim(
    "join-times",
    where="§5.1, Table 6",
    says="Seconds until a video starts, policed and shaped.",
    unit="share of cases",
    paper=1.0,
    figures=("video",),
)
def claim_join(lab: Lab) -> Finding:
    """Compare the time of a first chunk of 750 kB with the table's."""
    cells, numbers = [], []
    for size in cases.JOINS:
        for device, printed in zip(("policer", "shaper"), JOIN[size], strict=True):
            found = cases.joining(lab, device, size).estimate("join")
            cells.append(within(scaled(found, printed), 1 / NEAR, NEAR, f"{device}, {size} kB"))
            numbers.append(f"{shown(found)} for {printed:g} ({device}, {size} kB)")
    return Finding(
        count(cells, runs=16),
        f"Met is within {NEAR:g} times. 750 kB are what 12.0 s of 0.5 Mbit/s carry, so one of the six "
        f"numbers is given "
        f"and five are found. Simulated for printed: {'; '.join(numbers)}. With 2 MB the first 750 kB "
        f"need seven round "
        "trips of slow start; 0.3 s would be round trips of 40 ms",
    )


@claim(
    "policing-joins-faster",
    where="§5.1, Table 6",
    says="With 100 kB or more a policed video starts before a shaped one; with 8 kB after it.",
    unit="share of sizes",
    paper=1.0,
    figures=("video",),
)
def claim_order(lab: Lab) -> Finding:
    """Compare who starts first."""
    cells, numbers = [], []
    for size in cases.JOINS:
        policed, shaped = (
            cases.joining(lab, device, size).values("join") for device in ("policer", "shaper")
        )
        later = paired(policed, shaped)
        cells.append((above if size == 8 else below)(later, 0, f"{size} kB"))
        numbers.append(f"{shown(later)} with {size} kB")
    return Finding(
        count(
            cells,
            runs=16,
            rule="the whole 95% interval of the time by which a policed video starts later lies above 0 with "
            "8 kB, below 0 with more",
        ),
        f"Seconds by which a policed video starts later than a shaped one: {', '.join(numbers)}",
    )
