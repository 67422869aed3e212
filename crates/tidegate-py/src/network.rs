//! The gates of a scenario for transports in Python, one thing that happens after the other. Times cross as picoseconds.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tidegate_core::plan::Plan;
use tidegate_core::unit::{Ecn, HeldBy};
use tidegate_core::units::{Span, Time};
use tidegate_sim::host::{Outgoing, Packet};
use tidegate_sim::{Happened, HostedRun, RunError, Side, Turn, Watch as _};

use crate::captured::Captured;
use crate::control;
use crate::error::{self, ArgumentError};
use crate::guard::guarded;
use crate::run::RunData;
use crate::scenario::Scenario;
use crate::start::Asking;

/// A run whose flows are answered from Python.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct Network {
    run: Mutex<Option<HostedRun>>,
    plan: Plan,
}

/// What happens next: a word, when, the flow, whether to its receiver's end, bytes, ECN, the gate and why.
type Told<'py> =
    (&'static str, u64, usize, bool, Option<Bound<'py, PyBytes>>, u8, Option<usize>, Option<&'static str>);

fn side(receiver: bool) -> Side {
    if receiver { Side::Receiver } else { Side::Sender }
}

impl Network {
    /// Does `work` without the GIL on a run that goes on.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut HostedRun) -> Result<T, RunError> + Send,
    ) -> PyResult<T> {
        let done = guarded(py, || {
            let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            run.as_mut().map(work)
        })?;
        done.ok_or_else(over)?.map_err(|stopped| error::stopped(&stopped))
    }
}

fn over() -> PyErr {
    ArgumentError::new_err("this run is over")
}

#[pymethods]
impl Network {
    /// A run at time 0 whose flows of these numbers are answered from outside.
    #[new]
    #[pyo3(signature = (scenario, flows, *, seed, replication, record, capture))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        flows: Vec<usize>,
        seed: u64,
        replication: u64,
        record: Option<&str>,
        capture: bool,
    ) -> PyResult<Network> {
        let mut plan = scenario.plan(seed, replication, record)?;
        plan.record.packets |= capture;
        let run =
            guarded(py, || HostedRun::new(plan.clone(), &flows, &mut tidegate_quic::hosts(&plan, None)))?
                .map_err(|stopped| error::stopped(&stopped))?;
        control::take_failure().map_or(Ok(()), Err)?;
        Ok(Network { run: Mutex::new(Some(run)), plan })
    }

    /// The names of all flows and of all gates.
    #[staticmethod]
    fn names(scenario: &Scenario) -> PyResult<(Vec<String>, Vec<String>)> {
        let plan = scenario.plan(0, 0, None)?;
        let flows = plan.flows.iter().map(|flow| flow.name.clone()).collect();
        Ok((flows, plan.gates.iter().map(|gate| gate.name.clone()).collect()))
    }

    /// The instant it is at.
    fn now_ps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |run| Ok(run.now().picos()))
    }

    /// A packet of these bytes leaves an end, now or at `at`; `headers` more on the wire.
    #[pyo3(signature = (flow, receiver, data, *, ecn, headers, held_by, at))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn send(
        &self,
        py: Python<'_>,
        flow: usize,
        receiver: bool,
        data: &[u8],
        ecn: u8,
        headers: u32,
        held_by: u8,
        at: u64,
    ) -> PyResult<()> {
        let held_by = held_by_code(held_by);
        let packet = Outgoing::packet(data.to_vec());
        let ip_bytes = packet.ip_bytes.saturating_add(headers);
        let (ecn, at) = (Ecn::from_bits(ecn), Time::from_picos(at));
        self.with(py, |run| run.send(flow, side(receiver), Outgoing { ip_bytes, ecn, held_by, at, ..packet }))
    }

    /// An end is to be woken then; None: not at all.
    fn alarm(&self, py: Python<'_>, flow: usize, receiver: bool, at: Option<u64>) -> PyResult<()> {
        self.with(py, |run| run.wake(flow, side(receiver), at.map(Time::from_picos)))
    }

    /// So many user bytes more could be read in order at a flow's receiver.
    fn delivered(&self, py: Python<'_>, flow: usize, count: u64) -> PyResult<()> {
        self.with(py, |run| {
            run.tell(flow, Side::Receiver, None, |said| {
                said.delivered_bytes += count;
                said.in_order_bytes += count;
            })
        })
    }

    /// What a flow's sender knows of itself; None: nothing new.
    #[pyo3(signature = (flow, *, window, ssthresh, in_flight, srtt, rto, rtt, lost, timeouts, held_by))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn report(
        &self,
        py: Python<'_>,
        flow: usize,
        window: Option<f64>,
        ssthresh: Option<u64>,
        in_flight: Option<u64>,
        srtt: Option<u64>,
        rto: Option<u64>,
        rtt: Option<u64>,
        lost: Option<u64>,
        timeouts: Option<u64>,
        held_by: Option<u8>,
    ) -> PyResult<()> {
        self.with(py, |run| {
            run.tell(flow, Side::Sender, rtt.map(Span::from_picos), |said| {
                said.window = window.or(said.window);
                said.ssthresh = ssthresh.or(said.ssthresh);
                said.in_flight = in_flight.or(said.in_flight);
                said.srtt = srtt.map(Span::from_picos).or(said.srtt);
                said.rto = rto.map(Span::from_picos).or(said.rto);
                said.retransmitted = lost.unwrap_or(said.retransmitted);
                said.timeouts = timeouts.unwrap_or(said.timeouts);
                said.held_by = held_by.map_or(said.held_by, held_by_code);
            })
        })
    }

    /// What happens next; None: the run is over. Ctrl-C ends it.
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Option<Told<'py>>> {
        let turn = guarded(py, || {
            let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            let run = run.as_mut().ok_or_else(over)?;
            let mut asking = Asking::new(&self.plan, None);
            let turn = run.poll_turn(&mut |now| !control::failed() && asking.go_on(now));
            asking.settle(turn.map_err(|stopped| error::stopped(&stopped)))
        })?;
        control::take_failure().map_or(Ok(()), Err)?;
        Ok(turn?.map(|turn| told(py, turn)))
    }

    /// The rest of the run, in which nobody answers, and what the whole gives; after that nothing can be asked. `pcap` names the captures
    /// at the two ends.
    #[pyo3(signature = (pcap))]
    fn finish(&self, py: Python<'_>, pcap: Option<(String, String)>) -> PyResult<RunData> {
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(over)?;
        let done = guarded(py, || {
            let mut asking = Asking::new(&self.plan, None);
            let done = run.finish(&mut |now| !control::failed() && asking.go_on(now));
            asking.settle(done.map_err(|stopped| error::stopped(&stopped)))
        })?;
        control::take_failure().map_or(Ok(()), Err)?;
        let (plan, mut result) = done?;
        let mut yes = |_: Time| true;
        let mut files = Captured::new(&plan, pcap, &mut yes);
        files.begin();
        files.packets(&mut result.packets);
        files.finish(true).map_err(|(error, path)| error::named(error, &path))?;
        RunData::new(&plan, result, Vec::new())
    }
}

fn held_by_code(code: u8) -> HeldBy {
    match code {
        0 => HeldBy::Application,
        1 => HeldBy::CongestionWindow,
        2 => HeldBy::ReceiverWindow,
        _ => HeldBy::Pacing,
    }
}

fn told(py: Python<'_>, turn: Turn) -> Told<'_> {
    let Turn { at, flow, side, what } = turn;
    let (at, receiver) = (at.picos(), side == Side::Receiver);
    let bytes = |packet: Packet| Some(PyBytes::new(py, &packet.into_bytes()));
    match what {
        Happened::Begins => ("start", at, flow, receiver, None, 0, None, None),
        Happened::Wakeup => ("alarm", at, flow, receiver, None, 0, None, None),
        Happened::Packet(packet, ecn) => ("packet", at, flow, receiver, bytes(packet), ecn as u8, None, None),
        Happened::Lost(lost) => {
            let (gate, why) = (Some(lost.gate), Some(lost.reason.name()));
            ("drop", at, flow, receiver, bytes(lost.packet), 0, gate, why)
        }
    }
}
