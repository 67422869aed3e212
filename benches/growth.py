"""How the cost of a run grows with its size: ``python benches/growth.py docs/images/growth.png``.

Each point is a run in a process of its own: time per packet of the engine alone, with a thread for each
processor as ``tidegate run`` has, and with one thread where a run uses more; time to read and check the
scenario, and the largest resident set. The exponent of a curve is the slope of a straight line
through its points in logarithms, from the second point on: 0 means that a packet costs as much in a large run
as in a small one.
``--largest N`` leaves out larger sizes; ``--json FILE`` keeps the numbers.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tables import table

#: With so many flows several threads work on a run.
MANY_FLOWS = 4096
#: Curves whose size is a number of flows, which share a gate.
SHARED = ("flows", "users")

LINK = 'queue = "100000 packets"\n'

#: What grows, its sizes, and the unit of a size.
CURVES = {
    "flows": ([1, 10, 100, 1000, 10_000, 100_000], "flows over a dumbbell, 1 Mbit/s each"),
    "users": ([1, 10, 100, 1000, 10_000, 100_000], "request–response users, 1 Mbit/s each"),
    "gates": ([1, 2, 4, 8, 16, 32, 64], "gates on the path of one flow"),
    "queue": ([10, 100, 1000, 10_000, 100_000, 1_000_000], "packets that stand in a queue"),
    "duration": ([20, 200, 2000], "simulated seconds"),
    "circuits": ([4, 16, 64, 256, 1024], "circuits through one cell multiplexer"),
}


def scenario(kind: str, size: int) -> str:
    """Return the scenario of a curve at a size."""
    return globals()[f"_{kind}"](size)


def _shared(size: int, app: str, seconds: int) -> str:
    # Small runs last longer, so that each has more than 100,000 packets.
    seconds *= max(1, 1000 // size)
    queue = max(50, size * 1_000_000 * 35 // 1000 // 12_000)
    gates = "".join(
        f'[gate.{name}]\nper = "flow"\nrate = "1 Gbit/s"\n{LINK}delay = "{delay} ms"\n'
        for name, delay in (("access", 10), ("sink", 9))
    )
    return (
        f'duration = "{seconds} s"\nseed = 1\n{gates}[gate.bottleneck]\nrate = "{size} Mbit/s"\n'
        f'queue = "{queue} packets"\ndelay = "1 ms"\n[flow.user]\ncount = {size}\n'
        f'path = ["access", "bottleneck", "sink"]\nrtt = "60 ms"\nstart.uniform = ["0 s", "1 s"]\n{app}'
        'tcp.base = "rfc"\ntcp.cc = "newreno"\n'
    )


def _flows(size: int) -> str:
    return _shared(size, 'app = "bulk"\n', 2)


def _users(size: int) -> str:
    app = 'app.request.size = "400 B"\napp.request.response = "60 kB"\napp.request.think = "500 ms"\n'
    return _shared(size, app, 3)


def _gates(size: int) -> str:
    names = [f"g{number}" for number in range(size)]
    gates = "".join(f'[gate.{name}]\nrate = "100 Mbit/s"\n{LINK}delay = "1 ms"\n' for name in names)
    return (
        f'duration = "60 s"\nseed = 1\n{gates}[flow.bulk]\npath = {json.dumps(names)}\nrtt = "200 ms"\n'
        'tcp.window = "2 MB"\ntcp.base = "rfc"\ntcp.cc = "newreno"\n'
    )


def _queue(size: int) -> str:
    # The window is what stands in the queue; nothing is lost.
    rate = max(10, size // 100)
    return (
        f'duration = "{max(4.0, 500_000 / (rate * 1e6 / 12_000)):.0f} s"\nseed = 1\n[gate.link]\n'
        f'rate = "{rate} Mbit/s"\nqueue = "{2 * size + 100} packets"\ndelay = "5 ms"\n'
        '[flow.bulk]\npath = ["link"]\nrtt = "10 ms"\ntcp.base = "rfc"\ntcp.cc = "newreno"\n'
        f'tcp.window = "{(size + 10) * 1460} B"\n'
    )


def _duration(size: int) -> str:
    return (
        f'duration = "{size} s"\nseed = 1\n[gate.link]\nrate = "20 Mbit/s"\nqueue = "60 packets"\n'
        'delay = "10 ms"\n[flow.bulk]\npath = ["link"]\nrtt = "40 ms"\ntcp.base = "rfc"\ntcp.cc = "newreno"\n'
    )


def _circuits(size: int) -> str:
    # The same load whatever the number of circuits.
    return (
        'duration = "4 s"\nseed = 1\n[gate.line]\nper = "flow"\nrate = "25 Mbit/s"\nframing = "aal5"\n'
        'queue = "10000 cells"\n[gate.mux]\nrate = "155520 kbit/s"\nframing = "aal5"\nqueue = "5000 cells"\n'
        f'delay = "5 ms"\n[flow.user]\ncount = {size}\npath = ["line", "mux"]\nrtt = "20 ms"\n'
        'start.uniform = ["0 s", "20 ms"]\ntcp.base = "rfc"\ntcp.cc = "newreno"\n'
        f'tcp.window = "{max(2, 512 // size) * 1460} B"\n'
    )


def one(kind: str, size: int, threads: int | None = None) -> dict[str, float]:
    """Run one size in this process, on so many threads, and return what it cost."""
    from tidegate._ask import compiled
    from tidegate._ask.scenario import Scenario

    text = scenario(kind, size)
    before = _resident_mb()
    begin = time.perf_counter()
    loaded = Scenario.from_toml(text)
    checked = time.perf_counter()
    data = compiled.simulate(loaded, seed=1, replication=0, record="summary", threads=threads)
    ran = time.perf_counter()
    memory = _resident_mb() - before
    packets = sum(row["segments_delivered"] for row in json.loads(data.summary_json)["flows"])
    return {
        "check_s": checked - begin,
        "run_s": ran - checked,
        "packets": packets,
        "memory_mb": memory,
    }


def _resident_mb() -> float:
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return 0.0 if found is None else int(found[1]) / 1024


def slope(points: list[tuple[float, float]]) -> float:
    """Return the slope of the line of least squares through the logarithms of points."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    above = sum((x - mean_x) * (y - mean_y) for x, y in logs)
    return above / sum((x - mean_x) ** 2 for x, _ in logs)


def measure(kind: str, size: int, repeats: int) -> dict[str, float]:
    """Return the costs of a size: the least time of several processes, for others disturb them."""
    least = _least(kind, size, repeats)
    alone = _least(kind, size, repeats, 1) if size >= MANY_FLOWS and kind in SHARED else least
    times = {"packet_ns": least, "one_thread_ns": alone}
    return {
        "size": size,
        **least,
        **{what: 1e9 * row["run_s"] / row["packets"] for what, row in times.items()},
    }


def _least(kind: str, size: int, repeats: int, *threads: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", kind, str(size), *map(str, threads)]
    done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(repeats)]
    return min((json.loads(run.stdout) for run in done), key=lambda row: row["run_s"])


def draw(curves: dict[str, list[dict[str, float]]], target: Path) -> None:
    """Draw time per packet against size, a panel for each curve."""
    import matplotlib.pyplot as plt
    from tidegate._draw.style import STYLE
    from tidegate._draw.tokens import ACCENT, INK, MID

    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(2, 3, figsize=(9.6, 5.4), constrained_layout=True)
        for place, (kind, rows) in zip(axes.flat, curves.items(), strict=False):
            sizes = [row["size"] for row in rows]
            place.loglog(
                sizes,
                [row["packet_ns"] for row in rows],
                "o-",
                color=ACCENT,
                lw=1.2,
                ms=3.5,
                label=f"{os.cpu_count()} threads",
            )
            alone = [row for row in rows if row["one_thread_ns"] != row["packet_ns"]]
            if alone:
                place.loglog(
                    [row["size"] for row in alone],
                    [row["one_thread_ns"] for row in alone],
                    "o--",
                    color=MID,
                    lw=1.0,
                    ms=3,
                    label="one thread",
                )
                place.legend(loc="upper left", frameon=False, fontsize=7)
            place.set_title(f"{kind}: exponent {exponent(rows):+.2f}", fontsize=9)
            place.set_xlabel(CURVES[kind][1])
            least, most = (limit(row["packet_ns"] for row in rows) for limit in (min, max))
            place.set_ylim(least / 3, most * 3)
            if kind in SHARED:
                each = 1024 * rows[-1]["memory_mb"] / sizes[-1]
                place.text(0.03, 0.05, f"{each:.1f} KiB each", transform=place.transAxes, color=MID)
            place.tick_params(labelcolor=INK)
        for place in axes[:, 0]:
            place.set_ylabel("ns per delivered packet")
        figure.savefig(target, dpi=130, metadata={"Software": None})


def exponent(rows: list[dict[str, float]]) -> float:
    """Return how time per packet grows with size: without the first size, which start-up weighs on."""
    return slope([(row["size"], row["packet_ns"]) for row in (rows[1:] if len(rows) > 3 else rows)])


def main() -> int:
    """Measure, print a table, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("picture", type=Path, nargs="?")
    parser.add_argument("--largest", type=int, default=10**9)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", action="append", choices=sorted(CURVES))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs="+", metavar="KIND SIZE THREADS", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one[0], *map(int, given.one[1:]))))
        return 0
    curves: dict[str, list[dict[str, float]]] = {}
    for kind in given.only or CURVES:
        sizes = [size for size in CURVES[kind][0] if size <= given.largest]
        rows = [
            measure(kind, size, given.repeats if size < 100_000 else min(2, given.repeats)) for size in sizes
        ]
        curves[kind] = rows
        cells: list[list[Any]] = [
            [
                f"{row['size']:,.0f}".replace(",", " "),
                f"{row['packets']:,.0f}".replace(",", " "),
                f"{row['packet_ns']:.0f}",
                f"{row['one_thread_ns']:.0f}",
                f"{row['check_s']:.2f}",
                f"{row['memory_mb']:.0f}",
                f"{1024 * row['memory_mb'] / row['size']:.1f}",
            ]
            for row in rows
        ]
        head = [kind, "packets", "ns/packet", "one thread", "check s", "MiB", "KiB each"]
        table(CURVES[kind][1], head, cells, [f"time per packet grows with exponent {exponent(rows):+.2f}"])
    if given.json:
        given.json.write_text(json.dumps(curves, indent=1) + "\n")
    if given.picture:
        draw(curves, given.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
