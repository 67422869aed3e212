"""A run as a data file of flent, and its numbers as CSV."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import tidegate as tg
from support.common import tidegate

SCENARIO = """\
duration = "12 s"
seed = 3

[gate.link]
rate = "8 Mbit/s"
queue = "1 BDP"

[flow.bulk]
path = ["link"]
rtt = "40 ms"
start = "1 s"

[flow.short]
path = ["link"]
rtt = "40 ms"
app.transfer = "1 MB"

[record]
every = "50 ms"
"""


@pytest.fixture(scope="module")
def run() -> tg.Run:
    return tg.run(tg.Scenario.from_toml(SCENARIO))


def read(path: Path) -> dict:
    return json.loads(gzip.decompress(path.read_bytes()))


def test_series_are_the_payload_of_each_step(run: tg.Run, tmp_path: Path) -> None:
    place = run.write_flent(tmp_path / "x.flent.gz")
    told = read(place)
    assert told["version"] == 4
    assert told["metadata"]["NAME"] == "tcp_ndown"
    assert told["metadata"]["TEST_PARAMETERS"] == {"download_streams": "2"}
    assert {len(values) for values in told["results"].values()} == {len(told["x_values"])}
    step = told["metadata"]["STEP_SIZE"]
    assert step == 0.2
    for number, row in enumerate(run.flows, 1):
        rates = told["results"][f"TCP download::{number}"]
        bits = sum(rate for rate in rates if rate is not None) * 1e6 * step
        end = told["x_values"][-1]
        arrived = row.series("delivered").filter(row.series("delivered")["time_s"] <= end + 1e-9)
        assert bits / 8 == pytest.approx(arrived["bytes"][-1], rel=1e-9)
        # Raw values are those that are there, with the window and the round trip.
        raw = told["raw_values"][f"TCP download::{number}"]
        assert [each["val"] for each in raw] == [rate for rate in rates if rate is not None]
        assert all(each["tcp_cwnd"] >= 1 for each in raw)
    # Before it starts and after its end a flow has no rate; an outage would be 0.
    bulk, short = (told["results"][f"TCP download::{n}"] for n in (1, 2))
    assert bulk[:4] == [None] * 4
    assert None not in bulk[6:]
    assert short[-1] is None
    done = run.flows["short"]["completion_s"]
    assert told["x_values"][max(n for n, rate in enumerate(short) if rate is not None)] >= done
    sums = told["results"]["TCP download sum"]
    assert sums[-1] == bulk[-1]
    assert told["results"]["TCP download fairness"][-1] == pytest.approx(1)
    trips = [value for value in told["results"]["Ping (ms) ICMP"] if value is not None]
    assert min(trips) >= 40
    assert sorted(trips)[len(trips) // 2] <= 82


def test_the_same_run_gives_the_same_bytes(run: tg.Run, tmp_path: Path) -> None:
    again = tg.run(tg.Scenario.from_toml(SCENARIO))
    first, second = run.write_flent(tmp_path / "a.flent.gz"), again.write_flent(tmp_path / "b.flent.gz")
    assert first.read_bytes() == second.read_bytes()
    assert json.loads(run.write_flent(tmp_path / "a.flent").read_text()) == read(first)


def test_we_read_what_we_write(run: tg.Run, tmp_path: Path) -> None:
    """`regress` takes a data file of flent: the same scenario agrees with its own."""
    place = run.write_flent(tmp_path / "x.flent.gz")
    from tidegate._check.others import other

    measured = other(place)
    assert measured is not None
    by_size = sorted(measured.transfers, key=lambda each: sum(each.sizes))
    assert sum(by_size[0].sizes) == pytest.approx(1_000_000, rel=1e-3)


def test_flent_plots_it(run: tg.Run, tmp_path: Path) -> None:
    program = shutil.which("flent")
    if program is None:
        pytest.skip("flent is not installed (pip install flent)")
    place = run.write_flent(tmp_path / "x.flent.gz")
    for plot in ("totals", "download", "tcp_cwnd", "ping_cdf", "box_totals"):
        picture = tmp_path / f"{plot}.svg"
        done = subprocess.run(
            [program, "-i", place, "-p", plot, "-o", picture], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert picture.stat().st_size > 5000


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(SCENARIO)
    place, table = tmp_path / "x.flent.gz", tmp_path / "x.csv"
    done = tidegate("run", file, "--flent", place, "--csv", table)
    assert done.returncode == 0, done.stderr
    assert f"Data file of flent: {place}" in done.stdout
    assert f"Table: {table}" in done.stdout
    assert read(place)["metadata"]["NOTE"].startswith(f"tidegate {tg.__version__} (sim, seed 3)")
    rows = {row["number"]: float(row["value"]) for row in csv.DictReader(table.read_text().splitlines())}
    summary = json.loads(tidegate("run", file, "--json").stdout)
    assert rows["flow.bulk.goodput_bps"] == summary["flows"][0]["goodput_bps"]
    assert rows["gate.link.queue_delay_p99_ms"] == summary["gates"][0]["queue_delay_p99_ms"]
    # The names are those that expectations have.
    told = tidegate(
        "check-run", file, "--expect", f"flow.short.completion_s < {rows['flow.short.completion_s'] + 1}"
    )
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--flent", "x.txt"), ".flent.gz"),
        (("--flent", "nowhere/x.flent.gz"), "no folder"),
        (("--csv", "nowhere/x.csv"), "no folder"),
        (("--flent", "x.flent.gz", "--engine", "theory"), "--flent is not for --engine theory"),
        (("--flent", "x.flent.gz", "--set", 'record.bulk=["cwnd_segments"]'), "delivered_bytes"),
        (("--flent", "x.flent.gz", "--record", "summary"), "recorded no flows"),
    ],
)
def test_refusals(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "x.toml").write_text(SCENARIO)
    done = tidegate("run", "x.toml", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.flent.gz").exists()


def test_a_theory_has_numbers_too(tmp_path: Path) -> None:
    window = Path(__file__).resolve().parents[2] / "examples" / "window.toml"
    table = tmp_path / "x.csv"
    done = tidegate("run", window, "--engine", "theory", "--csv", table)
    assert done.returncode == 0, done.stderr
    assert "flow.bulk.goodput_bps," in table.read_text()


def test_pandas_reads_every_frame(run: tg.Run) -> None:
    pandas = pytest.importorskip("pandas", reason="the extra tidegate[pandas] is not installed")
    pytest.importorskip("pyarrow", reason="the extra tidegate[pandas] is not installed")
    for frame in (run.flows.frame, run.gates.frame, run.numbers(), run.drops, run.flows["bulk"].columns()):
        told = frame.to_pandas()
        assert isinstance(told, pandas.DataFrame)
        assert list(told.columns) == frame.columns
        assert len(told) == frame.height
    both = tg.compare(tomllib.loads(SCENARIO), vary={"gate.link.queue": ["10 kB", "20 kB"]})
    assert list(both.table.to_pandas()["gate.link.queue [kB]"]) == [10.0, 20.0]
