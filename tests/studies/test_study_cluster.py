"""Studies on a Dask cluster: real processes, killed in the middle; the same bytes as on one machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import tidegate as tg
from support.clusters import processes, rows, until
from support.common import tidegate
from support.studies import MARKOV
from tidegate._jobs import batches

pytest.importorskip(
    "distributed", reason="the package distributed is missing (pip install 'tidegate[cluster]')"
)
pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="signals of POSIX"),
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(300),
]

#: A run takes some tenths of a second.
LONG = MARKOV.replace('"4 s"', '"2000 s"').replace("runs = 6", "runs = 24")


@pytest.fixture
def long(random: Path) -> Path:
    random.write_text(LONG)
    return random


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a short study have many batches."""
    monkeypatch.setattr(batches, "WORK_S", 0.6)
    monkeypatch.setattr(batches, "LEAST_S", 0.1)


@pytest.mark.usefixtures("small_batches")
def test_workers_that_are_killed_cost_a_batch_each(long: Path, tmp_path: Path) -> None:
    from distributed import Client

    here = tg.study(long, workers=2, store=tmp_path / "here")
    with processes(tmp_path, workers=3) as cluster, Client(cluster.address, set_as_default=False) as client:
        until(lambda: len(client.nthreads()) == 3)
        there = tmp_path / "there"

        def kill() -> None:
            for worker, count in ((cluster.all[1], 3), (cluster.all[2], 8)):
                until(lambda count=count: len(rows(there)) >= count)  # type: ignore[misc]
                worker.send_signal(signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        study = tg.study(long, executor=client, store=there)
        killer.join()
        assert cluster.all[1].poll() is not None
        assert cluster.all[2].poll() is not None
    assert study.to_json() == here.to_json()
    assert rows(there) == rows(tmp_path / "here")
    for table in ("runs", "flows", "gates"):
        assert study.frame(table).equals(here.frame(table))


def on(address: str, file: Path, store: Path, *options: str) -> subprocess.Popen[str]:
    """Start a study on a cluster."""
    code = (
        "import sys; from tidegate._jobs import batches, cluster; "
        "batches.WORK_S = 0.6; batches.LEAST_S = 0.1; "
        "cluster._LOOK_S = 0.1; cluster._ALONE_S = 0.5; "
        "from tidegate._cli.main import main; sys.exit(main())"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "study",
        str(file),
        "--on",
        address,
        "--store",
        str(store),
        "--json",
    ]
    return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("what", ["the scheduler dies", "the scheduler is restarted", "Ctrl-C", "kill -9"])
def test_what_was_finished_is_kept(what: str, long: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with processes(tmp_path, workers=1) as cluster:
        child = on(cluster.address, long, store)
        until(lambda: len(rows(store)) >= 3 or child.poll() is not None)
        if what == "Ctrl-C":
            child.send_signal(signal.SIGINT)
        elif what == "kill -9":
            child.send_signal(signal.SIGKILL)
        else:
            cluster.scheduler.send_signal(signal.SIGKILL)
            cluster.scheduler.wait()
            if what == "the scheduler is restarted":
                cluster.start_scheduler()
        _, told = child.communicate(timeout=100)
    kept = len(rows(store))
    assert 3 <= kept < 24, told
    if what == "Ctrl-C":
        assert child.returncode == 130
        assert told.strip().splitlines()[-1].startswith(f"stopped: {kept} of 24 runs are kept")
    elif what != "kill -9":
        assert child.returncode == 4
        rest = f"{kept} of 24 runs are kept: the same study continues from there"
        *before, last = told.strip().splitlines()
        assert last == f"error: the scheduler {cluster.address} is lost; {rest}", "one line"
        # A worker may take longer to start than a study waits before it says so.
        assert all(line.startswith(f"no worker is connected to {cluster.address}") for line in before)
    again = tidegate("study", long, "--store", store, "--json")
    assert f"{kept} of 24 runs were taken from the store" in again.stderr
    assert again.stdout == tg.study(long, store=False).to_json() + "\n"


def test_a_study_says_that_it_waits_for_a_worker(long: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with processes(tmp_path, workers=0) as cluster:
        child = on(cluster.address, long, store)
        assert child.stderr is not None
        says = f"no worker is connected to {cluster.address}; waiting for one. "
        assert child.stderr.readline().startswith(says)
        worker = cluster.start_worker()
        until(lambda: len(rows(store)) >= 3)
        worker.send_signal(signal.SIGKILL)
        assert child.stderr.readline().startswith(says), "the only one was lost"
        assert child.poll() is None
        cluster.start_worker()
        found, told = child.communicate(timeout=100)
    assert (child.returncode, told) == (0, "")
    assert found == tg.study(long, store=False).to_json() + "\n"


def test_a_worker_with_another_build_is_refused(random: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    package = Path(tg.__file__).parent
    shutil.copytree(package, other / "tidegate", ignore=shutil.ignore_patterns("__pycache__"))
    (compiled,) = (other / "tidegate").glob("_core*.so")
    with compiled.open("ab") as file:
        file.write(b"another build")
    with processes(tmp_path, workers=0) as cluster:
        cluster.start_worker(other)
        from distributed import Client

        with Client(cluster.address, set_as_default=False) as client:
            until(lambda: len(client.nthreads()) == 1)
        done = tidegate("study", random, "--on", cluster.address, "--no-store")
        assert done.returncode == 2
        assert "it has another build of Tidegate (0." in done.stderr
        assert "Install the same wheel on both" in done.stderr
        # One that comes later is found out by the first batch that it gets.
        late = on(cluster.address, random, tmp_path / "store")
        _, told = late.communicate(timeout=100)
        assert late.returncode == 2, told


def test_traces_travel_by_content(tmp_path: Path) -> None:
    from distributed import Client

    (tmp_path / "files").mkdir()
    trace = tmp_path / "files" / "link.csv"
    trace.write_text("time_s,rate_bps\n0,2000000\n1,4000000\n2,4000000\n")
    file = tmp_path / "files" / "traced.toml"
    file.write_text(
        'duration = "3 s"\nseed = 1\nruns = 4\n[gate.link]\nrate.trace = "link.csv"\nqueue = "20 packets"\n'
        '[flow.bulk]\npath = ["link"]\nrtt = "20 ms"\nstart.uniform = ["0 s", "100 ms"]\n'
    )
    here = tg.study(file, store=False)
    scenario = tg.load(file)
    sealed = batches.Sealer()._seal(scenario)
    shutil.move(tmp_path / "files", tmp_path / "elsewhere")
    assert sealed.open().to_toml() == scenario.to_toml()
    shutil.move(tmp_path / "elsewhere", tmp_path / "files")
    with processes(tmp_path, workers=1) as cluster, Client(cluster.address, set_as_default=False) as client:
        assert tg.study(file, executor=client, store=False).to_json() == here.to_json()
    trace.write_text("time_s,rate_bps\n0,2000000\n1,5000000\n2,4000000\n")
    with pytest.raises(tg.errors.ArgumentError, match="the file has changed since the study began"):
        batches.Sealer()._seal(scenario)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--on", "nobody"), "no scheduler of Dask answers there"),
        (("--on", "tcp://127.0.0.1:1"), "no scheduler of Dask answers there"),
        (("--on", "x", "--engine", "live"), "live runs need the kernel of one machine"),
        (("--on", "x", "--workers", "2"), "the cluster has its own workers"),
    ],
)
def test_what_cannot_be(random: Path, options: tuple[str, ...], words: str) -> None:
    done = tidegate("study", random, "--no-store", *options)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr


def test_batches_have_the_size_of_their_work() -> None:
    size = batches.Size()
    assert size.of(1000, 4) == 1, "nothing is known yet"
    size.learn(batches.Done(((0, b""),) * 10, 1.0))
    assert size.of(1_000_000, 4) == 200, "20 s of runs that take 0.1 s"
    assert size.of(80, 4) == 10, "towards the end all workers get a share"
    assert size.of(8, 4) == 5, "but at least half a second"
    assert size.of(1, 4) == 1


def test_what_looks_like_executors_of_dask(random: Path, tmp_path: Path) -> None:
    from distributed import Client

    class Mine(Client):
        """A client that somebody has extended elsewhere."""

    here = tg.study(random, store=False).to_json()
    with processes(tmp_path, workers=1) as cluster, Mine(cluster.address, set_as_default=False) as client:
        until(lambda: len(client.nthreads()) == 1)
        (worker,) = client.nthreads()
        assert tg.study(random, executor=client, store=False).to_json() == here
        executor = client.get_executor(workers=[worker], retries=2)
        assert tg.study(random, executor=executor, store=False).to_json() == here
        executor.shutdown()
        with pytest.raises(tg.errors.ClusterError, match="after shutdown"):
            tg.study(random, executor=executor, store=False)
    with pytest.raises(tg.errors.ArgumentError, match="executor: this client of Dask is closed; give one"):
        tg.study(random, executor=client, store=False)
