"""Run folders: whole or not at all, and everything can be drawn again from them."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess

import pytest
import tidegate as tg
from support.common import SMALL


@pytest.fixture(scope="module")
def run() -> tg.Run:
    return tg.run(tg.Scenario.from_toml(SMALL), seed=3, record="20 ms")


def test_round_trip(run: tg.Run, tmp_path) -> None:
    folder = run.save(tmp_path / "deep" / "run")
    back = tg.open(folder)
    assert back.summary == run.summary
    assert back.to_json() == run.to_json()
    for table in ("flows", "gates", "drops", "marks"):
        assert back.table(table).equals(run.table(table)), table
        assert back.table(table).schema == run.table(table).schema, table
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == ["run"], "nothing left beside it"


def test_a_run_goes_to_another_process_whole(run: tg.Run, tmp_path) -> None:
    for each in (run, tg.open(run.save(tmp_path / "run"))):
        there = pickle.loads(pickle.dumps(each))
        assert there.report() == run.report()
        assert there.table("flows").equals(run.table("flows"))
        assert there.flows[0].series("cwnd").equals(run.flows[0].series("cwnd"))


def test_a_table_that_is_gone_is_no_table_that_never_was(run: tg.Run, tmp_path) -> None:
    back = tg.open(run.save(tmp_path / "run"))
    (tmp_path / "run" / "flows.parquet").unlink()
    with pytest.raises(tg.errors.RunFolderError, match=r"flows\.parquet: it cannot be read"):
        back.flows[0].series("cwnd")
    with pytest.raises(tg.errors.RunFolderError, match=r"flows\.parquet: it cannot be read"):
        back.save(tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_the_manifest_names_every_input(small, tmp_path) -> None:
    trace = tmp_path / "t.down"
    trace.write_text("".join(f"{ms}\n" for ms in range(0, 1000, 3)))
    changes = {"gate.bottleneck.rate.trace": "t.down"}
    folder = tg.run(small, seed=3, changes=changes).save(tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    import hashlib

    digests = {one["path"].rsplit("/")[-1]: one["sha256"] for one in manifest["inputs"]}
    assert digests["t.down"] == hashlib.sha256(trace.read_bytes()).hexdigest()
    assert manifest["seed"] == 3
    assert "t.down" in manifest["scenario"], "the changes are in the text as run"
    assert "payload" in manifest["headers"]
    assert {"python", "tidegate"} <= set(manifest["versions"])
    assert manifest["tables"]["gates"]["queue_packets"]


def test_the_picture_from_the_folder_is_the_same(run: tg.Run, tmp_path) -> None:
    folder = run.save(tmp_path / "run")
    for kind in ("png", "svg", "pdf"):
        run.plot(tmp_path / f"a.{kind}")
        tg.open(folder).plot(tmp_path / f"b.{kind}")
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes(), kind


def test_nothing_is_overwritten(run: tg.Run, tmp_path) -> None:
    folder = run.save(tmp_path / "run")
    before = (folder / "summary.json").read_bytes()
    with pytest.raises(tg.errors.RunFolderError, match="--force"):
        run.save(folder)
    assert (folder / "summary.json").read_bytes() == before
    run.save(folder, force=True)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("x")
    with pytest.raises(tg.errors.RunFolderError, match="holds no results"):
        run.save(precious, force=True)
    assert (precious / "thesis.txt").exists()
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(tg.errors.RunFolderError):
        run.save(file, force=True)


@pytest.mark.parametrize("file", ["small.toml", "t.down"])
def test_a_folder_with_an_input_is_not_replaced(
    file: str, small, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by a run, nor by what is made of several, nor by a run that was opened from a folder."""
    monkeypatch.chdir(tmp_path)
    folder = tg.run(tg.Scenario.from_toml(SMALL), seed=3).save("old")
    (tmp_path / "t.down").write_text("".join(f"{ms}\n" for ms in range(0, 1000, 3)))
    kept = folder / file
    (tmp_path / file).rename(kept)
    source = kept if file == "small.toml" else small
    changes = {"gate.bottleneck.rate.trace": str(kept)} if file == "t.down" else {}
    run = tg.run(source, seed=3, changes=changes)
    vary = {"flow.bulk.tcp.cc": ["reno", "cubic"]}
    elsewhere = run.save("elsewhere")
    monkeypatch.chdir(tmp_path.parent)
    folder = tmp_path / "old"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(tg.errors.ArgumentError, match=f"{folder} holds the input {folder / file}"):
        run.save(folder, force=True)
    monkeypatch.chdir(tmp_path)
    for make in (tg.compare, tg.study):
        other = make(source, vary=vary, seed=3, changes=changes)
        with pytest.raises(tg.errors.ArgumentError, match=f"old holds the input .*{file}"):
            other.save("old", force=True)
    monkeypatch.setattr("tidegate._base.written._INPUTS", set())
    with pytest.raises(tg.errors.ArgumentError, match="old holds the input"):
        tg.open(elsewhere).save("old", force=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    kept.unlink()
    run.save("old", force=True)


def test_a_failure_leaves_nothing(run: tg.Run, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    def fail(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    with pytest.raises(OSError, match=r"No space.*/run'"):
        run.save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_damaged_folders(run: tg.Run, tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        tg.open(tmp_path / "nowhere")
    with pytest.raises(tg.errors.RunFolderError, match="not a run folder"):
        tg.open(tmp_path)
    folder = run.save(tmp_path / "run")
    (folder / "flows.parquet").write_bytes(b"no")
    with pytest.raises(tg.errors.RunFolderError, match=r"flows\.parquet"):
        tg.open(folder).flows["bulk"].series("cwnd")
    (folder / "summary.json").write_text("{")
    with pytest.raises(tg.errors.RunFolderError, match=r"summary\.json:1"):
        tg.open(folder)
    (folder / "manifest.json").write_text('{"kind": "run", "layout": 99}')
    with pytest.raises(tg.errors.RunFolderError, match="layout 99"):
        tg.open(folder)


def test_a_folder_of_something_else_is_refused(tmp_path) -> None:
    (tmp_path / "manifest.json").write_text('{"kind": "reproduction", "layout": 1}')
    with pytest.raises(tg.errors.RunFolderError, match="holds a reproduction, and no run"):
        tg.open(tmp_path)
    (tmp_path / "manifest.json").write_text('{"kind": "poem"}')
    with pytest.raises(tg.errors.RunFolderError, match="not written by tidegate"):
        tg.open(tmp_path)


def test_comparisons(small, tmp_path) -> None:
    comparison = tg.compare(
        small,
        vary={"flow.bulk.tcp.cc": ["reno", "cubic"], "gate.bottleneck.queue": ["5 packets", "50 packets"]},
        seed=3,
    )
    assert comparison.table.height == 4
    assert comparison.gate == "bottleneck"
    assert comparison.rows()[1]["gate.bottleneck.queue"] == "50 packets"
    folder = comparison.save(tmp_path / "c")
    back = tg.open(folder)
    assert back.to_json() == comparison.to_json()
    comparison.plot(tmp_path / "a.png")
    back.plot(tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert tg.open(folder / "01").seed == 3
    with pytest.raises(tg.errors.RunFolderError, match="holds a Comparison, and no Run"):
        tg.open(folder, tg.Run)


def test_a_pcap_goes_into_the_folder(small, tmp_path) -> None:
    run = tg.run(small, seed=3, changes={"duration": "2 s"}, pcap=tmp_path / "x.pcap")
    folder = run.save(tmp_path / "run")
    data = (folder / "packets.pcap").read_bytes()
    assert data[:4] in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
    assert len(data) > 10_000
    assert tg.open(folder).pcap is not None


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_tshark_finds_nothing_wrong_in_a_pcap(small, tmp_path) -> None:
    pcap = tmp_path / "x.pcap"
    changes = {"duration": "3 s", "flow.bulk.tcp.timestamps": True}
    tg.run(small, seed=3, changes=changes, pcap=pcap)
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    wrong = "_ws.malformed or tcp.checksum.status == 0 or ip.checksum.status == 0"

    def count(*select: str) -> int:
        done = subprocess.run(
            ["tshark", "-r", str(pcap), *checks, *select], capture_output=True, text=True, check=True
        )
        return len(done.stdout.splitlines())

    assert count() > 100
    assert count("-Y", "tcp.checksum.status == 1") > 100, "checksums are looked at"
    assert count("-Y", wrong) == 0


def test_a_varied_seed_is_varied(small) -> None:
    comparison = tg.compare(small, vary={"seed": [1, 2]}, record="summary")
    assert [v.run.seed for v in comparison.variants] == [1, 2]
    assert "seed varied" in comparison.report()
    with pytest.raises(tg.errors.ArgumentError):
        tg.compare(small, vary={"seed": [1, 2]}, seed=3)


def test_a_finite_transfer_tells_when_it_was_done(small) -> None:
    comparison = tg.compare(
        small, vary={"flow.bulk.app.transfer": ["100 kB", "200 kB"]}, seed=3, record="summary"
    )
    first, second = (row["completion_s"] for row in comparison.rows())
    assert 0.2 < first < second < 3
    assert "done" in comparison.report()
