//! The two ends of every flow: ordinary sockets of the kernel's TCP inside the namespaces.
//!
//! A thread in the sender's namespace connects and writes what the applications bring; a
//! thread in the receiver's takes what comes; a third one reads `TCP_INFO` of the senders.
//! None of them is in the way of a packet: ACKs are made and answered inside the kernel
//! while the engine hands packets over.

mod client;
mod dial;
mod dialogue;
mod differs;
mod ecn;
mod ending;
mod info;
mod receiver;
mod sampler;
mod sender;
mod sockets;
mod sockopt;
mod stack;
mod watch;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use nix::sys::eventfd::{EfdFlags, EventFd};
use tidegate_core::app::Exchange;
use tidegate_core::plan::{AppPlan, FlowPlan, Plan};
use tidegate_core::units::Span;

use crate::lab::{FIRST_PORT, Lab, Namespace, RECEIVER_ADDRESS, RouteOptions, SENDER_ADDRESS, Side};
use crate::pump::Owed;
use crate::{Clock, LiveError};
use dialogue::{Dialogues, begins_anew, has_requests};
pub(crate) use ecn::has_ecn;
use ending::Counts;
pub use info::TcpInfo;
pub use sampler::Sample;
pub use stack::{FlowStack, Stack, available, usable};

/// Sockets of a run and what is known of them.
#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    wake: [EventFd; 2],
    /// The sending ends, by flow.
    senders: Mutex<Vec<Sending>>,
    facts: Mutex<Vec<Facts>>,
    owed: Arc<Owed>,
    dialogues: Dialogues,
    /// User bytes that have come out of each receiver's socket, of its latest connection.
    delivered: Vec<AtomicU64>,
}

/// A flow's sending end, for whoever reads its state.
#[derive(Clone, Debug, Default)]
struct Sending {
    socket: Option<Arc<OwnedFd>>,
    /// What connections before this one counted.
    before: Counts,
    /// Its connections end and begin: in between the last one's state stands.
    anew: bool,
}

/// What was seen of a flow's connections, the first of them where there are several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `TCP_INFO` when the connection was there.
    pub first: Option<TcpInfo>,
    /// The congestion controller at work.
    pub congestion: String,
    /// What went wrong.
    pub failure: Option<String>,
    /// Time-outs of the end that asks, in the measured time.
    pub client_timeouts: u64,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn sending(&self) -> MutexGuard<'_, Vec<Sending>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, flow: usize, write: impl FnOnce(&mut Facts)) {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut facts[flow]);
    }
}

/// Namespaces made ready for the flows of a plan.
#[derive(Debug)]
pub struct Prepared {
    stack: Stack,
    addresses: Vec<Addresses>,
    /// Where connections come in: at the receiver, of flows with requests at the sender.
    listeners: Vec<OwnedFd>,
}

/// Where a flow's ends are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Addresses {
    sender: Ipv4Addr,
    receiver: SocketAddrV4,
}

/// Sets system controls and routes, and opens the sockets on which the receivers listen.
///
/// # Errors
/// [`LiveError::Kernel`].
pub fn prepare(lab: &Lab, plan: &Plan, stack: Stack) -> Result<Prepared, LiveError> {
    for side in [Side::Sender, Side::Receiver] {
        for (name, value) in &stack.controls {
            lab.side(side).set_sysctl(name, value)?;
        }
    }
    let (room, most) = stack.receive_room();
    lab.receiver().set_sysctl("net.ipv4.tcp_rmem", &format!("4096 {room} {most}"))?;
    let mut addresses = vec![None; stack.flows.len()];
    for (class, ((initial_window, quick_ack), flows)) in stack.routes().into_iter().enumerate() {
        let there = RouteOptions { initial_window: Some(initial_window), ..RouteOptions::default() };
        let back = RouteOptions { quick_ack, ..RouteOptions::default() };
        let [sender, receiver] = ends(lab, class, &there, &back)?;
        for flow in flows {
            let port = FIRST_PORT + flow as u16;
            addresses[flow] = Some(Addresses { sender, receiver: SocketAddrV4::new(receiver, port) });
        }
    }
    let addresses: Vec<Addresses> = addresses.into_iter().flatten().collect();
    let mut listeners = Vec::new();
    for (number, at) in addresses.iter().enumerate() {
        let (side, place) = if has_requests(&plan.flows[number]) {
            (Side::Sender, SocketAddrV4::new(at.sender, at.receiver.port()))
        } else {
            (Side::Receiver, at.receiver)
        };
        let flow = &stack.flows[number];
        let open = || {
            // A flow's sender takes over what its listener was opened with.
            if side == Side::Sender {
                dial::set_controls(&flow.controls())?;
            }
            dial::wait_at(place, flow).map_err(|error| LiveError::kernel("listen for the flows", error))
        };
        listeners.push(lab.side(side).run(open)??);
    }
    Ok(Prepared { stack, addresses, listeners })
}

/// The addresses of a class of flows whose routes say the same; the first has the usual ones.
fn ends(
    lab: &Lab,
    class: usize,
    there: &RouteOptions,
    back: &RouteOptions,
) -> Result<[Ipv4Addr; 2], LiveError> {
    let preferred = [SENDER_ADDRESS, RECEIVER_ADDRESS];
    if class == 0 {
        lab.sender().set_route(there)?;
        lab.receiver().set_route(back)?;
        return Ok(preferred);
    }
    let third = u8::try_from(class).map_err(|_| {
        LiveError::Beyond(
            "more than 256 combinations of tcp.initial_window and tcp.delayed_ack; make some of them equal"
                .to_owned(),
        )
    })?;
    let own = preferred.map(|address| {
        let [a, b, _, d] = address.octets();
        Ipv4Addr::new(a, b, third, d)
    });
    let both: [(&Namespace, Ipv4Addr, Ipv4Addr, &RouteOptions); 2] =
        [(lab.sender(), own[0], own[1], there), (lab.receiver(), own[1], own[0], back)];
    for (namespace, here, other, options) in both {
        namespace.add_address(here)?;
        namespace.set_route_to(other, options)?;
    }
    Ok(own)
}

/// Who hears each reading of a sender, and the bytes that have come out of its receiver's socket by then.
pub type Heard = Box<dyn FnMut(&Sample, u64) + Send>;

/// Threads at the ends.
#[derive(Debug)]
pub struct Endpoints {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Result<Result<(), LiveError>, LiveError>>>,
    sampler: JoinHandle<Vec<Sample>>,
    stack: Stack,
}

/// What was seen at the ends.
#[derive(Debug)]
pub struct EndReport {
    /// `TCP_INFO` of every sender, in order of time.
    pub samples: Vec<Sample>,
    /// What was seen of every flow's connection.
    pub facts: Vec<Facts>,
    /// How the flows were set up.
    pub stack: Stack,
    /// Every request of every flow.
    pub requests: Vec<Vec<Exchange>>,
}

impl Endpoints {
    /// Starts the threads; flows begin as the plan says on `clock`, and raise what is `owed`. State
    /// is read every `every`, and `heard` hears of it.
    ///
    /// # Errors
    /// [`LiveError::Kernel`].
    pub fn start(
        lab: &Lab,
        plan: &Plan,
        prepared: Prepared,
        (clock, owed): (Clock, Arc<Owed>),
        (every, heard): (Span, Heard),
    ) -> Result<Endpoints, LiveError> {
        let Prepared { stack, addresses, listeners } = prepared;
        let event = || {
            EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)
                .map_err(|error| LiveError::kernel("make an event", error))
        };
        let flows = plan.flows.len();
        let senders = plan.flows.iter().map(|flow| Sending { anew: begins_anew(flow), ..Sending::default() });
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            wake: [event()?, event()?],
            senders: Mutex::new(senders.collect()),
            facts: Mutex::new(vec![Facts::default(); flows]),
            owed,
            dialogues: Dialogues::new(plan),
            delivered: plan.flows.iter().map(|_| AtomicU64::new(0)).collect(),
        });
        let mut own: [Vec<Option<OwnedFd>>; 2] = [Vec::new(), Vec::new()];
        for (flow, listener) in plan.flows.iter().zip(listeners) {
            let at_sender = has_requests(flow);
            let [sender, receiver] = &mut own;
            let (with, without) = if at_sender { (sender, receiver) } else { (receiver, sender) };
            with.push(Some(listener));
            without.push(None);
        }
        let [at_sender, at_receiver] = own;
        let receiver =
            receiver::Receiver::new(Arc::clone(&shared), plan, at_receiver, &stack, &addresses, clock)?;
        let sender = sender::Sender::new(Arc::clone(&shared), plan, at_sender, &stack, addresses, clock)?;
        let threads = vec![
            lab.receiver().spawn("receiver", move || receiver.work())?,
            lab.sender().spawn("sender", move || sender.work())?,
        ];
        let seen = Arc::clone(&shared);
        let until = plan.duration;
        let sampler = std::thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || sampler::work(&seen, clock, (every, heard), until))
            .map_err(|error| LiveError::kernel("start the thread \"sampler\"", error))?;
        Ok(Endpoints { shared, threads, sampler, stack })
    }

    /// Whether every thread is still at work.
    #[must_use]
    pub fn are_running(&self) -> bool {
        self.threads.iter().all(|thread| !thread.is_finished())
    }

    /// How many of the flows that come to an end are not done yet: of a finite transfer its bytes have come out of the
    /// receiver's socket, of requests with a count all have ended.
    #[must_use]
    pub fn open(&self, plan: &Plan) -> usize {
        let is_open = |(number, flow): &(usize, &FlowPlan)| match &flow.app {
            AppPlan::Transfer { bytes } => self.shared.delivered[*number].load(Ordering::Relaxed) < *bytes,
            AppPlan::Request(requests) => {
                requests.count.is_some_and(|count| self.shared.dialogues.ended(*number) < count)
            }
            AppPlan::Bulk | AppPlan::Source(_) => false,
        };
        plan.flows.iter().enumerate().filter(is_open).count()
    }

    /// Ends every connection at once and says what was seen.
    ///
    /// # Errors
    /// What a thread ended with before its time.
    pub fn stop(self) -> Result<EndReport, LiveError> {
        self.shared.stop.store(true, Ordering::Relaxed);
        for wake in &self.shared.wake {
            wake.write(1).map_err(|error| LiveError::kernel("wake a thread", error))?;
        }
        for thread in self.threads {
            thread.join().map_err(|_panic| LiveError::Panicked("endpoint".to_owned()))???;
        }
        let samples = self.sampler.join().map_err(|_panic| LiveError::Panicked("sampler".to_owned()))?;
        let facts = self.shared.facts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(EndReport { samples, facts, stack: self.stack, requests: self.shared.dialogues.logs() })
    }
}
