//! What an end's application does: it writes into streams, or reads all that come.

use quinn_proto::{Connection, Dir, ReadError, SendStream, StreamId, WriteError};
use tidegate_core::plan::AppPlan;
use tidegate_core::random::Stream;

use crate::source::Source;

/// The longest piece that is read.
const LONGEST_READ: usize = 1 << 20;
/// What is written at once.
const WRITTEN_AT_ONCE: [u8; 1 << 14] = [0; 1 << 14];

/// The application of a sender in streams.
pub(crate) struct Writer {
    pub(crate) source: Source,
    /// Bytes that the connection has taken.
    pub(crate) taken: u64,
    /// Streams that it writes into, in turn; all are opened at once.
    streams: Vec<StreamId>,
    count: u32,
    /// Whose turn it is.
    next: usize,
    finished: bool,
}

impl Writer {
    pub(crate) fn new(plan: &AppPlan, rng: Stream, streams: u32) -> Writer {
        Writer {
            source: Source::new(plan, rng),
            taken: 0,
            streams: Vec::new(),
            count: streams,
            next: 0,
            finished: false,
        }
    }

    /// Hands over as much as the connection takes.
    pub(crate) fn write(&mut self, connection: &mut Connection) -> Result<(), WriteError> {
        while self.streams.len() < self.count as usize {
            let Some(stream) = connection.streams().open(Dir::Uni) else { break };
            self.streams.push(stream);
        }
        let mut blocked = 0;
        while self.source.pending > 0 && blocked < self.streams.len() {
            match write_some(&mut connection.send_stream(self.streams[self.next]), self.source.pending) {
                Ok(bytes) => {
                    blocked = 0;
                    self.taken += bytes;
                    self.source.take(bytes);
                }
                Err(WriteError::Blocked) => blocked += 1,
                Err(error) => return Err(error),
            }
            self.next = (self.next + 1) % self.streams.len();
        }
        if self.source.is_over() && !self.finished {
            self.finished = true;
            for stream in &self.streams {
                // What is written is sent without the end of the stream if the other end has stopped reading.
                let _stopped = connection.send_stream(*stream).finish();
            }
        }
        Ok(())
    }
}

/// The application of a receiver: it reads each stream as its bytes come, in order, and all datagrams.
#[derive(Default)]
pub(crate) struct Reader {
    open: Vec<StreamId>,
    /// Bytes that were read.
    pub(crate) bytes: u64,
}

impl Reader {
    pub(crate) fn read(&mut self, connection: &mut Connection) {
        while let Some(datagram) = connection.datagrams().recv() {
            self.bytes += datagram.len() as u64;
        }
        while let Some(stream) = connection.streams().accept(Dir::Uni) {
            self.open.push(stream);
        }
        self.open.retain(|stream| {
            let (bytes, goes_on) = drain(connection, *stream);
            self.bytes += bytes;
            goes_on
        });
    }
}

/// Writes up to so many bytes into a stream: how many it has taken.
pub(crate) fn write_some(stream: &mut SendStream<'_>, most: u64) -> Result<u64, WriteError> {
    let most = most.min(WRITTEN_AT_ONCE.len() as u64) as usize;
    Ok(stream.write(&WRITTEN_AT_ONCE[..most])? as u64)
}

/// Reads all that has come of a stream: how many bytes, and whether there may be more.
pub(crate) fn drain(connection: &mut Connection, stream: StreamId) -> (u64, bool) {
    let mut bytes = 0;
    let mut stream = connection.recv_stream(stream);
    let Ok(mut chunks) = stream.read(true) else { return (0, false) };
    let goes_on = loop {
        match chunks.next(LONGEST_READ) {
            Ok(Some(chunk)) => bytes += chunk.bytes.len() as u64,
            Err(ReadError::Blocked) => break true,
            Ok(None) | Err(ReadError::Reset(_)) => break false,
        }
    };
    // Whether a window is to be told: the connection is polled anyway.
    let _polled = chunks.finalize();
    (bytes, goes_on)
}
