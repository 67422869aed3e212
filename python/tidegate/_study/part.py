"""The folder of a part of a study, and parts put together: the study that one machine would have given.

A folder holds ``manifest.json``, which says of which study it is a part, and ``runs.sqlite`` with its results
under the keys of the store. It appears when the part is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tidegate._ask.scenario import Sets
from tidegate._ask.source import Source, as_scenario
from tidegate._base.errors import ArgumentError, RunFolderError
from tidegate._run.folder import MANIFEST, read_manifest, staged, write_json
from tidegate._study import jobs
from tidegate._study.jobs import Outcome, Workers
from tidegate._study.point import Described
from tidegate._study.prepare import Prepared, prepare
from tidegate._study.shard import Shard
from tidegate._study.start import assembled, work_through, workers_for
from tidegate._study.store import Store, opened
from tidegate._study.until import Until
from tidegate._study.value import Study
from tidegate._study.work import Work

#: Where the parts of a plan stand in its folder.
PARTS = "parts"
#: So many missing parts are named.
_NAMED = 20


def study_part(
    source: Source,
    shard: Shard | str,
    out: str | os.PathLike[str],
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    runs: int | None = None,
    workers: int | None = None,
    seed: int | None = None,
    set: Sets = None,  # noqa: A002
    until: Until | str | None = None,
    store: str | os.PathLike[str] | bool = True,
    executor: Any = None,
    force: bool = False,
) -> Path:
    """Do a part of a study and write its folder; :func:`merge_study` puts the parts together.

    Of the runs of all points in order, part K of N does every N-th, beginning with the K-th. With ``until``
    it does every N-th point, because the results of a point decide how many runs it needs.

    Args:
        source: as :func:`tidegate.study`.
        shard: which part, such as ``"3/64"``.
        out: the folder; it appears when the part is whole.
        vary: as :func:`tidegate.study`, like all that follow.
        runs: replications of each point.
        workers: threads.
        seed: one for all parts; without it the scenario must have one.
        set: changes for every point.
        until: go on with a point until an interval is narrow.
        store: where results are kept beside the part's folder: an interrupted part goes on from there.
        executor: who does the runs instead of threads.
        force: replace a folder that holds results.

    Raises:
        ScenarioError, TraceError, RunError, StoreError, StudyStoppedError: as :func:`tidegate.study`.
        ArgumentError: an argument has a value that it cannot have, or there is no seed.
        RunFolderError: the folder is there already.
    """
    part = shard if isinstance(shard, Shard) else Shard.parse(shard)
    prepared = prepare_shared(source, vary or {}, set, runs=runs, seed=seed, until=until)
    with opened(store) as kept, staged(Path(out), force=force) as work:
        write_part(prepared, part, work, workers=workers_for("sim", workers, executor), store=kept)
    return Path(out)


def prepare_shared(
    source: Source,
    vary: Mapping[str, Sequence[Any]],
    changes: Sets = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    until: Until | str | None = None,
) -> Prepared:
    """Check every point of a study that several machines share: they need a seed that all know.

    Raises:
        ArgumentError: neither the scenario nor the caller names a seed.
    """
    scenario = as_scenario(source, changes)
    if seed is None and scenario.seed is None:
        raise ArgumentError(
            "seed: every part of a study needs the same one; give --seed 1 (seed=1), or write seed = 1 into "
            f"{scenario.name}"
        )
    return prepare(scenario, vary, runs=runs, seed=seed, until=until)


def write_part(
    prepared: Prepared,
    shard: Shard,
    folder: Path,
    *,
    workers: Workers,
    store: Store | None,
    command: list[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[int, int]:
    """Do a part and fill its folder; return how many runs were computed, and how many it has."""
    work = Work(prepared, store, None, "summary", "", resume=False, shard=shard)
    work_through(work, workers, kept=store is not None, progress=progress)
    results = Store(folder)
    try:
        for (point, replication), outcome in sorted(work.done.items()):
            results.put(_key(point, replication), {"summary": outcome.summary, "measured": outcome.measured})
    finally:
        results.close()
    described = prepared.described()
    until = None if prepared.until is None else str(prepared.until)
    study = {
        "engine": jobs.engine_identity(),
        "seed": prepared.seed,
        "runs": prepared.runs,
        "until": until,
        "axes": described.axes,
        "points": [
            [chosen, digest] for (chosen, _, _), digest in zip(described.points, work.digests, strict=True)
        ],
    }
    manifest = {
        "kind": "part",
        "layout": 1,
        "study": hashlib.sha256(json.dumps(study).encode()).hexdigest(),
        "shard": shard.number,
        "shards": shard.of,
        "built": study["engine"],
        "title": described.title,
        "scenario_file": described.file,
        "seed": described.seed,
        "runs": prepared.runs,
        "until": until,
        "axes": described.axes,
        "points": [
            {"set": chosen, "scenario": scenario, "draws": draws}
            for chosen, scenario, draws in described.points
        ],
        "places": [list(place) for place in sorted(work.done)],
        "warnings": described.warnings,
        "command": command,
    }
    write_json(folder / MANIFEST, manifest)
    return work.computed, len(work.done)


def merge_study(parts: Sequence[str | os.PathLike[str]], *, gate: str | None = None) -> Study:
    """Put the parts of a study together: the study that one machine would have given, to the byte.

    A part that is there twice counts once.

    Args:
        parts: the folders that :func:`study_part` wrote, in any order, or the folder of a plan, which has
            them below it.
        gate: as :func:`tidegate.study`.

    Raises:
        FileNotFoundError: a folder is not there.
        RunFolderError: a folder is no part, or damaged, or of another study; parts are missing.
        UnknownNameError: there is no such gate.
    """
    return merged(parts, gate=gate)[0]


def merged(
    parts: Sequence[str | os.PathLike[str]], *, gate: str | None = None, command: list[str] | None = None
) -> tuple[Study, list[str]]:
    """Return the study of its parts, and what is to be said of them. Raises as :func:`merge_study`."""
    if not parts:
        raise ArgumentError("parts: give the folders of all parts")
    folders = [folder for part in parts for folder in _parts_in(Path(part))]
    manifests = {folder: read_manifest(folder, "part") for folder in folders}
    first, one = next(iter(manifests.items()))
    notes: list[str] = []
    seen: dict[int, Path] = {}
    done: dict[tuple[int, int], Outcome] = {}
    for folder, manifest in manifests.items():
        _check_same(folder, manifest, first, one)
        number = int(manifest["shard"])
        results = _results(folder, manifest)
        if number in seen:
            if any(done[place] != outcome for place, outcome in results.items()):
                raise RunFolderError(
                    f"{folder}: part {number} of {one['shards']} is in {seen[number]} too, with other "
                    "results; one of the two is damaged: do the part again"
                )
            notes.append(f"part {number} of {one['shards']} is there twice: {seen[number]} and {folder}")
            continue
        seen[number] = folder
        done.update(results)
    _check_whole(seen, one)
    points = [(dict(point["set"]), str(point["scenario"]), list(point["draws"])) for point in one["points"]]
    described = Described(
        one["title"], one["scenario_file"], one["seed"], list(one["axes"]), points, list(one["warnings"])
    )
    return assembled(described, done, gate, command), notes


def _parts_in(folder: Path) -> list[Path]:
    """Return the folders of the parts of a plan, or the folder itself.

    Raises:
        RunFolderError: none of the plan's parts is done.
    """
    if not folder.is_dir() or read_manifest(folder)["kind"] != "plan":
        return [folder]
    # A part that is being written has a name that begins with a dot.
    found = sorted(part for part in (folder / PARTS).glob("[!.]*") if part.is_dir())
    if not found:
        raise RunFolderError(f"{folder / PARTS}: no part of this plan is done yet")
    return found


def _key(point: int, replication: int) -> str:
    return f"{point} {replication}"


def _results(folder: Path, manifest: dict[str, Any]) -> dict[tuple[int, int], Outcome]:
    """Read the results of a part.

    Raises:
        RunFolderError: some are not there.
    """
    places = [(int(point), int(replication)) for point, replication in manifest["places"]]
    store = Store(folder, must_exist=True)
    try:
        found = store.find([_key(*place) for place in places])
    finally:
        store.close()
    missing = [place for place in places if _key(*place) not in found]
    if missing:
        raise RunFolderError(
            f"{folder}: {len(missing)} of {len(places)} results are missing; do part "
            f"{manifest['shard']}/{manifest['shards']} again"
        )
    kept = {place: found[_key(*place)] for place in places}
    return {place: Outcome(0, one["summary"], one["measured"]) for place, one in kept.items()}


def _check_same(folder: Path, manifest: dict[str, Any], first: Path, one: dict[str, Any]) -> None:
    """Refuse a part of another study.

    Raises:
        RunFolderError: it is one; the message says what differs.
    """
    if manifest["shards"] != one["shards"]:
        raise RunFolderError(
            f"{folder}: this is part {manifest['shard']} of {manifest['shards']}, but {first} is one of "
            f"{one['shards']}"
        )
    if manifest["study"] == one["study"]:
        return
    words = {"seed": "seed", "runs": "runs", "until": "until", "axes": "axes", "built": "build of Tidegate"}
    for key, word in words.items():
        if manifest[key] != one[key]:
            raise RunFolderError(
                f"{folder}: this is a part of another study than {first}: "
                f"{word} {manifest[key]}, not {one[key]}"
            )
    raise RunFolderError(
        f"{folder}: this is a part of another study than {first}: the scenario or one of its traces differs"
    )


def _check_whole(seen: Mapping[int, Path], one: dict[str, Any]) -> None:
    """Refuse a study that lacks parts.

    Raises:
        RunFolderError: it does; the message names them.
    """
    missing = [number for number in range(1, int(one["shards"]) + 1) if number not in seen]
    if not missing:
        return
    named = ", ".join(str(number) for number in missing[:_NAMED])
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    raise RunFolderError(
        f"{len(missing)} of {one['shards']} parts are missing: {named}{more}; do them, each with its own "
        f"--shard, such as --shard {missing[0]}/{one['shards']}"
    )
