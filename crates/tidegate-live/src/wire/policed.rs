//! Which policer a flow's small congestion window is owed to, as its packets tell it: the kernel
//! does not say why it made a window smaller.
//!
//! The rule is the simulator's (`docs/design/limited-by.md`), with what can be seen from outside: a
//! sender begins to repair a loss where it sends a segment again that lies beyond what was out when
//! the repair before began, or sends one again twice. If a policer was the last to drop that segment,
//! the policer is to blame from then on; if anything else was, or nothing, nobody is.

use std::collections::BTreeMap;

/// The policer to blame in one connection; places are offsets in the stream.
#[derive(Debug, Default)]
pub(super) struct Policed {
    /// Segments dropped and not sent again since, by their beginning; the gate, if its policer did it.
    dropped: BTreeMap<i64, Option<usize>>,
    /// Segments sent again in this repair.
    repaired: Vec<i64>,
    /// What was out when the repair began ends here.
    recover: i64,
    blamed: Option<usize>,
}

impl Policed {
    /// A segment at `start` goes out, everything up to `highest` has; `again`: it was sent before. What
    /// becomes of it: a gate drops it, and which, if the gate's policer does.
    pub(super) fn send(&mut self, start: i64, highest: i64, again: bool, fate: Option<Option<usize>>) {
        if again {
            if start >= self.recover {
                self.recover = highest;
                self.repaired.clear();
                self.judge(start);
            } else if self.repaired.contains(&start) {
                self.judge(start);
            }
            self.repaired.push(start);
            self.dropped.remove(&start);
        }
        if let Some(policer) = fate {
            self.dropped.insert(start, policer);
        }
    }

    fn judge(&mut self, missing: i64) {
        self.blamed = self.dropped.get(&missing).copied().flatten();
    }

    /// Everything up to here is acknowledged.
    pub(super) fn acknowledge(&mut self, upto: i64) {
        while let Some(first) = self.dropped.first_entry() {
            if *first.key() >= upto {
                break;
            }
            first.remove();
        }
    }

    /// Which policer is to blame for what the congestion window holds back.
    pub(super) fn blamed(&self) -> Option<usize> {
        self.blamed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISP: Option<usize> = Some(3);

    impl Policed {
        fn after(
            &mut self,
            start: i64,
            highest: i64,
            again: bool,
            fate: Option<Option<usize>>,
        ) -> Option<usize> {
            self.send(start, highest, again, fate);
            self.blamed()
        }
    }

    #[test]
    fn the_policer_that_dropped_what_is_sent_again_is_to_blame() {
        let mut flow = Policed::default();
        assert_eq!(flow.after(0, 0, false, None), None);
        assert_eq!(flow.after(100, 100, false, Some(ISP)), None);
        assert_eq!(flow.after(200, 200, false, Some(None)), None);
        assert_eq!(flow.after(100, 300, true, None), ISP, "the repair begins with it");
        assert_eq!(flow.after(200, 300, true, None), ISP, "and goes on with another loss");
        flow.acknowledge(300);
        assert_eq!(flow.after(300, 300, false, Some(None)), ISP, "until a loss elsewhere");
        assert_eq!(flow.after(300, 400, true, None), None);
    }

    #[test]
    fn a_repeat_that_is_lost_again_is_judged_again() {
        let mut flow = Policed::default();
        flow.after(0, 0, false, Some(None));
        assert_eq!(flow.after(0, 100, true, Some(ISP)), None);
        assert_eq!(flow.after(0, 100, true, None), ISP);
        assert_eq!(flow.after(0, 100, true, None), None, "it was not dropped again");
    }
}
