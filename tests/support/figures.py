"""A link and a flow to draw, and what is read back from a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINK: dict[str, Any] = {"rate": "6 Mbit/s", "queue": "15 packets", "delay": "10 ms"}
FLOW: dict[str, Any] = {"path": ["link"], "rtt": "40 ms"}
BASE: dict[str, Any] = {"title": "Pictures", "duration": "5 s", "warmup": "1 s", "seed": 3}


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def texts(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(match=lambda each: hasattr(each, "get_text")))


def panel(figure: Figure, word: str) -> Axes:
    return next(axes for axes in figure.axes if word in axes.get_title(loc="left"))
