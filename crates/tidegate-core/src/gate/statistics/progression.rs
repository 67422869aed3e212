//! Evenly spaced lengths of time: an arithmetic progression in exact fractions.
//!
//! Example: cells that arrive together at a server that takes 2⅔ ps for each wait 0, 2⅔, 5⅓, 8, … ps. Rounded
//! down, these are 0, 2, 5, 8, …: the distance alternates between 2 and 3, so no whole number could stand for it.

/// A length of time, exactly: whole picoseconds, and parts of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactPicos {
    /// Whole picoseconds.
    pub whole: u64,
    /// Parts of a picosecond; fewer than [`Progression::parts`].
    pub part: u64,
}

/// An arithmetic progression in exact fractions. Its terms are rounded down to whole picoseconds, and none is zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progression {
    /// The first term.
    pub first: ExactPicos,
    /// From each term to the next.
    pub gap: ExactPicos,
    /// Parts that make a picosecond.
    pub parts: u64,
    /// How many terms there are.
    pub terms: u64,
}

impl Progression {
    /// The term after so many others.
    pub(super) fn term(&self, before: u64) -> ExactPicos {
        let Progression { first, gap, parts, .. } = *self;
        let part = u128::from(gap.part) * u128::from(before) + u128::from(first.part);
        let whole = u128::from(gap.whole) * u128::from(before) + part / u128::from(parts);
        let whole = u128::from(first.whole).saturating_add(whole);
        ExactPicos {
            whole: u64::try_from(whole).unwrap_or(u64::MAX),
            part: (part % u128::from(parts)) as u64,
        }
    }

    /// How many of the terms, rounded down, are not above `most`.
    pub(super) fn up_to(&self, most: u64) -> u64 {
        let Some(beyond) = most.checked_sub(self.first.whole) else { return 0 };
        // At least so many, because each distance may be a picosecond longer.
        let mut count = (beyond / (self.gap.whole + 1) + 1).min(self.terms);
        while count < self.terms && self.term(count).whole <= most {
            count += 1;
        }
        count
    }

    /// The terms in fixed-point arithmetic, which is faster than [`Progression::terms`]; `None` where 64 bits are
    /// not enough to round each term as exact arithmetic does.
    #[inline]
    pub(super) fn fixed_point_terms(&self) -> Option<impl Iterator<Item = u64> + use<>> {
        let Progression { first, gap, parts, terms } = *self;
        let most = gap.whole.saturating_add(1).saturating_mul(terms).saturating_add(first.whole);
        let digits = (most | 1).leading_zeros().min(31);
        // Every fraction is rounded down by less than a unit of the last place; `above` units make up for it, so a
        // term is never too small. An exact term lies at least one part below the next whole picosecond. So as long
        // as `above + 1` units are no longer than a part, a term is never too large either.
        let above = terms + 2;
        if (above + 1).saturating_mul(parts) > 1 << digits {
            return None;
        }
        let fraction = |part: u64| (part as f64 / parts as f64 * f64::from(1_u32 << digits)) as u32;
        let step = (gap.whole << digits) + u64::from(fraction(gap.part));
        let mut term = (first.whole << digits) + u64::from(fraction(first.part)) + above;
        Some((0..terms).map(move |_| {
            let this = term >> digits;
            term = term.wrapping_add(step);
            this
        }))
    }

    /// The terms in exact arithmetic.
    pub(super) fn terms(&self) -> impl Iterator<Item = u64> + use<> {
        let Progression { first, gap, parts, terms } = *self;
        let ExactPicos { whole: mut term, part: mut carry } = first;
        (0..terms).map(move |_| {
            let this = term;
            carry += gap.part;
            let over = carry >= parts;
            carry -= if over { parts } else { 0 };
            term = term.saturating_add(gap.whole).saturating_add(u64::from(over));
            this
        })
    }
}
