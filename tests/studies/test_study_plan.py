"""The plan of a study for several machines: its commands give the study."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import tidegate
from support.studies import VARY

if TYPE_CHECKING:
    from pathlib import Path


def test_the_commands_of_a_plan_give_the_study(random: Path, tmp_path: Path) -> None:
    words = [f"{key}={','.join(values)}" for key, values in VARY.items()]
    plan = tmp_path / "a plan"
    made = tidegate("study", "plan", random, "--shards", "3", "--vary", words[0], "--out", plan)
    assert made.returncode == 0, made.stderr
    manifest = json.loads((plan / "manifest.json").read_text())
    assert manifest["runs_of_parts"] == [6, 6, 6]
    assert len({point["key"] for point in manifest["points"]}) == 3
    with pytest.raises(tg.errors.RunFolderError, match="no part of this plan is done yet"):
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
            with pytest.raises(tg.errors.RunFolderError, match="2 of 3 parts are missing: 2, 3"):
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
    with pytest.raises(tg.errors.RunFolderError, match=f"{plan / 'parts' / '1'}: this part is {words}"):
        tg.merge_study([plan])
    random.write_text(planned)
    with pytest.raises(tg.errors.RunFolderError, match="runs 7, not 6"):
        tg.study_part(random, "1/2", plan / "parts" / "2", runs=7, store=False)
    with pytest.raises(tg.errors.RunFolderError, match="it is one of 3 parts, not of 2"):
        tg.study_part(random, "1/3", plan / "parts" / "2", store=False)
