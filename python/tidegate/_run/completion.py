"""What is said of finite transfers: goodput over their own time, when they were done, how far they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import number, percent, seconds, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    Summary = dict[str, Any]
    Row = dict[str, Any]

#: Flows that are named when they are not finished.
_NAMED = 4


def total_goodput(summary: Summary) -> float | None:
    """Return the goodput of all flows together, bit/s; None where no time was measured of any flow.

    Where all flows are finite transfers that ended: what arrived in the measured time, per second from the
    first one's start (or that of the measured time, if it is later) to the last one's end. Otherwise per
    second of the measured time, so that transfers one after another are never together faster than the link.
    Flows of which no time was measured (``goodput_bps`` is None) have no part in it.
    """
    return together(summary, summary["flows"], "goodput_bps")


def total_throughput(summary: Summary) -> float | None:
    """Return the throughput of all flows together, bit/s, over the time of :func:`total_goodput`."""
    return together(summary, summary["flows"], "throughput_bps")


def together(summary: Summary, flows: Sequence[Row], rate: str) -> float | None:
    """Return a rate of some of the flows together, as :func:`total_goodput` does of all."""
    flows = [row for row in flows if row[rate] is not None]
    if not flows:
        return None
    begin, end = summary["measured_from_s"], summary["duration_s"]
    done = [row for row in transfers(flows) if row["completion_s"] is not None]
    if not done or len(flows) == 1:
        return sum(float(row[rate]) for row in flows)
    ends = {row["name"]: row["start_s"] + row["completion_s"] for row in done}
    own = {row["name"]: max(0.0, ends[row["name"]] - max(begin, row["start_s"])) for row in done}
    all_done = len(done) == len(flows)
    first = max(begin, min(row["start_s"] for row in flows)) if all_done else begin
    last = max(ends.values()) if all_done else end
    # Each flow's bits are its rate times the time over which it counts.
    shares = [own.get(row["name"], end - begin) / (last - first) for row in flows]
    return float(sum(row[rate] * share for row, share in zip(flows, shares, strict=True)))


def transfers(flows: Sequence[Row]) -> list[Row]:
    """Return the flows that are finite transfers."""
    return [row for row in flows if row.get("progress") is not None]


def completion(flows: Sequence[Row]) -> tuple[float | None, float | None]:
    """Return how long the slowest transfer took, seconds, and the least share of one that arrived.

    The first is None where one was not done, both where there is no finite transfer.
    """
    finite = transfers(flows)
    if not finite:
        done = [row["completion_s"] for row in flows if row.get("completion_s") is not None]
        return max(done, default=None), None
    ends = [row["completion_s"] for row in finite]
    return (None if None in ends else max(ends)), min(row["progress"] for row in finite)


def progress_words(progress: float) -> str:
    """Return "62%"; of a transfer that lacks a byte never "100%"."""
    return f"{percent(min(progress, 0.99) if progress < 1 else 1.0, 2)}%"


#: What the brackets of :func:`done_cell` mean.
IN_BRACKETS = "done: a share in brackets had arrived when the run ended, not finished."


def done_cell(row: Row, digits: int = 3) -> str:
    """Return how long a transfer took, in seconds, "(62%)" of one that was not finished, or "–"."""
    if row["completion_s"] is None and row.get("progress") is not None:
        return f"({progress_words(row['progress'])})"
    return number(row["completion_s"], digits)


def done_words(flows: Sequence[Row]) -> str:
    """Return "done after 5.2 s", "not finished (62%)", or nothing where no transfer is finite."""
    finite = transfers(flows)
    if not finite:
        return ""
    open_ones = [row for row in finite if row["completion_s"] is None]
    if not open_ones:
        last = "all transfers done, the slowest" if len(finite) > 1 else "done"
        return f"{last} after {number(max(row['completion_s'] for row in finite), 4)} s"
    named = [f"{shorten(row['name'], 18)} ({progress_words(row['progress'])})" for row in open_ones[:_NAMED]]
    more = f" and {len(open_ones) - _NAMED} more" if len(open_ones) > _NAMED else ""
    if len(flows) == 1:
        return f"not finished ({progress_words(open_ones[0]['progress'])})"
    return f"not finished: {', '.join(named)}{more}"


def lengths(summaries: Sequence[Summary]) -> tuple[float, float]:
    """Return the shortest and the longest duration of runs, seconds."""
    ends = [float(summary["duration_s"]) for summary in summaries]
    return min(ends), max(ends)


def lengths_named(summaries: Sequence[Summary]) -> dict[str, float]:
    """Return the longest of the runs' durations, and as ``shortest_s`` the shortest if it is another."""
    shortest, longest = lengths(summaries)
    return {"duration_s": longest, **({} if shortest == longest else {"shortest_s": shortest})}


def begin_words(summaries: Sequence[Summary]) -> str:
    """Return where the measured time of runs begins, in seconds: "2", or "2 or 5" where they differ."""
    return " or ".join(dict.fromkeys(f"{summary['measured_from_s']:g}" for summary in summaries))


def until_words(least: float, most: float) -> str:
    """Return "60 s", or "the end (5.2 to 9.1 s)" of runs that ended when all was done."""
    if least == most:
        return seconds(most) if most == round(most, 6) else f"{number(most, 4)} s"
    ends = [f"{end:g}" if end == round(end, 3) else number(end, 4) for end in (least, most)]
    return f"the end ({ends[0]} to {ends[1]} s)"
