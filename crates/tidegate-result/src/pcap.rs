//! A run's packets as a pcap file: real IPv4 and TCP headers with checksums, zeros as user
//! data. One file shows one end of every flow, as a capture on that host would.
//!
//! Packets of other transports are shown as datagrams of UDP with their bytes, or as the IP packets that they are.
//!
//! Flow n talks from 10.1.x.y port 40000 to 10.2.x.y port 5001 with n = 256·x + y; where each
//! request has a connection of its own, the second comes from port 40001, and so on.

use std::borrow::Cow;
use std::io::{self, Write};

use etherparse::{IpHeaders, Ipv4Header, PacketBuilder, PacketBuilderStep, TcpOptionElement};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use tidegate_core::plan::{FlowPlan, Plan, TcpPlan, TransportPlan};
use tidegate_core::tcp::{AccEcn, Segment, flags};
use tidegate_core::units::PICOS_PER_SECOND;

use crate::rows::{PacketRecord, Side};

/// IPv4 and TCP headers without options.
const PLAIN_HEADERS: u32 = 40;
/// Connections of one flow have ports of their own, until these are used up.
const PORTS: u32 = 20_000;
/// Most bytes of TCP options.
const MOST_OPTIONS: u32 = 40;
/// Bytes that timestamps take in each segment, padding included (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;

/// Writes what was seen at one end, in order of time.
///
/// # Errors
/// Whatever the writer says, and packets that IPv4 cannot carry.
pub fn write(plan: &Plan, packets: &[PacketRecord], seen: Side, out: impl Write) -> io::Result<()> {
    let mut file = Writer::new(out, seen)?;
    for packet in packets {
        file.add(plan, packet)?;
    }
    file.finish()
}

/// A capture at one end of every flow, to which packets are added in order of time.
pub struct Writer<W: Write> {
    file: PcapWriter<W>,
    seen: Side,
}

impl<W: Write> Writer<W> {
    /// Begins a file of what is seen at one end.
    ///
    /// # Errors
    /// Whatever the writer says.
    pub fn new(out: W, seen: Side) -> io::Result<Writer<W>> {
        let header = PcapHeader {
            datalink: DataLink::RAW,
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
            snaplen: 65_535,
            ..PcapHeader::default()
        };
        Ok(Writer { file: PcapWriter::with_header(out, header).map_err(plain)?, seen })
    }

    /// Adds a packet, unless it was seen at the other end.
    ///
    /// # Errors
    /// Whatever the writer says, and a packet that IPv4 cannot carry.
    pub fn add(&mut self, plan: &Plan, packet: &PacketRecord) -> io::Result<()> {
        if packet.seen != self.seen {
            return Ok(());
        }
        let bytes = packet_bytes(&plan.flows[packet.flow as usize], packet)?;
        let at = std::time::Duration::new(
            packet.at.picos() / PICOS_PER_SECOND,
            (packet.at.picos() % PICOS_PER_SECOND / 1000) as u32,
        );
        // Of another transport's headers those that are not known are not shown.
        let length =
            if packet.payload.is_some() { packet.bytes.max(bytes.len() as u32) } else { bytes.len() as u32 };
        let framed = PcapPacket { timestamp: at, orig_len: length, data: Cow::Owned(bytes) };
        self.file.write_packet(&framed).map(drop).map_err(plain)
    }

    /// Writes the rest out.
    ///
    /// # Errors
    /// Whatever the writer says.
    pub fn finish(self) -> io::Result<()> {
        self.file.into_writer().flush()
    }
}

/// The system's own error, if it is one.
#[must_use]
pub fn plain(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

fn packet_bytes(flow: &FlowPlan, packet: &PacketRecord) -> io::Result<Vec<u8>> {
    let segment = &packet.segment;
    if let Some(payload) = &packet.payload
        && payload.len() == packet.bytes as usize
    {
        return Ok(payload.to_vec());
    }
    let [x, y] = (packet.flow as u16).to_be_bytes();
    let port = 40_000 + (segment.connection % PORTS) as u16;
    let (sender, receiver) = (([10, 1, x, y], port), ([10, 2, x, y], 5_001));
    let (from, to) = match packet.from {
        Side::Sender => (sender, receiver),
        Side::Receiver => (receiver, sender),
    };
    let carried =
        if packet.payload.is_some() { etherparse::IpNumber::UDP } else { etherparse::IpNumber::TCP };
    let mut ip = Ipv4Header::new(0, 64, carried, from.0, to.0).map_err(io::Error::other)?;
    ip.dont_fragment = true;
    // The upper six bits of the field, ECN the lower two (RFC 2474 §3, RFC 3168 §5).
    ip.dscp = etherparse::IpDscp::try_new(packet.dscp.unwrap_or(flow.dscp)).map_err(io::Error::other)?;
    ip.ecn = etherparse::IpEcn::try_new(segment.ecn as u8).map_err(io::Error::other)?;
    let start = PacketBuilder::ip(etherparse::IpHeaders::Ipv4(ip, Default::default()));
    match &packet.payload {
        None => tcp_bytes(&flow.tcp, segment, start, (from.1, to.1)),
        Some(payload) => {
            let mut bytes = Vec::with_capacity(payload.len() + 28);
            start.udp(from.1, to.1).write(&mut bytes, payload).map_err(io::Error::other)?;
            Ok(bytes)
        }
    }
}

fn tcp_bytes(
    plan: &TcpPlan,
    segment: &Segment,
    start: PacketBuilderStep<IpHeaders>,
    (from, to): (u16, u16),
) -> io::Result<Vec<u8>> {
    let has = |flag: u16| segment.flags & flag != 0;
    // Windows beyond 16 bits are shown scaled by 2¹⁴, the largest scale there is.
    let window = if has(flags::SYN) {
        u16::try_from(segment.window).unwrap_or(u16::MAX)
    } else if scaled(plan) {
        u16::try_from(segment.window >> 14).unwrap_or(u16::MAX)
    } else {
        u16::try_from(segment.window).unwrap_or(u16::MAX)
    };
    let mut builder = start.tcp(from, to, segment.seq, window);
    if has(flags::SYN) {
        builder = builder.syn();
    }
    if has(flags::ACK) {
        builder = builder.ack(segment.ack);
    }
    if has(flags::PSH) {
        builder = builder.psh();
    }
    if has(flags::FIN) {
        builder = builder.fin();
    }
    if has(flags::ECE) {
        builder = builder.ece();
    }
    if has(flags::CWR) {
        builder = builder.cwr();
    }
    if has(flags::AE) {
        // The bit was NS before (RFC 9768 §3.1).
        builder = builder.ns();
    }
    let elements = options(plan, segment);
    let builder = match segment.accecn {
        None => builder.options(&elements).map_err(io::Error::other)?,
        Some(option) => builder.options_raw(&raw(&elements, option)).map_err(io::Error::other)?,
    };
    let payload = vec![0; segment.len as usize];
    let mut bytes = Vec::with_capacity(builder.size(payload.len()));
    builder.write(&mut bytes, &payload).map_err(io::Error::other)?;
    Ok(bytes)
}

fn scaled(plan: &TcpPlan) -> bool {
    plan.window.is_none_or(|window| window > u64::from(u16::MAX))
}

fn options(plan: &TcpPlan, segment: &Segment) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{MaximumSegmentSize, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted};
    let mut options = Vec::new();
    if segment.flags & flags::SYN != 0 {
        options.push(MaximumSegmentSize(announced_mss(plan)));
        if scaled(plan) {
            options.push(TcpOptionElement::WindowScale(14));
        }
        if plan.sack {
            options.push(SelectiveAcknowledgementPermitted);
        }
    }
    if plan.timestamps {
        options.push(TcpOptionElement::Timestamp(segment.ts_val, segment.ts_ecr));
    }
    let blocks = &segment.sack[..usize::from(segment.sack_count)];
    if let Some((first, more)) = blocks.split_first() {
        options.push(SelectiveAcknowledgement(*first, [0, 1, 2].map(|place| more.get(place).copied())));
    }
    options
}

/// The maximum segment size that a SYN announces: of the packet's size without the fixed headers alone, so with the bytes
/// that timestamps take from each segment (RFC 6691 §2).
fn announced_mss(plan: &TcpPlan) -> u16 {
    let options = if plan.timestamps { TIMESTAMPS } else { 0 };
    u16::try_from(plan.mss + options).unwrap_or(u16::MAX)
}

/// Options with the AccECN Option (RFC 9768 §3.2.3) behind them, padded together.
fn raw(elements: &[TcpOptionElement], option: AccEcn) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MOST_OPTIONS as usize);
    for element in elements {
        match element {
            TcpOptionElement::Noop => bytes.push(1),
            TcpOptionElement::MaximumSegmentSize(mss) => {
                bytes.extend([2, 4]);
                bytes.extend(mss.to_be_bytes());
            }
            TcpOptionElement::WindowScale(shift) => bytes.extend([3, 3, *shift]),
            TcpOptionElement::SelectiveAcknowledgementPermitted => bytes.extend([4, 2]),
            TcpOptionElement::SelectiveAcknowledgement(first, more) => {
                let blocks: Vec<(u32, u32)> = [Some(*first)].iter().chain(more).copied().flatten().collect();
                bytes.extend([5, 2 + 8 * blocks.len() as u8]);
                for (left, right) in blocks {
                    bytes.extend(left.to_be_bytes());
                    bytes.extend(right.to_be_bytes());
                }
            }
            TcpOptionElement::Timestamp(value, echo) => {
                bytes.extend([8, 10]);
                bytes.extend(value.to_be_bytes());
                bytes.extend(echo.to_be_bytes());
            }
        }
    }
    bytes.extend(option.bytes());
    bytes.resize(bytes.len().next_multiple_of(4), 1);
    bytes
}

/// Says which flow's packets would have another size in the capture than in the run, if there is one.
#[must_use]
pub fn misfit(plan: &Plan) -> Option<String> {
    plan.flows.iter().filter(|flow| matches!(flow.transport, TransportPlan::Tcp)).find_map(|flow| {
        let needed = PLAIN_HEADERS + if flow.tcp.timestamps { TIMESTAMPS } else { 0 };
        (flow.tcp.headers != needed || flow.tcp.mss > 65_535 - PLAIN_HEADERS - MOST_OPTIONS).then(|| {
            format!(
                "flow.{}: packets have {} bytes of headers in the run and {needed} in the capture",
                flow.name, flow.tcp.headers
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Timestamps, two blocks and all three counters fit in 40 bytes, as they weigh in the run.
    #[test]
    fn the_option_for_accurate_ecn_follows_the_others() {
        let blocks = TcpOptionElement::SelectiveAcknowledgement((1, 2), [Some((3, 4)), None, None]);
        let option = AccEcn::new([1001, 0, 1], 3, 0);
        let bytes = raw(&[TcpOptionElement::Timestamp(7, 8), blocks], option);
        assert_eq!(bytes[..2], [8, 10]);
        assert_eq!(bytes[10..12], [5, 18]);
        assert_eq!(bytes[28..], [172, 11, 0, 3, 233, 0, 0, 0, 0, 0, 1, 1]);
        let sack = [(1, 2), (3, 4), (0, 0), (0, 0)];
        let segment = Segment { ts_val: 7, sack_count: 2, sack, accecn: Some(option), ..Segment::default() };
        assert_eq!(bytes.len() as u32, 12 + segment.extra_option_bytes());
        let small = AccEcn::new([1001, 0, 1], 1, 0);
        assert_eq!(raw(&[], small), [172, 5, 0, 3, 233, 1, 1, 1]);
        assert_eq!(Segment { accecn: Some(small), ..Segment::default() }.extra_option_bytes(), 8);
    }
}
