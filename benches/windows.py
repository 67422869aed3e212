"""Congestion windows of the kernel's TCP and of the simulator's over the same links, in one picture.

``python benches/windows.py docs/images/kernel-windows.png`` needs root and a quiet machine. Each panel has
one run of each engine over a link of ``kernel.py``'s suite, sampled every 20 ms.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import tidegate as tg
from kernel import suite
from tidegate._draw.tokens import ACCENT, INK, SOFT

#: A link of the suite and the controller over it.
PANELS = (
    ("10 Mbit/s, 40 ms, 1 BDP", "reno"),
    ("10 Mbit/s, 40 ms, 1 BDP", "cubic"),
    ("10 Mbit/s, 40 ms, 1 BDP", "bbr"),
    ("1 Mbit/s, 100 ms, 2 BDP", "cubic"),
    ("20 Mbit/s, 80 ms, 1 BDP", "cubic"),
    ("token bucket 8 Mbit/s, 100 kB", "cubic"),
    ("10 Mbit/s, 40 ms, loss 0.5%", "bbr"),
    ("cellular, 50 ms, 300 packets", "cubic"),
)


def windows(name: str, cc: str, engine: str) -> tuple[list[float], list[float]]:
    """Return times in seconds and congestion windows in segments of one run."""
    scenario = json.loads(json.dumps(suite()[name]))
    scenario["flow"]["f"]["tcp"]["cc"] = cc
    run = tg.run(scenario, engine=engine, seed=1, record="20 ms")
    for warning in run.warnings:
        print(f"{name}, {cc}, {engine}: {warning}", file=sys.stderr)
    rows = run.flows["f"].columns()
    return list(rows["time_s"]), list(rows["cwnd_segments"])


def main() -> int:
    """Draw the picture into the file named."""
    target = Path(sys.argv[1])
    figure, axes = plt.subplots(4, 2, figsize=(9.0, 9.6), constrained_layout=True)
    for place, (name, cc) in zip(axes.flat, PANELS, strict=True):
        for engine, colour, width in (("live", SOFT, 2.6), ("sim", ACCENT, 1.0)):
            time, cwnd = windows(name, cc, engine)
            label = "Linux kernel" if engine == "live" else "simulator"
            place.plot(time, cwnd, color=colour, lw=width, drawstyle="steps-post", label=label)
        place.set_title(f"{cc}: {name}", fontsize=9, color=INK, loc="left")
        place.set_ylim(bottom=0)
        place.set_xlim(left=0)
        place.tick_params(labelsize=8)
        for side in ("top", "right"):
            place.spines[side].set_visible(False)
    for place in axes[:, 0]:
        place.set_ylabel("cwnd, segments", fontsize=8)
    for place in axes[-1]:
        place.set_xlabel("time, s", fontsize=8)
    axes[0, 0].legend(fontsize=8, frameon=False, loc="lower right")
    figure.savefig(target, dpi=110)
    return 0


if __name__ == "__main__":
    sys.exit(main())
