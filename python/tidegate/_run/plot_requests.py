"""Response times over time, for the picture of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.text import number
from tidegate._draw.marks import Label, label_right
from tidegate._draw.style import ACCENT, INK, MID
from tidegate._run.history import numbers
from tidegate._run.table import ALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidegate._run.record import Recorded

#: More requests than this are drawn as a faint cloud.
_MANY = 400


def has_requests(run: Recorded) -> bool:
    """Tell whether there are response times to draw."""
    return len(run.requests) > 0 and run.has("requests") and run.table("requests").height > 0


def response_panel(axes: Axes, run: Recorded) -> None:
    """Draw every response time where its request was asked, the median and the 95th percentile.

    A request without a response is a mark at the top.
    """
    every = run.requests.row(ALL)
    series = every.series("response")
    asked, took = numbers(series["time_s"]), numbers(series["response_s"])
    many = len(asked) > _MANY
    axes.plot(
        asked,
        took,
        ls="",
        marker="o",
        ms=2 if many else 3.2,
        mew=0,
        color=ACCENT,
        alpha=0.35 if many else 0.8,
    )
    labels = []
    for key, word, style in (("response_p50_s", "median", "-"), ("response_p95_s", "p95", (0, (5, 1.6)))):
        value = every[key]
        if value is not None:
            axes.axhline(value, color=INK, lw=0.9, ls=style)
            labels.append(Label(float(value), f"{word} {number(value)} s", INK))
    done = took[~np.isnan(took)]
    if len(done) and done.min() > 0 and done.max() > 20 * done.min():
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        labels = [Label(float(np.log10(label.y)), label.text, label.colour) for label in labels]
    else:
        axes.set_ylim(0, 1.1 * float(done.max()) if len(done) else 1.0)
    open_ = asked[np.isnan(took)]
    top = axes.get_ylim()[1]
    axes.plot(open_, np.full(len(open_), top), ls="", marker="^", ms=4, mew=0, color=MID, clip_on=False)
    axes.set_title("Response times" + (" (▲: no response by the end)" if len(open_) else ""))
    axes.set_ylabel("s")
    label_right(axes, labels, log=axes.get_yscale() == "log")
