//! What a run gives when it is over.

use tidegate_core::app::Exchange;
use tidegate_core::app::video::Download;
use tidegate_core::net::Dropped;
use tidegate_core::plan::Plan;
use tidegate_result::{AdviceRow, Mark, RunResult, class_histories, slot_bps};

use crate::rows;
use crate::simulation::Simulation;

impl Simulation {
    /// Time-outs and fast retransmits of all recorded flows, in order of time.
    fn marks(&mut self) -> Vec<Mark> {
        let histories = self.flows.iter_mut().filter_map(|flow| flow.meter.history.as_mut());
        let mut marks: Vec<Mark> = histories.flat_map(|history| std::mem::take(&mut history.marks)).collect();
        marks.sort_by_key(|mark| (mark.at, mark.flow));
        marks
    }

    /// Every exchange of the recorded flows, by flow.
    fn requests(&mut self) -> Vec<Vec<Exchange>> {
        let logs = self.flows.iter_mut().map(|flow| {
            let recorded = flow.meter.history.is_some();
            flow.dialogue.as_mut().filter(|_| recorded).map(|dialogue| std::mem::take(&mut dialogue.log))
        });
        logs.map(Option::unwrap_or_default).collect()
    }

    /// Every segment of the recorded flows' videos, by flow.
    fn segments(&self, plan: &Plan) -> Vec<Vec<Download>> {
        let flows = self.flows.iter().zip(&plan.flows);
        let segments = flows.map(|(flow, row)| {
            let dialogue = flow.dialogue.as_ref().filter(|_| flow.meter.history.is_some())?;
            let start = dialogue.client.player()?.begun();
            Some(tidegate_result::segments(row, start, &dialogue.log, self.wire.until))
        });
        segments.map(Option::unwrap_or_default).collect()
    }

    /// All advice that the recorded flows have heard, in order of time; `None`: no packet of a flow carries a rate signal.
    fn advice(&mut self) -> Option<Vec<AdviceRow>> {
        let mut advised = self.flows.iter_mut().filter_map(|flow| flow.advised.as_mut()).peekable();
        advised.peek()?;
        let mut advice: Vec<AdviceRow> = advised.flat_map(|each| std::mem::take(&mut each.log)).collect();
        advice.sort_by_key(|row| (row.at, row.flow));
        Some(advice)
    }

    /// What the run gives.
    pub(crate) fn finish(mut self, plan: &Plan) -> RunResult {
        self.wire.network.finish();
        while let Some(dropped) = self.wire.network.poll_drop() {
            self.drop(dropped);
        }
        if let Some(cohort_threads) = &mut self.cohort_threads {
            cohort_threads.sum_up(&mut self.wire.groups);
        }
        for flow in &mut self.flows {
            flow.finish(self.wire.until);
            if let Some(member) = &flow.member {
                self.wire.groups.close(member);
            }
        }
        let events = self.wire.events_handled();
        let summary = rows::summarise(plan, &self.wire.network, &self.flows, events);
        let until = self.wire.until;
        // Run-ahead reports drops before their time, some of them after the end of the run.
        self.drops.retain(|dropped| dropped.at < until);
        self.drops.sort_by_key(Dropped::place);
        let marks = self.marks();
        let segments = self.segments(plan);
        let advice = self.advice();
        let requests = self.requests();
        let classes = class_histories(plan, self.wire.network.gates_mut());
        let gates = self.wire.network.gates_mut().iter_mut();
        let histories = self.flows.iter_mut().map(|flow| flow.meter.history.take());
        RunResult {
            summary,
            slot_bps: plan.gates.iter().map(slot_bps).collect(),
            gates: gates.map(|gate| gate.take_history().unwrap_or_default()).collect(),
            classes,
            flows: histories.map(|history| history.map(|kept| kept.rows).unwrap_or_default()).collect(),
            groups: self.wire.groups.rows(),
            drops: self.drops,
            marks,
            requests,
            segments,
            advice,
            packets: self.wire.packets.unwrap_or_default(),
        }
    }
}
