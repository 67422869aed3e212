"""The command ``run``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidegate._base.files import folder_beside, write_text
from tidegate._base.written import check_target
from tidegate._cli.begin import SCENARIO
from tidegate._cli.command import Command
from tidegate._cli.names import OUT_DIR, OUTPUT, Whole
from tidegate._cli.options import (
    FORCE,
    JSON,
    PERTURB,
    RECORD,
    REPORT,
    SEED,
    SET,
    command_line,
    engine_option,
    epilog,
    needs,
    say,
    warn,
)
from tidegate._cli.picture import SHOW, panels

if TYPE_CHECKING:
    from tidegate._ask.scenario import Scenario
    from tidegate._run.value import Run


TABLE = click.option(
    "csv",
    "--csv",
    metavar="FILE",
    type=OUTPUT,
    help="Write every number of the summary as CSV, a row each, named as for check-run.",
)


@click.command(
    cls=Command,
    epilog=epilog(
        "run scenario.toml",
        'run scenario.toml --set gate.link.queue="20 packets" --plot run.png',
        "run scenario.toml --perturb 16",
        "run scenario.toml --engine live --out results",
        page="start",
    ),
)
@SCENARIO
@SEED
@SET
@click.option(
    "--out", metavar="DIR", type=OUT_DIR, help="Write a run folder: manifest, summary, time series."
)
@FORCE
@RECORD
@click.option("--pcap", is_flag=True, help="Also record every packet, in DIR/packets.pcap.")
@click.option("--qlog", is_flag=True, help="Also log each QUIC connection, in DIR/qlog.")
@click.option(
    "picture",
    "--plot",
    metavar="FILE",
    type=OUTPUT,
    help="Draw the run; the name ends in .png, .svg or .pdf.",
)
@click.option(
    "--gate", metavar="NAME", help="The gate to draw; default: the gate that limits the flows most."
)
@SHOW
@REPORT
@TABLE
@click.option(
    "--flent", metavar="FILE", type=OUTPUT, help="Write a data file of flent; the name ends in .flent.gz."
)
@click.option(
    "--replication",
    type=Whole("replication"),
    metavar="N",
    default=0,
    show_default=True,
    help="Which replication to run; the first is 0.",
)
@click.option("--exact", is_flag=True, help="Take no fast path: slower, same results.")
@click.option(
    "--threads",
    type=Whole("threads"),
    metavar="N",
    help="Use N threads at most; default: one for each processor. Only a run of 4096 flows or more uses "
    "more than one.",
)
@PERTURB
@engine_option("sim", "live", "theory")
@JSON
def run(
    file: Any,
    seed: int | None,
    sets: tuple[str, ...],
    out: str | None,
    force: bool,
    record: str | None,
    pcap: bool,
    qlog: bool,
    picture: str | None,
    gate: str | None,
    show: str | None,
    page: str | None,
    csv: str | None,
    flent: str | None,
    replication: int,
    exact: bool,
    threads: int | None,
    perturb: int | None,
    engine: str,
    as_json: bool,
) -> None:
    """Run a scenario and report the results.

    FILE is a scenario in TOML or JSON.
    """
    from tidegate._ask.source import as_scenario, check_engine, check_useful
    from tidegate._base.progress import Progress
    from tidegate._run.folder import PCAP, QLOG, fill_run, staged
    from tidegate._run.perturbed import check_perturb
    from tidegate._run.start import execute

    check_engine(engine, ("sim", "live", "theory"))
    check_target(page, "report")
    check_target(csv)
    check_target(flent, "data file of flent")
    check_perturb(perturb, engine)
    given = {"seed": seed, "replication": replication, "record": record, "pcap": pcap, "qlog": qlog}
    given |= {"exact": exact, "threads": threads, "plot": picture, "gate": gate, "show": show, "flent": flent}
    check_useful(engine, given, option=True)
    needs(out, "--out DIR", {"--force": force})
    if engine == "theory":
        _theory(as_scenario(file, sets), out, page, csv, force=force, as_json=as_json)
        return
    needs(picture, "--plot FILE", {"--show": show, "--gate": gate})
    if qlog and out is None:
        raise click.UsageError("--qlog needs --out DIR: the logs are written to DIR/qlog")
    if pcap and out is None:
        raise click.UsageError("--pcap needs --out DIR: the packets are written to DIR/packets.pcap")
    scenario = as_scenario(file, sets, seed=seed)
    shown = panels(show)
    check_target(picture, "picture")
    if gate is not None:
        _check_gate(scenario, gate)
    if record is None and not (out or picture or page or flent):
        record = "summary"
    with contextlib.ExitStack() as stack:
        work = None
        packets = logs = None
        if out is not None:
            # Made before the run: a place that cannot be written is known at once.
            work = stack.enter_context(staged(Path(out), force=force))
            if pcap or qlog:
                beside = stack.enter_context(folder_beside(Path(out)))
                packets = beside / PCAP if pcap else None
                logs = beside / QLOG if qlog else None
        with Progress("running") as progress:
            result = execute(
                scenario,
                seed=seed,
                engine=engine,
                record=record,
                replication=replication,
                pcap=packets,
                qlog=logs,
                exact=exact,
                threads=threads,
                tick=progress.tick,
                command=command_line(),
                perturb=perturb,
            )
        if gate is not None:
            result.gates.row(gate)
        if work is not None:
            fill_run(result, work)
        if picture is not None:
            from tidegate._draw.write import write_picture
            from tidegate._run.plot import run_drawing

            write_picture(run_drawing(result, gate=gate, show=shown), Path(picture))
        if flent is not None:
            result.write_flent(flent)
        _tell(
            result, out, page, csv, as_json=as_json, places={"Picture": picture, "Data file of flent": flent}
        )


def _check_gate(scenario: Scenario, gate: str) -> None:
    """Refuse before the run a gate that the picture could not show; the run's gates have the last word.

    Raises:
        UnknownNameError: the scenario has no such gate.
        NotRecordedError: it does not record it.
    """
    from tidegate._ask.compiled import recorded_gates
    from tidegate._base.nearest import nearest
    from tidegate._run.record import not_recorded
    from tidegate.errors import NotRecordedError, UnknownNameError

    # A gate with per = "flow" has copies: access/user.1.
    written = gate.partition("/")[0]
    if written not in scenario.gate_names:
        raise UnknownNameError(nearest("gate", gate, scenario.gate_names))
    recorded = recorded_gates(scenario)
    if written not in recorded:
        raise NotRecordedError(not_recorded(gate, recorded))


def _tell(
    result: Run,
    out: str | None,
    page: str | None,
    csv: str | None,
    *,
    as_json: bool,
    places: dict[str, str | None] | None = None,
) -> None:
    """Write the page and the table, and print the results and where everything is."""
    if page is not None:
        result.write_report(page)
    if csv is not None:
        write_text(csv, result.numbers().write_csv())
    if as_json:
        for piece in result.json_pieces():
            say(piece, end="")
        say()
    else:
        say(result.report())
        places = {"Run folder": out, **(places or {}), "Report": page, "Table": csv}
        for what, place in places.items():
            if place is not None:
                say(f"{what}: {place}")
    warn(result.warnings)


def _theory(
    scenario: Scenario, out: str | None, page: str | None, csv: str | None, *, force: bool, as_json: bool
) -> None:
    from tidegate._run.theory import solve

    result = solve(scenario, command_line())
    if out is not None:
        result.save(out, force=force)
    _tell(result, out, page, csv, as_json=as_json)
