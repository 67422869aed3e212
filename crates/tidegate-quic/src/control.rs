//! Who makes the congestion controllers of a connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use quinn_proto::congestion::{Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use rand::RngExt as _;
use tidegate_core::cc;
use tidegate_core::plan::{QuicControl, TcpPlan};
use tidegate_core::random::Stream;

use crate::bbr::{Bbr, Draw, PHASES};
use crate::clock::Clock;
use crate::ours::Ours;
use crate::watch::{Seen, Watched};

/// Bytes of the window with which quinn's CUBIC and NewReno begin by themselves.
const QUINNS_INITIAL_WINDOW: u64 = 12_000;

/// Makes the controllers of an end.
pub(crate) type Control = Arc<dyn ControllerFactory + Send + Sync>;

/// Makes the controllers of one end, each watched.
pub(crate) struct Maker {
    pub(crate) cc: QuicControl,
    /// Of the flow; [`QuicControl::Tcp`] is made from it.
    pub(crate) tcp: TcpPlan,
    /// What controllers draw, until it is taken.
    pub(crate) rng: Mutex<Option<Stream>>,
    pub(crate) clock: Clock,
    pub(crate) seen: Arc<Seen>,
}

impl ControllerFactory for Maker {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner).take();
        let controller: Box<dyn Controller> = match self.cc {
            QuicControl::Cubic => {
                let mut config = CubicConfig::default();
                config.initial_window(initial_window(mtu));
                Arc::new(config).build(now, mtu)
            }
            QuicControl::NewReno => {
                let mut config = NewRenoConfig::default();
                config.initial_window(initial_window(mtu));
                Arc::new(config).build(now, mtu)
            }
            QuicControl::Bbr => Box::new(Bbr::new(mtu, Box::new(Drawn(rng)))),
            QuicControl::Tcp => {
                let controller = cc::Controller::new(&self.tcp, rng);
                Box::new(Ours::new(controller, self.clock, mtu, Arc::clone(&self.seen)))
            }
        };
        Box::new(Watched::new(controller, Arc::clone(&self.seen)))
    }
}

/// Where quinn's CUBIC and NewReno begin: what it has by itself, whatever the largest packet, but two of these at least (RFC 9002 §7.2).
fn initial_window(mtu: u16) -> u64 {
    QUINNS_INITIAL_WINDOW.max(2 * u64::from(mtu))
}

/// Phases of BBR's cycle that a stream of the run draws.
#[derive(Clone, Debug)]
struct Drawn(Option<Stream>);

impl Draw for Drawn {
    fn draw(&mut self) -> u8 {
        self.0.as_mut().map_or(0, |stream| stream.random_range(0..PHASES))
    }

    fn duplicate(&self) -> Box<dyn Draw> {
        Box::new(self.clone())
    }
}
