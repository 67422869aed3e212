//! What a run draws from its seed: which elements of a plan are random.
//!
//! Every plan is taken apart field by field, without `..`: a new field does not compile until
//! somebody has said here whether chance has a part in it.

use super::{
    AppPlan, ArrivalPlan, CallsPlan, CellPlan, FlowPlan, GatePlan, HoldingPlan, JitterPlan, LossPlan,
    MessageLength, Plan, QueuePlan, RequestPlan, SizePlan, SourcePlan, StartPlan, TcpPlan, ThinkPlan,
    TickPhase, TrafficPlan, TransportPlan,
};
use crate::units::Span;

/// What small changes of the whole scenario are called among the draws.
const CHANGES: &str = "small changes";

impl Plan {
    /// What is drawn from the seed, by the names of the random streams (`gate.link/rate`,
    /// `flow.bulk/start`), in the order of the plan. Where it is empty, every seed and every
    /// replication gives the same run.
    ///
    /// Initial sequence numbers are drawn too, and change nothing but a capture; they are not here.
    #[must_use]
    pub fn draws(&self) -> Vec<String> {
        let Plan {
            title: _,
            duration: _,
            until_done: _,
            warmup: _,
            seed: _,
            replication: _,
            perturb,
            exact: _,
            cells_one_by_one: _,
            cohorts: _,
            gates,
            flows,
            traffic,
            signals: _,
            pools: _,
            servers: _,
            reservations: _,
            calls,
            switches: _,
            record: _,
            limits: _,
        } = self;
        let mut found = Vec::new();
        if *perturb {
            found.push(CHANGES.to_owned());
        }
        let shared = self.shared();
        for (gate, is_shared) in gates.iter().zip(shared) {
            of_gate(gate, is_shared, &mut found);
        }
        flows.iter().for_each(|flow| of_flow(flow, &mut found));
        traffic.iter().for_each(|traffic| of_traffic(traffic, &mut found));
        calls.iter().for_each(|calls| of_calls(calls, &mut found));
        found
    }

    /// Whether each gate is passed by more than one way: cells of one circuit keep their order,
    /// those of several may come in one slot.
    fn shared(&self) -> Vec<bool> {
        let of_flows = self.flows.iter().flat_map(|flow| [&flow.path, &flow.back]);
        let ways = of_flows.chain(self.traffic.iter().map(|traffic| &traffic.path));
        // The first way through a gate.
        let mut first: Vec<Option<usize>> = vec![None; self.gates.len()];
        let mut shared = vec![false; self.gates.len()];
        for (number, way) in ways.enumerate() {
            for gate in way {
                shared[*gate] |= *first[*gate].get_or_insert(number) != number;
            }
        }
        shared
    }
}

fn of_gate(gate: &GatePlan, shared: bool, found: &mut Vec<String>) {
    let GatePlan {
        name,
        queue: QueuePlan { discipline, limit: _, counts: _, tagged: _, colours: _ },
        classes,
        rate,
        on_change: _,
        framing: _,
        loss,
        delay: _,
        jitter,
        jitter_draw: _,
        host: _,
        cells: CellPlan { slotted, epd: _, ppd: _, reassembly: _ },
        police: _,
        marker: _,
        advice: _,
    } = gate;
    let rate = rate.is_random();
    let open = |probability: f64| probability > 0.0 && probability < 1.0;
    let loss = match *loss {
        LossPlan::None | LossPlan::Every { units: _ } => false,
        LossPlan::Independent { probability } => open(probability),
        LossPlan::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            [good_to_bad, bad_to_good, loss_good, loss_bad].into_iter().any(open)
        }
    };
    let jitter = match *jitter {
        JitterPlan::None | JitterPlan::Wakeup { latency: _, pause: _ } => false,
        JitterPlan::Uniform { most } => most > Span::ZERO,
        JitterPlan::Exponential { mean } => mean > Span::ZERO,
    };
    let slots = *slotted && shared;
    let parts = [
        ("aqm", discipline.is_random()),
        ("rate", rate),
        ("loss", loss),
        ("slots", slots),
        ("jitter", jitter),
    ];
    found.extend(parts.iter().filter(|(_, drawn)| *drawn).map(|(what, _)| format!("gate.{name}/{what}")));
    let classes = classes.iter().flat_map(|classes| &classes.classes);
    let drawn = classes.filter(|class| class.queue.discipline.is_random());
    found.extend(drawn.map(|class| format!("gate.{name}/aqm.{}", class.name)));
}

fn of_flow(flow: &FlowPlan, found: &mut Vec<String>) {
    let FlowPlan { name, path: _, back: _, back_delay: _, start, app, transport, tcp, dscp: _, scone: _ } =
        flow;
    let app = match app {
        AppPlan::Bulk | AppPlan::Transfer { bytes: _ } => false,
        AppPlan::Source(source) => of_source(source),
        AppPlan::Request(request) => of_request(request),
    };
    let (controller, uptime) = match transport {
        TransportPlan::Tcp => of_tcp(tcp),
        // Packet numbers that it leaves out, against ACKs of what did not come (RFC 9000 §21.4).
        TransportPlan::Quic(_) => (Some("quic"), false),
    };
    let parts = [
        ("start", of_start(*start)),
        ("app", app),
        (controller.unwrap_or_default(), controller.is_some()),
        ("uptime", uptime),
    ];
    found.extend(parts.iter().filter(|(_, drawn)| *drawn).map(|(what, _)| format!("flow.{name}/{what}")));
}

/// What congestion control draws, and whether it is drawn when the hosts were switched on.
fn of_tcp(tcp: &TcpPlan) -> (Option<&'static str>, bool) {
    let TcpPlan {
        base: _,
        cc: _,
        rules: _,
        mss: _,
        headers: _,
        window: _,
        initial_window: _,
        initial_ssthresh: _,
        increase: _,
        dupthresh: _,
        sack: _,
        limited_transmit: _,
        ssthresh_rounding: _,
        go_back_n: _,
        guard: _,
        rto: _,
        phase,
        delayed_ack: _,
        quick_acks: _,
        handshake: _,
        timestamps: _,
        rtt_timing: _,
        idle_restart: _,
        ecn: _,
        abe: _,
        read: _,
    } = tcp;
    (tcp.draws(), tcp.ticks() && *phase == TickPhase::Own)
}

fn of_traffic(traffic: &TrafficPlan, found: &mut Vec<String>) {
    let TrafficPlan { name, group: _, path: _, start, source, delays: _ } = traffic;
    let parts = [("start", of_start(*start)), ("source", of_source(source))];
    found.extend(parts.iter().filter(|(_, drawn)| *drawn).map(|(what, _)| format!("traffic.{name}/{what}")));
}

fn of_calls(calls: &CallsPlan, found: &mut Vec<String>) {
    let CallsPlan { name, start: _, arrivals, hold, demands: _, setup: _, blocked: _, patience } = calls;
    let gap = match *arrivals {
        ArrivalPlan::Every(gap) | ArrivalPlan::Sources { count: _, idle: gap } => of_holding(gap),
    };
    let parts = [("gap", gap), ("hold", of_holding(*hold)), ("patience", patience.is_some_and(of_holding))];
    found.extend(parts.iter().filter(|(_, drawn)| *drawn).map(|(what, _)| format!("calls.{name}/{what}")));
}

fn of_start(start: StartPlan) -> bool {
    match start {
        StartPlan::At(_) => false,
        StartPlan::Uniform(from, to) => to.picos() > from.picos() + 1,
    }
}

fn of_holding(holding: HoldingPlan) -> bool {
    match holding {
        HoldingPlan::Constant(_) => false,
        HoldingPlan::Exponential(_) => true,
    }
}

fn of_source(source: &SourcePlan) -> bool {
    match source {
        SourcePlan::Constant { rate: _, bytes: _ } => false,
        SourcePlan::OnOff { rate: _, bytes: _, on, off } => of_holding(*on) || of_holding(*off),
        SourcePlan::Poisson { rate: _, bytes: _ } => true,
        SourcePlan::Messages(messages) => {
            let drawn = match &messages.length {
                MessageLength::Constant(_) => false,
                MessageLength::Geometric(lengths) => lengths.most() > 1,
            };
            messages.exponential || drawn
        }
        SourcePlan::Media(media) => {
            let key = media.key_frames.as_ref().is_some_and(|key| of_size(&key.size));
            of_size(&media.frame) || key
        }
    }
}

fn of_request(request: &RequestPlan) -> bool {
    let RequestPlan {
        server: _,
        request,
        response,
        think,
        request_loop: _,
        outstanding: _,
        connection: _,
        count: _,
        // A player chooses by what it has seen.
        video: _,
    } = request;
    let think = match think {
        ThinkPlan::Constant(_) | ThinkPlan::List(_) => false,
        ThinkPlan::Exponential(_) => true,
    };
    think || of_size(request) || of_size(response)
}

fn of_size(size: &SizePlan) -> bool {
    match size {
        SizePlan::Constant(_) => false,
        SizePlan::List(sizes) => sizes.iter().any(|bytes| *bytes != sizes[0]),
        SizePlan::Exponential { mean: _ }
        | SizePlan::Pareto { least: _, shape: _, most: _ }
        | SizePlan::LogNormal { median: _, sigma: _, most: _ }
        | SizePlan::Table(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{CellPlan, CongestionPlan, GatePlan, Increase, PythonClass, PythonSource};
    use crate::tcp::plain_plan;
    use crate::units::{Rate, Span, Time};

    fn traffic(name: &str, source: SourcePlan) -> TrafficPlan {
        TrafficPlan {
            name: name.to_owned(),
            group: String::new(),
            path: vec![0],
            start: StartPlan::At(Time::ZERO),
            source,
            delays: false,
        }
    }

    fn constant() -> SourcePlan {
        SourcePlan::Constant { rate: Rate::from_bps(1000), bytes: 100 }
    }

    #[test]
    fn a_slotted_gate_draws_only_where_cells_of_several_ways_meet() {
        let mut plan = Plan::empty(Time::from_picos(1));
        let cells = CellPlan { slotted: true, ..CellPlan::default() };
        plan.gates = vec![GatePlan { cells, ..GatePlan::open("mux") }];
        plan.traffic = vec![traffic("a", constant())];
        assert!(plan.draws().is_empty());
        plan.traffic.push(traffic("b", constant()));
        assert_eq!(plan.draws(), ["gate.mux/slots"]);
    }

    #[test]
    fn what_a_controller_draws_has_the_name_of_its_stream() {
        let drawn = |cc, increase| TcpPlan { cc, increase, ..plain_plan() }.draws();
        let source = PythonSource::File("mine.py".to_owned());
        let own = PythonClass { name: "own".to_owned(), source, class: "Mine".to_owned() };
        let own = CongestionPlan::Python(Box::leak(Box::new(own)));
        assert_eq!(drawn(own, Increase::PerWindow), Some("controller"));
        assert_eq!(drawn(CongestionPlan::Bbr, Increase::Random), Some("probing"));
        assert_eq!(drawn(CongestionPlan::NewReno, Increase::Random), Some("increase"));
        assert_eq!(drawn(CongestionPlan::Copa, Increase::PerAck), None);
    }

    #[test]
    fn what_is_always_the_same_is_not_drawn() {
        let mut plan = Plan::empty(Time::from_picos(1));
        plan.gates =
            vec![GatePlan { loss: LossPlan::Independent { probability: 1.0 }, ..GatePlan::open("g") }];
        let span = |picos| HoldingPlan::Constant(Span::from_picos(picos));
        let on_off = |on| SourcePlan::OnOff { rate: Rate::from_bps(1), bytes: 1, on, off: span(2) };
        plan.traffic = vec![traffic("even", on_off(span(1)))];
        assert!(plan.draws().is_empty());
        plan.traffic.push(traffic("odd", on_off(HoldingPlan::Exponential(Span::from_picos(1)))));
        plan.traffic[0].start = StartPlan::Uniform(Time::ZERO, Time::from_picos(9));
        plan.gates[0].loss = LossPlan::Independent { probability: 0.5 };
        assert_eq!(plan.draws(), ["gate.g/loss", "traffic.even/start", "traffic.odd/source"]);
    }
}
