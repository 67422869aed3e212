//! What a run tells while it lasts: rows of gates and flows, as they are recorded.
//!
//! The engine's thread never waits for whoever listens: where the rows are being taken at that moment, it tells the next time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::gate::GateRow;
use tidegate_core::net::Network;
use tidegate_core::plan::Plan;
use tidegate_core::units::{Span, Time};
use tidegate_result::{FlowRow, Table, flow_and_gate_tables, slot_bps};

/// How often the engine tells.
const EVERY: Span = Span::from_millis(50);

/// A run's rows so far; whoever has a copy may take those that came since they were taken last.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    gates: Vec<Vec<GateRow>>,
    flows: Vec<Vec<FlowRow>>,
    slot_bps: Vec<f64>,
}

impl PartialEq for Progress {
    fn eq(&self, other: &Progress) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Progress {}

impl Progress {
    /// Begins anew for a run of `plan`.
    pub(crate) fn begin(&self, plan: &Plan) {
        *self.seen() = Seen {
            gates: vec![Vec::new(); plan.gates.len()],
            flows: vec![Vec::new(); plan.flows.len()],
            slot_bps: plan.gates.iter().map(slot_bps).collect(),
        };
    }

    /// The rows since the last call, as the tables `flows` and `gates` of a run.
    #[must_use]
    pub fn take(&self) -> Vec<Table> {
        let mut seen = self.seen();
        let flows = seen.flows.iter_mut().map(std::mem::take).collect::<Vec<_>>();
        let gates = seen.gates.iter_mut().map(std::mem::take).collect::<Vec<_>>();
        flow_and_gate_tables(&flows, &gates, &seen.slot_bps)
    }

    /// A row of a flow.
    pub(crate) fn tell(&self, flow: usize, row: FlowRow) {
        if let Some(rows) = self.seen().flows.get_mut(flow) {
            rows.push(row);
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The engine's side of it.
#[derive(Debug)]
pub(crate) struct TellingGates {
    progress: Option<Progress>,
    next: Time,
    /// Rows that were told already, by gate.
    told: Vec<usize>,
}

impl TellingGates {
    pub(crate) fn new(progress: Option<Progress>, gates: usize) -> TellingGates {
        let next = if progress.is_some() { Time::ZERO } else { Time::NEVER };
        TellingGates { progress, next, told: vec![0; gates] }
    }

    /// Tells the rows that gates wrote since the last time, now and then.
    #[inline]
    pub(crate) fn tell(&mut self, now: Time, network: &Network) {
        if now >= self.next {
            self.next = now.saturating_add(EVERY);
            self.hand_over(network);
        }
    }

    fn hand_over(&mut self, network: &Network) {
        let Some(Ok(mut seen)) = self.progress.as_ref().map(|progress| progress.0.try_lock()) else { return };
        for ((gate, told), rows) in network.gates().iter().zip(&mut self.told).zip(&mut seen.gates) {
            let written = gate.history_so_far();
            rows.extend_from_slice(&written[*told..]);
            *told = written.len();
        }
    }
}
