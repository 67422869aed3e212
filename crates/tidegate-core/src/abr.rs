//! Sources and switches of ATM's available bit rate service, as plain objects: what a source
//! makes of an RM cell that comes back, and what a switch writes into it.
//!
//! Sources: ATM Forum, Traffic Management 4.0 (af-tm-0056), 5.10.4, rules 1, 8 and 9; R. Jain et
//! al., "ERICA Switch Algorithm: A Complete Description", ATM Forum/96-1172; S. Kalyanaraman et al.,
//! "The ERICA Switch Algorithm for ABR Traffic Management in ATM Networks", IEEE/ACM Trans.
//! Networking 8(1), 2000.
//!
//! Rates are floats in bit/s; only + − × ÷ and comparisons are used, so that every machine
//! gives the same bits.

mod erica;

pub use erica::{Erica, IntervalLoad};

/// What an RM cell brings back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// Congestion indication.
    pub congested: bool,
    /// The explicit rate, bit/s; infinite where the switch writes none.
    pub explicit: f64,
}

/// The constants of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// PCR, bit/s.
    pub peak: f64,
    /// MCR.
    pub min: f64,
    /// ICR.
    pub initial: f64,
    /// RIF: what is added without congestion, as a part of PCR.
    pub increase: f64,
    /// RDF: the part of ACR that is taken away in congestion.
    pub decrease: f64,
}

/// A source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AbrSource {
    rates: Rates,
    allowed: f64,
}

impl AbrSource {
    /// A source that has heard nothing yet.
    #[must_use]
    pub fn new(rates: Rates) -> AbrSource {
        AbrSource { rates, allowed: rates.initial }
    }

    /// ACR, the rate allowed, bit/s.
    #[must_use]
    pub fn allowed(&self) -> f64 {
        self.allowed
    }

    /// Rules 8 and 9: an RM cell has come back. Says the new ACR.
    pub fn hear(&mut self, feedback: Feedback) -> f64 {
        let Rates { peak, min, increase, decrease, .. } = self.rates;
        let moved = if feedback.congested {
            self.allowed - self.allowed * decrease
        } else {
            self.allowed + increase * peak
        };
        self.allowed = moved.min(peak).min(feedback.explicit).max(min);
        self.allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { peak: 10e6, min: 1e6, initial: 2e6, increase: 0.125, decrease: 0.25 };

    #[test]
    fn up_by_a_part_of_the_peak_and_down_by_a_part_of_itself() {
        let mut source = AbrSource::new(RATES);
        let feedback = |congested, explicit| Feedback { congested, explicit };
        let none = f64::INFINITY;
        assert_eq!(source.hear(feedback(false, none)), 3.25e6);
        assert_eq!(source.hear(feedback(true, none)), 2.4375e6);
        assert_eq!(source.hear(feedback(false, 3e6)), 3e6);
        assert_eq!(source.hear(feedback(false, 0.0)), 1e6);
        for _ in 0..20 {
            source.hear(feedback(false, none));
        }
        assert_eq!(source.allowed(), 10e6);
        for _ in 0..20 {
            source.hear(feedback(true, none));
        }
        assert_eq!(source.allowed(), 1e6);
    }
}
