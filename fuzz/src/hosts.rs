//! Hosts that answer at random, beside a flow of our TCP on one gate: packets of any length, now or at a later instant, wake-ups soon,
//! now or in the past, and panics. Whatever they do, the run ends with a result or with a sentence that names the flow; every packet
//! that left came, was dropped or is on its way; those that came kept their order and took their time; and the gate passed no more
//! than its rate.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::plan::{
    AppPlan, FlowPlan, GatePlan, Plan, QueueLimit, RatePlan, StartPlan, TransportPlan,
};
use tidegate_core::units::{Rate, Speed};
use tidegate_sim::host::{Ecn, Ends, HeldBy, Host, Lost, Outgoing, Packet, Report, Span, Time};
use tidegate_sim::{RunError, run_hosted};

/// Bytes of an input that choose the gate and the plan of our TCP.
const HEADER: usize = 8;
/// One way through the gate, without waiting.
const DELAY: Span = Span::from_millis(2);
const LENGTH: Span = Span::from_millis(60);

/// What a host says that panics as it was told to; a law that is broken says something else.
const TOLD: &str = "as it was told";

/// What became of the packets of one direction, by their numbers.
#[derive(Default)]
struct Fates {
    left: u64,
    /// The number that a packet that comes must have at least.
    next: u64,
    came: u64,
    lost: u64,
}

/// A host that does what bytes say.
struct Drawn {
    ops: Vec<u8>,
    side: usize,
    fates: Arc<Mutex<[Fates; 2]>>,
    ready: Vec<Outgoing>,
    wakeup: Time,
    got: u64,
}

/// Any bytes: a gate, a plan of TCP, then what the hosts do.
pub fn run(data: &[u8]) {
    let Some((header, ops)) = data.split_at_checked(HEADER) else { return };
    let plan = plan(header);
    let fates = Arc::new(Mutex::new([Fates::default(), Fates::default()]));
    let mut hosts = |flow: usize| -> Option<Ends> {
        (flow == 0).then(|| {
            [0, 1].map(|side| -> Box<dyn Host> {
                let ops = ops.iter().copied().skip(side).step_by(2).collect();
                let (ready, wakeup) = (vec![], Time::NEVER);
                Box::new(Drawn { ops, side, fates: Arc::clone(&fates), ready, wakeup, got: 0 })
            })
        })
    };
    match run_hosted(&plan, &mut hosts, &mut |_| true) {
        Ok(result) => {
            // The packet that a gate had begun with goes on.
            let most = rate_of(header) as f64 + f64::from(u16::MAX) * 8.0 / LENGTH.as_secs_f64();
            let passed = result.summary.flows.iter().filter_map(|flow| flow.throughput_bps).sum::<f64>();
            assert!(passed <= most, "{passed} of {most} bit/s");
            for flow in &result.summary.flows {
                assert!(
                    flow.goodput_bps <= flow.throughput_bps,
                    "{:?} of {:?}",
                    flow.goodput_bps,
                    flow.throughput_bps
                );
            }
        }
        Err(RunError::Host(said)) => {
            assert!(said.starts_with("flow.host: at "), "{said}");
            assert!(!said.contains("panicked") || said.ends_with(TOLD), "{said}");
        }
        Err(other) => panic!("{other}"),
    }
    for way in locked(&fates).iter() {
        assert!(way.came + way.lost <= way.left, "a packet had two fates");
    }
}

fn rate_of(header: &[u8]) -> u64 {
    (u64::from(header[6]) + 1) * 100_000
}

/// A gate for both directions of both flows, a host's and one of our TCP.
fn plan(header: &[u8]) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + LENGTH);
    let mut gate = GatePlan::open("gate");
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(rate_of(header))));
    gate.queue.limit = QueueLimit::Packets(u64::from(header[7] % 64));
    gate.delay = DELAY;
    plan.gates.push(gate);
    for name in ["host", "ours"] {
        plan.flows.push(FlowPlan {
            dscp: 0,
            scone: None,
            name: name.to_owned(),
            path: vec![0],
            back: vec![0],
            back_delay: Span::ZERO,
            start: StartPlan::At(Time::ZERO),
            app: AppPlan::Bulk,
            transport: TransportPlan::Tcp,
            tcp: crate::endpoints::plan(header),
        });
    }
    plan
}

fn locked(fates: &Mutex<[Fates; 2]>) -> MutexGuard<'_, [Fates; 2]> {
    fates.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A packet that says which it is and when it left.
fn packet(number: u64, at: Time) -> Packet {
    Packet::Bytes([number.to_le_bytes(), at.picos().to_le_bytes()].concat())
}

/// The number of a packet, and when it left.
fn read(packet: Packet) -> (u64, Time) {
    let bytes = packet.into_bytes();
    let word = |from: usize| u64::from_le_bytes(bytes[from..from + 8].try_into().expect("eight bytes"));
    (word(0), Time::from_picos(word(8)))
}

impl Drawn {
    /// Does what the next byte says.
    fn act(&mut self, now: Time) {
        let Some(op) = self.ops.pop() else { return };
        let amount = u32::from(op >> 3);
        let mut out = Outgoing {
            packet: Packet::Bytes(vec![]),
            ip_bytes: 40 + amount * 50,
            ecn: Ecn::from_bits(op >> 3),
            held_by: [HeldBy::Application, HeldBy::CongestionWindow, HeldBy::ReceiverWindow]
                [usize::from(op >> 3) % 3],
            data: true,
            at: Time::ZERO,
        };
        match op & 7 {
            0 => {}
            1 => self.ready.push(out),
            2 => self.ready.extend(vec![out; 5]),
            3 => {
                out.at = now + Span::from_micros(u64::from(amount) * 100);
                self.ready.push(out);
            }
            4 => self.wakeup = now + Span::from_micros(u64::from(amount) * 100),
            // Now, or long ago; it acts again until no bytes are left.
            5 => self.wakeup = if amount == 0 { Time::ZERO } else { now },
            6 => {
                out.ip_bytes = amount * 2_114;
                self.ready.push(out);
            }
            _ if amount == 9 => std::panic::resume_unwind(Box::new(TOLD)),
            _ => self.wakeup = Time::NEVER,
        }
    }
}

impl Host for Drawn {
    fn open(&mut self, now: Time) {
        self.wakeup = now + Span::from_millis(1);
        self.act(now);
    }

    fn handle_packet(&mut self, now: Time, _ecn: Ecn, packet: Packet) {
        let (number, left) = read(packet);
        assert!(left + DELAY <= now, "it came before its time");
        self.got = {
            let fates = &mut locked(&self.fates)[1 - self.side];
            assert!(number >= fates.next && number < fates.left, "packets keep their order");
            fates.next = number + 1;
            fates.came += 1;
            fates.came
        };
        self.act(now);
    }

    fn handle_wakeup(&mut self, now: Time) {
        assert!(now >= self.wakeup, "it was woken before its time");
        if self.ops.is_empty() {
            self.wakeup = Time::NEVER;
        }
        self.act(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let out = self.ready.pop()?;
        let fates = &mut locked(&self.fates)[self.side];
        fates.left += 1;
        Some(Outgoing { packet: packet(fates.left - 1, now.max(out.at)), ..out })
    }

    fn next_wakeup(&mut self) -> Time {
        self.wakeup
    }

    fn report(&self) -> Report {
        Report { delivered_bytes: self.got, in_order_bytes: self.got, ..Report::default() }
    }

    fn handle_loss(&mut self, lost: Lost) {
        let (number, left) = read(lost.packet);
        assert!(lost.at >= left, "it was dropped before it left");
        let fates = &mut locked(&self.fates)[self.side];
        assert!(number < fates.left);
        fates.lost += 1;
    }
}
