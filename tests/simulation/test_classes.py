"""Classes and schedulers in whole runs: shares, ceilings, credit, time gates, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import tidegate as tg
from tidegate._run.text import run_report

if TYPE_CHECKING:
    from pathlib import Path


def source(rate: str, packet: str = "1000 B", **keys: Any) -> dict[str, Any]:
    return {"path": ["port"], "source": {"poisson": {"rate": rate, "packet": packet}}, **keys}


def scenario(gate: dict[str, Any], **traffic: dict[str, Any]) -> dict[str, Any]:
    """Sources at a gate of 10 Mbit/s, which is too slow for two of 8 Mbit/s."""
    traffic = traffic or {"a": source("8 Mbit/s"), "b": source("8 Mbit/s")}
    return {
        "duration": "10 s",
        "warmup": "1 s",
        "seed": 1,
        "gate": {"port": {"rate": "10 Mbit/s", **gate}},
        "traffic": traffic,
    }


def classes(run: tg.Run) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in run.gates.row("port").summary["classes"]}


def mbit(run: tg.Run) -> dict[str, float]:
    return {name: 8 * row["delivered_bytes"] / 9e6 for name, row in classes(run).items()}


QUEUE = {"queue": "50 packets"}


@pytest.mark.parametrize(
    ("scheduler", "a", "b", "shares"),
    [
        ("strict", {}, {}, [8, 2]),
        ("drr", {"quantum": "3000 B"}, {"quantum": "1000 B"}, [7.5, 2.5]),
        ("wfq", {"weight": 3}, {}, [7.5, 2.5]),
        ("wfq", {"weight": 1}, {"weight": 4}, [2, 8]),
        ("htb", {"htb": "3 Mbit/s"}, {"htb": {"rate": "1 Mbit/s", "ceil": "5 Mbit/s"}}, [3, 5]),
        ("strict", {"cbs": "4 Mbit/s"}, {}, [4, 6]),
    ],
)
def test_shares(scheduler: str, a: dict[str, Any], b: dict[str, Any], shares: list[float]) -> None:
    gate = {
        "scheduler": scheduler,
        "classes": {"one": {"members": ["a"], **QUEUE, **a}, "two": {"members": ["b"], **QUEUE, **b}},
    }
    assert list(mbit(tg.run(scenario(gate))).values()) == pytest.approx(shares, rel=0.04, abs=0.15)


def test_two_levels_of_borrowing() -> None:
    """What the first group does not use goes to its own class before the other group has it."""
    rate = {"rate": "2 Mbit/s", "ceil": "10 Mbit/s"}
    gate = {
        "rate": "100 Mbit/s",
        "scheduler": "htb",
        "classes": {
            "all": {"htb": "10 Mbit/s"},
            "left": {"htb": {"rate": "6 Mbit/s", "ceil": "10 Mbit/s", "parent": "all"}},
            "right": {"htb": {"rate": "4 Mbit/s", "ceil": "10 Mbit/s", "parent": "all"}},
            "idle": {"members": ["quiet"], **QUEUE, "htb": {**rate, "parent": "left"}},
            "busy": {"members": ["a"], **QUEUE, "htb": {**rate, "parent": "left"}},
            "other": {"members": ["b"], **QUEUE, "htb": {**rate, "parent": "right"}},
        },
    }
    traffic = {"quiet": source("500 kbit/s"), "a": source("20 Mbit/s"), "b": source("20 Mbit/s")}
    run = tg.run(scenario(gate, **traffic))
    # 0.5 of the left group's 6 are used by its quiet class.
    assert mbit(run) == pytest.approx({"idle": 0.5, "busy": 5.5, "other": 4}, rel=0.05)
    assert "lends" not in classes(run)


@pytest.mark.parametrize(
    ("home", "rates", "shares"),
    [
        (("4 Mbit/s", "6 Mbit/s"), ("2 Mbit/s", "2 Mbit/s"), [3, 3, 2.5]),
        (("5 Mbit/s", "8 Mbit/s"), ("1 Mbit/s", "3 Mbit/s"), [1.875, 5.625, 2.5]),
    ],
)
def test_a_node_at_its_ceiling_keeps_the_turns_below_it(
    home: tuple[str, str], rates: tuple[str, str], shares: list[float]
) -> None:
    """What sisters borrow is divided by their quanta (a tenth of their rates), though others send between."""

    def below(member: str, rate: str) -> dict[str, Any]:
        return {"members": [member], **QUEUE, "htb": {"rate": rate, "ceil": "10 Mbit/s", "parent": "home"}}

    nodes = {
        "home": {"htb": {"rate": home[0], "ceil": home[1]}},
        "alice": below("a", rates[0]),
        "bob": below("b", rates[1]),
        "rest": {"members": ["c"], **QUEUE, "htb": {"rate": "2 Mbit/s", "ceil": "10 Mbit/s"}},
    }
    traffic = {"a": source("8 Mbit/s"), "b": source("8 Mbit/s"), "c": source("2.5 Mbit/s")}
    found = mbit(tg.run(scenario({"scheduler": "htb", "classes": nodes}, **traffic)))
    assert [found["alice"], found["bob"], found["rest"]] == pytest.approx(shares, rel=0.03)


def test_members_by_copy_by_direction_and_by_codepoint() -> None:
    """The longer name holds, then the shorter, then the codepoint, then the class for the rest."""
    gate = {
        "scheduler": "drr",
        "classes": {
            "acks": {"members": ["bulk/back"]},
            "first": {"members": ["bulk.1"]},
            "bulk": {"members": ["bulk"]},
            "marked": {"dscp": ["EF", 12]},
            "rest": {},
        },
    }
    traffic = {"a": source("1 Mbit/s", dscp="EF"), "b": source("1 Mbit/s", dscp=12), "c": source("1 Mbit/s")}
    flow = {"path": ["port"], "back": ["port"], "count": 3, "app": "bulk", "rtt": "20 ms", "dscp": "EF"}
    plan = {**scenario(gate, **traffic), "flow": {"bulk": flow}}
    text = tg.Scenario.from_dict(plan).explain()
    for line in ["acks: bulk/back", "first: bulk,", "bulk: bulk,", "marked: a, b,", "rest: c,"]:
        assert f"class {line}" in text
    rows = classes(tg.run(plan))
    assert rows["marked"]["delivered_bytes"] == pytest.approx(2e6 / 8 * 9, rel=0.1)
    assert rows["acks"]["offered_packets"] > 1000
    assert rows["bulk"]["delivered_bytes"] > 0.3 * rows["first"]["delivered_bytes"] > 0


def test_books_of_classes_add_up() -> None:
    """Whatever is counted of the classes adds up to what is counted of the gate."""
    codel = {"limit": "unlimited", "aqm": "codel"}
    gate = {
        "scheduler": "drr",
        "loss": 0.01,
        "classes": {"one": {"members": ["a"], "queue": codel}, "rest": {"queue": "20 packets"}},
    }
    run = tg.run(scenario(gate))
    port = run.gates.row("port").summary
    for key in ["offered_packets", "delivered_packets", "delivered_bytes", "dropped_packets"]:
        assert sum(row[key] for row in port["classes"]) == port[key]
    one, rest = port["classes"]
    assert set(one["drops"]) == {"early", "random loss"}
    assert set(rest["drops"]) == {"queue full", "random loss"}
    mean = one["queue_mean_packets"] + rest["queue_mean_packets"]
    assert mean == pytest.approx(port["queue_mean_packets"])
    assert rest["queue_max_packets"] == 20
    assert rest["queue_delay_max_ms"] >= rest["queue_delay_p99_ms"] >= rest["queue_delay_mean_ms"]
    text = run_report(run.summary, "x")
    assert "class of port" in text
    assert "wait mean" in text
    assert run_report(tg.run(scenario({})).summary, "x").count("class of") == 0
    exact = tg.run({**scenario(gate), "exact": True})
    assert exact.to_json() == run.to_json()


def test_the_backlog_of_classes_is_recorded() -> None:
    """The table of classes adds up to the queue of the gate at each instant."""
    gate = {
        "scheduler": "drr",
        "classes": {"one": {"members": ["a"], **QUEUE}, "rest": {"queue": "20 packets"}},
    }
    run = tg.run(scenario(gate), record="10 ms")
    table = run.table("classes")
    assert table.columns[:5] == ["time_s", "gate", "class", "queue_packets", "queue_bytes"]
    whole = table.group_by("time_s").agg(pl.col("queue_packets").sum()).sort("time_s")
    gates = run.table("gates").sort("time_s")
    assert whole["queue_packets"].to_list() == gates["queue_packets"].to_list()
    rest = table.filter(pl.col("class") == "rest")
    assert rest["queue_packets"].max() == 20
    assert not tg.run(scenario({}), record="10 ms").has("classes")


def test_a_guard_band_keeps_the_way_free() -> None:
    """Packets that come at each begin of the cycle never wait; by priority alone they wait for one packet."""
    control = {
        "path": ["port"],
        "source": {"constant": {"rate": "80 kbit/s", "packet": "100 B"}},
    }
    gate = {"classes": {"control": {"members": ["control"]}, "rest": {"queue": "50 packets"}}}
    traffic = {"control": control, "a": source("15 Mbit/s")}
    alone = classes(tg.run(scenario(gate, **traffic)))["control"]["queue_delay_max_ms"]
    assert 0.5 < alone <= 0.8
    states = [["1 ms", ["control"]], ["9 ms", ["rest"]]]
    gates = tg.run(scenario({**gate, "tas": {"states": states}}, **traffic))
    assert classes(gates)["control"]["queue_delay_max_ms"] == 0
    # 9 ms of 10 less what no packet of 0.8 ms fits into: 11 packets of 1000 bytes.
    assert mbit(gates)["rest"] == pytest.approx(8.8, rel=0.01)


def refused(gate: dict[str, Any], *words: str, **keys: Any) -> None:
    plan = scenario(gate)
    plan.update(keys)
    with pytest.raises(tg.errors.ScenarioError) as error:
        tg.Scenario.from_dict(plan)
    text = str(error.value)
    assert all(word in text for word in words), text
    assert text.count("= help:") <= text.count("error: ")


ONE = {"one": {"members": ["a"]}, "rest": {}}


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ({"scheduler": "drr"}, ["scheduler", "no classes"]),
        ({"scheduler": "fifo", "classes": ONE}, ["scheduler", "fifo"]),
        ({"classes": {"one": {"members": ["a"]}}}, ["no class takes the packets of b"]),
        ({"classes": {"one": {}, "two": {}}}, ["neither members nor dscp"]),
        ({"classes": {"one": {"members": ["ab"]}, "rest": {}}}, ["members", '"ab"', "no flow or traffic"]),
        ({"classes": {"one": {"members": ["a/back"]}, "rest": {}}}, ["nothing comes back"]),
        ({"classes": {"one": {"members": ["a"]}, "two": {"members": ["a"]}, "rest": {}}}, ["in two classes"]),
        ({"classes": {"one": {"dscp": ["EF"]}, "two": {"dscp": [46]}, "rest": {}}}, ["in two classes"]),
        ({"classes": {"one": {"dscp": ["XX"]}, "rest": {}}}, ["dscp", "XX"]),
        ({"classes": {"one": {"dscp": [64]}, "rest": {}}}, ["dscp", "63"]),
        ({"classes": {"one": {"members": ["a"], "quantum": "1 kB"}, "rest": {}}}, ["quantum", "drr"]),
        ({"classes": {"one": {"members": ["a"], "weight": 2}, "rest": {}}}, ["weight", "wfq"]),
        ({"classes": {"one": {"members": ["a"], "htb": "1 Mbit/s"}, "rest": {}}}, ["htb", "strict"]),
        ({"scheduler": "wfq", "classes": {"one": {"members": ["a"], "weight": 0}, "rest": {}}}, ["weight"]),
        ({"scheduler": "wfq", "rate": "unlimited", "classes": ONE}, ["constant rate"]),
        ({"scheduler": "htb", "classes": ONE}, ["every class needs a rate"]),
        (
            {"classes": {"one": {"members": ["a"], "cbs": "10 Mbit/s"}, "rest": {}}},
            ["cbs", "not less"],
        ),
        (
            {"classes": {"one": {"members": ["a"], "cbs": "6 Mbit/s"}, "rest": {"cbs": "6 Mbit/s"}}},
            ["cbs", "12 Mbit/s"],
        ),
        (
            {"rate": "unlimited", "classes": {"one": {"members": ["a"], "cbs": "1 Mbit/s"}, "rest": {}}},
            ["cbs", "constant rate"],
        ),
        ({"classes": ONE, "queue": {"aqm": "codel"}}, ["queue.aqm", "by class"]),
        ({"classes": ONE, "framing": "aal5", "slotted": True}, ["slot", "random order"]),
        ({"classes": {"one": {"members": ["a"], "queue": "9 cells"}, "rest": {}}}, ["cells"]),
        ({"classes": ONE, "tas": {"states": [["1 ms", ["rest"]]]}}, ["one may never send"]),
        ({"classes": ONE, "tas": {"states": [["1 ms", ["two"]]]}}, ['"two"']),
        ({"classes": ONE, "tas": {"states": []}}, ["states", "empty"]),
        ({"classes": ONE, "tas": {"states": [["2 h", ["one", "rest"]]]}}, ["cycle"]),
        (
            {"scheduler": "drr", "classes": ONE, "tas": {"states": [["1 ms", ["one", "rest"]]]}},
            ["tas", "strict"],
        ),
        (
            {
                "classes": {"one": {"members": ["a"], "queue": {"aqm": "codel"}}, "rest": {}},
                "tas": {"states": [["1 ms", ["one"]], ["1 ms", ["rest"]]]},
            },
            ["aqm", "arrives"],
        ),
        ({"tas": {"states": [["1 ms", ["one"]]]}}, ["tas", "no classes"]),
    ],
)
def test_bad_values_have_one_clear_error(gate: dict[str, Any], words: list[str]) -> None:
    refused(gate, *words)


def tree(**changes: dict[str, Any]) -> dict[str, Any]:
    nodes: dict[str, dict[str, Any]] = {
        "top": {"htb": "8 Mbit/s"},
        "one": {"members": ["a"], "htb": {"rate": "1 Mbit/s", "ceil": "8 Mbit/s", "parent": "top"}},
        "rest": {"htb": {"rate": "1 Mbit/s", "parent": "top"}},
    }
    return {"scheduler": "htb", "classes": {**nodes, **changes}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"top": {"htb": "8 Mbit/s", "queue": "5 packets"}}, ["queue", "no packets of its own"]),
        ({"top": {"htb": {"rate": "8 Mbit/s", "ceil": "7 Mbit/s"}}}, ["ceil", "less than its rate"]),
        ({"top": {"htb": {"rate": "8 Mbit/s", "parent": "nobody"}}}, ["parent", '"nobody"']),
        ({"top": {"htb": {"rate": "8 Mbit/s", "parent": "top"}}}, ["parent", "circle"]),
    ],
)
def test_bad_trees(changes: dict[str, Any], words: list[str]) -> None:
    refused(tree(**changes), *words)


def test_token_buckets_do_not_wait_for_delivery_opportunities(tmp_path: Path) -> None:
    """A trace of opportunities would make packets wait for two things; a trace of rates does not."""
    opportunities = tmp_path / "lte.mahi"
    opportunities.write_text("0\n1\n1\n4\n", encoding="utf-8")
    refused(
        tree() | {"rate": {"trace": str(opportunities)}}, "gate.port.scheduler", "htb", "opportunities", "drr"
    )
    rates = tmp_path / "rates.csv"
    rates.write_text("time_s,rate_bps\n0,20000000\n5,2000000\n", encoding="utf-8")
    run = tg.run(scenario(tree() | {"rate": {"trace": str(rates)}}))
    # Four seconds of the 8 Mbit/s that the top lends, of which the rest has 1 of its own; then 5 s of 2.
    assert sum(mbit(run).values()) == pytest.approx((4 * 8 + 5 * 2) / 9, rel=0.05)
