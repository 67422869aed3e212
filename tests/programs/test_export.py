"""A link in the language of tc and of Mahimahi."""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tidegate as tg
from support.common import EXAMPLES
from tidegate._programs.mahimahi import constant
from tidegate._programs.tc_queues import _red_burst
from tidegate._programs.tc_words import percent, time

LINK = """
duration = "10 s"
[gate.link]
rate = "20 Mbit/s"
queue.limit = "100 packets"
delay = "20 ms"
[flow.dl]
path = ["link"]
app = "bulk"
tcp.cc = "cubic"
"""


def link(**changes: str) -> tg.Scenario:
    return tg.Scenario.from_toml(LINK, changes={f"gate.link.{key}": value for key, value in changes.items()})


def parts(found: tg.Export) -> str:
    return "\n".join(found.commands)


def test_a_link_with_a_rate_a_queue_and_a_delay() -> None:
    found = tg.export(link())
    assert found.complete
    assert found.commands == [
        "ethtool -K eth0 tso off gso off gro off",
        "tc qdisc del dev eth0 root 2>/dev/null || true",
        "tc qdisc add dev eth0 root handle 1: netem delay 20ms limit 1000000",
        (
            "tc qdisc add dev eth0 parent 1:1 handle 10: stab overhead -14 "
            "tbf rate 20000000bit burst 1500 limit 1000000000"
        ),
        # A hundred that wait, and the one that the shaper has.
        "tc qdisc add dev eth0 parent 10:1 handle 20: pfifo limit 101",
        "tc qdisc del dev eth1 root 2>/dev/null || true",
        "tc qdisc add dev eth1 root handle 1: netem delay 20ms limit 1000000",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"queue.aqm": "codel"}, "codel limit 101 target 5ms interval 100ms ecn"),
        ({"queue.aqm": "{ codel = { target = '1500 us' } }"}, "codel limit 101 target 1500us interval"),
        ({"queue.aqm": "fq_codel"}, "fq_codel limit 101 flows 1024 quantum 1514 memory_limit 33554432"),
        ({"queue.aqm.cake.ack_filter": "conservative"},
         "handle 20: cake unlimited diffserv3 triple-isolate memlimit 150000 ack-filter"),
        ({"queue.aqm.cake": '{ bandwidth = "2 Mbit/s", compensation = "atm", overhead = 38, mpu = "64 B" }'},
         # What tbf counts is without Ethernet's header, which cake takes away once more.
         "cake bandwidth 2000000bit diffserv3 triple-isolate overhead 52 mpu 64 atm memlimit 150000"),
        ({"queue.aqm.cake.bandwidth": "2 Mbit/s", "framing": '{ overhead = "38 B" }'},
         "stab overhead 24 tbf rate 20000000bit burst 1538 limit 1000000000"),
        ({"queue.aqm.cake.bandwidth": "2 Mbit/s", "framing": '{ overhead = "38 B" }'},
         "cake bandwidth 2000000bit diffserv3 triple-isolate overhead 14 noatm"),
        ({"rate": "unlimited", "queue.aqm.cake.bandwidth": "2 Mbit/s", "framing": '{ overhead = "38 B" }'},
         "parent 1:1 handle 10: cake bandwidth 2000000bit diffserv3 triple-isolate overhead 38 noatm"),
        ({"queue.aqm.cake.memory": "60 kB"}, "memlimit 60000"),
        ({"queue.aqm": "cake", "rate": '{ token_bucket = { rate = "8 Mbit/s", burst = "100 kB", '
          'peak = "50 Mbit/s" } }'}, "tbf rate 8000000bit burst 100000 peakrate 50000000bit"),
        # Linux takes 500 B in the time of a packet of 1500 B at three times the rate.
        ({"queue.aqm": "red"}, "probability 0.1 bandwidth 60000000bit ecn harddrop"),
        ({"queue.aqm.red.hard_drop": "false"}, "bandwidth 60000000bit ecn"),
        ({"queue.aqm": "pie"}, "pie limit 101 target 15ms tupdate 15ms alpha 2 beta 20 ecn"),
        ({"queue.aqm": "dualpi2"}, "dualpi2 limit 101 target 15ms tupdate 16ms alpha 0.16 beta 3.2"),
        ({"queue.limit": "30 kB"}, "tbf rate 20000000bit burst 1500 limit 31500"),
        ({"framing": '{ overhead = "24 B" }'}, "stab overhead 10 tbf rate 20000000bit burst 1524"),
        ({"loss": "0.0025"}, "netem delay 20ms loss random 0.25% limit"),
        ({"delay": "1234567 ns"}, "netem delay 1234567ns limit"),
    ],
)  # fmt: skip
def test_words_of_tc(changes: dict[str, str], words: str) -> None:
    found = tg.export(link(**changes))
    assert found.complete
    assert words in parts(found)


@pytest.mark.parametrize(
    ("to", "changes", "sentence"),
    [
        ("tc", {"queue.aqm.cake.target": "2 ms"}, 'and has "a twentieth of rtt"'),
        ("tc", {"queue.aqm": "cake"}, "limited in bytes, 150000 of them (memlimit)"),
        (
            "tc",
            {
                "queue.aqm.cake": '{ bandwidth = "2 Mbit/s", overhead = 10 }',
                "framing": '{ overhead = "38 B", minimum = "84 B" }',
            },
            "counts small packets from the 84 bytes that the rate makes of them",
        ),
        ("tc", {"queue.aqm.dualpi2.range": "400 us"}, 'range = "400 us"; tc has no word for it'),
        ("tc", {"queue.aqm.pie.max_burst": "300 ms"}, 'tc has no word for it, and has "150 ms"'),
        ("tc", {"queue.aqm.pie.mark_below": "50%"}, 'mark_below = "50%"; tc has no word for it'),
        ("tc", {"queue.aqm.pie.derandomize": "false"}, "derandomize = false; tc has no word for it"),
        ("tc", {"queue.aqm.pie.cap": "false"}, "cap = false; tc has no word for it, and has true"),
        ("tc", {"queue.aqm.red.by_size": "true"}, "by_size = true; tc has no word for it"),
        ("tc", {"queue.aqm.red": '{ adaptive = true, max_p_most = "20%" }'}, 'max_p_most = "20%"; tc has'),
        ("tc", {"queue.aqm.red": '{ adaptive = true, update = "100 ms" }'}, 'and has "500 ms"'),
        ("tc", {"queue.clp1": "10 packets"}, 'queue.clp1 = "10 packets"; tc has no word for it'),
        ("tc", {"queue.colour_limits.red": "10 packets"}, 'colour_limits.red = "10 packets"; tc has no'),
        ("tc", {"advice": "law"}, 'gate link has advice = "law"; tc has no word for it'),
        ("tc", {"host": "true"}, "host = true; tc has no word for it"),
        ("mahimahi", {"queue.aqm.codel.ce_threshold": "1 ms"}, 'ce_threshold = "1 ms"; Mahimahi has no word'),
        ("mahimahi", {"queue.aqm.pie.alpha": "0.5"}, "alpha = 0.5; Mahimahi has no word for it"),
        ("mahimahi", {"advice": "law"}, 'advice = "law"; Mahimahi has no word for it'),
    ],
)
def test_what_no_word_says_is_named(to: str, changes: dict[str, str], sentence: str) -> None:
    found = tg.export(link(**changes), to)  # type: ignore[arg-type]
    assert [each for each in found.differences if sentence in each], found.differences


def test_what_the_tool_has_anyway_is_not_named() -> None:
    usual = {"max_burst": "150 ms", "mark_below": "10%", "derandomize": "true", "cap": "true"}
    found = tg.export(link(**{f"queue.aqm.pie.{key}": value for key, value in usual.items()}, host="false"))
    assert not [each for each in found.differences if "no word" in each]


def test_a_policer_counts_ethernet_headers() -> None:
    found = tg.export(EXAMPLES / "policer.toml", device="wan0", back_device="lan0")
    assert "tc qdisc replace dev wan0 clsact" in found.commands
    # 20 Mbit/s and 50 kB, times 1514 / 1500.
    assert "police rate 20186667bit burst 50467 mtu 2040 conform-exceed drop/pipe" in parts(found)
    assert any("14 bytes of Ethernet" in sentence for sentence in found.differences)
    assert "lan0" in parts(found)


def test_what_tc_cannot_do_is_said() -> None:
    for name, word in {
        "lte.toml": "trace",
        "steps.toml": "steps",
        "tsn.toml": "strict",
        "dtm.toml": "need a router each",
    }.items():
        found = tg.export(EXAMPLES / name)
        assert not found.complete, name
        assert any(word in sentence for sentence in found.missing), (name, found.missing)
        assert "# Cannot: " in found.script()


def test_every_example_has_an_export_or_says_why_not() -> None:
    for path in sorted(EXAMPLES.glob("*.toml")):
        scenario = tg.load(path)
        if not scenario.flow_names:
            with pytest.raises(tg.errors.ArgumentError, match="has no flow"):
                tg.export(scenario)
            continue
        for to in ("tc", "mahimahi"):
            found = tg.export(scenario, to)  # type: ignore[arg-type]
            assert json.loads(json.dumps(found.to_dict()))["to"] == to
            assert found.script().startswith("#!/bin/sh\n")


def test_a_bucket_of_red_gives_the_weight_that_is_asked_for() -> None:
    burst, power = _red_burst(0.002, 5 * 1500, 15 * 1500, 1500)
    assert power == 9
    share = 2.0**-power
    assert burst + 1 - 5 <= (1 - (1 - share) ** burst) / share
    # One power less would not pass so many.
    assert burst + 1 - 5 > (1 - (1 - 2 * share) ** burst) / (2 * share)


@pytest.mark.parametrize("bps", [1_000_000, 12_000_000, 20_000_000, 1_000_000_007, 3_333_333])
def test_a_constant_rate_as_a_trace_carries_it(bps: int, tmp_path: Path) -> None:
    text, exact = constant(bps)
    place = tmp_path / "link.mahi"
    place.write_text(text)
    info = tg.traces.info(place)
    assert info["mean_bps"] == pytest.approx(bps, rel=0, abs=1e-6 if exact else 100)
    assert exact == (12_000_000 // math.gcd(bps, 12_000_000) <= 60_000)


def test_mahimahi_gets_the_trace_of_the_scenario(tmp_path: Path) -> None:
    found = tg.export(EXAMPLES / "lte.toml", "mahimahi")
    assert found.commands == [
        (
            "mm-delay 25 mm-link uplink.mahi downlink.mahi "
            '--downlink-queue=droptail --downlink-queue-args="packets=300"'
        )
    ]
    found.write(tmp_path / "link")
    theirs = tg.traces.info(tmp_path / "link" / "downlink.mahi")
    ours = tg.traces.info(EXAMPLES / "cellular.csv")
    assert theirs["mean_bps"] == pytest.approx(ours["mean_bps"], rel=1e-3)
    with pytest.raises(tg.errors.ArgumentError, match="is there already"):
        found.write(tmp_path / "link")


def test_mahimahi_has_codel_and_no_policer() -> None:
    found = tg.export(link(**{"queue.aqm": "codel", "loss": "0.01"}), "mahimahi")
    assert found.complete
    assert "mm-loss downlink 0.01" in parts(found)
    assert '--downlink-queue=codel --downlink-queue-args="packets=100, target=5, interval=100"' in parts(
        found
    )
    assert not tg.export(EXAMPLES / "policer.toml", "mahimahi").complete


def test_mahimahi_speaks_of_itself() -> None:
    """Of the queue that it makes, of the shaper that it leaves out, and not of netem."""
    changes = {"queue.aqm.cake.bandwidth": "2 Mbit/s", "queue.limit": "unlimited", "jitter": "1 ms"}
    found = tg.export(link(**changes), "mahimahi")
    assert "--downlink-queue=infinite" in parts(found)
    assert found.missing == [
        "gate link has jitter that keeps the order of packets; Mahimahi has no jitter",
        "the shaper of cake at gate link is not here, 2 Mbit/s",
        "the queue of gate link is cake, not one of Mahimahi; here is infinite",
    ]
    unlimited = tg.export(link(**changes, rate="unlimited"), "mahimahi")
    assert "the shaper of cake at gate link is not here, 2 Mbit/s" in unlimited.missing


def test_arguments() -> None:
    with pytest.raises(tg.errors.ArgumentError, match='there is no flow "up"; there is dl'):
        tg.export(link(), flow="up")
    with pytest.raises(tg.errors.ArgumentError, match="no name of a network device"):
        tg.export(link(), device="eth0; rm -rf /")
    with pytest.raises(tg.errors.ArgumentError, match="need two devices"):
        tg.export(link(), device="eth1")
    with pytest.raises(tg.errors.ArgumentError, match="tc and mahimahi"):
        tg.export(link(), "ns-3")  # type: ignore[arg-type]


def test_numbers_for_tc() -> None:
    assert [time(n) for n in (0, 10**12, 5 * 10**9, 1_500_000_000, 1_234_567_000)] == [
        "0s", "1s", "5ms", "1500us", "1234567ns",
    ]  # fmt: skip
    assert [percent(share) for share in (0.01, 1.0, 1e-6)] == ["1%", "100%", "0.0001%"]


def cli(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tidegate", *words], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_command(tmp_path: Path) -> None:
    policer = str(EXAMPLES / "policer.toml")
    done = cli("export", "tc", policer, folder=tmp_path)
    # netem has no jitter that keeps the order of packets.
    assert done.returncode == 1
    done = cli("export", "tc", policer, "--set", "gate.isp.jitter=0 s", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "#!/bin/sh"
    assert subprocess.run(["sh", "-n"], input=done.stdout, text=True, check=True).returncode == 0
    # Something is missing: the status says so.
    assert cli("export", "tc", str(EXAMPLES / "lte.toml"), folder=tmp_path).returncode == 1
    # Files need a place.
    done = cli("export", "mahimahi", str(EXAMPLES / "lte.toml"), folder=tmp_path)
    assert done.returncode == 2
    assert "give a folder" in done.stderr
    done = cli("export", "mahimahi", str(EXAMPLES / "lte.toml"), "-o", "link", "--json", folder=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["files"] == ["downlink.mahi", "uplink.mahi"]
    assert {path.name for path in (tmp_path / "link").iterdir()} == {
        "link.sh",
        "downlink.mahi",
        "uplink.mahi",
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="network devices need root")
@pytest.mark.skipif(not (shutil.which("tc") and shutil.which("unshare")), reason="no tc or unshare here")
@pytest.mark.parametrize(
    "changes",
    [
        {}, {"queue.aqm": "codel"}, {"queue.aqm": "fq_codel"}, {"queue.aqm": "pie"}, {"queue.aqm": "red"},
        {"queue.aqm": "cake"}, {"queue.aqm.cake.ack_filter": "aggressive"},
        {"queue.aqm.cake": '{ bandwidth = "2 Mbit/s", compensation = "ptm", overhead = 38, mpu = "64 B" }'},
        {"queue.aqm.cake.bandwidth": "2 Mbit/s", "rate": "unlimited"},
        {"loss": "0.01"},
        {"queue.limit": "30 kB"},
        {"loss": "{ gilbert_elliott = { good_to_bad = 0.01, bad_to_good = 0.3, loss_bad = 1.0 } }"},
        {"rate": '{ token_bucket = { rate = "8 Mbit/s", burst = "100 kB", peak = "50 Mbit/s" } }'},
        {"framing": '{ overhead = "24 B", minimum = "84 B" }'},
        {"police": '{ rate = "10 Mbit/s", burst = "60 kB" }'},
    ],
    ids=lambda changes: " ".join(changes) + (" " + changes["queue.aqm"] if "queue.aqm" in changes else ""),
)  # fmt: skip
def test_the_kernel_takes_the_commands(changes: dict[str, str]) -> None:
    """In a network of its own; tc must at least understand a discipline that this kernel does not have."""
    # Without netem, which few kernels have, so that the shaper is at the root.
    found = tg.export(link(**{"delay": "0 s", **changes}))
    lines = [line for line in found.commands if line.startswith("tc ")]
    script = ["ip tuntap add eth0 mode tap", "ip tuntap add eth1 mode tap", *lines]
    unknown = []
    whole = "\n".join(f"{line} || echo failed: {shlex.quote(line)} >&2" for line in script)
    done = subprocess.run(["unshare", "-n", "sh"], input=whole, capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()
    for number, line in enumerate(said):
        if line.startswith("failed: "):
            unknown.append((line, said[max(0, number - 3) : number]))
    if unknown and any("tuntap" in line for line, _ in unknown):
        pytest.skip(f"no tap devices here: {unknown[0][1]}")
    for line, before in unknown:
        # What hangs below a discipline that is not there fails with it.
        assert any(
            word in text
            for text in before
            for word in ("kind is unknown", "Failed to find specified qdisc", "classifier not found")
        ), (line, before)
