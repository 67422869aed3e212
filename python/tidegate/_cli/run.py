"""The commands for one scenario: ``run`` and ``check``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidegate._cli.options import (
    FILE,
    FORCE,
    JSON,
    RECORD,
    SEED,
    SET,
    check_picture,
    command_line,
    count,
    engine_option,
    epilog,
    plain,
    say,
    say_json,
    warn,
)
from tidegate._cli.picture import SHOW, panels

if TYPE_CHECKING:
    from tidegate._ask.scenario import Scenario
    from tidegate.theory import Fit, Miss


@click.command(
    epilog=epilog(
        "run scenario.toml",
        'run scenario.toml --set gate.link.queue="20 packets" --plot run.png',
        "run scenario.toml --engine live --out results",
    )
)
@FILE
@SEED
@SET
@click.option("--out", metavar="DIR", help="Write a run folder: manifest, summary, time series.")
@FORCE
@RECORD
@click.option("--pcap", is_flag=True, help="Also record every packet, in DIR/packets.pcap.")
@click.option("picture", "--plot", metavar="FILE", help="Draw the run; the name ends in .png, .svg or .pdf.")
@click.option(
    "--gate", metavar="NAME", help="The gate to draw; default: the gate that limits the flows most."
)
@SHOW
@click.option(
    "--replication",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Which replication to run; the first is 0.",
)
@click.option(
    "--exact-events", is_flag=True, help="Handle every departure as an event: slower, same results."
)
@engine_option("sim", "live", "theory")
@JSON
def run(
    file: str,
    seed: int | None,
    sets: tuple[str, ...],
    out: str | None,
    force: bool,
    record: str | None,
    pcap: bool,
    picture: str | None,
    gate: str | None,
    show: str | None,
    replication: int,
    exact_events: bool,
    engine: str,
    as_json: bool,
) -> None:
    """Run a scenario and report the results.

    FILE is a scenario in TOML or JSON.
    """
    import tempfile

    from tidegate._ask.source import as_scenario, check_engine
    from tidegate._base.progress import Progress
    from tidegate._run.folder import fill_run, staged
    from tidegate._run.start import execute

    check_engine(engine, ("sim", "live", "theory"))
    if engine == "live" and exact_events:
        raise click.UsageError("--exact-events is for the simulator, not for --engine live")
    if engine == "theory":
        given = {"--pcap": pcap, "--plot": picture, "--record": record, "--exact-events": exact_events}
        wrong = [option for option, value in given.items() if value]
        if wrong:
            raise click.UsageError(
                f"{wrong[0]} is not for --engine theory, which has no packets and no time series"
            )
        _theory(as_scenario(file, sets), out, force=force, as_json=as_json)
        return
    if pcap and out is None:
        raise click.UsageError("--pcap needs --out DIR: the packets are written to DIR/packets.pcap")
    scenario = as_scenario(file, sets)
    shown = panels(show)
    check_picture(picture)
    if picture is None and show is not None:
        raise click.UsageError("--show needs --plot FILE")
    if record is None and out is None and picture is None:
        record = "summary"
    with contextlib.ExitStack() as stack:
        work = None
        packets = None
        if out is not None:
            # Made before the run: a place that cannot be written is known at once.
            work = stack.enter_context(staged(Path(out), force=force))
            if pcap:
                hidden = stack.enter_context(tempfile.TemporaryDirectory(prefix=".pcap.", dir=work.parent))
                packets = Path(hidden) / "packets.pcap"
        with Progress("running") as progress:
            result = execute(
                scenario,
                seed=seed,
                engine=engine,
                record=record,
                replication=replication,
                pcap=packets,
                exact_events=exact_events,
                tick=progress.tick,
                command=command_line(),
            )
        if gate is not None:
            result.gates.row(gate)
        if work is not None:
            fill_run(result, work)
        if picture is not None:
            result.plot(picture, gate=gate, show=shown)
    if as_json:
        say(result.to_json())
    else:
        from tidegate._run.text import run_report

        say(run_report(result.summary, result.title))
        if out is not None:
            say(f"Run folder: {out}")
        if picture is not None:
            say(f"Picture: {picture}")
    warn(result.warnings)


def _theory(scenario: Scenario, out: str | None, *, force: bool, as_json: bool) -> None:
    from tidegate._engines.theory_text import theory_report
    from tidegate._run.theory import solve

    result = solve(scenario, command_line())
    if out is not None:
        result.save(out, force=force)
    say(result.to_json() if as_json else theory_report(result.summary, result.title))
    if out is not None and not as_json:
        say(f"Run folder: {out}")
    warn(result.warnings)


@click.command(
    epilog=epilog("check scenario.toml", "check scenario.toml --explain --set flow.bulk.tcp.cc=cubic")
)
@FILE
@SET
@click.option(
    "--explain", is_flag=True, help="Print every setting with its default, and what follows from it."
)
@JSON
def check(file: str, sets: tuple[str, ...], explain: bool, as_json: bool) -> None:
    """Check a scenario without running it."""
    from tidegate._ask.scenario import load
    from tidegate._engines.theory_text import theory_line
    from tidegate.theory._match import match

    scenario = load(file, set=sets)
    if as_json:
        result: dict[str, Any] = {
            "ok": True,
            "file": file,
            "title": scenario.title,
            "duration_s": scenario.duration_s,
            "measured_from_s": scenario.warmup_s,
            "seed": scenario.seed,
            "runs": scenario.runs,
            "flows": scenario.flow_names,
            "gates": scenario.gate_names,
            "inputs": scenario.inputs,
            "warnings": scenario.warnings,
        }
        if explain:
            result["explain"] = scenario.explain()
            result["theories"] = [_judged(each) for each in match(scenario)]
        say_json(result)
    elif explain:
        say(plain(scenario.explain().rstrip("\n")))
        say("\ntheory")
        for each in match(scenario):
            say(plain(theory_line(_judged(each))))
    else:
        flows, gates = len(scenario.flow_names), len(scenario.gate_names)
        say(
            f"{file}: no problems ({count(flows, 'flow')}, {count(gates, 'gate')}, "
            f"{scenario.duration_s:g} s; --explain prints every default)"
        )
    warn(scenario.warnings)


def _judged(told: Fit | Miss) -> dict[str, Any]:
    """Return whether a theory applies, for people and programs."""
    if not told:
        return {"theory": told.theory, "applies": False, "because": getattr(told, "reason", None)}
    return {"theory": told.theory, "applies": True, "bent": list(getattr(told, "bent", ()))}
