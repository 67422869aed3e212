"""Studies on executors that people bring along: what they may lack, and what is said when they fail."""

from __future__ import annotations

import pickle
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

import pytest
import tidegate as tg

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


KILLED = TimeoutError("job 17 was killed by slurm: out of memory")


class Asked:
    """A future that only answers when it is asked, as a job of a batch system may."""

    def __init__(self, inside: Future[object], fails: Exception | None = None) -> None:
        self.done = inside.done
        self._inside, self._fails = inside, fails

    def result(self) -> object:
        if self._fails is not None:
            raise self._fails
        return self._inside.result()


class Slurm:
    """An executor of such futures; the one with a number fails."""

    def __init__(self, pool: ThreadPoolExecutor, fails: int = -1, error: Exception = KILLED) -> None:
        self._pool, self._fails, self._error, self._count = pool, fails, error, 0

    def submit(self, work: object, *arguments: object) -> Asked:
        self._count += 1
        future = self._pool.submit(work, *arguments)  # type: ignore[arg-type]
        return Asked(future, self._error if self._count == self._fails else None)


class Pickling:
    """An executor that sends work to other processes."""

    def submit(self, *work: object) -> Future[object]:
        done: Future[object] = Future()
        function, *arguments = pickle.loads(pickle.dumps(work))
        done.set_result(function(*arguments))
        return done


def text(_: tg.Run) -> str:
    return "late"


def test_futures_need_only_done_and_result(random: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        study = tg.study(random, executor=Slurm(pool), store=False)
    assert study.to_json() == tg.study(random, store=False).to_json()


def test_a_future_without_cancel_does_not_hide_what_went_wrong(random: Path) -> None:
    words = (
        r"gave no result \(TimeoutError: job 17 was killed by slurm: out of memory\); \d of 6 runs are lost"
    )
    with ThreadPoolExecutor(1) as pool, pytest.raises(tg.errors.ClusterError, match=words) as found:
        tg.study(random, executor=Slurm(pool, fails=1), store=False)
    assert found.value.__cause__ is KILLED


def test_a_process_that_dies_costs_what_it_did(random: Path) -> None:
    tg.study(random, runs=1)
    words = (
        r"a worker of the executor died.*\(abruptly\).*; [1-5] of 6 runs are kept: the same study continues"
    )
    with ThreadPoolExecutor(1) as pool, pytest.raises(tg.errors.ClusterError, match=words):
        tg.study(random, executor=Slurm(pool, fails=1, error=BrokenProcessPool("abruptly")))
    with ThreadPoolExecutor(1) as pool:
        again = tg.study(random, executor=Slurm(pool))
    assert again.to_json() == tg.study(random, store=False).to_json()


def test_what_others_did_is_kept_where_several_fail(random: Path) -> None:
    class AtOnce:
        _max_workers = 3
        count = 0

        def submit(self, work: Callable[..., object], *arguments: object) -> Future[object]:
            self.count += 1
            done: Future[object] = Future()
            if self.count <= 4:
                done.set_exception(KILLED)
            else:
                done.set_result(work(*arguments))
            return done

    with pytest.raises(tg.errors.ClusterError, match="; 2 of 6 runs are kept"):
        tg.study(random, executor=AtOnce())


def test_an_executor_that_was_shut_down(random: Path) -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    words = r"takes no more work \(RuntimeError: cannot schedule new futures after shutdown\); 0 of 6 runs"
    with pytest.raises(tg.errors.ClusterError, match=words):
        tg.study(random, executor=pool)


def test_what_is_measured_has_to_travel(random: Path) -> None:
    words = (
        r"measure: .*<lambda> cannot be sent to another process .*define it with def at the top of a module"
    )
    with pytest.raises(tg.errors.ArgumentError, match=words):
        tg.study(random, executor=Pickling(), measure=lambda run: {"late": run.seed}, store=False)
    # An executor that sends lambdas, as loky, may fail for other reasons.
    with ThreadPoolExecutor(1) as pool, pytest.raises(tg.errors.ClusterError, match="killed by slurm"):
        tg.study(random, executor=Slurm(pool, fails=1), measure=lambda run: {"late": run.seed}, store=False)


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_what_is_measured_is_numbers_by_name(where: str, random: Path) -> None:
    executor = None if where == "here" else Pickling()
    with pytest.raises(
        tg.errors.ArgumentError, match="measure: text returned 'late'; give numbers by name, such as"
    ):
        tg.study(random, executor=executor, measure=text, store=False)  # type: ignore[arg-type]


def test_an_executor_has_its_own_workers(random: Path, tmp_path: Path) -> None:
    words = "workers: read 2; the executor has its own workers, so leave out workers"
    with pytest.raises(tg.errors.ArgumentError, match=words):
        tg.study(random, executor=Pickling(), workers=2, store=False)
    with pytest.raises(tg.errors.ArgumentError, match=words):
        tg.study_part(random, "1/2", tmp_path / "part", executor=Pickling(), workers=2, store=False)
    assert not (tmp_path / "part").exists()
