"""The folder of a part of a study.

It holds ``manifest.json``, which says of which study it is a part; ``points.json``, the points of that study;
``runs.sqlite``, a store with the results of this part; and the tables of these as Parquet files, in order of
place. The manifest has a digest of each file. The folder appears when the part is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._ask.changes import Sets
from tidegate._ask.source import Source, as_scenario
from tidegate._jobs import job
from tidegate._jobs.store import Store, check_sealed, opened, sealed
from tidegate._run.folder import MANIFEST, read_manifest, staged, write_json
from tidegate._study.gather import Gathering
from tidegate._study.plan import Shard, check_planned, identity, plan_around
from tidegate._study.points import Prepared, prepare
from tidegate._study.start import work_through, workers_for
from tidegate._study.until import Until
from tidegate._study.work import Work
from tidegate.errors import ArgumentError, RunFolderError, UnknownNameError

if TYPE_CHECKING:
    from tidegate._jobs.workers import Workers

#: The points of the whole study, in the folder of each of its parts.
POINTS = "points.json"
#: Rows that are put together at once when parts are merged; of each part a group of a file has its share.
MERGED_ROWS = 65536
_LEAST_ROWS = 256
#: Results that are written to the folder at once.
_AT_ONCE = 1000


def study_part(
    source: Source,
    shard: Shard | str,
    out: str | os.PathLike[str],
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    runs: int | None = None,
    workers: int | None = None,
    seed: int | None = None,
    changes: Sets = None,
    until: Until | str | None = None,
    store: str | os.PathLike[str] | bool = True,
    executor: Any = None,
    force: bool = False,
    perturb: int | None = None,
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
        changes: for every point.
        until: go on with a point until an interval is narrow.
        store: where results are kept beside the part's folder: an interrupted part goes on from there.
        executor: who does the runs instead of threads.
        force: replace a folder that holds results.
        perturb: as :func:`tidegate.study`.

    Raises:
        ScenarioError, TraceError, RunError, StoreError, StudyStoppedError: as :func:`tidegate.study`.
        ArgumentError: an argument has a value that it cannot have, or there is no seed.
        RunFolderError: the folder is there already, and is not this part, or a file of it is damaged; or it
            is in the folder of a plan of another study.
    """
    part = shard if isinstance(shard, Shard) else Shard.parse(shard)
    prepared = prepare_shared(source, vary or {}, changes, runs=runs, seed=seed, until=until, perturb=perturb)
    if not is_done(Path(out), prepared, part, force=force):
        with opened(store) as kept, staged(Path(out), force=force) as work:
            write_part(prepared, part, work, workers=workers_for("sim", workers, executor), store=kept)
    return Path(out)


def is_done(folder: Path, prepared: Prepared, shard: Shard, *, force: bool = False) -> bool:
    """Tell whether a folder holds this part of this study already; with ``force`` it is to be done anew.

    Raises:
        RunFolderError: it does, and a file of it is damaged; or it is in a plan of another study.
    """
    plan = plan_around(folder)
    if plan is None and (force or not (folder / MANIFEST).is_file()):
        return False
    wanted = {**common_of(prepared, digests_of(prepared)), "shard": shard.number, "shards": shard.of}
    if plan is not None:
        check_planned({folder: wanted}, plan)
    if force:
        return False
    try:
        manifest = read_manifest(folder, "part")
    except (RunFolderError, FileNotFoundError):
        return False
    if any(manifest.get(key) != wanted[key] for key in ("study", "shard", "shards")):
        return False
    check_sealed(folder, manifest)
    return True


def digests_of(prepared: Prepared) -> list[str]:
    """Return what the runs of each point depend on, beside build, seed and replication."""
    return [point.digest("summary") for point in prepared.points]


def common_of(prepared: Prepared, digests: Sequence[str]) -> dict[str, Any]:
    """Return what parts of one study have in common, and a digest of all of it."""
    common: dict[str, Any] = {
        "built": job.engine_identity(),
        "seed": prepared.seed,
        "runs": prepared.runs,
        "until": None if prepared.until is None else str(prepared.until),
        "axes": prepared.axes,
    }
    points = [(point.values, digest) for point, digest in zip(prepared.points, digests, strict=True)]
    return {"study": identity(common, points), **common}


def prepare_shared(
    source: Source,
    vary: Mapping[str, Sequence[Any]],
    changes: Sets = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    until: Until | str | None = None,
    perturb: int | None = None,
) -> Prepared:
    """Check every point of a study that several machines share: they need a seed that all know.

    Raises:
        ArgumentError: neither the scenario nor the caller names a seed.
    """
    scenario = as_scenario(source, changes, seed=seed, runs=runs)
    if seed is None and scenario.seed is None:
        raise ArgumentError(
            "seed: every part of a study needs the same one; give --seed 1 (seed=1), or write seed = 1 into "
            f"{scenario.name}"
        )
    return prepare(scenario, vary, runs=runs, seed=seed, until=until, perturb=perturb)


def write_part(
    prepared: Prepared,
    shard: Shard,
    folder: Path,
    *,
    workers: Workers,
    store: Store,
    command: list[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[int, int]:
    """Do a part and fill its folder; return how many runs were computed, and how many it has."""
    try:
        work = Work(prepared, store, None, "summary", "", resume=False, shard=shard)
    except (ArgumentError, UnknownNameError):
        workers.close()
        raise
    gathering = Gathering(is_part=True)
    content = hashlib.sha256()
    results = Store(folder)

    copied: list[tuple[str, bytes]] = []

    def take(found: list[tuple[int, str, bytes]]) -> None:
        for place, key, packed in found:
            content.update(key.encode() + packed)
            copied.append((key, packed))
            gathering.take(place, work.unpack(packed))
        if len(copied) >= _AT_ONCE:
            results.put_all(copied)
            copied.clear()

    try:
        work_through(work, workers, take, kept=store.path is not None, progress=progress)
        results.put_all(copied)
    finally:
        results.close()
    work.tell(gathering.facts)
    columns = gathering.finish()
    # A row of this part is one of so many of the whole study.
    rows = max(_LEAST_ROWS, MERGED_ROWS // shard.of)
    for name in columns.names:
        columns.write(name, folder / f"{name}.parquet", rows)
    described = prepared.described()
    points = [
        {"set": chosen, "scenario": scenario, "draws": draws} for chosen, scenario, draws in described.points
    ]
    (folder / POINTS).write_text(json.dumps(points, ensure_ascii=False) + "\n", encoding="utf-8")
    manifest = {
        "kind": "part",
        "layout": 1,
        **common_of(prepared, work.digests),
        "shard": shard.number,
        "shards": shard.of,
        "title": described.title,
        "scenario_file": described.file,
        "results": work.done,
        "content": content.hexdigest(),
        "tables": {name: columns.height(name) for name in columns.names},
        "facts": gathering.facts.to_dict(),
        "warnings": described.warnings,
        "command": command,
    }
    write_json(folder / MANIFEST, sealed(manifest, folder))
    return work.computed, work.done
