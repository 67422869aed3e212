"""Response times over time, for the picture of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.text import number
from tidegate._draw.labels import Label
from tidegate._draw.tokens import ACCENT, INK, MID
from tidegate._run.history import numbers
from tidegate._run.table import ALL

if TYPE_CHECKING:
    from tidegate._draw.drawing import Panel
    from tidegate._run.record import Recorded

#: More requests than this are drawn as a faint cloud.
_MANY = 400


def has_requests(run: Recorded) -> bool:
    """Tell whether there are response times to draw."""
    return len(run.requests) > 0 and run.has("requests") and run.table("requests").height > 0


def response_panel(panel: Panel, run: Recorded) -> None:
    """Draw every response time where its request was asked, the median and the 95th percentile.

    A request without a response is a mark at the top.
    """
    every = run.requests.row(ALL)
    series = every.series("response")
    asked, took = numbers(series["time_s"]), numbers(series["response_s"])
    many = len(asked) > _MANY
    panel.points(asked, took, "circle", ACCENT, 2 if many else 3.2, opacity=0.35 if many else 0.8)
    labels = []
    for key, word, dash in (("response_p50_s", "median", ()), ("response_p95_s", "p95", (5, 1.6))):
        value = every[key]
        if value is not None:
            panel.level(value, INK, 0.9, dash)
            labels.append(Label(float(value), f"{word} {number(value)} s", INK))
    done = took[~np.isnan(took)]
    if len(done) and done.min() > 0 and done.max() > 20 * done.min():
        # From the least to the largest, with a little room beyond both.
        room = (done.max() / done.min()) ** 0.05
        panel.y.log = True
        panel.y.span(done.min() / room, done.max() * room)
    else:
        panel.y.span(0, 1.1 * float(done.max()) if len(done) else 1.0)
    open_ = asked[np.isnan(took)]
    panel.points(open_, panel.y.high, "up", MID, 4, over=True)
    panel.title = "Response times" + (" (▲: no response by the end)" if len(open_) else "")
    panel.y_label = "s"
    panel.beside(labels)
