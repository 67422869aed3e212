"""Results that hang on code of the user's are kept under what the code does."""

from __future__ import annotations

import importlib
import math
import sys
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.studies import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WINDOW = """\
import tidegate as tg
{more}
class Fixed(tg.CongestionControl):
    def on_ack(self, ack):
        self.window_bytes = {window}
"""


def own(folder: Path, source: str) -> Path:
    file = folder / "own.toml"
    file.write_text(
        'duration = "2 s"\nseed = 1\n[gate.link]\nrate = "5 Mbit/s"\nloss = 0.001\ndelay = "10 ms"\n'
        f'[flow.bulk]\npath = ["link"]\ntcp.cc = "python:{source}:Fixed"\n'
    )
    return file


def test_an_edited_controller_is_run_again(tmp_path: Path) -> None:
    """The store was asked under the name of its file."""
    controller = tmp_path / "fixed.py"
    controller.write_text(WINDOW.format(more="", window=5000))
    file = own(tmp_path, "fixed.py")
    first, computed, _ = counted(file, runs=2)
    assert computed == 2
    assert counted(file, runs=2)[1] == 0
    controller.write_text(WINDOW.format(more="", window=20000))
    second, computed, _ = counted(file, runs=2)
    assert computed == 2
    assert second.estimate("goodput_bps").mean > 2 * first.estimate("goodput_bps").mean


def test_what_a_controller_imports_is_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "own_windows"
    package.mkdir()
    (package / "__init__.py").write_text("from . import sizes\n")
    (package / "sizes.py").write_text("SMALL = 5000\n")
    (tmp_path / "own_fixed.py").write_text(WINDOW.format(more="import own_windows", window="5000"))
    for source in ("own_fixed.py", "own_fixed"):
        file = own(tmp_path, source)
        assert counted(file, runs=2)[1] == 2
        assert counted(file, runs=2)[1] == 0
        for name in [*sys.modules]:
            if name.partition(".")[0] in ("own_windows", "own_fixed"):
                monkeypatch.delitem(sys.modules, name)
        (package / "sizes.py").write_text(f"SMALL = 6000  # {source}\n")
        assert counted(file, runs=2)[1] == 2, "another process would import the new one"


LIMIT = 1.0


def longer(run: tg.Run) -> dict[str, float]:
    return {"x": float(run.summary["duration_s"] > LIMIT)}


def by_helper(run: tg.Run) -> dict[str, float]:
    return {"x": helper(run)}


def helper(run: tg.Run) -> float:
    return run.summary["duration_s"] * LIMIT


def test_functions_of_one_name_are_kept_apart(random: Path) -> None:
    def measured(measure: Callable[[tg.Run], dict[str, Any]]) -> tuple[float, int]:
        study, computed, _ = counted(random, runs=2, measure=measure)
        return study.values("x", 0)[0], computed

    measures = [lambda run: {"x": run.seed}, lambda run: {"x": run.summary["duration_s"]}]
    assert [measured(each) for each in measures] == [(5, 2), (4, 2)]
    assert [measured(each) for each in measures] == [(5, 0), (4, 0)]


@pytest.mark.parametrize("measure", [longer, by_helper])
def test_the_values_that_a_function_uses_are_part_of_it(
    measure: Callable[[tg.Run], dict[str, float]], random: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, computed, _ = counted(random, runs=2, measure=measure)
    assert computed == 2
    assert counted(random, runs=2, measure=measure)[1] == 0
    monkeypatch.setitem(measure.__globals__, "LIMIT", 1000.0)
    second, computed, _ = counted(random, runs=2, measure=measure)
    assert computed == 2
    assert first.values("x", 0) != second.values("x", 0)


class Conf:
    value = 1.0


class Narrow(Conf):
    pass


NARROW = Narrow()


def of_class(run: tg.Run) -> dict[str, float]:
    return {"x": (run.seed is not None) * Conf.value}


def of_subclass(run: tg.Run) -> dict[str, float]:
    return {"x": (run.seed is not None) * Narrow.value}


def of_object(run: tg.Run) -> dict[str, float]:
    return {"x": (run.seed is not None) * NARROW.value}


@pytest.mark.parametrize("measure", [of_class, of_subclass, of_object])
def test_what_is_set_on_a_class_is_part_of_what_uses_it(
    measure: Callable[[tg.Run], dict[str, float]], random: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store gave the number of the value that the source has."""
    assert counted(random, runs=2, measure=measure)[1] == 2
    assert counted(random, runs=2, measure=measure)[1] == 0
    monkeypatch.setattr(Conf, "value", 2.0)
    study, computed, _ = counted(random, runs=2, measure=measure)
    assert computed == 2
    assert study.values("x", 0)[0] == 2


USES = {
    "module": "import own_values\ndef m(run):\n    return {'x': own_values.V['v'][0]}\n",
    "inner": "import own_outer\ndef m(run):\n    return {'x': own_outer.own_values.V['v'][0]}\n",
    "function": "from own_values import get\ndef m(run):\n    return {'x': get()}\n",
    "class": "from own_values import Getter\ndef m(run):\n    return {'x': Getter().get()}\n",
}


@pytest.mark.parametrize("use", USES)
def test_what_is_set_on_a_module_is_part_of_what_uses_it(
    use: str, random: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("own_values", "own_outer", f"own_{use}_uses"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "own_values.py").write_text(
        "import math\nV = {'v': (1.0, None)}\nLOOP = []\nLOOP.append(LOOP)\n"
        "def get():\n    return V['v'][0]\n"
        "class Getter:\n    def get(self):\n        return V['v'][0]\n"
    )
    (tmp_path / "own_outer.py").write_text("import own_values\n")
    (tmp_path / f"own_{use}_uses.py").write_text(USES[use])
    measure = importlib.import_module(f"own_{use}_uses").m
    assert counted(random, runs=2, measure=measure)[1] == 2
    assert counted(random, runs=2, measure=measure)[1] == 0
    monkeypatch.setattr(math, "own_value", 2.0, raising=False)
    assert counted(random, runs=2, measure=measure)[1] == 0, "a library's values are its own"
    monkeypatch.setitem(sys.modules["own_values"].V, "v", (2.0, None))
    study, computed, _ = counted(random, runs=2, measure=measure)
    assert computed == 2
    assert study.values("x", 0)[0] == 2


def test_a_value_that_cannot_be_told_needs_a_version(random: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(longer.__globals__, "LIMIT", (float(n) for n in range(3)))
    with pytest.raises(tg.errors.ArgumentError, match="longer uses LIMIT, of type generator"):
        counted(random, runs=2, measure=longer)
