"""Throughput advice from Python: what is told, heard and obeyed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg

if TYPE_CHECKING:
    from pathlib import Path

LADDER = ["300 kbit/s", "1 Mbit/s", "2 Mbit/s", "4 Mbit/s"]

SCENARIO: dict[str, Any] = {
    "duration": "60 s",
    "gate": {"link": {"rate": "20 Mbit/s", "delay": "10 ms", "advice": {"rate": "3 Mbit/s"}}},
    "flow": {
        "player": {
            "path": ["link"],
            "app": {"video": {"ladder": LADDER, "buffer": "20 s", "advice": "cap"}},
        }
    },
    "record": {"every": "50 ms"},
}


def test_a_player_stays_below_what_it_has_heard() -> None:
    run = tg.run(SCENARIO)
    advice = run.table("advice").to_dict(as_series=False)
    # 3 Mbit/s is told as 100 kbit/s times 10^(29/20), at the start and every 20 s.
    assert set(advice["signal"]) == {29}
    assert advice["rate_bps"][0] == pytest.approx(1e5 * 10 ** (29 / 20), abs=1)
    assert [round(time_s) for time_s in advice["time_s"]] == [0, 0, 0, *range(20, 60, 20)]
    bitrates = run.table("segments")["bitrate_bps"].to_list()
    # 90% of 2.82 Mbit/s.
    assert max(bitrates) == 2e6
    flow = run.flows["player"]
    assert (flow["advice_signals"], flow["advice_bps"]) == (5, advice["rate_bps"][-1])
    assert "player: heard 5 rate signals, 2.82 Mbit/s at the end" in run.report()
    deaf = tg.run(SCENARIO, changes={"flow.player.app.video.advice": "ignore"})
    assert max(deaf.table("segments")["bitrate_bps"]) == 4e6
    with pytest.raises(tg.errors.NotRecordedError, match="no packet of this run carries a rate signal"):
        deaf.table("advice")


@pytest.mark.parametrize(
    ("link", "key"),
    [
        ({"rate": "20 Mbit/s", "advice": "40 kbit/s"}, "advice"),
        ({"rate": "20 Mbit/s", "advice": {"rate": "80 kbit/s", "share": "50%"}}, "advice.rate"),
        ({"rate": "40 kbit/s", "advice": "law"}, "advice"),
        ({"rate": "40 kbit/s", "advice": {"share": "100%"}}, "advice"),
        (
            {"rate": "20 Mbit/s", "police": {"rate": "40 kbit/s", "burst": "9 kB"}, "advice": "contract"},
            "advice",
        ),
    ],
)
def test_less_than_a_signal_can_say_has_a_warning(link: dict[str, Any], key: str) -> None:
    scenario = {**SCENARIO, "duration": "1 s", "gate": {"link": {"delay": "10 ms", **link}}}
    (told,) = (each for each in tg.run(scenario).warnings if "rate signal" in each)
    assert told.startswith(f"gate.link.{key}: ")
    assert "40 kbit/s is below the least that a rate signal says, so flows are told 100 kbit/s" in told
    enough = {"link": {"rate": "20 Mbit/s", "advice": "100 kbit/s"}}
    assert not any("rate signal" in each for each in tg.run({**scenario, "gate": enough}).warnings)


def test_advice_expires() -> None:
    """The only signals are the first three: they are forgotten after 67 s."""
    changes = {"flow.player.scone.every": "1000 s", "duration": "120 s"}
    run = tg.run(SCENARIO, changes=changes)
    segments = run.table("segments")
    before = segments.filter(segments["time_s"] < 66)["bitrate_bps"]
    after = segments.filter(segments["time_s"] > 68)["bitrate_bps"]
    assert (before.max(), after.min()) == (2e6, 4e6)
    assert run.flows["player"]["advice_bps"] is None


def test_sender_and_player_both_listen() -> None:
    run = tg.run(SCENARIO, changes={"flow.player.tcp.advice": "pace"})
    segments = run.table("segments")
    took = segments["ended_s"] - segments["time_s"]
    # The first has begun before the sender is told. Headers are part of the advised rate.
    fastest = (8 * segments["bytes"] / took)[1:].max()
    assert fastest < 1e5 * 10 ** (29 / 20) * 1448 / 1500
    assert run.flows["player"]["segments_retransmitted"] == 0


def test_players_over_quic_listen() -> None:
    run = tg.run(SCENARIO, changes={"flow.player.transport": "quic"})
    assert run.flows["player"]["advice_signals"] == 5
    assert max(run.table("segments")["bitrate_bps"]) == 2e6


def test_listeners_share() -> None:
    changes = {"flow.player.count": 2, "gate.link.advice.among": "listeners"}
    run = tg.run(SCENARIO, changes=changes)
    signals = run.table("advice").filter(run.table("advice")["time_s"] > 1)["signal"]
    # Half of 3 Mbit/s is told as 1.41 Mbit/s.
    assert set(signals) == {23}
    # The one that came first is told so with its next signal.
    bitrates = run.table("segments").filter(run.table("segments")["time_s"] > 21)["bitrate_bps"]
    assert max(bitrates) == 1e6


RULE = """
import tidegate as tg


class Listens(tg.VideoRule):
    def choose(self, choice: tg.VideoChoice) -> int:
        heard = choice.advice_bps
        return 0 if heard is None else max(n for n, bps in enumerate(self.ladder_bps) if bps <= heard)
"""


def test_a_rule_of_ones_own_reads_the_advice(tmp_path: Path) -> None:
    (tmp_path / "rule.py").write_text(RULE)
    changes = {
        "flow.player.app.video.rule": f"python:{tmp_path / 'rule.py'}:Listens",
        "flow.player.app.video.advice": "ignore",
        "flow.player.scone": {},
    }
    run = tg.run(SCENARIO, changes=changes)
    bitrates = run.table("segments")["bitrate_bps"].to_list()
    assert (bitrates[0], set(bitrates[1:])) == (3e5, {2e6})


def test_the_picture_shows_the_advice(tmp_path: Path) -> None:
    tg.run(SCENARIO).plot(tmp_path / "run.svg", show=["bitrate"])
    assert ">advice<" in (tmp_path / "run.svg").read_text()
