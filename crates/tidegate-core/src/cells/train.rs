//! Equally spaced cells of one packet.

use crate::gcra::Interval;
use crate::serial::span_of;
use crate::units::{Span, Time};

/// A distance in time, exact: picoseconds and a part of one in units of 1/`whole`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spacing {
    pub(super) picos: u64,
    pub(super) part: u64,
    pub(super) whole: u64,
}

impl Spacing {
    /// No distance: cells that come together.
    pub(super) const NONE: Spacing = Spacing { picos: 0, part: 0, whole: 1 };

    /// What `work` takes at `speed` units of work per second.
    pub(super) fn of(work: u64, speed: u64) -> Spacing {
        let (picos, part) = span_of(work, speed);
        Spacing::in_least_parts(picos, part, speed)
    }

    pub(super) fn from(interval: Interval) -> Spacing {
        Spacing::in_least_parts(interval.whole(), interval.part(), interval.parts())
    }

    fn in_least_parts(picos: u64, part: u64, whole: u64) -> Spacing {
        let (mut divisor, mut rest) = (whole.max(1), part);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Spacing { picos, part: part / divisor, whole: whole / divisor }
    }

    /// In picoseconds, nearly.
    pub(super) fn as_f64(self) -> f64 {
        self.picos as f64 + self.part as f64 / self.whole as f64
    }

    pub(super) fn span(self) -> Span {
        Span::from_picos(self.picos)
    }
}

/// An instant of a progression: whole picoseconds, and the part it is rounded down by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    pub(super) at: Time,
    pub(super) carry: u64,
}

impl Exact {
    pub(super) fn whole(at: Time) -> Exact {
        Exact { at, carry: 0 }
    }

    #[inline]
    pub(super) fn plus(self, spacing: Spacing) -> Exact {
        let mut picos = spacing.picos;
        let mut carry = self.carry + spacing.part;
        if carry >= spacing.whole {
            carry -= spacing.whole;
            picos += 1;
        }
        Exact { at: self.at.saturating_add(Span::from_picos(picos)), carry }
    }

    /// The instant after so many spacings.
    pub(super) fn plus_times(self, spacing: Spacing, times: u64) -> Exact {
        if times == 0 {
            return self;
        }
        if let (Some(parts), Some(picos)) = (
            spacing.part.checked_mul(times).and_then(|parts| parts.checked_add(self.carry)),
            spacing.picos.checked_mul(times),
        ) {
            let (more, carry) = (parts / spacing.whole, parts % spacing.whole);
            let span = Span::from_picos(picos.saturating_add(more));
            return Exact { at: self.at.saturating_add(span), carry };
        }
        let parts = u128::from(self.carry) + u128::from(spacing.part) * u128::from(times);
        let whole = u128::from(spacing.whole);
        let picos = u128::from(spacing.picos) * u128::from(times) + parts / whole;
        let picos = u64::try_from(picos).unwrap_or(u64::MAX);
        Exact { at: self.at.saturating_add(Span::from_picos(picos)), carry: (parts % whole) as u64 }
    }
}

/// Cells of one packet, `spacing` apart, on their way to a gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// Arrival of the next cell.
    pub(super) next: Exact,
    pub(super) spacing: Spacing,
    /// Cells still to come.
    pub(super) left: u32,
    /// Whose cells: an index into the section's frames.
    pub(super) frame: u32,
    /// The next cell is the packet's first.
    pub(super) begins: bool,
    /// The last cell of the train is the packet's last.
    pub(super) ends: bool,
    /// A policer set the loss priority of all of them (CLP = 1).
    pub(super) tagged: bool,
}

impl Train {
    /// No cells.
    pub(super) const NONE: Train = Train {
        next: Exact { at: Time::NEVER, carry: 0 },
        spacing: Spacing::NONE,
        left: 0,
        frame: 0,
        begins: false,
        ends: false,
        tagged: false,
    };

    /// Takes so many cells off.
    #[inline]
    pub(super) fn skip(&mut self, cells: u32) {
        self.begins &= cells == 0;
        self.left -= cells;
        self.next = match cells {
            1 => self.next.plus(self.spacing),
            _ => self.next.plus_times(self.spacing, u64::from(cells)),
        };
    }

    /// Arrival of its last cell.
    pub(super) fn last(&self) -> Time {
        self.next.plus_times(self.spacing, u64::from(self.left.saturating_sub(1))).at
    }
}
