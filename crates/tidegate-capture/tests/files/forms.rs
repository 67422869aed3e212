//! Forms of pcap, and files of other programs.

use tidegate_capture::{Capture, Column, Field, read_bytes};

use crate::made::{conversation, read, u64s};

/// The conversation as a pcap file written by hand: magic number, version, order of the lengths, bytes behind each record's header.
fn by_hand(magic: u32, version: (u16, u16), big_endian: bool, swapped: bool, more: usize) -> Vec<u8> {
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut file = [word(magic), word(0)].concat();
    file.splice(4..8, [half(version.0), half(version.1)].concat());
    for value in [0, 0, 65_535, 101] {
        file.extend(word(value));
    }
    let unit = if magic == 0xa1b2_3c4d { 1_000_000 } else { 1000 };
    for (millis, packet) in conversation() {
        // The capture cut the data off.
        let there = packet.len().min(80);
        let mut lengths = [there as u32, packet.len() as u32];
        if swapped {
            lengths.reverse();
        }
        file.extend([word(1000 + millis as u32 / 1000), word(millis as u32 % 1000 * unit)].concat());
        lengths.into_iter().for_each(|length| file.extend(word(length)));
        file.extend(vec![7; more]);
        file.extend(&packet[..there]);
    }
    file
}

#[test]
fn every_version_of_pcap_that_libpcap_reads() {
    let rows = |capture: &Capture| {
        let one = &capture.connections[0];
        (u64s(one, Field::Seq), one.column(Field::Payload, 0, usize::MAX), one.times())
    };
    let usual = rows(&read(&by_hand(0xa1b2_c3d4, (2, 4), false, false, 0)));
    assert_eq!(usual.1, Column::U32(vec![0, 0, 200, 1000, 1000, 0, 0]));
    for big_endian in [false, true] {
        for (magic, version, swapped, more) in [
            (0xa1b2_c3d4, (2, 4), false, 0),
            (0xa1b2_3c4d, (2, 4), false, 0),
            (0xa1b2_cd34, (2, 4), false, 8),
            (0xa1b2_c3d4, (2, 3), false, 0),
            (0xa1b2_c3d4, (2, 3), true, 0),
            (0xa1b2_c3d4, (2, 2), true, 0),
            (0xa1b2_c3d4, (2, 1), true, 0),
            (0xa1b2_c3d4, (2, 0), true, 0),
            (0xa1b2_c3d4, (543, 0), true, 0),
        ] {
            let capture = read(&by_hand(magic, version, big_endian, swapped, more));
            assert_eq!(rows(&capture), usual, "{magic:#x} {version:?} {big_endian}");
            assert!(capture.notes.is_empty(), "{:?}", capture.notes);
        }
        for (magic, version) in [(0xa1b2_c3d4, (1, 0)), (0xa1b2_c3d4, (2, 5)), (0xa1b2_34cd, (2, 4))] {
            let wrong = read_bytes("a.pcap", &by_hand(magic, version, big_endian, false, 0)).unwrap_err();
            assert!(wrong.to_string().contains("that libpcap does not read"), "{wrong}");
        }
    }
}

#[test]
fn captures_of_other_programs_are_named_with_a_cure() {
    for (bytes, name, told) in [
        (&b"snoop\0\0\0\0\0\0\x02\0\0\0\x04"[..], "a.snoop", "snoop"),
        (b"GMBU\0\x02\x01\0", "a.cap", "Network Monitor 2"),
        (&[0; 24], "dag.erf", "ERF"),
    ] {
        let wrong = read_bytes(name, bytes).unwrap_err().to_string();
        assert!(wrong.contains(told) && wrong.contains("editcap -F pcap"), "{wrong}");
    }
}

/// The conversation in pcapng, with the interface's `if_tsresol` and `if_tsoffset`, its times counted in so many units a second.
fn with_clock(resolution: u8, offset: i64, units: u128, big_endian: bool) -> Vec<u8> {
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let long = |value: i64| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let block = |kind: u32, mut body: Vec<u8>| {
        body.resize(body.len().next_multiple_of(4), 0);
        let size = word(body.len() as u32 + 12);
        [&word(kind)[..], &size, &body, &size].concat()
    };
    let header = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &long(-1)].concat();
    let mut about = [&half(101)[..], &half(0), &word(0)].concat();
    about.extend([&half(9)[..], &half(1), &[resolution, 0, 0, 0]].concat());
    about.extend([&half(14)[..], &half(8), &long(offset), &half(0), &half(0)].concat());
    let mut file = [block(0x0a0d_0d0a, header), block(1, about)].concat();
    for (millis, packet) in conversation() {
        let ticks = (1_000_000 + u128::from(millis)) * units / 1000;
        let length = word(packet.len() as u32);
        let mut body = [word(0), word((ticks >> 32) as u32), word(ticks as u32), length, length].concat();
        body.extend(packet);
        file.extend(block(6, body));
    }
    file
}

#[test]
fn times_of_pcapng_are_read_in_every_resolution() {
    for big_endian in [false, true] {
        for (resolution, units) in
            (3..=16).map(|n| (n, 10_u128.pow(n.into()))).chain((0..=53).map(|n| (0x80 | n, 1 << n)))
        {
            let capture = read(&with_clock(resolution, -400, units, big_endian));
            assert!(capture.notes.is_empty(), "{:?}", capture.notes);
            assert_eq!(capture.starts, [Some(600_000_000_000)], "{resolution:#x}");
            // A time is rounded down to its unit, and that to a nanosecond.
            let expected = conversation().into_iter().map(|(millis, _)| {
                let ticks = (1_000_000 + u128::from(millis)) * units / 1000;
                (ticks * 1_000_000_000 / units) as i64 - 1_000_000_000_000
            });
            let expected = Column::I64(expected.collect());
            let found = capture.connections[0].column(Field::Time, 0, usize::MAX);
            assert_eq!(found, expected, "{resolution:#x} {big_endian}");
        }
    }
}

#[test]
fn a_resolution_that_64_bits_do_not_hold_is_named() {
    for (resolution, unit) in
        [(20, "10^-20 s"), (127, "10^-127 s"), (0x80 | 64, "2^-64 s"), (0xff, "2^-127 s")]
    {
        let capture = read(&with_clock(resolution, 0, 1000, false));
        let said = format!(
            "the file counts time in units of {unit}, of which 64 bits do not hold a second: packets of that \
             interface have no time"
        );
        assert!(capture.connections.is_empty());
        assert_eq!(capture.notes, ["7 packets without a time: left out".to_owned(), said]);
    }
}
