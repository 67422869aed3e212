//! When transfers begin and end, for flows that pass circuits: from what the ends owe, which
//! they tell, and what has been acknowledged, which the packets tell.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tidegate_core::net::Network;
use tidegate_core::plan::{AppPlan, Plan};
use tidegate_core::units::Time;

use crate::segment::{Header, Places};

/// User bytes that each flow's sender shall have sent since the start, over all its connections.
/// The ends raise it before the first packet of what is owed can go.
#[derive(Debug)]
pub struct Owed {
    flows: Vec<AtomicU64>,
}

impl Owed {
    fn new(plan: &Plan) -> Owed {
        Owed { flows: plan.flows.iter().map(|_| AtomicU64::new(0)).collect() }
    }

    /// So many bytes more; [`u64::MAX`]: without an end.
    pub fn raise(&self, flow: usize, bytes: u64) {
        let more = |owed: u64| Some(owed.saturating_add(bytes));
        // The closure never declines.
        let _ = self.flows[flow].fetch_update(Ordering::Release, Ordering::Relaxed, more);
    }

    fn of(&self, flow: usize) -> u64 {
        self.flows[flow].load(Ordering::Acquire)
    }
}

/// What the network was told, in its place among what happened: enough to tell it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// When it holds.
    pub at: Time,
    /// Whose transfer.
    pub flow: u32,
    /// It begins, or it ends.
    pub begins: bool,
    /// Packets that had come in by then.
    pub arrivals: u32,
    /// Packets that had left.
    pub departures: u32,
}

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Enters,
    Leaves,
}

/// All flows; `None`: it passes no circuit.
#[derive(Debug)]
pub(super) struct Transfers {
    owed: Arc<Owed>,
    flows: Vec<Option<Watched>>,
    any: bool,
}

impl Transfers {
    pub(super) fn new(plan: &Plan, network: &Network) -> Transfers {
        let watched = |(flow, row): (usize, &tidegate_core::plan::FlowPlan)| {
            network
                .uses_circuit(flow)
                .then(|| Watched { asks: matches!(row.app, AppPlan::Request(_)), ..Watched::default() })
        };
        let flows: Vec<_> = plan.flows.iter().enumerate().map(watched).collect();
        Transfers { owed: Arc::new(Owed::new(plan)), any: flows.iter().any(Option::is_some), flows }
    }

    pub(super) fn owed(&self) -> Arc<Owed> {
        Arc::clone(&self.owed)
    }

    /// A packet enters its route, or leaves it: whether its flow's transfer begins (`true`) or ends
    /// with that.
    #[inline]
    pub(super) fn see(&mut self, route: u32, packet: &[u8], place: Place) -> Option<bool> {
        if !self.any {
            return None;
        }
        let flow = (route / 2) as usize;
        let owed = self.owed.of(flow);
        self.flows[flow].as_mut()?.see(route.is_multiple_of(2), packet, place, owed)
    }
}

/// A flow's stream of data and what is known of it.
#[derive(Debug, Default)]
struct Watched {
    /// The other end asks, and knows that a transfer is over when it has acknowledged it.
    asks: bool,
    transferring: bool,
    /// The receiver's port of the connection.
    port: u16,
    places: Places,
    /// User bytes of earlier connections, of this one that are acknowledged, and of all of it,
    /// once its end has been seen.
    before: u64,
    acknowledged: u64,
    end: Option<u64>,
}

impl Watched {
    fn see(&mut self, is_data: bool, packet: &[u8], place: Place, owed: u64) -> Option<bool> {
        if let Some(header) = Header::parse(packet, packet.len() as u32) {
            match (is_data, place) {
                (true, Place::Enters) => self.sent(header),
                (false, place) if (place == Place::Enters) == self.asks => self.heard(header),
                _ => {}
            }
        }
        let under_way = self.before.saturating_add(self.acknowledged) < owed;
        let changes = under_way != self.transferring;
        self.transferring = under_way;
        changes.then_some(under_way)
    }

    /// The sender's kernel sends.
    fn sent(&mut self, header: Header) {
        let port = header.ports[1];
        if header.syn {
            let other = self.places.begin(header.seq);
            if other || port != self.port {
                self.before += self.end.unwrap_or(self.acknowledged);
                (self.port, self.acknowledged, self.end) = (port, 0, None);
            }
        } else if header.fin && port == self.port {
            let end = self.places.of(header.seq.wrapping_add(header.payload));
            self.end = u64::try_from(end).ok();
        }
    }

    /// The receiver has said what has come; its word counts where it is said or where it is heard.
    fn heard(&mut self, header: Header) {
        if !header.is_ack || header.syn || header.ports[0] != self.port || !self.places.has_begun() {
            return;
        }
        // An acknowledged FIN is no user byte.
        let upto = u64::try_from(self.places.of(header.ack)).unwrap_or(0).min(self.end.unwrap_or(u64::MAX));
        self.acknowledged = self.acknowledged.max(upto);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYN: u8 = 0x02;
    const FIN: u8 = 0x01;
    const ACK: u8 = 0x10;

    fn packet(ports: [u16; 2], seq: u32, ack: u32, flags: u8, payload: usize) -> Vec<u8> {
        let mut packet = vec![0; 40 + payload];
        packet[0] = 0x45;
        packet[9] = 6;
        packet[20..22].copy_from_slice(&ports[0].to_be_bytes());
        packet[22..24].copy_from_slice(&ports[1].to_be_bytes());
        packet[24..28].copy_from_slice(&seq.to_be_bytes());
        packet[28..32].copy_from_slice(&ack.to_be_bytes());
        (packet[32], packet[33]) = (5 << 4, flags);
        packet
    }

    #[test]
    fn a_transfer_lasts_until_all_is_acknowledged_at_the_sender() {
        let mut flow = Watched::default();
        let mut see = |is_data, packet: Vec<u8>, place, owed| flow.see(is_data, &packet, place, owed);
        let there = [40_000, 5001];
        let back = [5001, 40_000];
        let first = u32::MAX - 50;
        assert_eq!(see(true, packet(there, first, 0, SYN, 0), Place::Enters, 300), Some(true));
        assert_eq!(see(true, packet(there, first.wrapping_add(1), 0, ACK, 300), Place::Enters, 300), None);
        let all = packet(back, 0, first.wrapping_add(301), ACK, 0);
        assert_eq!(see(false, all.clone(), Place::Enters, 300), None, "it is still on its way");
        assert_eq!(see(false, packet(back, 0, first.wrapping_add(201), ACK, 0), Place::Leaves, 300), None);
        assert_eq!(see(false, all.clone(), Place::Leaves, 300), Some(false));
        assert_eq!(see(false, all, Place::Leaves, 400), Some(true), "more is owed");
    }

    #[test]
    fn the_one_who_asks_knows_when_it_says_so_whatever_connection_it_is() {
        let mut flow = Watched { asks: true, ..Watched::default() };
        let mut see = |is_data, packet: Vec<u8>, place, owed| flow.see(is_data, &packet, place, owed);
        for (number, client) in [(0, 40_000), (1, 40_001), (2, 40_000)] {
            let owed = 100 * (number + 1);
            let isn = 1000 * number as u32;
            let (there, back) = ([5001, client], [client, 5001]);
            assert_eq!(see(false, packet(back, 7, 0, SYN, 0), Place::Enters, owed), Some(true), "{number}");
            for _ in 0..2 {
                assert_eq!(see(true, packet(there, isn, 8, SYN | ACK, 0), Place::Enters, owed), None);
            }
            assert_eq!(see(true, packet(there, isn + 1, 8, ACK | FIN, 100), Place::Enters, owed), None);
            let last = packet(back, 8, isn + 102, ACK, 0);
            assert_eq!(see(false, last.clone(), Place::Enters, owed), Some(false), "{number}");
            assert_eq!(see(false, last, Place::Leaves, owed), None);
        }
    }
}
