//! How late packets were written: measured, never fed back.

use tidegate_core::gate::{Precision, Quantiles};
use tidegate_core::units::Span;

/// The time from when each packet was due to when it was written.
#[derive(Clone, Debug)]
pub struct Lateness {
    spans: Quantiles,
    worst: Span,
}

/// Seconds; `None` where no packet was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatenessSummary {
    /// Packets written.
    pub packets: u64,
    /// Mean.
    pub mean_s: Option<f64>,
    /// Median.
    pub p50_s: Option<f64>,
    /// 99th percentile.
    pub p99_s: Option<f64>,
    /// 99.9th percentile.
    pub p999_s: Option<f64>,
    /// The latest.
    pub max_s: Option<f64>,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { spans: Quantiles::new(Precision::Fine), worst: Span::ZERO }
    }
}

impl Lateness {
    /// Counts one more.
    #[inline]
    pub fn note(&mut self, late: Span) {
        self.spans.record(late);
        self.worst = self.worst.max(late);
    }

    /// The latest.
    #[must_use]
    pub fn worst(&self) -> Span {
        self.worst
    }

    /// At least a share `q` of all packets were not later than this, in seconds.
    #[must_use]
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        self.spans.quantile_s(q)
    }

    /// In numbers.
    #[must_use]
    pub fn summary(&self) -> LatenessSummary {
        LatenessSummary {
            packets: self.spans.count(),
            mean_s: self.spans.mean_s(),
            p50_s: self.spans.quantile_s(0.5),
            p99_s: self.spans.quantile_s(0.99),
            p999_s: self.spans.quantile_s(0.999),
            max_s: (self.spans.count() > 0).then(|| self.worst.as_secs_f64()),
        }
    }
}
