"""What the tests share: a small scenario, and the command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

SMALL = """\
title = "Small"
duration = "6 s"
warmup = "1 s"

[gate.bottleneck]
rate = "4 Mbit/s"
queue = "20 packets"
delay = "10 ms"
loss = 0.002

[flow.bulk]
path = ["bottleneck"]
rtt = "30 ms"
tcp.cc = "newreno"
"""


def tidegate(
    *arguments: str | Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line; what it writes is never a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        timeout=100,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done
