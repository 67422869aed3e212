//! The name under which a run's result is kept: a digest of all that the engine reads.

use std::fmt::{self, Write as _};

use sha2::{Digest, Sha256};
use tidegate_core::plan::Plan;

/// SHA-256, in hex, of a plan with every default filled in and every trace's content. The
/// title, the seed and the replication are left out: the first changes no number, the
/// others are parts of the key by themselves.
///
/// The digest is of the plan's `Debug` text, which shows every field and every float to the
/// last bit. It may change with the code, as any key of a kept result must.
#[must_use]
pub fn digest(plan: Plan) -> String {
    let plain = Plan { title: String::new(), seed: 0, replication: 0, ..plan };
    let mut hash = Hashing(Sha256::new());
    // Hashing never fails, and derived Debug fails only when its writer does.
    let _ = write!(hash, "{plain:?}");
    hash.0.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

struct Hashing(Sha256);

impl fmt::Write for Hashing {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tidegate_core::plan::{AtEnd, GatePlan, Plan, RatePlan, RateTrace};
    use tidegate_core::units::{Rate, Span, Time};

    use super::digest;

    fn plan() -> Plan {
        Plan { gates: vec![GatePlan::open("link")], ..Plan::empty(Time::from_picos(5)) }
    }

    #[test]
    fn what_changes_no_number_changes_no_key() {
        let same = Plan { title: "another".to_owned(), seed: 9, replication: 3, ..plan() };
        assert_eq!(digest(same), digest(plan()));
        assert_eq!(digest(plan()).len(), 64);
    }

    #[test]
    fn every_other_change_changes_the_key() {
        let traced = |bps: u64| {
            let points = vec![(Time::ZERO, Rate::from_bps(bps))];
            let trace = Arc::new(RateTrace { points, period: Span::from_millis(1) });
            let mut plan = plan();
            plan.gates[0].rate = RatePlan::RateTrace { trace, at_end: AtEnd::Repeat };
            plan
        };
        let longer = Plan { duration: Time::from_picos(6), ..plan() };
        let mut named = plan();
        named.gates[0].name = "other".to_owned();
        let all = [plan(), longer, named, traced(1000), traced(1001)].map(digest);
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "{index}");
        }
        assert_eq!(digest(traced(1000)), all[3], "the same content, read twice");
    }
}
