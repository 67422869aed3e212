//! What a caller hears of a run while it goes on.

use tidegate_core::units::Time;
use tidegate_result::PacketRecord;

/// A caller that is asked, and told, now and then while a run goes on (every few milliseconds of work).
pub trait Watch {
    /// Whether to go on. The simulated time `now` is reached.
    fn go_on(&mut self, now: Time) -> bool;

    /// The run begins. It begins a second time if it reached a limit: what was taken of it before does not count.
    fn begin(&mut self) {}

    /// The packets of a captured run that nobody has taken yet, in order of time. Those that stay are offered again,
    /// and at the end they are the result's.
    fn packets(&mut self, _seen: &mut Vec<PacketRecord>) {}
}

/// A function that says whether to go on.
impl<F: FnMut(Time) -> bool + ?Sized> Watch for &mut F {
    fn go_on(&mut self, now: Time) -> bool {
        self(now)
    }
}
