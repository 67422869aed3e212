"""The same scenario and seed give the same bytes: twice, in threads, in other processes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import tidegate as tg
from support.common import EXAMPLES, SMALL, tidegate
from tidegate._ask.compiled import simulate
from tidegate._ask.scenario import Scenario


def digests(text: str, seed: int) -> dict[str, str]:
    """A digest of the summary and of every column, so that a difference has a name."""
    data = simulate(Scenario.from_toml(text), seed=seed, record="5 ms")
    found = {"summary": hashlib.sha256(data.summary_json.encode()).hexdigest()}
    for table, columns in data.tables.items():
        for column, (kind, values) in columns.items():
            found[f"{table}.{column}"] = f"{kind} {len(values)} {hashlib.sha256(values).hexdigest()}"
    return found


def test_twice_and_in_threads() -> None:
    alone = digests(SMALL, 4)
    assert len(alone) > 20
    assert digests(SMALL, 4) == alone
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: digests(SMALL, 4), range(8)):
            assert found == alone
    assert digests(SMALL, 5) != alone


def test_in_another_process() -> None:
    code = (
        "import sys; sys.path[:0] = ['tests', 'tests/determinism']\n"
        "import json, test_determinism as t; print(json.dumps(t.digests(t.SMALL, 4)))"
    )
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=EXAMPLES.parent,
            env={"PYTHONHASHSEED": hash_seed},
        )
        assert json.loads(done.stdout) == digests(SMALL, 4)


def test_the_command_line_and_python_print_the_same_bytes(small) -> None:
    done = tidegate("run", small, "--seed", "4", "--json")
    assert done.returncode == 0
    assert done.stdout == tg.run(small, seed=4).to_json() + "\n"


def test_run_folders_hold_the_same_bytes(small, tmp_path) -> None:
    tidegate("run", small, "--seed", "4", "--record", "5 ms", "--out", tmp_path / "a")
    tg.run(small, seed=4, record="5 ms").save(tmp_path / "b")
    for name in ("summary.json", "flows.parquet", "gates.parquet", "drops.parquet", "marks.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


@pytest.mark.parametrize(
    "example", ["crossing-traffic.toml", "markov.toml", "random-loss.toml", "shaped.toml", "spacer.toml"]
)
def test_run_ahead_changes_nothing(example: str) -> None:
    fast = tg.run(EXAMPLES / example, seed=2, record="summary", changes={"duration": "8 s"})
    slow = tg.run(EXAMPLES / example, seed=2, record="summary", changes={"duration": "8 s"}, exact=True)
    assert fast.to_json() == slow.to_json()


#: So many flows that a run is parted among threads.
CROWD = """
duration = "400 ms"
seed = 7
[gate.access]
per = "flow"
rate = "100 Mbit/s"
queue = "100 packets"
delay = "3 ms"
[gate.uplink]
rate = "2 Gbit/s"
queue = "3000 packets"
delay = "1 ms"
[gate.home]
per = "flow"
rate = "100 Mbit/s"
queue = "100 packets"
[flow.load]
count = 2200
path = ["access", "uplink", "home"]
rtt = "20 ms"
start.uniform = ["0 s", "100 ms"]
[flow.user]
count = 2200
path = ["access", "uplink"]
rtt = "30 ms"
app.request.size = "300 B"
app.request.response = "20 kB"
app.request.think = "20 ms"
tcp.cc = "newreno"
[record]
every = "50 ms"
groups = ["load", "user"]
uplink = ["queue_packets"]
"""


def test_threads_change_nothing(tmp_path) -> None:
    crowd = tmp_path / "crowd.toml"
    crowd.write_text(CROWD)
    said = []
    for threads in ("1", "2", "5"):
        done = tidegate("run", crowd, "--threads", threads, "--json", "--out", tmp_path / threads)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1] == said[2]
    assert tg.run(crowd).to_json() + "\n" == said[0]
    tables = sorted(path.name for path in (tmp_path / "1").glob("*.parquet"))
    assert {"drops.parquet", "groups.parquet"} <= set(tables)
    for name in (*tables, "summary.json"):
        one, *others = [(tmp_path / threads / name).read_bytes() for threads in ("1", "2", "5")]
        assert others == [one, one], name
    events = [
        json.loads((tmp_path / threads / "manifest.json").read_text())["events"] for threads in ("1", "5")
    ]
    assert events[0] == events[1]


def test_threads_that_make_no_sense_are_refused(small) -> None:
    with pytest.raises(tg.errors.ArgumentError, match="threads: read 0; takes a whole number from 1 to 1024"):
        tg.run(small, threads=0)
    with pytest.raises(tg.errors.ArgumentError, match="threads is not for engine live"):
        tg.run(small, engine="live", threads=2)
    for options in (
        ["--threads", "0"],
        ["--threads", "2", "--engine", "live"],
        ["--threads", "2", "--engine", "theory"],
    ):
        done = tidegate("run", small, *options)
        assert done.returncode == 2, options
        assert "--threads" in done.stderr


def test_workers_change_nothing(small) -> None:
    vary = {"flow.bulk.tcp.cc": ["reno", "newreno", "cubic"]}
    one = tg.compare(small, vary=vary, seed=3, workers=1)
    two = tg.compare(small, vary=vary, seed=3, workers=3)
    assert one.to_json() == two.to_json()
