//! Sleeps until an instant or until a packet comes: a timer with absolute deadlines and
//! epoll.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::EventFd;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::LiveError;
use crate::clock::time_spec;

const TIMER: u64 = 2;
const STOP: u64 = 3;

/// What ended a sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Woken {
    /// Which edges have packets.
    pub(super) readable: [bool; 2],
    /// Someone wants the thread to end.
    pub(super) stop: bool,
}

/// What a thread sleeps on: its timer, its devices and the wish to stop.
#[derive(Debug)]
pub(super) struct Waiter {
    epoll: Epoll,
    timer: TimerFd,
    /// The timer's deadline, in nanoseconds of `CLOCK_MONOTONIC`; zero: it does not run.
    deadline: i64,
    _stop: Arc<EventFd>,
}

impl Waiter {
    pub(super) fn new(edges: [BorrowedFd<'_>; 2], stop: Arc<EventFd>) -> Result<Waiter, LiveError> {
        let failed = |error: Errno| LiveError::kernel("make a timer", error);
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)
                .map_err(failed)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(failed)?;
        let watch = |fd: BorrowedFd<'_>, name: u64| {
            epoll.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, name)).map_err(failed)
        };
        watch(edges[0], 0)?;
        watch(edges[1], 1)?;
        watch(timer.as_fd(), TIMER)?;
        watch(stop.as_fd(), STOP)?;
        Ok(Waiter { epoll, timer, deadline: 0, _stop: stop })
    }

    /// Sleeps until `deadline` on `CLOCK_MONOTONIC`, or until something else comes.
    #[inline]
    pub(super) fn sleep_until(&mut self, deadline: i64) -> Result<Woken, LiveError> {
        if deadline != self.deadline {
            self.set(deadline)?;
        }
        self.wait(EpollTimeout::NONE)
    }

    /// Looks without sleeping.
    pub(super) fn look(&mut self) -> Result<Woken, LiveError> {
        self.wait(EpollTimeout::ZERO)
    }

    fn wait(&mut self, timeout: EpollTimeout) -> Result<Woken, LiveError> {
        let mut events = [EpollEvent::empty(); 4];
        let found = match self.epoll.wait(&mut events, timeout) {
            Ok(found) => found,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(LiveError::kernel("wait for packets", error)),
        };
        let mut woken = Woken::default();
        for event in &events[..found] {
            match event.data() {
                STOP => woken.stop = true,
                // Over, and readable until it is set again.
                TIMER => self.deadline = 0,
                edge => woken.readable[edge as usize & 1] = true,
            }
        }
        Ok(woken)
    }

    fn set(&mut self, deadline: i64) -> Result<(), LiveError> {
        // A deadline of zero would stop the timer; one that is over fires at once.
        let deadline = deadline.max(1);
        self.timer
            .set(Expiration::OneShot(time_spec(deadline)), TimerSetTimeFlags::TFD_TIMER_ABSTIME)
            .map_err(|error| LiveError::kernel("set a timer", error))?;
        self.deadline = deadline;
        Ok(())
    }
}
