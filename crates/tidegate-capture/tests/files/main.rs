//! Whole files, whole and broken: what is read of them, and what is said.

mod forms;
mod made;
mod tunnels;

use std::io::Write;

use etherparse::PacketBuilder;
use pcap_file::pcap::{PcapHeader, PcapWriter};
use pcap_file::{DataLink, Endianness};
use tidegate_capture::{
    Capture, CaptureError, Column, Connection, Field, MOST_CONNECTIONS, Side, Watch, read_bytes, read_first,
};

use made::{SERVER, bytes_of, conversation, file, raw, read, told, u64s};

#[test]
fn a_conversation_comes_back_whatever_the_byte_order() {
    for (endianness, nanos) in [
        (Endianness::Little, true),
        (Endianness::Little, false),
        (Endianness::Big, true),
        (Endianness::Big, false),
    ] {
        let capture = read(&file(&conversation(), DataLink::RAW, endianness, nanos));
        assert_eq!((capture.connections.len(), capture.notes.len()), (1, 0));
        let connection = &capture.connections[0];
        let client = connection.host(Side::Client);
        assert_eq!(client.address.to_string(), "10.0.0.1:40000");
        assert_eq!((client.scale, client.mss, client.opened), (Some(7), Some(1460), true));
        // Without wrap, from the SYN on.
        assert_eq!(u64s(connection, Field::Seq), [0, 0, 1, 1, 1001, 201, 201]);
        assert_eq!(u64s(connection, Field::Ack), [0, 1, 1, 201, 201, 1, 2001]);
        assert_eq!(u64s(connection, Field::SackFirst), [0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(u64s(connection, Field::SackLeft), [1201]);
        // A SYN's window is not scaled.
        assert_eq!(
            u64s(connection, Field::Window),
            [1000, 1000, 128_000, 128_000, 128_000, 128_000, 128_000]
        );
        let millis = [0, 20, 21, 40, 41, 60, 80].map(|each| each * 1_000_000);
        assert_eq!(connection.column(Field::Time, 0, usize::MAX), Column::I64(millis.to_vec()));
        assert_eq!(
            connection.column(Field::Payload, 0, usize::MAX),
            Column::U32(vec![0, 0, 200, 1000, 1000, 0, 0])
        );
    }
}

#[test]
fn the_first_packets_are_cut_at_one_instant() {
    let capture = read(&file(&conversation(), DataLink::RAW, Endianness::Little, true));
    let whole = capture.first(7);
    assert_eq!((whole.until, whole.rows), (None, vec![7]));
    let part = capture.first(4);
    // The packets of 0, 20, 21 and 40 ms; the next has 41.
    assert_eq!(part.rows, [4]);
    assert!((40_000_000..=41_000_000).contains(&part.until.expect("a cut")));
    assert_eq!(capture.connections[0].column(Field::Payload, 0, 4), Column::U32(vec![0, 0, 200, 1000]));
}

#[test]
fn packed_files_are_unpacked() {
    let plain = raw(&conversation());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&plain).unwrap();
    let zstd = ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Fastest);
    for bytes in [
        gzip.finish().unwrap(),
        zstd.clone(),
        [zstd, vec![0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]].concat(),
    ] {
        let capture = read(&bytes);
        assert_eq!((capture.packets, capture.notes.len()), (7, 0), "{:?}", capture.notes);
    }
}

#[test]
fn a_packed_file_that_ends_early_says_so() {
    let mut packets = conversation();
    for _ in 0..7 {
        packets.extend(packets.clone());
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all(&raw(&packets)).unwrap();
    let bytes = gzip.finish().unwrap();
    let capture = read(&bytes[..bytes.len() / 2]);
    assert!(capture.packets > 100);
    assert!(
        capture.notes.iter().any(|note| note.starts_with("its gzip data end early")),
        "{:?}",
        capture.notes
    );
}

#[test]
fn a_file_cut_anywhere_is_read_as_far_as_it_goes() {
    let whole = raw(&conversation());
    for length in 24..whole.len() {
        let capture = read(&whole[..length]);
        let kept = capture.packets;
        let said = format!("the file ends in the middle of packet {}", kept + 1);
        let exact = [24, 24 + 16 + conversation()[0].1.len()].contains(&length) && kept < 2;
        assert!(exact || capture.notes.contains(&said) || kept > 0, "{length}: {:?}", capture.notes);
    }
    assert_eq!(read(&whole[..whole.len() - 1]).notes, ["the file ends in the middle of packet 7"]);
    assert!(read(&whole[..24]).notes.contains(&"the file has no packets".to_owned()));
    for length in 1..24 {
        let short = match read_bytes("a.pcap", &whole[..length]) {
            Ok(capture) => capture.notes,
            // Less than its magic number names no file.
            Err(_) => {
                assert!(length < 4);
                continue;
            }
        };
        assert_eq!(short, ["the file ends inside its header", "the file has no packets"], "{length}");
    }
}

#[test]
fn what_is_no_capture_is_refused_in_one_sentence() {
    assert!(matches!(read_bytes("a", b""), Err(CaptureError::Empty { .. })));
    let wrong = read_bytes("notes.txt", b"hello, this is text").unwrap_err().to_string();
    assert!(
        wrong.starts_with("notes.txt: this is not a capture: it begins with the text \"hello"),
        "{wrong}"
    );
    assert!(matches!(read_bytes("a", &[0x1f, 0x8b, 1]), Err(CaptureError::Io { .. })));
}

#[test]
fn a_syn_with_another_number_opens_another_connection() {
    let mut packets = conversation();
    packets.push((100, bytes_of(&told(true, 5000, 0, "S", 0), &[])));
    packets.push((200, bytes_of(&told(true, 99_000, 0, "S", 0), &[])));
    packets.push((220, bytes_of(&told(false, 7, 99_001, "SA", 0), &[])));
    let capture = read(&raw(&packets));
    let rows: Vec<usize> = capture.connections.iter().map(Connection::packets).collect();
    assert_eq!(rows, [8, 2]);
}

#[test]
fn one_direction_without_a_beginning_counts_from_its_lowest_number() {
    let packets: Vec<_> = conversation().into_iter().skip(4).filter(|packet| packet.0 >= 60).collect();
    let capture = read(&raw(&packets));
    let connection = &capture.connections[0];
    assert_eq!(connection.host(Side::Client).address.port(), 40_000);
    assert!(!connection.host(Side::Client).opened);
    assert_eq!(connection.host(Side::Client).scale, None);
    assert_eq!(u64s(connection, Field::Ack), [0, 2000]);
    // The block lies above the ACK, and 900 behind the wrap is below what was acknowledged later.
    assert_eq!(u64s(connection, Field::SackLeft), [1200]);
}

#[test]
fn a_snap_length_leaves_the_numbers_and_says_what_is_gone() {
    let header = PcapHeader { datalink: DataLink::RAW, snaplen: 40, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for (millis, bytes) in conversation() {
        let raw = pcap_file::pcap::RawPcapPacket {
            ts_sec: 1000,
            ts_frac: millis as u32 * 1000,
            incl_len: 40,
            orig_len: bytes.len() as u32,
            data: bytes[..40].to_vec().into(),
        };
        writer.write_raw_packet(&raw).unwrap();
    }
    let capture = read(&writer.into_writer());
    let connection = &capture.connections[0];
    assert_eq!(capture.notes, ["3 packets whose TCP options are cut off by the snap length"]);
    assert_eq!(connection.cut_packets(), 3);
    assert_eq!(
        connection.column(Field::Payload, 0, usize::MAX),
        Column::U32(vec![0, 0, 200, 1000, 1000, 0, 0])
    );
    assert_eq!(connection.host(Side::Server).scale, None);
}

#[test]
fn super_segments_wrong_checksums_and_times_out_of_order_are_kept() {
    let mut packets = conversation();
    packets.truncate(3);
    let mut big = bytes_of(&told(false, u32::MAX - 98, 5201, "A", 14_600), &[]);
    big[36] ^= 0xff;
    big[10] ^= 0xff;
    packets.push((10, big));
    let capture = read(&raw(&packets));
    assert_eq!(capture.connections[0].host(Side::Server).super_segments, 1);
    assert_eq!(capture.connections[0].host(Side::Server).largest, 14_600);
    assert_eq!(capture.notes.len(), 2, "{:?}", capture.notes);
    assert!(capture.notes[0].starts_with("1 packet with a time before that of the packet in front of it"));
}

#[test]
fn what_is_not_tcp_is_counted() {
    let mut udp = Vec::new();
    PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(5004, 5006).write(&mut udp, &[0; 100]).unwrap();
    let mut icmp = Vec::new();
    let echo = PacketBuilder::ipv4([1; 4], [2; 4], 64).icmpv4_echo_request(1, 1);
    echo.write(&mut icmp, &[]).unwrap();
    let mut fragment = bytes_of(&told(true, 1, 1, "A", 64), &[]);
    fragment[6] |= 0x20;
    let capture = read(&raw(&[(0, udp.clone()), (5, udp), (6, icmp), (7, fragment), (8, vec![0x45, 0])]));
    assert!(capture.connections.is_empty());
    let traffic = &capture.traffic[0].1;
    assert_eq!((traffic.packets, traffic.bytes), (2, 296));
    assert_eq!(traffic.packets().collect::<Vec<_>>(), [(0, 148), (5_000_000, 148)]);
    assert_eq!(
        capture.notes,
        [
            "2 packets of UDP: counted as traffic",
            "1 packet of ICMP: left out",
            "1 packet in pieces of IP (fragments): left out",
            "1 packet whose headers are cut off or damaged: left out",
        ]
    );
}

#[test]
fn a_length_written_as_zero_is_that_of_the_frame() {
    let mut packets = conversation();
    packets[3].1[2..4].copy_from_slice(&[0, 0]);
    let capture = read(&raw(&packets));
    assert_eq!(
        capture.connections[0].column(Field::Payload, 0, usize::MAX),
        Column::U32(vec![0, 0, 200, 1000, 1000, 0, 0])
    );
}

#[test]
fn more_connections_than_are_kept_are_refused_with_a_cure() {
    let one = |number: usize| {
        let from = [10, 1, (number >> 14) as u8, 1];
        let builder = PacketBuilder::ipv4(from, SERVER.0, 64).tcp((number & 0x3fff) as u16, 80, 1, 1000);
        let mut bytes = Vec::new();
        builder.write(&mut bytes, &[0; 8]).expect("a packet");
        (0, bytes)
    };
    let mut packets: Vec<_> = (0..MOST_CONNECTIONS).map(one).collect();
    assert_eq!(read(&raw(&packets)).connections.len(), MOST_CONNECTIONS);
    packets.push(one(MOST_CONNECTIONS));
    let wrong = read_bytes("many.pcap", &raw(&packets)).unwrap_err().to_string();
    assert!(wrong.contains("more than 100000 connections"), "{wrong}");
    assert!(wrong.contains("filter"), "{wrong}");
}

#[test]
fn of_a_long_capture_the_first_packets_are_kept_and_all_are_counted() {
    let path = std::env::temp_dir().join(format!("tidegate-first-{}.pcap", std::process::id()));
    std::fs::write(&path, raw(&conversation())).expect("a file");
    let found = read_first(&[&path], 3, &Watch::default()).expect("a capture");
    std::fs::remove_file(&path).expect("it was there");
    let whole = read(&raw(&conversation()));
    assert_eq!((found.connections[0].packets(), found.tcp_packets), (3, 7));
    assert_eq!(whole.connections[0].packets(), 7);
    let payload = |capture: &Capture| capture.connections[0].host(Side::Server).payload;
    assert_eq!(payload(&found), payload(&whole));
    assert_eq!(u64s(&found.connections[0], Field::Seq), u64s(&whole.connections[0], Field::Seq)[..3]);
}
