"""Random scenarios from a number: gates of every law, flows of every kind, crossing traffic.

``python -m support.random_scenarios FIRST COUNT`` in ``tests`` prints so many as a JSON list of texts. It
needs nothing but Python itself: the tests of Rust read it too.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from support import random_flows as flows
from support import random_queues
from support.random_flows import EXAMPLES


def _rate(draw: random.Random) -> list[str]:
    """A rate law, as lines of a gate's table; none: unlimited."""
    mbit = f"{draw.choice([1, 2, 5, 7.3, 10, 33])} Mbit/s"
    slow = f"{draw.choice([400, 900, 1500])} kbit/s"
    cellular = Path(EXAMPLES / "cellular.csv").as_posix()
    return draw.choice(
        [
            [],
            [f'rate = "{mbit}"'],
            [f'rate = "{mbit}"'],
            [f'rate = "{draw.choice([150, 400, 1111])} packets/s"'],
            [
                f'rate.steps = [["0 s", "{mbit}"], ["700 ms", "{slow}"], ["1.3 s", "{mbit}"]]',
                f'on_change = "{draw.choice(["keep", "rescale"])}"',
            ],
            [
                f'rate.steps.points = [["0 s", "{mbit}"], ["90 ms", "0 bit/s"], ["150 ms", "{slow}"]]',
                'rate.steps.repeat = "210 ms"',
            ],
            [f'rate.token_bucket = {{ rate = "{mbit}", burst = "{draw.choice([3, 30, 200])} kB" }}'],
            [f'rate.token_bucket = {{ rate = "{slow}", burst = "15 kB", peak = "40 Mbit/s" }}'],
            [
                f'rate.markov.rates = ["{mbit}", "{slow}", "0 bit/s"]',
                'rate.markov.mean_holding = ["400 ms", "200 ms", "30 ms"]',
                *draw.choice([[], ['rate.markov.step = "10 ms"']]),
            ],
            [f'rate.trace = "{cellular}"'],
            [
                f'rate.dtm.slot = "{draw.choice([64, 512])} kbit/s"',
                f'rate.dtm.initial = "{mbit}"',
                f'rate.dtm.measure = "{draw.choice([20, 50])} ms"',
                f'rate.dtm.update = "{draw.choice([100, 300])} ms"',
                f'rate.dtm.rounding = "{draw.choice(["exact", "up"])}"',
                f'rate.dtm.on_loss = "{draw.choice(["nothing", "hold tick", "hold second", "hold link"])}"',
                f'rate.dtm.estimator = "{draw.choice(["channel", "flow"])}"',
                f'on_change = "{draw.choice(["keep", "rescale"])}"',
                *draw.choice([[], ['rate.dtm.pool = "ring"']]),
            ],
        ]
    )


def _follow(draw: random.Random) -> list[str]:
    """A rate fed back; the gate "capacity" is there for it and passes nothing."""
    effcap = draw.choice(["m = 1, n = 1", "m = 3, n = 7"])
    return [
        'rate.follow.gate = "capacity"',
        f'rate.follow.every = "{draw.choice([10, 30])} ms"',
        f'rate.follow.lag = "{draw.choice([0, 10, 77])} ms"',
        f"rate.follow.effcap = {{ {effcap} }}",
        f"rate.follow.share = {draw.choice([0.2, 0.5, 1])}",
        *draw.choice([[], ['rate.follow.initial = "1 Mbit/s"'], ['rate.follow.min = "300 kbit/s"']]),
        *draw.choice([[], ['rate.follow.peak = "5 Mbit/s"']]),
    ]


def _gate(draw: random.Random, name: str) -> list[str]:
    follow = draw.random() < 0.15
    lines = [f"[gate.{name}]", *(_follow(draw) if follow else _rate(draw))]
    if follow:
        lines.append(f'on_change = "{draw.choice(["keep", "rescale"])}"')
    lines.append(
        f'queue.limit = "{draw.choice(["4 packets", "20 packets", "100 packets", "30 kB", "unlimited"])}"'
    )
    lines.append(f'queue.counts = "{draw.choice(["waiting", "all"])}"')
    lines.append(f'delay = "{draw.choice(["0 s", "1 ms", "10 ms", "12.345678 ms"])}"')
    lines += draw.choice(
        [
            [],
            [],
            ["loss = 0.01"],
            ["loss.gilbert_elliott = { good_to_bad = 0.005, bad_to_good = 0.3, loss_bad = 0.9 }"],
        ]
    )
    lines += draw.choice([[], ['framing = { overhead = "38 B", minimum = "84 B" }']])
    lines += draw.choice([[], [], ["duplex = true"], ['per = "flow"'], ["host = true"]])
    return lines


def _cell_gate(draw: random.Random, name: str) -> list[str]:
    """A gate of cells; one in a scenario, because several might lie on a circle."""
    mbit = f"{draw.choice([2, 7.3, 33])} Mbit/s"
    law = draw.choice(
        [
            [f'rate = "{mbit}"'],
            [f'rate = "{mbit}"', "slotted = true"],
            [f'rate.gcra = {{ pcr = "{mbit}", link = "40 Mbit/s", cdvt = "{draw.choice([0, 200])} us" }}'],
            [f'rate.steps = [["0 s", "{mbit}"], ["700 ms", "900 kbit/s"], ["1.3 s", "{mbit}"]]'],
            _follow(draw),
        ]
    )
    lines = [f"[gate.{name}]", *law]
    lines.append(draw.choice(['framing = "aal5"', "framing.aal5.llc = true"]))
    lines.append(f'queue.limit = "{draw.choice(["60 cells", "600 cells", "unlimited"])}"')
    lines += draw.choice([[], [], ["queue.ppd = true"], ['queue.epd = "40 cells"']])
    lines += draw.choice([[], ['reassembly = "simple"']])
    lines.append(f'delay = "{draw.choice(["0 s", "10 ms"])}"')
    lines += draw.choice([[], [], ["duplex = true"], ['per = "flow"'], ["host = true"]])
    return lines


def _abr(draw: random.Random) -> list[str]:
    """Sources and a switch of their own, for two flows and what crosses."""
    framing = draw.choice([[], ['framing = "aal5"']])
    return [
        "[gate.source]",
        'per = "flow"',
        "host = true",
        *framing,
        'rate.abr.gate = "switch"',
        f'rate.abr.pcr = "{draw.choice([3, 9])} Mbit/s"',
        f"rate.abr.rif = {draw.choice([0.01, 1])}",
        *draw.choice([[], ['rate.abr.icr = "1 Mbit/s"'], ['rate.abr.trm = "17 ms"']]),
        "[gate.switch]",
        *framing,
        draw.choice(['rate = "5 Mbit/s"', 'rate.steps = [["0 s", "7 Mbit/s"], ["900 ms", "2 Mbit/s"]]']),
        'delay = "5 ms"',
        f'abr.every = "{draw.choice([5, 23])} ms"',
        f'abr.tells = "{draw.choice(["rate", "rate", "bit"])}"',
        "[flow.a]",
        'path = ["source", "switch"]',
        'rtt = "30 ms"',
        *flows.tcp(draw, window=True),
        "[flow.b]",
        'path = ["source", "switch"]',
        'rtt = "77 ms"',
        "count = 2",
        *flows.tcp(draw, window=True),
        "[traffic.across]",
        'path = ["switch"]',
        'source.poisson = { rate = "600 kbit/s" }',
    ]


def _advising(draw: random.Random, gate: list[str]) -> list[str]:
    """Return the lines of a gate of packets, in one of six with advice for the flows that pass it."""
    if draw.random() >= 0.17:
        return gate
    shares = draw.choice(["", ', share = "80%"', ', among = "flows", present = "300 ms"'])
    advice = [f'advice = {{ rate = "{draw.choice([300, 900, 3000])} kbit/s"{shares} }}']
    if any(line.startswith(("rate.steps", "rate.markov")) for line in gate):
        advice += ['advice = "law"', 'advice.effcap = { every = "200 ms", m = 2, n = 3 }']
    return [*gate, draw.choice(advice)]


def _traffic(draw: random.Random, name: str, gates: dict[str, bool]) -> list[str]:
    path = draw.sample(sorted(gates), draw.randint(1, len(gates)))
    source = draw.choice(
        [
            'constant = { rate = "500 kbit/s", packet = "700 B" }',
            'poisson = { rate = "800 kbit/s" }',
            'on_off = { rate = "2 Mbit/s", on = { exponential = "90 ms" }, off = "200 ms" }',
        ]
    )
    return [f"[traffic.{name}]", f"path = {path}".replace("'", '"'), f"source.{source}"]


def _circuit(draw: random.Random, gate: list[str]) -> list[str]:
    """A packet gate as a circuit; one in a scenario, because flows must share all of theirs or none."""
    kept = [line for line in gate if not line.startswith(("rate", "on_change"))]
    laws = [
        'rate.reserve.pool = "vp"',
        f'rate.reserve.rate = "{draw.choice([2, 7.3])} Mbit/s"',
        f'rate.reserve.hold = "{draw.choice(["0 s", "40 ms", "forever"])}"',
        f'rate.reserve.setup = "{draw.choice(["0 s", "3 ms"])}"',
        f'rate.reserve.blocked = "{draw.choice(["wait", "refuse"])}"',
    ]
    if laws[-1].endswith('"refuse"') and draw.random() < 0.5:
        laws.append('rate.reserve.retry = "70 ms"')
    return [*kept, *laws]


#: A policer of cells, for the gate whose table comes last.
POLICE = 'police = { pcr = "3 Mbit/s", cdvt = "2 ms", scr = "2 Mbit/s", mbs = "90 cells" }'


def _jitter(draw: random.Random) -> list[str]:
    laws = ['jitter = "3 ms"', 'jitter.exponential = "300 us"', 'jitter.wakeup = "1 ms"']
    return draw.choice([[], [], [], *([law] for law in laws)])


def _calls(draw: random.Random) -> list[str]:
    return [
        "[calls.others]",
        'pool = "vp"',
        'rate = "2 Mbit/s"',
        'every = { exponential = "200 ms" }',
        draw.choice(['hold = "100 ms"', 'hold = { exponential = "300 ms" }']),
        f'blocked = "{draw.choice(["wait", "refuse"])}"',
    ]


def _cycle(draw: random.Random) -> list[str]:
    """Cell gates one after the other in any order of the file; the first lies on a cycle of gates."""
    gates = [
        ["[gate.near]", 'framing = "aal5"', *draw.choice([[], ['rate = "4 Mbit/s"']])],
        ["[gate.between]", f'rate = "{draw.choice([2, 10])} Mbit/s"', 'delay = "5 ms"'],
        [
            "[gate.far]",
            'framing = "aal5"',
            f'rate = "{draw.choice([1, 3])} Mbit/s"',
            f'queue = "{draw.choice([50, 200])} cells"',
            'delay = "20 ms"',
        ],
    ]
    draw.shuffle(gates)
    back = draw.choice(['["between", "near", "far"]', '["between", "near"]'])
    flow = ["[flow.loop]", 'path = ["near", "between", "far"]', f"back = {back}"]
    return [line for gate in gates for line in gate] + flow


def scenario(number: int) -> str:
    """Return the scenario of this number; always the same text."""
    draw = random.Random(number)
    gates: dict[str, bool] = {}
    lines = [f'title = "random scenario {number}"', 'duration = "2.5 s"']
    lines.append(f'warmup = "{draw.choice(["0 s", "400 ms"])}"')
    lines += ["[pool.ring]", 'capacity = "400 Mbit/s"']
    lines += [
        "[gate.capacity]",
        'rate.markov.rates = ["4 Mbit/s", "900 kbit/s", "0 bit/s"]',
        'rate.markov.mean_holding = ["300 ms", "200 ms", "40 ms"]',
    ]
    lines += ["[server.s]", *draw.choice([[], ['rate = "2 MB/s"']])]
    count = draw.randint(1, 4)
    cells = draw.choice([*range(count), *[None] * 6])
    # Draws of their own: the other scenarios stay what they are.
    more = random.Random(f"circuits {number}")
    late = random.Random(f"jitter {number}")
    hearing = random.Random(f"controllers {number}")
    rules = random.Random(f"rules {number}")
    readers = random.Random(f"readers {number}")
    judges = random.Random(f"judges {number}")
    classes = random.Random(f"classes {number}")
    ends = random.Random(f"ends {number}")
    transports = random.Random(f"transports {number}")
    viewers = random.Random(f"viewers {number}")
    advisers = random.Random(f"advisers {number}")
    circuit = more.choice([n for n in range(count) if n != cells] + [None])
    if circuit is not None:
        lines += ["[pool.vp]", f'capacity = "{more.choice([8, 15, 30])} Mbit/s"']
        lines += [f'order = "{more.choice(["asked", "first fit"])}"', *more.choice([[], _calls(more)])]
    for n in range(count):
        gate = (_cell_gate if n == cells else _gate)(draw, f"g{n}")
        if n == circuit:
            gate = _circuit(more, gate)
        if n != cells:
            gate = random_queues.judge(judges, random_queues.step(rules, gate))
        if n != circuit:
            gate = random_queues.with_classes(classes, gate)
        if n != cells:
            gate = random_queues.late(ends, random_queues.marker(classes, gate))
            gate = _advising(advisers, gate)
        lines += gate + _jitter(late)
        if n == cells:
            lines += late.choice([[], [POLICE]])
        gates[f"g{n}"] = any(line.startswith("rate") for line in gate)
    for n in range(draw.randint(1, 3)):
        flow = flows.rules(rules, flows.hearing(hearing, flows.flow(draw, f"f{n}", gates)))
        flow = flows.watching(viewers, flow)
        lines += flows.listening(advisers, flows.over_quic(transports, flows.reading(readers, flow)))
        lines.append(f'dscp = "{classes.choice(random_queues.CODEPOINTS)}"')
    for n in range(draw.choice([0, 0, 1, 2])):
        lines += random_queues.media(classes, _traffic(draw, f"t{n}", gates))
        # Each copy has channels of its own, of a pool that has no more.
        copies = [] if any("dtm.pool" in line for line in lines) else ["count = 3"]
        lines += ends.choice([[], [], ['group = "all of them"'], copies])
    if draw.random() < 0.15:
        lines += _abr(draw)
    if (loops := random.Random(f"cycles {number}")).random() < 0.1:
        lines += _cycle(loops)
    lines += ["[record]", f'every = "{draw.choice(["events", "5 ms", "37 ms"])}"']
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    json.dump([scenario(number) for number in range(first, first + count)], sys.stdout)
