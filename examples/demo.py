"""The main job in one go: three congestion controls over one cellular link, two queues.

Makes the link, runs Reno, NewReno and CUBIC over it with a deep and a shallow queue, prints
the comparison and writes the picture. Everything goes into ``demo/``; nothing is downloaded.
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
    trace = tg.trace_synth(folder / "cellular.down", seed=SEED, mean="8 Mbit/s", duration="60 s")
    link = tg.trace_info(trace)
    print(
        f"A cellular link of {link['duration_s']:.0f} s: mean {link['mean_bps'] / 1e6:.1f} Mbit/s, "
        f"5% of the time below {link['p5_bps'] / 1e6:.1f}, 5% above {link['p95_bps'] / 1e6:.1f}, "
        f"{link['outages']} outages.\n"
    )
    comparison = tg.compare(
        HERE / "lte.toml",
        set={"gate.bottleneck.rate.trace": os.path.relpath(trace, HERE)},
        vary={
            "flow.bulk.tcp.cc": ["reno", "newreno", "cubic"],
            "gate.bottleneck.queue": ["1000 packets", "50 packets"],
        },
        seed=SEED,
    )
    print(comparison.report())
    comparison.save(folder / "comparison", force=True)
    comparison.plot(folder / "comparison.png")
    return comparison


if __name__ == "__main__":
    main(Path("demo"))
    print("\nWith SACK, the default, Reno and NewReno recover alike (RFC 6675).")
    print("Picture: demo/comparison.png (every run is in demo/comparison)")
    print(
        "Your own trace: .venv/bin/tidegate compare examples/lte.toml "
        "--set gate.bottleneck.rate.trace=$PWD/YOUR.down --vary flow.bulk.tcp.cc=reno,newreno,cubic"
    )
