//! What of a capture could not be used, counted, and in words.

use std::collections::BTreeMap;

use crate::tunnel::Tunnel;

/// The greatest length of an IEEE 802.3 frame's data.
const MOST_LENGTH: u16 = 1500;

/// Counts of what was left out or is odd.
#[derive(Debug, Default)]
pub(crate) struct Left {
    pub(crate) over_ip: BTreeMap<u8, u64>,
    pub(crate) not_ip: BTreeMap<u16, u64>,
    pub(crate) unread: BTreeMap<i32, u64>,
    pub(crate) udp: u64,
    /// Of TCP's, by the outermost tunnel that they were in.
    pub(crate) within: BTreeMap<Tunnel, u64>,
    /// Of UDP's, by the tunnel that they belong to, where what is inside cannot be read.
    pub(crate) tunnels: BTreeMap<Tunnel, u64>,
    pub(crate) fragments: u64,
    pub(crate) short: u64,
    pub(crate) cut_options: u64,
    pub(crate) without_time: u64,
    pub(crate) backwards: u64,
    pub(crate) super_segments: u64,
}

impl Left {
    /// One sentence for each count that is not zero.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut say = |count: u64, what: &str| {
            if count > 0 {
                notes.push(format!("{} {what}", packets(count)));
            }
        };
        say(self.udp, "of UDP: counted as traffic");
        for (tunnel, count) in &self.within {
            let what =
                format!("of TCP inside {}: read, with the lengths of the packets inside", tunnel.name());
            say(*count, &what);
        }
        for (tunnel, count) in &self.tunnels {
            let what = format!(
                "of {} whose inside cannot be read (cut off, in pieces, or behind a header that is not plain): TCP \
                 may be there; capture on the tunnel's own interface",
                tunnel.name()
            );
            say(*count, &what);
        }
        for (number, count) in &self.over_ip {
            say(*count, &format!("of {}: left out", protocol(*number)));
        }
        // Below 1501 a length of IEEE 802.3 stands where the type would.
        let lengths: u64 = self.not_ip.range(..=MOST_LENGTH).map(|(_, count)| count).sum();
        say(lengths, "of IEEE 802.3 with LLC: left out");
        for (kind, count) in self.not_ip.range(MOST_LENGTH + 1..) {
            say(*count, &format!("of {}: left out", ether_type(*kind)));
        }
        for (link, count) in &self.unread {
            say(
                *count,
                &format!(
                    "of link type {link}: left out; read are Ethernet (1), Linux cooked (113, 276), raw IP \
                     (12, 101, 228, 229), loopback (0, 108) and PPP (9)"
                ),
            );
        }
        say(self.fragments, "in pieces of IP (fragments): left out");
        say(self.short, "whose headers are cut off or damaged: left out");
        say(self.without_time, "without a time: left out");
        say(self.cut_options, "whose TCP options are cut off by the snap length");
        say(self.backwards, "with a time before that of the packet in front of it: kept in the file's order");
        say(
            self.super_segments,
            "with more data than one segment has (put together by the sender's or the receiver's system, GSO or GRO)",
        );
        notes
    }
}

fn packets(count: u64) -> String {
    if count == 1 { "1 packet".to_owned() } else { format!("{count} packets") }
}

/// Names of https://www.iana.org/assignments/protocol-numbers that captures often have.
fn protocol(number: u8) -> String {
    let name = match number {
        1 => "ICMP",
        2 => "IGMP",
        4 | 41 => "IP in IP without TCP that can be read",
        47 => "GRE without TCP that can be read",
        50 => "ESP",
        58 => "ICMPv6",
        132 => "SCTP",
        _ => return format!("IP protocol {number}"),
    };
    name.to_owned()
}

fn ether_type(kind: u16) -> String {
    match kind {
        0x0806 => "ARP".to_owned(),
        0x8847 | 0x8848 => "MPLS without an IP packet behind its labels".to_owned(),
        0x88cc => "LLDP".to_owned(),
        _ => format!("EtherType 0x{kind:04x}"),
    }
}
