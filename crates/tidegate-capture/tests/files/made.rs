//! Captures made for tests: a conversation of seven packets.

use std::time::Duration;

use etherparse::{PacketBuilder, TcpOptionElement};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, TsResolution};
use tidegate_capture::{Capture, Column, Connection, Field, read_bytes};

pub(crate) const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 1], 40_000);
pub(crate) const SERVER: ([u8; 4], u16) = ([10, 0, 0, 2], 443);

/// What is written of a packet: flags as letters of "SAF".
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    from_client: bool,
    seq: u32,
    ack: u32,
    flags: &'a str,
    payload: usize,
}

pub(crate) fn told(from_client: bool, seq: u32, ack: u32, flags: &str, payload: usize) -> Told<'_> {
    Told { from_client, seq, ack, flags, payload }
}

pub(crate) fn bytes_of(packet: &Told<'_>, options: &[TcpOptionElement]) -> Vec<u8> {
    let (from, to) = if packet.from_client { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    let mut builder = PacketBuilder::ipv4(from.0, to.0, 64).tcp(from.1, to.1, packet.seq, 1000);
    for flag in packet.flags.chars() {
        builder = match flag {
            'S' => builder.syn(),
            'A' => builder.ack(packet.ack),
            _ => builder.fin(),
        };
    }
    let builder = builder.options(options).expect("options that fit");
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &vec![0; packet.payload]).expect("a packet");
    bytes
}

pub(crate) fn file(
    packets: &[(u64, Vec<u8>)],
    link: DataLink,
    endianness: Endianness,
    nanos: bool,
) -> Vec<u8> {
    let ts_resolution = if nanos { TsResolution::NanoSecond } else { TsResolution::MicroSecond };
    let header = PcapHeader { datalink: link, endianness, ts_resolution, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).expect("a header");
    for (millis, bytes) in packets {
        let at = Duration::from_millis(1_000_000 + millis);
        writer.write_packet(&PcapPacket::new(at, bytes.len() as u32, bytes)).expect("a packet");
    }
    writer.into_writer()
}

pub(crate) fn raw(packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    file(packets, DataLink::RAW, Endianness::Little, true)
}

pub(crate) fn conversation() -> Vec<(u64, Vec<u8>)> {
    let syn = [
        TcpOptionElement::MaximumSegmentSize(1460),
        TcpOptionElement::SelectiveAcknowledgementPermitted,
        TcpOptionElement::WindowScale(7),
    ];
    let block = TcpOptionElement::SelectiveAcknowledgement((1101, 2101), [None; 3]);
    let near = u32::MAX - 99;
    vec![
        (0, bytes_of(&told(true, 5000, 0, "S", 0), &syn)),
        (20, bytes_of(&told(false, near, 5001, "SA", 0), &syn)),
        (21, bytes_of(&told(true, 5001, near + 1, "A", 200), &[])),
        (40, bytes_of(&told(false, near + 1, 5201, "A", 1000), &[])),
        (41, bytes_of(&told(false, 901, 5201, "A", 1000), &[])),
        (60, bytes_of(&told(true, 5201, near + 1, "A", 0), &[block])),
        (80, bytes_of(&told(true, 5201, 1901, "FA", 0), &[])),
    ]
}

pub(crate) fn read(bytes: &[u8]) -> Capture {
    read_bytes("test.pcap", bytes).expect("a capture")
}

pub(crate) fn u64s(connection: &Connection, field: Field) -> Vec<u64> {
    match connection.column(field, 0, usize::MAX) {
        Column::U64(values) => values,
        other => panic!("{other:?}"),
    }
}
