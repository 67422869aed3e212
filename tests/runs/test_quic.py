"""QUIC in a scenario, from Python and from the command line."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import tidegate as tg
from support.common import tidegate

if TYPE_CHECKING:
    from pathlib import Path

LINK: dict[str, Any] = {
    "duration": "4 s",
    "seed": 3,
    "gate": {"link": {"rate": "10 Mbit/s", "queue": "50 packets"}},
    "flow": {
        "quic": {"path": ["link"], "rtt": "40 ms", "transport": "quic"},
        "tcp": {"path": ["link"], "rtt": "40 ms"},
    },
}


def events(file: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON-SEQ (RFC 7464)."""
    return [json.loads(text) for text in file.read_text().split("\x1e") if text]


def test_both_transports_stand_in_one_result() -> None:
    run = tg.run(LINK)
    quic, tcp = run.flows["quic"], run.flows["tcp"]
    assert (quic["cc"], quic["tcp"]) == ("cubic", "cubic, quinn 0.11")
    assert tcp["tcp"] == "cubic, linux-6.18"
    assert quic["goodput_bps"] + tcp["goodput_bps"] < 10e6
    rows = run.table("flows").filter(pl.col("flow") == "quic")
    for column in ("cwnd_segments", "in_flight_segments", "srtt_ms", "held_by"):
        assert rows[column].is_not_null().any(), column


def test_logs_and_results_come_again(tmp_path: Path) -> None:
    one = tg.run(LINK, qlog=tmp_path / "one", record="10 ms")
    other = tg.run(LINK, qlog=tmp_path / "other", record="10 ms", threads=2)
    assert one.summary == other.summary
    assert one.table("flows").equals(other.table("flows"))
    for end in ("sender", "receiver"):
        name = f"quic-{end}.sqlog"
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    assert one.summary == tg.run(LINK, record="10 ms").summary


def test_a_log_says_what_the_summary_says(tmp_path: Path) -> None:
    run = tg.run(LINK, qlog=tmp_path / "logs")
    head, *records = events(tmp_path / "logs" / "quic-sender.sqlog")
    assert head["qlog_format"] == "JSON-SEQ"
    times = [record["time"] for record in records]
    assert times == sorted(times)
    assert times[-1] <= 4000
    lost = sum("packet_lost" in record["name"] for record in records)
    # What was lost is sent again, some of it together with new bytes.
    assert 0 < run.flows["quic"]["segments_retransmitted"] <= lost


def test_packets_have_their_lengths_in_a_capture(tmp_path: Path) -> None:
    run = tg.run(LINK, pcap=tmp_path / "quic.pcap", record="summary")
    assert run.warnings == tg.run(LINK, record="summary").warnings


def test_no_more_is_sent_again_than_is_sent() -> None:
    """Most packets that are lost here have no user bytes: those of the handshake, and probes."""
    link = {"rate": "10 Mbit/s", "loss": 0.6, "queue": "100 packets"}
    flow = {"path": ["l"], "rtt": "40 ms", "transport": "quic", "app": {"transfer": "1448 B"}}
    run = tg.run({"duration": "30 s", "gate": {"l": link}, "flow": {"a": flow}}, seed=3)
    row = run.flows["a"]
    assert run.gates["l"]["dropped_packets"] > row["segments_sent"] > row["segments_retransmitted"]
    assert row["dropped_packets"] <= row["segments_sent"]


def test_the_window_is_averaged_where_it_is_known() -> None:
    """Before its handshake a connection of QUIC tells no window."""
    app = {"request": {"response": "200 kB", "think": "1 s"}}
    flow = {"path": ["l"], "rtt": "1 s", "transport": "quic", "app": app}
    scenario = {"duration": "5 s", "gate": {"l": {"rate": "10 Mbit/s"}}, "flow": {"a": flow}}
    run = tg.run(scenario, seed=1, record="1 ms")
    recorded = run.table("flows")["cwnd_segments"]
    assert recorded.null_count() > 500
    assert run.flows["a"]["cwnd_mean_segments"] == pytest.approx(recorded.mean(), rel=0.01)


def test_a_folder_of_a_run_holds_the_logs(tmp_path: Path) -> None:
    file = tmp_path / "quic.json"
    file.write_text(json.dumps(LINK))
    done = tidegate("run", file, "--out", tmp_path / "out", "--qlog")
    assert done.returncode == 0, done.stderr
    opened = tg.open(tmp_path / "out")
    assert opened.qlog is not None
    assert sorted(path.name for path in opened.qlog.iterdir()) == [
        "quic-receiver.sqlog",
        "quic-sender.sqlog",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["flow.quic.transport=tcp"], "nothing to log"),
        (
            [f"flow.quic.app.request.{key}" for key in ("response=1 kB", "think=1 s", "connection=new")],
            "share a connection",
        ),
        (["flow.quic.quic.datagrams=true"], "needs streams"),
        (["flow.quic.quic.cc=tcp", "flow.quic.tcp.cc=prague"], "how much was marked"),
        (["flow.quic.quic.mtu=1000 B"], "1228 B at least"),
        (["flow.quic.app.read=1 Mbit/s"], "reads at once"),
    ],
)
def test_what_cannot_be_is_said(changes: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises((tg.errors.ScenarioError, ValueError), match=words):
        tg.run(LINK, changes=changes, qlog=tmp_path / "logs")
    assert not (tmp_path / "logs").exists()


def test_other_engines_say_that_they_have_none() -> None:
    with pytest.raises(tg.errors.EngineError, match="the kernel's TCP"):
        tg.run(LINK, engine="live")
    alone = {**LINK, "flow": {"quic": LINK["flow"]["quic"]}}
    with pytest.raises(tg.errors.EngineError, match="not of TCP"):
        tg.run(alone, engine="theory")


def changed(**keys: Any) -> tg.Run:
    """Run the flow over QUIC alone, with these keys."""
    flow = {**LINK["flow"]["quic"], **keys}
    return tg.run({**LINK, "flow": {"quic": flow}})


def test_a_class_of_ones_own_runs_over_quic(tmp_path: Path) -> None:
    code = """
        import tidegate as tg
        class Half(tg.CongestionControl):
            def on_ack(self, ack):
                self.window_bytes = 20 * self.mss_bytes
            def on_loss(self, loss):
                pass
    """
    (tmp_path / "half.py").write_text(textwrap.dedent(code))
    run = changed(tcp={"cc": f"python:{tmp_path / 'half.py'}:Half"}, quic={"cc": "tcp"})
    # Twenty packets of 1,452 B in a round trip of 41.2 ms, or a little less with delayed ACKs.
    most = 20 * 1452 * 8 / 0.0412
    assert 0.85 * most < run.flows["quic"]["goodput_bps"] < most
    assert run.flows["quic"]["cwnd_max_segments"] == pytest.approx(20, rel=1e-3)


def test_a_class_that_asks_for_no_window_sends_packet_by_packet(tmp_path: Path) -> None:
    code = """
        import tidegate as tg
        class Nothing(tg.CongestionControl):
            def on_ack(self, ack):
                self.window_bytes = 0
            def on_loss(self, loss):
                pass
    """
    (tmp_path / "none.py").write_text(textwrap.dedent(code))
    run = changed(tcp={"cc": f"python:{tmp_path / 'none.py'}:Nothing"}, quic={"cc": "tcp"})
    # A packet in a round trip of 41.2 ms and the 25 ms by which its ACK is late.
    packets = run.flows["quic"]["goodput_bps"] * 0.0662 / (1452 * 8)
    assert 0.85 < packets < 1
    assert run.flows["quic"]["timeouts"] == 0


def test_requests_have_a_stream_each() -> None:
    run = changed(app={"request": {"response": "30 kB", "think": "100 ms"}})
    row = run.requests["quic"]
    assert row["finished"] > 15
    # A round trip of 40 ms, and 30 kB at 10 Mbit/s.
    assert 0.064 < row["response_p50_s"] < 0.075


def test_time_outs_are_counted() -> None:
    gate = {"rate": {"steps": [["0 s", "10 Mbit/s"], ["2 s", "0 bit/s"], ["3 s", "10 Mbit/s"]]}}
    run = tg.run({**LINK, "gate": {"link": {**LINK["gate"]["link"], **gate}}})
    assert 1 <= run.flows["quic"]["timeouts"] <= 6
