//! The reader of captures: any bytes give the packets of connections, or one clear message.

use tidegate_capture::{Capture, Column, Field, read_bytes};

/// Captures of the first packets of a transfer: pcap, the same packed, pcapng, an old form of pcap, and each packet in a tunnel of its own.
pub const SEEDS: &[&[u8]] = &[
    include_bytes!("../seeds/capture/small.pcap"),
    include_bytes!("../seeds/capture/small.pcap.gz"),
    include_bytes!("../seeds/capture/small.pcapng"),
    include_bytes!("../seeds/capture/old.pcap"),
    include_bytes!("../seeds/capture/tunnels.pcap"),
];

/// Reads, checks, and reads again.
pub fn run(data: &[u8]) {
    match read_bytes("t", data) {
        Ok(capture) => {
            check(&capture);
            let again = read_bytes("t", data).expect("it was read before");
            assert_eq!(again.notes, capture.notes);
            assert_eq!(again.packets, capture.packets);
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("t: ") && !message.contains('\n'), "{message}");
        }
    }
}

/// What every capture promises.
fn check(capture: &Capture) {
    for note in &capture.notes {
        assert!(!note.is_empty() && !note.contains('\n'), "{note:?}");
    }
    let mut packets = 0;
    for connection in &capture.connections {
        packets += connection.packets() as u64;
        let blocks = length(&connection.column(Field::SackLeft, 0, usize::MAX));
        for field in Field::ALL {
            let wanted = match field {
                Field::SackFirst => connection.packets() + 1,
                Field::SackLeft | Field::SackRight => blocks,
                _ => connection.packets(),
            };
            assert_eq!(length(&connection.column(field, 0, usize::MAX)), wanted, "{}", field.name());
        }
        let Column::U64(first) = connection.column(Field::SackFirst, 0, usize::MAX) else {
            panic!("a column of counts")
        };
        assert!(first.is_sorted());
        assert_eq!(first.last().map(|last| *last as usize), Some(blocks));
        // A column of the first packets is the beginning of the whole one.
        let some = connection.packets() / 2;
        let Column::U64(begun) = connection.column(Field::SackFirst, 0, some) else {
            panic!("a column of counts")
        };
        assert_eq!(begun, first[..=some]);
        let (begin, end) = connection.times();
        assert!(begin <= end, "{begin} {end}");
    }
    for (file, traffic) in &capture.traffic {
        assert_eq!(*file, 0);
        packets += traffic.packets;
        assert_eq!(traffic.packets().map(|(_, bytes)| u64::from(bytes)).sum::<u64>(), traffic.bytes);
    }
    assert!(packets <= capture.packets, "{packets} of {}", capture.packets);
}

fn length(column: &Column) -> usize {
    match column {
        Column::Bool(values) => values.len(),
        Column::U8(values) => values.len(),
        Column::U16(values) => values.len(),
        Column::U32(values) => values.len(),
        Column::U64(values) => values.len(),
        Column::I64(values) => values.len(),
    }
}
