"""``tidegate compare FILE --engines …``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tidegate._base.written import check_target
from tidegate._cli.options import command_line, folder_for, tell

if TYPE_CHECKING:
    from collections.abc import Sequence


def compare_engines(
    file: str,
    engines: str,
    sets: Sequence[str],
    *,
    runs: int | None,
    tolerance: str | None,
    seed: int | None,
    out: str | None,
    force: bool,
    record: str | None,
    picture: str | None,
    gate: str | None,
    as_json: bool,
) -> None:
    """Run a scenario through several engines; say and draw what agrees."""
    from tidegate._ask.source import as_scenario
    from tidegate._base.progress import Progress
    from tidegate._compare.agreement import TOLERANCE
    from tidegate._compare.engines import engine_names, execute_engines

    names = engine_names(engines)
    scenario = as_scenario(file, sets, seed=seed)
    allowed = TOLERANCE if tolerance is None else _share(tolerance)
    check_target(picture, "picture")
    with folder_for(out, force=force) as fill:
        with Progress(f"running {', '.join(names)}") as progress:
            result = execute_engines(
                scenario,
                names,
                runs=runs,
                seed=seed,
                record=record,
                gate=gate,
                tolerance=allowed,
                progress=progress,
                command=command_line(),
            )
        fill(result)
        if picture is not None:
            result.plot(picture)
    tell(result, as_json=as_json, folder=out, picture=picture)


def _share(text: str) -> float:
    """Read "5%" or "0.05"."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise click.UsageError(f'--tolerance: read "{text}"; write a share such as "5%"')
    return value
