"""The image server as studies: what claims and figures share.

Times are in seconds; numbers are means over 16 replications, which draw think times of their own.
Differences and ratios are taken run by run: replication i of every variant has the same think times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import Estimate, Points, estimate, ratio_of_means

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidegate_papers.api import Lab, Run, Study

#: Segments of an image, bits of one in cells, packets/s of the IP processor, seconds of the server.
SEGMENTS = 1866
SEGMENT_BITS = 13 * 53 * 8
PROCESSOR = 5000
SERVED = 0.100001
POOL_MBPS = 155.52
MSS = 536
KIB = 1024

RATE = "gate.vc.rate.reserve.rate"
HOLD = "gate.vc.rate.reserve.hold"
WINDOW = "flow.client.tcp.window"
REQUEST = "flow.client.app.request"
#: 5000 packets/s, but 1000 from 15 to 20 s and from 35 to 40 s.
DIPS = [
    [f"{at} s", f"{rate} packets/s"]
    for at, rate in ((0, 5000), (15, 1000), (20, 5000), (35, 1000), (40, 5000))
]
DIPPED = {"gate.ip.rate": {"steps": DIPS}}
APART = {"flow.client.back": ["clientip", "vc"]}

#: Choices that the paper leaves open, in words, with what they change.
CHOICES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("as chosen", {}),
    ("circuits released at once", {HOLD: "0 s"}),
    ("circuits held for ever", {HOLD: "forever"}),
    ("ACKs past the processor", APART),
    ("links of 100 us", {"gate.vc.delay": "400 us"}),
    ("open loop", {f"{REQUEST}.loop": "open"}),
    ("open loop, many at once", {f"{REQUEST}.loop": "open", f"{REQUEST}.outstanding": "many"}),
    ("a connection for each request", {f"{REQUEST}.connection": "new"}),
    ("window back after idle times", {"flow.client.tcp.idle_restart": True}),
    ("delayed ACKs", {"flow.client.tcp.delayed_ack": True}),
    ("timer of 10 ms", {"flow.client.tcp.rto": {"tick": "10 ms", "min": "200 ms"}}),
    ("Tahoe", {"flow.client.tcp.cc": "tahoe"}),
)
#: TCP as hosts have it now: CUBIC, SACK, timestamps, ten segments at first, a window of 4 MiB.
TODAY: dict[str, Any] = {"cc": "cubic", "base": "linux", "window": "4 MiB", "handshake": False}


#: The open choices that are tried.
TRIED = Points(CHOICES, quick=(CHOICES[0], CHOICES[3]))
#: The rates of a circuit in Fig. 3, Mbit/s.
RATES = Points(
    (2, 5, 8, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100), quick=(5, 8, 10, 20, 30, 50, 70, 80, 100)
)
#: The windows of Fig. 4, KiB.
WINDOWS = Points((64, 128, 256, 512, 1024), quick=(64, 256, 1024))


def point(
    lab: Lab,
    rate: float = 20,
    window: int = 64,
    *,
    dips: bool = False,
    changes: Mapping[str, Any] | None = None,
) -> Study:
    """Return 16 runs with circuits of ``rate`` Mbit/s and a window of so many KiB.

    ``changes`` are dotted keys with their values.
    """
    settings = {RATE: f"{rate:g} Mbit/s", WINDOW: f"{window} KiB", **(DIPPED if dips else {})}
    return lab.study("image-server", changes={**settings, **(changes or {})}, gate="ip", measure=numbers)


def numbers(run: Run) -> dict[str, float | None]:
    """Return response times, circuits that were open together, packets dropped anywhere."""
    summary = run.summary
    every = next(row for row in summary["requests"] if row["name"] == "all")
    pool = summary["pools"][0]
    rate = max(gate["rate_mean_bps"] / gate["open_share"] for gate in circuits(summary))
    return {
        "response": every["response_mean_s"],
        "with_unfinished": every["response_mean_with_unfinished_s"],
        "p95": every["response_p95_s"],
        "circuits": float(round(pool["reserved_max_bps"] / rate)),
        "waited": float(pool["calls_waited"]),
        "dropped": float(sum(gate["dropped_packets"] for gate in summary["gates"])),
        "resent": float(sum(flow["segments_retransmitted"] for flow in summary["flows"])),
    }


def circuits(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the gates that are circuits of data and were open."""
    gates = [gate for gate in summary["gates"] if gate["name"].startswith("vc/")]
    return [gate for gate in gates if not gate["name"].endswith("/back") and gate["open_share"] > 0]


def response(study: Study) -> Estimate:
    """Return the mean response time of finished requests."""
    return study.estimate("response")


def over(this: Study, that: Study, metric: str = "response") -> Estimate:
    """Return this / that, a ratio of means with its interval."""
    return ratio_of_means(this.values(metric), that.values(metric))


def gain_of_window(lab: Lab, *, dips: bool, changes: Mapping[str, Any] | None = None) -> Estimate:
    """Return the response time with 1 MiB over that with 64 KiB."""
    large = point(lab, window=1024, dips=dips, changes=changes)
    return over(large, point(lab, dips=dips, changes=changes))


def bound_by_circuit(rate_mbps: float) -> float:
    """Return the time of one image with an open window where the circuit limits."""
    return SERVED + SEGMENTS * SEGMENT_BITS / (rate_mbps * 1e6)


def bound_by_processor(window_kib: int) -> float:
    """Return the same where the IP processor limits, and the way to the client and back is short.

    Its queue then holds the whole window, in turns as segments and as their ACKs. The last of N segments
    goes after the ACKs of every full window before it: N + W ⌊(N - 1) / W⌋ packets.
    """
    window = window_kib * KIB // MSS
    return SERVED + (SEGMENTS + window * ((SEGMENTS - 1) // window)) / PROCESSOR


def even_rate(window_kib: int) -> float:
    """Return the circuit, Mbit/s, on which one image takes as long as through the IP processor."""
    return SEGMENTS * SEGMENT_BITS / (bound_by_processor(window_kib) - SERVED) / 1e6


def least_by_processor(window_kib: int) -> float:
    """Return a bound on it: every segment is served, and every ACK but those of the last window."""
    return SERVED + (2 * SEGMENTS - window_kib * KIB // MSS) / PROCESSOR


def alone(lab: Lab, rate: float, window: int) -> Estimate:
    """Return the least response time of one client, whose window has opened, in each of the runs."""
    study = lab.study(
        "image-server",
        changes={
            RATE: f"{rate:g} Mbit/s",
            WINDOW: f"{window} KiB",
            "flow.client.count": 1,
            f"{REQUEST}.count": 4,
            f"{REQUEST}.think": {"exponential": "1 s"},
            "duration": "60 s",
        },
        gate="ip",
        measure=least_response,
        record="1 s",
    )
    return study.estimate("least")


def least_response(run: Run) -> dict[str, float | None]:
    """Return the shortest response time."""
    found = run.table("requests")["response_s"].min()
    return {"least": float(str(found))}


def waits(lab: Lab, window: int) -> Study:
    """Return the waits in the IP queue inside and outside the dips, and what windows do after time-outs."""
    settings = {WINDOW: f"{window} KiB", **DIPPED}
    return lab.study("image-server", changes=settings, gate="ip", measure=inside_and_outside, record="20 ms")


#: The window of §4 that takes more than 40 s to come to.
CLAIMED_BYTES = 70_000
LATE_S = 40


def inside_and_outside(run: Run) -> dict[str, float | None]:
    """Return mean and largest waits (s) inside the dips and outside, and what becomes of windows.

    ``first``: s from a client's first request to 70 kB of window, mean; ``longest``: s from a client's first
    time-out to 70 kB again, the longest of all; ``late``: bytes at 40 s, mean.
    """
    import tomllib

    import polars as pl

    written = str(tomllib.loads(run.manifest["scenario"])["flow"]["client"]["tcp"]["window"])
    limit = float(written.removesuffix(" KiB")) * KIB

    ip = run.gates["ip"].columns()
    dipped = ((pl.col("time_s") >= 15) & (pl.col("time_s") < 20)) | (
        (pl.col("time_s") >= 35) & (pl.col("time_s") < 40)
    )
    inside, outside = ip.filter(dipped)["wait_ms"], ip.filter(~dipped)["wait_ms"]
    flows = run.table("flows").with_columns(pl.col("flow").cast(pl.String))
    marks = run.marks.with_columns(pl.col("flow").cast(pl.String)).filter(pl.col("kind") == "timeout")
    duration = float(run.summary["duration_s"])
    regained: list[float] = []
    first: list[float] = []
    late: list[float] = []
    out = 0
    for name in run.flows.names:
        rows = flows.filter(pl.col("flow") == name)
        large = rows.filter(pl.col("cwnd_segments") * MSS >= CLAIMED_BYTES)["time_s"].to_list()
        asked = run.requests[name].columns()["time_s"].to_list()
        if large and asked:
            first.append(large[0] - asked[0])
        hit = marks.filter(pl.col("flow") == name)["time_s"].to_list()
        if hit:
            out += 1
            later = [at for at in large if at > hit[0] + 0.05]
            regained.append((later[0] if later else duration) - hit[0])
        window = float(str(rows.filter(pl.col("time_s") <= LATE_S)["cwnd_segments"].to_list()[-1])) * MSS
        late.append(min(window, limit))
    return {
        "inside": _seconds(inside.mean()),
        "outside": _seconds(outside.mean()),
        "most": _seconds(inside.max()),
        "longest": max(regained, default=0.0),
        "late": estimate(late).mean,
        "first": estimate(first).mean,
        "timed_out": out / len(run.flows),
    }


def _seconds(millis: object) -> float | None:
    return None if millis is None else float(str(millis)) / 1e3
