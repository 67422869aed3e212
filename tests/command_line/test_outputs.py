"""An output never takes the place of what the command reads, nor of another output."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.common import SMALL, command, tidegate


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("outputs")
    for name in ("b.toml", "b.svg", "b.html", "b.flent"):
        (place / name).write_text("seed = 1\n" + SMALL)
    os.link(place / "b.toml", place / "hard.toml")
    (place / "t.csv").write_text("time_s,rate_mbps\n0,8\n1,4\n2,6\n")
    (place / "t.svg").write_text("time_s,rate_mbps\n0,8\n1,4\n2,6\n")
    (place / "traced.toml").write_text(
        'duration = "2 s"\nseed = 1\n[gate.link]\nrate.trace = "t.csv"\nqueue = "50 packets"\n'
        'delay = "10 ms"\n[flow.a]\npath = ["link"]\n'
    )
    command("run", "b.toml", "--out", "run", "--pcap", cwd=place)
    for name in ("c.pcap", "c.toml", "c.html"):
        (place / name).write_bytes((place / "run/packets.pcap").read_bytes())
    return place


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("identify c.pcap -o c.pcap", "c.pcap"),
        ("identify c.pcap c.toml -o ./c.toml", "c.toml"),
        ("identify c.html --report c.html", "c.html"),
        ("run b.toml --csv b.toml", "b.toml"),
        ("run --csv b.toml b.toml", "b.toml"),
        ("run b.toml --csv hard.toml", "hard.toml"),
        ("run b.svg --plot b.svg", "b.svg"),
        ("run b.html --report b.html", "b.html"),
        ("run b.flent --flent b.flent", "b.flent"),
        ("compare b.toml --vary flow.bulk.tcp.cc=reno,cubic --csv b.toml", "b.toml"),
        ("study b.toml --runs 2 --no-store --csv b.toml", "b.toml"),
        ("traces from c.pcap -o c.pcap --to csv", "c.pcap"),
        ("traces convert t.csv t.csv --window 1s", "t.csv"),
        ("traces info t.svg --plot t.svg --format csv", "t.svg"),
        ("run traced.toml --csv t.csv", "t.csv"),
        ("study traced.toml --runs 2 --no-store --csv t.csv", "t.csv"),
        ("compare traced.toml --vary flow.a.tcp.cc=reno,cubic --csv t.csv", "t.csv"),
    ],
)
def test_an_output_is_not_the_input(folder: Path, words: str, read: str) -> None:
    before = (folder / read).read_bytes()
    done = tidegate(*words.split(), cwd=folder)
    assert done.returncode == 2, done.stdout
    assert f"{read} is the input" in done.stderr
    assert "choose another name" in done.stderr
    assert (folder / read).read_bytes() == before


def test_two_outputs_have_two_names(folder: Path) -> None:
    done = tidegate("run", "b.toml", "--csv", "s.html", "--report", "./s.html", cwd=folder)
    assert done.returncode == 2
    assert "two outputs have the name" in done.stderr
    assert not (folder / "s.html").exists()


def test_devices_and_other_files_are_written(folder: Path) -> None:
    done = tidegate("run", "b.toml", "--csv", "/dev/null", "--flent", "/dev/null", cwd=folder)
    assert "two outputs" not in done.stderr
    (folder / "old.csv").write_text("old")
    assert tidegate("run", "b.toml", "--csv", "old.csv", cwd=folder).returncode == 0
    assert (folder / "old.csv").read_text() != "old"
    assert tidegate("traces", "convert", "t.csv", "old.csv", "--window", "1 s", cwd=folder).returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run held/mine.toml --out held --force", "held holds the input held/mine.toml"),
        ("run held/mine.toml --out held", "held holds the input held/mine.toml"),
        ("run held/traced.toml --out held --force", "held holds the input held/traced.toml"),
        ("run out.toml --out held --force", "holds the input"),
        ("study held/mine.toml --runs 2 --no-store --out held --force", "held holds the input"),
        (
            "compare held/mine.toml --vary flow.bulk.tcp.cc=reno,cubic --out held --force",
            "held holds the input",
        ),
        ("check-run held/mine.toml --out held", "No such option"),
        ("study b.toml --runs 2 --store held/store --out held --force", "held holds the input held/store"),
        ("run b.toml --out held --force --csv held/t.csv", "one output holds the other"),
        ("run b.toml --csv held/t.csv --out held --force", "one output holds the other"),
        ("study merge held --out held --force", "held"),
    ],
)
def test_a_folder_that_is_replaced_holds_no_input(folder: Path, words: str, said: str) -> None:
    if not (folder / "held").exists():
        command("run", "b.toml", "--out", "held", cwd=folder)
        (folder / "held/mine.toml").write_text("seed = 1\n" + SMALL)
        (folder / "held/t.csv").write_bytes((folder / "t.csv").read_bytes())
        (folder / "held/traced.toml").write_bytes((folder / "traced.toml").read_bytes())
        (folder / "out.toml").write_text((folder / "traced.toml").read_text().replace("t.csv", "held/t.csv"))
    before = {path: path.read_bytes() for path in (folder / "held").iterdir()}
    done = tidegate(*words.split(), cwd=folder)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert {path: path.read_bytes() for path in (folder / "held").iterdir()} == before


def test_a_picture_may_lie_in_the_folder_that_is_drawn(folder: Path) -> None:
    assert tidegate("plot", "run", "-o", "run/x.svg", cwd=folder).returncode == 0
    assert tidegate("run", "run/../b.toml", "--out", "run", "--force", cwd=folder).returncode == 0


def test_an_export_writes_over_no_trace(tmp_path: Path) -> None:
    (tmp_path / "downlink.mahi").write_text("1\n2\n3\n")
    (tmp_path / "a.toml").write_text(
        'duration = "1 s"\nseed = 1\n[gate.g]\nqueue = "9 packets"\ndelay = "5 ms"\n'
        'rate.trace = { file = "downlink.mahi", format = "mahimahi" }\n[flow.a]\npath = ["g"]\n'
    )
    done = tidegate("export", "mahimahi", "a.toml", "-o", ".", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert "downlink.mahi is the input" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.toml", "downlink.mahi"]
    assert (tmp_path / "downlink.mahi").read_text() == "1\n2\n3\n"
