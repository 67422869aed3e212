"""Flows of random scenarios: applications, controllers and rules of TCP, QUIC, players and readers.

Like ``random_scenarios`` it needs nothing but Python itself.
"""

from __future__ import annotations

import random
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

CONTROLS = ("tahoe", "reno", "newreno", "cubic", "fixed", "bbr", "bbr3")
#: Those that hear of every ACK, and slow starts that do: they need SACK.
HEARING = ("westwood", "vegas", "copa", "ledbat++", "dctcp", "prague")


def tcp(draw: random.Random, *, window: bool) -> list[str]:
    cc = draw.choice(CONTROLS)
    lines = [f'tcp.cc = "{cc}"', f'tcp.base = "{draw.choice(["rfc", "rfc", "bsd44", "linux"])}"']
    if window or cc == "fixed" or draw.random() < 0.3:
        lines.append(f'tcp.window = "{draw.choice([6, 17, 60])} segments"')
    for key in ("sack", "limited_transmit", "go_back_n", "handshake", "timestamps", "idle_restart"):
        if key == "sack" and cc in ("bbr", "bbr3"):
            lines.append("tcp.sack = true")
        elif draw.random() < 0.4:
            lines.append(f"tcp.{key} = {draw.choice(['true', 'false'])}")
    if draw.random() < 0.5:
        lines.append(f"tcp.delayed_ack = {draw.choice(['true', 'false'])}")
    if draw.random() < 0.3:
        lines.append(f'tcp.increase = "{draw.choice(["per window", "per ack", "random"])}"')
    if draw.random() < 0.2:
        lines.append(f'tcp.ssthresh_rounding = "{draw.choice(["exact", "down", "up", "ns2"])}"')
    if draw.random() < 0.2:
        lines.append('tcp.rto = { min = "200 ms", tick = "10 ms" }')
    return lines


def hearing(draw: random.Random, lines: list[str]) -> list[str]:
    """Return the lines of a flow, in one of five with another controller, in one of five with HyStart++."""
    cc = draw.choice([*HEARING, *["newreno", "cubic"] * 3, *[None] * 18])
    if cc is None:
        return lines
    kept = [line for line in lines if not line.startswith(("tcp.cc", "tcp.sack"))]
    more = [] if cc in HEARING else ['tcp.slow_start = "hystart++"', 'tcp.arithmetic = "rfc"']
    return [*kept, f'tcp.cc = "{cc}"', "tcp.sack = true", *more]


def rules(draw: random.Random, lines: list[str]) -> list[str]:
    """Return the lines of a flow, in one of five with ECN, a pace or Linux's rules, each key for itself."""
    if draw.random() >= 0.2:
        return lines
    values = {
        "ecn": ['"classic"', '"accurate"'],
        "abe": ["true"],
        "pacing": ["true"],
        "loss": ['"rack"'],
        "reduction": ['"prr"'],
        "arithmetic": ['"linux"'],
        "slow_start": ['"hystart"'],
        "dsack": ["true"],
        "undo": ["true"],
        "frto": ["true"],
        "quick_acks": ["5", '"linux"'],
    }
    more = ["tcp.sack = true"]
    if draw.random() < 0.15:
        more += ['tcp.cc = "fixed_rate"', 'tcp.rate = "900 kbit/s"', 'tcp.window = "40 segments"']
    # ECN more often than the others: it needs a gate that marks, and few do.
    likely = {"ecn": 0.8}
    more += [
        f"tcp.{key} = {draw.choice(words)}"
        for key, words in values.items()
        if draw.random() < likely.get(key, 0.4)
    ]
    replaced = tuple(line.split(" = ")[0] + " = " for line in more)
    return [*(line for line in lines if not line.startswith(replaced)), *more]


def _requests(draw: random.Random) -> list[str]:
    """Requests and responses, in a closed or an open loop, on one connection or on many."""
    sizes = [
        '"30 kB"',
        '{ exponential = "20 kB" }',
        '{ pareto = { min = "2 kB", shape = 1.2, max = "400 kB" } }',
        '{ lognormal = { median = "9 kB", sigma = 1.1, max = "400 kB" } }',
        f'{{ file = "{Path(EXAMPLES / "web-sizes.csv").as_posix()}" }}',
    ]
    lines = [f"app.request.response = {draw.choice(sizes)}"]
    asks = draw.choice(['"10 B"', '{ exponential = "3 kB" }'])
    lines.append(f"app.request.size = {asks}")
    think = ['"17 ms"', '{ exponential = "25 ms" }', '["20 ms", "50 ms", "1 us"]']
    lines.append(f"app.request.think = {draw.choice(think)}")
    lines += draw.choice([[], ['app.request.server = "s"']])
    lines += draw.choice([[], [], ["app.request.count = 9"]])
    most = draw.choice(["3", '"many"'])
    lines += draw.choice(
        [
            [],
            ['app.request.connection = "new"'],
            ['app.request.loop = "open"', 'app.request.connection = "new"'],
            ['app.request.loop = "open"', f"app.request.outstanding = {most}"],
        ]
    )
    return lines


def watching(draw: random.Random, lines: list[str]) -> list[str]:
    """Return the lines of a flow, in one of six with a player of video in place of its application."""
    if draw.random() >= 0.17:
        return lines
    kept = [line for line in lines if not line.startswith("app")]
    ladders = [
        '["90 kbit/s", "300 kbit/s", "1 Mbit/s", "2.5 Mbit/s"]',
        '["40 kbit/s", "80 kbit/s", "160 kbit/s", "400 kbit/s"]',
        '["2 Mbit/s"]',
    ]
    video = [
        f"ladder = {draw.choice(ladders)}",
        f'segment = "{draw.choice([50, 100, 167])} ms"',
        f'buffer = "{draw.choice([667, 1000, 3000])} ms"',
        f'rule = "{draw.choice(["throughput", "bba", "bola", "mpc", "robust_mpc"])}"',
        f"outstanding = {draw.choice([1, 1, 1, 3])}",
        *draw.choice([[], ['length = "1.3 s"']]),
        *draw.choice([[], ['join = "500 ms"'], ['resume = "333 ms"']]),
        *draw.choice([[], ['server = "s"']]),
    ]
    return [*kept, *(f"app.video.{line}" for line in video)]


def listening(draw: random.Random, flow: list[str]) -> list[str]:
    """Return the lines of a flow, in one of six with packets that carry rate signals."""
    if draw.random() >= 0.17:
        return flow
    paces = "tcp.sack = true" in flow and not any("transport" in line or "tahoe" in line for line in flow)
    more = ['tcp.advice = "pace"'] if paces and draw.random() < 0.7 else []
    if any(line.startswith("app.video") for line in flow):
        more += ['app.video.advice = "cap"']
    return [
        *flow,
        f'scone = {{ first = {draw.choice([0, 3])}, every = "{draw.choice([80, 500])} ms" }}',
        *more,
    ]


def reading(draw: random.Random, lines: list[str]) -> list[str]:
    """Return the lines of a flow, in one of six with a receiver that does not read at once."""
    if draw.random() >= 0.17 or any(line.startswith(("app.request", "app.video")) for line in lines):
        return lines
    kept = [line for line in lines if line != 'app = "bulk"']
    if not any(line.startswith("tcp.window") for line in kept) and draw.random() < 0.5:
        # The kernel's buffer, as large as it makes it.
        kept = [line for line in kept if not line.startswith(("tcp.base", "tcp.acks", "tcp.quick_acks"))]
        kept.append('tcp.base = "linux"')
    elif not any(line.startswith("tcp.window") for line in kept):
        kept.append('tcp.window = "17 segments"')
    return [*kept, f'app.read = "{draw.choice([150, 600, 2000, 30_000])} kbit/s"']


def flow(draw: random.Random, name: str, gates: dict[str, bool]) -> list[str]:
    path = draw.sample(sorted(gates), draw.randint(1, len(gates)))
    lines = [f"[flow.{name}]", f"path = {path}".replace("'", '"')]
    # Where no gate limits data, or ACKs are lost in queues, a window must: or it grows for ever.
    window = not any(gates[gate] for gate in path)
    rest = [gate for gate in gates if gate not in path]
    if rest and draw.random() < 0.5:
        window = True
        lines.append(f"back = {draw.sample(rest, draw.randint(1, len(rest)))}".replace("'", '"'))
    else:
        lines.append(f'rtt = "{draw.choice([120, 150, 200.001])} ms"')
    if draw.random() < 0.3:
        lines.append("count = 3")
    lines.append(draw.choice(['start = "0 s"', 'start = "333 ms"', 'start.uniform = ["0 s", "1 s"]']))
    apps = [
        'app = "bulk"',
        'app = "bulk"',
        'app.transfer = "200 kB"',
        'app.constant = { rate = "700 kbit/s", write = "900 B" }',
        'app.on_off = { rate = "3 Mbit/s", on = { exponential = "300 ms" }, off = "200 ms" }',
    ]
    requests = _requests(draw)
    lines += draw.choice([*([app] for app in apps), requests, requests])
    return lines + tcp(draw, window=window)


def over_quic(draw: random.Random, lines: list[str]) -> list[str]:
    """Return the lines of a flow, in one of eight over QUIC."""
    if draw.random() >= 0.12:
        return lines
    refused = ("app.read", "app.request.connection")
    kept = [line for line in lines if not line.startswith(refused)]
    names = ["cubic", "newreno", "bbr", "tcp"]
    if any(f'tcp.cc = "{cc}"' in kept for cc in ("dctcp", "prague")):
        names.remove("tcp")
    kept += ['transport = "quic"', f'quic.cc = "{draw.choice(names)}"']
    kept += draw.choice([[], ['quic.window = "40 kB"'], ['quic.mtu = "1400 B"']])
    kept += draw.choice([[], ["quic.ecn = false"], ["quic.ack_every = 10"], ["quic.streams = 3"]])
    written = any(line.startswith(("app.constant", "app.on_off")) for line in kept)
    return [*kept, "quic.datagrams = true"] if written and draw.random() < 0.5 else kept
