"""A comparison of engines as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.text import HEADERS_SHORT, joined, number, table, wrapped
from tidegate._compare.agreement import AGREE
from tidegate._compare.quantities import within_floor
from tidegate._run.completion import lengths, until_words
from tidegate._study.text import plus_minus

if TYPE_CHECKING:
    from tidegate._compare.agreement import Agreement, Difference
    from tidegate._compare.quantities import Quantity


def report(comparison: Agreement) -> str:
    """Return what every engine says, the differences from the reference, and what agrees."""
    first = comparison.engines[0].runs[0].summary
    ends = lengths([run.summary for each in comparison.engines for run in each.runs])
    seed = "" if comparison.seed is None else f" · seed {comparison.seed}"
    at = f"gate {comparison.gate}" if comparison.gate else "no gate"
    lines = [
        comparison.title,
        wrapped(
            f"engines {', '.join(each.engine for each in comparison.engines)}{seed} · {at} · measured from "
            f"{first['measured_from_s']:g} to {until_words(*ends)}"
        ),
        "",
        _values(comparison),
    ]
    if any(each.is_exact and each.engine == "sim" for each in comparison.engines):
        lines += ["", wrapped("Nothing in this scenario is random, so one run of sim is enough.")]
    others = [each.engine for each in comparison.engines if each.engine != comparison.reference]
    lines += ["", f"Difference from {comparison.reference}", _differences(comparison, others)]
    lines += ["", *(wrapped(sentence) for sentence in comparison.sentences)]
    lines += [
        "",
        wrapped(
            "±: half of the 95% interval of the mean over the runs, or of the difference (Welch's t). Wait, "
            f"loss, utilisation and queue are those of the gate. {HEADERS_SHORT}"
        ),
    ]
    return joined(lines)


def _values(comparison: Agreement) -> str:
    head = [["quantity", "unit", *(each.label for each in comparison.engines)]]
    body = []
    for row in comparison.rows:
        cells = [row.quantity.name, row.quantity.unit]
        for each in comparison.engines:
            found = row.values.get(each.engine)
            if found is None:
                cells.append("–")
            elif each.is_exact:
                cells.append(number((found.mean or 0.0) / row.quantity.scale, 4))
            else:
                cells.append(plus_minus(found, row.quantity.scale))
        body.append(cells)
    return table(head, body, left=2)


def _differences(comparison: Agreement, others: list[str]) -> str:
    head = [["quantity", *(part for engine in others for part in (engine, ""))]]
    body = []
    for row in comparison.rows:
        if not row.differences:
            continue
        cells = [row.quantity.name]
        for engine in others:
            difference = row.differences.get(engine)
            if difference is None:
                cells += ["–", ""]
                continue
            floor = (
                f" ({within_floor(row.quantity)})"
                if difference.verdict == AGREE and difference.by_floor
                else ""
            )
            cells += [difference_words(row.quantity, difference), f"{difference.verdict}{floor}"]
        body.append(cells)
    return table(head, body)


def difference_words(quantity: Quantity, difference: Difference) -> str:
    """Return a difference with its interval: in per cent where that has a meaning."""
    small = difference.verdict == AGREE and difference.by_floor
    if difference.relative is None or abs(difference.relative) >= 10 or small:
        unit = "points" if quantity.unit == "%" else quantity.unit
        half = f" ±{number(difference.half_width / quantity.scale, 2)}" if difference.half_width else ""
        return f"{_signed(difference.difference / quantity.scale)}{half} {unit}".rstrip()
    text = _signed(100 * difference.relative)
    if difference.half_width and difference.difference:
        text += (
            f" ±{number(100 * difference.half_width * abs(difference.relative / difference.difference), 2)}"
        )
    return f"{text}%"


def _signed(value: float) -> str:
    return ("+" if value > 0 else "-" if value < 0 else "") + number(abs(value), 2)
