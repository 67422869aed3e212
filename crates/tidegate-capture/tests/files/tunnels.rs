//! TCP inside tunnels.

use etherparse::PacketBuilder;
use pcap_file::{DataLink, Endianness};
use tidegate_capture::{Capture, Field};

use crate::made::{conversation, file, raw, read};

/// An IPv4 packet of this protocol from a host to another, with such bytes inside.
fn outer(protocol: u8, inside: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64);
    builder.write(&mut bytes, protocol.into(), inside).expect("a packet");
    bytes
}

fn udp(port: u16, inside: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64).udp(50_000, port);
    builder.write(&mut bytes, inside).expect("a packet");
    bytes
}

/// Of each tunnel, the connection inside is that without it, but that nothing is known of the outer packet.
#[test]
fn tcp_in_tunnels_is_that_without_them() {
    type Wrap = fn(&[u8]) -> Vec<u8>;
    const FRAME: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let plain = read(&raw(&conversation()));
    let wraps: [(&str, Wrap); 8] = [
        ("VXLAN", |bytes| udp(4789, &[&[8, 0, 0, 0, 0, 0, 9, 0], &FRAME[..], bytes].concat())),
        ("Geneve", |bytes| {
            udp(6081, &[&[1, 0, 0x65, 0x58, 0, 0, 9, 0][..], &[0; 4], &FRAME[..], bytes].concat())
        }),
        ("GTP-U", |bytes| udp(2152, &[&[0x30, 255, 0, 0, 0, 0, 0, 1], bytes].concat())),
        ("GRE", |bytes| outer(47, &[&[0x20, 0, 8, 0, 0, 0, 0, 7], bytes].concat())),
        ("GRE", |bytes| outer(47, &[&[0, 0, 0x88, 0x47, 0, 1, 1, 64], bytes].concat())),
        ("IP in IP", |bytes| outer(4, bytes)),
        // One in the other: the outer one is named.
        ("GRE", |bytes| outer(47, &[&[0, 0, 8, 0][..], &outer(4, bytes)].concat())),
        ("VXLAN", |bytes| {
            let gtp = udp(2152, &[&[0x30, 255, 0, 0, 0, 0, 0, 1], bytes].concat());
            udp(4789, &[&[8, 0, 0, 0, 0, 0, 9, 0], &FRAME[..], &gtp].concat())
        }),
    ];
    for (name, wrap) in wraps {
        let packets: Vec<_> = conversation().into_iter().map(|(at, bytes)| (at, wrap(&bytes))).collect();
        let capture = read(&raw(&packets));
        assert_eq!(capture.connections.len(), 1, "{name}");
        // The length of the frame is that of the whole frame.
        for field in Field::ALL.into_iter().filter(|field| *field != Field::Wire) {
            let of = |some: &Capture| some.connections[0].column(field, 0, usize::MAX);
            assert_eq!(of(&capture), of(&plain), "{name} {}", field.name());
        }
        assert_eq!(
            capture.notes,
            [format!("7 packets of TCP inside {name}: read, with the lengths of the packets inside")]
        );
        assert!(capture.traffic.is_empty());
    }
}

/// Behind labels of MPLS the packet is read as behind tags of VLANs.
#[test]
fn tcp_behind_labels_is_read() {
    let labels =
        [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0x47][..], &[0, 1, 0, 64, 0, 2, 1, 64]].concat();
    let packets: Vec<_> =
        conversation().into_iter().map(|(at, bytes)| (at, [&labels[..], &bytes].concat())).collect();
    let capture = read(&file(&packets, DataLink::ETHERNET, Endianness::Big, false));
    assert_eq!((capture.connections.len(), capture.tcp_packets), (1, 7));
    assert!(capture.notes.is_empty(), "{:?}", capture.notes);
}

/// Teredo carries IPv6. What cannot be read in a tunnel, and what is no TCP there, is traffic of UDP as before.
#[test]
fn what_is_no_tcp_in_a_tunnel_is_counted() {
    let mut six = Vec::new();
    let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).tcp(40_000, 443, 1, 1000);
    builder.write(&mut six, &[0; 100]).expect("a packet");
    let packets = vec![
        (0, udp(3544, &six)),
        (1, udp(4789, &[8, 0, 0, 0, 0, 0, 9, 0])),
        (2, udp(2152, &[&[0x30, 255, 0, 0, 0, 0, 0, 1][..], &outer(1, &[8; 8])].concat())),
        (3, udp(6081, &[0, 0x80, 8, 0, 0, 0, 9, 0])),
        (4, outer(47, &[0x40, 0, 8, 0, 0, 0, 0, 0])),
    ];
    let capture = read(&raw(&packets));
    assert_eq!((capture.connections.len(), capture.tcp_packets, capture.packets), (1, 1, 5));
    let told = capture.notes.join("\n");
    for note in [
        "3 packets of UDP: counted as traffic",
        "1 packet of TCP inside Teredo: read",
        "1 packet of VXLAN whose inside cannot be read",
        "1 packet of Geneve whose inside cannot be read",
        "1 packet of GRE without TCP that can be read: left out",
    ] {
        assert!(told.contains(note), "{note}: {told}");
    }
    assert!(!told.contains("GTP-U"), "an echo request in it is no TCP, and nothing is unread: {told}");
}
