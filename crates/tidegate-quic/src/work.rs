//! What the application of an end does.

use quinn_proto::{Connection, WriteError};
use tidegate_core::plan::{AppPlan, FlowPlan, QuicPlan};
use tidegate_core::random::Stream;
use tidegate_core::units::Time;

use crate::data::{Reader, Writer};
use crate::datagrams::Datagrams;
use crate::messages::Messages;

/// What the application of an end does.
pub(crate) enum Work {
    /// It writes into streams.
    Write(Box<Writer>),
    /// It sends datagrams.
    Send(Box<Datagrams>),
    /// It reads all that comes.
    Read(Reader),
    /// It asks, or it answers.
    Exchange(Messages),
}

impl Work {
    /// Of a flow's sender and of its receiver. `rng`: what the application draws.
    pub(crate) fn both(flow: &FlowPlan, quic: &QuicPlan, rng: Stream) -> [Work; 2] {
        match &flow.app {
            AppPlan::Request(_) => [false, true].map(|asks| Work::Exchange(Messages::new(asks))),
            app if quic.datagrams => {
                [Work::Send(Box::new(Datagrams::new(app, rng))), Work::Read(Reader::default())]
            }
            app => {
                [Work::Write(Box::new(Writer::new(app, rng, quic.streams))), Work::Read(Reader::default())]
            }
        }
    }

    /// The flow begins.
    pub(crate) fn start(&mut self, now: Time) {
        match self {
            Work::Write(writer) => writer.source.start(now),
            Work::Send(datagrams) => datagrams.source.start(now),
            Work::Read(_) | Work::Exchange(_) => {}
        }
    }

    /// The application writes what is due.
    pub(crate) fn advance(&mut self, now: Time) {
        match self {
            Work::Write(writer) => writer.source.advance(now),
            Work::Send(datagrams) => datagrams.source.advance(now),
            Work::Read(_) | Work::Exchange(_) => {}
        }
    }

    /// When it writes next by itself, if that can make anything leave: behind data that wait it cannot, and quinn's pacer would lose the
    /// time that has passed if it were asked for each byte. `sent`: what the connection has sent of its streams.
    pub(crate) fn next_wakeup(&self, sent: u64) -> Time {
        match self {
            Work::Write(_) if self.pending() > 0 || self.unsent(sent) > 0 => Time::NEVER,
            Work::Write(writer) => writer.source.next_wakeup(),
            Work::Send(datagrams) => datagrams.source.next_wakeup(),
            Work::Read(_) | Work::Exchange(_) => Time::NEVER,
        }
    }

    /// Hands over as much as the connection takes, and reads all that has come.
    pub(crate) fn carry(&mut self, connection: &mut Connection) -> Result<(), WriteError> {
        if connection.is_handshaking() {
            return Ok(());
        }
        match self {
            Work::Write(writer) => writer.write(connection),
            Work::Send(datagrams) => {
                datagrams.send(connection);
                Ok(())
            }
            Work::Read(reader) => {
                reader.read(connection);
                Ok(())
            }
            Work::Exchange(messages) => messages.work(connection),
        }
    }

    /// Bytes that wait for the connection to take them.
    pub(crate) fn pending(&self) -> u64 {
        match self {
            Work::Write(writer) => writer.source.pending,
            Work::Exchange(messages) => messages.pending(),
            // All is taken at once.
            Work::Send(_) | Work::Read(_) => 0,
        }
    }

    /// Bytes that the connection has taken and not sent; `sent`: what it has sent of its streams.
    pub(crate) fn unsent(&self, sent: u64) -> u64 {
        match self {
            Work::Write(writer) => writer.taken.saturating_sub(sent),
            Work::Exchange(messages) => messages.taken.saturating_sub(sent),
            Work::Send(datagrams) => datagrams.unsent,
            Work::Read(_) => 0,
        }
    }

    /// Bytes that were read.
    pub(crate) fn read(&self) -> u64 {
        match self {
            Work::Read(reader) => reader.bytes,
            Work::Exchange(messages) => messages.read,
            Work::Write(_) | Work::Send(_) => 0,
        }
    }
}
