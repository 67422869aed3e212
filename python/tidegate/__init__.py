"""What TCP does over a link whose rate is controlled.

>>> import tidegate as tg
>>> run = tg.run("examples/lte.toml", seed=7)
>>> run.flows                                   # one row per flow
>>> run.gates["bottleneck"].series("queue")     # time_s, packets, bytes
>>> run.plot("lte.png")

Everything is here, flat; modules that begin with an underscore are private. Units are in
the names of results; in scenarios they are in the text. polars and matplotlib are loaded
when a table or a picture is asked for.

Parts that need no scenario are modules of their own, loaded when they are first named:
``tg.dtm``, the estimator behind ``rate.dtm``; ``tg.effcap``, the one behind ``rate.follow``;
``tg.gcra``, the rate limiter of ATM and of token
buckets; ``tg.tcp``, one TCP endpoint driven by hand; ``tg.theory``, what is known in closed form.
``tg.gym`` is a scenario as an environment for learned congestion control; :class:`Network` has its gates
for transports of your own, and ``tg.transports`` judges one over the links that people test with.
"""

from tidegate import _early

_early.be_quiet()

import typing as _typing  # noqa: E402

from tidegate._core import build_info  # noqa: E402

if _typing.TYPE_CHECKING:
    from tidegate import dtm, effcap, gcra, gym, tcp, theory, transports
    from tidegate._advise.gate import size_for_goal
    from tidegate._advise.gate_result import GateSizing
    from tidegate._advise.pool import size_pool
    from tidegate._advise.pool_result import PoolSizing
    from tidegate._advise.queue import size
    from tidegate._advise.queue_result import Sizing
    from tidegate._advise.tune import tune
    from tidegate._advise.tune_result import Setting, Tuning
    from tidegate._ask.scenario import Scenario, load, reference, schema
    from tidegate._base.errors import (
        ArgumentError,
        CaptureError,
        ClusterError,
        ControllerError,
        EngineError,
        InternalError,
        NotRecordedError,
        RunError,
        RunFolderError,
        ScenarioError,
        StoreError,
        StudyStoppedError,
        TooFewRunsError,
        TraceError,
        UnknownNameError,
    )
    from tidegate._base.estimate import Estimate
    from tidegate._capture.start import read as read_capture
    from tidegate._capture.trace import CapturedTrace, trace_from
    from tidegate._capture.value import Capture, Connection, Packets, Traffic
    from tidegate._compare.start import compare
    from tidegate._compare.value import Comparison
    from tidegate._compare.variants import Variant
    from tidegate._core import Ack, CongestionControl, Loss
    from tidegate._engines.start import compare_engines
    from tidegate._engines.value import EngineComparison
    from tidegate._expect.start import check_run
    from tidegate._expect.value import Checked
    from tidegate._export.start import export
    from tidegate._export.value import Export
    from tidegate._identify.start import identify
    from tidegate._identify.value import Identification
    from tidegate._network.start import Network
    from tidegate._network.value import Step
    from tidegate._open import open_comparison, open_engines, open_run, open_study
    from tidegate._regress.start import regress
    from tidegate._regress.value import Regression
    from tidegate._reproduce.start import reproduce
    from tidegate._reproduce.value import Reproduction
    from tidegate._run.start import run
    from tidegate._run.table import FlowRow, GateRow, GroupRow, RequestRow, Table
    from tidegate._run.value import Run
    from tidegate._study.merge import merge_study
    from tidegate._study.part import study_part
    from tidegate._study.point import Point
    from tidegate._study.start import study
    from tidegate._study.until import Until
    from tidegate._study.value import Study
    from tidegate._traces.start import trace_convert, trace_info, trace_plot, trace_synth

__version__ = build_info()["tidegate"]

#: Where everything public is; imported when it is first named (PEP 562), so that a command starts at once.
#: Behind a colon: the name there, where it is another.
_PLACES = {
    "Ack": "_core",
    "ArgumentError": "_base.errors",
    "Capture": "_capture.value",
    "CaptureError": "_base.errors",
    "CapturedTrace": "_capture.trace",
    "Checked": "_expect.value",
    "ClusterError": "_base.errors",
    "Comparison": "_compare.value",
    "CongestionControl": "_core",
    "Connection": "_capture.value",
    "ControllerError": "_base.errors",
    "EngineComparison": "_engines.value",
    "EngineError": "_base.errors",
    "Estimate": "_base.estimate",
    "Export": "_export.value",
    "FlowRow": "_run.table",
    "GateRow": "_run.table",
    "GateSizing": "_advise.gate_result",
    "GroupRow": "_run.table",
    "Identification": "_identify.value",
    "InternalError": "_base.errors",
    "Loss": "_core",
    "Network": "_network.start",
    "NotRecordedError": "_base.errors",
    "Packets": "_capture.value",
    "Point": "_study.point",
    "PoolSizing": "_advise.pool_result",
    "Regression": "_regress.value",
    "Reproduction": "_reproduce.value",
    "RequestRow": "_run.table",
    "Run": "_run.value",
    "RunError": "_base.errors",
    "RunFolderError": "_base.errors",
    "Scenario": "_ask.scenario",
    "ScenarioError": "_base.errors",
    "Setting": "_advise.tune_result",
    "Sizing": "_advise.queue_result",
    "Step": "_network.value",
    "StoreError": "_base.errors",
    "Study": "_study.value",
    "StudyStoppedError": "_base.errors",
    "Table": "_run.table",
    "TooFewRunsError": "_base.errors",
    "TraceError": "_base.errors",
    "Traffic": "_capture.value",
    "Tuning": "_advise.tune_result",
    "UnknownNameError": "_base.errors",
    "Until": "_study.until",
    "Variant": "_compare.variants",
    "check_run": "_expect.start",
    "compare": "_compare.start",
    "compare_engines": "_engines.start",
    "export": "_export.start",
    "identify": "_identify.start",
    "load": "_ask.scenario",
    "merge_study": "_study.merge",
    "open_comparison": "_open",
    "open_engines": "_open",
    "open_run": "_open",
    "open_study": "_open",
    "read_capture": "_capture.start:read",
    "reference": "_ask.scenario",
    "regress": "_regress.start",
    "reproduce": "_reproduce.start",
    "run": "_run.start",
    "schema": "_ask.scenario",
    "size": "_advise.queue",
    "size_for_goal": "_advise.gate",
    "size_pool": "_advise.pool",
    "study": "_study.start",
    "study_part": "_study.part",
    "trace_convert": "_traces.start",
    "trace_from": "_capture.trace",
    "trace_info": "_traces.start",
    "trace_plot": "_traces.start",
    "trace_synth": "_traces.start",
    "tune": "_advise.tune",
}

#: Public modules, imported likewise.
_MODULES = ("dtm", "effcap", "gcra", "gym", "tcp", "theory", "transports")

__all__ = [
    "Ack",
    "ArgumentError",
    "Capture",
    "CaptureError",
    "CapturedTrace",
    "Checked",
    "ClusterError",
    "Comparison",
    "CongestionControl",
    "Connection",
    "ControllerError",
    "EngineComparison",
    "EngineError",
    "Estimate",
    "Export",
    "FlowRow",
    "GateRow",
    "GateSizing",
    "GroupRow",
    "Identification",
    "InternalError",
    "Loss",
    "Network",
    "NotRecordedError",
    "Packets",
    "Point",
    "PoolSizing",
    "Regression",
    "Reproduction",
    "RequestRow",
    "Run",
    "RunError",
    "RunFolderError",
    "Scenario",
    "ScenarioError",
    "Setting",
    "Sizing",
    "Step",
    "StoreError",
    "Study",
    "StudyStoppedError",
    "Table",
    "TooFewRunsError",
    "TraceError",
    "Traffic",
    "Tuning",
    "UnknownNameError",
    "Until",
    "Variant",
    "__version__",
    "build_info",
    "check_run",
    "compare",
    "compare_engines",
    "dtm",
    "effcap",
    "export",
    "gcra",
    "gym",
    "identify",
    "load",
    "merge_study",
    "open_comparison",
    "open_engines",
    "open_run",
    "open_study",
    "read_capture",
    "reference",
    "regress",
    "reproduce",
    "run",
    "schema",
    "size",
    "size_for_goal",
    "size_pool",
    "study",
    "study_part",
    "tcp",
    "theory",
    "trace_convert",
    "trace_from",
    "trace_info",
    "trace_plot",
    "trace_synth",
    "transports",
    "tune",
]


def _named(name: str) -> object:
    """Import what a public name means; then it is an attribute and not looked for again."""
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, there = _PLACES[name].partition(":")
    found = getattr(import_module(f"{__name__}.{module}"), there or name)
    if not isinstance(found, type):
        # Calls from outside say which argument is wrong; those from inside know what they give.
        found = import_module(f"{__name__}._base.calls").checked(found)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


if not _typing.TYPE_CHECKING:
    # Hidden from type checkers, which would take every name for one.
    __getattr__ = _named
