"""A user's script that uses the public API passes mypy --strict, and its mistakes are found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """\
from __future__ import annotations

from pathlib import Path

import tidegate as tg

SCENARIO: dict[str, object] = {
    "duration": "3 s",
    "gate": {"link": {"rate": "8 Mbit/s", "queue": "1 BDP"}},
    "flow": {"a": {"path": ["link"], "rtt": "20 ms", "tcp": {"cc": "cubic"}}},
}


class Halves(tg.CongestionControl):
    def on_ack(self, ack: tg.Ack) -> None:
        self.window_bytes = min(self.window_bytes + ack.delivered_bytes, 100_000)

    def on_loss(self, loss: tg.Loss) -> None:
        self.window_bytes = max(self.window_bytes / 2, 2 * self.mss_bytes)


def one(folder: Path) -> float:
    run: tg.Run = tg.run(SCENARIO, seed=1, record="10 ms")
    run.write_report(folder / "run.html")
    run.write_flent(folder / "run.flent.gz")
    run.numbers().write_csv(folder / "run.csv")
    run.save(folder / "run", force=True)
    row: tg.FlowRow = run.flows.row("a")
    waits = run.gates.row("link").series("wait")
    print(row.name, waits.height, run.drops.height, run.report())
    return float(row["goodput_bps"])


def several(folder: Path) -> list[str]:
    both = tg.compare(SCENARIO, vary={"flow.a.tcp.cc": ["reno", "cubic"]}, seed=1)
    both.plot(folder / "both.png")
    study = tg.study(SCENARIO, vary={"gate.link.queue": ["10 kB", "20 kB"]}, runs=2, seed=1)
    found: tg.Estimate = study.estimate("goodput_bps", 0)
    checked = tg.check_run(SCENARIO, ["flow.a.goodput_bps > 1e6"], seed=1)
    sized = tg.size(SCENARIO, "link", goal="goodput > 50%", runs=1)
    exported = tg.export(tg.Scenario.from_dict(SCENARIO), "tc")
    kept: tg.Run = tg.open(folder / "run", tg.Run)
    print(kept.seed, study.plot_cdf(metric="goodput_bps"), tg.traces.info(folder / "x.down")["mean_bps"])
    print(found.mean, checked.verdict, sized.verdict, exported.script())
    return [str(variant.changes) for variant in both.variants]


try:
    tg.Scenario.from_dict({"duration": "1 s", "gate": {"link": {"rate": "12 mb"}}})
except tg.errors.ScenarioError as error:
    print(error.key, error.problem, error.help)
"""


def strict(folder: Path, *scripts: str) -> str:
    """Run mypy on scripts as a user would: outside of the project, with no settings of ours."""
    asked = ["--strict", "--config-file=", "--cache-dir", ROOT / "target" / "mypy-of-users"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *asked, *scripts],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.timeout(400)
def test_a_script_is_right_and_its_mistakes_are_not(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    wrong = SCRIPT.replace("seed=1, record=", "sed=1, record=").replace("row.name,", "row.nam,")
    wrong = wrong.replace("    return float(row", "    return str(row")
    (tmp_path / "right.py").write_text(SCRIPT)
    (tmp_path / "wrong.py").write_text(wrong)
    said = strict(tmp_path, "right.py", "wrong.py")
    assert "right.py" not in said, said
    assert re.search(r'Unexpected keyword argument "sed"', said)
    assert re.search(r'has no attribute "nam"', said)
    assert re.search(r"Incompatible return value type", said)
    assert "Found 3 errors" in said, said
