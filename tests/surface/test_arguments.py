"""Every public function with each argument of a wrong kind: an error of ours that names it, or an answer."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from common import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Broken(os.PathLike[str]):
    def __fspath__(self) -> str:
        raise KeyError("x")


def endless() -> dict[str, Any]:
    held: dict[str, Any] = {}
    held["a"] = held
    return held


WRONG: list[Any] = [
    None,
    5,
    -1,
    2**70,
    object(),
    [],
    {},
    float("nan"),
    float("inf"),
    "",
    "\0",
    b"x",
    [5],
    {5: 5},
]
WRONG += [Broken(), endless(), [[["x"]]], lambda: 5, tg, 1.5, True]

OURS = tuple(
    each
    for name in tg.__all__
    if isinstance(each := getattr(tg, name), type) and issubclass(each, BaseException)
)
#: What pages name beside them.
NAMED = (*OURS, OSError)

#: For each function the arguments of a call that is good, or nearly: no file that is named is there.
GOOD: dict[str, dict[str, Any]] = {
    "check_run": {"expect": ["flow.bulk.goodput_bps > 1 Mbit/s"], "store": False},
    "compare_engines": {"engines": ["sim", "theory"]},
    "export": {"to": "tc"},
    "reproduce": {"target": "nothing"},
    "size": {"gate": "nothing"},
    "size_for_goal": {"gate": "nothing", "goal": "goodput > 1 Mbit/s"},
    "size_pool": {"pool": "nothing", "goal": "p95 response < 2 s"},
    "study": {"store": False, "runs": 2},
    "study_part": {"shard": "1/2", "store": False, "runs": 2},
    "trace_synth": {"seed": 1, "duration": "1 s", "to": "csv"},
    "tune": {"goal": "nothing"},
    "regress": {"measurement": "nothing.pcap"},
    "trace_convert": {"to": "csv"},
}
FUNCTIONS = sorted(name for name in tg.__all__ if inspect.isfunction(getattr(tg, name)))


def test_the_list_has_functions() -> None:
    assert len(FUNCTIONS) > 20


@pytest.fixture
def document() -> dict[str, Any]:
    import tomllib

    return {**tomllib.loads(SMALL), "duration": "200 ms", "warmup": "0 s", "seed": 1}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_argument_is_named(
    name: str, document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEGATE_STORE", str(tmp_path / "store"))
    function = getattr(tg, name)
    parameters = inspect.signature(function).parameters
    good = {
        key: _good(key, document, tmp_path) for key, each in parameters.items() if each.default is each.empty
    }
    good |= GOOD.get(name, {})
    for key in parameters:
        for wrong in WRONG:
            # What a function of the caller raises is the caller's.
            if key in ("measure", "progress") and callable(wrong):
                continue
            called(function, {**good, key: wrong}, key, wrong)


def _good(key: str, document: dict[str, Any], folder: Path) -> Any:
    return document if key in ("source", "scenario") else str(folder / f"no-{key}")


def called(function: Callable[..., Any], given: dict[str, Any], key: str, wrong: Any) -> None:
    try:
        function(**given)
    except NAMED as error:
        assert str(error), (key, wrong)  # noqa: PT017
    except Exception as error:
        pytest.fail(f"{function.__name__}({key}={wrong!r:.60}): {type(error).__name__}: {error}")


def test_arguments_are_named() -> None:
    for given, message in (
        ({"seed": -1}, "seed: read -1; takes a whole number from 0 to 18446744073709551615"),
        ({"seed": "x"}, "seed: read 'x'; takes a whole number or None"),
        ({"replication": 2**64}, "replication: read 18446744073709551616"),
        ({"set": "x"}, "set: read 'x'; takes a dict or a list or None"),
        ({"exact": 5}, "exact: read 5; takes True or False"),
        ({"record": ["x"]}, r"record: read \['x'\]; takes text or None"),
    ):
        with pytest.raises(tg.ArgumentError, match=message):
            tg.run({}, **given)
    with pytest.raises(tg.ArgumentError, match=r"expect\[1\]: read 5; takes text"):
        tg.check_run({}, ["a", 5])
    with pytest.raises(tg.ArgumentError, match="source: this is nested more than 32 deep, or holds itself"):
        tg.run(endless())


def test_a_row_is_no_name(document: dict[str, Any]) -> None:
    run = tg.run(document)
    with pytest.raises(tg.UnknownNameError, match="is named by a text, not by FlowRow"):
        run.flows[next(iter(run.flows))]
    with pytest.raises(tg.UnknownNameError, match="is named by a text, not by object"):
        run.flows[object()]
