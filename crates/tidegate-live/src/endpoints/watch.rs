//! Waiting for sockets, instants and the end of the run.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::EventFd;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tidegate_core::units::Time;

use crate::clock::time_spec;
use crate::{Clock, LiveError};

const WAKE: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;

/// Sockets by number, a timer, and the call to stop.
#[derive(Debug)]
pub(super) struct Watch {
    epoll: Epoll,
    timer: TimerFd,
    events: Vec<EpollEvent>,
}

impl Watch {
    pub(super) fn new(wake: &EventFd) -> Result<Watch, LiveError> {
        let failed = |error| LiveError::kernel("wait for sockets", error);
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(failed)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).map_err(failed)?;
        epoll.add(wake, EpollEvent::new(EpollFlags::EPOLLIN, WAKE)).map_err(failed)?;
        epoll
            .add(&timer, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, TIMER))
            .map_err(failed)?;
        Ok(Watch { epoll, timer, events: vec![EpollEvent::empty(); 256] })
    }

    /// Tells once each time a socket becomes ready.
    pub(super) fn add(&self, socket: &impl AsFd, flags: EpollFlags, number: u64) -> Result<(), LiveError> {
        let event = EpollEvent::new(flags | EpollFlags::EPOLLET, number);
        self.epoll.add(socket, event).map_err(|error| LiveError::kernel("wait for a socket", error))
    }

    /// Rings at `at`, and at nothing that was set before.
    pub(super) fn ring(&self, clock: Clock, at: Time) -> Result<(), LiveError> {
        if at == Time::NEVER {
            return self.timer.unset().map_err(|error| LiveError::kernel("set a timer", error));
        }
        let when = time_spec(clock.monotonic(at).max(1));
        self.timer
            .set(Expiration::OneShot(when), TimerSetTimeFlags::TFD_TIMER_ABSTIME)
            .map_err(|error| LiveError::kernel("set a timer", error))
    }

    /// Waits, and gives the sockets that are ready.
    pub(super) fn wait(&mut self, ready: &mut Vec<u64>) -> Result<(), LiveError> {
        ready.clear();
        match self.epoll.wait(&mut self.events, EpollTimeout::NONE) {
            Ok(count) => {
                let told = self.events[..count].iter().map(EpollEvent::data);
                ready.extend(told.filter(|number| *number < TIMER));
                Ok(())
            }
            Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(LiveError::kernel("wait for sockets", error)),
        }
    }
}
