//! The quantile behind a confidence interval of a mean.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Quantiles are whole numbers of such parts (2⁻³²): the last digits of a logarithm are not the same on every processor, and a result
/// is the same to the byte on all of them.
const GRAINS: f64 = 4_294_967_296.0;

/// The value that a Student t variable with `freedom` degrees of freedom stays below with
/// probability `share`; none unless 0 < share < 1 and there is a degree of freedom.
#[must_use]
pub fn student_t(share: f64, freedom: u64) -> Option<f64> {
    if !(share > 0.0 && share < 1.0) || freedom == 0 {
        return None;
    }
    StudentsT::new(0.0, 1.0, freedom as f64)
        .ok()
        .map(|law| (law.inverse_cdf(share) * GRAINS).round() / GRAINS)
}

#[cfg(test)]
mod tests {
    use super::student_t;

    /// NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2.
    #[test]
    fn quantiles_are_those_of_the_printed_table() {
        for (freedom, expected) in
            [(1, 12.706), (2, 4.303), (3, 3.182), (7, 2.365), (15, 2.131), (30, 2.042), (100, 1.984)]
        {
            let found = student_t(0.975, freedom).unwrap_or(f64::NAN);
            assert!((found - expected).abs() < 6e-4, "{freedom}: {found}");
        }
        assert!(student_t(0.95, 15).is_some_and(|found| (found - 1.753).abs() < 6e-4));
    }

    #[test]
    fn nothing_where_there_is_no_interval() {
        for (share, freedom) in [(0.975, 0), (0.0, 5), (1.0, 5), (f64::NAN, 5)] {
            assert_eq!(student_t(share, freedom), None);
        }
    }
}
