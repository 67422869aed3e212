//! Reading the state of every sender every few milliseconds.

use std::os::fd::AsFd as _;
use std::sync::atomic::Ordering;

use tidegate_core::units::{Span, Time};

use super::ending::Counts;
use super::{Heard, Shared, TcpInfo};
use crate::Clock;

/// The state of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it was read.
    pub at: Time,
    /// Of which tick: the time of the run over the sampling interval.
    pub tick: u64,
    /// Whose.
    pub flow: u32,
    /// What the kernel said; segments sent again and time-outs are of all the flow's connections so far.
    pub info: TcpInfo,
}

/// Reads until the run is over; a tick that was slept through is left out.
pub(super) fn work(
    shared: &Shared,
    clock: Clock,
    (every, mut heard): (Span, Heard),
    until: Time,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut tick = 1;
    while !shared.is_over() {
        let at = Time::ZERO.saturating_add(every.saturating_mul(tick));
        if at >= until {
            break;
        }
        clock.sleep_until(at);
        let senders = shared.sending().clone();
        for (flow, sending) in (0..).zip(&senders) {
            let read = sending.socket.as_ref().and_then(|socket| TcpInfo::read(socket.as_fd()).ok());
            let Some(mut info) = read else { continue };
            let all = Counts::of(&info).plus(sending.before);
            info.total_retransmitted = all.retransmitted;
            info.timeouts = info.timeouts.map(|_| all.timeouts);
            if info.established || sending.anew {
                let sample = Sample { at: clock.now(), tick, flow, info };
                heard(&sample, shared.delivered[flow as usize].load(Ordering::Relaxed));
                samples.push(sample);
            }
        }
        let passed = clock.now().picos() / every.picos().max(1);
        tick = (tick + 1).max(passed);
    }
    samples
}
