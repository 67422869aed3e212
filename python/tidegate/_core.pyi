"""The compiled part: bindings to the Rust crates, without logic of their own."""

from collections.abc import Callable, Sequence
from typing import Any, Self, final

from typing_extensions import disjoint_base

__all__ = [
    "Ack",
    "ArgumentError",
    "BucketReplay",
    "CaptureData",
    "CaptureError",
    "CongestionControl",
    "ControllerError",
    "Endpoint",
    "EngineError",
    "FilledBucket",
    "InternalError",
    "Loss",
    "Network",
    "Pool",
    "QueueWaits",
    "RunData",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Stepper",
    "TraceError",
    "VideoChoice",
    "VideoRule",
    "build_info",
    "capture_read",
    "columns",
    "dtm_allocate",
    "effcap_estimate",
    "gcra_burst_tolerance",
    "gcra_dual",
    "gcra_max_burst_size",
    "gcra_police",
    "gcra_shape",
    "live_clean",
    "live_enter",
    "plan_objects",
    "read_instant",
    "read_rate",
    "read_span",
    "reference",
    "schema",
    "small_changes",
    "student_t",
    "trace_convert",
    "trace_info",
    "trace_synth",
]

class ScenarioError(ValueError):
    """A scenario is wrong; str() is the whole message, the attributes are its parts.

    ``problem`` is one sentence; ``others`` are further problems of the same scenario.
    """

    file: str | None
    line: int | None
    column: int | None
    key: str | None
    read: str | None
    problem: str | None
    help: str | None
    others: list[ScenarioError] | None

class TraceError(ValueError):
    """A link trace cannot be used; the message names file and line."""

    file: str | None
    line: int | None
    read: str | None
    help: str | None

class CaptureError(ValueError):
    """A file is no capture, or cannot be used as one; the message names the file."""

class ArgumentError(ValueError):
    """An argument of a call has a value that it cannot have; the message says what it takes."""

class EngineError(NotImplementedError):
    """The engine asked for does not exist, or cannot do this here; the message says why."""

class ControllerError(ValueError):
    """A congestion controller in Python failed; the message names file, line and mistake."""

class RunError(RuntimeError):
    """A run stopped before its end."""

class InternalError(RuntimeError):
    """A bug in Tidegate itself, not in the scenario."""

@final
class Ack:
    """What is known after an acknowledgement."""

    @property
    def time_s(self) -> float: ...
    @property
    def delivered_bytes(self) -> int: ...
    @property
    def delivered_segments(self) -> int: ...
    @property
    def ecn_marked_segments(self) -> int: ...
    @property
    def ecn_marked_bytes(self) -> int | None: ...
    @property
    def lost_bytes(self) -> int: ...
    @property
    def in_flight_before_bytes(self) -> int: ...
    @property
    def in_flight_bytes(self) -> int: ...
    @property
    def rtt_s(self) -> float | None: ...
    @property
    def smoothed_rtt_s(self) -> float: ...
    @property
    def acknowledged_bytes(self) -> int: ...
    @property
    def sent_bytes(self) -> int: ...
    @property
    def repair(self) -> str | None: ...
    @property
    def window_limited(self) -> bool: ...
    @property
    def round(self) -> int: ...
    @property
    def rate_bps(self) -> float | None: ...
    @property
    def rate_interval_s(self) -> float | None: ...
    @property
    def rate_delivered_bytes(self) -> int | None: ...
    @property
    def rate_lost_bytes(self) -> int | None: ...
    @property
    def rate_prior_delivered_bytes(self) -> int | None: ...
    @property
    def rate_total_delivered_bytes(self) -> int | None: ...
    @property
    def rate_sent_in_flight_bytes(self) -> int | None: ...
    @property
    def rate_app_limited(self) -> bool | None: ...
    @property
    def rate_retransmitted(self) -> bool | None: ...

@final
class Loss:
    """A loss, a mark or a time-out."""

    @property
    def time_s(self) -> float: ...
    @property
    def kind(self) -> str: ...
    @property
    def again(self) -> bool: ...
    @property
    def in_flight_bytes(self) -> int: ...
    @property
    def window_bytes(self) -> int: ...
    @property
    def remaining_bytes(self) -> int: ...
    @property
    def sent_bytes(self) -> int: ...

@disjoint_base
class CongestionControl:
    """The base class of congestion controllers in Python."""

    window_bytes: float
    pacing_bps: float | None
    ssthresh_bytes: float | None
    def __new__(cls, *, mss_bytes: int = 1460, initial_window_bytes: int = 14600, seed: int = 0) -> Self: ...
    @property
    def mss_bytes(self) -> int: ...
    @property
    def initial_window_bytes(self) -> int: ...
    @property
    def seed(self) -> int: ...
    def on_ack(self, ack: Ack, /) -> None: ...
    def on_loss(self, loss: Loss, /) -> None: ...
    def on_timeout(self, loss: Loss, /) -> None: ...
    def on_restart(self, window_bytes: int) -> None: ...

@final
class VideoChoice:
    @property
    def number(self) -> int: ...
    @property
    def time_s(self) -> float: ...
    @property
    def buffered_s(self) -> float: ...
    @property
    def last(self) -> int | None: ...
    @property
    def sizes_bytes(self) -> list[int]: ...
    @property
    def came_bytes(self) -> int | None: ...
    @property
    def came_s(self) -> float | None: ...
    @property
    def advice_bps(self) -> float | None: ...

@disjoint_base
class VideoRule:
    """The base class of rules of players of video in Python."""

    def __new__(
        cls, *, ladder_bps: Sequence[float] = ..., segment_s: float = 4.0, buffer_s: float = 60.0
    ) -> Self: ...
    @property
    def ladder_bps(self) -> list[float]: ...
    @property
    def segment_s(self) -> float: ...
    @property
    def buffer_s(self) -> float: ...
    def choose(self, choice: VideoChoice, /) -> int: ...

@final
class Scenario:
    @staticmethod
    def load(
        path: str, sets: Sequence[str], allow_outside: bool = False, own_code: str = "runs"
    ) -> Scenario: ...
    @staticmethod
    def from_toml(
        text: str,
        name: str,
        base_dir: str | None,
        sets: Sequence[str],
        allow_outside: bool = False,
        confined: bool = False,
        own_code: str = "runs",
    ) -> Scenario: ...
    @staticmethod
    def given(text: str, name: str, base_dir: str | None, files: Sequence[tuple[str, bytes]]) -> Scenario: ...
    @staticmethod
    def from_json(
        text: str,
        name: str,
        base_dir: str | None,
        sets: Sequence[str],
        allow_outside: bool = False,
        own_code: str = "runs",
    ) -> Scenario: ...
    def point(self, sets: Sequence[str]) -> Scenario: ...
    def digest(self, record: str | None = None) -> tuple[str, list[str], list[str]]: ...
    def reading(self, key: str) -> str | None: ...
    @property
    def sweep_warning(self) -> str | None: ...
    @property
    def sweeps(self) -> list[tuple[list[str], list[list[str]]]]: ...
    @property
    def base_dir(self) -> str | None: ...
    @property
    def title(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def warmup_s(self) -> float: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def runs(self) -> int: ...
    @property
    def combinations(self) -> int: ...
    @property
    def records(self) -> bool: ...
    @property
    def flow_names(self) -> list[str]: ...
    @property
    def gate_names(self) -> list[str]: ...
    @property
    def recorded_gates(self) -> list[str]: ...
    @property
    def run_gates(self) -> list[str]: ...
    @property
    def counts(self) -> tuple[int, int]: ...
    @property
    def draws(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def inputs(self) -> list[dict[str, str]]: ...
    @property
    def until_done(self) -> bool: ...
    @property
    def computed_sizes(self) -> list[tuple[str, str, str, str]]: ...
    def explain(self) -> str: ...
    def laws_json(self) -> str: ...
    def plan_json(self) -> str: ...
    def to_toml(self) -> str: ...
    def run(
        self,
        *,
        seed: int,
        replication: int = 0,
        record: str | None = None,
        pcap: tuple[str, str] | None = None,
        qlog: str | None = None,
        exact: bool = False,
        threads: int | None = None,
        tick: Callable[[float], bool] | None = None,
        perturbation: int = 0,
    ) -> RunData: ...
    def live_shell(
        self,
        *,
        command: list[str],
        peer: str | None = None,
        uploads: bool = False,
        nat: bool = False,
        recorded: bool = False,
        pcap: str | None = None,
        seed: int = 1,
    ) -> tuple[
        tuple[int, float, int, int, float | None, int, list[str]],
        tuple[list[float], list[int], list[int], list[float | None], list[str | None]],
    ]: ...
    def run_live(
        self,
        *,
        seed: int,
        replication: int = 0,
        record: str | None = None,
        pcap: tuple[str | None, str | None] | None = None,
        backend: str | None = None,
        spin_us: int | None = None,
        tick: Callable[[float], bool] | None = None,
        heard: Callable[[float, dict[str, dict[str, tuple[str, bytes]]]], None] | None = None,
    ) -> RunData: ...

@final
class RunData:
    @property
    def groups(self) -> list[str]: ...
    @property
    def live_json(self) -> str | None: ...
    @property
    def packed(self) -> bytes: ...
    @property
    def summary_json(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def paths(self) -> dict[str, dict[str, list[str]]]: ...
    @property
    def tables(self) -> dict[str, dict[str, tuple[str, bytes]]]: ...

@final
class Pool:
    def __new__(cls, workers: int) -> Pool: ...
    def submit(
        self,
        number: int,
        scenario: Scenario,
        *,
        seed: int,
        replication: int = 0,
        record: str | None = None,
    ) -> None: ...
    def collect(self, patience_s: float) -> tuple[int, RunData] | None: ...
    def running(self) -> float: ...
    def stop(self) -> None: ...

def student_t(share: float, freedom: int) -> float | None: ...

@final
class Endpoint:
    def __new__(cls, scenario: Scenario, role: str, *, by_hand: bool) -> Endpoint: ...
    def write(self, at: int, count: int) -> None: ...
    def finish(self, at: int, how: str) -> None: ...
    def read(self, at: int, most: int) -> int: ...
    def receive(
        self,
        at: int,
        *,
        flags: int,
        ecn: int,
        payload: int,
        seq: int | None,
        ack: int | None,
        window: int | None,
        timestamps: tuple[int, int],
        sack: Sequence[tuple[int, int]],
        accecn: tuple[int, Sequence[int]] | None,
    ) -> None: ...
    def poll(self, until: int) -> list[dict[str, Any]]: ...
    def state(self) -> dict[str, Any]: ...

@final
class Stepper:
    def __new__(
        cls, scenario: Scenario, flow: str, *, seed: int, replication: int, record: str | None
    ) -> Stepper: ...
    def start_ps(self) -> int: ...
    def until_ps(self) -> int: ...
    def advance(self, to: int) -> None: ...
    def steer(self, window_bytes: int, pacing_bps: int | None) -> None: ...
    def look(self) -> dict[str, Any]: ...
    def finish(self) -> RunData: ...

@final
class Network:
    def __new__(
        cls,
        scenario: Scenario,
        flows: Sequence[int],
        *,
        seed: int,
        replication: int,
        record: str | None,
        capture: bool,
    ) -> Network: ...
    @staticmethod
    def names(scenario: Scenario) -> tuple[list[str], list[str]]: ...
    def now_ps(self) -> int: ...
    def send(
        self, flow: int, receiver: bool, data: bytes, *, ecn: int, headers: int, held_by: int, at: int
    ) -> None: ...
    def alarm(self, flow: int, receiver: bool, at: int | None) -> None: ...
    def delivered(self, flow: int, count: int) -> None: ...
    def report(
        self,
        flow: int,
        *,
        window: float | None,
        ssthresh: int | None,
        in_flight: int | None,
        srtt: int | None,
        rto: int | None,
        rtt: int | None,
        lost: int | None,
        timeouts: int | None,
        held_by: int | None,
    ) -> None: ...
    def step(
        self,
    ) -> tuple[str, int, int, bool, bytes | None, int, int | None, str | None] | None: ...
    def finish(self, pcap: tuple[str, str] | None) -> RunData: ...

def schema() -> str: ...
def columns() -> str: ...
def plan_objects() -> str: ...
def reference() -> str: ...

@final
class BucketReplay:
    """The packets that crossed a limit, in the order of their times."""

    def __new__(cls, time_s: bytes, size: bytes, passed: bytes, judged: bytes) -> Self:
        """Make it: times in seconds and sizes in bytes as numbers of 64 bits, and two yes or no."""
    def fullness(self, rate_bps: float) -> bytes:
        """The bytes in a bucket that drains at this rate just before each packet, as numbers of 64 bits."""
    def fullness_at(self, rate_bps: float, places: bytes) -> bytes:
        """As `fullness`, of the packets at these places, numbers of 64 bits that rise."""
    def waits_at(self, at_s: float, before_bps: float, after_bps: float, places: bytes) -> bytes:
        """How long packets at these places wait, and are sent, in a queue whose rate changes, in seconds."""
    def filled(self, rate_bps: float) -> FilledBucket:
        """The bucket with each packet of a known fate."""
    def fewest_wrong(self, rates_bps: bytes, best: int) -> bytes:
        """The fewest decisions on the wrong side of a limit at each rate: exact for the best of them."""

@final
class FilledBucket:
    """The bytes in a bucket with each packet of a known fate."""

    def all(self) -> tuple[bytes, bytes]:
        """With those that passed, and with those that were dropped."""
    def near(self, low: float, high: float) -> tuple[tuple[bytes, bytes], int, int]:
        """Those between two bounds; how many of the others a limit between them gets right, and wrong."""
    def best_limit(self) -> float | None:
        """The limit with the fewest decisions on its wrong side; None where nothing was dropped."""

@final
class QueueWaits:
    """Some packets of a replay, with their round trips."""

    def __new__(cls, packets: BucketReplay, places: bytes, trip_s: bytes) -> Self:
        """Make it: places that rise as numbers of 64 bits, and the round trip of each in seconds."""
    def at(self, rate_bps: float) -> bytes:
        """How long each packet waits, and is sent, in a queue of this rate, in seconds."""
    def residual(self, rate_bps: float, finest: float) -> tuple[float, float, float]:
        """The least mean absolute residual at this rate, with its allowance and base, in seconds."""

@final
class CaptureData:
    """What one or several capture files hold."""

    def about(self) -> str:
        """Files, notes, connections and traffic, as JSON; times in nanoseconds."""
    def first(self, most: int) -> tuple[int | None, list[int]]:
        """Where the first packets of all connections end, at most so many, and how many each one has."""
    def some(self, connection: int, names: Sequence[str], rows: int) -> list[tuple[str, bytes]]:
        """Columns of a connection's first packets: the kind of each, its values as little-endian bytes."""
    def traffic(self, index: int) -> dict[str, tuple[str, bytes]]:
        """Times and sizes of the packets of one kind of traffic, as two columns."""
    @staticmethod
    def columns() -> list[str]:
        """The names of the columns."""

def capture_read(
    paths: Sequence[str], progress: Callable[[int], object] | None = None, most_packets: int | None = None
) -> CaptureData: ...
def trace_info(
    path: str,
    format: str | None,  # noqa: A002
    opportunity_bytes: int,
    table: dict[str, str],
) -> str: ...
def trace_convert(
    path: str,
    to: str,
    format: str | None,  # noqa: A002
    opportunity_bytes: int,
    window: str | None,
    table: dict[str, str],
) -> str: ...
def trace_synth(
    model: str,
    seed: int,
    *,
    to: str,
    mean: str | None = None,
    duration: str | None = None,
    step: str | None = None,
    variability: float | None = None,
    outage_share: float | None = None,
    opportunity_bytes: int | None = None,
    window: str | None = None,
) -> str: ...
def dtm_allocate(
    rates_bps: Sequence[int],
    losses: Sequence[bool],
    *,
    slot_bps: int,
    shift_inc: int,
    shift_dec: int,
    margin_nanos: int,
    corridor_nanos: int,
    rounding: str,
    on_loss: str,
    min_slots: int,
    max_slots: int | None,
    initial_current: int,
    initial_bps: int,
    update_every: int,
) -> tuple[list[int], list[int], list[int]]: ...
def effcap_estimate(capacity: bytes, samples: int, blocks: int) -> bytes: ...
def build_info() -> dict[str, str]: ...
def small_changes() -> list[str]: ...
def gcra_police(
    arrivals: bytes,
    sizes: bytes,
    *,
    increment: tuple[int, int],
    tolerance: int,
    burst: int | None,
    leaky_bucket: bool,
) -> bytes: ...
def gcra_shape(
    arrivals: bytes,
    sizes: bytes,
    *,
    increment: tuple[int, int],
    tolerance: int,
    burst: int | None,
    spacing: tuple[int, int],
    release: str,
) -> bytes: ...
def gcra_dual(
    arrivals: bytes,
    low_priority: bytes,
    *,
    peak: tuple[int, int],
    peak_tolerance: int,
    sustained: tuple[int, int],
    sustained_tolerance: int,
    conformance: str,
) -> bytes: ...
def gcra_burst_tolerance(mbs: int, sustained: tuple[int, int], peak: tuple[int, int]) -> int: ...
def gcra_max_burst_size(tolerance: int, sustained: tuple[int, int], peak: tuple[int, int]) -> int: ...
def read_rate(option: str, text: str) -> int: ...
def read_instant(option: str, text: str) -> int: ...
def read_span(option: str, text: str) -> int: ...
def live_enter() -> None: ...
def live_clean() -> tuple[list[int], list[int]]: ...
