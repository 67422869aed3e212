"""Three-colour markers, limits by colour, policers of each flow and second buckets in whole runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from tidegate._run.text import run_report

if TYPE_CHECKING:
    from pathlib import Path

#: 8 Mbit/s as a packet of 1000 bytes each millisecond.
STEADY = {"constant": {"rate": "8 Mbit/s", "packet": "1000 B"}}


def scenario(gates: dict[str, Any], sources: int = 1) -> dict[str, Any]:
    """Return steady sources through some gates, and a silent flow."""
    path = list(gates)
    return {
        "duration": "10 s",
        "gate": gates,
        "traffic": {f"s{n}": {"path": path, "source": STEADY} for n in range(sources)},
        "flow": {"x": {"path": path, "start": "9.9 s", "app": {"transfer": "1 B"}, "tcp": {"base": "rfc"}}},
    }


def colours(run: tg.Run, gate: str) -> list[int]:
    return [run.gates[gate][f"{colour}_packets"] for colour in ("green", "yellow", "red")]


@pytest.mark.parametrize("exact", [False, True])
def test_colours_go_from_gate_to_gate(exact: bool) -> None:
    """An edge colours, a plain gate passes it on, and the core keeps its queue for what is green."""
    meter = {"cir": "4 Mbit/s", "cbs": "2 kB", "pir": "6 Mbit/s", "pbs": "3 kB", "red": "remark"}
    gates = {
        "edge": {"rate": "100 Mbit/s", "police": {"trtcm": meter}},
        "middle": {"rate": "100 Mbit/s", "delay": "1 ms"},
        "core": {
            "rate": "5 Mbit/s",
            "queue": {"limit": "20 packets", "colour_limits": {"yellow": "5 packets", "red": "0 packets"}},
            "police": {
                "srtcm": {
                    "cir": "50 Mbit/s", "cbs": "50 kB", "ebs": "50 kB", "colour_aware": True, "red": "remark",
                }
            },
        },
    }  # fmt: skip
    run = tg.run({**scenario(gates), "exact": exact})
    green, yellow, red = colours(run, "edge")
    # Half of 10,000 packets conforms to 4 Mbit/s, a quarter more to 6, and a few at the start.
    assert (green, yellow, red) == (
        pytest.approx(5000, abs=6),
        pytest.approx(2500, abs=6),
        pytest.approx(2500, abs=6),
    )
    assert run.gates["edge"]["drops"] == {}
    # The second marker has room for all, and makes nothing better.
    core = colours(run, "core")
    # What it let through and is not offered yet still waits, or is in service.
    there = sum(core) - run.gates["core"]["offered_packets"]
    assert there - run.gates["core"]["waiting_packets"] in (0, 1)
    assert core == [pytest.approx(count, abs=2) for count in (green, yellow, red)]
    # All that is green goes on; what is lost is red, and yellow that finds five waiting.
    lost = run.gates["core"]["dropped_packets"]
    assert core[2] < lost < core[1] + core[2]
    assert run.gates["core"]["drops"] == {"queue full": lost}
    table = run_report(run.summary, run.title)
    head = next(line for line in table.splitlines() if line.startswith("marker"))
    assert head.split() == ["marker", "green", "yellow", "red", "dropped"]


def test_red_is_dropped_unless_told_otherwise() -> None:
    """A single-rate marker passes its rate and both bursts."""
    run = tg.run(
        scenario({"edge": {"police": {"srtcm": {"cir": "4 Mbit/s", "cbs": "10 kB", "ebs": "30 kB"}}}})
    )
    edge = run.gates["edge"]
    passed = edge["green_bytes"] + edge["yellow_bytes"]
    assert passed <= 4e6 / 8 * 10 + 40_000
    assert passed > 4e6 / 8 * 10 + 38_000
    # The excess bucket is never filled again, because the committed one never is.
    assert edge["yellow_bytes"] in (29_000, 30_000)
    assert edge["drops"] == {"policed": edge["red_packets"]}
    assert run.summary["traffic"][0]["policed_packets"] == edge["red_packets"]


def test_each_flow_has_its_part_of_the_contract() -> None:
    """Three sources of 8 Mbit/s in a contract of 9: shared alone, chance decides; with 3 each, all get 3."""
    contract = {"rate": "9 Mbit/s", "burst": "20 kB", "per_flow": {"rate": "3 Mbit/s", "burst": "5 kB"}}
    run = tg.run(scenario({"edge": {"police": contract}}, sources=3))
    passed = [row["packets_delivered"] for row in run.summary["traffic"]]
    assert passed == [pytest.approx(3750, abs=8)] * 3
    # A contract below the sum still holds.
    run = tg.run(scenario({"edge": {"police": {**contract, "rate": "4 Mbit/s"}}}, sources=3))
    assert run.gates["edge"]["conforming_bytes"] <= 4e6 / 8 * 10 + 20_000


def test_a_second_bucket_bounds_every_burst() -> None:
    """A burst of 30 kB leaves at the peak rate, 3 kB at once; without the second bucket it leaves at once."""
    flow = {
        "path": ["shape"],
        "app": {"transfer": "30 kB"},
        "tcp": {"base": "rfc", "initial_window": "21 segments"},
    }
    bucket = {"rate": "2 Mbit/s", "burst": "40 kB", "peak": "12 Mbit/s"}
    longest = {}
    for second in ("3 kB", "40 kB"):
        law = {"token_bucket": {**bucket, "peak_burst": second}}
        asked = {
            "duration": "2 s",
            "gate": {"shape": {"rate": law, "delay": "10 ms"}},
            "flow": {"one": flow},
        }
        longest[second] = tg.run(asked).gates["shape"]["queue_max_packets"]
    # 21 packets of 1500 bytes: all fit into one bucket; two into the other, and the rest waits.
    assert longest == {"3 kB": 19, "40 kB": 0}


#: A marker that remarks, and a gate that tells packets apart by what it wrote.
REMARKING: dict[str, Any] = {
    "edge": {
        "rate": "100 Mbit/s",
        "police": {
            "trtcm": {
                "cir": "2 Mbit/s", "cbs": "20 kB", "pir": "4 Mbit/s", "pbs": "40 kB", "red": "remark",
                "dscp": {"green": "AF11", "yellow": "AF12", "red": 14},
            }
        },
    },
    "core": {
        "rate": "20 Mbit/s",
        "classes": {
            "gold": {"dscp": ["AF11"]},
            "silver": {"dscp": ["AF12", "AF13"]},
        },
    },
}  # fmt: skip


def flow_over(gates: dict[str, Any]) -> dict[str, Any]:
    """Return one download over some gates."""
    return {
        "duration": "3 s",
        "seed": 1,
        "gate": gates,
        "flow": {"x": {"path": list(gates), "rtt": "20 ms", "tcp": {"base": "rfc"}}},
    }


@pytest.mark.parametrize("exact", [False, True])
def test_classes_behind_a_marker_see_what_it_wrote(exact: bool) -> None:
    run = tg.run({**flow_over(REMARKING), "exact": exact})
    green, yellow, red = colours(run, "edge")
    gold, silver = (row["offered_packets"] for row in run.gates["core"]["classes"])
    assert min(green, yellow, red) > 100
    assert gold == pytest.approx(green, abs=20)
    assert silver == pytest.approx(yellow + red, abs=20)


def test_captures_show_what_a_marker_wrote(tmp_path: Path) -> None:
    """The sender's packets leave with the flow's codepoint; the receiver gets those of their colours."""
    asked = flow_over(REMARKING)
    asked["flow"]["x"]["dscp"] = "CS1"
    run = tg.run(asked, pcap=tmp_path / "packets.pcap")
    [sent] = tg.read_capture(tmp_path / "packets.pcap").connections
    [received] = tg.read_capture(tmp_path / "packets-receiver.pcap").connections
    assert set(sent.packets.dscp.tolist()) == {8}
    there = received.packets.dscp[received.packets.from_client]
    for count, codepoint in zip(colours(run, "edge"), (10, 12, 14), strict=True):
        assert (there == codepoint).sum() == pytest.approx(count, abs=20)
    assert set(received.packets.dscp[~received.packets.from_client].tolist()) == {8}


def test_what_cake_washes_is_seen_washed() -> None:
    """CAKE behind the marker sorts by what it wrote; behind CAKE's wash everything is best effort."""
    gates = {
        "edge": REMARKING["edge"],
        "home": {"rate": "20 Mbit/s", "queue": {"aqm": {"cake": {"wash": True}}}},
        "core": {**REMARKING["core"], "classes": {"gold": {"dscp": ["AF11"]}, "rest": {}}},
    }
    run = tg.run(flow_over(gates))
    gold, rest = (row["offered_packets"] for row in run.gates["core"]["classes"])
    assert gold == 0
    assert rest == pytest.approx(sum(colours(run, "edge")), abs=20)


def test_every_codepoint_needs_a_class() -> None:
    wrong = flow_over({**REMARKING, "core": {**REMARKING["core"], "classes": {"gold": {"dscp": ["AF11"]}}}})
    with pytest.raises(
        tg.errors.ScenarioError, match="no class takes the packets of x that get the codepoint AF12"
    ):
        tg.run(wrong)


def test_a_colour_that_is_dropped_gets_no_codepoint() -> None:
    meter = {"cir": "1 Mbit/s", "cbs": "9 kB", "ebs": "9 kB", "dscp": {"red": "CS1"}}
    wrong = flow_over({"edge": {"police": {"srtcm": meter}}})
    with pytest.raises(tg.errors.ScenarioError, match="red packets are dropped, so they get no codepoint"):
        tg.run(wrong)
