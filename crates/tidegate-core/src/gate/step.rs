//! The step: a queue that is longer than a threshold marks (DCTCP's switch, RFC 8257 §3.1).

use super::backlog::Backlog;
use super::drops::DropReason;
use crate::plan::StepThreshold;
use crate::unit::Ecn;

/// Whether a unit that finds `found` in the queue is marked.
///
/// # Errors
/// It would be, but its transport does not use ECN: then it is dropped (RFC 3168 §5).
pub(super) fn judge(threshold: StepThreshold, found: Backlog, ecn: Ecn) -> Result<bool, DropReason> {
    let above = match threshold {
        StepThreshold::Packets(most) => found.units > most,
        StepThreshold::Bytes(most) => found.bytes > most,
    };
    if above && ecn == Ecn::NotEct { Err(DropReason::Early) } else { Ok(above) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_threshold_marks_or_drops() {
        let found = Backlog { units: 3, bytes: 4500 };
        for (threshold, above) in [
            (StepThreshold::Packets(2), true),
            (StepThreshold::Packets(3), false),
            (StepThreshold::Bytes(4499), true),
            (StepThreshold::Bytes(4500), false),
        ] {
            for capable in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                assert_eq!(judge(threshold, found, capable), Ok(above));
            }
            let dropped = if above { Err(DropReason::Early) } else { Ok(false) };
            assert_eq!(judge(threshold, found, Ecn::NotEct), dropped);
        }
    }
}
