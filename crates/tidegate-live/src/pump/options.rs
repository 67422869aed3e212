//! How a pump is to work.

use std::time::Duration;

use crate::Progress;

/// Whether idle processors of the machine may halt while a run lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Idle {
    /// [`Idle::Awake`], but [`Idle::Halts`] where the plan's packets are so many that the engine
    /// hardly sleeps ([`limits::is_fast`](crate::limits::is_fast)): there a processor that waits awake takes from its
    /// neighbour and nobody waits for it.
    #[default]
    Auto,
    /// They wait awake, where this process may ask for it: timers and programs wake up sooner,
    /// and the machine takes the power of one that works.
    Awake,
    /// As the system likes.
    Halts,
}

/// Choices of the pump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PumpOptions {
    /// How long before a departure the thread stops sleeping and watches the clock, at the
    /// least; zero: no tail.
    pub spin: Duration,
    /// The longest that it may become where the machine's timers wake the thread later than
    /// that.
    pub spin_most: Duration,
    /// Without a spin tail: the most that the thread has itself woken early, by as much as this
    /// machine's timers are late every other time; zero: it sleeps to the departure itself.
    pub lead_most: Duration,
    /// Whether idle processors may halt.
    pub idle: Idle,
    /// Ask for real-time priority; without permission the run goes on and says so.
    pub realtime: bool,
    /// From [`Pump::start`](super::Pump::start) to the run's time zero: endpoints get ready meanwhile.
    pub lead: Duration,
    /// A packet written later than this has no meaning: the run fails. `None`: never.
    pub fail_behind: Option<Duration>,
    /// Where rows of gates are told while the run lasts.
    pub progress: Option<Progress>,
    /// Bytes to keep from the start of every packet, for captures; zero: none.
    pub capture_bytes: u32,
}

impl Default for PumpOptions {
    fn default() -> PumpOptions {
        PumpOptions {
            spin: Duration::from_micros(30),
            spin_most: Duration::from_micros(200),
            lead_most: Duration::from_micros(50),
            idle: Idle::Auto,
            realtime: true,
            lead: Duration::from_millis(100),
            fail_behind: Some(Duration::from_millis(200)),
            progress: None,
            capture_bytes: 0,
        }
    }
}
