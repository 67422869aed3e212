//! A transport over the links that people test with, judged by the rules of `tidegate reproduce transports`: give [`judge`] the ends of
//! yours in place of our TCP's. `cargo run --release -p tidegate-sim --example judge [LINK ...]`; status 1 where a rule fails, 3 where one is
//! undecided.

#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use std::path::Path;
use std::process::ExitCode;

use tidegate_result::{Summary, student_t};
use tidegate_scenario::Scenario;
use tidegate_sim::host::{Ends, Tcp};
use tidegate_sim::{Plan, run_hosted};
use toml_edit::{DocumentMut, TableLike};

/// Links, rules and their scenarios: those that the Python package has.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/tidegate/papers/transports");
const RUNS: u64 = 3;

/// What came of one bound of a rule.
struct Verdict {
    link: String,
    bound: String,
    /// Of each run; none where a run has no such number.
    measured: Vec<Option<f64>>,
    /// `None`: undecided.
    holds: Option<bool>,
}

/// Makes runs of each link (all where none is named, but those that ask for an application of their own), with the ends that `make` has for
/// a flow of a plan, by its number.
fn judge(links: &[String], make: &dyn Fn(&Plan, usize) -> Ends) -> Vec<Verdict> {
    let read = |name: &str| std::fs::read_to_string(Path::new(FOLDER).join(name)).expect("it is there");
    let suite: DocumentMut = read("suite/links.toml").parse().expect("it is TOML");
    let mut verdicts = Vec::new();
    for link in suite["link"].as_array_of_tables().expect("[[link]]") {
        let text = |key: &str| link.get(key).and_then(|item| item.as_str());
        let set: &dyn TableLike = match link.get("set") {
            Some(item) => item.as_table_like().expect("keys with values"),
            None => &toml_edit::Table::new(),
        };
        let name = text("name").expect("a name");
        let asked = links.iter().any(|asked| asked == name);
        if if links.is_empty() { set.contains_key("flow.one.app") } else { !asked } {
            continue;
        }
        let sets: Vec<String> =
            set.iter().map(|(key, value)| format!("{key}={}", value.to_string().trim())).collect();
        let file = format!("{}.toml", text("file").unwrap_or("link"));
        let scenario = Scenario::from_toml(&read(&file), &file, None, &sets).expect("it is a scenario");
        // Where `ours` does not say otherwise, the transport's flow is the first.
        let ours = link.get("ours").and_then(|item| item.as_array()).map_or(1, toml_edit::Array::len);
        let summaries: Vec<Summary> = (0..RUNS)
            .map(|run| {
                let plan = scenario.plan(None, run);
                let mut hosts = |flow| (flow < ours).then(|| make(&plan, flow));
                run_hosted(&plan, &mut hosts, &mut |_| true).expect("it behaves").summary
            })
            .collect();
        for pair in link["expect"].as_array().expect("bounds") {
            let first = pair.as_array().and_then(|pair| pair.get(0));
            let bound = first.and_then(|value| value.as_str()).expect("a bound").to_owned();
            let measured: Vec<Option<f64>> =
                summaries.iter().map(|summary| metric(summary, &bound)).collect();
            let holds = holds(&bound, &measured);
            verdicts.push(Verdict { link: name.to_owned(), bound, measured, holds });
        }
    }
    verdicts
}

/// The number of a run that a bound is about.
fn metric(summary: &Summary, bound: &str) -> Option<f64> {
    let gate = &summary.gates[0];
    match bound.split(' ').next().expect("a number's name") {
        "gate.link.utilisation" => gate.utilisation,
        "gate.link.loss" => gate.loss,
        "gate.link.queue_delay_p99_ms" => gate.queue_delay_p99_ms,
        "flow.one.goodput_bps" => Some(summary.flows[0].goodput_bps),
        // Jain's index.
        "fairness" => {
            let of = |power| summary.flows.iter().map(|flow| flow.goodput_bps.powi(power)).sum::<f64>();
            (of(2) > 0.0).then(|| of(1).powi(2) / (summary.flows.len() as f64 * of(2)))
        }
        other => panic!("{other} is read nowhere"),
    }
}

/// Whether the whole 95% interval of the mean lies on the right side of a bound; a number that a run does not have fails.
fn holds(bound: &str, measured: &[Option<f64>]) -> Option<bool> {
    let words: Vec<&str> = bound.split([' ', '%']).filter(|word| !word.is_empty()).collect();
    let unit = if bound.ends_with('%') { "%" } else { words.get(3).copied().unwrap_or("") };
    let worth =
        [("%", 0.01), ("Mbit/s", 1e6), ("ms", 1.0), ("", 1.0)].into_iter().find(|(word, _)| *word == unit);
    let limit = words[2].parse::<f64>().expect("a number") * worth.expect("a unit").1;
    let Some(values) = measured.iter().copied().collect::<Option<Vec<f64>>>() else { return Some(false) };
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student_t(0.975, values.len() as u64 - 1).unwrap_or(0.0) * (variance / n).sqrt();
    let right = |value: f64| if words[1] == ">" { value > limit } else { value < limit };
    match [right(mean - half), right(mean + half)] {
        [one, other] if one == other => Some(one),
        _ => None,
    }
}

fn main() -> ExitCode {
    let links: Vec<String> = std::env::args().skip(1).collect();
    let verdicts = judge(&links, &|plan, flow| Tcp::ends(plan, flow).expect("no requests"));
    for Verdict { link, bound, measured, holds } in &verdicts {
        let word = holds.map_or("undecided", |holds| if holds { "holds" } else { "fails" });
        println!("{word:<10} {link:<13} {bound:<40} {measured:.4?}");
    }
    let found: Vec<Option<bool>> = verdicts.iter().map(|verdict| verdict.holds).collect();
    ExitCode::from(if found.contains(&Some(false)) { 1 } else { 3 * u8::from(found.contains(&None)) })
}

#[test]
fn our_tcp_is_judged_and_one_that_sends_nothing_fails() {
    use tidegate_sim::host::{Ecn, Host, Outgoing, Packet, Report, Time};
    struct Silent;
    impl Host for Silent {
        fn open(&mut self, _: Time) {}
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
    let links = ["plain", "codel", "thin"].map(str::to_owned);
    let found = judge(&links, &|plan, flow| Tcp::ends(plan, flow).expect("no requests"));
    let of =
        |link: &str| found.iter().filter(|one| one.link == link).map(|one| one.holds).collect::<Vec<_>>();
    assert_eq!((of("plain"), of("codel")), (vec![Some(true)], vec![Some(true); 3]));
    // CUBIC fills it, and loses a tenth.
    assert_eq!(of("thin"), [Some(true), Some(false)]);
    let silent = judge(&[], &|_, _| [Box::new(Silent), Box::new(Silent)]);
    let (all, kept): (Vec<_>, Vec<_>) =
        silent.iter().map(|one| (&one.link, one.holds)).partition(|(_, holds)| *holds != Some(true));
    assert!(all.len() >= 25);
    // Who sends nothing loses nothing and delays nothing.
    assert!(
        kept.iter().all(|(link, _)| ["thin", "codel", "dualpi2", "tenth"].contains(&link.as_str())),
        "{kept:?}"
    );
}
