//! One TCP endpoint, driven by hand. Times cross as picoseconds, segments as dicts: a field more is a line more here
//! and a line in `tidegate/tcp.py`.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tidegate_core::plan::{LARGEST_WINDOW, ReadPlan, TcpPlan};
use tidegate_core::random::Seed;
use tidegate_core::tcp::{AccEcn, Endpoint as Core, Role, Segment, flags as bits};
use tidegate_core::unit::{Ecn, HeldBy};
use tidegate_core::units::{Span, Time};
use tidegate_result::columns::{HELD_BY, PHASES};

use crate::control;
use crate::error::ArgumentError;
use crate::guard::guarded;
use crate::scenario::Scenario;

/// The initial sequence number: the SYN is 0, the first user byte 1.
const ISN: u32 = 0;

/// What a congestion control draws from that draws.
const SEED: Seed = Seed { seed: 1, replication: 0 };

/// An endpoint driven by hand.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct Endpoint {
    driven: Mutex<Driven>,
}

/// An endpoint, its clock, and what it has sent since it was asked last.
struct Driven {
    /// On the heap: an endpoint wants more alignment than Python's allocator gives its objects.
    core: Box<Core>,
    now: Time,
    sent: Vec<(Time, Segment)>,
    mss: u32,
    /// What held it back since it was asked last, and for how long all in all.
    limits: Limits,
}

/// Times in which something held an end back. Between two calls nothing about that changes.
#[derive(Default)]
struct Limits {
    since: Time,
    busy: Span,
    receiver: Span,
    application: Span,
    /// What holds it back now: something is not acknowledged or not sent, the receiver's window has no room, all that was written was sent.
    now: [bool; 3],
    /// Segments sent for the first time.
    fresh: u64,
}

impl Limits {
    /// Adds the time until `now`, and looks at what holds `core` back from then on; `rang`: a timer has expired. What is sent again then
    /// neither begins nor ends the time in which the receiver's window has no room (`tcp_chrono_stop`), new data do.
    fn look(&mut self, now: Time, core: &Core, rang: bool) {
        let passed = now.saturating_since(self.since);
        let sums = [&mut self.busy, &mut self.receiver, &mut self.application];
        sums.into_iter().zip(self.now).filter(|(_, runs)| *runs).for_each(|(sum, _)| *sum += passed);
        self.since = now;
        let open = core.state().is_synchronized();
        let (sent, busy) = (core.all_sent(), !core.all_acknowledged());
        let counters = core.counters();
        let fresh = counters.segments_sent - counters.segments_retransmitted;
        let holds = if rang && fresh == self.fresh {
            self.now[1]
        } else {
            core.snapshot().held_by == HeldBy::ReceiverWindow
        };
        self.fresh = fresh;
        let receiver = !sent && holds;
        self.now = [open && busy, open && receiver, open && sent && core.may_write()];
    }
}

/// What Python's allocator aligns objects to.
const ALIGNED: usize = 16;
const _: () = assert!(align_of::<Driven>() <= ALIGNED);

impl Driven {
    /// Timers that are due before `at` run, each at its time. At one instant what arrives comes before a timer.
    fn advance(&mut self, at: Time, including: bool) {
        loop {
            let due = self.core.next_wakeup();
            if due == Time::NEVER || due > at || (due == at && !including) {
                break;
            }
            self.now = self.now.max(due);
            self.core.handle_wakeup(self.now);
            self.take_sent();
            self.limits.look(self.now, &self.core, true);
        }
        self.now = at;
        self.limits.look(at, &self.core, true);
    }

    fn take_sent(&mut self) {
        while let Some((segment, _)) = self.core.poll_transmit(self.now) {
            self.sent.push((self.now, segment));
        }
    }

    /// Takes what it wants to send.
    fn collect(&mut self) {
        self.take_sent();
        self.limits.look(self.now, &self.core, false);
    }

    fn not_before_now(&self, option: &str, at: u64) -> PyResult<Time> {
        let at = Time::from_picos(at);
        if at < self.now {
            let message = format!("{option}: {at} is before {}, and time does not go back", self.now);
            return Err(ArgumentError::new_err(message));
        }
        Ok(at)
    }
}

impl Endpoint {
    /// Does `work` without the GIL, once nobody else is at it.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Driven) -> T + Send) -> PyResult<T> {
        let done = guarded(py, || work(&mut self.driven.lock().unwrap_or_else(PoisonError::into_inner)))?;
        control::take_failure().map_or(Ok(done), Err)
    }

    /// At `at`, after the timers before it, something happens.
    fn happens(&self, py: Python<'_>, at: u64, what: impl FnOnce(&mut Core, Time) + Send) -> PyResult<()> {
        self.with(py, |driven| {
            let at = driven.not_before_now("at", at)?;
            driven.advance(at, false);
            what(&mut driven.core, at);
            driven.collect();
            Ok(())
        })?
    }
}

#[pymethods]
impl Endpoint {
    /// The TCP of the scenario's first flow; opened at time 0.
    #[new]
    #[pyo3(signature = (scenario, role, *, by_hand))]
    fn new(py: Python<'_>, scenario: &Scenario, role: &str, by_hand: bool) -> PyResult<Endpoint> {
        let role = match role {
            "active" => Role::Active,
            "passive" => Role::Passive,
            other => {
                let message = format!("role: {other:?} is not known; one of \"active\", \"passive\"");
                return Err(ArgumentError::new_err(message));
            }
        };
        let plan = scenario.plan(0, 0, None)?;
        tidegate_sim::only_known_controllers(&plan).map_err(|wrong| crate::error::stopped(&wrong))?;
        let flow = plan.flows.first().ok_or_else(|| ArgumentError::new_err("the scenario has no flow"))?;
        guarded(py, || {
            let rng = flow.tcp.draws().map(|what| SEED.stream(&format!("flow.endpoint/sender/{what}")));
            let read = if by_hand { ReadPlan::ByHand } else { flow.tcp.read };
            let tcp = TcpPlan { read, ..flow.tcp.clone() };
            let mut core = Core::new(&tcp, role, ISN, rng);
            core.read_as_planned(&tcp);
            core.open(Time::ZERO);
            let limits = Limits::default();
            let mut driven =
                Driven { core: Box::new(core), now: Time::ZERO, sent: Vec::new(), mss: flow.tcp.mss, limits };
            driven.collect();
            Endpoint { driven: Mutex::new(driven) }
        })
        .and_then(|end| control::take_failure().map_or(Ok(end), Err))
    }

    /// The application adds bytes.
    fn write(&self, py: Python<'_>, at: u64, count: u64) -> PyResult<()> {
        self.with(py, |driven| {
            let at = driven.not_before_now("at", at)?;
            driven.advance(at, false);
            if !driven.core.may_write() {
                let message = format!("write: this end has ended its stream, and is {}", driven.core.state());
                return Err(ArgumentError::new_err(message));
            }
            driven.core.write(at, count);
            driven.collect();
            Ok(())
        })?
    }

    /// The application ends its stream (`"shutdown"`), closes or aborts.
    fn finish(&self, py: Python<'_>, at: u64, how: &str) -> PyResult<()> {
        self.happens(py, at, |core, now| match how {
            "shutdown" => core.shutdown(now),
            "close" => core.close(now),
            _ => core.abort(now),
        })
    }

    /// The application reads; how many bytes there were.
    fn read(&self, py: Python<'_>, at: u64, most: u64) -> PyResult<u64> {
        let mut taken = 0;
        self.happens(py, at, |core, now| taken = core.read(now, most))?;
        Ok(taken)
    }

    /// A segment arrives; what is not given says nothing new. `flags` holds bits, `sack` edges.
    #[pyo3(signature = (at, *, flags, ecn, payload, seq, ack, window, timestamps, sack, accecn))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn receive(
        &self,
        py: Python<'_>,
        at: u64,
        flags: u16,
        ecn: u8,
        payload: u32,
        seq: Option<u32>,
        ack: Option<u32>,
        window: Option<u32>,
        timestamps: (u32, u32),
        sack: Vec<(u32, u32)>,
        accecn: Option<(u8, Vec<u32>)>,
    ) -> PyResult<()> {
        let mut given = Segment { len: payload, flags, ecn: Ecn::from_bits(ecn), ..Segment::default() };
        (given.ts_val, given.ts_ecr) = timestamps;
        if sack.len() > given.sack.len() {
            let message = format!("sack: {} blocks; at most {}", sack.len(), given.sack.len());
            return Err(ArgumentError::new_err(message));
        }
        given.sack_count = sack.len() as u8;
        given.sack[..sack.len()].copy_from_slice(&sack);
        given.accecn = accecn.map(|(order, written)| {
            let mut fields = [0; 3];
            fields.iter_mut().zip(&written).for_each(|(field, value)| *field = *value);
            AccEcn { fields, count: written.len().min(3) as u8, order }
        });
        self.happens(py, at, |core, now| {
            let default = core.nothing_new();
            let seq = seq.unwrap_or(if flags & bits::SYN == 0 { default.seq } else { ISN });
            let ack = ack.unwrap_or(if flags & bits::ACK == 0 { 0 } else { default.ack });
            let window = window.unwrap_or(default.window);
            core.handle_segment(now, &Segment { seq, ack, window, ..given });
        })
    }

    /// What has been sent since the last call, and is sent by timers until then.
    fn poll<'py>(&self, py: Python<'py>, until: u64) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let sent = self.with(py, |driven| {
            let until = driven.not_before_now("until", until)?;
            driven.advance(until, true);
            Ok::<_, PyErr>(std::mem::take(&mut driven.sent))
        })??;
        sent.iter().map(|(at, segment)| written(py, *at, segment)).collect()
    }

    /// What it is doing now.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner);
        let core = &driven.core;
        let (snapshot, outstanding, counters) = (core.snapshot(), core.outstanding(), core.counters());
        let wakeup = core.next_wakeup();
        let dict = PyDict::new(py);
        dict.set_item("time_ps", driven.now.picos())?;
        dict.set_item("connection", core.state().to_string())?;
        dict.set_item("phase", PHASES[snapshot.phase as usize])?;
        dict.set_item("mss_bytes", driven.mss)?;
        dict.set_item("cwnd_bytes", snapshot.cwnd)?;
        dict.set_item("ssthresh_bytes", snapshot.ssthresh)?;
        dict.set_item("pacing_bps", snapshot.pacing_rate.map(|rate| rate.bps()))?;
        dict.set_item("rto_ps", snapshot.rto.picos())?;
        dict.set_item("srtt_ps", snapshot.srtt.map(|srtt| srtt.picos()))?;
        dict.set_item("in_flight_bytes", snapshot.in_flight)?;
        dict.set_item("outstanding_segments", outstanding.segments)?;
        dict.set_item("sacked_segments", outstanding.sacked)?;
        dict.set_item("lost_segments", outstanding.lost)?;
        dict.set_item("retransmitted_segments", outstanding.retransmitted)?;
        dict.set_item("ca_state", core.ca_state().to_string())?;
        dict.set_item("reordering_segments", core.reordering())?;
        dict.set_item("delivered_ce_segments", core.delivered_ce())?;
        dict.set_item("busy_ps", driven.limits.busy.picos())?;
        dict.set_item("receiver_limited_ps", driven.limits.receiver.picos())?;
        dict.set_item("application_limited_ps", driven.limits.application.picos())?;
        let closed = core.peer_window();
        dict.set_item("peer_window_bytes", (closed < LARGEST_WINDOW).then_some(closed))?;
        dict.set_item("window_probes", core.window_probes())?;
        dict.set_item("receive_window_bytes", core.receive_window())?;
        dict.set_item("unread_bytes", core.unread_bytes())?;
        dict.set_item("held_by", HELD_BY[snapshot.held_by as usize])?;
        let detail = snapshot.detail.map(|(name, value)| format!("{name} {value:.6}"));
        dict.set_item("cc_detail", detail)?;
        dict.set_item("acked_bytes", counters.acked_bytes)?;
        dict.set_item("in_order_bytes", core.in_order_bytes())?;
        dict.set_item("timeouts", counters.timeouts)?;
        dict.set_item("fast_retransmits", counters.fast_retransmits)?;
        dict.set_item("ecn_reductions", counters.ecn_reductions)?;
        dict.set_item("segments_retransmitted", counters.segments_retransmitted)?;
        dict.set_item("wakeup_ps", (wakeup != Time::NEVER).then(|| wakeup.picos()))?;
        Ok(dict)
    }
}

fn written<'py>(py: Python<'py>, at: Time, segment: &Segment) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("time_ps", at.picos())?;
    dict.set_item("seq", segment.seq)?;
    dict.set_item("ack", segment.ack)?;
    dict.set_item("payload", segment.len)?;
    dict.set_item("flags", segment.flags)?;
    dict.set_item("ecn", segment.ecn as u8)?;
    dict.set_item("window", segment.window)?;
    dict.set_item("timestamps", (segment.ts_val != 0).then_some((segment.ts_val, segment.ts_ecr)))?;
    dict.set_item("sack", segment.sack[..usize::from(segment.sack_count)].to_vec())?;
    let accecn =
        segment.accecn.map(|option| (option.order, option.fields[..usize::from(option.count)].to_vec()));
    dict.set_item("accecn", accecn)?;
    dict.set_item("retransmission", segment.retransmission)?;
    Ok(dict)
}
