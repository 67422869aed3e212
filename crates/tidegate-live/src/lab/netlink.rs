//! Links, addresses and routes over rtnetlink, one request and one answer at a time.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::RawFd;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::AddressFamily;
use netlink_packet_route::RouteNetlinkMessage as Message;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, Stats64,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use crate::LiveError;

const HOST_PREFIX: u8 = 32;

/// Where a route leads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Destination {
    Host(Ipv4Addr),
    Anywhere,
}

/// A socket in the namespace of the thread that opened it.
pub(super) struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    pub(super) fn open() -> Result<Netlink, LiveError> {
        let failed = |error| LiveError::kernel("open a netlink socket", error);
        let mut socket = Socket::new(NETLINK_ROUTE).map_err(failed)?;
        socket.bind_auto().map_err(failed)?;
        socket.connect(&SocketAddr::new(0, 0)).map_err(failed)?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// A device's number and counters.
    pub(super) fn link(&mut self, name: &str) -> Result<LinkMessage, LiveError> {
        let mut link = LinkMessage::default();
        link.attributes.push(LinkAttribute::IfName(name.to_owned()));
        let what = format!("find the device {name}");
        match self.ask(Message::GetLink(link), 0, &what)? {
            Some(Message::NewLink(found)) => Ok(found),
            _ => Err(LiveError::kernel(what, std::io::ErrorKind::NotFound)),
        }
    }

    /// Segments that TCP may hand to the device at once; the kernel cuts them apart.
    pub(super) fn most_segments(&mut self, name: &str) -> Result<u32, LiveError> {
        let most = |attribute: &LinkAttribute| match attribute {
            LinkAttribute::GsoMaxSegs(most) => Some(*most),
            _ => None,
        };
        Ok(self.link(name)?.attributes.iter().find_map(most).unwrap_or(u32::MAX))
    }

    /// Packets that the device itself counted as dropped, on the way out of the kernel or into it.
    pub(super) fn dropped(&mut self, name: &str) -> Result<u64, LiveError> {
        let stats = |attribute: &LinkAttribute| match attribute {
            LinkAttribute::Stats64(Stats64 { tx_dropped, rx_dropped, .. }) => Some(*tx_dropped + *rx_dropped),
            _ => None,
        };
        Ok(self.link(name)?.attributes.iter().find_map(stats).unwrap_or(0))
    }

    pub(super) fn set_up(&mut self, name: &str) -> Result<(), LiveError> {
        self.change(name, &[])
    }

    /// A pair of virtual Ethernet devices: `name` here, `peer` in the namespace of the
    /// descriptor.
    pub(super) fn add_pair(&mut self, name: &str, peer: (&str, RawFd)) -> Result<(), LiveError> {
        let mut far = LinkMessage::default();
        far.attributes = vec![LinkAttribute::IfName(peer.0.to_owned()), LinkAttribute::NetNsFd(peer.1)];
        let mut near = LinkMessage::default();
        near.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(far))),
            ]),
        ];
        let what = format!("make the pair of virtual Ethernet devices {name} and {}", peer.0);
        self.ask(Message::NewLink(near), NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &what)?;
        Ok(())
    }

    /// Sets attributes of a device and takes it up.
    pub(super) fn change(&mut self, name: &str, attributes: &[LinkAttribute]) -> Result<(), LiveError> {
        let mut link = LinkMessage::default();
        link.header.index = self.link(name)?.header.index;
        // Without ARP where there might be some: the engine knows who is there.
        link.header.flags = LinkFlags::Up | LinkFlags::Noarp;
        link.header.change_mask = LinkFlags::Up | LinkFlags::Noarp;
        link.attributes = attributes.to_vec();
        self.ask(Message::SetLink(link), NLM_F_ACK, &format!("set up the device {name}"))?;
        Ok(())
    }

    pub(super) fn add_address(&mut self, name: &str, address: Ipv4Addr) -> Result<(), LiveError> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = HOST_PREFIX;
        message.header.index = self.link(name)?.header.index;
        message.attributes.push(AddressAttribute::Local(IpAddr::V4(address)));
        message.attributes.push(AddressAttribute::Address(IpAddr::V4(address)));
        let what = format!("give the device {name} the address {address}");
        self.ask(Message::NewAddress(message), NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &what)?;
        Ok(())
    }

    pub(super) fn route(
        &mut self,
        name: &str,
        to: Destination,
        options: &RouteOptions,
    ) -> Result<(), LiveError> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        if let Destination::Host(address) = to {
            message.header.destination_prefix_length = HOST_PREFIX;
            message.attributes.push(RouteAttribute::Destination(RouteAddress::Inet(address)));
        }
        message.attributes.push(RouteAttribute::Oif(self.link(name)?.header.index));
        let metrics = metrics(options);
        if !metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(metrics));
        }
        let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
        self.ask(Message::NewRoute(message), flags, &format!("set a route over {name}"))?;
        Ok(())
    }

    /// Sends a request; what is not an acknowledgement is the answer.
    pub(super) fn ask(&mut self, ask: Message, flags: u16, what: &str) -> Result<Option<Message>, LiveError> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        header.sequence_number = self.sequence;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(ask));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map_err(|error| LiveError::kernel(what, error))?;
        let (answer, _) = self.socket.recv_from_full().map_err(|error| LiveError::kernel(what, error))?;
        let answer = NetlinkMessage::<Message>::deserialize(&answer)
            .map_err(|error| LiveError::kernel(what, std::io::Error::other(error.to_string())))?;
        match answer.payload {
            NetlinkPayload::Error(refused) if refused.code.is_some() => {
                Err(LiveError::kernel(what, refused.to_io()))
            }
            NetlinkPayload::InnerMessage(message) => Ok(Some(message)),
            _ => Ok(None),
        }
    }
}

fn metrics(options: &RouteOptions) -> Vec<RouteMetric> {
    let mut metrics = Vec::new();
    metrics.extend(options.initial_window.map(RouteMetric::InitCwnd));
    metrics.extend(options.initial_receive_window.map(RouteMetric::InitRwnd));
    metrics.extend(options.quick_ack.then_some(RouteMetric::QuickAck(1)));
    metrics.extend(options.rto_min_ms.map(RouteMetric::RtoMin));
    metrics.extend(options.advertised_mss.map(RouteMetric::Advmss));
    metrics
}

/// Metrics of the route to the other end; what is `None` stays as the kernel has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteOptions {
    /// First congestion window, segments.
    pub initial_window: Option<u32>,
    /// First receive window, segments.
    pub initial_receive_window: Option<u32>,
    /// No delayed acknowledgements at all.
    pub quick_ack: bool,
    /// Least retransmission time-out, milliseconds.
    pub rto_min_ms: Option<u32>,
    /// Segment size that is announced, bytes.
    pub advertised_mss: Option<u32>,
}
