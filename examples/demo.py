"""The main job in one go: two congestion controls over one cellular link, three queues.

Makes the link, runs CUBIC and BBR as in Linux over it, each with a plain queue, CoDel and FQ-CoDel, beside a
telephone call; prints the comparison and writes the picture. Everything goes into ``demo/``; nothing is
downloaded.
"""

from __future__ import annotations

import os
from pathlib import Path

import tidegate as tg

HERE = Path(__file__).resolve().parent
SEED = 7


def main(folder: Path) -> tg.Comparison:
    """Make the link in ``folder``, compare, and leave the table and the picture there."""
    folder.mkdir(parents=True, exist_ok=True)
    trace = tg.traces.synth(folder / "cellular.down", seed=SEED, mean="8 Mbit/s", duration="60 s")
    link = tg.traces.info(trace)
    print(
        f"A cellular link of {link['duration_s']:.0f} s: mean {link['mean_bps'] / 1e6:.1f} Mbit/s, "
        f"5% of the time below {link['p5_bps'] / 1e6:.1f}, 5% above {link['p95_bps'] / 1e6:.1f}, "
        f"{link['outages']} outages.\n"
    )
    comparison = tg.compare(
        HERE / "lte.toml",
        changes={
            "title": "A download and a call over a cellular link",
            "gate.bottleneck.rate.trace": os.path.relpath(trace, HERE),
            # What the call waits tells CoDel from FQ-CoDel: a download alone has the same from both.
            "traffic.call": {
                "path": ["bottleneck"],
                "source": {"constant": {"rate": "80 kbit/s", "packet": "200 B"}},
            },
        },
        vary={
            "flow.bulk.tcp.cc": ["cubic", "bbr"],
            "gate.bottleneck.queue.aqm": ["none", "codel", "fq_codel"],
        },
        columns=["traffic.call.delay_p50_ms", "traffic.call.delay_p99_ms"],
        seed=SEED,
    )
    print(comparison.report())
    comparison.save(folder / "comparison", force=True)
    comparison.plot(folder / "comparison.png")
    return comparison


if __name__ == "__main__":
    main(Path("demo"))
    print(
        "\nThe last table has the call's delay. Its path takes 20 ms: with FQ-CoDel most packets hardly wait."
    )
    print("Picture: demo/comparison.png (every run is in demo/comparison)")
    print(
        "Your own trace: .venv/bin/tidegate compare examples/lte.toml "
        "--set gate.bottleneck.rate.trace=YOUR.down --vary flow.bulk.tcp.cc=cubic,bbr"
    )
