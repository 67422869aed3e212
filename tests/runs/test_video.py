"""Video: what a viewer sees, by hand and from Python."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import EXAMPLES
from tidegate._run import text as _run_text

if TYPE_CHECKING:
    from pathlib import Path

LADDER = ["300 kbit/s", "1 Mbit/s", "2 Mbit/s"]

#: The link carries packets of 1040 bytes one after the other: no window limits it. A request takes the 20 ms
#: back.
SCENARIO: dict[str, Any] = {
    "duration": "60 s",
    "gate": {"link": {"rate": "1.5 Mbit/s", "delay": "10 ms"}},
    "flow": {
        "player": {
            "path": ["link"],
            "rtt": "30 ms",
            "tcp": {
                "base": "rfc",
                "mss": "1000 B",
                "initial_window": "2000 segments",
                "handshake": False,
                "idle_restart": False,
            },
            "app": {"video": {"ladder": LADDER, "buffer": "12 s"}},
        }
    },
    "record": {"every": "50 ms"},
}


def _segments(run: tg.Run) -> dict[str, list[Any]]:
    return run.table("segments").to_dict(as_series=False)


def _seconds(rate_bps: float, link_bps: float) -> float:
    """Return what a segment of this bitrate takes from asking: 20 ms back, its packets, 10 ms."""
    return 0.020 + rate_bps * 4 / 8 / 1000 * 1040 * 8 / link_bps + 0.010


def test_a_rate_between_two_bitrates_by_hand() -> None:
    run = tg.run(SCENARIO)
    found = _segments(run)
    assert found["bitrate_bps"][:8] == [3e5, *[1e6] * 7]
    assert found["bytes"][:2] == [150_000, 500_000]
    first, other = _seconds(3e5, 1.5e6), _seconds(1e6, 1.5e6)
    assert found["ended_s"][0] == pytest.approx(first, abs=1e-9)
    # Each of the next is asked for when the one before has come: 4 s come in 2.8 s, until the buffer is full.
    assert found["time_s"][1] == found["ended_s"][0]
    assert found["ended_s"][3] == pytest.approx(first + 3 * other, abs=1e-9)
    assert found["buffer_s"][:4] == pytest.approx([4 + n * (4 - other) for n in range(4)], abs=1e-9)
    assert max(value for value in found["buffer_s"] if value is not None) <= 12
    row = run.videos["player"]
    assert row["join_s"] == pytest.approx(first, abs=1e-9)
    assert (row["stalls"], row["stalled_s"], row["rebuffering"], row["switches"]) == (0, 0.0, 0.0, 1)
    count = row["segments"]
    assert row["bitrate_mean_bps"] == pytest.approx((3e5 + (count - 1) * 1e6) / count)
    assert row["qoe"] == pytest.approx(0.3 + (count - 1) - 0.7 - 3 * first)


def test_one_outage_by_hand() -> None:
    """The link is dead from 4 to 24 s: the viewer sees what is in the buffer, and then nothing."""
    steps = {"steps": [["0 s", "2 Mbit/s"], ["4 s", "0 bit/s"], ["24 s", "2 Mbit/s"]]}
    video = {"ladder": ["1 Mbit/s"], "buffer": "8 s", "segment": "1 s", "rule": {"fixed": "1 Mbit/s"}}
    changes = {"gate.link.rate": steps, "flow.player.app.video": video}
    run = _changed(changes)
    row = run.videos["player"]
    found = _segments(run)
    assert row["stalls"] == 1
    # The segments that came before the outage are shown without a break from the first on.
    before = [at for at in found["ended_s"] if at is not None and at < 20]
    begun = found["ended_s"][0] + len(before)
    resumed = found["ended_s"][len(before)]
    assert row["stalled_s"] == pytest.approx(resumed - begun, abs=1e-9)
    assert found["stalled_s"][len(before)] == pytest.approx(resumed - begun, abs=1e-9)
    assert sum(value or 0 for value in found["stalled_s"]) == pytest.approx(row["stalled_s"], abs=1e-9)
    assert row["rebuffering"] == pytest.approx((resumed - begun) / (60 - found["ended_s"][0]), abs=1e-9)


def test_a_bucket_pays_for_the_join() -> None:
    """150 packets of 1040 bytes come at the peak if their tokens are in the bucket, otherwise at the rate."""
    bucket = {"token_bucket": {"rate": "500 kbit/s", "burst": "156 kB", "peak": "10 Mbit/s"}}
    full = _changed({"gate.link.rate": bucket})
    bucket = {"token_bucket": {**bucket["token_bucket"], "initial": "0 B"}}
    empty = _changed({"gate.link.rate": bucket})
    join = [run.videos["player"]["join_s"] for run in (full, empty)]
    # The request is two packets' worth of tokens later than the start of an empty bucket.
    assert join[0] == pytest.approx(_seconds(3e5, 10e6), abs=1e-9)
    assert join[1] == pytest.approx(_seconds(3e5, 0.5e6) - 0.020, abs=2e-3)


def _changed(changes: dict[str, Any]) -> tg.Run:
    from copy import deepcopy

    scenario = deepcopy(SCENARIO)
    for name, value in changes.items():
        *folders, last = name.split(".")
        at = scenario
        for folder in folders:
            at = at[folder]
        at[last] = value
    return tg.run(scenario)


def test_sizes_from_a_file_repeat(tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("low, middle, high\n150000, 400000, 900000\n80000 500000 1000000\n")
    video = {"ladder": LADDER, "buffer": "12 s", "sizes": str(tmp_path / "sizes.csv")}
    run = _changed({"flow.player.app.video": video})
    found = _segments(run)
    assert found["bytes"][:5] == [150_000, 500_000, 400_000, 500_000, 400_000]
    assert found["bitrate_bps"][:5] == [3e5, *[1e6] * 4]
    exact = _changed({"flow.player.app.video": video, "exact": True})
    assert exact.table("segments").equals(run.table("segments"))


def test_sizes_as_sabre_has_them(tmp_path: Path) -> None:
    """Sizes in bits in JSON are those in bytes in a table."""
    sizes = [[150_000, 400_000, 900_000], [80_000, 500_000, 1_000_000]]
    (tmp_path / "sizes.csv").write_text("".join(", ".join(map(str, row)) + "\n" for row in sizes))
    movie = {"segment_duration_ms": 4000, "segment_sizes_bits": [[8 * size for size in row] for row in sizes]}
    (tmp_path / "movie.json").write_text(json.dumps(movie))
    (tmp_path / "bytes.json").write_text(json.dumps(sizes))
    runs = []
    for name in ("sizes.csv", "movie.json", "bytes.json"):
        video = {"ladder": LADDER, "buffer": "12 s", "sizes": str(tmp_path / name)}
        runs.append(_segments(tg.run(SCENARIO, seed=1, changes={"flow.player.app": {"video": video}})))
    assert runs[0]["bytes"][0] == 150_000
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("rule", ["throughput", "bba", "bola", "mpc", "robust_mpc"])
def test_recording_threads_and_exactness_change_nothing(rule: str) -> None:
    scenario = EXAMPLES / "video.toml"
    changes = {"flow.player.app.video.rule": rule, "duration": "60 s", "flow.player.count": 2}
    runs = [
        tg.run(scenario, **_set(changes)),
        tg.run(scenario, **_set(changes), record="summary"),
        tg.run(scenario, **_set(changes), record="events"),
        tg.run(scenario, **_set({**changes, "exact": True})),
    ]
    assert runs[0].videos.names == ["player.1", "player.2"]
    assert all(run.summary["videos"] == runs[0].summary["videos"] for run in runs)
    assert runs[0].table("segments").equals(runs[2].table("segments"))
    assert runs[0].table("segments").equals(runs[3].table("segments"))
    with pytest.raises(tg.errors.NotRecordedError, match="record"):
        runs[1].table("segments")


def test_folder_and_text(tmp_path: Path) -> None:
    run = tg.run(EXAMPLES / "video.toml")
    run.save(tmp_path / "out")
    again = _open(tmp_path / "out")
    assert again.summary == run.summary
    assert again.table("segments").equals(run.table("segments"))
    report = _run_text.run_report(run.summary, run.title)
    assert "switches" in report
    for line in report.splitlines():
        assert len(line) <= 80, line


def test_a_row_has_its_segments() -> None:
    run = tg.run(EXAMPLES / "video.toml")
    row = run.videos["player"]
    assert row.columns().height >= row["segments"]
    assert row.series("bitrate").columns == ["time_s", "bitrate_bps"]
    assert row.series("buffer")["buffer_s"].max() <= 30
    asked = run.table("requests")
    assert run.table("segments")["bytes"].to_list() == asked["response_bytes"].to_list()
    assert run.table("segments")["ended_s"].equals(asked["ended_s"])


def test_segments_are_not_mixed_with_page_requests() -> None:
    text = """
        duration = "20 s"
        seed = 1
        gate.g = { rate = "10 Mbit/s", queue = "50 packets", delay = "20 ms" }
        flow.v = { path = ["g"], app.video.ladder = ["1 Mbit/s", "3 Mbit/s"] }
    """
    web = 'flow.web = { path = ["g"], app.request = { response = "20 kB", think = "1 s" } }'
    both = {row["name"]: row for row in tg.run(tg.Scenario.from_toml(f"{text}{web}")).summary["requests"]}
    assert both["all"] == {**both["web"], "name": "all"}
    alone = {row["name"]: row for row in tg.run(tg.Scenario.from_toml(text)).summary["requests"]}
    assert alone["all"] == {**alone["v"], "name": "all"}


def test_the_picture_shows_buffer_and_bitrate() -> None:
    run = tg.run(EXAMPLES / "video.toml", **_set({"duration": "20 s"}))
    titles = [axes.get_title(loc="left") for axes in run.plot().axes]
    assert titles[0].startswith("Media time in the buffer")
    assert titles[1].startswith("Bitrate")
    assert not any(title.startswith("Response times") for title in titles)
    many = tg.run(EXAMPLES / "video.toml", **_set({"duration": "20 s", "flow.player.count": 6}))
    titles = [axes.get_title(loc="left") for axes in many.plot(show=["buffer"]).axes]
    assert titles[0].endswith("of the 4 players that stalled longest")


def test_a_run_without_video_says_so() -> None:
    other = tg.run(EXAMPLES / "steps.toml", **_set({"duration": "1 s"}))
    assert "videos" not in other.summary
    assert len(other.videos) == 0
    with pytest.raises(tg.errors.NotRecordedError, match="no flow of this run has a player"):
        other.table("segments")


def test_study(tmp_path: Path) -> None:
    vary = {"gate.plan.police.rate": ["1 Mbit/s", "3 Mbit/s"]}
    study = tg.study(EXAMPLES / "video.toml", vary=vary, runs=3, store=tmp_path / "store")
    slow, fast = (study.estimate("video.player.bitrate_mean_bps", point) for point in (0, 1))
    assert slow.mean is not None
    assert fast.mean is not None
    assert slow.mean < fast.mean
    assert study.videos.height == 2 * 3
    assert study.estimate("video.player.join_s", 0).mean is not None
    with pytest.raises(tg.errors.UnknownNameError, match="video"):
        study.estimate("video.viewer.join_s", 0)
    study.save(tmp_path / "study")
    again = tg.open(tmp_path / "study")
    assert isinstance(again, tg.Study)
    assert again.videos.equals(study.videos)


def test_an_hour_of_video_takes_less_than_a_second() -> None:
    hour = {**SCENARIO, "duration": "3600 s"}
    begun = time.process_time()
    run = tg.run(hour, record="summary")
    assert time.process_time() - begun < 1.0
    assert run.videos["player"]["segments"] > 850


def _set(changes: dict[str, Any]) -> dict[str, Any]:
    return {"changes": changes}


def _open(folder: Path) -> tg.Run:
    found = tg.open(folder)
    assert isinstance(found, tg.Run)
    return found


def test_a_comparison_says_what_viewers_saw() -> None:
    changes = {"flow.player.count": 2, "flow.player.start": {"uniform": ["0 s", "1 s"]}}
    both = tg.compare(SCENARIO, vary={"flow.player.app.video.rule": ["throughput", "bba"]}, changes=changes)
    head, _, _, first, *_ = both.report().split("\n\n")[1].splitlines()
    assert head.split()[-2:] == ["bitrate", "stalled"]
    videos = both.variants[0].run.summary["videos"]
    mean = sum(row["segments"] * row["bitrate_mean_bps"] for row in videos) / sum(
        row["segments"] for row in videos
    )
    assert float(first.split()[-2]) == pytest.approx(mean / 1e6, rel=0.01)
