//! What an application writes as datagrams (RFC 9221): they come in no order, and are not sent again.

use bytes::Bytes;
use quinn_proto::Connection;
use tidegate_core::plan::AppPlan;
use tidegate_core::random::Stream;

use crate::source::Source;

/// The application of a sender of datagrams.
pub(crate) struct Datagrams {
    pub(crate) source: Source,
    /// Bytes that wait in the connection.
    pub(crate) unsent: u64,
    /// The connection's room for them when it is empty.
    room: usize,
}

impl Datagrams {
    pub(crate) fn new(plan: &AppPlan, rng: Stream) -> Datagrams {
        Datagrams { source: Source::new(plan, rng), unsent: 0, room: 0 }
    }

    /// Hands over all that is written, each write in as few datagrams as hold it. Where there is no room quinn drops the oldest.
    pub(crate) fn send(&mut self, connection: &mut Connection) {
        let mut datagrams = connection.datagrams();
        let Some(largest) = datagrams.max_size() else { return };
        self.room = self.room.max(datagrams.send_buffer_space());
        while self.source.pending > 0 {
            let bytes = self.source.pending.min(largest as u64);
            if datagrams.send(Bytes::from(vec![0; bytes as usize]), true).is_err() {
                break;
            }
            self.source.take(bytes);
        }
        self.unsent = (self.room - datagrams.send_buffer_space()) as u64;
    }
}
