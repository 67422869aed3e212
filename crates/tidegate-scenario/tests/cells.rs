//! Cells in the language: the plans that scenarios of cell gates make, and what is said of them.

use std::path::Path;

use tidegate_core::gcra::{Conformance, Dual, Interval, Limit, Release, Verdict};
use tidegate_core::plan::{
    CellPlan, Framing, GatePlan, GcraPlan, JitterPlan, MessageLength, Plan, QueueLimit, RatePlan, Reassembly,
    SourcePlan,
};
use tidegate_core::units::{Rate, Span, Speed};
use tidegate_scenario::Scenario;

fn load(text: &str) -> Scenario {
    match Scenario::from_toml(text, "test.toml", Some(Path::new("tests")), &[]) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    }
}

fn gate(lines: &str) -> GatePlan {
    let text = format!(
        "duration = \"10 s\"\n[gate.link]\nframing = \"aal5\"\n{lines}\n[flow.bulk]\npath = [\"link\"]\nrtt = \"1 s\""
    );
    load(&text).plan(None, 0).gates.remove(0)
}

fn messages(lines: &str) -> SourcePlan {
    let text = format!(
        "duration = \"10 s\"\n[gate.link]\nframing = \"aal5\"\n[traffic.bg]\npath = [\"link\"]\n{lines}"
    );
    load(&text).plan(None, 0).traffic.remove(0).source
}

fn example(name: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let path = Path::new("../../examples").join(name);
    match Scenario::load(&path, &sets) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    }
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.gates.iter().map(|gate| gate.name.as_str()).collect()
}

#[test]
fn a_cell_gate_has_what_its_keys_say() {
    let plain = gate("rate = \"15.264 Mbit/s\"\nqueue = \"1300 cells\"");
    assert_eq!(plain.framing, Framing::Aal5 { llc: false });
    assert_eq!(plain.queue.limit, QueueLimit::Cells(1300));
    assert_eq!(plain.rate, RatePlan::Constant(Speed::Bits(Rate::from_bps(15_264_000))));
    assert_eq!(plain.cells, CellPlan::default());
    let full = gate(
        "rate = \"150 Mbit/s\"\nqueue = { limit = \"1000 cells\", epd = \"800 cells\", ppd = true }\n\
         slotted = true\nreassembly = \"simple\"",
    );
    let cells = CellPlan { slotted: true, epd: Some(800), ppd: true, reassembly: Reassembly::Simple };
    assert_eq!(full.cells, cells);
}

/// T of the peak rate is 2 us, of the sustained one 6 us. Bursts of 5 cells need a tolerance of 16 us; cells that may
/// come 1 us early for the peak rate may do so for the sustained one as well (ATM Forum TM 4.0).
#[test]
fn the_sustained_rate_is_as_tolerant_as_the_peak_rate() {
    let verdicts = |more: &str| {
        let plan = gate(&format!(
            "police = {{ pcr = \"212 Mbit/s\", cdvt = \"1 us\", scr = \"70666666 bit/s\", mbs = \"5 cells\", \
             conformance = \"vbr2\"{more} }}"
        ));
        let police = plan.police.expect("a policer");
        let (sustained, conformance) = police.sustained.expect("a sustained rate");
        assert_eq!(conformance, Conformance::Vbr2);
        let mut dual = Dual::new(police.peak, sustained, conformance);
        [1, 2, 4, 6, 8].map(|us| dual.police(us * 1_000_000, false) == Verdict::Pass)
    };
    assert_eq!(verdicts(""), [true; 5]);
    assert_eq!(verdicts(", cdvt_scr = \"1 us\""), [true; 5]);
    assert_eq!(verdicts(", cdvt_scr = \"0 s\""), [true, true, true, true, false]);
}

#[test]
fn a_random_delay_is_a_time_or_a_law() {
    let jitter = |value: &str| gate(&format!("jitter = {value}")).jitter;
    let span = Span::from_millis(5);
    assert_eq!(jitter("\"5 ms\""), JitterPlan::Uniform { most: span });
    assert_eq!(jitter("{ uniform = \"5 ms\" }"), JitterPlan::Uniform { most: span });
    assert_eq!(jitter("{ exponential = \"5 ms\" }"), JitterPlan::Exponential { mean: span });
    assert_eq!(jitter("{ exponential = \"0 s\" }"), JitterPlan::None);
    let wakeup = |pause| JitterPlan::Wakeup { latency: span, pause };
    assert_eq!(jitter("{ wakeup = \"5 ms\" }"), wakeup(Span::from_millis(2)));
    assert_eq!(jitter("{ wakeup = { latency = \"5 ms\", pause = \"9 ms\" } }"), wakeup(Span::from_millis(9)));
    assert_eq!(jitter("{ wakeup = \"0 s\" }"), JitterPlan::None);
    assert_eq!(gate("").jitter, JitterPlan::None);
}

/// A sender's is a gate before its first, one for each.
#[test]
fn a_sender_has_a_gate_for_its_random_delay() {
    let text = "duration = \"10 s\"\n[gate.link]\nrate = \"10 Mbit/s\"\n\
                [flow.bulk]\npath = [\"link\"]\ncount = 2\njitter = \"5 ms\"\n\
                [traffic.bg]\npath = [\"link\"]\nsource.poisson.rate = \"1 Mbit/s\"\njitter.exponential = \"1 ms\"\n";
    let plan = load(text).plan(None, 0);
    assert_eq!(names(&plan), ["link", "jitter/bulk.1", "jitter/bulk.2", "jitter/bg"]);
    let paths: Vec<&[usize]> = plan.flows.iter().map(|flow| flow.path.as_slice()).collect();
    assert_eq!(paths, [&[1, 0], &[2, 0]]);
    assert_eq!(plan.traffic[0].path, [3, 0]);
    assert_eq!(plan.gates[1].jitter, JitterPlan::Uniform { most: Span::from_millis(5) });
    assert_eq!(plan.gates[3].jitter, JitterPlan::Exponential { mean: Span::from_millis(1) });
    assert_eq!(plan.gates[0].jitter, JitterPlan::None);
    // The way back has the delays of the gates alone.
    assert_eq!(plan.flows[0].back_delay, Span::ZERO);
}

#[test]
fn llc_is_a_key_of_the_framing() {
    let text = "duration = \"10 s\"\n[gate.link]\ndelay = \"1 ms\"\nframing.aal5.llc = true\n[flow.bulk]\npath = [\"link\"]\n";
    assert_eq!(load(text).plan(None, 0).gates[0].framing, Framing::Aal5 { llc: true });
    let without = text.replace("framing.aal5.llc = true", "framing = { aal5 = {} }");
    assert_eq!(load(&without).plan(None, 0).gates[0].framing, Framing::Aal5 { llc: false });
    // Set over the short form, and back.
    let set = |sets: &[&str]| example("spacer.toml", sets).plan(None, 0).gates[1].framing;
    let both = ["gate.host.framing.aal5.llc=true", "gate.spacer.framing.aal5.llc=true"];
    assert_eq!(set(&both), Framing::Aal5 { llc: true });
    let back = ["gate.host.framing=ip", "gate.spacer.framing.aal5.llc=true", "gate.spacer.framing=aal5"];
    assert_eq!(set(&back), Framing::Aal5 { llc: false });
}

/// papers/README §3 of the traffic-shaping paper: at 35 and 20 Mbit/s T is 30/7 and 15/2 slots of
/// 150 Mbit/s, rounded 4 and 8, which is 37.5 and 18.75 Mbit/s.
#[test]
fn a_shaper_has_its_interval_real_or_in_whole_slots() {
    let shaper = |lines: &str| match gate(&format!("rate.gcra = {{ link = \"150 Mbit/s\", {lines} }}")).rate {
        RatePlan::Gcra(gcra) => gcra,
        other => panic!("{other:?}"),
    };
    let limit = |tolerance: u64| {
        let increment = Interval::at_rate(424, Rate::from_bps(35_000_000)).expect("a rate");
        Limit::new(increment, tolerance).expect("a limit")
    };
    let real = GcraPlan { limit: limit(0), link: Rate::from_bps(150_000_000), release: Release::Tat };
    assert_eq!(shaper("pcr = \"35 Mbit/s\""), real);
    let rounded = |pcr: &str| shaper(&format!("pcr = \"{pcr}\", slots = \"rounded\"")).bits_per_second();
    assert_eq!((rounded("35 Mbit/s"), rounded("20 Mbit/s")), (37_500_000, 18_750_000));
    let early = shaper("pcr = \"35 Mbit/s\", cdvt = \"20 us\", release = \"earliest\"");
    assert_eq!((early.limit, early.release), (limit(20_000_000), Release::Earliest));
}

#[test]
fn messages_are_packets_of_whole_cells() {
    let SourcePlan::Messages(fixed) =
        messages("source.messages = { load = \"1 Mbit/s\", length = \"3 cells\", gaps = \"constant\" }")
    else {
        panic!("no messages")
    };
    assert_eq!((fixed.exponential, fixed.llc), (false, false));
    assert_eq!(fixed.length, MessageLength::Constant(3));
    assert_eq!(tidegate_core::aal5::cells_of(fixed.bytes(3), false), 3);
    let SourcePlan::Messages(drawn) =
        messages("source.messages = { load = \"1 Mbit/s\", length.geometric = \"25 cells\" }")
    else {
        panic!("no messages")
    };
    assert_eq!((drawn.exponential, drawn.mean(), drawn.most()), (true, 25, 1365));
    // With LLC/SNAP eight bytes less fit into the same cells.
    let with_llc = load(
        "duration = \"10 s\"\n[gate.link]\ndelay = \"1 ms\"\nframing.aal5.llc = true\n[traffic.bg]\npath = [\"link\"]\n\
         source.messages = { load = \"1 Mbit/s\", length = \"3 cells\" }",
    );
    let SourcePlan::Messages(llc) = with_llc.plan(None, 0).traffic.remove(0).source else {
        panic!("no messages")
    };
    assert_eq!((llc.bytes(3), tidegate_core::aal5::cells_of(llc.bytes(3), true)), (128, 3));
}

#[test]
fn sources_have_copies_of_their_own_and_none_where_there_are_none() {
    let plan = example("shaped.toml", &[]).plan(None, 0);
    assert_eq!(
        names(&plan),
        [
            "shaper/tcp.1",
            "shaper/tcp.2",
            "shaper/tcp.3",
            "shaper/tcp.4",
            "bgshaper/bg.1",
            "bgshaper/bg.2",
            "bgshaper/bg.3",
            "bgshaper/bg.4",
            "L0"
        ]
    );
    assert_eq!(
        plan.traffic.iter().map(|source| source.path.clone()).collect::<Vec<_>>(),
        [[4, 8], [5, 8], [6, 8], [7, 8]]
    );
    let none = example("shaped.toml", &["traffic.bg.count=0"]).plan(None, 0);
    assert_eq!((none.gates.len(), none.traffic.len()), (5, 0));
}

#[test]
fn one_by_one_is_a_choice_of_the_run() {
    assert!(!example("shaped.toml", &[]).plan(None, 0).cells_one_by_one);
    assert!(example("shaped.toml", &["cells=one-by-one"]).plan(None, 0).cells_one_by_one);
}

#[test]
fn both_directions_of_a_duplex_gate_are_no_circle() {
    let text = "duration = \"10 s\"\n[gate.a]\ndelay = \"1 ms\"\nframing = \"aal5\"\nduplex = true\n[gate.b]\nframing = \"aal5\"\n\
                duplex = true\n[flow.bulk]\npath = [\"a\", \"b\"]\nback = [\"b\", \"a\"]";
    assert_eq!(names(&load(text).plan(None, 0)), ["a", "a/back", "b", "b/back"]);
    // One cell gate in both lists is no circle either: no cell goes from it to itself.
    let one = "duration = \"10 s\"\n[gate.a]\ndelay = \"1 ms\"\nframing = \"aal5\"\n[gate.ip]\n[flow.bulk]\npath = [\"a\", \"ip\"]\n\
               back = [\"ip\", \"a\"]";
    assert_eq!(names(&load(one).plan(None, 0)), ["a", "ip"]);
}

#[test]
fn reassembly_where_nothing_is_reassembled_is_a_warning() {
    let scenario = load(
        "duration = \"10 s\"\n[gate.a]\ndelay = \"1 ms\"\nframing = \"aal5\"\nreassembly = \"simple\"\n[gate.b]\nframing = \"aal5\"\n\
         [flow.bulk]\npath = [\"a\", \"b\"]\ntcp.window = \"60 KiB\"",
    );
    let said: Vec<String> = scenario.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("no packet is reassembled after this gate"), "{said:?}");
}

/// `UPDATE_GOLDEN=1` writes it anew.
#[test]
fn cells_are_explained_with_what_follows_from_them() {
    let shaped = ["gate.shaper.rate.gcra.cdvt=20 us", "gate.L0.queue.epd=800 cells"];
    let spacer = [
        "gate.spacer.rate=15.264 Mbit/s",
        "gate.host.framing.aal5.llc=true",
        "gate.spacer.framing.aal5.llc=true",
    ];
    let text = example("shaped.toml", &shaped).explain() + &example("spacer.toml", &spacer).explain();
    let path = Path::new("tests/golden/explain_cells.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).expect("the golden file can be written");
    }
    assert_eq!(text, std::fs::read_to_string(path).expect("the golden file is there"));
    assert!(text.contains("15.264 Mbit/s of cells = 13.6 Mbit/s of IP for 1516-byte packets"));
}
