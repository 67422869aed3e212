//! The frames of a file, one by one: of pcapng through `pcap-parser`, of pcap through [`legacy`].

use std::collections::{BTreeMap, BTreeSet};

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, InterfaceStatisticsBlock, PcapBlockOwned, PcapError, PcapNGReader};

use crate::clock::Clock;
use crate::frame::{End, Frame, MOST};
use crate::legacy::{self, Form};
use crate::source::{Source, Trouble};

/// Bytes that are held of the unpacked file.
const BUFFER: usize = 1 << 20;

/// Reads frame by frame; `each` says whether to go on. With the end comes what the file says of its recorder.
pub(crate) fn read(
    source: Source<'_>,
    magic: &[u8],
    trouble: &Trouble,
    each: impl FnMut(Frame<'_>) -> bool,
) -> (End, Recorder) {
    let mut lost = Lost::default();
    let end = of_kind(source, magic, trouble, &mut lost, each);
    (end, Recorder { lost: lost.packets(), too_fine: lost.too_fine })
}

/// What a file in pcapng says of its recorder.
pub(crate) struct Recorder {
    /// Packets that it lost (`isb_ifdrop` and `isb_osdrop`).
    pub(crate) lost: u64,
    /// Units of time of interfaces that are too fine to be of use.
    pub(crate) too_fine: BTreeSet<String>,
}

/// What the recorder says that it lost: each interface counts from the beginning of its section.
#[derive(Default)]
struct Lost {
    /// Of earlier sections.
    before: u64,
    /// By interface; its latest statistics.
    now: BTreeMap<u32, u64>,
    big_endian: bool,
    too_fine: BTreeSet<String>,
}

impl Lost {
    fn packets(&self) -> u64 {
        self.now.values().fold(self.before, |sum, each| sum.saturating_add(*each))
    }

    fn section(&mut self, big_endian: bool) {
        self.before = self.packets();
        self.now.clear();
        self.big_endian = big_endian;
    }

    fn statistics(&mut self, block: &InterfaceStatisticsBlock<'_>) {
        // The reader takes every option for little-endian.
        let own = |value: u64| if self.big_endian { value.swap_bytes() } else { value };
        let read = |option: Option<Result<u64, _>>| option.and_then(Result::ok).map_or(0, own);
        let lost = read(block.isb_ifdrop()).saturating_add(read(block.isb_osdrop()));
        self.now.insert(block.if_id, lost);
    }
}

fn of_kind(
    source: Source<'_>,
    magic: &[u8],
    trouble: &Trouble,
    lost: &mut Lost,
    each: impl FnMut(Frame<'_>) -> bool,
) -> End {
    match magic {
        [0x0a, 0x0d, 0x0d, 0x0a, ..] => match PcapNGReader::new(BUFFER, source) {
            Ok(reader) => walk(reader, trouble, lost, each),
            Err(error) => at_beginning(&error),
        },
        _ => match Form::of(magic) {
            Some(form) => legacy::read(source, form, trouble, each),
            None => End::NotACapture,
        },
    }
}

fn at_beginning(error: &PcapError<&[u8]>) -> End {
    match error {
        PcapError::Incomplete(_) | PcapError::Eof | PcapError::UnexpectedEof => End::CutHeader,
        _ => End::Damaged,
    }
}

/// An interface of a section.
#[derive(Clone, Copy)]
struct Interface {
    link: i32,
    clock: Clock,
}

fn walk<R: PcapReaderIterator>(
    mut reader: R,
    trouble: &Trouble,
    lost: &mut Lost,
    mut each: impl FnMut(Frame<'_>) -> bool,
) -> End {
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut room = BUFFER;
    loop {
        match reader.next() {
            Ok((length, block)) => {
                let go_on = match &block {
                    PcapBlockOwned::NG(block) => of_section(block, &mut interfaces, lost, &mut each),
                    // Of files in pcap, which are read elsewhere.
                    _ => true,
                };
                reader.consume(length);
                if !go_on {
                    return End::Stopped;
                }
            }
            Err(PcapError::Eof) => return End::Whole,
            Err(PcapError::Incomplete(_)) => {
                if reader.refill().is_err() {
                    return End::Damaged;
                }
            }
            Err(PcapError::BufferTooSmall) if room < MOST => {
                room *= 2;
                if !reader.grow(room) || reader.refill().is_err() {
                    return End::Damaged;
                }
            }
            Err(PcapError::UnexpectedEof) => return End::Cut,
            Err(_) => return if trouble.is_there() { End::Cut } else { End::Damaged },
        }
    }
}

fn of_section(
    block: &Block<'_>,
    interfaces: &mut Vec<Interface>,
    lost: &mut Lost,
    each: &mut impl FnMut(Frame<'_>) -> bool,
) -> bool {
    match block {
        Block::SectionHeader(header) => {
            interfaces.clear();
            lost.section(header.big_endian());
        }
        Block::InterfaceStatistics(block) => lost.statistics(block),
        Block::InterfaceDescription(about) => {
            let clock = Clock::of(about, lost.big_endian);
            lost.too_fine.extend(clock.too_fine());
            interfaces.push(Interface { link: about.linktype.0, clock });
        }
        Block::EnhancedPacket(packet) => {
            // A packet of an interface that the section does not describe has neither link type nor time.
            let known = interfaces.get(packet.if_id as usize);
            let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let time = known.and_then(|interface| interface.clock.time(ticks));
            let held = packet.data.len().min(packet.caplen as usize);
            return each(Frame {
                time,
                link: known.map_or(-1, |interface| interface.link),
                bytes: &packet.data[..held],
                original: packet.origlen.max(packet.caplen),
            });
        }
        Block::SimplePacket(packet) => {
            let link = interfaces.first().map_or(-1, |interface| interface.link);
            return each(Frame { time: None, link, bytes: packet.data, original: packet.origlen });
        }
        _ => {}
    }
    true
}
