"""Studies whose tables do not stay in memory, and parts that are killed, doubled and done in any order."""

from __future__ import annotations

import random as shuffling
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import polars as pl
import pytest
import tidegate as tg
from support.clusters import rows
from support.common import tidegate
from support.studies import MARKOV
from tidegate._ask import compiled
from tidegate._run.rows import Frame, Lists, Table
from tidegate._run.table import flat
from tidegate._study import columns, gather, merge, part, points, start

if TYPE_CHECKING:
    from pathlib import Path

VARY = {"gate.link.queue": ["10 packets", "20 packets", "40 packets"]}


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small tables behave as very large ones: little chunks, all of them in files."""
    monkeypatch.setattr(gather, "CHUNK_ROWS", 4)
    monkeypatch.setattr(columns, "IN_MEMORY", 0)
    monkeypatch.setattr(columns, "GROUP_ROWS", 5)
    monkeypatch.setattr(merge, "MERGED_ROWS", 7)
    monkeypatch.setattr(part, "MERGED_ROWS", 7)


def files(study: tg.Study, folder: Path) -> dict[str, bytes]:
    """Return the tables of a study as they are written."""
    study.save(folder, force=True)
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def test_tables_in_files_are_those_in_memory(random: Path, tmp_path: Path, narrow: None) -> None:  # noqa: ARG001
    narrow_study = tg.study(random, vary=VARY, store=False)
    parts = [
        tg.study_part(random, f"{number}/4", tmp_path / "parts" / str(number), vary=VARY, store=False)
        for number in (3, 1, 4, 2)
    ]
    merged = tg.merge_study(parts)
    with pytest.MonkeyPatch.context() as usual:
        usual.setattr(gather, "CHUNK_ROWS", 8192)
        usual.setattr(columns, "IN_MEMORY", 64 << 20)
        whole = tg.study(random, vary=VARY, store=False)
    expected = files(whole, tmp_path / "whole")
    for study in (narrow_study, merged):
        assert study.to_json() == whole.to_json()
        assert study.report() == whole.report()
        assert files(study, tmp_path / "other") == expected
        for metric in (
            "flow.bulk.rtt_p50_ms",
            "gate.link.drops.queue full",
            "flow.bulk.limited_by.gate.link",
        ):
            assert [study.values(metric, n) for n in range(3)] == [whole.values(metric, n) for n in range(3)]
    assert narrow_study.scan("flows").select(pl.len()).collect().item() == 18


def test_points_may_have_other_elements(tmp_path: Path) -> None:
    """A flow that is at some points only, and one that is done at some."""
    file = tmp_path / "x.toml"
    file.write_text(
        MARKOV.replace("runs = 6", "runs = 2")
        + '\n[[sweep]]\n"flow.bulk.count" = [1, 3]\n"flow.bulk.app.transfer" = ["100 kB", "1 GB"]\n'
    )
    study = tg.study(file, store=False)
    assert study.values("flow.bulk.3.goodput_bps", 0) == [None, None]
    assert None not in study.values("flow.bulk.3.goodput_bps", 1)
    assert study.values("completion_s", 1) == [None, None]
    study.save(tmp_path / "folder")
    assert tg.open(tmp_path / "folder").to_json() == study.to_json()


ROWS: list[list[dict[str, object]]] = [
    [{"name": "a", "sent": 1, "drops": {}}, {"name": "b", "sent": 2, "drops": {}}],
    # What is nested differs, and stands before other columns; whole numbers and others.
    [
        {"a": 1, "x": {"p": 1}, "b": 2},
        {"a": 1.5, "x": {"p": 1, "q": 2}, "b": None},
        {"a": None, "x": {}, "b": 2},
    ],
    [{"a": 1, "b": 2.0}, {"a": 1, "c": "text", "b": 3.0}, {"c": None}],
    [{"x": {"p": 1}, "a": 0}, {"x": None, "a": 1}, {"a": 2, "x": {"q": 0.5}}],
    [{"a": 1, "classes": []}, {"a": 1, "classes": [{"name": "c", "drops": {"early": 1}}]}],
    [{"a": None, "x": {"p": None}}, {"a": None, "x": {"p": None}}],
]


@pytest.mark.parametrize("rows", ROWS)
def test_columns_are_those_of_flat_rows(rows: list[dict[str, object]]) -> None:
    frame = Lists.made_of(range(7, 7 + len(rows)), rows).frame().collect()
    expected = pl.DataFrame([flat(row) for row in rows], infer_schema_length=None)
    assert frame["place"].to_list() == [7 + number for number in range(len(rows))]
    assert frame["place"].dtype == pl.UInt64
    assert frame.drop("place").equals(expected)
    assert frame.drop("place").schema == expected.schema


def test_the_work_beside_a_run_is_not_python_for_each_flow() -> None:
    """A run of very many flows occupied one processor with its tables, and others waited."""
    rows = [{"name": f"user.{n}", "drops": {}, "limited_by": {f"gate.{n % 3}": 1.0}} for n in range(3000)]
    calls = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        frame = Lists.made_of([0] * len(rows), rows).frame().collect()
    finally:
        sys.setprofile(None)
    assert frame.columns == ["place", "name", "limited_by.gate.0", "limited_by.gate.1", "limited_by.gate.2"]
    assert calls < len(rows) / 3


def test_results_are_digested_for_parts_only(
    random: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digested = []
    digest = gather._digest
    monkeypatch.setattr(gather, "_digest", lambda first: digested.append(1) or digest(first))
    tg.study(random, vary=VARY, runs=2, store=False)
    assert not digested
    tg.study_part(random, "1/1", tmp_path / "part", vary=VARY, runs=2, store=False)
    assert len(digested) == 3


def test_plans_of_points_are_made_again_for_their_runs(
    random: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every point kept its plan, which is large where it has many flows."""
    whole = tg.study(random, vary=VARY, runs=2, store=False)
    monkeypatch.setattr(points, "ROOM", 50)
    ready = points.prepare(random, VARY)
    assert [point._kept is not None for point in ready.points] == [True, False, False]
    small = tg.study(random, vary=VARY, runs=2, store=False)
    assert small.to_json() == whole.to_json()
    assert files(small, tmp_path / "small") == files(whole, tmp_path / "whole")
    texts = [point.scenario().to_toml() for point in ready.points]
    assert [point.toml for point in ready.points] == texts
    for record in ("summary", None):
        digests = [compiled.digest(point.scenario(), record) for point in ready.points]
        assert [point.digest(record) for point in ready.points] == digests


def test_a_point_with_a_file_keeps_what_was_read(
    random: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file may be another one when its run begins."""
    monkeypatch.setattr(points, "ROOM", 0)
    trace = tmp_path / "link.down"
    trace.write_text("0\n5\n9\n")
    law = {"gate.link.rate": "{ trace = 'link.down' }"}
    ready = points.prepare(random, VARY, law)
    trace.unlink()
    assert [len(point.scenario().inputs) for point in ready.points] == [1, 1, 1]


def test_a_wrong_point_is_told_before_the_first_run(random: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "ROOM", 0)
    monkeypatch.setattr(start, "execute_study", lambda *_, **__: pytest.fail("a run began"))
    with pytest.raises(tg.errors.ScenarioError, match="queue"):
        tg.study(random, vary={"gate.link.queue": ["10 packets", "20 parsecs"]}, store=False)


@pytest.mark.timeout(300)
def test_parts_killed_doubled_and_in_any_order_are_one_machine(tmp_path: Path) -> None:
    file = tmp_path / "random.toml"
    file.write_text(MARKOV.replace('"4 s"', '"400 s"'))
    change = f"gate.link.queue={','.join(VARY['gate.link.queue'])}"
    made = tidegate("study", "plan", file, "--shards", "5", "--vary", change, "--out", tmp_path / "plan")
    assert made.returncode == 0, made.stderr
    lines = [line.split(" && ")[1] for line in (tmp_path / "plan" / "parts.txt").read_text().splitlines()]
    shuffling.Random(1).shuffle(lines)
    for line in lines[:2]:
        killed = subprocess.Popen([sys.executable, "-m", *shlex.split(line)], stderr=subprocess.DEVNULL)
        time.sleep(0.7)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    with pytest.raises(tg.errors.RunFolderError, match="parts"):
        tg.merge_study([tmp_path / "plan"])
    # As xargs -P 2 does them; two are given twice.
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda line: tidegate(*shlex.split(line)[1:]), [*lines, *lines[3:]]))
    assert [each.returncode for each in done] == [0] * 7, [each.stderr for each in done]
    assert sum("done already" in each.stdout for each in done) >= 2
    store = tmp_path / "merged"
    again = tidegate("study", "merge", tmp_path / "plan", "--store", store, "--json")
    assert again.returncode == 0, again.stderr
    whole = tg.study(file, vary=VARY, store=tmp_path / "one")
    assert again.stdout == whole.to_json() + "\n"
    assert files(tg.merge_study([tmp_path / "plan"]), tmp_path / "a") == files(whole, tmp_path / "b")
    assert rows(store) == rows(tmp_path / "one")
    longer = tidegate("study", file, "--vary", change, "--runs", "7", "--store", store, "--json")
    assert "18 of 21 runs were taken from the store" in longer.stderr


def test_a_distribution_of_very_many_runs_has_few_steps(
    random: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidegate._study import plot_spread

    study = tg.study(random, vary=VARY, runs=12, store=False)
    monkeypatch.setattr(plot_spread, "_STEPS", 5)
    monkeypatch.setattr(plot_spread, "_DOTS", 4)
    curve = study.plot_cdf(metric="goodput_bps").axes[0].get_lines()[0]
    assert len(curve.get_xdata()) == 6
    values = sorted(study.values("goodput_bps", 0))
    assert curve.get_xdata()[-1] == values[-1] / 1e6
    assert list(curve.get_ydata())[-1] == 1.0
    text = " ".join(each.get_text() for each in study.plot_box(metric="goodput_bps").texts)
    assert "4 runs, evenly chosen by rank" in text.replace("\n", " ")


def test_columns_name_the_copies_of_a_gate(tmp_path: Path) -> None:
    file = tmp_path / "copies.toml"
    file.write_text(
        'duration = "2 s"\n[gate.link]\nper = "flow"\nrate = "2 Mbit/s"\nqueue = "20 packets"\n'
        '[flow.good]\npath = ["link"]\n[flow.bad]\npath = ["link"]\n'
    )
    done = tidegate("study", file, "--columns", "gate.link/bad.loss", "--no-store")
    assert done.returncode == 0, done.stderr
    assert "gate.link/bad.loss" in done.stdout
    done = tidegate("study", file, "--columns", "gate.link.loss", "--no-store")
    assert done.returncode == 2
    assert 'no gate is called "link"; did you mean "link/bad"?' in done.stderr


@pytest.mark.parametrize("seed", range(40))
def test_lists_and_frames_give_the_same_answers(seed: int) -> None:
    """Rows of few runs stay lists; of many they are data frames."""
    draw = shuffling.Random(seed)

    def drawn(places: list[int]) -> list[Table]:
        kinds = [draw.choice(["number", "maybe", "nothing", "word"]) for _ in range(3)]
        made = {
            "number": lambda: draw.choice([draw.random(), float(draw.randrange(5))]),
            "maybe": lambda: draw.choice([None, draw.random()]),
            "nothing": lambda: None,
            "word": lambda: draw.choice(["reno", "cubic"]),
        }
        lists = Lists.made_of(
            places,
            [
                {"name": draw.choice("ab"), **{f"c{n}": made[kind]() for n, kind in enumerate(kinds)}}
                for _ in places
            ],
        )
        return [lists, Frame(lists.frame())]

    many = sorted(draw.choices(range(12), k=draw.randrange(1, 30)))
    some = sorted(draw.sample(range(12), draw.randrange(1, 12)))
    for one, other in zip(drawn(many), drawn(some), strict=True):
        found = [
            one.of("a"),
            one.filled("c0", 0.5) if one.numbers("c0") is not None else one,
            one.filled("new", 0.0),
            one.arranged(["c2", "none"]),
            one.arranged(["c0"]).beside(other, ["c1", "c2"]),
            one.arranged([]).beside(other.of("b"), ["c0"]).arranged(["c0"]),
        ]
        told = [
            (
                table.height(),
                {name: table.values(name) for name in table.names()},
                {name: repr(table.numbers(name)) for name in table.names()},
                {name: table.distinct(name) for name in table.names()},
                table.frame().collect().to_dict(as_series=False),
                dict(table.frame().collect_schema()),
            )
            for table in found
        ]
        if isinstance(one, Lists):
            expected = told
    assert told == expected
