"""Parts of a study with damaged or exchanged files are found, and merging leaves parts as they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import tidegate
from support.studies import VARY, kept, parts_of

if TYPE_CHECKING:
    from pathlib import Path


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
        with pytest.raises(
            tg.errors.RunFolderError,
            match=f"{name}.*(damaged|not written by tidegate|layout).* do .*part.* again",
        ):
            tg.merge_study(parts)
    if name == "manifest.json":
        return
    with pytest.raises(
        tg.errors.RunFolderError, match=f"{name}: this file is damaged: .* part 2/2 wrote; {again}"
    ):
        tg.merge_study(parts)
    with pytest.raises(tg.errors.RunFolderError, match=again):
        tg.study_part(random, "2/2", parts[1], vary=VARY, store=False)
    file.unlink()
    with pytest.raises(tg.errors.RunFolderError, match=f"{name}: this file is missing; {again}"):
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
    with pytest.raises(
        tg.errors.RunFolderError, match=r"manifest.json: this file is damaged: .* do part 1/2 again"
    ):
        tg.merge_study(parts)


def test_a_part_without_digests_is_done_again(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    file = parts[0] / "manifest.json"
    manifest = json.loads(file.read_text())
    del manifest["files"], manifest["digest"]
    file.write_text(json.dumps(manifest))
    with pytest.raises(tg.errors.RunFolderError, match=r"without digests of its files; .* do part 1/2 again"):
        tg.merge_study(parts)


def test_merging_leaves_the_parts_as_they_are(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    before = [contents(part) for part in parts]
    tg.merge_study(parts, store=tmp_path / "kept")
    assert [contents(part) for part in parts] == before
    assert kept(tmp_path / "kept") == 18


def test_nothing_is_kept_of_a_merge_that_is_refused(random: Path, tmp_path: Path) -> None:
    parts = parts_of(random, tmp_path / "parts", 2)
    with pytest.raises(tg.errors.UnknownNameError, match="no gate"):
        tg.merge_study(parts, gate="nope", store=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


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
        assert "choose another" in done.stderr
    assert [contents(part) for part in parts] == whole
