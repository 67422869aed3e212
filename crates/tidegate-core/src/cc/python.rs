//! Controllers of users: the function that makes one, which the bindings set.

use std::sync::OnceLock;

use rand::Rng as _;

use super::CongestionControl;
use crate::plan::{PythonClass, TcpPlan};
use crate::random::Stream;

/// Makes a user's controller for one connection. It answers always: where the user's code fails, it notes the failure and
/// gives a controller that does nothing. The number is the connection's own, for what is to be random.
pub type Maker = fn(&PythonClass, &TcpPlan, u64) -> Box<dyn CongestionControl>;

static MAKER: OnceLock<Maker> = OnceLock::new();

/// Says who makes the controllers of users, once in a process; later calls change nothing.
pub fn set_maker(maker: Maker) {
    // The first one stays.
    let _ = MAKER.set(maker);
}

/// Whether anybody does.
#[must_use]
pub fn can_make() -> bool {
    MAKER.get().is_some()
}

pub(super) fn make(own: &PythonClass, plan: &TcpPlan, rng: Option<Stream>) -> Box<dyn CongestionControl> {
    let Some(maker) = MAKER.get() else {
        unreachable!("{} has no maker; the simulator refuses such plans before they start", own.name)
    };
    maker(own, plan, rng.map_or(0, |mut stream| stream.next_u64()))
}
