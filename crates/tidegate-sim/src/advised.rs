//! Throughput advice (SCONE) at the ends of a flow: which packets carry a rate signal, what the receiver has heard, and what it tells
//! its sender. Gates on the way lower the signal ([`tidegate_core::advice`]).
//!
//! DEVIATION from draft-ietf-scone-protocol: a signal takes no bytes (a SCONE packet has 15 or so, every 20 s), TCP carries one too, and
//! senders do not shift it by a random time (section "Providing Opportunities to Apply Throughput Advice Signals").

use tidegate_core::advice::{AdviceHeard, RateSignal};
use tidegate_core::plan::{FlowPlan, SconePlan};
use tidegate_core::unit::Unit;
use tidegate_core::units::{Rate, Time};
use tidegate_result::AdviceRow;

/// The advice of a flow.
#[derive(Debug)]
pub(crate) struct Advised {
    plan: SconePlan,
    /// Data packets at the start that are still to carry a signal.
    first: u32,
    /// Then the first that leaves at this instant or later.
    next: Time,
    heard: AdviceHeard,
    /// So many signals.
    signals: u64,
    /// The sender is told, by each packet that comes back: the draft leaves open how.
    tells: bool,
    /// User bytes and IP bytes of a full packet.
    of_packet: (u32, u32),
    /// What came, if the flow is recorded.
    pub(crate) log: Vec<AdviceRow>,
    flow: u32,
    recorded: bool,
}

impl Advised {
    /// That of flow `number`; none where none of its packets carries a signal.
    pub(crate) fn new(flow: &FlowPlan, number: usize, recorded: bool) -> Option<Box<Advised>> {
        let plan = flow.scone?;
        Some(Box::new(Advised {
            plan,
            first: plan.first,
            next: Time::ZERO,
            heard: AdviceHeard::default(),
            signals: 0,
            tells: flow.tcp.rules.obeys_advice,
            of_packet: (flow.tcp.mss, flow.tcp.largest_packet()),
            log: Vec::new(),
            flow: number as u32,
            recorded,
        }))
    }

    /// A data packet leaves the sender at `at`, and may carry a signal.
    pub(crate) fn handle_data_sent(&mut self, at: Time, unit: &mut Unit) {
        if self.first == 0 && at < self.next {
            return;
        }
        self.first = self.first.saturating_sub(1);
        self.next = at.saturating_add(self.plan.every);
        unit.set_rate_signal(RateSignal::UNKNOWN);
    }

    /// A data packet comes to the receiver at `at`: says what it has been advised, if anything.
    pub(crate) fn handle_data(&mut self, at: Time, unit: Unit) -> Option<RateSignal> {
        let signal = unit.rate_signal().filter(|signal| *signal != RateSignal::UNKNOWN)?;
        self.heard.note(at, signal);
        self.signals += 1;
        if self.recorded {
            self.log.push(AdviceRow { at, flow: self.flow, signal });
        }
        Some(signal)
    }

    /// How many signals with advice came, and what is in force at `until`.
    pub(crate) fn heard_until(&self, until: Time) -> (u64, Option<Rate>) {
        (self.signals, self.heard.clone().in_force(until).rate())
    }

    /// A packet leaves the receiver at `at`.
    pub(crate) fn handle_answer_sent(&mut self, at: Time, unit: &mut Unit) {
        if self.tells {
            unit.set_advice(self.heard.in_force(at));
        }
    }

    /// A packet from the receiver has come: the rate of user data that it lets the sender send at; `None`: it carries no advice,
    /// `Some(None)`: no advice is in force. Advice is about whole packets.
    pub(crate) fn advice_in(&self, unit: Unit) -> Option<Option<Rate>> {
        let user = |rate: Rate| {
            let (mss, packet) = self.of_packet;
            Rate::from_bps((u128::from(rate.bps()) * u128::from(mss) / u128::from(packet.max(1))) as u64)
        };
        unit.advice().map(|advice| advice.rate().map(user))
    }

    /// The next connection has heard nothing.
    pub(crate) fn reconnect(&mut self) {
        self.heard = AdviceHeard::default();
        self.first = self.plan.first;
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.log.capacity() * size_of::<AdviceRow>()) as u64
    }
}
