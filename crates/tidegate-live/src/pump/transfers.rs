//! When transfers begin and end, for flows that pass circuits: from what the ends owe, which
//! they tell, what has been acknowledged, which the packets tell, and what is in the network. A transfer
//! lasts while anything is owed, while a SYN or a FIN waits for its acknowledgement, and while a packet of the
//! flow is in the network.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tidegate_core::net::Network;
use tidegate_core::plan::Plan;
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

/// A report to the network and its place among the other events, so that a replay can repeat it.
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

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Enters,
    Leaves,
    /// It is dropped between.
    Vanishes,
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
        let watched = |flow: usize| network.uses_circuit(flow).then(Watched::default);
        let flows: Vec<_> = (0..plan.flows.len()).map(watched).collect();
        Transfers { owed: Arc::new(Owed::new(plan)), any: flows.iter().any(Option::is_some), flows }
    }

    pub(super) fn owed(&self) -> Arc<Owed> {
        Arc::clone(&self.owed)
    }

    /// A packet enters its route, leaves it or is dropped: whether its flow's transfer begins (`true`) or
    /// ends with that.
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
    transferring: bool,
    /// Its packets in the network.
    in_network: u32,
    /// By direction (data, back): the number that acknowledges its SYN or FIN, while that has not come.
    unanswered: [Option<u32>; 2],
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
        match place {
            Place::Enters => self.in_network += 1,
            Place::Leaves | Place::Vanishes => self.in_network = self.in_network.saturating_sub(1),
        }
        if let Some(header) = Header::parse(packet, packet.len() as u32) {
            self.greet(is_data, header, place);
            match (is_data, place) {
                (true, Place::Enters) => self.sent(header),
                (false, Place::Leaves) => self.heard(header),
                _ => {}
            }
        }
        let under_way = self.in_network > 0
            || self.unanswered.iter().any(Option::is_some)
            || self.before.saturating_add(self.acknowledged) < owed;
        let changes = under_way != self.transferring;
        self.transferring = under_way;
        changes.then_some(under_way)
    }

    /// A SYN or a FIN is to be answered; a reset answers everything.
    fn greet(&mut self, is_data: bool, header: Header, place: Place) {
        let [mine, others] = [usize::from(!is_data), usize::from(is_data)];
        if header.rst {
            self.unanswered = [None; 2];
        } else if place == Place::Enters && (header.syn || header.fin) {
            let taken = header.payload + u32::from(header.syn) + u32::from(header.fin);
            self.unanswered[mine] = Some(header.seq.wrapping_add(taken));
        } else if place == Place::Leaves
            && header.is_ack
            && self.unanswered[others].is_some_and(|end| header.ack.wrapping_sub(end).cast_signed() >= 0)
        {
            self.unanswered[others] = None;
        }
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

    /// The sender's kernel hears what has come.
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

    /// What a flow tells of packets in both directions, whose transfer it is.
    struct Seen(Watched);

    impl Seen {
        fn see(&mut self, is_data: bool, packet: &[u8], place: Place, owed: u64) -> Option<bool> {
            self.0.see(is_data, packet, place, owed)
        }

        /// It enters and leaves, with nothing between.
        fn pass(&mut self, is_data: bool, packet: &[u8], owed: u64) -> [Option<bool>; 2] {
            [Place::Enters, Place::Leaves].map(|place| self.see(is_data, packet, place, owed))
        }
    }

    const THERE: [u16; 2] = [40_000, 5001];
    const BACK: [u16; 2] = [5001, 40_000];

    #[test]
    fn a_transfer_lasts_until_all_is_acknowledged_at_the_sender() {
        let mut flow = Seen(Watched::default());
        let first = u32::MAX - 50;
        let next = first.wrapping_add(1);
        assert_eq!(flow.pass(true, &packet(THERE, first, 0, SYN, 0), 300), [Some(true), None]);
        assert_eq!(flow.pass(false, &packet(BACK, 6, next, SYN | ACK, 0), 300), [None; 2]);
        assert_eq!(flow.pass(true, &packet(THERE, next, 7, ACK, 300), 300), [None; 2]);
        let all = packet(BACK, 7, first.wrapping_add(301), ACK, 0);
        assert_eq!(flow.see(false, &all, Place::Enters, 300), None, "it is still on its way");
        assert_eq!(flow.pass(false, &packet(BACK, 7, first.wrapping_add(201), ACK, 0), 300), [None; 2]);
        assert_eq!(flow.see(false, &all, Place::Leaves, 300), Some(false));
        assert_eq!(flow.see(false, &all, Place::Enters, 400), Some(true), "more is owed");
    }

    /// A copy of data that came twice, its answer, and what is dropped keep the way until they are gone.
    #[test]
    fn a_transfer_lasts_while_packets_are_in_the_network() {
        let mut flow = Seen(Watched::default());
        let data = packet(THERE, 100, 7, ACK, 300);
        assert_eq!(flow.see(true, &data, Place::Enters, 0), Some(true));
        assert_eq!(flow.see(true, &data, Place::Enters, 0), None);
        assert_eq!(flow.see(true, &data, Place::Leaves, 0), None);
        assert_eq!(flow.see(true, &data, Place::Vanishes, 0), Some(false));
    }

    #[test]
    fn a_handshake_and_a_close_are_one_transfer_each() {
        let mut flow = Seen(Watched::default());
        assert_eq!(flow.pass(true, &packet(THERE, 10, 0, SYN, 0), 0), [Some(true), None]);
        assert_eq!(flow.pass(false, &packet(BACK, 20, 11, SYN | ACK, 0), 0), [None; 2]);
        assert_eq!(flow.pass(true, &packet(THERE, 11, 21, ACK, 0), 0), [None, Some(false)]);
        assert_eq!(flow.pass(true, &packet(THERE, 11, 21, ACK | FIN, 0), 0), [Some(true), None]);
        assert_eq!(flow.pass(false, &packet(BACK, 21, 12, ACK | FIN, 0), 0), [None; 2]);
        assert_eq!(flow.pass(true, &packet(THERE, 12, 22, ACK, 0), 0), [None, Some(false)]);
    }

    /// One connection after the other; the client's last ACK counts where the server hears it.
    #[test]
    fn a_dialogue_is_over_when_the_server_hears_so_whatever_connection_it_is() {
        let mut flow = Seen(Watched::default());
        for (number, client) in [(0, 40_000), (1, 40_001), (2, 40_000)] {
            let owed = 100 * (number + 1);
            let isn = 1000 * number as u32;
            let (there, back) = ([5001, client], [client, 5001]);
            assert_eq!(flow.pass(false, &packet(back, 7, 0, SYN, 0), owed), [Some(true), None], "{number}");
            for _ in 0..2 {
                assert_eq!(flow.pass(true, &packet(there, isn, 8, SYN | ACK, 0), owed), [None; 2]);
            }
            assert_eq!(flow.pass(true, &packet(there, isn + 1, 8, ACK | FIN, 100), owed), [None; 2]);
            let last = packet(back, 8, isn + 102, ACK, 0);
            assert_eq!(flow.see(false, &last, Place::Enters, owed), None, "{number}");
            assert_eq!(flow.see(false, &last, Place::Leaves, owed), Some(false));
        }
    }
}
