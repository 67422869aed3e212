"""Every public function with each argument of a wrong kind: an error of ours that names it, or an answer."""

from __future__ import annotations

import inspect
import operator
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tidegate as tg
import tidegate_papers
from support.common import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Broken(os.PathLike[str]):
    def __fspath__(self) -> str:
        raise KeyError("x")


def endless() -> dict[str, Any]:
    held: dict[str, Any] = {}
    held["a"] = held
    return held


WRONG: list[Any] = [
    None,
    5,
    -1,
    2**70,
    object(),
    [],
    {},
    float("nan"),
    float("inf"),
    "",
    "\0",
    b"x",
    [5],
    {5: 5},
]
WRONG += [Broken(), endless(), [[["x"]]], lambda: 5, tg, 1.5, True, 0, ".", np.array([1, 2]), 10**5000]
#: Halves of a surrogate pair are no text, and in a name of a file no byte either.
WRONG += ["\ud800", ["\ud800"], {"title": "\ud800"}, "a\udcff", {"duration": None}, {"a": None}, [None], [""]]

OURS = tuple(getattr(tg.errors, name) for name in tg.errors.__all__)
#: What pages name beside them.
NAMED = (*OURS, OSError)

#: For each function the arguments of a call that is good, or nearly: no file that is named is there.
GOOD: dict[str, dict[str, Any]] = {
    "check_run": {"expect": ["flow.bulk.goodput_bps > 1 Mbit/s"], "store": False},
    "compare_engines": {"engines": ["sim", "theory"]},
    "export": {"to": "tc"},
    "reproduce": {"target": "nothing"},
    "size": {"gate": "nothing"},
    "study": {"store": False, "runs": 2},
    "study_part": {"shard": "1/2", "store": False, "runs": 2},
    "traces.synth": {"seed": 1, "duration": "1 s", "to": "csv"},
    "tune": {"goal": "nothing"},
    "regress": {"measurement": "nothing.pcap"},
    "traces.convert": {"to": "csv"},
    "dtm.allocate": {"rates_bps": [1, 2, 3]},
    "effcap.effective_capacity": {"C": [1, 2], "P": [[1, 0], [0, 1]], "delta": 0.5},
    "theory.kaufman_roberts": {"capacity": 3, "loads": [1, 2], "sizes": [1, 2]},
    "theory.product_form": {"capacities": [3], "classes": []},
}
#: Packages of arithmetic.
NUMBERS = ("theory", "gcra", "effcap", "dtm")
FUNCTIONS = sorted(
    [
        *(name for name in tg.__all__ if inspect.isfunction(getattr(tg, name))),
        "reproduce",
        *(
            f"{part}.{name}"
            for part in ("traces", *NUMBERS)
            for name in getattr(tg, part).__all__
            if inspect.isfunction(getattr(getattr(tg, part), name))
        ),
        "Network",
        "Until",
    ]
)


def test_the_list_has_functions() -> None:
    assert len(FUNCTIONS) > 20


@pytest.fixture
def document() -> dict[str, Any]:
    import tomllib

    return {**tomllib.loads(SMALL), "duration": "200 ms", "warmup": "0 s", "seed": 1}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_argument_is_named(
    name: str, document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEGATE_STORE", str(tmp_path / "store"))
    function = operator.attrgetter(name)(tidegate_papers if name == "reproduce" else tg)
    parameters = inspect.signature(function).parameters
    good = {
        key: _good(key, document, tmp_path) for key, each in parameters.items() if each.default is each.empty
    }
    good |= GOOD.get(name, {})
    for key in parameters:
        for wrong in WRONG:
            # What a function of the caller raises is the caller's.
            if key in ("measure", "progress") and callable(wrong):
                continue
            called(function, {**good, key: wrong}, key, wrong)


def _good(key: str, document: dict[str, Any], folder: Path) -> Any:
    if key in ("arrivals", "sizes", "capacity"):
        return [1, 2, 3]
    if key in ("T", "T_scr", "T_pcr", "tau", "m", "n", "per_byte", "burst", "servers", "sources", "mbs"):
        return 2
    if key in (
        "load",
        "loss",
        "rtt",
        "bdp",
        "idle",
        "patience",
        "hold",
        "blocking",
        "wanted",
        "bucket",
        "delta",
    ):
        return 0.5
    return document if key in ("source", "scenario") else str(folder / f"no-{key}")


def called(function: Callable[..., Any], given: dict[str, Any], key: str, wrong: Any) -> None:
    try:
        function(**given)
    except NAMED as error:
        assert str(error), (key, wrong)  # noqa: PT017
    except Exception as error:
        pytest.fail(f"{function.__name__}({key}={wrong!r:.60}): {type(error).__name__}: {error}")


def test_arguments_are_named() -> None:
    for given, message in (
        ({"seed": -1}, "seed: read -1; takes a whole number from 0 to 9223372036854775807"),
        ({"seed": "x"}, "seed: read 'x'; takes a whole number or None"),
        ({"replication": 2**64}, "replication: read 18446744073709551616"),
        ({"changes": "x"}, "changes: read 'x'; takes a dict or a list or None"),
        ({"exact": 5}, "exact: read 5; takes True or False"),
        ({"record": ["x"]}, r"record: read \['x'\]; takes text or None"),
    ):
        with pytest.raises(tg.errors.ArgumentError, match=message):
            tg.run({}, **given)
    with pytest.raises(tg.errors.ArgumentError, match=r"expect\[1\]: read 5; takes text"):
        tg.check_run({}, ["a", 5])
    with pytest.raises(
        tg.errors.ArgumentError, match="source: this is nested more than 32 deep, or holds itself"
    ):
        tg.run(endless())


def test_a_row_is_no_name(document: dict[str, Any]) -> None:
    run = tg.run(document)
    with pytest.raises(tg.errors.UnknownNameError, match="is named by a text, not by FlowRow"):
        run.flows[next(iter(run.flows))]
    with pytest.raises(tg.errors.UnknownNameError, match="is named by a text, not by object"):
        run.flows[object()]


#: Methods whose arguments are checked where they are used: not for users, or Python's own protocol.
INSIDE = {("Scenario", "confined"), ("Scenario", "given"), ("Packets", "get")}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return a small result of each kind that has methods with arguments."""
    import tomllib

    text, capture = tomllib.loads(SMALL), tmp_path_factory.mktemp("capture") / "x.pcap"
    run = tg.run(text, seed=1, record="events", pcap=capture)
    delays = {"gate.bottleneck.delay": ["1 ms", "2 ms"]}
    return {
        "Run": run,
        "FlowRow": run.flows["bulk"],
        "Table": run.flows,
        "Study": tg.study(text, runs=2, store=False, seed=1, vary=delays),
        "Comparison": tg.compare(text, vary=delays, seed=1),
        "Scenario": tg.Scenario.from_dict(text),
        "Identification": tg.identify(capture),
        "CapturedTrace": tg.traces.from_capture(capture),
        "Export": tg.export(tg.Scenario.from_dict(text), to="tc"),
    }


def methods(result: Any) -> Iterator[tuple[str, Callable[..., Any], list[inspect.Parameter]]]:
    for name, method in inspect.getmembers(type(result), callable):
        if name.startswith("_") or (type(result).__name__, name) in INSIDE or isinstance(method, type):
            continue
        bound = getattr(result, name)
        yield name, bound, list(inspect.signature(bound).parameters.values())


@pytest.mark.parametrize(
    "kind",
    [
        "Run", "FlowRow", "Table", "Study", "Comparison", "Scenario", "Identification", "CapturedTrace",
        "Export",
    ],
)  # fmt: skip
def test_methods_of_results_name_the_wrong_argument(
    kind: str, results: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    unnamed = []
    for name, method, parameters in methods(results[kind]):
        for parameter in parameters:
            others = {
                each.name: "x.png" if "Path" in str(each.annotation) else "nothing"
                for each in parameters
                if each.default is each.empty
                and each is not parameter
                and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
            }
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                continue
            for value in WRONG:
                try:
                    method(**others, **{parameter.name: value})
                except NAMED:
                    continue
                except Exception as error:
                    unnamed.append(f"{name}({parameter.name}={value!r}): {type(error).__name__}: {error}")
                    break
    assert unnamed == []


def test_a_row_that_is_taken_for_a_name_is_told(results: dict[str, Any]) -> None:
    flows = results["Run"].flows
    with pytest.raises(tg.errors.UnknownNameError, match="a flow is named by a text, not by FlowRow"):
        flows[next(iter(flows))]
    with pytest.raises(IndexError, match="row 5 does not exist; there are 1"):
        flows[5]
    with pytest.raises(tg.errors.UnknownNameError, match="named by a text, not by list"):
        flows["bulk"][["goodput_bps"]]


@pytest.mark.parametrize("value", [None, 5, object(), b"x", [5]], ids=lambda value: type(value).__name__)
def test_texts_and_lists_of_cells_and_endpoints_are_named(value: Any) -> None:
    endpoint = tg.tcp.Endpoint()
    with pytest.raises(tg.errors.ArgumentError, match="release"):
        tg.gcra.shape([0, 7], T=10, tau=3, release=value)
    with pytest.raises(tg.errors.ArgumentError, match="role"):
        tg.tcp.Endpoint(value)
    with pytest.raises(tg.errors.ArgumentError, match="flags"):
        endpoint.receive(0, flags=value)
    with pytest.raises(tg.errors.ArgumentError, match="ecn"):
        endpoint.receive(0, ecn=value)
    with pytest.raises(tg.errors.ArgumentError, match="sack"):
        endpoint.receive(0, sack=value)


@pytest.mark.parametrize(
    ("base", "argument", "value", "said"),
    [
        *[
            (tg.CongestionControl, name, value, said)
            for name in ("mss_bytes", "initial_window_bytes", "seed")
            for value, said in (
                ("x", "'x' is not a whole number"),
                (None, "None is not a whole number"),
                (1.5, "1.5 is not a whole number"),
                (True, "True is not a whole number"),
                (-1, "-1 is out of range; from "),
                (2**64, f"{2**64} is out of range; from "),
            )
        ],
        (tg.CongestionControl, "mss_bytes", 2**32, "4294967296 is out of range; from 1 to 4294967295"),
        (tg.VideoRule, "ladder_bps", "x", "read 'x'; takes a list"),
        (tg.VideoRule, "ladder_bps", 1e6, "read 1000000.0; takes a list"),
        (tg.VideoRule, "segment_s", "4 s", "read '4 s'; takes a number"),
        (tg.VideoRule, "buffer_s", float("inf"), "read inf; takes a finite number"),
        (tg.VideoRule, "buffer_s", 0, "0 is out of range; more than 0"),
        (tg.VideoRule, "segment_s", -4, "-4 is out of range; more than 0"),
        (
            tg.VideoRule,
            "segment_s",
            61,
            "a segment of 61 s does not fit into a buffer of 60 s; make buffer_s",
        ),
        (tg.VideoRule, "ladder_bps", [], "the list is empty; give one bitrate or more"),
    ],
)
def test_what_a_users_own_class_is_made_with_is_named(
    base: type, argument: str, value: Any, said: str
) -> None:
    own = type("Own", (base,), {})
    for made in (base, own):
        with pytest.raises(tg.errors.ArgumentError, match=f"^{argument}: {said}"):
            made(**{argument: value})
    with pytest.raises(tg.errors.ArgumentError, match=r"^ladder_bps\[1\]: read nan; takes a finite number"):
        tg.VideoRule(ladder_bps=[1e6, float("nan")])
    with pytest.raises(tg.errors.ArgumentError, match=r"^ladder_bps\[0\]: 0 is out of range; more than 0"):
        tg.VideoRule(ladder_bps=[0, 1e6])
    with pytest.raises(tg.errors.ArgumentError, match=r"^ladder_bps\[2\]: 1e\+06 is not above 2e\+06"):
        tg.VideoRule(ladder_bps=[1e6, 2e6, 1e6])


def test_a_users_own_class_takes_what_a_run_gives_it() -> None:
    control = tg.CongestionControl(mss_bytes=np.int64(1000), initial_window_bytes=10_000, seed=2**64 - 1)
    assert (control.mss_bytes, control.initial_window_bytes, control.seed) == (1000, 10_000, 2**64 - 1)
    assert control.window_bytes == 10_000
    rule = tg.VideoRule(ladder_bps=np.array([1e6, 2e6]), segment_s=2, buffer_s=np.float64(9))
    assert (rule.ladder_bps, rule.segment_s, rule.buffer_s) == ([1e6, 2e6], 2.0, 9.0)
    assert tg.VideoRule().ladder_bps == [1e6]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda file: tg.run(file, changes={"flow.bulk.rtt": None}),
            "flow.bulk.rtt: a scenario has no way to",
        ),
        (
            lambda file: tg.run(file, changes={"gate.b": {"rate": None}}),
            "gate.b.rate: a scenario has no way to",
        ),
        (
            lambda file: tg.run(file, changes={"title": "\ud800"}),
            r"title: read '\\ud800', which is not UTF-8",
        ),
        (lambda file: tg.run(file, changes={"runs": 10**5000}), "runs: read a whole number of 16610 bits"),
        (lambda file: tg.run(file, pcap="."), r"\.: this is a folder; give the name of a file"),
        (lambda file: tg.run(file, record=""), """record: "" is none of"""),
        (lambda file: tg.Network(file, record=""), """record: "" is none of"""),
        (lambda file: tg.Network(file, pcap="."), r"\.: this is a folder"),
        (lambda file: tg.run(file, record="\ud800"), r"record: read '\\ud800', which is not UTF-8"),
        (lambda _: tg.run("\ud800"), r"source: read '\\ud800', which is not UTF-8"),
        (lambda _: tg.dtm.allocate([1, 2], rounding=1), "rounding: 1 is not a text"),  # type: ignore[arg-type]
        (lambda file: tg.compare(file, vary={"flow.bulk.rtt": ["30 ms", "30 ms"]}), "30 ms is there twice"),
        (lambda file: tg.study(file, vary={"flow.bulk.rtt": ["30 ms", "30 ms"]}), "30 ms is there twice"),
        (lambda _: tg.transports.judge(lambda *_: None, links=[]), "links: the list is empty"),  # type: ignore
        (lambda file: tg.run(file, seed=1).plot(show=[]), "show: the list is empty"),
        (lambda file: tg.run(file, seed=1).plot("x.txt"), "the name of a picture ends in .png, .svg or .pdf"),
        (lambda file: tg.run(file, seed=1).write_report("x.txt"), "the name of a report ends in .html"),
    ],
)
def test_a_call_says_what_is_wrong(call: Callable[[Path], Any], said: str, small: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=said):
        call(small)


def test_a_folder_that_is_not_there_is_the_error_of_files(small: Path) -> None:
    for call in (
        lambda: tg.run(small, pcap="no/x.pcap"),
        lambda: tg.run(small, seed=1).write_report("no/x.html"),
    ):
        with pytest.raises(FileNotFoundError, match="there is no folder no: 'no/x"):
            call()


def test_a_list_of_connections_is_not_empty(small: Path, tmp_path: Path) -> None:
    tg.run(small, seed=1, pcap=tmp_path / "x.pcap")
    with pytest.raises(tg.errors.ArgumentError, match="connections: the list is empty"):
        tg.regress(small, tmp_path / "x.pcap", connections=[])
    with pytest.raises(tg.errors.ArgumentError, match="connections: the list is empty"):
        tg.traces.from_capture(tmp_path / "x.pcap", connections=[])
