"""What an instrumented module does for profile-guided optimisation (``make wheel``).

Each example for some seconds, as a summary and recorded; one flow and a hundred, with the congestion controls
that people use; a capture that is written and identified. Nothing is measured, and nothing stays.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tidegate as tg

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

#: Simulated seconds of an example: its start is a small part of them.
SECONDS = "20 s"

#: One link, and how many flows.
LINK = """\
duration = "{seconds} s"
seed = 1
[gate.access]
per = "flow"
rate = "1 Gbit/s"
queue = "1000 packets"
delay = "5 ms"
[gate.link]
rate = "{rate} Mbit/s"
queue = "{queue} packets"
delay = "5 ms"
[flow.bulk]
count = {flows}
path = ["access", "link"]
rtt = "40 ms"
start.uniform = ["0 s", "500 ms"]
tcp.base = "{base}"
tcp.cc = "{cc}"
"""


def main() -> None:
    """Run everything once."""
    for file in sorted(EXAMPLES.glob("*.toml")):
        scenario = tg.Scenario.load(file)
        shorter = {} if scenario.duration_s < 20 or scenario.until_done else {"duration": SECONDS}
        if scenario.warmup_s >= 20:
            shorter["warmup"] = "0 s"
        for record in ("summary", "100 ms"):
            tg.run(file, seed=1, changes=shorter, record=record)
    for flows in (1, 100):
        for base, cc in (("rfc", "newreno"), ("rfc", "cubic"), ("linux", "cubic"), ("linux", "bbr")):
            rate = 20 if flows == 1 else 500
            text = LINK.format(seconds=8, rate=rate, queue=rate * 4, flows=flows, base=base, cc=cc)
            tg.run(tg.Scenario.from_toml(text), record="summary")
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "packets.pcap"
        tg.run(EXAMPLES / "policer.toml", seed=1, changes={"duration": SECONDS}, pcap=capture)
        tg.identify(capture)


if __name__ == "__main__":
    main()
