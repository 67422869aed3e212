//! Flows that are recorded together: what they have in sum, and how they spread, at instants.
//!
//! Each end of a flow adds what has changed to the first instant that shows it. So run-ahead goes on: neither end waits
//! for the other, as it must where a single flow is recorded. An instant costs nothing for a flow in which nothing
//! changes.

use std::ops::AddAssign;

use tidegate_core::plan::{GROUP_ROW_BYTES, Plan, RecordLevel};
use tidegate_core::units::{PICOS_PER_SECOND, Span, Time};
use tidegate_result::GroupRow;

/// Parts of an octave in a spread: the middle of each is off by 1/16 at most.
const PARTS: usize = 8;
/// Bins of a spread, for numbers below 2⁴²; the last one has larger numbers too.
const BINS: usize = 40 * PARTS;

/// The groups of flows that are recorded together, with what their members have added so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    every: Span,
    instants: usize,
    groups: Vec<Group>,
}

#[derive(Clone, Debug)]
struct Group {
    mss: f64,
    /// By instant.
    changes: Vec<Change>,
    /// By instant and bin: by how much the number of flows with such a window changes.
    windows: Vec<i32>,
    /// By instant and bin: the flows to which so many bytes came since the instant before.
    delivered: Vec<u32>,
    /// By instant and bin: round trips of so many microseconds.
    round_trips: Vec<u32>,
}

impl Group {
    /// Makes room for `instants` instants at least.
    #[inline]
    fn reach(&mut self, instants: usize) {
        if self.changes.len() < instants {
            self.changes.resize(instants, Change::default());
            self.windows.resize(instants * BINS, 0);
            self.delivered.resize(instants * BINS, 0);
            self.round_trips.resize(instants * BINS, 0);
        }
    }
}

/// What is new at an instant.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    flows: u64,
    cwnd: i64,
    delivered: u64,
    retransmitted: u64,
    timeouts: u64,
}

/// A flow of a group, and what the group knows of it.
#[derive(Debug)]
pub(crate) struct Member {
    group: usize,
    /// Bytes; none before it begins.
    window: Option<u64>,
    retransmitted: u64,
    timeouts: u64,
    delivered: u64,
    /// The first instant that shows its latest delivery, and what came since the instant before.
    latest: (usize, u64),
}

impl Member {
    /// The flow of a number as a member of its group, if it is in one.
    pub(crate) fn new(plan: &Plan, flow: usize) -> Option<Box<Member>> {
        if !matches!(plan.record.level, RecordLevel::Every(_)) {
            return None;
        }
        let group = plan.record.groups.iter().position(|group| group.flows.binary_search(&flow).is_ok())?;
        Some(Box::new(Member {
            group,
            window: None,
            retransmitted: 0,
            timeouts: 0,
            delivered: 0,
            latest: (0, 0),
        }))
    }
}

impl Groups {
    pub(crate) fn new(plan: &Plan) -> Groups {
        let RecordLevel::Every(every) = plan.record.level else {
            return Groups { every: Span::from_picos(1), instants: 0, groups: vec![] };
        };
        let instants = plan.duration.picos().div_ceil(every.picos()) as usize;
        let group = |flows: &[usize]| Group {
            mss: flows.first().map_or(1.0, |flow| f64::from(plan.flows[*flow].tcp.mss)),
            changes: vec![],
            windows: vec![],
            delivered: vec![],
            round_trips: vec![],
        };
        Groups { every, instants, groups: plan.record.groups.iter().map(|row| group(&row.flows)).collect() }
    }

    /// The first instant that shows what happens at `at`, for which the group has room; `None`: the run ends before it.
    #[inline]
    fn instant(&mut self, at: Time, group: usize) -> Option<usize> {
        let instant = at.picos().div_ceil(self.every.picos()) as usize;
        if instant >= self.instants {
            return None;
        }
        self.groups[group].reach(instant + 1);
        Some(instant)
    }

    /// The sender of a flow did something at `at`. The two counts are since the run began.
    pub(crate) fn note_sender(
        &mut self,
        at: Time,
        member: &mut Member,
        window: u64,
        (retransmitted, timeouts): (u64, u64),
    ) {
        if (Some(window), retransmitted, timeouts) == (member.window, member.retransmitted, member.timeouts) {
            return;
        }
        let Some(instant) = self.instant(at, member.group) else { return };
        let group = &mut self.groups[member.group];
        let change = &mut group.changes[instant];
        change.retransmitted += retransmitted - member.retransmitted;
        change.timeouts += timeouts - member.timeouts;
        (member.retransmitted, member.timeouts) = (retransmitted, timeouts);
        let before = member.window.replace(window);
        if before == Some(window) {
            return;
        }
        change.flows += u64::from(before.is_none());
        change.cwnd += window.cast_signed() - before.unwrap_or(0).cast_signed();
        if let Some(before) = before {
            group.windows[instant * BINS + bin(before)] -= 1;
        }
        group.windows[instant * BINS + bin(window)] += 1;
    }

    /// A segment came to the receiver of a flow at `at`. `delivered`: its user bytes since the run began.
    pub(crate) fn note_receiver(&mut self, at: Time, member: &mut Member, delivered: u64) {
        let more = delivered - member.delivered;
        if more == 0 {
            return;
        }
        let Some(instant) = self.instant(at, member.group) else { return };
        member.delivered = delivered;
        self.groups[member.group].changes[instant].delivered += more;
        if member.latest.0 != instant {
            self.close(member);
            member.latest = (instant, 0);
        }
        member.latest.1 += more;
    }

    /// A round trip of a flow was measured at `at`.
    pub(crate) fn note_round_trip(&mut self, at: Time, member: &Member, length: Span) {
        if let Some(instant) = self.instant(at, member.group) {
            let micros = length.picos() / 1_000_000;
            self.groups[member.group].round_trips[instant * BINS + bin(micros)] += 1;
        }
    }

    /// Counts what came to a flow up to the first instant that shows its latest delivery; no more comes before that.
    pub(crate) fn close(&mut self, member: &Member) {
        let (instant, bytes) = member.latest;
        if bytes > 0 {
            self.groups[member.group].delivered[instant * BINS + bin(bytes)] += 1;
        }
    }

    /// Adds what was noted elsewhere of other flows of the same groups.
    pub(crate) fn add(&mut self, other: &Groups) {
        for (group, of_others) in self.groups.iter_mut().zip(&other.groups) {
            group.reach(of_others.changes.len());
            for (change, more) in group.changes.iter_mut().zip(&of_others.changes) {
                change.flows += more.flows;
                change.cwnd += more.cwnd;
                change.delivered += more.delivered;
                change.retransmitted += more.retransmitted;
                change.timeouts += more.timeouts;
            }
            add(&mut group.windows, &of_others.windows);
            add(&mut group.delivered, &of_others.delivered);
            add(&mut group.round_trips, &of_others.round_trips);
        }
    }

    /// The rows of all groups, one group after the other. Every flow has been closed.
    pub(crate) fn rows(&mut self) -> Vec<GroupRow> {
        let mut rows = Vec::with_capacity(self.groups.len() * self.instants);
        for group in &mut self.groups {
            group.reach(self.instants);
        }
        for (number, group) in (0..).zip(&self.groups) {
            self.rows_of(number, group, &mut rows);
        }
        rows
    }

    fn rows_of(&self, number: u32, group: &Group, rows: &mut Vec<GroupRow>) {
        let (mut sum, mut windows) = (Change::default(), [0_u64; BINS]);
        let bits = 8.0 * PICOS_PER_SECOND as f64 / self.every.picos() as f64;
        for (instant, change) in group.changes.iter().enumerate() {
            let bins = instant * BINS..(instant + 1) * BINS;
            sum.flows += change.flows;
            sum.cwnd += change.cwnd;
            sum.delivered += change.delivered;
            sum.retransmitted += change.retransmitted;
            sum.timeouts += change.timeouts;
            for (flows, more) in windows.iter_mut().zip(&group.windows[bins.clone()]) {
                *flows = flows.wrapping_add_signed(i64::from(*more));
            }
            let counts = |all: &[u32]| -> [u64; BINS] { std::array::from_fn(|bin| u64::from(all[bin])) };
            let mut delivered = counts(&group.delivered[bins.clone()]);
            // Flows that are in no bin received nothing.
            delivered[0] += sum.flows.saturating_sub(delivered.iter().sum());
            let goodput = if instant == 0 { [f64::NAN; 3] } else { spread(&delivered) };
            rows.push(GroupRow {
                at: Time::ZERO + Span::from_picos(instant as u64 * self.every.picos()),
                group: number,
                flows: sum.flows,
                cwnd_segments: sum.cwnd as f64 / group.mss,
                cwnd_spread: spread(&windows).map(|bytes| bytes / group.mss),
                delivered_bytes: sum.delivered,
                goodput_spread: goodput.map(|bytes| bytes * bits),
                rtt_spread: spread(&counts(&group.round_trips[bins])).map(|micros| micros / 1e3),
                retransmitted_segments: sum.retransmitted,
                timeouts: sum.timeouts,
            });
        }
    }

    /// Bytes of the instants up to `at`: the same for any number of threads, each of which counts in groups of its own.
    pub(crate) fn memory_bytes(&self, at: Time) -> u64 {
        at.picos() / self.every.picos() * self.groups.len() as u64 * GROUP_ROW_BYTES
    }
}

/// The bin of a number.
fn bin(number: u64) -> usize {
    if number < PARTS as u64 {
        return number as usize;
    }
    let octave = number.ilog2() as usize;
    let part = (number >> (octave - 3)) as usize % PARTS;
    ((octave - 2) * PARTS + part).min(BINS - 1)
}

/// The middle of a bin.
fn middle(bin: usize) -> f64 {
    if bin < PARTS {
        return bin as f64;
    }
    let width = 1_u64 << (bin / PARTS - 1);
    let first = (PARTS + bin % PARTS) as u64 * width;
    first as f64 + (width - 1) as f64 / 2.0
}

/// The smallest numbers that at least 10, 50 and 90 of 100 do not exceed; NaN: there are none.
fn spread(counts: &[u64; BINS]) -> [f64; 3] {
    let all: u64 = counts.iter().sum();
    [10, 50, 90].map(|percent| {
        if all == 0 {
            return f64::NAN;
        }
        let mut rank = (all * percent).div_ceil(100) - 1;
        for (bin, count) in counts.iter().enumerate() {
            if rank < *count {
                return middle(bin);
            }
            rank -= count;
        }
        f64::NAN
    })
}

/// Adds a list to another, place by place.
fn add<T: Copy + AddAssign>(all: &mut [T], more: &[T]) {
    all.iter_mut().zip(more).for_each(|(one, other)| *one += *other);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small numbers have bins of their own.
    #[test]
    fn a_quantile_is_the_smallest_number_that_its_share_does_not_exceed() {
        let of = |numbers: &[u64]| {
            let mut counts = [0; BINS];
            numbers.iter().for_each(|number| counts[bin(*number)] += 1);
            spread(&counts)
        };
        assert_eq!(of(&[3, 5]), [3.0, 3.0, 5.0]);
        assert_eq!(of(&[1, 2, 3, 7]), [1.0, 2.0, 7.0]);
        assert_eq!(of(&[1, 2, 2, 2, 2, 2, 2, 2, 3, 7]), [1.0, 2.0, 3.0]);
        assert!(of(&[])[0].is_nan());
    }

    #[test]
    fn the_middle_of_a_bin_is_near_every_number_in_it() {
        for number in (0..5000).chain((12..40).flat_map(|power| [(1 << power) - 1, 1 << power, 3 << power])) {
            let off = (middle(bin(number)) - number as f64).abs();
            assert!(off <= 0.0625 * number as f64, "{number}: {}", middle(bin(number)));
        }
        assert!((0..5000).map(bin).is_sorted());
        assert_eq!(bin(u64::MAX), BINS - 1);
    }

    #[test]
    fn a_spread_has_the_flow_of_each_rank() {
        let mut counts = [0; BINS];
        assert!(spread(&counts).iter().all(|value| value.is_nan()));
        // The numbers 0 to 7 are bins of their own.
        counts[..5].copy_from_slice(&[1, 0, 4, 3, 2]);
        assert_eq!(spread(&counts), [0.0, 2.0, 4.0]);
    }
}
