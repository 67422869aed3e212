"""What limits a flow is the same whether its gates pass packets or cells.

The scenarios are drawn so that the cause is not on a knife's edge: one thing limits clearly. A window is
at most 0.4 of bandwidth times round trip, an application asks for at most 0.4 of the slowest gate, a flow
that a gate shall limit has a window of 2.5 times that product; every other gate is at least 1.5 times as
fast as the slowest, and background traffic stays below a fifth of a gate that is not the slowest. A cell
gate's rate is as much larger as a full segment is in cells, so the links are saturated alike, or not.

Slots stay out of the scenarios with a window: its segments come exactly as far apart as the slowest gate
serves them, and slots shift each by less than a slot, so that some wait so long for the one before. No
scenario with packets has that.
"""

from __future__ import annotations

import random

import pytest
import tidegate as tg

#: A segment of 1460 bytes is a packet of 1500; AAL5 makes 32 cells of 53 bytes of it.
_PACKET = 1500
_IN_CELLS = 32 * 53

_CAUSES = {"window": "receiver window", "application": "application", "gate": "gate.slow"}


def _gate(name: str, rate: float, delay_ms: int, framing: str, kind: str) -> list[str]:
    lines = [f"[gate.{name}]", f'delay = "{delay_ms} ms"']
    if framing == "ip":
        return [*lines, f'rate = "{round(rate)} bit/s"']
    wire = round(rate * _IN_CELLS / _PACKET)
    lines.append('framing = "aal5"')
    if kind == "spacer":
        return [*lines, f'rate.gcra = {{ pcr = "{wire} bit/s", link = "400 Mbit/s" }}']
    return [*lines, f'rate = "{wire} bit/s"', f"slotted = {'true' if kind == 'slotted' else 'false'}"]


def _scenario(number: int, framing: str) -> tuple[str, str]:
    """Return a scenario and what limits its flow."""
    draw = random.Random(number)
    limit = draw.choice(sorted(_CAUSES))
    slow = draw.uniform(4e6, 40e6)
    names = draw.sample(["slow", "before", "after"], draw.randint(1, 3))
    if "slow" not in names:
        names[0] = "slow"
    delays = {name: draw.randint(1, 15) for name in names}
    rates = {name: slow * (1 if name == "slow" else draw.uniform(1.5, 6)) for name in names}
    usual = ["link", "spacer"] if limit == "window" else ["link", "spacer", "slotted"]
    kinds = {name: draw.choice(usual) for name in names}
    back = draw.randint(20, 60)
    round_trip = (sum(delays.values()) + back) / 1e3 + sum(_PACKET * 8 / rate for rate in rates.values())
    product = slow * round_trip / (_PACKET * 8)
    window = {"window": max(2, int(0.4 * product)), "application": 1000, "gate": int(2.5 * product) + 10}[
        limit
    ]
    lines = ['duration = "8 s"', 'warmup = "2 s"', "seed = 1"]
    for name in names:
        lines += _gate(name, rates[name], delays[name], framing, kinds[name])
    lines += ["[flow.f]", f"path = {names}".replace("'", '"'), f'rtt = "{sum(delays.values()) + back} ms"']
    lines += [
        f'tcp.window = "{window} segments"',
        'tcp.mss = "1460 B"',
        f"tcp.delayed_ack = {draw.choice(['true', 'false'])}",
    ]
    if limit == "application":
        rate = draw.uniform(0.05, 0.4) * slow
        lines.append(f'app.constant = {{ rate = "{round(rate)} bit/s", write = "1460 B" }}')
    others = [name for name in names if name != "slow"]
    if others and draw.random() < 0.5:
        crossed = draw.choice(others)
        load = draw.uniform(0.05, 0.2) * rates[crossed]
        lines += ["[traffic.across]", f'path = ["{crossed}"]']
        lines.append(f'source.poisson = {{ rate = "{round(load)} bit/s", packet = "1500 B" }}')
    return "\n".join(lines) + "\n", _CAUSES[limit]


@pytest.mark.parametrize("number", range(60))
def test_packets_and_cells_name_the_same_cause(number: int) -> None:
    """The same cause is the largest, and every share is nearly the same.

    A packet in cells is on its way through a gate for longer, so it meets background traffic more often.
    """
    shares = {}
    for framing in ("ip", "aal5"):
        text, expected = _scenario(number, framing)
        shares[framing] = tg.run(tg.Scenario.from_toml(text)).flows["f"]["limited_by"]
        assert max(shares[framing], key=shares[framing].__getitem__) == expected, (
            framing,
            shares[framing],
            text,
        )
    nearly = 0.2 if "traffic" in text else 0.05
    for cause, share in shares["ip"].items():
        assert shares["aal5"].get(cause, 0.0) == pytest.approx(share, abs=nearly), (cause, shares, text)


@pytest.mark.parametrize(
    ("gate", "flow", "cause"),
    [
        (
            'rate.gcra = { pcr = "33 Mbit/s", link = "150 Mbit/s" }',
            'tcp.window = "4 segments"',
            "receiver window",
        ),
        ('rate = "150 Mbit/s"', 'app.constant = { rate = "1 Mbit/s", write = "1460 B" }', "application"),
        ('rate = "150 Mbit/s"\nslotted = true', 'app.constant = { rate = "1 Mbit/s" }', "application"),
        (
            'rate.gcra = { pcr = "2 Mbit/s", link = "150 Mbit/s", cdvt = "1 ms" }',
            'tcp.window = "2 segments"',
            "receiver window",
        ),
        (
            'rate.token_bucket = { rate = "20 Mbit/s", burst = "530 B" }',
            'tcp.window = "4 segments"',
            "receiver window",
        ),
        (
            'rate.steps = [["0 s", "20 Mbit/s"], ["1 s", "30 Mbit/s"]]',
            'tcp.window = "4 segments"',
            "receiver window",
        ),
        ('rate = "10 Mbit/s"', "", "gate.g"),
    ],
)
def test_a_packet_does_not_wait_for_its_own_cells(gate: str, flow: str, cause: str) -> None:
    """Cell gates that are hardly used limit nobody; of a pair of segments the second may wait."""
    text = f"""
        duration = "5 s"
        warmup = "1 s"
        seed = 1
        [gate.g]
        {gate}
        framing = "aal5"
        delay = "50 ms"
        [flow.f]
        path = ["g"]
        rtt = "100 ms"
        {flow}
    """
    shares = tg.run(tg.Scenario.from_toml(text)).flows["f"]["limited_by"]
    assert shares[cause] > 0.9, shares
