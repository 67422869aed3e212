"""Figs. 3 and 7: who is connected to whom."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure as Picture
from tidegate_papers.api import ACCENT, FILL, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from tidegate_papers.api import Lab


def link_words(gate: dict[str, Any]) -> str:
    """Return a link's rate and delay in two lines."""
    speed = gate.get("rate")
    law = "DTM" if isinstance(speed, dict) else str(speed)
    return f"{law}\n{gate.get('delay', '0 ms')}"


def node(axes: Axes, x: float, y: float, name: str) -> None:
    """Draw a node."""
    axes.plot([x], [y], "o", ms=19, mfc="white", mec=INK, mew=1.1, zorder=3)
    axes.text(x, y, name, ha="center", va="center", fontsize=9, weight="bold", zorder=4)


def link(axes: Axes, here: tuple[float, float], there: tuple[float, float], words: str, **look: Any) -> None:
    """Draw a link with words above it."""
    axes.plot([here[0], there[0]], [here[1], there[1]], zorder=1, **{"color": INK, "lw": 1.1, **look})
    x, y = (here[0] + there[0]) / 2, (here[1] + there[1]) / 2
    axes.text(x, y + 0.12, words, ha="center", va="bottom", fontsize=7.8, linespacing=1.3)


def queue(axes: Axes, x: float, y: float, words: str) -> None:
    """Draw a queue beside a node."""
    for n in range(4):
        axes.add_patch(
            _box(x - 0.26 + 0.13 * n, y - 0.52, 0.12, 0.2, FILL if n else "white"),
        )
    axes.text(x, y - 0.6, words, ha="center", va="top", fontsize=7.8)


def _box(x: float, y: float, width: float, height: float, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, facecolor=colour, edgecolor=INK, lw=0.8)


def empty(width: float, height: float, right: float, bottom: float, top: float) -> tuple[Picture, Axes]:
    """Return a picture without axes."""
    picture = Picture(figsize=(width, height))
    axes = picture.add_axes((0.02, 0.02, 0.96, 0.96))
    axes.set_xlim(-0.5, right)
    axes.set_ylim(bottom, top)
    axes.axis("off")
    return picture, axes


def draw_3(lab: Lab) -> Picture:
    """Draw the topology of one flow."""
    gates = tomllib.loads(lab.file("one-flow").read_text(encoding="utf-8"))["gate"]
    picture, axes = empty(8.0, 1.9, 8.5, -1.15, 0.9)
    places = [(2.0 * n, 0.0) for n in range(5)]
    for here, there, name in zip(places, places[1:], ("access", "own", "channel", "sink"), strict=False):
        thick = {"color": ACCENT, "lw": 3.0} if name == "channel" else {}
        link(axes, here, there, link_words(gates[name]), **thick)
    for n, place in enumerate(places, start=1):
        node(axes, *place, str(n))
    queue(axes, *places[1], gates["own"]["queue"])
    queue(axes, *places[2], gates["channel"]["queue"])
    return picture


def draw_7(lab: Lab) -> Picture:
    """Draw the topology of two flows."""
    gates = tomllib.loads(lab.file("two-flows").read_text(encoding="utf-8"))["gate"]
    picture, axes = empty(8.6, 2.9, 10.5, -1.75, 1.6)
    for y in (0.85, -0.85):
        link(axes, (0.0, y), (2.0, y), f"{gates['access']['rate']}")
        link(axes, (2.0, y), (4.0, 0.0), "")
        axes.text(
            2.75, y * 0.98 + 0.12, f"{gates['own']['rate']}, {gates['own']['delay']}", fontsize=7.8, ha="left"
        )
        queue(axes, 2.0, y, gates["own"]["queue"])
        link(axes, (8.0, 0.0), (10.0, y), "")
        words = link_words(gates["sink"]).replace("\n", ", ")
        axes.text(8.75 if y > 0 else 9.45, 0.68 if y > 0 else -0.3, words, fontsize=7.8, ha="center")
    link(axes, (4.0, 0.0), (6.0, 0.0), link_words(gates["trunk"]))
    link(axes, (6.0, 0.0), (8.0, 0.0), link_words(gates["channel"]), color=ACCENT, lw=3.0)
    queue(axes, 6.0, 0.0, gates["channel"]["queue"])
    for n, y in enumerate((0.85, -0.85), start=1):
        node(axes, 0.0, y, f"s{n}")
        axes.plot([2.0], [y], "o", ms=5, color=INK, zorder=3)
        node(axes, 10.0, y, f"d{n}")
    for x, name in ((4.0, "2"), (6.0, "3"), (8.0, "4")):
        node(axes, x, 0.0, name)
    return picture
