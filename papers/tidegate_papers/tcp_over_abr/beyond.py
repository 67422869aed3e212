"""What goes beyond the paper: TCPs with fast retransmit, and links of today."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate_papers.api import (
    Finding,
    Points,
    above,
    claim,
    count,
    graded,
    ratio_of_means,
    shown,
    together,
)
from tidegate_papers.tcp_over_abr import cases
from tidegate_papers.tcp_over_abr.cases import chosen, over
from tidegate_papers.tcp_over_abr.feedback import LARGE, by_psi, listed

if TYPE_CHECKING:
    from tidegate_papers.api import Estimate, Lab, Study

#: Recordings of links of the fourth generation, where the folder of TIDEGATE_TRACES has them.
RECORDED = ("Verizon-LTE-short.down", "Verizon-LTE-short.up", "ATT-LTE-driving-2016.down")
SYNTHETIC = "cellular.csv"
#: Feedback of a tenth of a round trip (a signal from the near end) to four of them.
LAGS_MS = Points((5, 20, 50, 100, 200), quick=(5, 50, 200))


@claim(
    "reno",
    where="beyond the paper",
    says="The gain of INSTCAP for slow changes holds for Reno with fast retransmit.",
    unit="INSTCAP / TCP alone",
    paper="1.25 to 1.30",
    figures=("reno",),
)
def claim_reno(lab: Lab) -> Finding:
    """Compare INSTCAP with TCP alone where changes are rare, with fast retransmit, at every buffer."""
    parts, numbers = [], []
    for buffer in (10, 8, 12):
        found = [
            (psi, over(lab, "INSTCAP", "TCP alone", psi, buffer, "Reno"))
            for psi in chosen(lab, (20, *LARGE), "Reno")
        ]
        parts += [
            graded(each, full=1.2, some=1.05, name=f"{buffer} packets at psi {psi:g}") for psi, each in found
        ]
        numbers.append(f"{buffer} packets {listed(found)}")
    return Finding(
        together(*parts),
        f"INSTCAP over TCP alone with Reno, by psi: {'; '.join(numbers)}. Without fast retransmit every loss "
        "of TCP alone is a time-out; with it most of what feedback gains is gone, and cells cost 9%",
    )


@claim(
    "reno-effcap",
    where="beyond the paper",
    says="EFFCAP always beats TCP alone for Reno, too.",
    unit="share of points",
    paper=1.0,
    figures=("reno",),
)
def claim_reno_effcap(lab: Lab) -> Finding:
    """Compare EFFCAP with TCP alone at every rate of change and buffer, with fast retransmit."""
    parts, numbers = [], []
    for buffer in (10, 8, 12):
        found = [
            (psi, over(lab, "EFFCAP", "TCP alone", psi, buffer, "Reno")) for psi in chosen(lab, tcp="Reno")
        ]
        parts += by_psi(above, found, 1, what=f"{buffer} packets")
        numbers.append(f"{buffer} packets {listed(found)}")
    return Finding(
        count(parts, runs=cases.runs(lab)),
        f"EFFCAP over TCP alone with Reno, by psi: {'; '.join(numbers)}",
    )


@claim(
    "newer",
    where="beyond the paper",
    says="Feedback beats TCP alone for SACK and CUBIC.",
    unit="share of points",
    figures=("newer",),
)
def claim_newer(lab: Lab) -> Finding:
    """Compare EFFCAP and INSTCAP with TCP alone for SACK and CUBIC."""
    parts, numbers = [], []
    wanted = (0.3, 1, 5, 50)
    for tcp in ("SACK", "CUBIC"):
        for scheme in ("INSTCAP", "EFFCAP"):
            each = [(psi, over(lab, scheme, "TCP alone", psi, 10, tcp)) for psi in chosen(lab, wanted, tcp)]
            parts += by_psi(above, each, 1, what=f"{tcp}, {scheme}")
            numbers.append(f"{tcp}, {scheme}: {listed(each)}")
    return Finding(
        count(parts, runs=cases.runs(lab)),
        f"With feedback over TCP alone, by psi, a buffer of 10: {'; '.join(numbers)}. Cells' "
        "headers are 9% of the difference: without them INSTCAP and TCP alone are nearly even",
    )


def links() -> tuple[list[tuple[str, str]], str]:
    """Return links by (words, trace file), and why the recorded ones are not there."""
    found = [("a synthetic moving phone", SYNTHETIC)]
    folder = os.environ.get("TIDEGATE_TRACES")
    if not folder:
        return found, "recorded links are skipped: TIDEGATE_TRACES names no folder of them"
    there = [Path(folder).resolve() / name for name in RECORDED]
    missing = [path.name for path in there if not path.is_file()]
    found += [(path.name, str(path)) for path in there if path.is_file()]
    return found, f"skipped, not in TIDEGATE_TRACES: {', '.join(missing)}" if missing else ""


def lags(lab: Lab) -> tuple[int, ...]:
    """Return the delays of feedback that are tried, ms."""
    return lab.points(LAGS_MS)


def traced(lab: Lab, file: str, scheme: str) -> Study:
    """Return a link of today: a point for each delay of feedback, or one for TCP alone."""
    changes: dict[str, Any] = {"gate.link.rate.trace.file": file}
    if lab.quick:
        changes["duration"] = "62 s"
    if scheme == "TCP alone":
        return lab.study("trace-alone", changes=changes, gate="link")
    if scheme == "EFFCAP":
        # The rule of thumb: M covers the round trip of 50 ms, N ten of them.
        changes[cases.EFFCAP] = {"m": 2, "n": 18}
    return lab.study(
        "trace",
        vary={"gate.abr.rate.follow.lag": [f"{lag} ms" for lag in lags(lab)]},
        changes=changes,
        gate="link",
    )


def traced_over(lab: Lab, file: str, scheme: str, metric: str, point: int) -> Estimate:
    """Return a scheme's metric over that of TCP alone on the same link."""
    these = traced(lab, file, scheme).values(metric, point)
    return ratio_of_means(these, traced(lab, file, "TCP alone").values(metric))


@claim(
    "cellular",
    where="beyond the paper",
    says="Over a cellular link feedback gives CUBIC more goodput than it has alone.",
    unit="feedback / TCP alone",
    figures=("cellular",),
)
def claim_traces(lab: Lab) -> Finding:
    """Compare goodput and delay over links of today with TCP alone."""
    found, skipped = links()
    parts, numbers = [], []
    for words, file in found:
        for scheme in ("INSTCAP", "EFFCAP"):
            goodput = [
                (lag, traced_over(lab, file, scheme, "goodput_bps", n)) for n, lag in enumerate(lags(lab))
            ]
            delay = [
                (lag, traced_over(lab, file, scheme, "gate.link.queue_delay_p99_ms", n))
                for n, lag in enumerate(lags(lab))
            ]
            lab.judged(LAGS_MS)
            parts += [above(each, 1, f"{words}, {scheme}, {lag} ms") for lag, each in goodput]
            numbers.append(
                f"{words}, {scheme}: goodput {listed(goodput)}, p99 of the wait at the link {listed(delay)}"
            )
    best = traced(lab, SYNTHETIC, "TCP alone").estimate("gate.link.queue_delay_p99_ms")
    return Finding(
        together(*parts),
        "CUBIC, 100 packets of buffer, 50 ms; over TCP alone by delay of the feedback in ms: "
        f"{'; '.join(numbers)}. "
        f"The p99 of TCP alone is {shown(best, 'ms')} on the synthetic link: feedback buys delay, not goodput"
        + (f". {skipped[0].upper()}{skipped[1:]}" if skipped else ""),
    )
