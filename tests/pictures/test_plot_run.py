"""Pictures of runs, comparisons and engines, read back from their artists."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import tidegate as tg
from support.common import EXAMPLES, tidegate
from support.figures import BASE, FLOW, LINK, panel, texts, titles
from tidegate._compare import engines_plot as _plot_engines
from tidegate._run import plot as _plot
from tidegate._run.history import history
from tidegate._run.text import flows_table
from tidegate._run.view import run_view

if TYPE_CHECKING:
    from pathlib import Path

ONE = {**BASE, "gate": {"link": LINK}, "flow": {"bulk": FLOW}}


def run(document: dict[str, Any], **options: Any) -> tg.Run:
    return tg.run(document, record="10 ms", **options)


def test_delays_are_in_milliseconds_and_those_that_packets_had() -> None:
    found = run(ONE)
    axes = panel(found.plot(), "Delay: round trip in TCP and one way")
    assert axes.get_ylabel() == "ms"
    delays = found.flows["bulk"].series("delay").drop_nulls()
    # One way: 10 ms of delay, 2 ms and less of service for each packet that waits, 15 at most.
    assert delays["one_way_ms"].min() >= 10
    assert delays["one_way_ms"].max() <= 10 + 17 * 2.0
    assert (delays["rtt_ms"] >= delays["one_way_ms"].min() + 30).all()
    settled = delays.filter(pl.col("time_s") > 1)
    assert settled["rtt_ms"].quantile(0.5) == pytest.approx(found.flows["bulk"]["rtt_p50_ms"], rel=0.15)
    drawn = max(float(np.nanmax(line.get_ydata())) for line in axes.get_lines())
    assert drawn == delays["rtt_ms"].max()


def test_a_delay_of_long_ago_is_not_drawn() -> None:
    document = {**ONE, "flow": {"file": {**FLOW, "app": {"transfer": "200 kB"}}}}
    data = history(run(document), None)
    done = run(document).flows["file"]["completion_s"]
    late = data.time["file"] > done + 0.5
    assert late.any()
    assert np.isnan(data.rtt["file"][late]).all()
    assert np.isnan(data.one_way["file"][late]).all()
    assert not np.isnan(data.one_way["file"][data.time["file"] > 0.2][0])


def test_the_limit_of_the_queue_is_drawn() -> None:
    axes = panel(run(ONE).plot(), "Queue")
    assert any(set(line.get_ydata()) == {15.0} for line in axes.get_lines())
    assert any(text.get_text() == "limit 15" for text in axes.texts)
    in_bytes = {**ONE, "gate": {"link": {**LINK, "queue": "30 kB"}}}
    axes = panel(run(in_bytes).plot(), "Queue")
    assert axes.get_ylabel() == "kB"
    assert any(set(line.get_ydata()) == {30.0} for line in axes.get_lines())


def test_headline_and_panel_name_the_gate_and_whose_goodput_it_is() -> None:
    other = {"near": FLOW, "far": {"path": ["slow"], "rtt": "60 ms"}}
    found = run({**BASE, "gate": {"link": LINK, "slow": {**LINK, "rate": "1 Mbit/s"}}, "flow": other})
    figure = found.plot(gate="slow")
    text = texts(figure)
    assert "Gate slow: " in text
    assert "Both flows: goodput" in text
    assert "passed by 1 of the 2 flows, goodput" in text
    axes = panel(figure, "Goodput of far; rate in force at gate slow")
    assert axes.get_ylim()[1] < 2, "the other gate's 6 Mbit/s are not here"


def test_drops_of_every_gate_on_the_path_are_marked() -> None:
    gates = {"first": LINK, "second": {"rate": "5 Mbit/s", "queue": "4 packets", "delay": "5 ms"}}
    found = run({**BASE, "gate": gates, "flow": {"bulk": {"path": ["first", "second"], "rtt": "40 ms"}}})
    data = history(found, "first")
    assert len(data.drops["second"]) == found.gates["second"].drops().height > 0
    assert len(data.all_drops) == found.drops.height
    assert f"{found.drops.height} drops" in texts(found.plot(gate="first"))


def test_a_gate_that_no_data_passes_shows_what_it_carries() -> None:
    gates = {"link": LINK, "up": {"rate": "1 Mbit/s", "queue": "50 packets", "delay": "1 ms"}}
    found = run({**BASE, "gate": gates, "flow": {"bulk": {**FLOW, "back": ["up"], "rtt": "40 ms"}}})
    data = history(found, "up")
    assert data.through == []
    assert "No flow's data passes the gate" in "".join(titles(found.plot(gate="up")))


def test_flows_are_compared_by_bars_and_fairness() -> None:
    figure = run({**BASE, "gate": {"link": LINK}, "flow": {"user": {**FLOW, "count": 3}}}).plot()
    axes = panel(figure, "Goodput of each flow (Jain's fairness index")
    assert len(axes.patches) == 3
    assert [label.get_text() for label in axes.get_xticklabels()] == ["user.1", "user.2", "user.3"]
    transfers = {"user": {**FLOW, "count": 2, "app": {"transfer": "100 kB"}}}
    figure = run({**BASE, "gate": {"link": LINK}, "flow": transfers}).plot()
    assert panel(figure, "Time until each transfer was done")
    assert "all transfers done, the slowest after" in texts(figure)


def test_a_policer_sets_the_scale_and_not_the_wire() -> None:
    policed = {"rate": "1 Gbit/s", "police": {"pcr": "20 Mbit/s", "burst": "50 kB"}}
    axes = panel(
        run({**ONE, "gate": {"link": policed}, "flow": {"bulk": {**FLOW, "tcp": {"base": "rfc"}}}}).plot(),
        "contract at gate link (dashed)",
    )
    assert axes.get_ylim()[1] == pytest.approx(25, rel=0.05)
    assert any(set(line.get_ydata()) == {20.0} for line in axes.get_lines())
    assert any("20.0 Mbit/s" in text.get_text() for text in axes.texts)


def test_a_bucket_sets_the_scale_and_not_the_spikes() -> None:
    bucket = {"rate": {"token_bucket": {"rate": "8 Mbit/s", "burst": "100 kB"}}, "queue": "67 packets"}
    data = history(run({**ONE, "gate": {"link": bucket}}), None)
    assert 8e6 <= data.top_bps <= 13e6
    assert data.bucket["rate_bps"] == 8e6
    assert data.bucket["burst_bytes"] == 100_000


def test_the_level_of_a_bucket_is_drawn_where_it_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = {"rate": {"token_bucket": {"rate": "8 Mbit/s", "burst": "100 kB"}}, "queue": "67 packets"}
    found = run({**ONE, "gate": {"link": bucket}})
    data = history(found, None)
    level = 50_000 + 40_000 * np.sin(data.gate_time)
    monkeypatch.setattr(_plot, "history", lambda *_: replace(data, tokens=level))
    axes = panel(found.plot(), "Bucket at gate link")
    assert axes.get_ylabel() == "kB"
    assert any(set(line.get_ydata()) == {100.0} for line in axes.get_lines()), "the full bucket"
    assert any(line.get_ydata().max() == pytest.approx(level.max() / 1e3) for line in axes.get_lines())
    assert titles(found.plot(show=["tokens"]))[0].startswith("Bucket")


def test_panels_are_chosen(tmp_path: Path) -> None:
    found = run(ONE)
    assert titles(found.plot(show=["queue", "delay"])) == [
        "Delay: round trip in TCP and one way", "Queue at gate link", "",
    ]  # fmt: skip
    with pytest.raises(tg.errors.UnknownNameError, match='no panel is called "dealy"'):
        found.plot(show=["dealy"])
    with pytest.raises(tg.errors.ArgumentError, match="nothing to draw"):
        found.plot(show=["responses"])
    done = tidegate("run", EXAMPLES / "lte.toml", "--show", "delay", "--set", "duration=3 s", cwd=tmp_path)
    assert done.returncode == 2
    assert "--show needs --plot FILE" in done.stderr


def test_variants_are_labelled_by_key_and_value_and_show_what_is_asked() -> None:
    vary = {"flow.bulk.tcp.cc": ["reno", "cubic"], "gate.link.queue": ["5 packets", "20 packets"]}
    both = tg.compare(ONE, vary=vary)
    figure = both.plot()
    text = texts(figure)
    for words in ("cc=reno\nqueue=5 packets", "queueing delay, loss and use: gate link", "Used\n%"):
        assert words in text
    heads = [title for title in titles(figure) if title]
    assert any(title.startswith("Goodput (line)") for title in heads)
    assert any(title.startswith("Round trip in TCP (blue)") for title in heads)
    assert any(title.startswith("Queue and limit, packets") for title in heads)
    windows = both.plot(show=["cwnd"])
    assert [title for title in titles(windows) if "window" in title] == [
        "Congestion window of each flow, segments"
    ]
    with pytest.raises(tg.errors.ArgumentError, match="nothing to draw"):
        both.plot(show=["tokens"])


def test_many_variants_stay_readable_and_say_what_is_left_out() -> None:
    document = {**ONE, "duration": "1 s", "warmup": "0 s"}
    many = tg.compare(document, vary={"seed": list(range(1, 17))})
    figure = many.plot()
    assert "no histories: more than 12 variants" in " ".join(texts(figure).split())
    figure.canvas.draw()
    labels = [text for text in figure.texts if text.get_text().startswith("seed=")]
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.y0)
    assert len(boxes) == 16
    assert all(low.y1 <= high.y0 for low, high in itertools.pairwise(boxes))
    numbers = [text.get_window_extent() for text in figure.axes[0].texts]
    head = figure.axes[0]._left_title.get_window_extent()
    assert not any(box.overlaps(head) for box in numbers)
    assert figure.get_figheight() < 9


def test_a_comparison_shows_bars_of_its_flows_and_fairness() -> None:
    document = {**BASE, "gate": {"link": LINK}, "flow": {"a": FLOW, "b": {**FLOW, "rtt": "80 ms"}}}
    text = texts(tg.compare(document, vary={"gate.link.queue": ["5 packets", "20 packets"]}).plot())
    assert "Goodput\nof each flow" in text
    assert "Fairness\nJain" in text


def test_the_picture_of_engines_says_what_the_table_says() -> None:
    both = tg.compare_engines(
        EXAMPLES / "window.toml", engines=["theory", "sim"], changes={"duration": "8 s"}
    )
    figure = both.plot()
    text = " ".join(texts(figure).split())
    assert "5% of sim or, where that is less, the least difference that counts" in text
    by_title = {title: axes for axes, title in zip(figure.axes, titles(figure), strict=True)}
    timeouts = by_title["✓  time-outs"]
    low, high = timeouts.get_xlim()
    assert low == 0 <= high
    assert all(tick == round(tick) for tick in timeouts.get_xticks())
    assert not any("…" in title for title in by_title)
    (row,) = (row for row in both.rows if row.quantity.name == "time-outs")
    assert row.differences["theory"].allowed == row.quantity.floor
    assert _plot_engines._SIGNS[row.differences["theory"].verdict] == "✓"


def test_many_flows_of_which_none_has_begun_are_drawn_without_a_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    flow = {**FLOW, "count": 6, "start": "500 ms"}
    tg.run({**ONE, "duration": "2 s", "flow": {"bulk": flow}}, record="events").plot()
    assert not [each for each in recwarn if issubclass(each.category, RuntimeWarning)]


def test_each_path_has_a_line_and_a_column_where_they_differ() -> None:
    """The round trip of TCP has waits and delayed ACKs; what the path takes alone stands beside it."""
    near_and_far = tg.run(EXAMPLES / "round-trip-times.toml", seed=1, changes={"duration": "12 s"})
    paths = [row["rtt_path_ms"] for row in near_and_far.summary["flows"]]
    axes = panel(near_and_far.plot(), "Delay")
    assert "idle paths (dashed)" in axes.get_title(loc="left")
    level = [line.get_ydata()[0] for line in axes.lines if len(line.get_ydata()) == 2]
    assert level == paths
    head = flows_table(near_and_far.summary).head
    assert list(zip(*head, strict=True))[6] == ("path", "ms")
    one = tg.run(EXAMPLES / "crossing-traffic.toml", seed=1, changes={"duration": "6 s"})
    assert "path" not in flows_table(one.summary).head[0]
    assert "while nothing waits the path takes 40.6 ms" in " ".join(one.report().split())
    assert "path, idle" in [text.get_text() for text in panel(one.plot(), "Delay").texts]
    view = near_and_far_view(near_and_far)
    assert [name for name in view if name.startswith("path")] == ["path, idle: near", "path, idle: far"]


def near_and_far_view(run: tg.Run) -> list[str]:
    """Return the names of the lines that a report's chart of delays has."""
    view = run_view(run)
    assert view is not None
    return [line["name"] for each in view.panels if each["id"] == "delay" for line in each["lines"]]
