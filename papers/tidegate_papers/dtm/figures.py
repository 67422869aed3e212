"""Figs. 2 to 9 of the DTM paper, and pictures of what goes beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Figure
from tidegate_papers.dtm import from_studies, over_time, topology

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Lab


def _figure(id_: str, where: str, title: str, draw: Callable[[Lab], Picture], caption: str) -> Figure:
    return Figure(id_, where, title, caption, draw)


BEYOND = "Beyond the paper"
FIGURES = [
    _figure(
        "fig-2", "Fig. 2", "Measured throughput and slot allocation", over_time.draw_2,
        "One Reno flow. Left: what is measured every 100 ms, and the estimate that moves an eighth of the "
        "way each time. Right: the slots in force. They change at whole seconds, and only when the "
        "estimate has left its bounds.",
    ),
    _figure(
        "fig-3", "Fig. 3", "Topology of one flow", topology.draw_3,
        "Rate and delay of each link, and the queues in front of the bottleneck and of the channel. ACKs "
        "return over 512 kbit/s.",
    ),
    _figure(
        "fig-4", "Fig. 4", "Reno, 50 packets at the bottleneck", over_time.draw_4,
        "The window's sawtooth leaves the rate past the bottleneck alone, and with it the allocation.",
    ),
    _figure(
        "fig-5", "Fig. 5", "Reno, 10 packets at the bottleneck", over_time.draw_5,
        "Above the calmest of 16 start phases: the sawtooth reaches the rate, the corridor hides it. Below "
        "the most restless: Reno loses two packets per cycle, halves its window twice or times out, and "
        "the allocation follows.",
    ),
    _figure(
        "fig-6", "Fig. 6", "Tahoe, 10 packets, a link of 50 ms", over_time.draw_6,
        "Every loss sends the window to one segment; the allocation follows about two seconds later.",
    ),
    _figure(
        "fig-7", "Fig. 7", "Topology of two flows", topology.draw_7,
        "Each flow has its own buffer before node 2; both share the channel with ten packets of queue. "
        "Each sink link is a flow's own.",
    ),
    _figure(
        "fig-8", "Fig. 8", "Two Reno flows, static channel", over_time.draw_8,
        "Over 10 Mbit/s that stay both flows have their 5 Mbit/s; losses are those of each flow's own "
        "buffer.",
    ),
    _figure(
        "fig-9", "Fig. 9", "Two Reno flows, dynamic channel", over_time.draw_9,
        "The same flows over a channel that follows them. Strokes at the bottom: packets lost at node 3. "
        "Each loss halves a window, the estimate follows, and the channel's next rate is lower.",
    ),
    _figure(
        "margin", BEYOND, "What MARGIN and CORRIDOR do", from_studies.draw_margin,
        "Goodput of one Reno flow, 16 runs each. Half the corridor is added to every allocation: either "
        "constant alone is too little.",
    ),
    _figure(
        "queue", BEYOND, "A longer queue at the channel", from_studies.draw_queue,
        "Goodput of the two flows of Fig. 9 against the channel's queue.",
    ),
    _figure(
        "remedies", BEYOND, "Both remedies that the paper proposes", from_studies.draw_remedies,
        "Goodput of the two flows of Fig. 9 over that on a static channel of 10 Mbit/s at the same round "
        "trip. Dotted: 0.95, taken as good as static. Above 1: the static channel of exactly 10 Mbit/s has "
        "the worse phases there.",
    ),
    _figure(
        "variants", BEYOND, "Other TCPs in Fig. 9's channel", from_studies.draw_variants,
        "Goodput of two flows of each kind: static channel, dynamic channel, dynamic channel with a slower "
        "decrease.",
    ),
    _figure(
        "saving", BEYOND, "How much capacity is saved", from_studies.draw_saving,
        "Static channels of several rates, and the dynamic channel at the capacity that it held in the "
        "mean. Left of the static curve is a saving.",
    ),
    _figure(
        "map", BEYOND, "When a dynamic channel is as good as a static one", from_studies.draw_map,
        "Goodput over that of a static channel of 10 Mbit/s with the same queue and round trip. Framed: at "
        "least 0.95 with its whole interval.",
    ),
]  # fmt: skip
