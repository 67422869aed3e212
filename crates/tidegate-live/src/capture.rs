//! The packets of a run as a pcap file.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, TsResolution};
use tidegate_core::units::{PICOS_PER_SECOND, Time};
use tidegate_result::pcap::plain;

use crate::Side;
use crate::clock::PICOS_PER_NANO;
use crate::pump::{Departure, PumpReport};
use crate::segment::{codepoint, mark, set_codepoint};

/// Writes what one edge saw in order of time: what came from its kernel when it was read, what
/// went to it when it was due, with the mark and the codepoint that gates gave it.
pub(crate) fn write(report: &PumpReport, seen: Side, out: impl Write) -> io::Result<()> {
    let header = PcapHeader {
        datalink: DataLink::RAW,
        ts_resolution: TsResolution::NanoSecond,
        endianness: Endianness::Little,
        snaplen: report.capture_bytes,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(out, header).map_err(plain)?;
    let came = (0..).zip(&report.arrivals).filter(|(_, arrival)| PumpReport::entry(arrival.route) == seen);
    let mut packets: Vec<(Time, usize, Option<&Departure>)> =
        came.map(|(number, arrival)| (arrival.at, number, None)).collect();
    let went = report.departures.iter().filter(|departure| PumpReport::entry(departure.route) != seen);
    packets.extend(went.map(|departure| (departure.due, departure.arrival as usize, Some(departure))));
    packets.sort_unstable_by_key(|(at, number, _)| (*at, *number));
    let stride = report.capture_bytes as usize;
    for (at, number, departure) in packets {
        let bytes = report.arrivals[number].bytes;
        let Some(kept) = report.capture.get(number * stride..(number + 1) * stride) else { continue };
        let kept = &kept[..kept.len().min(bytes as usize)];
        let nanos = (at.picos() % PICOS_PER_SECOND / PICOS_PER_NANO) as u32;
        let packet = PcapPacket {
            timestamp: Duration::new(at.picos() / PICOS_PER_SECOND, nanos),
            orig_len: bytes,
            data: departure.map_or(Cow::Borrowed(kept), |departure| changed(kept, departure)),
        };
        writer.write_packet(&packet).map_err(plain)?;
    }
    writer.into_writer().flush()
}

/// The first bytes of a packet as it left the gates.
fn changed<'a>(came: &'a [u8], departure: &Departure) -> Cow<'a, [u8]> {
    let mut bytes = Cow::Borrowed(came);
    if departure.marked {
        mark(bytes.to_mut());
    }
    if codepoint(came) != departure.codepoint {
        set_codepoint(bytes.to_mut(), departure.codepoint);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::ecn;
    use tidegate_core::unit::{Cause, Ecn, HeldBy};

    /// A header of IPv4 from 10.0.0.1 to 10.0.0.2 with codepoint 46 and ECT(0), and its checksum.
    const HEADER: [u8; 20] = [0x45, 0xba, 0, 20, 0, 0, 0x40, 0, 64, 17, 0x26, 0x1d, 10, 0, 0, 1, 10, 0, 0, 2];

    fn sum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        let total: u32 = words.sum();
        (total >> 16) as u16 + total as u16
    }

    #[test]
    fn a_capture_shows_the_mark_and_the_codepoint_of_gates() {
        assert_eq!(sum(&HEADER), 0xffff);
        let departure = |codepoint, marked| Departure {
            due: Time::ZERO,
            arrival: 0,
            route: 0,
            cause: Cause::sender(HeldBy::Application),
            marked,
            codepoint,
        };
        assert!(matches!(changed(&HEADER, &departure(46, false)), Cow::Borrowed(_)));
        for (codepoint, marked, left) in [(12, false, Ecn::Ect0), (46, true, Ecn::Ce), (0, true, Ecn::Ce)] {
            let shown = changed(&HEADER, &departure(codepoint, marked));
            assert_eq!((super::codepoint(&shown), ecn(&shown), sum(&shown)), (codepoint, left, 0xffff));
        }
    }
}
