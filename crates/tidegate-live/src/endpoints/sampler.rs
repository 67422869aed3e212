//! Reading the state of every sender every few milliseconds.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, PoisonError};

use tidegate_core::units::{Span, Time};

use super::{Shared, TcpInfo};
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
    /// What the kernel said.
    pub info: TcpInfo,
}

/// Reads until the run is over; a tick that was slept through is left out.
pub(super) fn work(shared: &Shared, clock: Clock, every: Span, until: Time) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut tick = 1;
    while !shared.is_over() {
        let at = Time::ZERO.saturating_add(every.saturating_mul(tick));
        if at >= until {
            break;
        }
        clock.sleep_until(at);
        let sockets: Vec<Option<Arc<OwnedFd>>> =
            shared.senders.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (flow, socket) in (0..).zip(&sockets) {
            let Some(info) = socket.as_ref().and_then(|socket| TcpInfo::read(socket.as_fd()).ok()) else {
                continue;
            };
            if info.established {
                samples.push(Sample { at: clock.now(), tick, flow, info });
            }
        }
        let passed = clock.now().picos() / every.picos().max(1);
        tick = (tick + 1).max(passed);
    }
    samples
}
