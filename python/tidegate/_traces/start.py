"""Link traces: describing, converting and making them."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from tidegate import _core
from tidegate._base.errors import ArgumentError

#: Trace formats and the suffix that names each.
FORMATS = {"mahimahi": ".down", "drp": ".drp", "csv": ".csv"}


def trace_info(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    opportunity_bytes: int = 1500,
) -> dict[str, Any]:
    """Describe a link trace: duration, mean, percentiles of its rate, outages.

    Units are in the names: ``duration_s``, ``mean_bps``.

    Args:
        path: a Mahimahi, DRP or CSV file.
        format: ``"mahimahi"``, ``"drp"`` or ``"csv"``; left out, found by name and content.
        opportunity_bytes: bytes of one Mahimahi line: 1500, or 1504 as Mahimahi charges.

    Raises:
        TraceError: the file is no such trace; the message names the line.
        OSError: the file cannot be read.
    """
    readable(path)
    result: dict[str, Any] = json.loads(_core.trace_info(os.fspath(path), format, opportunity_bytes))
    return result


def trace_convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    format: str | None = None,  # noqa: A002
    opportunity_bytes: int = 1500,
    window: str | None = None,
) -> Path:
    """Write a trace in another format without losing capacity.

    Args:
        source: the trace to read.
        target: the file to write; its suffix may name the format.
        to: ``"mahimahi"``, ``"drp"`` or ``"csv"``.
        format: of the source; left out, found by name and content.
        opportunity_bytes: bytes of one Mahimahi line, read and written.
        window: rates are means over this long, such as ``"100 ms"``.

    Raises:
        TraceError: the source is no trace, or the target's format cannot say it.
        ArgumentError: the target's format is not known.
        OSError: a file cannot be read or written.
    """
    readable(source)
    place = Path(target)
    text = _core.trace_convert(os.fspath(source), to or format_of(place), format, opportunity_bytes, window)
    place.write_text(text, encoding="utf-8", newline="\n")
    return place


def trace_synth(
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
        to: ``"mahimahi"``, ``"drp"`` or ``"csv"``.
        mean: mean rate, such as ``"5 Mbit/s"``.
        duration: length of the recording, such as ``"120 s"``.
        step: the rate is constant inside a step.
        variability: 0 is a constant rate between outages, 1 a moving phone.
        outage_share: share of the time without any service, from 0 to 0.9.
        opportunity_bytes: bytes of one Mahimahi line.
        window: drp and csv: rates are means over this long.

    Raises:
        ArgumentError: there is no such model, or a value is out of range.
        OSError: the file cannot be written.
    """
    place = Path(target)
    text = _core.trace_synth(
        model,
        seed,
        to=to or format_of(place),
        mean=mean,
        duration=duration,
        step=step,
        variability=variability,
        outage_share=outage_share,
        opportunity_bytes=opportunity_bytes,
        window=window,
    )
    place.write_text(text, encoding="utf-8", newline="\n")
    return place


def format_of(path: Path) -> str:
    """Tell a trace's format by its name.

    Raises:
        ArgumentError: the suffix names none.
    """
    suffix = path.suffix.lower()
    for name, ending in FORMATS.items():
        if suffix == ending or (name == "mahimahi" and suffix in (".up", ".mahi", ".mahimahi")):
            return name
    raise ArgumentError(f"{path}: the name does not show the format; give one of {', '.join(FORMATS)} (--to)")


def readable(path: str | os.PathLike[str]) -> None:
    """Raise the builtin ``OSError`` that says why a file cannot be read."""
    kind = stat.S_IFMT(Path(path).stat().st_mode)
    if kind in (stat.S_IFREG, stat.S_IFDIR):
        # To open a pipe or a device may wait for ever; whoever reads refuses them.
        with Path(path).open("rb"):
            pass
