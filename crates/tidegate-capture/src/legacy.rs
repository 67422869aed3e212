//! The frames of a pcap file, in every form that libpcap reads (libpcap's `sf-pcap.c`, pcap-savefile(5)).
//!
//! A file is a header of 24 bytes and records, all in the byte order of the machine that wrote it. A record has a time, the bytes that are
//! there, the bytes that there were, and in Kuznetzov's form eight bytes more. Versions before 2.3, and 543.0 of DG/UX, have these two
//! lengths the other way round; of 2.3 both orders are found, and the greater one is what there was.

use std::io::Read;

use crate::frame::{End, Frame, MOST};
use crate::source::{Source, Trouble};

/// Bytes of the file's header.
const HEADER: usize = 24;
/// Bytes of a record's header.
const RECORD: usize = 16;
/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// The order of the two lengths of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lengths {
    /// What is there, then what there was.
    Usual,
    /// What there was, then what is there.
    Swapped,
    /// Either.
    Unknown,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    big_endian: bool,
    /// Nanoseconds of a unit of time below the second.
    unit: i64,
    /// Bytes of a record's header beyond the usual 16.
    more: usize,
    lengths: Lengths,
}

impl Form {
    /// By the first eight bytes: the magic number, and the version. `None`: libpcap reads no such file.
    pub(crate) fn of(first: &[u8]) -> Option<Form> {
        let [a, b, c, d, rest @ ..] = first else { return None };
        let (big_endian, magic) = match u32::from_le_bytes([*a, *b, *c, *d]) {
            magic @ (0xa1b2_c3d4 | 0xa1b2_3c4d | 0xa1b2_cd34) => (false, magic),
            magic => (true, magic.swap_bytes()),
        };
        let (unit, more) = match magic {
            0xa1b2_c3d4 => (1000, 0),
            0xa1b2_3c4d => (1, 0),
            // Kuznetzov's: interface, protocol and kind of each packet.
            0xa1b2_cd34 => (1000, 8),
            _ => return None,
        };
        let form = Form { big_endian, unit, more, lengths: Lengths::Usual };
        // A file that ends within its version is a file all the same.
        let [e, f, g, h, ..] = rest else { return Some(form) };
        let lengths = match (form.half([*e, *f]), form.half([*g, *h])) {
            (2, 0..=2) | (543, 0) => Lengths::Swapped,
            (2, 3) => Lengths::Unknown,
            (2, 4) => Lengths::Usual,
            _ => return None,
        };
        Some(Form { lengths, ..form })
    }

    fn half(&self, bytes: [u8; 2]) -> u16 {
        if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// The number with so many others before it.
    fn word(&self, bytes: &[u8], place: usize) -> u32 {
        let four = bytes[4 * place..].first_chunk().copied().unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    }

    /// What is there of a record, and what there was.
    fn lengths(&self, header: &[u8]) -> (u32, u32) {
        let (first, second) = (self.word(header, 2), self.word(header, 3));
        match self.lengths {
            Lengths::Swapped => (second, first),
            Lengths::Unknown => (first.min(second), first.max(second)),
            Lengths::Usual => (first, second.max(first)),
        }
    }
}

/// Reads frame by frame; `each` says whether to go on.
pub(crate) fn read(
    mut source: Source<'_>,
    form: Form,
    trouble: &Trouble,
    mut each: impl FnMut(Frame<'_>) -> bool,
) -> End {
    let mut header = [0; HEADER];
    match fill(&mut source, &mut header) {
        Ok(HEADER) => {}
        Ok(_) => return End::CutHeader,
        Err(end) => return end,
    }
    // The upper bits speak of a checksum at the frame's end.
    let link = (form.word(&header, 5) & 0xffff) as i32;
    let mut bytes = Vec::new();
    loop {
        let head = &mut header[..RECORD + form.more];
        match fill(&mut source, head) {
            Ok(0) if trouble.is_there() => return End::Cut,
            Ok(0) => return End::Whole,
            Ok(read) if read < head.len() => return End::Cut,
            Ok(_) => {}
            Err(end) => return end,
        }
        let (there, original) = form.lengths(head);
        if there as usize > MOST {
            return End::Damaged;
        }
        bytes.clear();
        match source.by_ref().take(u64::from(there)).read_to_end(&mut bytes) {
            Ok(read) if read < there as usize => return End::Cut,
            Ok(_) => {}
            Err(_) => return End::Damaged,
        }
        let below = i64::from(form.word(head, 1)) * form.unit;
        let time = i64::from(form.word(head, 0)) * SECOND + below;
        if !each(Frame { time: Some(time), link, bytes: &bytes, original: original.max(there) }) {
            return End::Stopped;
        }
    }
}

/// Fills the room as far as the file goes, and answers with how far that was.
fn fill(source: &mut Source<'_>, room: &mut [u8]) -> Result<usize, End> {
    let mut filled = 0;
    while filled < room.len() {
        match source.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(_) => return Err(End::Damaged),
        }
    }
    Ok(filled)
}
