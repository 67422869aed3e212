"""The picture of a link: goodput over queueing delay, one point a sender."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._draw.panels import LOOKS, panels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from tidegate._base.estimate import Estimate

#: What is drawn of a sender: queueing delay that 1% exceed, ms, and goodput, bit/s.
DELAY, GOODPUT = "gate.link.queue_delay_p99_ms", "flow.one.goodput_bps"
COLUMNS = 4
_MARKERS = "os^Dv*PXh"
#: A sender with its delay and goodput.
Point = tuple[str, "Estimate", "Estimate"]


def draw(links: Sequence[tuple[str, Sequence[Point]]], *, own: str | None = None) -> Picture:
    """Draw a panel for each link, by its name; a sender looks the same everywhere.

    ``own``: the sender that the picture is about.
    """
    rows = -(-len(links) // COLUMNS)
    picture, axes = panels(7.2, 1.1 + 1.75 * rows, rows, COLUMNS)
    places = [axis for row in axes for axis in row]
    senders = dict.fromkeys(sender for _, points in links for sender, *_ in points)
    looks = {sender: number for number, sender in enumerate(senders)}
    for axis, (name, points) in zip(places, links, strict=False):
        axis.set_title(name, fontsize=8.5)
        _panel(axis, points, looks, own)
    for axis in places[len(links) :]:
        axis.axis("off")
    for number, axis in enumerate(places[: len(links)]):
        if number + COLUMNS >= len(links):
            axis.set_xlabel("delay, p99, ms", fontsize=8)
        if number % COLUMNS == 0:
            axis.set_ylabel("goodput, Mbit/s", fontsize=8)
    picture.legend(
        *places[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=8
    )
    return picture


def _panel(axis: Axes, points: Sequence[Point], looks: dict[str, int], own: str | None) -> None:
    right, top = 5.0, 0.0
    for sender, delay, goodput in points:
        number = looks[sender]
        colour = LOOKS[number % len(LOOKS)][0]
        x, y = delay.mean or 0, (goodput.mean or 0) / 1e6
        right, top = max(right, x), max(top, y)
        axis.errorbar(
            [x],
            [y],
            xerr=[[arm] for arm in delay.arms],
            yerr=[[arm / 1e6] for arm in goodput.arms],
            color=colour,
            marker=_MARKERS[number % len(_MARKERS)],
            # Senders often have the same place: all are seen through.
            mfc=colour if sender == own else "none",
            mew=1.1,
            ms=6.5,
            lw=0,
            elinewidth=0.9,
            label=sender,
        )
    axis.tick_params(labelsize=7)
    axis.set_ylim(0, 1.12 * top or 1)
    # Less delay is to the right: the best place is the upper right corner.
    axis.set_xlim(left=1.15 * right, right=-0.06 * right)
