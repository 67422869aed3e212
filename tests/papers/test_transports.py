"""The suite of transports: links and rules, quickly, and the same rules for a transport of one's own."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.reproduction import SECONDS, reproduced
from tidegate.transports.suite import LINKS, RULES
from tidegate_papers.transports.claims import senders

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate import Network
    from tidegate._programs.network_step import Step


@pytest.mark.timeout(SECONDS + 100)
def test_the_suite_quickly(tmp_path: Path) -> None:
    result, claims = reproduced("transports", tmp_path / "transports")
    assert [*claims] == [*(rule.id for rule in RULES), "same-cubic"]
    assert "quinn 0.11" in result["tcp"] or any("quinn 0.11" in claim["tcp"] for claim in claims.values())
    # quinn's window of a stream is 1.25 MB: 250 Mbit/s over 40 ms.
    assert claims["fast"]["verdict"] == "partly"


def test_a_quick_run_has_both_transports_but_where_quinn_takes_longest() -> None:
    of = {name: [sender for sender, _ in senders(link).quick] for name, link in LINKS.items()}
    assert of["plain"] == ["QUIC, CUBIC", "TCP, CUBIC", "TCP, BBR"]
    assert of["5g"] == ["TCP, CUBIC", "TCP, BBR"]
    without = {name for name, names in of.items() if "QUIC, CUBIC" not in names}
    assert without == {"kept", "hundred", "tenth", "5g", "satellite", "two-rtts"}
    controllers = {changes.get("quic.cc") for _, changes in senders(LINKS["plain"]).every}
    assert controllers == {None, "cubic", "newreno", "bbr", "tcp"}


def windowed(packets: int) -> Callable[[Network, str], Callable[[Step], None]]:
    """Return a transport that keeps so many packets in flight and repeats none; a timer fills up again."""

    def made(net: Network, flow: str) -> Callable[[Step], None]:
        out = 0

        def fill() -> None:
            nonlocal out
            while out < packets:
                net.send(flow, "sender", bytes(1200))
                out += 1
            net.alarm(flow, "sender", net.now + 0.3)

        def handle(step: Step) -> None:
            nonlocal out
            if step.kind == "packet" and step.end == "receiver":
                net.delivered(flow, len(step.data))
                net.send(flow, "receiver", b"ack")
                return
            if step.kind == "alarm":
                out = 0
            elif step.kind == "packet":
                out -= 1
            if step.kind != "drop":
                fill()

        return handle

    return made


def test_a_transport_of_ones_own_is_judged() -> None:
    enough = tg.transports.judge(windowed(100), links=["plain"], runs=2)
    assert (enough.verdict, enough.status) == ("holds", 0), enough.report()
    little = tg.transports.judge(windowed(20), links=["plain"], runs=2)
    assert (little.verdict, little.status) == ("fails", 1)
    # 20 packets of 1228 bytes in 40 ms are 4.9 of 20 Mbit/s.
    (verdict,) = little.verdicts
    assert verdict.measured.mean == pytest.approx(0.245, abs=0.01)
    assert "fails" in little.report()
    assert little.to_dict()["verdicts"][0]["rule"] == "fills-plain"


def test_a_report_shows_it_beside_the_others(tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    found = tg.transports.judge(windowed(100), links=["plain", "codel"], runs=2, report=page)
    text = page.read_text(encoding="utf-8")
    assert found.report().splitlines()[0].split()[0] in text
    assert all(f">{word}</text>" in text for word in ("plain", "codel", "this transport", "TCP, BBRv3"))
    delay, goodput = found.places["plain"]
    # What the queue cannot hold of the first hundred is lost, and the others just fill the link.
    assert delay.mean == pytest.approx(0, abs=1)
    assert goodput.mean == pytest.approx(19.5e6, rel=0.03)


def test_two_flows_of_ones_own_share_a_link() -> None:
    found = tg.transports.judge(windowed(40), links=["two-rtts"], runs=2)
    assert [each.rule for each in found.verdicts] == ["two-rtts"]


def test_links_are_named() -> None:
    assert {"plain", "policer", "codel", "beside-bbr"} <= tg.transports.links().keys()
    with pytest.raises(tg.errors.UnknownNameError, match="plain"):
        tg.transports.judge(windowed(1), links=["plane"])
    with pytest.raises(tg.errors.ArgumentError, match="runs"):
        tg.transports.judge(windowed(1), runs=0)


def silent(_net: Network, _flow: str) -> Callable[[Step], None]:
    """Return a transport that sends nothing."""
    return lambda _step: None


def test_a_transport_that_sends_nothing_keeps_no_rule() -> None:
    """Every rule can fail; applications are tried when they are named."""
    found = tg.transports.judge(silent, runs=1).verdicts
    assert {*LINKS} - {each.link for each in found} == {"video", "idle"}
    found += tg.transports.judge(silent, links=["video", "idle"], runs=1).verdicts
    assert {each.rule for each in found if each.verdict == "fails"} == {rule.id for rule in RULES}


def test_links_of_templates_are_as_the_templates() -> None:
    folder = Path(tg.__file__).parent
    for name, gate in (("lte", "radio"), ("satellite", "satellite")):
        template = tomllib.loads((folder / "_ask" / "templates" / f"{name}.toml").read_text())
        link = tomllib.loads((folder / "transports" / "scenarios" / f"{name}.toml").read_text())
        theirs, ours = template["gate"][gate], link["gate"]["link"]
        if name == "satellite":
            # With outages, and a delay that varies.
            assert ours.pop("rate")["markov"]["rates"] == [theirs.pop("rate"), "0 bit/s"]
            del ours["jitter"]
        assert ours == theirs
        (flow,) = template["flow"].values()
        assert link["flow"]["one"]["rtt"] == flow["rtt"]
