"""Queues of random scenarios: disciplines, classes, markers; and media frames that pass them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

#: Random early detection; it knows the mean rate of most gates, but not of all.
REDS = (
    'queue.aqm.red.bandwidth = "4 Mbit/s"',
    'queue.aqm.red = { bandwidth = "4 Mbit/s", min = "1 packets", max = "4 packets", wq = 0.2 }',
    'queue.aqm.red = { bandwidth = "2 Mbit/s", min = "2 kB", gentle = false, wait = true, by_size = true }',
    'queue.aqm.red = { bandwidth = "9 Mbit/s", wq = 0.05, adaptive = true, hard_drop = false }',
)


def step(draw: random.Random, gate: list[str]) -> list[str]:
    """Return the lines of a packet gate, in one of three with a queue that marks."""
    if draw.random() >= 0.33:
        return gate
    if draw.random() < 0.4:
        return [*gate, draw.choice(REDS)]
    return [*gate, f'queue.aqm.step = "{draw.choice(["0 packets", "1 packets", "3 packets", "9 kB"])}"']


#: Queue disciplines that decide when a packet would be sent.
JUDGES = (
    'queue.aqm = "codel"',
    'queue.aqm.codel = { target = "1 ms", interval = "20 ms" }',
    'queue.aqm.codel = { target = "3 ms", interval = "30 ms", ce_threshold = "2 ms" }',
    'queue.aqm = "pie"',
    'queue.aqm.pie = { target = "2 ms", update = "3 ms", alpha = 5, beta = 50, max_burst = "0 s" }',
    'queue.aqm = "fq_codel"',
    'queue.aqm.fq_codel = { queues = 2, quantum = "300 B", limit = "12 packets", target = "2 ms" }',
    'queue.aqm = "dualpi2"',
    'queue.aqm = "cake"',
    'queue.aqm.cake = { bandwidth = "3 Mbit/s", overhead = 44, compensation = "atm", memory = "12 kB" }',
    'queue.aqm.cake = { queues = 2, quantum = "300 B", target = "1 ms", diffserv = "diffserv4" }',
    'queue.aqm.dualpi2 = { target = "4 ms", update = "5 ms", step = "800 us", range = "400 us" }',
)


def judge(draw: random.Random, gate: list[str]) -> list[str]:
    """Return the lines of a packet gate, in one of four with a discipline that decides at the departure."""
    others = [line for line in gate if not line.startswith("queue.aqm")]
    if draw.random() >= 0.25:
        return gate
    judge = draw.choice(JUDGES)
    # A circuit has no tins.
    circuit = any(line.startswith("rate.reserve") for line in gate)
    return gate if circuit and "cake" in judge else [*others, judge]


#: Schedulers with what their classes have: for codepoints, then for the rest.
SCHEDULERS = (
    ("strict", "", ""),
    ("drr", 'quantum = "3 kB"', 'quantum = "700 B"'),
    ("wfq", "weight = 3", ""),
    (
        "htb",
        'htb = { rate = "500 kbit/s", ceil = "2 Mbit/s" }',
        'htb = { rate = "900 kbit/s", burst = "9 kB" }',
    ),
    ("strict", 'cbs = "400 kbit/s"', ""),
)

#: Codepoints of flows and of other traffic.
CODEPOINTS = ("EF", "AF41", "AF43", "CS1", "DF")


def with_classes(draw: random.Random, gate: list[str]) -> list[str]:
    """Return the lines of a gate, in one of four with classes by codepoint instead of a discipline."""
    if draw.random() >= 0.25:
        return gate
    law = next((line for line in gate if line.startswith("rate")), "")
    constant = law.startswith("rate = ") and "bit/s" in law
    cells = any("aal5" in line for line in gate)
    fit = [
        row
        for row in SCHEDULERS
        if (constant or not (row[0] == "wfq" or "cbs" in row[1]))
        and not ("trace" in law and row[0] == "htb")
        and not (cells and "cbs" in row[1])
    ]
    scheduler, first, rest = draw.choice(fit)
    aqm = "" if cells else draw.choice(["", 'aqm = "codel"', 'aqm = "fq_codel"', 'aqm = "pie"'])
    limit = draw.choice(['"20 cells"', '"unlimited"'] if cells else ['"9 packets"', '"20 kB"', '"unlimited"'])
    queue = ", ".join(filter(None, [f"limit = {limit}", aqm]))
    kept = [line for line in gate if not line.startswith(("queue.aqm", "slotted"))]
    return [
        *kept,
        f'scheduler = "{scheduler}"',
        *([f"classes.voice.{first}"] if first else []),
        'classes.voice.dscp = ["EF", "AF41", "AF43"]',
        f"classes.voice.queue = {{ {queue} }}",
        *([f"classes.rest.{rest}"] if rest else []),
        f"classes.rest.queue = {{ {queue} }}",
    ]


#: Policers that colour; what is red may go on.
MARKERS = (
    'police.srtcm = { cir = "1 Mbit/s", cbs = "6 kB", ebs = "20 kB" }',
    'police.trtcm = { cir = "500 kbit/s", cbs = "4 kB", pir = "2 Mbit/s", pbs = "9 kB", red = "remark" }',
    (
        'police.trtcm = { cir = "1 Mbit/s", cbs = "4 kB", pir = "2 Mbit/s", pbs = "9 kB", colour_aware = '
        'true, dscp = { green = "AF11", yellow = 12 } }'
    ),
)


def marker(draw: random.Random, gate: list[str]) -> list[str]:
    """Return the lines of a packet gate, in one of eight with a marker and room for each colour."""
    if draw.random() >= 0.125 or any(line.startswith("police") for line in gate):
        return gate
    limits = 'queue.colour_limits = { yellow = "8 packets", red = "2 packets" }'
    own = any("fq_codel" in line or "cake" in line or line.startswith("classes") for line in gate)
    return [*gate, draw.choice(MARKERS), *([] if own else draw.choice([[], [limits]]))]


def late(draw: random.Random, gate: list[str]) -> list[str]:
    """Return the lines of a gate of packets, in one of eight with an end, a policer or a counted loss."""
    if draw.random() >= 0.125:
        return gate
    mbit, millis = draw.choice([1, 5]), draw.choice([500, 1500])
    ends = f'rate.steps = [["0 s", "{mbit} Mbit/s"], ["{millis} ms", "0 bit/s"]]'
    plain = not any(line.startswith(("rate.", "scheduler", "police")) for line in gate)
    bits = any(line.startswith('rate = "') and "bit/s" in line for line in gate)
    simple = not any("weight" in line or "cbs" in line or "htb" in line for line in gate)
    choices = [
        *([[*(line for line in gate if not line.startswith("rate")), ends]] if bits and simple else []),
        *([[*gate, 'police = { rate = "2 Mbit/s", burst = "9 kB" }']] if plain else []),
        *([[*gate, "loss.every = 40"]] if not any(line.startswith("loss") for line in gate) else []),
    ]
    return draw.choice(choices) if choices else gate


#: Frames of calls and of videos.
MEDIA = (
    'source.media = { frame_rate = 50, frame = "160 B", deadline = "150 ms" }',
    (
        'source.media = { frame_rate = 25, frame = { exponential = "2 kB" }, '
        'key_frames = { every = 12, size = "20 kB" }, spread = "9 ms" }'
    ),
)


def media(draw: random.Random, lines: list[str]) -> list[str]:
    """Return the lines of other traffic, in one of three as media frames; and with a codepoint."""
    lines = [*lines, f'dscp = "{draw.choice(CODEPOINTS)}"']
    if draw.random() >= 0.33:
        return lines
    kept = [line for line in lines if not line.startswith("source")]
    return [*kept, draw.choice(MEDIA)]
