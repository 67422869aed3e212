"""A study in parts, on several machines: put together they are what one machine gives."""

from __future__ import annotations

import json
import random as shuffling
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import EXAMPLES, tidegate
from support.studies import MARKOV, VARY, kept, parts_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("count", [1, 2, 7, 18])
def test_parts_in_any_order_are_the_whole(random: Path, tmp_path: Path, count: int) -> None:
    whole = tg.study(random, vary=VARY, store=False)
    parts = parts_of(random, tmp_path / "parts", count)
    shuffling.Random(count).shuffle(parts)
    merged = tg.merge_study(parts)
    assert merged.to_json() == whole.to_json()
    for table in ("runs", "flows", "gates"):
        assert merged.frame(table).equals(whole.frame(table))
    assert merged.table.equals(whole.table)
    assert [point.scenario for point in merged.points] == [point.scenario for point in whole.points]


def test_more_parts_than_runs_leave_some_empty(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 20)
    assert json.loads((parts[19] / "manifest.json").read_text())["results"] == 0
    assert tg.merge_study(parts).to_json() == tg.study(random, vary=VARY, store=False).to_json()


def test_with_until_a_point_belongs_to_one_part(random: Path, tmp_path: Path) -> None:
    until = tg.Until("goodput_bps", relative=0.05, at_least=4, at_most=12, step=4)
    parts = parts_of(random, tmp_path / "parts", 2, until=until)
    facts = [json.loads((part / "manifest.json").read_text())["facts"] for part in parts]
    assert [[point for point, *_ in of_part["points"]] for of_part in facts] == [[0, 2], [1]]
    whole = tg.study(random, vary=VARY, store=False, until=until)
    assert tg.merge_study(parts).to_json() == whole.to_json()


def test_a_part_that_was_killed_goes_on_from_its_store(random: Path, tmp_path: Path) -> None:
    random.write_text(MARKOV.replace('duration = "4 s"', 'duration = "60 s"'))
    store, out = tmp_path / "store", tmp_path / "part"
    command = [sys.executable, "-m", "tidegate", "study", str(random), "--runs", "400", "--workers", "1"]
    command += ["--shard", "1/2", "--store", str(store), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and kept(store) < 5:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = kept(store)
    assert before >= 5
    assert not out.exists()
    assert len(list(tmp_path.glob(".part.*"))) == 1
    # Another machine's, where somebody may still work.
    other = ".part.tidegate-ffffffff-00000000"
    (tmp_path / other).mkdir()
    again = tidegate("study", random, "--runs", "400", "--shard", "1/2", "--store", store, "--out", out)
    assert again.returncode == 0, again.stderr
    assert [left.name for left in tmp_path.glob(".part.*")] == [other]
    if before < 200:
        assert f"{before} of 200 runs were taken from the store" in again.stderr


def test_missing_parts_are_named(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 4)
    with pytest.raises(tg.errors.RunFolderError, match=r"2 of 4 parts are missing: 1, 3; .* --shard 1/4"):
        tg.merge_study([parts[1], parts[3]])


def test_a_part_that_is_there_twice_counts_once(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    again = tg.study_part(random, "2/2", tmp_path / "again", vary=VARY, store=False)
    done = tidegate("study", "merge", *parts, again, "--json")
    assert done.stdout == tg.study(random, vary=VARY, store=False).to_json() + "\n"
    assert "part 2 of 2 is there twice" in done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 6}, "seed 6, not 5"),
        ({"runs": 7}, "runs 7, not 6"),
        ({"changes": {"gate.link.delay": "11 ms"}}, "the scenario or one of its traces differs"),
    ],
)
def test_a_part_of_another_study_is_refused(
    random: Path, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    one = tg.study_part(random, "1/2", tmp_path / "one", store=False)
    other = tg.study_part(random, "2/2", tmp_path / "other", store=False, **change)
    with pytest.raises(tg.errors.RunFolderError, match=words):
        tg.merge_study([one, other])


def test_another_number_of_parts_is_refused(random: Path, tmp_path: Path) -> None:
    one = tg.study_part(random, "1/2", tmp_path / "one", store=False)
    other = tg.study_part(random, "2/3", tmp_path / "other", store=False)
    with pytest.raises(tg.errors.RunFolderError, match=r"part 2 of 3, but .* is one of 2"):
        tg.merge_study([one, other])


@pytest.mark.parametrize("column", ["nonsense", "flow.nope.goodput_bps", "flow.bulk.nonsense"])
def test_a_wrong_column_leaves_nothing_behind(random: Path, tmp_path: Path, column: str) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    files = ("--out", folder / "study", "--csv", folder / "x.csv", "--report", folder / "x.html")
    part = tg.study_part(random, "1/1", tmp_path / "part", store=False)
    kept_results = ("--store", folder / "kept")
    for words in [("study", "merge", part, *kept_results), ("study", random, "--no-store")]:
        done = tidegate(*words, "--columns", f"goodput_bps,{column}", *files)
        assert done.returncode == 2
        assert "is called" in done.stderr
        assert not list(folder.iterdir())


@pytest.mark.parametrize("column", ["nonsense", "flow.nope.goodput_bps", "gate.nope.loss"])
def test_a_wrong_column_is_found_before_the_runs(random: Path, tmp_path: Path, column: str) -> None:
    done = tidegate("study", random, "--store", tmp_path / "kept", "--columns", column)
    assert done.returncode == 2
    assert not (tmp_path / "kept").exists()


def test_every_number_of_a_run_is_a_known_column() -> None:
    from tidegate._run.summary import FIGURES, figures_of

    run = tg.run(EXAMPLES / "web.toml", changes={"duration": "5 s"})
    found = [*figures_of(run.summary, None)]
    assert found == [name for name in FIGURES if name in found]
    assert {*FIGURES} - {*found} <= {"progress"}


def test_parts_need_a_seed(random: Path, tmp_path: Path) -> None:
    random.write_text(MARKOV.replace("seed = 5\n", ""))
    with pytest.raises(
        tg.errors.ArgumentError, match="every part of a study needs the same one; give --seed 1"
    ):
        tg.study_part(random, "1/2", tmp_path / "one", store=False)


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "a/b", "-1/4", "1/9999999999"])
def test_a_wrong_part_is_refused(random: Path, tmp_path: Path, text: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match="such as 3/64"):
        tg.study_part(random, text, tmp_path / "one", store=False)


def test_a_folder_that_is_no_part_is_refused(random: Path, tmp_path: Path) -> None:
    whole = tg.study(random, store=False)
    whole.save(tmp_path / "study")
    with pytest.raises(tg.errors.RunFolderError, match="holds a study, and no part of a study"):
        tg.merge_study([tmp_path / "study"])
    part = tg.study_part(random, "1/2", tmp_path / "part", store=False)
    with pytest.raises(tg.errors.RunFolderError, match="tidegate study merge puts the parts together"):
        tg.open(part)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--shard needs --out DIR"),
        (("--out", "x", "--csv", "x.csv"), "a part of a study has no --csv"),
        (("--out", "x", "--engine", "live"), "live runs need the kernel of one machine"),
    ],
)
def test_a_part_has_no_picture(random: Path, options: tuple[str, ...], words: str) -> None:
    done = tidegate("study", random, "--shard", "1/2", *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_part_given_as_a_pair_is_refused(random: Path, tmp_path: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=r"shard: read \(1, 3\); takes .*text"):
        tg.study_part(random, (1, 3), tmp_path / "one", store=False)
