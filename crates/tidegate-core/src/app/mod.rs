//! Applications: what is written into TCP, and when.
//!
//! An application never looks at TCP: it writes when its time has come, and TCP keeps what it cannot
//! send yet.

mod instants;
mod media;
mod numbered;
mod pace;
mod request;
mod server;
mod size;
mod source;
pub mod video;

#[cfg(test)]
mod media_tests;
#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod tests;

use crate::plan::AppPlan;
use crate::random::Stream;
use crate::units::Time;

pub use pace::Pace;
pub use request::{Begin, Client, Exchange};
pub use server::Server;
pub use size::Sizes;
pub use source::ArrivalProcess;
pub(crate) use source::draw;

/// The application of one flow.
#[derive(Debug)]
pub enum Application {
    /// Writes once: all there will ever be.
    Once {
        /// When; [`Time::NEVER`] once it has written.
        at: Time,
        /// User bytes; `u64::MAX`: always more.
        bytes: u64,
    },
    /// Writes as a source brings bytes.
    Source(Box<ArrivalProcess>),
}

impl Application {
    /// The application of `plan`, which begins at `start`. `rng` is its own stream.
    #[must_use]
    pub fn new(plan: &AppPlan, start: Time, rng: Stream) -> Application {
        match plan {
            AppPlan::Bulk => Application::Once { at: start, bytes: u64::MAX },
            AppPlan::Transfer { bytes } => Application::Once { at: start, bytes: *bytes },
            // Its [`Client`] writes at the other end.
            AppPlan::Request(_) => Application::Once { at: Time::NEVER, bytes: 0 },
            AppPlan::Source(source) => Application::Source(Box::new(ArrivalProcess::new(source, start, rng))),
        }
    }

    /// When it writes next; [`Time::NEVER`]: no more.
    #[inline]
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        match self {
            Application::Once { at, .. } => *at,
            Application::Source(arrivals) => arrivals.peek(),
        }
    }

    /// Bytes to write into TCP, having come to `now`: everything that was due. 0 if nothing was.
    pub fn handle_wakeup(&mut self, now: Time) -> u64 {
        match self {
            Application::Once { at, bytes } if *at <= now => {
                *at = Time::NEVER;
                *bytes
            }
            Application::Once { .. } => 0,
            Application::Source(arrivals) => {
                let mut total = 0_u64;
                while arrivals.peek() <= now && arrivals.peek() != Time::NEVER {
                    total += arrivals.next().map_or(0, |(_, bytes)| u64::from(bytes));
                }
                total
            }
        }
    }
}
