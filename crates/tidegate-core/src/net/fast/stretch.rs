//! What is known of a stretch while the directions of a network alternate ([`super::alternation`]).

use crate::net::fast::directions::Direction;
use crate::net::map::{NONE, Stretch};
use crate::units::Span;

/// Stretches with longer delays have no fast path: what leaves an idle gate inside the measured time leaves it within 200 days
/// ([`crate::gate::Gate::pass_idle`]), and 213 days can be represented.
const LONGEST_DELAY: Span = Span::from_secs(10 * 24 * 60 * 60);

/// What a unit needs to pass a stretch without an event, in half a cache line.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct FastStretch {
    /// Its first gate; [`NONE`]: units need an event there.
    pub(super) gate: u32,
    /// The only gate behind that one; [`NONE`]: there are none or several.
    pub(super) own: u32,
    /// No gates come behind these.
    pub(super) whole: bool,
    /// The direction in which its units are sent on, if it has one gate and needs no event.
    pub(super) sends_to: Option<Direction>,
    /// The direction in which its units are sent on, whatever its gates; their line stays empty. `None`: they come to the end of their
    /// route, or wait on the line.
    pub(super) direction: Option<Direction>,
    /// Whose route this is.
    pub(super) route: u32,
    /// Pure delay behind the gates.
    pub(super) delay: Span,
}

impl FastStretch {
    pub(super) fn new(stretch: &Stretch, gates: &[u32], direction: Option<Direction>) -> FastStretch {
        let sends_to = direction.filter(|_| gates.len() == 1);
        let is_fast =
            !stretch.slow_path && (stretch.ahead || sends_to.is_some()) && stretch.delay <= LONGEST_DELAY;
        FastStretch {
            gate: gates.first().copied().filter(|_| is_fast).unwrap_or(NONE),
            own: if gates.len() == 2 { gates[1] } else { NONE },
            whole: gates.len() <= 2,
            sends_to: sends_to.filter(|_| is_fast),
            direction,
            route: stretch.route,
            delay: stretch.delay,
        }
    }
}
