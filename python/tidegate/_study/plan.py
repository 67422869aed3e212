"""The plan of a study for a cluster: its points with their keys, and scripts that do the parts."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from tidegate._run.folder import MANIFEST, write_json
from tidegate._study import jobs
from tidegate._study.planned import PARTS
from tidegate._study.prepare import Prepared
from tidegate._study.shard import Shard
from tidegate.errors import ArgumentError, RunFolderError

#: A line for each part: for GNU parallel, xargs, or any scheduler that takes commands.
COMMANDS = "parts.txt"
#: A job array for Slurm.
SLURM = "slurm.sh"
#: The largest index of a job array where Slurm's MaxArraySize is what it usually is, 1001.
SLURM_MOST = 1000
#: Where the results of parts are kept while they are done.
STORES = "stores"


def write_plan(prepared: Prepared, shards: int, folder: Path, *, place: Path, words: Sequence[str]) -> None:
    """Fill the folder of a plan, which will stand at ``place``; ``words``: the command of the whole study.

    Raises:
        ArgumentError: there cannot be so many parts, or a name has more than one line.
    """
    last = Shard(shards, shards)
    by_point = prepared.until is not None
    points = range(len(prepared.points))
    places = len(points) if by_point else sum(prepared.runs_of(point) for point in points)
    parts = [len(range(number - 1, places, shards)) for number in range(1, last.of + 1)]
    manifest = {
        "kind": "plan",
        "layout": 1,
        "title": prepared.title,
        "scenario_file": prepared.file,
        "seed": prepared.seed,
        "runs": prepared.runs,
        "until": None if prepared.until is None else str(prepared.until),
        "axes": prepared.axes,
        "shards": shards,
        "built": jobs.engine_identity(),
        "points": [{"set": dict(point.values), "key": point.digest("summary")} for point in prepared.points],
        "points_of_parts" if by_point else "runs_of_parts": parts,
    }
    write_json(folder / MANIFEST, manifest)
    # GNU parallel starts one for each processor, so each has one thread.
    lines = [f"{_line(words, place, str(number), shards)} --workers 1" for number in range(1, shards + 1)]
    if any(letter in line for line in lines for letter in "\n\r"):
        raise ArgumentError(f"{COMMANDS}: a command has to be one line, but a name in it has a line break")
    (folder / COMMANDS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    script = folder / SLURM
    script.write_text(_slurm(words, place, shards), encoding="utf-8")
    script.chmod(0o755)


def _line(words: Sequence[str], place: Path, number: str, shards: int) -> str:
    """Return the command of a part; ``number`` stands in it as it is."""
    # Names of traces in --set count from the folder in which the plan is made. A store for each part: several
    # machines must not write to one file.
    here = shlex.quote(str(Path.cwd()))
    store, out = _in(place, STORES, number), _in(place, PARTS, number)
    return f"cd {here} && {shlex.join(words)} --shard {number}/{shards} --store {store} --out {out}"


def _in(place: Path, folder: str, number: str) -> str:
    return f"{shlex.quote(str(place / folder))}/{number}"


def check_replaceable(place: Path) -> None:
    """Refuse to put a plan where parts of another one are done.

    Raises:
        RunFolderError: there are some, whole or begun.
    """
    for name in (PARTS, STORES):
        if (place / name).is_dir() and any((place / name).iterdir()):
            raise RunFolderError(
                f"{place / name}: parts of a plan are done here; choose another folder for the new plan, or "
                f"delete {place}"
            )


def _slurm(words: Sequence[str], place: Path, shards: int) -> str:
    each = _line([*words], place, '"$SLURM_ARRAY_TASK_ID"', shards)
    # Slurm splits at spaces outside quotes, and reads % in the name of a file.
    name = str(place).replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"')
    many = f"# {too_many(shards)}\n" if shards > SLURM_MOST else ""
    return f"""#!/bin/sh
#SBATCH --job-name=tidegate
#SBATCH --array=1-{shards}
#SBATCH --output="{name}/slurm-%a.out"
{many}# One part of the study for each task. A part that was interrupted goes on from its store: run it again
# with sbatch --array=NUMBER. Then: tidegate study merge {shlex.quote(str(place))}
{each} --workers "${{SLURM_CPUS_PER_TASK:-1}}"
"""


def too_many(shards: int) -> str:
    """Say that a Slurm as it usually is refuses an array of so many parts."""
    return (
        f"Slurm takes indices of an array up to {SLURM_MOST} unless its MaxArraySize is larger than "
        f"{SLURM_MOST + 1} ('scontrol show config' tells), and here is 1-{shards}."
    )
