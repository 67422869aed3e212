"""Each command of docs/guide/published-traces.md reads a file in the form of its data set (other numbers)."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import tidegate as tg
from support.common import ROOT, tidegate

PAGE = (ROOT / "docs/guide/published-traces.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"\| `(tidegate traces info [^`]+)` \|", PAGE)

#: Two rates, 8 and 12 Mbit/s, for a second each, as each data set would write them.
FILES = {
    "Data5G_151221.csv": "Time,rsrp(dBm),Sent Bytes,RATE(MBit/s)\n"
    "Wed Dec 15 16:05:11 UTC 2021,-110,2944844,8.00000000000001\n"
    "Wed Dec 15 16:05:12 UTC 2021,-110,6162548,12\n",
    "car-driving-trace-1.csv": "protocol,seq_num,TMobile_throughput_mbps,Verizon_throughput_mbps\n"
    "TCP,0,25.764822301311288,8\nTCP,1,65.06874432012178,12.000000000000004\n",
    "Lumos5G-v1.0.csv": "run_num,seq_num,abstractSignalStr,nr_ssRsrp,Throughput,tower_id\n"
    "1,1,2,,8,1\n1,2,2,-90,12,1\n2,1,2,-91,700,1\n2,2,2,-92,800,1\n",
    "B_2018.01.18_16.12.26.csv": "Timestamp,Longitude,Speed,CellID,DL_bitrate,UL_bitrate,State\n"
    "2018.01.18_16.12.26,-8.4,1,2,8000,12,D\n2018.01.18_16.12.27,-8.4,1,2,12000,14,D\n",
    "7Train1.csv": "8,Mbits/sec\n12.0,Mbits/sec\n",
    "tcp_downlink_105454920.csv": "time,throughput_mbps,retrans,cwnd_kb\n"
    "2024-05-27T10:54:55.820867,8.0000,0,13\n2024-05-27T10:54:56.820867,12.0000,0,13\n",
    "http_download.json": '{"Speed": 1000000.0, "Bytes": 3072, "Timestamp": 1465802820.25, "NodeId": "54"}\n'
    '{"Speed": 1500000, "Bytes": 3072, "Timestamp": 1465802821.25, "NodeId": "54"}\n',
    "report.2010-09-13_1003CEST.json": '[{"duration_ms": 1000, "bandwidth_kbps": 8000, "latency_ms": 100},\n'
    ' {"duration_ms": 1000, "bandwidth_kbps": 12000, "latency_ms": 100}]\n',
    "report.2010-09-13_1003CEST.log": "1284365000 20000 59.85 10.78 9 1000\n"
    "1284365001 21000 59.85 10.78 1000000 1000\n"
    "1284365002 22000 59.85 10.78 1500000 1000\n",
    "report_bus_0001.log": "1453121790 686 51.03 3.73 9 1000\n1453121791 1686 51.03 3.73 1000000 1000\n"
    "1453121792 2686 51.03 3.73 1500000 1000\n",
    "norway_bus_1": "0.0 3\n1.0 8.0\n2.0 12.0\n",
    "drp_munich_autobahn.csv": "# :recommended_freqeuncy=1\n8000\n12000\n",
    "pattern.json": '{"RepeatedBwPatternConfig":{"pattern":['
    '{"StaticBwConfig":{"bw":"8Mbps","duration":"1s"}},'
    '{"TraceBwConfig":[["500ms",["12Mbps","12Mbps"]]]}],"count":0}}',
    # 20 Mbit in 2 s: so many opportunities of 1500 and of 1400 bytes, the last at the end.
    "Verizon-LTE-short.down": "".join(f"{2000 * k // 1667}\n" for k in range(1, 1668)),
    "down-pdo": "".join(f"{2000 * k // 1786}\n" for k in range(1, 1787)),
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: shlex.split(command)[3])
def test_a_published_form_plays_with_the_command_of_its_page(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)[1:]
    Path(words[2]).write_text(FILES[words[2]], encoding="utf-8")
    result = tidegate(*words, "--json")
    assert result.returncode == 0, result.stderr
    info = json.loads(result.stdout)
    assert info["duration_s"] == pytest.approx(2)
    assert info["mean_bps"] == pytest.approx(10e6, rel=1e-3)
    # A converted copy needs no options, and neither a scenario that has them as keys.
    options = dict(zip(words[3::2], words[4::2], strict=True))
    bytes_ = options.pop("--opportunity-bytes", None)
    keys = {name.removeprefix("--").replace("-", "_"): value for name, value in options.items()}
    each = int(bytes_) if bytes_ else None
    copy = tg.traces.convert(words[2], "copy.csv", opportunity_bytes=each, window="100 ms", **keys)
    assert tg.traces.info(copy)["deliverable_bytes"] == info["deliverable_bytes"]
    link = {"rate": {"trace": {"file": words[2], **keys}}, "queue": "20 packets"}
    document = {"duration": "2 s", "gate": {"l": link}, "flow": {"f": {"path": ["l"]}}}
    assert tg.Scenario.from_dict(document, folder=tmp_path).to_toml()


def test_every_file_has_a_command() -> None:
    assert sorted(shlex.split(command)[3] for command in COMMANDS) == sorted(FILES)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("comma.csv", "time_s,rate_mbps\n0,14,7\n1,26,0\n", ["line 2", "`0,14,7`", "decimal comma"]),
        ("bare.csv", "time,rate\n0,10\n1,20\n", ["line 1", "does not say its unit", "--rate-unit Mbit/s"]),
        ("back.csv", "time_s,rate_mbps\n0,1\n2,2\n1,3\n", ["line 4", "`1,3`", "earlier", "where"]),
        ("few.csv", "time_s,rate_mbps,loss\n0,10\n", ["line 2", "`0,10`", "2 fields under a header of 3"]),
        ("two.csv", "time_s,a_mbps,b_mbps\n0,1,2\n", ["line 1", "--rate-column a_mbps"]),
        ("numbers.txt", "831\n900\n", ["line 1", "`831`", "--step '1 s' --rate-unit Mbit/s"]),
        (
            "light",
            "0 30 0 4 8\n100 34 0 5 9\n200 30\n",
            ["light file of CellReplay", "rate.cellreplay.light"],
        ),
        ("alone.csv", "0.57,Mbits/sec\n", ["line 1", "`0.57`", "traces info alone.csv --step '1 s'"]),
    ],
)
def test_a_file_that_does_not_play_is_refused_with_its_cure(
    name: str, text: str, says: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text, encoding="utf-8")
    result = tidegate("traces", "info", name)
    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    for words in [name, *says]:
        assert words in result.stderr
