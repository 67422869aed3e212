//! How the flows of a large run are parted among threads.

/// When a run parts its flows into cohorts, and how large a cohort is. Results do not depend on either; tests make both small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CohortPlan {
    /// With so many flows or more. Then some alarm is always near, and what belongs to the flows fits in no cache.
    pub from_flows: usize,
    /// A cohort has 2 to the power of this many flows that follow each other; the last one may have fewer.
    pub log2_size: u32,
}

impl Default for CohortPlan {
    fn default() -> CohortPlan {
        CohortPlan::DEFAULT
    }
}

impl CohortPlan {
    /// What every run of the product has.
    pub const DEFAULT: CohortPlan = CohortPlan { from_flows: 4096, log2_size: 10 };

    /// How many flows a cohort has.
    #[inline]
    #[must_use]
    pub fn size(self) -> usize {
        1 << self.log2_size
    }

    /// The cohort of a flow.
    #[inline]
    #[must_use]
    pub fn of(self, flow: usize) -> usize {
        flow >> self.log2_size
    }
}
