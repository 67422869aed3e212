//! Transports that are known to hold or to fail.

use tidegate_judge::{Asked, JudgeError, Judged, judge, links};
use tidegate_sim::Plan;
use tidegate_sim::host::{Ecn, Ends, Host, Outgoing, Packet, Report, Tcp, Time};

/// Never sends, and panics when it begins if it is broken.
struct Silent {
    broken: bool,
}

impl Host for Silent {
    fn open(&mut self, _: Time) {
        assert!(!self.broken, "as it was built");
    }
    fn handle_packet(&mut self, _: Time, _: Ecn, _: Packet) {}
    fn handle_wakeup(&mut self, _: Time) {}
    fn poll_transmit(&mut self, _: Time) -> Option<Outgoing> {
        None
    }
    fn next_wakeup(&mut self) -> Time {
        Time::NEVER
    }
    fn report(&self) -> Report {
        Report::default()
    }
}

fn silent(broken: bool) -> Ends {
    [Box::new(Silent { broken }), Box::new(Silent { broken })]
}

fn tcp(plan: &Plan, flow: usize) -> Ends {
    Tcp::ends(plan, flow).expect("no requests")
}

fn on(links: &[&str], runs: u64, make: &mut dyn FnMut(&Plan, usize) -> Ends) -> Judged {
    judge(&Asked { links, runs, ..Asked::default() }, make).expect("it behaves")
}

fn held(judged: &Judged, link: &str) -> Vec<Option<bool>> {
    judged.verdicts.iter().filter(|verdict| verdict.link == link).map(|verdict| verdict.holds).collect()
}

#[test]
fn our_tcp_is_judged() {
    let found = on(&["plain", "codel", "thin"], 3, &mut tcp);
    assert_eq!((held(&found, "plain"), held(&found, "codel")), (vec![Some(true)], vec![Some(true); 3]));
    // CUBIC fills it, and loses a tenth.
    assert_eq!(held(&found, "thin"), [Some(true), Some(false)]);
    assert_eq!(found.status(), 1);
    assert!(found.verdicts.iter().all(|verdict| verdict.measured.len() == 3));
    let one = on(&["plain"], 1, &mut tcp);
    assert_eq!((held(&one, "plain"), one.status()), (vec![Some(true)], 0));
    // The first run is the same one.
    assert_eq!(one.verdicts[0].measured[0], found.verdicts[0].measured[0]);
    assert_eq!(on(&["plain"], 1, &mut tcp), one);
    let other = judge(&Asked { links: &["plain"], runs: 1, seed: 2 }, &mut tcp).expect("it behaves");
    assert_ne!(other.verdicts[0].measured, one.verdicts[0].measured);
}

#[test]
fn who_sends_nothing_fails() {
    let found = on(&[], 2, &mut |_, _| silent(false));
    let (failed, kept): (Vec<_>, Vec<_>) = found
        .verdicts
        .iter()
        .map(|one| (one.link.as_str(), one.holds))
        .partition(|(_, holds)| *holds != Some(true));
    // All but the two that ask for an application.
    let tried: Vec<&str> = found.verdicts.iter().map(|one| one.link.as_str()).collect();
    assert!(
        links()
            .iter()
            .all(|(name, _)| tried.contains(&name.as_str()) != ["video", "idle"].contains(&name.as_str()))
    );
    assert!(failed.len() >= 25);
    // Who sends nothing loses nothing and delays nothing.
    assert!(kept.iter().all(|(link, _)| ["thin", "codel", "dualpi2", "tenth"].contains(link)), "{kept:?}");
}

#[test]
fn what_cannot_be_judged_is_told_with_its_place() {
    let unknown = judge(&Asked { links: &["plan"], ..Asked::default() }, &mut tcp).expect_err("no such link");
    assert!(unknown.to_string().starts_with("there is no link \"plan\"; links: plain, kept, shallow"));
    assert!(matches!(judge(&Asked { runs: 0, ..Asked::default() }, &mut tcp), Err(JudgeError::NoRuns)));
    let asked = Asked { links: &["plain"], ..Asked::default() };
    let broken = judge(&asked, &mut |_, _| silent(true)).expect_err("it panics");
    let told = broken.to_string();
    assert!(told.starts_with("link plain, run 0: ") && told.contains("flow.one"), "{told}");
}
