//! Reads a file into its connections.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::blocks::read as frames;
use crate::connection::Connection;
use crate::error::{CaptureError, begins};
use crate::frame::{End, Frame};
use crate::kind;
use crate::left::Left;
use crate::packet::{self, Seen};
use crate::source::{Packing, Source, Trouble};
use crate::table::Connections;
use crate::traffic::{AllTraffic, Traffic};

/// Packets between two looks at whether the caller still wants the capture.
const LOOK: u64 = 4096;
/// The most connections of a file, and the most pairs of UDP: each takes some kilobytes whatever it carries, and a file of
/// some megabytes can have millions.
pub const MOST_CONNECTIONS: usize = 100_000;
/// First bytes of the unpacked file that say what it is.
const MAGIC: usize = 16;

/// What another thread may look at, and ask, while a capture is read.
#[derive(Debug, Default)]
pub struct Watch {
    /// Bytes of the files that have been read, packed as they are.
    pub done: AtomicU64,
    /// Set to stop.
    pub stop: AtomicBool,
}

/// What one or several files hold.
#[derive(Debug, Default)]
pub struct Capture {
    /// The files as they were named.
    pub files: Vec<String>,
    /// When the first packet of each was captured, in nanoseconds since 1970; none where it has none.
    pub starts: Vec<Option<i64>>,
    /// The connections, file by file, in the order of their first packets.
    pub connections: Vec<Connection>,
    /// The traffic beside them, with the number of its file.
    pub traffic: Vec<(usize, Traffic)>,
    /// What could not be used or is odd, in words.
    pub notes: Vec<String>,
    /// Packets of all kinds.
    pub packets: u64,
    /// Packets of TCP, kept or not.
    pub tcp_packets: u64,
}

impl Capture {
    /// What to add to times of a file to count from the earliest first packet of all files, in nanoseconds.
    #[must_use]
    pub fn shift(&self, file: usize) -> i64 {
        let earliest = self.starts.iter().flatten().min();
        match (self.starts[file], earliest) {
            (Some(start), Some(earliest)) => start - earliest,
            _ => 0,
        }
    }
}

/// Reads files; each is a capture of its own, and connections do not go on from one to the next.
///
/// # Errors
/// The first file that cannot be read or is not a capture. A file that is damaged or cut is read as far as it
/// goes, with a note.
pub fn read(paths: &[impl AsRef<Path>], watch: &Watch) -> Result<Capture, CaptureError> {
    read_first(paths, usize::MAX, watch)
}

/// [`read`], where only the first `most` packets of TCP of each file are kept. Those behind them count in the
/// numbers of their hosts and in [`Capture::tcp_packets`].
///
/// # Errors
/// As [`read`].
pub fn read_first(paths: &[impl AsRef<Path>], most: usize, watch: &Watch) -> Result<Capture, CaptureError> {
    let mut capture = Capture::default();
    for path in paths {
        let name = path.as_ref().display().to_string();
        let io = |error| CaptureError::Io { file: name.clone(), error };
        let file = File::open(path).map_err(io)?;
        if file.metadata().is_ok_and(|about| about.is_dir()) {
            return Err(io(std::io::ErrorKind::IsADirectory.into()));
        }
        one(&mut capture, &name, file, watch, most, paths.len() > 1)?;
    }
    Ok(capture)
}

/// Reads a capture from bytes that are at hand.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(name: &str, bytes: &[u8]) -> Result<Capture, CaptureError> {
    let mut capture = Capture::default();
    one(&mut capture, name, bytes, &Watch::default(), usize::MAX, false)?;
    Ok(capture)
}

/// What one file gives while it is read.
#[derive(Default)]
struct Reading {
    connections: Connections,
    traffic: AllTraffic,
    left: Left,
    start: Option<i64>,
    last: i64,
    packets: u64,
    tcp: u64,
    /// The most packets of TCP that are kept.
    most: usize,
}

impl Reading {
    /// Whether there are more connections, or pairs of UDP, than are kept.
    fn too_many(&self) -> bool {
        self.connections.all.len().max(self.traffic.all.len()) > MOST_CONNECTIONS
    }

    fn take(&mut self, file: usize, frame: &Frame<'_>) {
        self.packets += 1;
        let Some(at) = frame.time else {
            self.left.without_time += 1;
            return;
        };
        let time = at.wrapping_sub(*self.start.get_or_insert(at));
        self.left.backwards += u64::from(time < self.last);
        self.last = time;
        match packet::read(frame.link, frame.bytes, frame.original) {
            Seen::Tcp(packet) => {
                self.left.cut_options += u64::from(packet.cut);
                if let Some(tunnel) = packet.within {
                    *self.left.within.entry(tunnel).or_default() += 1;
                }
                let keep = self.tcp < self.most as u64;
                self.tcp += 1;
                let coalesced = self.connections.take(file, &packet, time, frame.original, keep);
                self.left.super_segments += u64::from(coalesced);
            }
            Seen::Udp(from, to, bytes, tunnel) => {
                self.left.udp += 1;
                if let Some(tunnel) = tunnel {
                    *self.left.tunnels.entry(tunnel).or_default() += 1;
                }
                self.traffic.take(from, to, time, bytes);
            }
            Seen::OverIp(number) => *self.left.over_ip.entry(number).or_default() += 1,
            Seen::NotIp(kind) => *self.left.not_ip.entry(kind).or_default() += 1,
            Seen::Fragment => self.left.fragments += 1,
            Seen::Short => self.left.short += 1,
            Seen::Unread => *self.left.unread.entry(frame.link).or_default() += 1,
        }
    }
}

fn one(
    capture: &mut Capture,
    name: &str,
    bytes: impl Read + Send,
    watch: &Watch,
    most: usize,
    named: bool,
) -> Result<(), CaptureError> {
    let io = |error| CaptureError::Io { file: name.to_owned(), error };
    let trouble = Trouble::default();
    let mut source = Source::open(bytes, &watch.done, &trouble).map_err(io)?;
    let packing = source.packing;
    let mut magic = Vec::with_capacity(MAGIC);
    source.by_ref().take(MAGIC as u64).read_to_end(&mut magic).map_err(io)?;
    if magic.is_empty() {
        return Err(match trouble.take() {
            Some(error) if packing == Packing::Plain => io(error),
            Some(error) => io(damaged(packing, &error)),
            None => CaptureError::Empty { file: name.to_owned() },
        });
    }
    let source = source.with_front(magic.clone());
    let file = capture.files.len();
    let mut reading = Reading { most, ..Reading::default() };
    let (end, recorder) = frames(source, &magic, &trouble, |frame| {
        reading.take(file, &frame);
        let looks = reading.packets.is_multiple_of(LOOK);
        !(reading.too_many() || looks && watch.stop.load(Ordering::Relaxed))
    });
    if reading.too_many() {
        return Err(CaptureError::TooMany { file: name.to_owned(), most: MOST_CONNECTIONS });
    }
    let mut notes = reading.left.notes();
    for unit in &recorder.too_fine {
        notes.push(format!(
            "the file counts time in units of {unit}, of which 64 bits do not hold a second: packets of that \
             interface have no time"
        ));
    }
    if recorder.lost > 0 {
        let lost = recorder.lost;
        notes.push(format!(
            "not all packets were captured: the recorder counted {lost} that it dropped for want of time or room"
        ));
    }
    let packets = reading.packets;
    match (end, trouble.take()) {
        (End::Stopped, _) => return Err(CaptureError::Interrupted { file: name.to_owned() }),
        (End::NotACapture, None) => {
            return Err(match kind::of(&magic, name) {
                Some(kind) => CaptureError::Named { file: name.to_owned(), kind },
                None => CaptureError::Other { file: name.to_owned(), begins: begins(&magic) },
            });
        }
        (End::NotACapture, Some(error)) => return Err(io(damaged(packing, &error))),
        // What the system says about a file that is not packed is about the file.
        (_, Some(error)) if packing == Packing::Plain => return Err(io(error)),
        (_, Some(error)) => notes.push(format!("{}, behind packet {packets}", damaged(packing, &error))),
        (End::CutHeader, None) => notes.push("the file ends inside its header".to_owned()),
        (End::Cut, None) => notes.push(format!("the file ends in the middle of packet {}", packets + 1)),
        (End::Damaged, None) => {
            notes.push(format!("the file is damaged behind packet {packets}; what follows is left out"));
        }
        (End::Whole, None) => {}
    }
    if packets == 0 {
        notes.push("the file has no packets".to_owned());
    }
    capture.notes.extend(notes.into_iter().map(|note| if named { format!("{name}: {note}") } else { note }));
    capture.files.push(name.to_owned());
    capture.starts.push(reading.start);
    capture.connections.extend(reading.connections.all);
    capture.traffic.extend(reading.traffic.all.into_iter().map(|traffic| (file, traffic)));
    capture.packets += packets;
    capture.tcp_packets += reading.tcp;
    Ok(())
}

/// What the system says is of use; what a library says of the inside of its format is not.
fn damaged(packing: Packing, error: &std::io::Error) -> std::io::Error {
    let inside = error.raw_os_error().map(|_| format!(" ({error})")).unwrap_or_default();
    std::io::Error::other(format!("its {} data end early or are damaged{inside}", packing.name()))
}
