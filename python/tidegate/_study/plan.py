"""Plans of studies in parts: which part does what, written down and read again."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate._base.limits import most
from tidegate._jobs import job
from tidegate._run.folder import MANIFEST, read_manifest, write_json
from tidegate._study.points import Prepared
from tidegate.errors import ArgumentError, RunFolderError


@dataclass(frozen=True)
class Shard:
    """Part ``number`` of ``of`` equal ones, counted from 1."""

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of <= most("shards"):
            raise ArgumentError(
                f"shard: read {self}; write the number of the part and how many there are, such as 3/64"
            )

    @staticmethod
    def parse(text: object) -> Shard:
        """Read ``3/64``.

        Raises:
            ArgumentError: it is no such text.
        """
        pattern = r"\s*([0-9]{1,9})\s*/\s*([0-9]{1,9})\s*"
        found = re.fullmatch(pattern, text) if isinstance(text, str) else None
        if found is None:
            read = f'"{text}"' if isinstance(text, str) else text
            raise ArgumentError(
                f"shard: read {read}; write the number of the part and how many there are, such as 3/64"
            )
        return Shard(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, place: int) -> bool:
        """Tell whether what stands at ``place``, counted from 0, belongs to this part."""
        return place % self.of == self.number - 1

    def count(self, places: int) -> int:
        """Return how many of so many places belong to this part."""
        return len(range(self.number - 1, places, self.of))


#: Where the parts of a plan stand in its folder.
PARTS = "parts"
#: What tells studies apart beside their points, with its name for people.
_WORDS = {"seed": "seed", "runs": "runs", "until": "until", "axes": "axes", "built": "build of Tidegate"}


def identity(common: Mapping[str, Any], points: Sequence[tuple[Mapping[str, str], str]]) -> str:
    """Return a digest of everything that parts of one study have in common.

    ``common``: a manifest of a part or of a plan. ``points``: the varied values of each with its digest.
    """
    study = {
        **{key: common[key] for key in _WORDS},
        "points": [[dict(chosen), key] for chosen, key in points],
    }
    return hashlib.sha256(json.dumps(study).encode()).hexdigest()


def difference(manifest: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Say in what a part is of another study than something else is."""
    for key, word in _WORDS.items():
        if manifest[key] != other[key]:
            return f"{word} {manifest[key]}, not {other[key]}"
    return "the scenario or one of its traces differs"


def plan_around(part: Path) -> Path | None:
    """Return the folder of the plan in whose folder of parts this one stands or will stand."""
    parts = part.absolute().parent
    is_plan = parts.name == PARTS and (parts.parent / MANIFEST).is_file()
    return parts.parent if is_plan and read_manifest(parts.parent)["kind"] == "plan" else None


def check_planned(parts: Mapping[Path, Mapping[str, Any]], plan: Path) -> None:
    """Refuse parts that are not of the study that was planned; ``parts``: their manifests by folder.

    Raises:
        RunFolderError: one is not, or the plan is damaged.
    """
    planned = read_manifest(plan, "plan")
    try:
        study = identity(planned, [(point["set"], point["key"]) for point in planned["points"]])
        shards = planned["shards"]
    except (KeyError, TypeError, ValueError):
        raise RunFolderError(f"{plan / MANIFEST}: this plan is damaged; plan the study again") from None
    for folder, manifest in parts.items():
        if manifest["study"] != study:
            what = difference(manifest, planned)
        elif manifest["shards"] != shards:
            what = f"it is one of {manifest['shards']} parts, not of {shards}"
        else:
            continue
        raise RunFolderError(
            f"{folder}: this part is not of the study that was planned in {plan}: {what}; plan the study "
            "again, or do the part as it was planned"
        )


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
        "built": job.engine_identity(),
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
