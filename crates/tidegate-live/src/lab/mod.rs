//! Two network namespaces with one device each; between the devices there is nothing but
//! the engine.
//!
//! Namespaces and devices have no names outside: they are held by this process's file
//! descriptors alone, so the kernel frees them when the process ends, however it ends.

mod edge;
mod namespace;
mod nat;
mod netlink;
mod offload;
mod packet;
mod tun;

use std::net::{Ipv4Addr, SocketAddrV4};

use tidegate_core::plan::Plan;

use netlink_packet_route::link::LinkAttribute;

use crate::LiveError;
use crate::clean::Note;
use crate::limits;
use crate::processors::Division;
pub(crate) use edge::Edge;
use namespace::Held;
pub use namespace::Namespace;
pub(crate) use namespace::in_a_namespace;
pub(crate) use nat::Nat;
use netlink::Netlink;
pub use netlink::RouteOptions;
use packet::PacketRing;
pub use tidegate_result::Side;
use tun::Tun;

/// Address of the sender's end; also the gateway as the receiver sees it.
pub const SENDER_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// Address of the receiver's end; also the gateway as the sender sees it.
pub const RECEIVER_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// Port of the first flow at the receiver; the others follow.
pub const FIRST_PORT: u16 = 5001;
/// Most flows of one run.
pub const MAX_FLOWS: usize = 20_000;
/// IP header, TCP header without options.
const PLAIN_HEADERS: u32 = 40;
/// The timestamps option with its padding.
const TIMESTAMPS: u32 = 12;
/// What an Ethernet carries, and the least that a lab's devices carry.
const DEFAULT_MTU: u32 = 1500;
const LARGEST_MTU: u32 = 65_535;

/// The address of an end's namespace.
pub(crate) fn address_of(side: Side) -> Ipv4Addr {
    match side {
        Side::Sender => SENDER_ADDRESS,
        Side::Receiver => RECEIVER_ADDRESS,
    }
}

/// How packets come out of the kernel and go back into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// TUN where `/dev/net/tun` may be opened, packet sockets otherwise.
    #[default]
    Auto,
    /// TUN devices.
    Tun,
    /// Pairs of virtual Ethernet devices and packet sockets with a ring.
    Packet,
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Backend::Auto => "auto",
            Backend::Tun => "tun",
            Backend::Packet => "packet",
        })
    }
}

/// Which processor the receiver's TCP does its work on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// [`Work::Divided`] where the plan's packets are so many that throughput counts
    /// ([`crate::limits::is_fast`]), [`Work::Together`] elsewhere.
    #[default]
    Auto,
    /// Within the engine's write: nothing comes between the write and the kernel's TCP.
    Together,
    /// On the other processors; the engine's thread keeps one to itself.
    Divided,
}

/// Choices of a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabOptions {
    /// Largest IP packet of the devices; `None`: as large as the plan's largest segment with
    /// its headers, and 1500 bytes at least.
    pub mtu: Option<u32>,
    /// Most segments that TCP hands to the device at once, before the kernel cuts them into
    /// packets; `None`: as the kernel does.
    pub gso_segments: Option<u32>,
    /// One end is the namespace that this process is in, instead of a new one; with TUN only.
    pub outside: Option<Side>,
    /// Which processor does what.
    pub work: Work,
}

/// Two namespaces and their devices; dropping it removes all.
#[derive(Debug)]
pub struct Lab {
    note: Note,
    sender: Namespace,
    receiver: Namespace,
    backend: Backend,
    mtu: u32,
    flows: usize,
    pub(crate) division: Option<Division>,
    /// What the manifest is to say.
    pub(crate) notes: Vec<String>,
    pub(crate) edges: Option<[Edge; 2]>,
}

/// Where a flow's sockets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowAddresses {
    /// The sender's address; its port is any.
    pub sender: Ipv4Addr,
    /// Where the receiver listens; the port is the flow's alone.
    pub receiver: SocketAddrV4,
}

impl Lab {
    /// Makes the namespaces and devices for the flows of `plan`.
    ///
    /// # Errors
    /// [`LiveError::NotPermitted`] without root and outside a user namespace,
    /// [`LiveError::Beyond`] for more than [`MAX_FLOWS`] flows, [`LiveError::Kernel`] for what
    /// the kernel refuses.
    pub fn new(plan: &Plan, backend: Backend, options: &LabOptions) -> Result<Lab, LiveError> {
        if plan.flows.len() > MAX_FLOWS {
            return Err(LiveError::Beyond(format!(
                "the scenario has {} flows; the live engine handles at most {MAX_FLOWS}",
                plan.flows.len()
            )));
        }
        crate::userns::check()?;
        crate::clean::clean()?;
        let mtu = options.mtu.unwrap_or_else(|| largest_packet(plan));
        let hold = |side: Side| {
            if options.outside == Some(side) { Held::current() } else { Held::new() }
        };
        let (first, second) = (hold(Side::Sender)?, hold(Side::Receiver)?);
        let mut notes = Vec::new();
        let division = divide(plan, options, &second, &mut notes);
        let note = Note::write(&[first.number()?, second.number()?])?;
        let sender = Namespace::new(Side::Sender, first, note.name());
        let receiver = Namespace::new(Side::Receiver, second, note.name());
        let backend = match backend {
            Backend::Auto if !Tun::is_permitted() => Backend::Packet,
            Backend::Auto => Backend::Tun,
            chosen => chosen,
        };
        if options.outside.is_some() && backend != Backend::Tun {
            return Err(LiveError::NotPermitted {
                why: "a device in this machine's own network takes /dev/net/tun".to_owned(),
            });
        }
        let ends: [Result<Edge, LiveError>; 2] = if backend == Backend::Tun {
            [&sender, &receiver].map(|end| Ok(Edge::Tun(Tun::new(end, mtu, options)?)))
        } else {
            let wires = Held::new()?;
            [&sender, &receiver].map(|end| Ok(Edge::Packet(PacketRing::new(&wires, end, mtu, options)?)))
        };
        let [near, far] = ends;
        let edges = Some([near?, far?]);
        notes.push(sender.segmentation()?);
        Ok(Lab { note, sender, receiver, backend, mtu, flows: plan.flows.len(), division, notes, edges })
    }

    /// The namespace that data comes from.
    #[must_use]
    pub fn sender(&self) -> &Namespace {
        &self.sender
    }

    /// The namespace that data goes to.
    #[must_use]
    pub fn receiver(&self) -> &Namespace {
        &self.receiver
    }

    /// The namespace at one end.
    #[must_use]
    pub fn side(&self, side: Side) -> &Namespace {
        match side {
            Side::Sender => &self.sender,
            Side::Receiver => &self.receiver,
        }
    }

    /// The run's name on this machine.
    #[must_use]
    pub fn name(&self) -> &str {
        self.note.name()
    }

    /// [`Backend::Tun`] or [`Backend::Packet`].
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Largest IP packet of the devices.
    #[must_use]
    pub fn mtu(&self) -> u32 {
        self.mtu
    }

    /// Where the sockets of a flow are.
    #[must_use]
    pub fn flow_addresses(&self, flow: usize) -> FlowAddresses {
        debug_assert!(flow < self.flows);
        let port = FIRST_PORT + flow as u16;
        FlowAddresses { sender: SENDER_ADDRESS, receiver: SocketAddrV4::new(RECEIVER_ADDRESS, port) }
    }
}

/// Has the receiver's kernel work on other processors than the engine's, where that is wanted and can be
/// had. What acknowledgements bring about stays with the engine: steering them as well was slower.
fn divide(plan: &Plan, options: &LabOptions, receiver: &Held, notes: &mut Vec<String>) -> Option<Division> {
    let wanted = match options.work {
        // The machine's own network stays as it is.
        _ if options.outside == Some(Side::Receiver) => false,
        Work::Auto => limits::is_fast(plan),
        Work::Together => false,
        Work::Divided => true,
    };
    if !wanted {
        return None;
    }
    let divided =
        Division::of_this_process().map_err(|error| LiveError::kernel("list the processors", error));
    let steered = divided.and_then(|division| {
        let Some(division) = division else { return Ok(None) };
        receiver.receive_on(&division.others)?;
        Ok(Some(division))
    });
    match steered {
        Ok(Some(division)) => {
            notes.push(format!(
                "high packet rate: the engine's thread has processor {} to itself, the receiver's kernel uses the \
                 others",
                division.engine
            ));
            Some(division)
        }
        Ok(None) => {
            notes.push("high packet rate, but there is only one processor for everything".to_owned());
            None
        }
        Err(error) => {
            notes.push(format!(
                "high packet rate, but the receiver's kernel uses the engine's processor ({error})"
            ));
            None
        }
    }
}

/// IP bytes of the largest segment of any flow as the kernel would build it, with its own headers instead of
/// the plan's.
fn largest_packet(plan: &Plan) -> u32 {
    let segment = |flow: &tidegate_core::plan::FlowPlan| {
        let options = if flow.tcp.timestamps { TIMESTAMPS } else { 0 };
        flow.tcp.mss.saturating_add(PLAIN_HEADERS + options)
    };
    plan.flows.iter().map(segment).max().unwrap_or(0).clamp(DEFAULT_MTU, LARGEST_MTU)
}

/// Takes the device of the namespace that the calling thread is in up, with its address and
/// a route to the other end.
fn configure(side: Side, attributes: &[LinkAttribute]) -> Result<(), LiveError> {
    let mut netlink = Netlink::open()?;
    netlink.change(Namespace::DEVICE, attributes)?;
    netlink.add_address(Namespace::DEVICE, address_of(side))?;
    let to = netlink::Destination::Host(address_of(side.other()));
    netlink.route(Namespace::DEVICE, to, &RouteOptions::default())
}
