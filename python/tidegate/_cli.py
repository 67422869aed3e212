"""The command line. Nothing heavy is imported before a command needs it.

Exit status: 0 fine; 1 a run failed or a check did not hold; 2 the input was wrong;
130 stopped by Ctrl-C. With ``--json`` standard output is one JSON object and nothing else;
what people should know goes to standard error.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidegate import _cli_live, _cli_studies
from tidegate._cli_options import (
    ENGINE,
    FILE,
    FORCE,
    JSON,
    RECORD,
    SEED,
    SET,
    check_picture,
    command_line,
    count,
    note,
    parse_vary,
    plain,
    say,
    say_json,
    tell,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._scenario import Scenario
    from tidegate.theory import Fit, Miss

FAILED = 1
WRONG_INPUT = 2
STOPPED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="tidegate", message="tidegate %(version)s")
def cli() -> None:
    """Say what TCP does over a link whose rate is controlled.

    A scenario file goes in; tables, columns and a picture come out.
    """


@cli.command()
@FILE
@SEED
@SET
@click.option("--out", metavar="DIR", help="Write a run folder: manifest, summary, columns.")
@FORCE
@RECORD
@click.option("--pcap", is_flag=True, help="Also keep every packet, as DIR/packets.pcap.")
@click.option("picture", "--plot", metavar="FILE", help="Draw the run: .png, .svg or .pdf.")
@click.option("--gate", metavar="NAME", help="The gate to draw; default: the one that limits most.")
@click.option(
    "--replication",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Which of the scenario's runs.",
)
@click.option("--exact-events", is_flag=True, help="Every departure an event: slower, equal results.")
@ENGINE
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
    replication: int,
    exact_events: bool,
    engine: str,
    as_json: bool,
) -> None:
    """Run a scenario and say what happened.

    FILE is a scenario, TOML or JSON.
    """
    import tempfile

    from tidegate import _folder
    from tidegate._progress import Progress
    from tidegate._run import as_scenario, check_engine, execute

    check_engine(engine, ("sim", "live", "theory"))
    if engine == "live" and exact_events:
        raise click.UsageError("--exact-events is about virtual time; a live run has none")
    if engine == "theory":
        given = {"--pcap": pcap, "--plot": picture, "--record": record, "--exact-events": exact_events}
        wrong = [option for option, value in given.items() if value]
        if wrong:
            raise click.UsageError(f"{wrong[0]} is not for a theory: it gives no packets and no columns")
        _theory(as_scenario(file, sets), out, force=force, as_json=as_json)
        return
    if pcap and out is None:
        raise click.UsageError("--pcap needs --out DIR: the packets become DIR/packets.pcap")
    scenario = as_scenario(file, sets)
    if picture is not None:
        check_picture(picture)
    if record is None and out is None and picture is None:
        record = "summary"
    with contextlib.ExitStack() as stack:
        work = None
        packets = None
        if out is not None:
            # Made before the run: a place that cannot be written is known at once.
            work = stack.enter_context(_folder.staged(Path(out), force=force))
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
            _folder.fill_run(result, work)
        if picture is not None:
            result.plot(picture, gate=gate)
    if as_json:
        say(result.to_json())
    else:
        from tidegate import _text

        say(_text.run_report(result.summary, result.title))
        if out is not None:
            say(f"Run folder: {out}")
        if picture is not None:
            say(f"Picture: {picture}")
    warn(result.warnings)


def _theory(scenario: Scenario, out: str | None, *, force: bool, as_json: bool) -> None:
    from tidegate import _text
    from tidegate.theory._engine import solve

    result = solve(scenario, command_line())
    if out is not None:
        result.save(out, force=force)
    say(result.to_json() if as_json else _text.theory_report(result.summary, result.title))
    if out is not None and not as_json:
        say(f"Run folder: {out}")
    warn(result.warnings)


@cli.command()
@FILE
@SET
@click.option("--explain", is_flag=True, help="Print every default filled in, and the consequences.")
@JSON
def check(file: str, sets: tuple[str, ...], explain: bool, as_json: bool) -> None:
    """Check a scenario without running it."""
    from tidegate import _text
    from tidegate._scenario import load
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
            say(plain(_text.theory_line(_judged(each))))
    else:
        flows, gates = len(scenario.flow_names), len(scenario.gate_names)
        say(
            f"{file}: fine ({count(flows, 'flow')}, {count(gates, 'gate')}, "
            f"{scenario.duration_s:g} s; --explain prints every default)"
        )
    warn(scenario.warnings)


def _judged(told: Fit | Miss) -> dict[str, Any]:
    """Return whether a theory applies, for people and programs."""
    if not told:
        return {"theory": told.theory, "applies": False, "because": getattr(told, "reason", None)}
    return {"theory": told.theory, "applies": True, "bent": list(getattr(told, "bent", ()))}


@cli.command()
@click.argument("folder", metavar="FOLDER")
@click.option("target", "-o", "--output", metavar="FILE", help="The picture; default: in FOLDER.")
@click.option("--gate", metavar="NAME", help="The gate to draw; default: the one that limits most.")
@click.option("--metric", metavar="NAME", help="Of a study: what to draw; default: goodput_bps.")
@click.option("--axis", metavar="KEY", help="Of a study: the key along the bottom.")
@JSON
def plot(
    folder: str, target: str | None, gate: str | None, metric: str | None, axis: str | None, as_json: bool
) -> None:
    """Draw a run, a comparison or a study again, from its folder alone.

    Writes FOLDER/run.png, FOLDER/comparison.png or FOLDER/study.png unless told otherwise;
    the suffix chooses PNG, SVG or PDF.
    """
    from tidegate import _folder
    from tidegate._folder_group import open_comparison, open_engines, open_study

    if target is not None:
        check_picture(target)
    kind = _folder.read_manifest(Path(folder))["kind"]
    place = Path(target) if target is not None else Path(folder) / f"{kind}.png"
    if kind != "study" and (metric is not None or axis is not None):
        raise click.UsageError(f"{folder}: --metric and --axis are for studies; this folder holds a {kind}")
    if kind == "engines":
        if gate is not None:
            raise click.UsageError(f"{folder}: this folder holds a comparison of engines by one gate")
        open_engines(folder).plot(place)
    elif kind == "study":
        open_study(folder).plot(place, metric=metric or "goodput_bps", axis=axis)
    elif kind == "comparison":
        open_comparison(folder).plot(place, gate=gate)
    else:
        _folder.open_run(folder).plot(place, gate=gate)
    if as_json:
        say_json({"folder": folder, "picture": str(place)})
    else:
        say(f"Picture: {place}")


@cli.command()
@FILE
@click.option(
    "vary",
    "--vary",
    multiple=True,
    metavar="KEY=A,B,C",
    help="A key and its values; several keys multiply.",
)
@click.option("--engines", metavar="A,B,C", help="Instead of --vary: two or three of theory, sim, live.")
@click.option("--runs", type=click.IntRange(1), help="With --engines: runs of sim and of live; default: 3.")
@click.option("--tolerance", metavar="SHARE", help='With --engines: they agree up to this; default "5%".')
@SEED
@SET
@click.option("--out", metavar="DIR", help="Write a folder with every variant's run.")
@FORCE
@RECORD
@click.option("picture", "--plot", metavar="FILE", help="The picture; default: NAME-compare.png here.")
@click.option("--gate", metavar="NAME", help="The gate to compare; default: the one that limits most.")
@click.option("--jobs", type=click.IntRange(1), help="Runs at a time; default: one per processor.")
@ENGINE
@JSON
def compare(
    file: str,
    vary: tuple[str, ...],
    engines: str | None,
    runs: int | None,
    tolerance: str | None,
    seed: int | None,
    sets: tuple[str, ...],
    out: str | None,
    force: bool,
    record: str | None,
    picture: str | None,
    gate: str | None,
    jobs: int | None,
    engine: str,
    as_json: bool,
) -> None:
    """Run variants of a scenario over the same network: one table, one picture.

    Every variant has the same seed, so the network is the same in all of them. With
    --json no picture is drawn unless --plot or --out asks for it. With --engines it is the
    same scenario through several engines, and what agrees.
    """
    from tidegate import _cli_engines, _folder
    from tidegate._compare import execute_all, prepare
    from tidegate._folder_fill import fill_comparison
    from tidegate._progress import Progress
    from tidegate._run import check_engine

    if engines is not None:
        if vary or jobs is not None:
            raise click.UsageError(f"--engines does not go with {'--vary' if vary else '--jobs'}")
        _cli_engines.compare_engines(
            file,
            engines,
            sets,
            runs=runs,
            tolerance=tolerance,
            seed=seed,
            out=out,
            force=force,
            record=record,
            picture=picture,
            gate=gate,
            as_json=as_json,
        )
        return
    for option, value in (("--runs", runs), ("--tolerance", tolerance)):
        if value is not None:
            raise click.UsageError(f"{option} goes with --engines")
    if not vary:
        raise click.UsageError("give --vary KEY=A,B,C, or --engines theory,sim,live")
    check_engine(engine, ("sim", "live"))
    if engine == "live" and jobs not in (None, 1):
        raise click.UsageError("--jobs: live runs go one after the other")
    prepared = prepare(file, parse_vary(vary), sets)
    if picture is None and out is None and not as_json:
        picture = f"{prepared.variants[0][1].stem}-compare.png"
    if picture is not None:
        check_picture(picture)
    with contextlib.ExitStack() as stack:
        work = None
        if out is not None:
            work = stack.enter_context(_folder.staged(Path(out), force=force))
        with Progress(f"running {len(prepared.variants)} variants") as progress:
            result = execute_all(
                prepared,
                seed=seed,
                engine=engine,
                record=record,
                gate=gate,
                jobs=jobs,
                progress=progress,
                command=command_line(),
            )
        if work is not None:
            fill_comparison(result, work)
        if picture is not None:
            result.plot(picture)
    tell(result, as_json=as_json, folder=out, picture=picture)


cli.add_command(_cli_studies.study)
cli.add_command(_cli_studies.reproduce)
cli.add_command(_cli_studies.size)
cli.add_command(_cli_studies.tune)
cli.add_command(_cli_live.live)


@cli.group()
def traces() -> None:
    """Describe, convert and make link traces."""


_FORMAT = click.option(
    "format_", "--format", metavar="NAME", help="mahimahi, drp or csv; default: by name and content."
)
_OPPORTUNITY = click.option(
    "--opportunity-bytes",
    type=click.IntRange(1),
    default=1500,
    show_default=True,
    help="Bytes of one Mahimahi line (1504: as Mahimahi's own code charges).",
)


@traces.command("info")
@click.argument("file", metavar="FILE")
@_FORMAT
@_OPPORTUNITY
@JSON
def traces_info(file: str, format_: str | None, opportunity_bytes: int, as_json: bool) -> None:
    """Say how long a trace is, how fast, and where it stalls."""
    from tidegate._traces import trace_info

    info = trace_info(file, format=format_, opportunity_bytes=opportunity_bytes)
    if as_json:
        say_json(info)
    else:
        from tidegate import _text

        say(_text.trace_report(file, info))


@traces.command("convert")
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option("--to", metavar="NAME", help="mahimahi, drp or csv; default: by TARGET's suffix.")
@_FORMAT
@_OPPORTUNITY
@click.option("--window", metavar="SPAN", help='Rates are means over this long, such as "100 ms".')
@JSON
def traces_convert(
    source: str,
    target: str,
    to: str | None,
    format_: str | None,
    opportunity_bytes: int,
    window: str | None,
    as_json: bool,
) -> None:
    """Write a trace in another format, keeping its capacity."""
    from tidegate._traces import trace_convert

    trace_convert(source, target, to=to, format=format_, opportunity_bytes=opportunity_bytes, window=window)
    if as_json:
        say_json({"source": source, "target": target})
    else:
        say(f"Trace: {target}")


@traces.command("synth")
@click.argument("target", metavar="TARGET")
@click.option("--model", default="cellular", show_default=True, help="The stochastic model.")
@SEED
@click.option("--to", metavar="NAME", help="mahimahi, drp or csv; default: by TARGET's suffix.")
@click.option("--mean", metavar="RATE", help='Mean rate; default "5 Mbit/s".')
@click.option("--duration", metavar="SPAN", help='Length; default "120 s".')
@click.option("--step", metavar="SPAN", help='The rate is constant inside a step; default "1 ms".')
@click.option(
    "--variability", type=float, help="0: constant between outages; 1, the default: a moving phone."
)
@click.option("--outage-share", type=float, help="Share of the time without service; default 0.05.")
@click.option("--opportunity-bytes", type=click.IntRange(1), help="Bytes of one Mahimahi line; default 1500.")
@click.option("--window", metavar="SPAN", help="drp and csv: rates are means over this long.")
@JSON
def traces_synth(target: str, model: str, seed: int | None, as_json: bool, **parameters: Any) -> None:
    """Make a link trace from a stochastic model.

    The cellular model is a moving phone's LTE link; its documentation says how close it
    comes to measured ones.
    """
    from tidegate._seed import choose
    from tidegate._traces import trace_synth

    chosen = choose(seed, None)
    trace_synth(target, model=model, seed=chosen, **parameters)
    if as_json:
        say_json({"target": target, "model": model, "seed": chosen})
    else:
        say(f"Trace: {target} (model {model}, seed {chosen})")


@cli.command()
@JSON
def schema(as_json: bool) -> None:  # noqa: ARG001
    """Print the JSON Schema of scenario files."""
    from tidegate._scenario import schema as get_schema

    say_json(get_schema())


@cli.command()
@JSON
def reference(as_json: bool) -> None:
    """Print every key of the scenario language, as Markdown."""
    from tidegate._scenario import reference as get_reference

    text = get_reference()
    if as_json:
        say_json({"reference": text})
    else:
        say(plain(text.rstrip("\n")))


def main() -> None:
    """Run the command line and leave with its exit status."""
    # A process that is asked to end removes what it has begun to write.
    signal.signal(signal.SIGTERM, _end)
    sys.exit(guarded(lambda: cli.main(sys.argv[1:], prog_name="tidegate", standalone_mode=False)))


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def guarded(work: Callable[[], Any]) -> int:
    """Do the work; turn every error into a message and an exit status, never a traceback."""
    try:
        result = work()
        sys.stdout.flush()
    except BaseException as error:
        return _explain(error)
    return result if isinstance(result, int) else 0


def _explain(error: BaseException) -> int:
    if isinstance(error, BrokenPipeError):
        # Whoever read has seen enough.
        _mute(sys.stdout)
        return 0
    if isinstance(error, SystemExit | click.exceptions.Exit):
        code = error.code if isinstance(error, SystemExit) else error.exit_code
        return code if isinstance(code, int) else FAILED
    if isinstance(error, KeyboardInterrupt | click.Abort):
        # click makes an Abort of every KeyboardInterrupt; what was said is in its cause.
        cause = error.__cause__ if isinstance(error, click.Abort) else error
        note(str(cause or "") or "stopped")
        return STOPPED
    status, message = _judge(error)
    if status == FAILED and os.environ.get("TIDEGATE_TRACEBACK"):
        raise error
    _report_json(error, message)
    try:
        note(message)
    except OSError:
        _mute(sys.stderr)
    return status


def _judge(error: BaseException) -> tuple[int, str]:
    from tidegate import _errors

    if isinstance(error, click.UsageError):
        context = f"\n{error.ctx.get_usage()}" if error.ctx is not None else ""
        return WRONG_INPUT, f"error: {error.format_message()}{context}"
    if isinstance(error, click.ClickException):
        return WRONG_INPUT, f"error: {error.format_message()}"
    if isinstance(error, _errors.ScenarioError):
        text = str(error)
        return WRONG_INPUT, text if text.startswith("error") else f"error: {text}"
    if isinstance(error, OSError):
        full = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
        status = FAILED if error.errno in full else WRONG_INPUT
        what = (error.strerror or str(error)).lower()
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        return status, f"error: {': '.join([*names[-1:], what])}"
    if isinstance(error, ImportError):
        return FAILED, f"error: the installation is not complete ({error})"
    if isinstance(error, _errors.RunError):
        return FAILED, f"error: {error}"
    if isinstance(error, _errors.InternalError):
        return FAILED, f"error: {error}"
    if isinstance(error, _errors.EngineError | _errors.UnknownNameError | _errors.NotRecordedError):
        return WRONG_INPUT, f"error: {error}"
    if isinstance(
        error, _errors.ArgumentError | _errors.TraceError | _errors.RunFolderError | _errors.StoreError
    ):
        return WRONG_INPUT, f"error: {error}"
    if isinstance(error, MemoryError):
        return FAILED, "error: out of memory; record less (--record summary) or run a shorter scenario"
    return FAILED, (
        f"error: this is a bug in tidegate: {type(error).__name__}: {error}\n"
        "please report it with the scenario and the seed (TIDEGATE_TRACEBACK=1 shows where)"
    )


def _report_json(error: BaseException, message: str) -> None:
    """With ``--json``, say on standard output what went wrong, as one object too."""
    if "--json" not in sys.argv:
        return
    parts = {
        name: getattr(error, name)
        for name in ("file", "line", "column", "key", "read", "help")
        if getattr(error, name, None) not in (None, "")
    }
    try:
        say_json({"error": {"kind": type(error).__name__, "message": message, **parts}})
        sys.stdout.flush()
    except OSError:
        _mute(sys.stdout)


def _mute(stream: Any) -> None:
    """Let nothing more be written to a stream that is closed at the other end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
