"""The picture of the suite: goodput over queueing delay, one panel a link, one point a sender."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.api import LOOKS, Figure, Points, panels
from tidegate.papers.transports.claims import SENDERS, study
from tidegate.papers.transports.links import (
    ASYMMETRIC,
    BUCKET,
    BURSTS,
    CODEL,
    DEEP,
    LOSS,
    OUTAGE,
    PLAIN,
    POLICER,
    SHALLOW,
    VARYING,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from tidegate.papers.api import Lab

#: Links with one sender.
ALONE = Points(
    (PLAIN, SHALLOW, DEEP, POLICER, BUCKET, LOSS, BURSTS, CODEL, ASYMMETRIC, VARYING, OUTAGE),
    quick=(PLAIN, SHALLOW, POLICER, CODEL),
)
COLUMNS = 4


def draw_delay(lab: Lab) -> Picture:
    """Draw goodput over the queueing delay that 1% of the packets exceed."""
    links = lab.points(ALONE)
    rows = -(-len(links) // COLUMNS)
    picture, axes = panels(7.2, 1.2 + 1.7 * rows, rows, COLUMNS, sharey=True)
    places = [axis for row in axes for axis in row]
    for axis, link in zip(places, links, strict=False):
        for number, (sender, changes) in enumerate(lab.points(SENDERS)):
            found = study(lab, link, changes)
            x, y = found.estimate("gate.link.queue_delay_p99_ms"), found.estimate("flow.one.goodput_bps")
            colour, _, marker = LOOKS[number % len(LOOKS)]
            axis.errorbar(
                [x.mean or 0],
                [(y.mean or 0) / 1e6],
                xerr=[x.half_width or 0],
                yerr=[(y.half_width or 0) / 1e6],
                color=colour,
                marker=marker,
                mfc=colour if number < len(LOOKS) else "white",
                ms=5,
                lw=0,
                elinewidth=0.9,
                label=sender,
            )
        axis.set_title(link.name, fontsize=8.5)
        axis.set_ylim(0, 21)
        # Less delay is to the right: the best place is the upper right corner.
        axis.set_xlim(left=max(5.0, 1.15 * axis.get_xlim()[1]), right=-0.5)
    for axis in places[len(links) :]:
        axis.axis("off")
    for axis in axes[-1]:
        axis.set_xlabel("queueing delay, p99, ms", fontsize=8)
    for row in axes:
        row[0].set_ylabel("goodput, Mbit/s", fontsize=8)
    picture.legend(
        *places[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=8
    )
    return picture


FIGURES = [
    Figure(
        "delay",
        "all links with one sender",
        "Goodput and queueing delay of each sender",
        "Means of 16 runs with their 95% intervals. Delay grows to the left: the best place is at the upper "
        "right.",
        draw_delay,
    )
]
