"""Forms of files of iperf3, flent and ndt7: events in a stream, several runs, units, and JSON of others."""

from __future__ import annotations

import copy
import gzip
import json
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.measurements import FLENT, IPERF, NDT
from tidegate._check.others import other

if TYPE_CHECKING:
    from pathlib import Path


def test_a_series_of_flent_is_a_transfer_by_its_unit(tmp_path: Path) -> None:
    data = copy.deepcopy(FLENT)
    data["results"] |= {"TCP upload::1": [1.0, 1.0, 1.0], "TCP upload::1::cwnd": [34.0, 34.0, 34.0]}
    data["metadata"] = {
        "SERIES_META": {"TCP upload::1": {"UNITS": "Mbits/s"}, "TCP upload::1::cwnd": {"UNITS": "segments"}}
    }
    file = tmp_path / "data.flent.gz"
    file.write_bytes(gzip.compress(json.dumps(data).encode()))
    found = other(file)
    assert found is not None
    assert sorted(each.label for each in found.transfers) == ["TCP download", "TCP upload::1"]


def written(folder: Path, text: str) -> Path:
    file = folder / "measured.json"
    file.write_text(text)
    return file


def test_events_of_iperf_are_one_run(tmp_path: Path) -> None:
    start, end = IPERF["start"], IPERF["end"]
    events = [
        {"event": "start", "data": start},
        {"event": "interval", "data": {}},
        {"event": "end", "data": end},
    ]
    stream = written(tmp_path, "\n".join(map(json.dumps, events)))
    as_stream = other(stream)
    assert as_stream == other(written(tmp_path, json.dumps(IPERF)))
    with pytest.raises(tg.errors.ArgumentError, match="1 starts and 0 ends"):
        other(written(tmp_path, "\n".join(map(json.dumps, events[:2]))))


@pytest.mark.parametrize("form", ["{0}\n{1}\n", "[{0}, {1}]", "{0},\n{1}"])
def test_runs_in_one_file_are_their_mean(form: str, tmp_path: Path) -> None:
    second = copy.deepcopy(IPERF)
    second["end"]["streams"][0]["receiver"] = {"bytes": 1_270_000, "bits_per_second": 10.16e6, "seconds": 1.2}
    second["end"]["streams"][0]["sender"]["mean_rtt"] = 60_000
    found = other(written(tmp_path, form.format(json.dumps(IPERF), json.dumps(second))))
    assert found is not None
    (each,) = found.transfers
    assert each.sizes == (1_220_000,)
    assert each.goodput_bps == pytest.approx(9.76e6)
    assert each.rtt_mean_ms == pytest.approx(50)
    assert each.completion_s == pytest.approx(1.1)
    assert found.notes[0] == "2 runs of iperf3: each number is the mean over them"
    second["end"]["streams"] *= 2
    with pytest.raises(tg.errors.ArgumentError, match="2 runs of iperf3 differ in streams"):
        other(written(tmp_path, form.format(json.dumps(IPERF), json.dumps(second))))


def test_a_result_of_ndt7_is_a_transfer(tmp_path: Path) -> None:
    found = other(written(tmp_path, json.dumps(NDT)))
    assert found is not None
    (each,) = found.transfers
    assert (each.label, each.sizes, each.completion_s) == ("download", (1_170_000,), 1.0)
    assert each.goodput_bps == pytest.approx(9.36e6)
    assert each.resent == pytest.approx(0.01)
    assert each.rtt_mean_ms == pytest.approx(40)
    upload = copy.deepcopy(NDT["Download"])
    upload["ServerMeasurements"][-1]["TCPInfo"]["BytesReceived"] = 2_000_000
    found = other(written(tmp_path, json.dumps({"Upload": upload})))
    assert found is not None
    assert (found.transfers[0].label, found.transfers[0].sizes) == ("upload", (2_000_000,))
    assert (found.transfers[0].resent, found.transfers[0].rtt_mean_ms) == (None, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"Download": {"Throughput": {"Value": 90, "Unit": "Mbit/s"}}, "Upload": null}', "a client of ndt7"),
        ('{"Key": "measurement", "Value": {}}\n{"Key": "complete", "Value": {}}', "a client of ndt7"),
        ('{"TCPInfo": {"RTT": 3}}', "this is tcp_info"),
        ('{"a": 1}\n{"a": 2}', "these 2 JSON documents are not all of iperf3"),
        ('{"start": {"test_start": {"bidir": 1}}, "end": {"streams": [{}]}}', "both directions at once"),
        ('{"start": {"test_start": {"protocol": "UDP"}}, "end": {"streams": [{}]}}', "measured UDP"),
        ('{"event": "error", "data": "busy"}', "iperf3 failed: busy"),
    ],
)
def test_other_json_is_refused_by_its_name(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=said):
        other(written(tmp_path, text))
