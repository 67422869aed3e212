"""A study in parts, on several machines: put together they are what one machine gives."""

from __future__ import annotations

import json
import random as shuffling
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from common import EXAMPLES, tidegate
from studies import MARKOV

if TYPE_CHECKING:
    from pathlib import Path

VARY = {"gate.link.queue": ["10 packets", "20 packets", "40 packets"]}


def parts_of(file: Path, folder: Path, count: int, **options: object) -> list[Path]:
    """Do every part of a study, and return the folders."""
    return [
        tg.study_part(file, f"{number}/{count}", folder / str(number), vary=VARY, store=False, **options)
        for number in range(1, count + 1)
    ]


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
    # Somebody else's, who may still work.
    (tmp_path / ".part.other").mkdir()
    (tmp_path / ".part.other" / ".owner").write_text("another machine")
    again = tidegate("study", random, "--runs", "400", "--shard", "1/2", "--store", store, "--out", out)
    assert again.returncode == 0, again.stderr
    assert [left.name for left in tmp_path.glob(".part.*")] == [".part.other"]
    assert not (out / ".owner").exists()
    if before < 200:
        assert f"{before} of 200 runs were taken from the store" in again.stderr


def kept(store: Path) -> int:
    """Return how many results a store has; 0 where there is none yet."""
    try:
        with sqlite3.connect(f"file:{store / 'runs.sqlite'}?mode=ro", uri=True) as base:
            found: int = base.execute("SELECT count(*) FROM runs").fetchone()[0]
            return found
    except sqlite3.Error:
        return 0


def test_missing_parts_are_named(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 4)
    with pytest.raises(tg.RunFolderError, match=r"2 of 4 parts are missing: 1, 3; .* --shard 1/4"):
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
        ({"set": {"gate.link.delay": "11 ms"}}, "the scenario or one of its traces differs"),
    ],
)
def test_a_part_of_another_study_is_refused(
    random: Path, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    one = tg.study_part(random, "1/2", tmp_path / "one", store=False)
    other = tg.study_part(random, "2/2", tmp_path / "other", store=False, **change)
    with pytest.raises(tg.RunFolderError, match=words):
        tg.merge_study([one, other])


def test_another_number_of_parts_is_refused(random: Path, tmp_path: Path) -> None:
    one = tg.study_part(random, "1/2", tmp_path / "one", store=False)
    other = tg.study_part(random, "2/3", tmp_path / "other", store=False)
    with pytest.raises(tg.RunFolderError, match=r"part 2 of 3, but .* is one of 2"):
        tg.merge_study([one, other])


def contents(folder: Path) -> dict[str, bytes]:
    """Return what the files of a folder hold."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize(
    "name", ["manifest.json", "points.json", "runs.sqlite", "runs.parquet", "gates.parquet", "flows.parquet"]
)
def test_a_damaged_file_is_named(random: Path, tmp_path: Path, name: str) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    file = parts[1] / name
    whole = file.read_bytes()
    again = f"delete the folder {parts[1]} and do part 2/2 again"
    for place in range(0, len(whole), max(1, len(whole) // 20)):
        damaged = bytes([*whole[:place], whole[place] ^ 1, *whole[place + 1 :]])
        file.write_bytes(damaged)
        with pytest.raises(tg.RunFolderError, match=f"{name}.*(damaged|not written by tidegate|layout)"):
            tg.merge_study(parts)
    if name == "manifest.json":
        return
    with pytest.raises(tg.RunFolderError, match=f"{name}: this file is damaged: .* part 2/2 wrote; {again}"):
        tg.merge_study(parts)
    with pytest.raises(tg.RunFolderError, match=again):
        tg.study_part(random, "2/2", parts[1], vary=VARY, store=False)
    file.unlink()
    with pytest.raises(tg.RunFolderError, match=f"{name}: this file is missing; {again}"):
        tg.merge_study(parts)
    tg.study_part(random, "2/2", parts[1], vary=VARY, store=False, force=True)
    tg.merge_study(parts)


@pytest.mark.parametrize("names", [("runs", "gates", "flows"), ("gates",)])
def test_tables_of_another_part_are_refused(random: Path, tmp_path: Path, names: tuple[str, ...]) -> None:
    parts = parts_of(random, tmp_path / "parts", 3)
    for name in names:
        (parts[1] / f"{name}.parquet").write_bytes((parts[0] / f"{name}.parquet").read_bytes())
    done = tidegate("study", "merge", *parts, "--json", "--store", tmp_path / "kept")
    assert done.returncode == 2
    assert "this file is damaged: it is not what part 2/3 wrote" in done.stderr
    assert not (tmp_path / "kept").exists()


def test_a_manifest_with_other_tables_is_refused(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    file = parts[0] / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "tables": {}}))
    with pytest.raises(tg.RunFolderError, match=r"manifest.json: this file is damaged: .* do part 1/2 again"):
        tg.merge_study(parts)


def test_a_part_without_digests_is_done_again(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    file = parts[0] / "manifest.json"
    manifest = json.loads(file.read_text())
    del manifest["files"], manifest["digest"]
    file.write_text(json.dumps(manifest))
    with pytest.raises(tg.RunFolderError, match=r"without digests of its files; .* do part 1/2 again"):
        tg.merge_study(parts)


def test_merging_leaves_the_parts_as_they_are(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    before = [contents(part) for part in parts]
    tg.merge_study(parts, store=tmp_path / "kept")
    assert [contents(part) for part in parts] == before
    assert kept(tmp_path / "kept") == 18


def test_nothing_is_kept_of_a_merge_that_is_refused(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    with pytest.raises(tg.UnknownNameError, match="no gate"):
        tg.merge_study(parts, gate="nope", store=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


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

    run = tg.run(EXAMPLES / "web.toml", set={"duration": "5 s"})
    found = [*figures_of(run.summary, None)]
    assert found == [name for name in FIGURES if name in found]
    assert {*FIGURES} - {*found} <= {"progress"}


def test_parts_need_a_seed(random: Path, tmp_path: Path) -> None:
    random.write_text(MARKOV.replace("seed = 5\n", ""))
    with pytest.raises(tg.ArgumentError, match="every part of a study needs the same one; give --seed 1"):
        tg.study_part(random, "1/2", tmp_path / "one", store=False)


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "a/b", "-1/4", "1/9999999999"])
def test_a_wrong_part_is_refused(random: Path, tmp_path: Path, text: str) -> None:
    with pytest.raises(tg.ArgumentError, match="such as 3/64"):
        tg.study_part(random, text, tmp_path / "one", store=False)


def test_a_folder_that_is_no_part_is_refused(random: Path, tmp_path: Path) -> None:
    whole = tg.study(random, store=False)
    whole.save(tmp_path / "study")
    with pytest.raises(tg.RunFolderError, match="holds a study, and no part of a study"):
        tg.merge_study([tmp_path / "study"])
    part = tg.study_part(random, "1/2", tmp_path / "part", store=False)
    with pytest.raises(tg.RunFolderError, match="tidegate study merge puts the parts together"):
        tg.open_study(part)


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


def test_the_commands_of_a_plan_give_the_study(random: Path, tmp_path: Path) -> None:
    words = [f"{key}={','.join(values)}" for key, values in VARY.items()]
    plan = tmp_path / "a plan"
    made = tidegate("study", "plan", random, "--shards", "3", "--vary", words[0], "--out", plan)
    assert made.returncode == 0, made.stderr
    manifest = json.loads((plan / "manifest.json").read_text())
    assert manifest["runs_of_parts"] == [6, 6, 6]
    assert len({point["key"] for point in manifest["points"]}) == 3
    with pytest.raises(tg.RunFolderError, match="no part of this plan is done yet"):
        tg.merge_study([plan])
    script = (plan / "slurm.sh").read_text()
    assert "--array=1-3" in script
    for number, line in enumerate((plan / "parts.txt").read_text().splitlines(), 1):
        change, then = line.split(" && ")
        assert change.startswith("cd ")
        done = tidegate(*shlex.split(then)[1:])
        assert done.returncode == 0, done.stderr
        by_slurm = script.splitlines()[-1].replace('"$SLURM_ARRAY_TASK_ID"', str(number))
        assert line.endswith(" --workers 1")
        assert by_slurm.startswith(line.removesuffix("1"))
        if number == 1:
            with pytest.raises(tg.RunFolderError, match="2 of 3 parts are missing: 2, 3"):
                tg.merge_study([plan])
    whole = tg.study(random, vary=VARY, store=False)
    for merged in (tg.merge_study([plan]), tg.merge_study(plan), tg.merge_study(str(plan))):
        assert merged.to_json() == whole.to_json()
        assert merged.manifest["scenario_file"] == str(random)
    again = tidegate("study", "plan", random, "--shards", "3", "--out", plan, "--force")
    assert again.returncode == 2
    assert f"{plan / 'parts'}: parts of a plan are done here" in again.stderr
    assert tg.merge_study([plan]).to_json() == whole.to_json()


def test_a_scenario_keeps_the_name_that_the_plan_was_given(random: Path, tmp_path: Path) -> None:
    made = tidegate("study", "plan", random.name, "--shards", "1", "--out", "plan", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    for line in (tmp_path / "plan" / "parts.txt").read_text().splitlines():
        assert tidegate(*shlex.split(line.split(" && ")[1])[1:], cwd=tmp_path).returncode == 0
    assert tg.merge_study(tmp_path / "plan").manifest["scenario_file"] == random.name


def test_slurm_reads_the_name_of_the_folder(random: Path, tmp_path: Path) -> None:
    plan = tmp_path / """a "plan" of 5% isn't"""
    made = tidegate("study", "plan", random, "--shards", "1001", "--out", plan)
    assert made.returncode == 0, made.stderr
    script = (plan / "slurm.sh").read_text()
    # sbatch takes quotes and backslashes as a shell does here.
    option = next(line for line in script.splitlines() if line.startswith("#SBATCH --output="))
    read = shlex.split(option.removeprefix("#SBATCH "))
    assert read == [f"--output={str(plan).replace('%', '%%')}/slurm-%a.out"]
    words = "Slurm takes indices of an array up to 1000 unless its MaxArraySize is larger than 1001"
    assert words in script
    assert words in made.stderr
    fewer = tidegate("study", "plan", random, "--shards", "1000", "--out", tmp_path / "fewer")
    assert fewer.stderr == ""
    assert "MaxArraySize" not in (tmp_path / "fewer" / "slurm.sh").read_text()


def test_a_plan_with_a_line_break_in_a_name_is_refused(random: Path, tmp_path: Path) -> None:
    made = tidegate("study", "plan", random, "--shards", "2", "--out", tmp_path / "a\nb")
    assert made.returncode == 2
    assert "a name in it has a line break" in made.stderr
    assert not (tmp_path / "a\nb").exists()


def test_a_merge_does_not_replace_its_own_parts(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    whole = [contents(part) for part in parts]
    # A folder around them that holds results.
    (parts[0].parent / "manifest.json").write_text("{}")
    for options in [
        ("--out", parts[0], "--force"),
        ("--out", parts[0].parent, "--force"),
        ("--store", parts[1]),
    ]:
        done = tidegate("study", "merge", *parts, *options)
        assert done.returncode == 2
        assert "put together here; choose another folder" in done.stderr
    assert [contents(part) for part in parts] == whole


def test_a_part_given_as_a_pair_is_refused(random: Path, tmp_path: Path) -> None:
    with pytest.raises(tg.ArgumentError, match=r"shard: read \(1, 3\); .* such as 3/64"):
        tg.study_part(random, (1, 3), tmp_path / "one", store=False)


def test_parts_of_another_study_than_the_planned_one_are_refused(random: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    made = tidegate("study", "plan", random, "--shards", "2", "--out", plan)
    assert made.returncode == 0, made.stderr
    lines = [line.split(" && ")[1] for line in (plan / "parts.txt").read_text().splitlines()]
    planned = random.read_text()
    random.write_text(planned.replace('duration = "4 s"', 'duration = "5 s"'))
    words = f"not of the study that was planned in {plan}: the scenario or one of its traces differs; plan "
    for options in [[], ["--force"]]:
        early = tidegate(*shlex.split(lines[0])[1:], *options)
        assert early.returncode == 2
        assert words in early.stderr
    assert not (plan / "parts").exists()
    tg.study_part(random, "1/2", tmp_path / "1", store=False)
    (plan / "parts").mkdir()
    (tmp_path / "1").rename(plan / "parts" / "1")
    with pytest.raises(tg.RunFolderError, match=f"{plan / 'parts' / '1'}: this part is {words}"):
        tg.merge_study([plan])
    random.write_text(planned)
    with pytest.raises(tg.RunFolderError, match="runs 7, not 6"):
        tg.study_part(random, "1/2", plan / "parts" / "2", runs=7, store=False)
    with pytest.raises(tg.RunFolderError, match="it is one of 3 parts, not of 2"):
        tg.study_part(random, "1/3", plan / "parts" / "2", store=False)
