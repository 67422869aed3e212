"""Buffers, bitrates and stalls of players over time, for the picture of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tidegate._base.text import rate_scale
from tidegate._draw.labels import Label
from tidegate._draw.tokens import FILL, FLOW_STYLES, INK, MID, SINGLE, SOFT
from tidegate._run.history import numbers
from tidegate._run.text_video import players

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tidegate._draw.drawing import Panel
    from tidegate._run.record import Recorded

    Floats = NDArray[np.float64]


#: Advice expires when none was heard for so long (the monitoring period of SCONE), in s.
EXPIRES = 67.0


class Watched(NamedTuple):
    """The segments of one player, by columns: in s, bit/s, bytes."""

    name: str
    asked: Floats
    ended: Floats
    bitrate: Floats
    bytes: Floats
    buffer: Floats
    stalled: Floats


def has_video(run: Recorded) -> bool:
    """Tell whether there are segments to draw."""
    return len(run.videos) > 0 and run.has("segments") and run.table("segments").height > 0


def only_video(run: Recorded) -> bool:
    """Tell whether all requests of a run are for segments of videos."""
    return bool(players(run.summary))


def _watched(run: Recorded) -> list[Watched]:
    """Return the players to draw: all, or those that stalled longest."""
    shown = sorted(run.videos, key=lambda row: -row["stalled_s"])[:SINGLE]
    names = {row.name for row in shown}
    columns = ("time_s", "ended_s", "bitrate_bps", "bytes", "buffer_s", "stalled_s")
    found = []
    for row in run.videos:
        if row.name in names:
            table = row.columns()
            found.append(Watched(row.name, *(numbers(table[name]) for name in columns)))
    return [each for each in found if len(each.asked)]


def _level(video: Watched, until: float) -> tuple[Floats, Floats, list[tuple[float, float]]]:
    """Return the buffer over time as the corners of a line, and the stalls."""
    came = ~np.isnan(video.ended)
    if not came.any():
        return np.zeros(0), np.zeros(0), []
    ended, after, stalled = video.ended[came], video.buffer[came], video.stalled[came]
    own = after[0]
    corners = [(float(video.asked[0]), 0.0), (float(ended[0]), 0.0), (float(ended[0]), float(after[0]))]
    stalls = []
    for n in range(1, len(ended)):
        if stalled[n] > 0:
            empty = float(ended[n] - stalled[n])
            stalls.append((empty, float(ended[n])))
            if empty > ended[n - 1]:
                corners.append((empty, 0.0))
        corners += [(float(ended[n]), float(after[n] - own)), (float(ended[n]), float(after[n]))]
    # The last is shown until it is over.
    empty = min(until, float(ended[-1] + after[-1]))
    corners.append((empty, max(0.0, float(after[-1] - (empty - ended[-1])))))
    if empty < until:
        corners.append((until, 0.0))
        if not came.all():
            stalls.append((empty, until))
    x, y = np.array(corners).T
    return x, y, stalls


def buffer_panel(panel: Panel, run: Recorded, until: float) -> None:
    """Draw the media time in each buffer, and stalls as grey stretches of time."""
    videos = _watched(run)
    lines = [_level(video, until) for video in videos]
    top = 1.08 * max((float(y.max()) for _, y, _ in lines if len(y)), default=1.0)
    panel.y.span(0, top)
    labels = []
    for (colour, dash), video, (x, y, stalls) in zip(FLOW_STYLES, videos, lines, strict=False):
        alone = len(videos) == 1
        for begin, end in stalls:
            panel.area([begin, end], [top, top], FILL if alone else SOFT, 0.0 if alone else 0.96 * top)
        panel.line(x, y, colour, 1.1, dash, steps=False)
        if len(y):
            labels.append(Label(float(y[-1]), "buffer" if alone else video.name, colour))
    panel.title = "Media time in the buffer (grey: a stall)"
    if len(videos) > 1:
        panel.title = "Media time in the buffer (grey, above: a stall)"
    if len(videos) < len(run.videos):
        panel.title += f" of the {len(videos)} players that stalled longest"
    panel.y_label = "s"
    panel.beside(labels)


def _advice(run: Recorded, name: str, until: float) -> tuple[Floats, Floats] | None:
    """Return the advice in force for one flow over time, in s and bit/s; None: it heard none."""
    if not run.has("advice"):
        return None
    heard = run.table("advice")
    own = heard.filter(heard["flow"].cast(str) == name)
    if not own.height:
        return None
    came, rate = numbers(own["time_s"]), numbers(own["rate_bps"])
    ends = came + EXPIRES
    changes = np.unique(np.concatenate([came, ends[ends < until]]))
    in_force = [rate[(came <= at) & (at < ends)].min(initial=np.inf) for at in changes]
    x, y = np.append(changes, until), np.append(in_force, in_force[-1])
    return x, np.where(np.isfinite(y), y, np.nan)


def bitrate_panel(panel: Panel, run: Recorded, until: float) -> None:
    """Draw the bitrate of each segment from when it was asked for, how fast segments came, and advice."""
    videos = _watched(run)
    speeds = []
    for video in videos:
        with np.errstate(divide="ignore", invalid="ignore"):
            speeds.append(8 * video.bytes / (video.ended - video.asked))
    highest = max(float(video.bitrate.max()) for video in videos)
    fastest = [speed[np.isfinite(speed)] for speed in speeds]
    p90 = max((float(np.quantile(each, 0.9)) for each in fastest if len(each)), default=0.0)
    advice = _advice(run, videos[0].name, until) if len(videos) == 1 else None
    advised = 0.0 if advice is None else float(np.nan_to_num(advice[1]).max())
    top = 1.12 * max(highest, min(p90, 2 * highest), min(advised, 2 * highest))
    factor, unit = rate_scale(top)
    panel.y.span(0, top / factor)
    alone = len(videos) == 1
    labels = []
    for (colour, dash), video, speed in zip(FLOW_STYLES, videos, speeds, strict=False):
        if alone:
            there = np.isfinite(speed)
            beyond = there & (speed > top)
            panel.points(video.ended[there & ~beyond], speed[there & ~beyond] / factor, "circle", MID, 2.4)
            panel.points(video.ended[beyond], panel.y.high, "up", MID, 4, over=True)
        panel.line(video.asked, video.bitrate / factor, colour, 1.4, dash)
        labels.append(Label(float(video.bitrate[-1] / factor), "bitrate" if alone else video.name, colour))
    if advice is not None:
        x, y = advice
        panel.line(x, y / factor, INK, 1.0, (5, 1.6))
        labels.append(Label(float(y[-1] / factor), "advice", INK))
    panel.title = "Bitrate" + (" (dots: how fast each segment came)" if alone else "")
    panel.y_label = unit
    panel.beside(labels)
