//! What an end has sent of its user bytes, and what has come of the other's: read from the frames of its packets (RFC 9000 §19), which are as they are under a key that hides
//! nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// What an end has sent of its streams.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// By stream, where the bytes end that have been sent.
    ends: Mutex<BTreeMap<u64, u64>>,
    bytes: AtomicU64,
    carried: AtomicU64,
    again: AtomicU64,
}

impl Sent {
    /// Bytes of all streams, each counted when it is first sent.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// User bytes in all packets, first or again: of streams, and datagrams.
    pub(crate) fn carried(&self) -> u64 {
        self.carried.load(Relaxed)
    }

    /// Packets with user bytes, none of them for the first time.
    pub(crate) fn again(&self) -> u64 {
        self.again.load(Relaxed)
    }

    /// A packet with these frames is sent.
    pub(crate) fn note(&self, frames: &[u8]) {
        let mut rest = frames;
        let (mut brought, mut new) = (false, false);
        while let Some((frame, behind)) = read(rest) {
            rest = behind;
            let Some(Data { stream, bytes }) = frame.filter(|data| data.bytes > 0) else { continue };
            self.carried.fetch_add(bytes, Relaxed);
            brought = true;
            let Some((id, end)) = stream else {
                new = true;
                continue;
            };
            let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
            let sent = ends.entry(id).or_default();
            if end > *sent {
                self.bytes.fetch_add((end - *sent).min(bytes), Relaxed);
                *sent = end;
                new = true;
            }
        }
        self.again.fetch_add(u64::from(brought && !new), Relaxed);
    }
}

/// What has come to an end of the streams and datagrams of the other.
#[derive(Debug, Default)]
pub(crate) struct Came {
    /// By stream, what has come: pieces that do not touch, from where to where.
    pieces: Mutex<BTreeMap<u64, BTreeMap<u64, u64>>>,
    bytes: AtomicU64,
    duplicates: AtomicU64,
}

impl Came {
    /// Bytes, each counted when it first comes, in order or not.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Packets that brought user bytes, none of them for the first time: what was sent again without need.
    pub(crate) fn duplicates(&self) -> u64 {
        self.duplicates.load(Relaxed)
    }

    /// A packet with these frames comes.
    pub(crate) fn note(&self, frames: &[u8]) {
        let mut rest = frames;
        let (mut brought, mut new_in_all) = (0, 0);
        while let Some((frame, behind)) = read(rest) {
            rest = behind;
            let Some(Data { stream, bytes }) = frame else { continue };
            let new = match stream {
                None => bytes,
                Some((id, end)) => {
                    let mut all = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
                    add(all.entry(id).or_default(), end - bytes, end)
                }
            };
            brought += bytes;
            new_in_all += new;
        }
        self.bytes.fetch_add(new_in_all, Relaxed);
        self.duplicates.fetch_add(u64::from(brought > 0 && new_in_all == 0), Relaxed);
    }
}

/// Adds a piece to others: the bytes that were in none.
fn add(pieces: &mut BTreeMap<u64, u64>, mut start: u64, mut end: u64) -> u64 {
    let mut new = end - start;
    // The pieces that it touches: those that begin in it, and the one before.
    while let Some((&left, &right)) = pieces.range(..=end).next_back().filter(|(_, right)| **right >= start) {
        new -= right.min(end).saturating_sub(left.max(start));
        (start, end) = (start.min(left), end.max(right));
        pieces.remove(&left);
    }
    pieces.insert(start, end);
    new
}

/// User bytes in a packet.
struct Data {
    /// Of a stream: which, and where they end in it. A datagram is sent once.
    stream: Option<(u64, u64)>,
    bytes: u64,
}

impl Data {
    fn datagram(bytes: u64) -> Data {
        Data { stream: None, bytes }
    }
}

/// The first frame, if it has user bytes, and what is behind it; `None`: there is none, or one that QUIC does not have.
fn read(frames: &[u8]) -> Option<(Option<Data>, &[u8])> {
    let (kind, rest) = integer(frames)?;
    let skip = |integers: usize| (0..integers).try_fold(rest, |rest, _| Some(integer(rest)?.1));
    let behind = match kind {
        // PADDING, PING, HANDSHAKE_DONE; IMMEDIATE_ACK of draft-ietf-quic-ack-frequency.
        0x00 | 0x01 | 0x1e | 0x1f => rest,
        0x02 | 0x03 => acknowledgement(rest, kind == 0x03)?,
        // RESET_STREAM.
        0x04 => skip(3)?,
        // STOP_SENDING, MAX_STREAM_DATA, STREAM_DATA_BLOCKED.
        0x05 | 0x11 | 0x15 => skip(2)?,
        // CRYPTO.
        0x06 => behind_block(skip(1)?)?,
        // NEW_TOKEN.
        0x07 => behind_block(rest)?,
        0x08..=0x0f => return stream(kind, rest).map(|(data, behind)| (Some(data), behind)),
        // MAX_DATA, MAX_STREAMS, DATA_BLOCKED, STREAMS_BLOCKED, RETIRE_CONNECTION_ID.
        0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => skip(1)?,
        // NEW_CONNECTION_ID: two numbers, an ID with its length in a byte, and a token of 16 bytes.
        0x18 => {
            let id = skip(2)?;
            id.get(1 + usize::from(*id.first()?) + 16..)?
        }
        // PATH_CHALLENGE, PATH_RESPONSE.
        0x1a | 0x1b => rest.get(8..)?,
        // DATAGRAM (RFC 9221), to the end of the packet, and with its length.
        0x30 => return Some((Some(Data::datagram(rest.len() as u64)), &[])),
        0x31 => {
            let behind = behind_block(rest)?;
            let (bytes, _) = integer(rest)?;
            return Some((Some(Data::datagram(bytes)), behind));
        }
        // ACK_FREQUENCY (draft-ietf-quic-ack-frequency).
        0xaf => skip(4)?,
        _ => return None,
    };
    Some((None, behind))
}

/// What is behind a length and so many bytes.
fn behind_block(bytes: &[u8]) -> Option<&[u8]> {
    let (len, rest) = integer(bytes)?;
    rest.get(usize::try_from(len).ok()?..)
}

/// ACK (RFC 9000 §19.3), behind its type.
fn acknowledgement(rest: &[u8], with_ecn: bool) -> Option<&[u8]> {
    let (_largest, rest) = integer(rest)?;
    let (_delay, rest) = integer(rest)?;
    let (ranges, rest) = integer(rest)?;
    let integers = 1 + ranges * 2 + if with_ecn { 3 } else { 0 };
    (0..integers).try_fold(rest, |rest, _| Some(integer(rest)?.1))
}

/// STREAM (RFC 9000 §19.8), behind its type.
fn stream(kind: u64, rest: &[u8]) -> Option<(Data, &[u8])> {
    let (id, rest) = integer(rest)?;
    let (offset, rest) = if kind & 0x04 != 0 { integer(rest)? } else { (0, rest) };
    let (bytes, rest) = if kind & 0x02 != 0 { integer(rest)? } else { (rest.len() as u64, rest) };
    let behind = rest.get(usize::try_from(bytes).ok()?..)?;
    Some((Data { stream: Some((id, offset.checked_add(bytes)?)), bytes }, behind))
}

/// A number of variable length (RFC 9000 §16), and what is behind it.
fn integer(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let first = *bytes.first()?;
    let len = 1 << (first >> 6);
    let (number, rest) = bytes.split_at_checked(len)?;
    let value = number[1..].iter().fold(u64::from(first & 0x3f), |value, byte| value << 8 | u64::from(*byte));
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Came, Sent, add, integer};

    #[test]
    fn numbers_are_those_of_the_specification() {
        // RFC 9000 §A.1.
        let of = |bytes: &[u8]| integer(bytes).map(|(value, _)| value);
        assert_eq!(of(&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]), Some(151_288_809_941_952_652));
        assert_eq!(of(&[0x9d, 0x7f, 0x3e, 0x7d]), Some(494_878_333));
        assert_eq!(of(&[0x7b, 0xbd]), Some(15_293));
        assert_eq!(of(&[0x25]), Some(37));
        assert_eq!(of(&[0x7b]), None);
    }

    #[test]
    fn bytes_count_when_they_are_first_sent() {
        let sent = Sent::default();
        // An ACK of one range; stream 2 from 0, three bytes; the same again, to the packet's end, and two more.
        sent.note(&[0x02, 9, 0, 0, 1, 0x0a, 2, 3, 7, 7, 7]);
        assert_eq!((sent.bytes(), sent.carried()), (3, 3));
        sent.note(&[0x01, 0x0c, 2, 0, 7, 7, 7, 7, 7]);
        assert_eq!((sent.bytes(), sent.carried()), (5, 8));
        // Cut off: nothing.
        sent.note(&[0x0a, 2, 9, 7]);
        assert_eq!((sent.bytes(), sent.carried()), (5, 8));
    }

    #[test]
    fn a_packet_is_a_duplicate_if_none_of_its_bytes_is_new() {
        let came = Came::default();
        let told = |frames: &[u8]| {
            came.note(frames);
            (came.bytes(), came.duplicates())
        };
        assert_eq!(told(&[0x0a, 2, 3, 7, 7, 7]), (3, 0));
        // Once more, and beside one new byte of stream 3; no bytes; a datagram.
        assert_eq!(told(&[0x0a, 2, 3, 7, 7, 7]), (3, 1));
        assert_eq!(told(&[0x0a, 2, 3, 7, 7, 7, 0x0a, 3, 1, 7]), (4, 1));
        assert_eq!(told(&[0x01]), (4, 1));
        assert_eq!(told(&[0x31, 2, 7, 7]), (6, 1));
    }

    #[test]
    fn bytes_count_when_they_first_come() {
        let mut pieces = BTreeMap::new();
        let mut seen = [false; 200];
        // Pieces in no order, over each other, within each other, side by side.
        for n in 0..400_u64 {
            let start = n * 67 % 150;
            let end = start + n * 31 % 23;
            let new = seen[start as usize..end as usize].iter().filter(|byte| !**byte).count();
            seen[start as usize..end as usize].fill(true);
            assert_eq!(add(&mut pieces, start, end), new as u64, "{n}");
            let held: u64 = pieces.iter().map(|(left, right)| right - left).sum();
            assert_eq!(held, seen.iter().filter(|byte| **byte).count() as u64);
        }
    }
}
