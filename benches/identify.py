"""What `tidegate identify` says of links whose law is known: random simulated links, captured at both ends.

Draws links of every law with reno, cubic or bbr, with and without background traffic, identifies each
from the capture near its sender and from that near its receiver, and prints for each end a confusion
matrix and how often the intervals hold the true number.

    .venv/bin/python benches/identify.py --links 400 --record
    .venv/bin/python benches/identify.py --links 30 --live

With ``--live`` the TCP is the kernel's, in real time, 12 s for each link, one after the other (root).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

LAWS = ("policer", "constant", "token bucket", "two rates", "steps", "varying", "early", "random", "none")
#: A link that dropped nothing and kept no packet waiting for this long was not the limit, whatever its law.
REACHED_MS = 3.0
#: Seconds of a link with the kernel's TCP, and the laws that such a time shows.
LIVE_S = 12
LIVE_LAWS = ("policer", "constant", "token bucket", "early", "random", "none")
#: Where a link is captured.
ENDS = {"sender": "near the sender", "receiver": "near the receiver", "both ends": "at both ends"}
RECORDED = Path(__file__).with_name("recorded") / "identify.json"


@dataclass(frozen=True)
class Truth:
    """A link that was drawn: its law, its numbers, and its scenario."""

    number: int
    law: str
    cc: str
    background: bool
    rate_bps: int | None
    peak_bps: int | None
    burst_bytes: int | None
    queue_bytes: int | None
    loss: float | None
    round_trip_s: float
    scenario: str


@dataclass(frozen=True)
class Answer:
    """What was said of it, and which intervals held the truth; None where there is none."""

    number: int
    end: str
    truth: str
    said: str
    cc: str
    background: bool
    lost: int
    rate_held: bool | None
    rate_error: float | None
    peak_held: bool | None
    burst_held: bool | None
    queue_held: bool | None
    loss_held: bool | None
    round_trip_error_s: float | None
    sentence: str
    sender: str | None = None
    told_hidden: bool = False


def draw(number: int) -> Truth:
    """Draw a link; the same number gives the same link."""
    dice = random.Random(f"identify {number}")
    law = LAWS[number % len(LAWS)]
    cc = dice.choice(["reno", "cubic", "bbr"])
    # Contracts are round numbers: two digits count.
    rate = int(float(f"{10 ** dice.uniform(6, 7.5):.1e}"))
    trip = dice.uniform(0.01, 0.12)
    product = rate * trip / 8
    background = law not in ("none", "random") and dice.random() < 0.3
    burst = queue = peak = None
    loss = None
    gate: list[str] = []
    if law == "policer":
        burst = int(max(6000, product * 10 ** dice.uniform(-0.7, 1)))
        gate = ['rate = "1 Gbit/s"', f'police = {{ rate = "{rate} bit/s", burst = "{burst} B" }}']
    elif law == "token bucket":
        burst = int(max(15_000, product * 10 ** dice.uniform(-0.3, 0.7)))
        queue = int(max(15_000, product * dice.uniform(0.5, 3)))
        gate = [
            f'rate.token_bucket = {{ rate = "{rate} bit/s", burst = "{burst} B" }}',
            f'queue = "{queue} B"',
        ]
    elif law == "two rates":
        peak = int(rate * dice.uniform(2, 6))
        burst = int(max(40_000, peak * trip / 8 * dice.uniform(1, 4)))
        queue = int(max(40_000, product * dice.uniform(1, 4)))
        gate = [
            f'rate.token_bucket = {{ rate = "{rate} bit/s", burst = "{burst} B", peak = "{peak} bit/s" }}',
            f'queue = "{queue} B"',
        ]
    elif law == "steps":
        other = int(rate * dice.choice([0.3, 0.5, 2, 3]))
        at = dice.uniform(8, 16)
        gate = [
            f'rate.steps = [["0 s", "{rate} bit/s"], ["{at:.1f} s", "{other} bit/s"]]',
            f'queue = "{int(max(15_000, max(1.0, other / rate) * product * dice.uniform(1, 3)))} B"',
        ]
    elif law == "varying":
        states = ", ".join(f'"{int(rate * share)} bit/s"' for share in (0.25, 0.6, 1, 1.6, 2.5))
        holding = ", ".join([f'"{dice.uniform(0.2, 1):.2f} s"'] * 5)
        gate = [
            f"rate.markov = {{ rates = [{states}], mean_holding = [{holding}] }}",
            f'queue = "{int(max(30_000, 3 * product))} B"',
        ]
    elif law == "early":
        gate = [
            f'rate = "{rate} bit/s"',
            'queue.limit = "1000 packets"',
            f'queue.aqm = "{dice.choice(["codel", "pie", "red"])}"',
        ]
    elif law == "random":
        loss = 10 ** dice.uniform(-2.7, -1.4)
        gate = [f'rate = "{10 * rate} bit/s"', 'queue = "5 MB"', f"loss = {loss:.5f}"]
    elif law == "none":
        gate = [f'rate = "{100 * rate} bit/s"']
    else:
        queue = int(max(10_000, product * dice.uniform(0.3, 3)))
        gate = [f'rate = "{rate} bit/s"', f'queue = "{queue} B"']
    lines = [
        f'duration = "{10 if law in ("random", "none") else 25} s"', f"seed = {number + 1}",
        "[gate.link]", *gate, f'delay = "{500 * trip:.3f} ms"',
        "[flow.a]", 'path = ["link"]', f'rtt = "{1e3 * trip:.3f} ms"',
        'tcp.base = "linux"', f'tcp.cc = "{cc}"',
    ]  # fmt: skip
    if law == "none":
        lines.append(f'tcp.window = "{int(max(6000, min(product, 200_000)))} B"')
    if dice.random() < 0.3 and law != "none":
        size = int(rate * dice.uniform(1.5, 4) / 8)
        lines += [f'app.request.response = "{size} B"', f'app.request.think = "{dice.uniform(0.3, 2):.2f} s"']
    else:
        lines.append('app = "bulk"')
    if background:
        lines += [
            "[traffic.cross]",
            'path = ["link"]',
            f'source.poisson = {{ rate = "{rate // 20} bit/s", packet = "500 B" }}',
        ]
    rated = rate if law in ("policer", "constant", "token bucket", "two rates", "early") else None
    return Truth(number, law, cc, background, rated, peak, burst, queue, loss, trip, "\n".join(lines) + "\n")


def alive(truth: Truth) -> Truth:
    """Return the link as the kernel meets it: for a shorter time, and without traffic beside it."""
    scenario = truth.scenario.split("[traffic.cross]")[0]
    first, rest = scenario.split("\n", 1)
    assert first.startswith("duration")
    return replace(truth, background=False, scenario=f'duration = "{LIVE_S} s"\n{rest}')


def answers(number: int, engine: str = "sim") -> list[Answer]:
    """Run a link, identify it from the capture at each end, and compare."""
    import tidegate as tg

    truth = draw(number) if engine == "sim" else alive(draw(number))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "link.pcap"
        run = tg.run(tg.Scenario.from_toml(truth.scenario), record="summary", pcap=place, engine=engine)
        if truth.background and truth.rate_bps is not None and truth.law == "policer":
            # What the capture does not show takes its part of a bucket: the rate is what it leaves.
            truth = replace(truth, rate_bps=truth.rate_bps - round(run.traffic[0]["throughput_bps"]))
        gate = dict(run.gates[0])
        near, far = place, place.with_name("link-receiver.pcap")
        return [
            compared(truth, gate, end, tg.identify(files))
            for end, files in (("sender", [near]), ("receiver", [far]), ("both ends", [near, far]))
        ]


def compared(truth: Truth, gate: dict[str, Any], end: str, found: Any) -> Answer:
    """Return what was said beside the truth."""
    if not found.directions:
        return Answer(truth.number, end, truth.law, "nothing", truth.cc, truth.background, 0, *[None] * 7, "")
    direction = max(found.directions, key=lambda each: each.data_bytes)
    law = found.limits[direction.limit - 1].law
    said = law.kind
    if said in ("constant", "token bucket") and law.drops == "early":
        said = "early"
    if said in ("none", "constant") and law.drops == "random":
        said = "random"
    if truth.law in ("early", "random") and said == "constant" and law.drops == "cannot tell":
        # The rate is told; why packets are lost, which is what this law is about, is not.
        said = "cannot tell"
    if gate["dropped_packets"] == 0 and gate["queue_delay_p99_ms"] < REACHED_MS:
        truth = replace(truth, law="none", rate_bps=None)
    elif truth.law == "early" and gate["dropped_packets"] == 0:
        truth = replace(truth, law="constant")
    trip = direction.base_round_trip_s
    same = said == truth.law
    return Answer(
        truth.number, end, truth.law, said, truth.cc, truth.background, direction.lost,
        held(law.rate_bps, truth.rate_bps) if same else None,
        law.rate_bps.value / truth.rate_bps - 1 if same and law.rate_bps and truth.rate_bps else None,
        held(law.peak_bps, truth.peak_bps) if same and not truth.background else None,
        held(law.burst_bytes, truth.burst_bytes) if same and not truth.background else None,
        held(law.queue_bytes, truth.queue_bytes) if same and not truth.background else None,
        held(law.random_loss, truth.loss) if same else None,
        trip.value - truth.round_trip_s if trip else None,
        law.sentence,
        direction.congestion.name,
        "not show" in " ".join(law.evidence),
    )  # fmt: skip


def held(number: Any, truth: float | None) -> bool | None:
    """Tell whether an interval holds the true number."""
    if number is None or truth is None:
        return None
    low, high = number.interval
    return bool(low <= truth <= high)


def report(answers: list[Answer]) -> str:
    """Return for each end the confusion matrix and the coverage of the intervals."""
    return "\n\n".join(
        f"Captured {words}\n\n{matrix([each for each in answers if each.end == end])}"
        for end, words in ENDS.items()
    )


def matrix(answers: list[Answer]) -> str:
    """Return the confusion matrix and the coverage of the intervals."""
    said = sorted({each.said for each in answers}, key=lambda name: (name not in LAWS, name))
    lines = ["| truth | " + " | ".join(said) + " |", "|---" * (len(said) + 1) + "|"]
    for law in LAWS:
        counts = Counter(each.said for each in answers if each.truth == law)
        lines.append(f"| {law} | " + " | ".join(str(counts[name] or "") for name in said) + " |")
    right = sum(each.said == each.truth for each in answers)
    lines += ["", f"{right} of {len(answers)} laws are named correctly."]
    lines += ["", "| interval | held | of | share |", "|---|---|---|---|"]
    for name, background in (
        ("rate_held", False), ("peak_held", False), ("burst_held", False), ("queue_held", False),
        ("loss_held", False), ("rate_held", True),
    ):  # fmt: skip
        among = [each for each in answers if each.background == background]
        known = [getattr(each, name) for each in among if getattr(each, name) is not None]
        share = f"{100 * sum(known) / len(known):.1f}%" if known else ""
        what = name.removesuffix("_held") + (", beside hidden traffic" if background else "")
        lines.append(f"| {what} | {sum(known)} | {len(known)} | {share} |")
    lines.append("")
    for background in (False, True):
        told = [each for each in answers if each.rate_error is not None and each.background == background]
        errors = [abs(each.rate_error or 0.0) for each in told]
        if errors:
            where = "beside 5% of hidden background traffic" if background else "without background traffic"
            middle, most = 100 * sorted(errors)[len(errors) // 2], 100 * max(errors)
            lines.append(f"Error of the rate {where}: median {middle:.3f}%, greatest {most:.2f}%.")
    hidden = [each for each in answers if each.background and each.said == each.truth]
    plain = [each for each in answers if not each.background and each.said == each.truth]
    lines.append(
        f"Hidden traffic is said to be possible in {sum(each.told_hidden for each in hidden)} of "
        f"{len(hidden)} links with it, and in {sum(each.told_hidden for each in plain)} of {len(plain)} "
        "without."
    )
    senders = [each for each in answers if each.sender is not None]
    lines.append(
        f"The congestion control was named for {len(senders)} of {len(answers)} senders, correctly for "
        f"{sum(each.sender == each.cc for each in senders)}."
    )
    return "\n".join(lines)


def kept_as_made(made: Iterable[list[Answer]], place: Path | None) -> list[Answer]:
    """Return the answers, and write each to a file as it comes."""
    found = []
    for several in made:
        found += several
        if place is not None:
            with place.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(each)) + "\n" for each in several)
    return found


def main() -> None:
    """Draw, identify, print; with --record also keep the answers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=400)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--live", action="store_true", help="the kernel's TCP in real time (root)")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--part", type=Path, help="a file that each answer is added to as it comes")
    parser.add_argument("--parts", type=Path, nargs="*", default=[], help="answers of earlier runs")
    parser.add_argument("--record", action="store_true", help=f"keep the answers in {RECORDED.name}")
    options = parser.parse_args()
    begin = time.perf_counter()
    kept = [Answer(**json.loads(line)) for file in options.parts for line in file.open(encoding="utf-8")]
    done = {each.number for each in kept}
    if options.live:
        shown = [
            each
            for each in range(4 * (options.first + options.links) + len(LAWS))
            if LAWS[each % len(LAWS)] in LIVE_LAWS
        ]
        numbers = shown[options.first : options.first + options.links]
        made = (answers(number, "live") for number in numbers if number not in done)
        found = kept + kept_as_made(made, options.part)
    else:
        numbers = range(options.first, options.first + options.links)
        with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
            made = pool.map(answers, [each for each in numbers if each not in done])
            found = kept + kept_as_made(made, options.part)
    print(report(found))
    print(f"{len(found) // 3} links in {time.perf_counter() - begin:.0f} s")
    if options.record:
        kept = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
        kept["live" if options.live else "simulated"] = [asdict(each) for each in found]
        RECORDED.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
