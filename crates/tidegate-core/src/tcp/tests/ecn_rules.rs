//! Explicit Congestion Notification, one trace per rule. `ecn 3` is CE.

use super::plans::{delayed, short};
use super::trace::{active, passive};
use crate::cc::{Ack, Acked, CongestionControl, Controller, ControllerSnapshot, EcnNeed, Lost, Recovered};
use crate::plan::{CongestionPlan, EcnPlan, TcpPlan, TcpRules};
use crate::tcp::Role;
use crate::tcp::tests::trace::Trace;

fn classic() -> TcpPlan {
    TcpPlan { ecn: EcnPlan::Classic, sack: true, initial_window: 400, ..short() }
}

/// Without the option, so that the counter alone speaks.
fn accurate() -> TcpPlan {
    let rules = TcpRules { accecn_option: false, ..TcpRules::RFC };
    TcpPlan { ecn: EcnPlan::Accurate, rules, ..classic() }
}

/// As Linux: every ACK is accounted for, PRR reduces.
fn linux(ecn: EcnPlan) -> TcpPlan {
    TcpPlan { rules: TcpRules::LINUX, cc: CongestionPlan::Reno, initial_window: 800, ecn, ..classic() }
}

/// A controller that wants to know how much was marked and holds a constant window.
#[derive(Debug)]
struct Needs(EcnNeed);

impl CongestionControl for Needs {
    fn handle_ack(&mut self, _ack: &Ack) {}
    fn handle_acked(&mut self, _acked: &Acked) {}
    fn handle_lost(&mut self, _lost: &Lost) {}
    fn handle_recovered(&mut self, _recovered: &Recovered) {}
    fn handle_restart(&mut self, _window: u64) {}
    fn window(&self) -> u64 {
        400
    }
    fn ecn(&self) -> EcnNeed {
        self.0
    }
    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot { window: 400.0, ssthresh: None, slow_start: false }
    }
}

fn needing(plan: &TcpPlan, role: Role, need: EcnNeed, script: &str) {
    let mut trace = Trace::new(plan, role);
    trace.endpoint.set_controller(|| Controller::Custom(Box::new(Needs(need))));
    if !plan.handshake {
        trace.endpoint.open(crate::units::Time::ZERO);
    }
    trace.play(script);
}

/// RFC 3168 §6.1.2: once for each window of data; CWR on the first new segment after it; no growth on an ACK with ECE.
#[test]
fn an_echo_halves_the_window_once_for_each_window_of_data() {
    active(
        &classic(),
        "0 ms write bulk
         0 ms > 0..100 ect0
         0 ms > 100..200 ect0
         0 ms > 200..300 ect0
         0 ms > 300..400 ect0
         40 ms < ack 100 flags ece
         40 ms = cwnd 200
         40 ms = reductions 1
         41 ms < ack 200 flags ece
         42 ms < ack 300 flags ece
         42 ms > 400..500 cwr ect0
         42 ms = cwnd 200
         43 ms < ack 400 flags ece
         43 ms > 500..600 ect0
         # All that this window held is acknowledged, and the reduction is known: it grows again.
         82 ms < ack 500
         82 ms > 600..700 ect0
         83 ms < ack 600 flags ece
         83 ms > 700..800 cwr ect0
         83 ms = reductions 2
         83 ms = cwnd 200",
    );
}

/// RFC 3168 §6.1.5: what is sent again is Not-ECT, and CWR waits for new data; a loss in the same window takes nothing more.
#[test]
fn a_loss_after_a_mark_in_the_same_window_takes_nothing_more() {
    let trace = active(
        &classic(),
        "0 ms write bulk
         0 ms > 0..100 ect0
         0 ms > 100..200 ect0
         0 ms > 200..300 ect0
         0 ms > 300..400 ect0
         40 ms < ack 0 flags ece sack 100..200
         40 ms = reductions 0
         41 ms < ack 0 flags ece sack 100..300
         42 ms < ack 0 flags ece sack 100..400
         42 ms > 0..100 again
         42 ms > 400..500 cwr ect0
         42 ms = cwnd 200
         82 ms < ack 400 flags ece
         82 ms > 500..600 ect0
         82 ms = cwnd 200",
    );
    assert_eq!(trace.endpoint.counters().ecn_reductions, 0);
    active(
        &TcpPlan { initial_window: 800, ..classic() },
        "0 ms write 800
         0 ms > 0..100 ect0
         0 ms > 100..200 ect0
         0 ms > 200..300 ect0
         0 ms > 300..400 ect0
         0 ms > 400..500 ect0
         0 ms > 500..600 ect0
         0 ms > 600..700 ect0
         0 ms > 700..800 ect0
         40 ms < ack 100 flags ece
         40 ms = cwnd 400
         41 ms < ack 100 flags ece sack 200..300
         42 ms < ack 100 flags ece sack 200..400
         43 ms < ack 100 flags ece sack 200..500
         43 ms > 100..200 again
         43 ms = cwnd 400
         43 ms = fast_retransmits 1",
    );
}

/// RFC 3168 §6.1.3: every ACK echoes a mark until a segment with CWR arrives, which may itself be marked.
#[test]
fn a_receiver_echoes_until_it_hears_of_the_reduction() {
    passive(
        &classic(),
        "0 ms < 0..100 ecn 2
         0 ms > ack 100
         1 ms < 100..200 ecn 3
         1 ms > ack 200 ece
         2 ms < 200..300 ecn 2
         2 ms > ack 300 ece
         3 ms < 300..400 ecn 2 flags cwr
         3 ms > ack 400
         4 ms < 400..500 ecn 3 flags cwr
         4 ms > ack 500 ece
         4 ms = marks 2",
    );
}

/// RFC 3168 §6.1.5: marks of data outside the window are ignored.
#[test]
fn a_mark_outside_the_window_is_ignored() {
    passive(
        &TcpPlan { window: Some(300), ..classic() },
        "0 ms < 900..1000 ecn 3
         0 ms > ack 0
         0 ms = marks 0",
    );
}

/// RFC 3168 §6.1.1: ECE and CWR ask, ECE alone agrees.
#[test]
fn the_handshake_agrees_on_classic_ecn() {
    let plan = TcpPlan { handshake: true, initial_window: 100, ..classic() };
    active(
        &plan,
        "0 ms open
         0 ms > syn cwr ece
         40 ms < syn-ack flags ece
         40 ms > ack 0
         40 ms write 100
         40 ms > 0..100 ect0",
    );
    active(
        &plan,
        "0 ms open
         0 ms > syn cwr ece
         40 ms < syn-ack
         40 ms > ack 0
         40 ms write 100
         40 ms > 0..100",
    );
    passive(
        &plan,
        "0 ms < syn flags cwr,ece
         0 ms > syn-ack ece
         40 ms < ack 0
         41 ms < 0..100 ecn 3
         41 ms > ack 100 ece",
    );
    passive(
        &plan,
        "0 ms < syn
         0 ms > syn-ack
         40 ms < ack 0
         41 ms < 0..100 ecn 3
         41 ms > ack 100",
    );
}

/// RFC 9768 §3.1.2: 111 asks, 010 agrees (the SYN was Not-ECT); the last segment of the handshake says the same of the SYN-ACK, the
/// next ones count from 5. Older servers and clients get classic ECN, broken ones none.
#[test]
fn the_handshake_agrees_on_accurate_ecn() {
    let plan = TcpPlan { handshake: true, initial_window: 100, ..accurate() };
    active(
        &plan,
        "0 ms open
         0 ms > syn ae cwr ece
         40 ms < syn-ack flags cwr
         40 ms > ack 0 cwr
         40 ms write 100
         40 ms > 0..100 ae ece ect0",
    );
    for (answer, sent) in [("ece", "0..100 ect0"), ("ae,ece", "0..100 ect0"), ("ae,cwr,ece", "0..100")] {
        active(
            &plan,
            &format!(
                "0 ms open
                 0 ms > syn ae cwr ece
                 40 ms < syn-ack flags {answer}
                 40 ms > ack 0
                 40 ms write 100
                 40 ms > {sent}"
            ),
        );
    }
    passive(
        &plan,
        "0 ms < syn flags ae,cwr,ece
         0 ms > syn-ack cwr
         40 ms < ack 0 flags cwr
         41 ms < 0..100 ecn 2
         41 ms > ack 100 ae ece",
    );
    passive(
        &plan,
        "0 ms < syn flags cwr,ece
         0 ms > syn-ack ece",
    );
}

/// RFC 9768 §3.2.2: the counter goes round; an ACK at once for the first mark and every second one (§3.2.2.5.1).
#[test]
fn a_receiver_counts_marks() {
    let plan = TcpPlan { delayed_ack: Some(delayed()), ..accurate() };
    passive(
        &plan,
        "0 ms < 0..100 ecn 3
         0 ms > ack 100 ae cwr
         1 ms < 100..200 ecn 3
         2 ms < 200..300 ecn 3
         2 ms > ack 300
         3 ms < 300..400 ecn 2
         4 ms < 400..500 ecn 3
         4 ms > ack 500 ece",
    );
}

/// RFC 9768 §3.2.2.5.2: what the bits have moved on since the last ACK; more than seven segments at once may hide a round, and
/// then the most that fits is taken. One reduction for each window.
#[test]
fn a_sender_follows_the_counter() {
    let plan = TcpPlan { initial_window: 1000, ..accurate() };
    let mut script = "0 ms write 1000\n".to_owned();
    for from in (0..1000).step_by(100) {
        script += &format!("0 ms > {from}..{} ae ece ect0\n", from + 100);
    }
    let trace = active(
        &plan,
        &format!(
            "{script}40 ms < ack 100 ace 5
             40 ms = reductions 0
             41 ms < ack 200 ace 7
             41 ms = reductions 1
             41 ms = cwnd 450"
        ),
    );
    assert_eq!(trace.endpoint.sender.marks.as_ref().map(|marks| marks.marked), Some(2));
    let wrapped = active(&plan, &format!("{script}40 ms < ack 900 ace 6"));
    assert_eq!(wrapped.endpoint.sender.marks.as_ref().map(|marks| marks.marked), Some(9));
}

/// RFC 8257 §3.2: each change of CE is reported at once, what came before it first.
#[test]
fn the_receiver_of_dctcp_reports_every_change() {
    let plan = TcpPlan { ecn: EcnPlan::Off, delayed_ack: Some(delayed()), ..classic() };
    needing(
        &plan,
        Role::Passive,
        EcnNeed::Extent,
        "0 ms < 0..100 ecn 2
         1 ms < 100..200 ecn 3
         1 ms > ack 100
         1 ms > ack 200 ece
         2 ms < 200..300 ecn 3
         3 ms < 300..400 ecn 3
         3 ms > ack 400 ece
         4 ms < 400..500 ecn 2
         4 ms > ack 500",
    );
}

/// What a controller needs decides: DCTCP's segments have ECT(0), those of L4S ECT(1) with counted marks, whatever the key says.
#[test]
fn a_controller_says_which_ecn_it_needs() {
    let off = TcpPlan { ecn: EcnPlan::Off, ..classic() };
    let accurate = TcpPlan { ecn: EcnPlan::Accurate, ..classic() };
    for (plan, need, sent) in [
        (&off, EcnNeed::Plan, "0..100"),
        (&off, EcnNeed::Extent, "0..100 ect0"),
        (&accurate, EcnNeed::Extent, "0..100 ae ece ect0"),
        (&off, EcnNeed::L4s, "0..100 ae ece ect1"),
    ] {
        needing(plan, Role::Active, need, &format!("0 ms write 100\n0 ms > {sent}"));
    }
}

/// `tcp_enter_cwr` and `tcp_cwnd_reduction` of Linux 6.18: without a loss the window comes down in proportion, too.
#[test]
fn linux_reduces_in_proportion() {
    let mut script = "0 ms write bulk\n".to_owned();
    for from in (0..800).step_by(100) {
        script += &format!("0 ms > {from}..{} ect0\n", from + 100);
    }
    active(
        &linux(EcnPlan::Classic),
        &format!(
            "{script}40 ms < ack 100 flags ece
             40 ms > 800..900 cwr ect0
             40 ms = reductions 1
             40 ms = ssthresh 400
             41 ms < ack 200 flags ece
             42 ms < ack 300 flags ece
             42 ms > 900..1000 ect0
             43 ms < ack 400 flags ece
             44 ms < ack 500 flags ece
             44 ms > 1000..1100 ect0
             45 ms < ack 600 flags ece
             46 ms < ack 700 flags ece
             47 ms < ack 800 flags ece
             47 ms > 1100..1200 ect0
             80 ms < ack 900
             80 ms = cwnd 400
             80 ms > 1200..1300 ect0
             80 ms = reductions 1"
        ),
    );
}
