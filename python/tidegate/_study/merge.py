"""Parts of a study put together: the study that one machine would have given."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.lazy import Lazy
from tidegate._jobs.store import RESULTS, Store, again, check_sealed, opened
from tidegate._run.folder import read_json, read_manifest
from tidegate._run.rows import PLACE
from tidegate._study.columns import Columns
from tidegate._study.gather import Facts, assembled
from tidegate._study.part import MERGED_ROWS, POINTS
from tidegate._study.plan import PARTS, check_planned, difference
from tidegate._study.points import Described
from tidegate._study.value import Study
from tidegate.errors import ArgumentError, RunFolderError

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")

#: So many missing parts are named.
_NAMED = 20
#: Results that are copied into a store at once.
_AT_ONCE = 1000

#: The manifest of each part, by its folder.
Parts = dict[Path, dict[str, Any]]


def merge_study(
    parts: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    gate: str | None = None,
    store: str | os.PathLike[str] | bool = False,
) -> Study:
    """Put the parts of a study together: the study that one machine would have given, to the byte.

    A part that is there twice counts once.

    Args:
        parts: the folders that :func:`study_part` wrote, in any order, or the folder of a plan, which has
            them below it; one folder alone may stand without a list.
        gate: as :func:`tidegate.study`.
        store: a folder that keeps all results as well, so that a longer study goes on from them; True: as
            :func:`tidegate.study`.

    Raises:
        FileNotFoundError: a folder is not there.
        RunFolderError: a folder is no part, or damaged, or of another study; parts are missing.
        StoreError: the results cannot be kept.
        UnknownNameError: there is no such gate.
    """
    folders = [parts] if isinstance(parts, str | os.PathLike) else parts
    study, chosen, _ = merged(folders, gate=gate)
    if not isinstance(store, bool):
        check_apart(Path(store), chosen)
    with opened(store) as kept:
        keep(chosen, kept)
    return study


def merged(
    parts: Sequence[str | os.PathLike[str]],
    *,
    gate: str | None = None,
    command: list[str] | None = None,
) -> tuple[Study, Parts, list[str]]:
    """Return the study of its parts, these parts, and what is to be said of them.

    Raises as :func:`merge_study`.
    """
    if not parts:
        raise ArgumentError("parts: give the folders of all parts")
    given: Parts = {}
    for part in map(Path, parts):
        found = {folder: _manifest(folder, "part") for folder in _parts_in(part)}
        for folder, manifest in found.items():
            check_sealed(folder, manifest)
        if part not in found:
            check_planned(found, part)
        given |= found
    chosen, notes = _once(given)
    first, one = next(iter(chosen.items()))
    facts = Facts()
    for manifest in chosen.values():
        facts.join(Facts.from_dict(manifest["facts"]))
    columns = _together(chosen)
    points = [
        (dict(point["set"]), str(point["scenario"]), list(point["draws"]))
        for point in read_json(first / POINTS)
    ]
    described = Described(
        one["title"], one["scenario_file"], one["seed"], list(one["axes"]), points, list(one["warnings"])
    )
    return assembled(described, columns, facts, gate, command), chosen, notes


def _parts_in(folder: Path) -> list[Path]:
    """Return the folders of the parts of a plan, or the folder itself.

    Raises:
        RunFolderError: none of the plan's parts is done.
    """
    if not folder.is_dir() or _manifest(folder)["kind"] != "plan":
        return [folder]
    # A part that is being written has a name that begins with a dot.
    found = sorted(part for part in (folder / PARTS).glob("[!.]*") if part.is_dir())
    if not found:
        raise RunFolderError(f"{folder / PARTS}: no part of this plan is done yet")
    return found


def _manifest(folder: Path, kind: str | None = None) -> dict[str, Any]:
    """Read the manifest of a part or of a plan.

    Raises:
        FileNotFoundError, RunFolderError: there is none, or it is damaged.
    """
    try:
        return read_manifest(folder, kind)
    except RunFolderError as error:
        if not (folder / POINTS).is_file():
            raise
        raise RunFolderError(f"{error}; delete the folder {folder} and do this part again") from None


def _once(given: Parts) -> tuple[Parts, list[str]]:
    """Return each part once, and what is to be said of those that are there twice.

    Raises:
        RunFolderError: parts are missing, damaged, or of another study.
    """
    first, one = next(iter(given.items()))
    seen: dict[int, Path] = {}
    notes: list[str] = []
    for folder, manifest in given.items():
        _check_same(folder, manifest, first, one)
        number = int(manifest["shard"])
        if number not in seen:
            seen[number] = folder
            continue
        if manifest["content"] != given[seen[number]]["content"]:
            raise RunFolderError(
                f"{folder}: part {number} of {one['shards']} is in {seen[number]} too, with other "
                "results; one of the two is damaged: delete both and do the part again"
            )
        notes.append(f"part {number} of {one['shards']} is there twice: {seen[number]} and {folder}")
    _check_whole(seen, one)
    return {seen[number]: given[seen[number]] for number in sorted(seen)}, notes


def _together(parts: Parts) -> Columns:
    """Put the tables of the parts together, a stretch of places after the other."""
    tables: dict[str, list[pl.LazyFrame]] = {}
    rows: dict[str, int] = {}
    for folder, manifest in parts.items():
        for name, height in manifest["tables"].items():
            tables.setdefault(name, []).append(pl.scan_parquet(folder / f"{name}.parquet"))
            rows[name] = rows.get(name, 0) + height
    columns = Columns()
    whole = {name: pl.concat(found, how="diagonal_relaxed") for name, found in tables.items()}
    if "runs" not in whole:
        return columns
    runs = max(1, MERGED_ROWS * rows["runs"] // max(rows.values()))
    for begin, end in _stretches(whole["runs"], runs):
        inside = (pl.col(PLACE) >= begin) & (pl.col(PLACE) <= end)
        found = {name: table.filter(inside).collect() for name, table in whole.items()}
        columns.add_frames({name: frame.sort(PLACE, maintain_order=True) for name, frame in found.items()})
    return columns


def _stretches(runs: pl.LazyFrame, most: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last place of so many runs, again and again."""
    places = runs.select(PLACE).collect()[PLACE].sort()
    for begin in range(0, len(places), most):
        part = places[begin : begin + most]
        yield int(part[0]), int(part[-1])


def check_apart(store: Path, parts: Iterable[Path]) -> None:
    """Refuse to keep results in a part that is put together: its file of results would be another.

    Raises:
        ArgumentError: the folder is one.
    """
    for part in parts:
        if store.resolve() == part.resolve():
            raise ArgumentError(f"{store}: this is a part that is put together here; choose another folder")


def check_kept(out: Path, parts: Iterable[Path]) -> None:
    """Refuse a new folder that would replace a part that is put together.

    Raises:
        ArgumentError: the folder is one, or has one in it.
    """
    for part in parts:
        if out.resolve() in (part.resolve(), *part.resolve().parents):
            raise ArgumentError(
                f"{out}: the study would replace {part}, which is put together here; choose another folder"
            )


def keep(parts: Parts, store: Store) -> None:
    """Copy the results of the parts into a store that stays.

    Raises:
        RunFolderError: the results of a part cannot be read.
        StoreError: they cannot be kept.
    """
    for folder, manifest in parts.items():
        results = _results(folder, manifest)
        while store.path is not None and (some := list(islice(results, _AT_ONCE))):
            store.put_all(some)


def _results(folder: Path, manifest: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield every key of a part with its packed result."""
    file = folder / RESULTS
    try:
        # A part is only read: "immutable" writes no file beside it.
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?immutable=1", uri=True)) as base:
            yield from base.execute("SELECT key, result FROM runs ORDER BY rowid")
    except sqlite3.Error as error:
        raise RunFolderError(
            f"{file}: these results cannot be read ({error}); {again(folder, manifest)}"
        ) from None


def _check_same(folder: Path, manifest: Mapping[str, Any], first: Path, one: Mapping[str, Any]) -> None:
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
    raise RunFolderError(
        f"{folder}: this is a part of another study than {first}: {difference(manifest, one)}"
    )


def _check_whole(seen: Mapping[int, Path], one: Mapping[str, Any]) -> None:
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
