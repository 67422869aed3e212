"""Link traces: describing, converting and making them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._base.calls import checked
from tidegate._base.files import readable, write_text
from tidegate._base.lazy import Lazy
from tidegate._base.written import check_outputs
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib import figure as mpl

    from tidegate._draw.drawing import Drawing
else:
    mpl = Lazy("matplotlib.figure")

#: Windows of a picture, about.
_WINDOWS = 600
#: Bytes of one Mahimahi line, where nothing is said.
_OPPORTUNITY = 1500

#: Trace formats and the suffixes that name each.
FORMATS = {
    "mahimahi": (".down", ".up", ".mahi", ".mahimahi"),
    "drp": (".drp",),
    "csv": (".csv",),
    "seconds-mbps": (),
}


@checked
def info(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    opportunity_bytes: int | None = None,
    time_column: str | None = None,
    rate_column: str | None = None,
    time_unit: str | None = None,
    rate_unit: str | None = None,
    where: str | None = None,
    step: str | None = None,
) -> dict[str, Any]:
    """Describe a link trace: duration, mean, percentiles of its rate, outages.

    Units are in the names: ``duration_s``, ``mean_bps``.

    Args:
        path: the file.
        format: ``"mahimahi"``, ``"drp"``, ``"csv"`` or ``"seconds-mbps"``; left out, found
            by name and content.
        opportunity_bytes: bytes of one Mahimahi line; left out, 1500. Mahimahi charges 1504.
        time_column: of a table: the column with the times, by its name or its number from 1.
        rate_column: of a table: the column with the rates.
        time_unit: of a table: ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``.
        rate_unit: of a table: such as ``"Mbit/s"``; ``"bytes"`` is an amount since the row before.
        where: of a table: ``"COLUMN=VALUE"`` keeps the rows with this value.
        step: how long each rate holds where the file has no times, such as ``"1 s"``.

    Raises:
        TraceError: the file is no such trace; the message names the line.
        ArgumentError: a unit or a time is not known, or ``opportunity_bytes`` is given for rates.
        OSError: the file cannot be read.
    """
    readable(path)
    table = table_of(time_column, rate_column, time_unit, rate_unit, where, step)
    return _about(path, format, opportunity_bytes, table)


def _about(
    path: str | os.PathLike[str],
    format: str | None,  # noqa: A002
    opportunity_bytes: int | None,
    table: dict[str, str],
) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        _core.trace_info(os.fspath(path), format, opportunity_bytes or _OPPORTUNITY, table)
    )
    if found["kind"] != "opportunities":
        _refuse_bytes(path, opportunity_bytes)
    return found


def _refuse_bytes(path: str | os.PathLike[str], opportunity_bytes: int | None) -> None:
    """Refuse bytes of opportunities where a trace has none.

    Raises:
        ArgumentError: there are some.
    """
    if opportunity_bytes is not None:
        raise ArgumentError(
            f"{os.fspath(path)}: opportunity bytes are of the opportunities of Mahimahi, and this trace has "
            "rates; take them out"
        )


@checked
def plot(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002
    opportunity_bytes: int | None = None,
    time_column: str | None = None,
    rate_column: str | None = None,
    time_unit: str | None = None,
    rate_unit: str | None = None,
    where: str | None = None,
    step: str | None = None,
    window: str | None = None,
) -> mpl.Figure:
    """Draw a link trace: its rate over time with its outages, and the share of the time below each rate.

    Args:
        path: the file.
        target: a picture to write, .png, .svg or .pdf; left out, the figure is only returned.
        format: as in :func:`info`.
        opportunity_bytes: bytes of one Mahimahi line.
        time_column, rate_column, time_unit, rate_unit, where, step: as in :func:`info`.
        window: rates are means over this long; left out, over 100 ms, or over a 600th of a longer
            trace.

    Raises:
        TraceError: the file is no such trace; the message names the line.
        ArgumentError: ``window`` is no time, or the suffix of ``target`` is none of .png, .svg, .pdf.
        OSError: a file cannot be read or written.
    """
    from tidegate._draw.style import suffix_of
    from tidegate._draw.write import written

    if target is not None:
        suffix_of(Path(target))
        check_outputs([os.fspath(path)], [os.fspath(target)])
    table = table_of(time_column, rate_column, time_unit, rate_unit, where, step)
    return written(drawn(path, format, opportunity_bytes, window, table), target)


def drawn(
    path: str | os.PathLike[str],
    format: str | None,  # noqa: A002
    opportunity_bytes: int | None,
    window: str | None,
    table: dict[str, str],
) -> Drawing:
    """Return the drawing of :func:`plot`; ``table``: what is said of columns."""
    from tidegate.traces._plot import trace_drawing

    readable(path)
    about = _about(path, format, opportunity_bytes, table)
    chosen = window if window is not None else f"{max(100, round(about['duration_s'] * 1e3 / _WINDOWS))} ms"
    each = opportunity_bytes or _OPPORTUNITY
    text = _core.trace_convert(os.fspath(path), "csv", format, each, chosen, table)
    return trace_drawing(Path(path).name, about, text, chosen)


@checked
def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    format: str | None = None,  # noqa: A002
    opportunity_bytes: int | None = None,
    time_column: str | None = None,
    rate_column: str | None = None,
    time_unit: str | None = None,
    rate_unit: str | None = None,
    where: str | None = None,
    step: str | None = None,
    window: str | None = None,
) -> Path:
    """Write a trace in another format without losing capacity.

    Args:
        source: the trace to read.
        target: the file to write; its suffix may name the format.
        to: ``"mahimahi"``, ``"drp"``, ``"csv"`` or ``"seconds-mbps"``.
        format: of the source; left out, found by name and content.
        opportunity_bytes: bytes of one Mahimahi line, read and written.
        time_column, rate_column, time_unit, rate_unit, where, step: as in :func:`info`.
        window: rates are means over this long, such as ``"100 ms"``.

    Raises:
        TraceError: the source is no trace, or the target's format cannot say it.
        ArgumentError: the target's format is not known, or it is the source.
        OSError: a file cannot be read or written.
    """
    readable(source)
    check_outputs([os.fspath(source)], [os.fspath(target)])
    place = Path(target)
    table = table_of(time_column, rate_column, time_unit, rate_unit, where, step)
    asked = to or format_of(place)
    if opportunity_bytes is not None and asked != "mahimahi":
        _about(source, format, opportunity_bytes, table)
    each = opportunity_bytes or _OPPORTUNITY
    text = _core.trace_convert(os.fspath(source), asked, format, each, window, table)
    return write_text(place, text)


@checked
def synth(
    target: str | os.PathLike[str],
    *,
    seed: int,
    model: str = "cellular",
    to: str | None = None,
    mean: str | None = None,
    duration: str | None = None,
    step: str | None = None,
    variability: float | None = None,
    outage_share: float | None = None,
    opportunity_bytes: int | None = None,
    window: str | None = None,
) -> Path:
    """Write a link trace made from a documented stochastic model.

    The same arguments give the same bytes. What is left out is the model's own choice.

    Args:
        target: the file to write; its suffix may name the format.
        seed: every random stream derives from it.
        model: ``"cellular"``, a moving phone's LTE link.
        to: ``"mahimahi"``, ``"drp"``, ``"csv"`` or ``"seconds-mbps"``.
        mean: mean rate, such as ``"5 Mbit/s"``. The opportunities of a Mahimahi file are drawn, so that its
            mean differs from that by chance.
        duration: length of the recording, such as ``"120 s"``.
        step: the rate is constant inside a step.
        variability: 0 is a constant rate between outages, 1 a moving phone.
        outage_share: share of the time without any service, from 0 to 0.9.
        opportunity_bytes: bytes of one Mahimahi line.
        window: not for mahimahi: rates are means over this long.

    Raises:
        ArgumentError: there is no such model, or a value is out of range.
        OSError: the file cannot be written.
    """
    place = Path(target)
    asked = to or format_of(place)
    if asked in FORMATS and asked != "mahimahi":
        _refuse_bytes(place, opportunity_bytes)
    text = _core.trace_synth(
        model,
        seed,
        to=asked,
        mean=mean,
        duration=duration,
        step=step,
        variability=variability,
        outage_share=outage_share,
        opportunity_bytes=opportunity_bytes,
        window=window,
    )
    return write_text(place, text)


def table_of(
    time_column: str | None,
    rate_column: str | None,
    time_unit: str | None,
    rate_unit: str | None,
    where: str | None,
    step: str | None,
) -> dict[str, str]:
    """Return what was said of a table, by the names of a scenario's keys."""
    keys = {
        "time_column": time_column,
        "rate_column": rate_column,
        "time_unit": time_unit,
        "rate_unit": rate_unit,
        "where": where,
        "step": step,
    }
    return {key: text for key, text in keys.items() if text is not None}


def format_of(path: Path) -> str:
    """Tell a trace's format by its name.

    Raises:
        ArgumentError: the suffix names none.
    """
    suffix = path.suffix.lower()
    for name, endings in FORMATS.items():
        if suffix in endings:
            return name
    raise ArgumentError(f"{path}: the name does not show the format; give one of {', '.join(FORMATS)} (--to)")
