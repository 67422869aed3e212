"""Draw conversations, hold them with kernel and endpoint, count: ``python -m conformance.table --help``."""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from conformance import beside, declared, drawn, live, receiving, shrink, ways

ALL = {**{name: kind.tells for name, kind in ways.KINDS.items()}, **receiving.KINDS}
#: A run in which the script was later than this is repeated, and not judged.
LATE_MS, TRIES = 3.0, 3
#: So often is a conversation that differs held again: if the kernel does as ours once, its ticks decide.
AGAIN = 12
COLUMNS = ("drawn", "equal", "ticks", "declared", "faults", "open", "late")


@dataclass
class Count:
    """What came of the conversations of a kind."""

    kind: str
    numbers: Counter[str] = field(default_factory=Counter)
    #: The differences, by their names; open ones under their title.
    named: dict[str, list[beside.Held]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def judge(programs: live.Programs, kind: str, seeds: list[str]) -> Count:
    """Draw and hold the conversations of a kind."""
    count = Count(kind)
    todo = [drawn.draw(kind, seed) for seed in seeds]
    count.numbers["drawn"] = len(todo)
    differs: list[beside.Held] = []
    for attempt in range(TRIES):
        late = []
        for talk, held in zip(todo, beside.hold(programs, todo), strict=True):
            if isinstance(held, str):
                count.errors.append(f"{talk.title}: {held}")
            elif held.kernel.late_ms > LATE_MS and attempt < TRIES - 1:
                late.append(talk)
            elif held.difference is None:
                count.numbers["ticks" if held.ticks else "equal"] += 1
            else:
                differs.append(held)
        count.numbers["late"] += len(late)
        todo = late
        if not todo:
            break
    _sort(programs, count, differs)
    return count


def _sort(programs: live.Programs, count: Count, differs: list[beside.Held]) -> None:
    """Say what each difference is."""
    names = [declared.name(held) for held in differs]
    # Whether chance decides is seen where it may.
    doubtful = [index for index, named in enumerate(names) if named is None or named.fault or named.chance]
    plays = beside.hold(programs, [differs[index].talk for index in doubtful for _ in range(AGAIN)])
    for index, (held, named) in enumerate(zip(differs, names, strict=True)):
        word = "open" if named is None else "faults" if named.fault else "declared"
        place = doubtful.index(index) * AGAIN if index in doubtful else len(plays)
        others = plays[place : place + AGAIN]
        if any(not isinstance(each, str) and each.difference is None for each in others):
            word = "ticks"
        count.numbers[word] += 1
        if word != "ticks":
            count.named.setdefault(named.name if named else held.talk.title, []).append(held)


def table(counts: list[Count]) -> str:
    """Return the counts as text."""
    lines = [f"{'kind':10}" + "".join(f"{name:>10}" for name in COLUMNS)]
    lines += [f"{each.kind:10}" + "".join(f"{each.numbers[name]:10}" for name in COLUMNS) for each in counts]
    total = sum((each.numbers for each in counts), Counter())
    return "\n".join([*lines, f"{'all':10}" + "".join(f"{total[name]:10}" for name in COLUMNS)])


def main() -> int:
    """Count, print the table and the smallest open differences; 1 if there is one."""
    parser = argparse.ArgumentParser(prog="python -m conformance.table", description=__doc__)
    parser.add_argument("kinds", nargs="*", help="some of " + ", ".join(ALL))
    parser.add_argument("--count", type=int, default=60, help="conversations of each kind")
    parser.add_argument("--seed", type=int, help="draws the same again")
    parser.add_argument("--at-once", type=int, default=16, help="conversations held at a time")
    parser.add_argument(
        "--shrink", type=int, default=3, help="open differences of a kind to show at their smallest"
    )
    parser.add_argument("--faults", action="store_true", help="show known faults too")
    given = parser.parse_args()
    if set(given.kinds) - set(ALL):
        parser.error(f"a kind is one of {', '.join(ALL)}")
    seed = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    seeds = [f"{seed}-{index}" for index in range(given.count)]
    with live.Programs(given.at_once) as programs, ThreadPoolExecutor(8) as workers:
        if refusal := programs.refusal():
            print(f"skipped: no conversation with this machine's kernel: {refusal}")
            return 0
        print(f"seed {seed}", flush=True)
        counts = list(workers.map(lambda kind: judge(programs, kind, seeds), given.kinds or ALL))
        print(table(counts), flush=True)
        shown = [
            held
            for each in counts
            for name, some in each.named.items()
            if (named := declared.name(some[0])) is None or (given.faults and named.fault)
            for held in some[: given.shrink]
        ]
        by_name: Counter[str] = Counter()
        for each in counts:
            for name, some in each.named.items():
                by_name[name if declared.name(some[0]) else "open"] += len(some)
        print("".join(f"{number:6} {name}\n" for name, number in by_name.most_common()), flush=True)
        for text in workers.map(lambda held: shrink.written(shrink.smallest(programs, held)), shown):
            print(text, flush=True)
    for each in counts:
        print("".join(f"{error}\n" for error in each.errors), end="")
    return 1 if any(each.numbers["open"] or each.errors for each in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
