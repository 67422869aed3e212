"""The pictures of the suite: goodput over queueing delay, one panel a link, one point a sender."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.transports.picture import DELAY, GOODPUT, draw
from tidegate.transports.suite import LINKS
from tidegate_papers.api import Figure
from tidegate_papers.transports.claims import senders, study

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Lab

_ABOUT = (
    ("fixed", "links of a fixed rate", "Links of a fixed rate"),
    ("changing", "links that change, and ways back", "Links that change, and ways back"),
    ("shared", "applications, and others on the link", "Applications, and others on the link"),
)


def _drawing(name: str) -> Callable[[Lab], Picture]:
    """Make the function that draws a figure."""

    def drawn(lab: Lab) -> Picture:
        rows = []
        for link in (link for link in LINKS.values() if link.figure == name):
            found = [(sender, study(lab, link, changes)) for sender, changes in lab.points(senders(link))]
            rows.append(
                (link.name, [(sender, one.estimate(DELAY), one.estimate(GOODPUT)) for sender, one in found])
            )
        return draw(rows)

    return drawn


FIGURES = [
    Figure(
        name,
        where,
        f"{title}: goodput and queueing delay of each sender",
        "Means of 16 runs with their 95% intervals. Delay, which 1% of the packets exceed, grows to the "
        "left: the best place is at the upper right.",
        _drawing(name),
    )
    for name, where, title in _ABOUT
]
