//! The packets of two hosts that are in the network; a unit carries the place of its packet.

use tidegate_core::unit::Unit;
use tidegate_core::units::Time;

use crate::host::Packet;

/// The packets of a flow's hosts in the network, by the handles of their units.
#[derive(Debug, Default)]
pub(crate) struct InNetwork {
    places: Vec<Option<OnItsWay>>,
    free: Vec<u32>,
    /// IP bytes of all of them.
    bytes: usize,
}

/// A packet on its way.
#[derive(Debug)]
pub(crate) struct OnItsWay {
    pub(crate) packet: Packet,
    pub(crate) sent_at: Time,
    /// It counts as data.
    pub(crate) data: bool,
}

impl InNetwork {
    /// Stores one more, of so many IP bytes, and says where.
    pub(crate) fn add(&mut self, packet: OnItsWay, ip_bytes: u32) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            (self.places.len() - 1) as u32
        });
        self.places[place as usize] = Some(packet);
        self.bytes += ip_bytes as usize;
        place
    }

    /// The packet of a unit.
    pub(crate) fn packet(&self, unit: Unit) -> Option<&Packet> {
        self.places[unit.handle as usize].as_ref().map(|stored| &stored.packet)
    }

    /// Whether the packet of a unit counts as data.
    pub(crate) fn is_data(&self, unit: Unit) -> bool {
        self.places[unit.handle as usize].as_ref().is_some_and(|stored| stored.data)
    }

    /// The packet of a unit that has arrived, or will not; its place may be used again.
    pub(crate) fn take(&mut self, unit: Unit) -> Option<OnItsWay> {
        let taken = self.places[unit.handle as usize].take()?;
        self.free.push(unit.handle);
        self.bytes -= unit.bytes as usize;
        Some(taken)
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<Option<OnItsWay>>() + self.bytes) as u64
    }
}
