"""A run as a data file of flent, so that flent's plots and combinations take it.

The format is version 4 of flent's ``.flent.gz`` (JSON under gzip). The test is flent's ``tcp_ndown``:
each flow is ``TCP download::N``, payload in Mbit/s over steps of flent's default length.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.files import file_beside
from tidegate._base.written import check_target
from tidegate.errors import ArgumentError, NotRecordedError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from tidegate._run.record import Recorded
    from tidegate._run.table import FlowRow

    Series = np.ndarray[tuple[int], np.dtype[np.float64]]

VERSION = 4
#: flent's STEP_SIZE; a short run has this many steps at least, if its recording is fine enough.
STEP_S = 0.2
STEPS = 50
#: Virtual time has no date; the same run gives the same bytes.
EPOCH = "1970-01-01T00:00:00.000000Z"
PING = "Ping (ms) ICMP"
NOTE = (
    "Ping: round trips of the flows' own segments, mean of each step. Simulated time; the date means nothing."
)


def write_flent(run: Recorded, path: Path) -> Path:
    """Write a run as a data file of flent.

    Raises:
        ArgumentError: the suffix is wrong, or the run has no flow.
        NotRecordedError: the run kept no delivered bytes over time.
        OSError: the file cannot be written.
    """
    import gzip

    check_target(path, "data file of flent")
    text = json.dumps(flent_data(run), indent=2, sort_keys=True, allow_nan=False).encode()
    with file_beside(path) as work:
        work.write_bytes(gzip.compress(text, 9, mtime=0) if path.name.endswith(".gz") else text)
    return path


def flent_data(run: Recorded) -> dict[str, Any]:
    """Return the JSON of flent's file: metadata, x values in s, a series for each flow, sums, round trips.

    Raises:
        ArgumentError: the run has no flow.
        NotRecordedError: the run kept no delivered bytes over time.
    """
    if not run.flows.names:
        raise ArgumentError("the run has no flow, and flent's data files are of TCP flows")
    step, ends = _steps(run)
    flows = [_flow(row, ends, step) for row in run.flows]
    results, raw, meta = _together(flows, ends, step)
    for number, (row, seen) in enumerate(zip(run.flows, flows, strict=True), 1):
        name = f"TCP download::{number}"
        results[name] = _listed(seen["val"])
        raw[name] = _raw(seen, ends, step)
        meta[name] = {
            "UNITS": "Mbits/s",
            "ID": str(number),
            "FLOW": row.name,
            "CONG_CONTROL": row.summary.get("cc"),
            "MEAN_VALUE": (row.summary["goodput_bps"] or 0.0) / 1e6,
        }
    return {
        "version": VERSION,
        "metadata": _metadata(run, step, meta),
        "x_values": [round(float(at), 9) for at in ends],
        "results": results,
        "raw_values": raw,
    }


def _flow(row: FlowRow, ends: Series, step: float) -> dict[str, Series]:
    """Return the series of a flow, by the names of flent's raw values; nothing where it has no rate.

    Columns of a flow that is over keep their last values, which are none of these steps.
    """
    import numpy as np

    columns = row.columns()
    if "delivered_bytes" not in columns.columns or not columns["delivered_bytes"].count():
        raise NotRecordedError(
            f"flent's data need the column delivered_bytes of flow {row.name}; name it in [record]"
        )
    rate = _rate(columns, ends, step, done_s=_done(row.summary))
    seen = {"tcp_cwnd": "cwnd_segments", "tcp_rtt": "rtt_ms"}
    series = {
        name: np.where(np.isnan(rate), np.nan, _mean(columns, of, ends, step)) for name, of in seen.items()
    }
    return {"val": rate, **series}


def _together(
    flows: list[dict[str, Series]], ends: Series, step: float
) -> tuple[dict[str, list[float | None]], dict[str, list[dict[str, float]]], dict[str, dict[str, Any]]]:
    """Return results, raw values and units of what is of all flows."""
    import numpy as np

    rates = np.array([seen["val"] for seen in flows])
    count = (~np.isnan(rates)).sum(axis=0)
    ping = _mean_of(np.array([seen["tcp_rtt"] for seen in flows]))
    results = {
        "TCP download sum": _listed(np.where(count > 0, np.nansum(rates, axis=0), np.nan)),
        "TCP download avg": _listed(_mean_of(rates)),
        "TCP download fairness": _listed(_jain(rates)),
        PING: _listed(ping),
    }
    units = {"sum": "Mbits/s", "avg": "Mbits/s", "fairness": "Idx"}
    meta: dict[str, dict[str, Any]] = {
        f"TCP download {name}": {"UNITS": unit} for name, unit in units.items()
    }
    meta[PING] = {"UNITS": "ms"}
    return results, {PING: _raw({"val": ping}, ends, step)}, meta


def _metadata(run: Recorded, step: float, series: dict[str, Any]) -> dict[str, Any]:
    version = run.manifest.get("versions", {}).get("tidegate", "")
    seed = "" if run.seed is None else f", seed {run.seed}"
    return {
        "NAME": "tcp_ndown",
        "TITLE": run.title,
        "NOTE": f"tidegate {version} ({run.summary['engine']}{seed}). {NOTE}",
        "TIME": EPOCH,
        "T0": EPOCH,
        "HOST": "receiver",
        "HOSTS": ["receiver"],
        "LOCAL_HOST": "sender",
        "LENGTH": run.summary["duration_s"],
        "TOTAL_LENGTH": run.summary["duration_s"],
        "STEP_SIZE": step,
        "IP_VERSION": 4,
        # A name that every version of flent has: tests of flent look at what they need.
        "FLENT_VERSION": "2.0.0",
        "DATA_FILENAME": "tidegate.flent.gz",
        "TEST_PARAMETERS": {"download_streams": str(len(run.flows.names))},
        "SERIES_META": series,
    }


def _steps(run: Recorded) -> tuple[float, Series]:
    """Return the length of a step and the ends of all steps, in s."""
    import numpy as np

    times = run.table("flows")["time_s"].unique().sort().to_numpy()
    if len(times) < 2:
        raise NotRecordedError("the run recorded less than two samples; record more often")
    last = float(times[-1])
    recorded = float(np.median(np.diff(times)))
    step = max(min(STEP_S, last / STEPS), recorded)
    # Half a step at the end is left out, as a last step of another length would be no rate.
    count = max(int(last / step + 1e-6), 1)
    ends: Series = step * np.arange(1, count + 1, dtype=np.float64)
    return step, ends


def _rate(columns: pl.DataFrame, ends: Series, step: float, *, done_s: float | None) -> Series:
    """Return Mbit/s of payload in each step; nothing before the first byte and after a transfer's end."""
    import numpy as np

    columns = columns.drop_nulls("delivered_bytes")
    times = columns["time_s"].to_numpy()
    sent = columns["delivered_bytes"].to_numpy().astype(float)
    at = np.concatenate(([0.0], ends))
    # What had arrived at the end of each step: the last sample until then.
    place = np.searchsorted(times, at + 1e-9, side="right") - 1
    so_far = np.where(place >= 0, sent[np.maximum(place, 0)], 0.0)
    rate: Series = np.diff(so_far) * 8 / step / 1e6
    rate[so_far[1:] == 0] = np.nan
    if done_s is not None:
        rate[ends - step >= done_s] = np.nan
    return rate


def _done(summary: dict[str, Any]) -> float | None:
    """Return when a transfer had its last byte, in s of the run; None where it has no end."""
    took = summary.get("completion_s")
    return None if took is None else float(summary.get("start_s") or 0.0) + float(took)


def _mean(columns: pl.DataFrame, name: str, ends: Series, step: float) -> Series:
    """Return the mean of a column's samples in each step; nothing where there is none."""
    import numpy as np

    if name not in columns.columns:
        return np.full(len(ends), np.nan)
    kept = columns.select("time_s", name).drop_nulls()
    place = np.ceil(kept["time_s"].to_numpy() / step - 1e-6).astype(int) - 1
    inside = (place >= 0) & (place < len(ends))
    counts = np.bincount(place[inside], minlength=len(ends))
    sums = np.bincount(place[inside], kept[name].to_numpy().astype(float)[inside], minlength=len(ends))
    mean: Series = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return mean


def _mean_of(rows: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Series:
    import numpy as np

    count = (~np.isnan(rows)).sum(axis=0)
    mean: Series = np.where(count > 0, np.nansum(rows, axis=0) / np.maximum(count, 1), np.nan)
    return mean


def _jain(rates: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Series:
    """Return Jain's index of the flows that were there in each step."""
    import numpy as np

    count = (~np.isnan(rates)).sum(axis=0)
    squares = np.nansum(rates**2, axis=0)
    index: Series = np.full(rates.shape[1], np.nan)
    some = squares > 0
    index[some] = np.nansum(rates, axis=0)[some] ** 2 / (count[some] * squares[some])
    return index


def _raw(seen: dict[str, Series], ends: Series, step: float) -> list[dict[str, float]]:
    """Return flent's raw values: a dict for each step, with its end in s of Unix time."""
    import numpy as np

    rows = []
    for number, end in enumerate(ends):
        values = {name: float(of[number]) for name, of in seen.items() if not np.isnan(of[number])}
        if "val" in values:
            rows.append({"t": round(float(end), 9), "dur": step, **values})
    return rows


def _listed(values: Series) -> list[float | None]:
    import numpy as np

    return [None if np.isnan(value) else float(value) for value in values]
