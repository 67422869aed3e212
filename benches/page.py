"""How fast pages are: an answer of the laboratory, and zooming into a report with 100,000 instants.

Runs by itself: .venv/bin/python benches/page.py (the second part needs Chromium and chromedriver).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import tidegate as tg

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

#: A minute at 50 Mbit/s.
MINUTE = """\
duration = "60 s"

[gate.link]
rate = "50 Mbit/s"
queue = "200 packets"
delay = "10 ms"

[flow.bulk]
path = ["link"]
rtt = "30 ms"
tcp.cc = "cubic"
"""
#: Zooms in twelve times and out again; the time of each, with its drawing.
ZOOM = """
const done = arguments[0], times = [];
const buttons = [...document.querySelectorAll('.bar-of-buttons button')];
const step = () => {
  const begun = performance.now();
  buttons[times.length < 12 ? 1 : 0].click();
  Promise.resolve().then(() => {
    times.push(performance.now() - begun);
    if (times.length < 24) requestAnimationFrame(step); else done(times);
  });
};
step();
"""


def main() -> None:
    """Measure both."""
    answers()
    zooms()


def answers() -> None:
    """Measure what a process of the laboratory takes for an answer."""
    from tidegate._lab.limits import Limits
    from tidegate._lab.work import answer

    job = {"do": "run", "text": MINUTE, "folder": "."}
    answer(job, Limits(), lambda _: True)
    took = []
    cpu = time.process_time()
    for _ in range(20):
        begun = time.perf_counter()
        answer(job, Limits(), lambda _: True)
        took.append(1000 * (time.perf_counter() - begun))
    cpu = (time.process_time() - cpu) * 50
    print(
        f"an answer: {cpu:.0f} ms of CPU; {min(took):.0f} ms at best, {statistics.median(took):.0f} ms median"
    )


def zooms() -> None:
    """Measure zooming in and out."""
    from support.browser import opened

    fast = {"duration": "12 s", "gate.link.rate": "700 Mbit/s", "gate.link.queue": "1 MB"}
    run = tg.run(tg.Scenario.from_toml(MINUTE, changes=fast), seed=1, record="events")
    with tempfile.TemporaryDirectory() as folder:
        page = run.write_report(Path(folder) / "events.html")
        rows = run.flows[0].columns().height
        print(f"a report of {rows} rows for each line: {page.stat().st_size / 1e6:.2f} MB")
        with opened(Path(folder) / "chrome") as browser:
            browser.get(page.as_uri())
            browser.set_script_timeout(60)
            for _ in range(3):
                times = browser.execute_async_script(ZOOM)
                print(f"a zoom: {statistics.median(times):.1f} ms median, {max(times):.1f} ms at most")


if __name__ == "__main__":
    main()
