"""What every test gets: a store of its own, a small scenario; and how often a live test is tried."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from support.common import SMALL
from support.machine import TOO_LATE_S, MachineWasLateError, Watch

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

#: A live test that failed is tried again this often, only where the machine was measured to be late.
TRIED_AGAIN = 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow live tests another attempt, for one reason alone."""
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(pytest.mark.flaky(reruns=TRIED_AGAIN, only_rerun=[MachineWasLateError.__name__]))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Measure the machine beside a live test, and say so where it was late when the test failed."""
    if not pyfuncitem.get_closest_marker("live"):
        return (yield)
    with Watch() as watch:
        try:
            return (yield)
        except Exception as failure:
            late = watch.worst_s()
            if late < TOO_LATE_S:
                raise
            message = f"the machine woke a sleeping program {late * 1000:.0f} ms too late: {failure}"
            print(message, file=sys.stderr)
            raise MachineWasLateError(message) from failure


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The file of a scenario that takes a moment."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test, and processes it starts, an empty store."""
    folder = tmp_path_factory.mktemp("store")
    monkeypatch.setenv("TIDEGATE_STORE", str(folder))
    return folder
