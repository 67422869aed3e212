"""Studies on executors that people bring along: what they may lack, and what is said when they fail."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import tidegate as tg

if TYPE_CHECKING:
    from pathlib import Path


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

    def __init__(self, pool: ThreadPoolExecutor, fails: int = -1) -> None:
        self._pool, self._fails, self._count = pool, fails, 0

    def submit(self, work: object, *arguments: object) -> Asked:
        self._count += 1
        error = TimeoutError("job 17 was killed by slurm: out of memory")
        future = self._pool.submit(work, *arguments)  # type: ignore[arg-type]
        return Asked(future, error if self._count == self._fails else None)


def test_futures_need_only_done_and_result(random: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        study = tg.study(random, executor=Slurm(pool), store=False)
    assert study.to_json() == tg.study(random, store=False).to_json()


def test_a_future_without_cancel_does_not_hide_what_went_wrong(random: Path) -> None:
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(Exception, match="job 17 was killed by slurm: out of memory"),
    ):
        tg.study(random, executor=Slurm(pool, fails=1), store=False)
