"""What is not TCP: delay, jitter and loss of background traffic, by source and by group; media frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import tidegate

if TYPE_CHECKING:
    from pathlib import Path

#: A link of 8 Mbit/s (a byte each microsecond) and 3 ms.
LINK: dict[str, Any] = {"rate": "8 Mbit/s", "queue": "100 packets", "delay": "3 ms"}
#: Telephone sound (RFC 3551 §4.2, §4.5.14): 200 B with headers each 20 ms.
VOICE: dict[str, Any] = {"media": {"frame_rate": 50, "frame": "160 B", "deadline": "4 ms"}}


def scenario(**traffic: dict[str, Any]) -> dict[str, Any]:
    """Return a second of background traffic over the link."""
    sources = {name: {"path": ["link"], **table} for name, table in traffic.items()}
    return {"duration": "1 s", "seed": 1, "gate": {"link": LINK}, "traffic": sources}


def test_telephones_by_hand() -> None:
    """Ten calls that begin together: the k-th packet waits for those before it, 0.2 ms each."""
    run = tg.run(scenario(calls={"count": 10, "source": VOICE}))
    for number in range(10):
        row = run.traffic[f"calls.{number + 1}"]
        alone = 3.2 + 0.2 * number
        assert row["delay_mean_ms"] == pytest.approx(alone, abs=1e-9)
        assert row["delay_max_ms"] == pytest.approx(alone, abs=1e-9)
        assert row["delay_p99_ms"] == pytest.approx(alone, rel=1 / 1024)
        assert (row["interarrival_jitter_ms"], row["delay_variation_ms"]) == (0.0, 0.0)
        assert (row["packets_sent"], row["packets_lost"], row["loss"]) == (50, 0, 0.0)
        # Later than 4 ms are those of the sixth to the tenth call.
        assert row["media_frames_late"] == (50 if number > 4 else 0)
    group = run.traffic_groups["calls"]
    assert group["sources"] == 10
    assert group["packets_sent"] == 500
    assert group["delay_mean_ms"] == pytest.approx(4.1)
    assert group["delay_max_ms"] == pytest.approx(5.0)
    assert group["media_frames_late"] == 250
    assert group["throughput_bps"] == 10 * 50 * 200 * 8
    assert run.traffic_groups.names == ["calls", "all"]
    assert run.traffic_groups["all"]["delay_mean_ms"] == group["delay_mean_ms"]


def test_groups_are_of_a_table_or_of_a_name() -> None:
    run = tg.run(
        scenario(
            voice={"count": 2, "group": "calls", "source": VOICE},
            video={"group": "calls", "source": {"media": {"frame_rate": 25, "frame": "5 kB"}}},
            bulk={"source": {"constant": {"rate": "1 Mbit/s"}}},
        )
    )
    assert run.traffic_groups.names == ["calls", "bulk", "all"]
    calls, bulk, everything = (run.traffic_groups[name] for name in ("calls", "bulk", "all"))
    assert (calls["sources"], bulk["sources"], everything["sources"]) == (3, 1, 4)
    assert calls["media_frames_sent"] == 2 * 50 + 25
    # Of a part of the sources only there is a deadline.
    assert calls["media_frames_late"] is not None
    assert "media_frames_sent" not in bulk.summary
    for column in ("packets_sent", "packets_lost", "throughput_bps"):
        assert calls[column] + bulk[column] == pytest.approx(everything[column])
    weighted = sum(row["delay_mean_ms"] * row["packets_sent"] for row in (calls, bulk))
    assert weighted / everything["packets_sent"] == pytest.approx(everything["delay_mean_ms"], rel=0.01)


def test_loss_is_of_what_was_sent_in_the_measured_time() -> None:
    """A queue of two packets holds two fifths of a frame: with the one in service three fifths arrive."""
    video = {"source": {"media": {"frame_rate": 20, "frame": "5800 B"}}}
    whole = tg.run(scenario(video=video)).traffic["video"]
    assert (whole["packets_lost"], whole["media_frames_whole"]) == (0, 20)
    run = tg.run(scenario(video=video), changes={"gate.link.queue": "2 packets", "warmup": "100 ms"})
    row = run.traffic["video"]
    assert row["packets_sent"] == 18 * 5
    assert row["packets_lost"] == 18 * 2
    assert row["loss"] == 0.4
    assert (row["media_frames_lost"], row["media_frames_whole"]) == (18, 0)
    assert row["media_frame_delay_mean_ms"] is None
    assert row["drops"] == {"queue full": 36}


def test_delays_are_left_out_when_asked() -> None:
    run = tg.run(scenario(calls={"delays": False, "source": VOICE}))
    row = run.traffic["calls"]
    assert (row["packets_lost"], row["loss"], row["delay_mean_ms"]) == (None, None, None)
    assert row["packets_sent"] == 50
    assert "media_frames_sent" not in row.summary
    assert run.traffic_groups["all"]["delay_p99_ms"] is None


def test_every_event_gives_the_same_numbers() -> None:
    bursts = {"source": {"poisson": {"rate": "6 Mbit/s", "packet": "1000 B"}}}
    video = {"media": {"frame_rate": 29.97, "frame": {"exponential": "8 kB"}, "spread": "5 ms"}}
    both = scenario(bursts=bursts, video={"source": video, "jitter": "2 ms"})
    runs = [tg.run(both, changes={"gate.link.queue": "20 packets"}, exact=exact) for exact in (False, True)]
    assert runs[0].summary["traffic"] == runs[1].summary["traffic"]
    assert runs[0].summary["traffic_groups"] == runs[1].summary["traffic_groups"]
    assert runs[0].traffic["bursts"]["packets_lost"] > 0


def test_frames_are_drawn_from_the_seed() -> None:
    video = {"video": {"source": {"media": {"frame_rate": 30, "frame": {"exponential": "5 kB"}}}}}
    sent = [tg.run(scenario(**video), seed=seed).traffic["video"]["packets_sent"] for seed in (1, 1, 2)]
    assert sent[0] == sent[1] != sent[2]
    assert tg.Scenario.from_dict(scenario(**video)).draws == ["traffic.video/source"]


def test_studies_and_comparisons_take_sources_and_groups() -> None:
    calls = scenario(calls={"count": 2, "source": VOICE})
    study = tg.study(calls, vary={"gate.link.delay": ["3 ms", "5 ms"]}, runs=1)
    where = {"gate.link.delay": "5 ms"}
    assert study.values("traffic.calls.2.delay_mean_ms", where) == [pytest.approx(5.4)]
    assert study.values("traffic.calls.delay_mean_ms", where) == [pytest.approx(5.3)]
    assert study.traffic_groups.height == 2 * 2
    columns = ["traffic.calls.delay_mean_ms", "traffic.calls.1.loss"]
    comparison = tg.compare(calls, vary={"gate.link.delay": ["3 ms", "5 ms"]}, columns=columns)
    assert [row[columns[0]] for row in comparison.rows()] == [pytest.approx(3.3), pytest.approx(5.3)]
    assert comparison.table[columns[1]].to_list() == [0.0, 0.0]
    with pytest.raises(tg.errors.UnknownNameError, match='no traffic is called "call"; did you mean "calls"'):
        tg.compare(calls, vary={"gate.link.delay": ["3 ms"]}, columns=["traffic.call.loss"])
    with pytest.raises(tg.errors.UnknownNameError, match="delay_p99_ms"):
        tg.compare(calls, vary={"gate.link.delay": ["3 ms"]}, columns=["traffic.calls.delay_p98_ms"])


def test_columns_are_kept_in_the_folder(tmp_path: Path) -> None:
    calls = scenario(calls={"source": VOICE})
    column = "traffic.calls.delay_mean_ms"
    comparison = tg.compare(calls, vary={"gate.link.delay": ["3 ms"]}, columns=[column])
    comparison.save(tmp_path / "kept")
    opened = tg.open(tmp_path / "kept")
    assert opened.rows() == comparison.rows()
    assert opened.report() == comparison.report()


FILE = """
duration = "1 s"
[gate.link]
rate = "8 Mbit/s"
delay = "3 ms"
[traffic.calls]
count = 10
path = ["link"]
source.media = { frame_rate = 50, frame = "160 B", deadline = "4 ms" }
[traffic.bulk]
path = ["link"]
start = "10 ms"
source.constant = { rate = "40 kbit/s", packet = "50 B" }
"""


def test_the_tables_for_people(tmp_path: Path) -> None:
    file = tmp_path / "calls.toml"
    file.write_text(FILE)
    told = tidegate("run", file).stdout
    assert "traffic  sources  arrived  lost     delay   p50   p99   max  jitter" in told
    assert "calls         10      800     0      4.10  4.00  5.00  5.00       0" in told
    assert "media  frames  lost  late     delay   p50   p99   max" in told
    assert "calls     500     0    50      4.10  4.00  5.00  5.00" in told
    vary = ["compare", file, "--vary", "gate.link.delay=3 ms,5 ms", "--plot", tmp_path / "x.png"]
    told = tidegate(*vary, "--columns", "traffic.calls.delay_mean_ms").stdout
    assert "delay  traffic.calls\n       delay_mean_ms\n" in told
    assert "5 ms            6.10" in told
    refused = tidegate(*vary, "--columns", "traffic.cals.loss")
    assert (refused.returncode, 'did you mean "calls"?' in refused.stderr) == (2, True)
    refused = tidegate("compare", file, "--engines", "sim", "--columns", "traffic.calls.loss")
    assert (refused.returncode, "--columns is for variants" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("source.media.frame_rate", "29.9701", "more than three decimals"),
        ("source.media.packet", "40 B", "no room beside headers of 40 B"),
        ("source.media.spread", "21 ms", "longer than the time between frames, 20 ms"),
        ("source.media.frame", "17 MB", "at most 16 MB"),
        ("source.media.deadline", "0 s", "is zero"),
        ("group", "all", "is reserved"),
        ("group", "a.b", "no name of a group"),
        ("delays", "often", "not true or false"),
    ],
)
def test_wrong_keys_have_one_error_each(key: str, value: str, problem: str) -> None:
    with pytest.raises(tg.errors.ScenarioError, match=problem) as error:
        tg.run(scenario(calls={"source": VOICE}), changes={f"traffic.calls.{key}": value})
    assert str(error.value).count("error:") == 1
