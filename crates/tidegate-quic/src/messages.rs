//! Requests and responses: each exchange is a bidirectional stream of the one connection.

use std::collections::VecDeque;

use quinn_proto::{Connection, Dir, StreamId, WriteError};

use crate::data::{drain, write_some};

/// One end of exchanges.
pub(crate) struct Messages {
    /// It opens the streams, in the order of the requests, so that the n-th has request n.
    asks: bool,
    /// Requests that wait for a stream, in order: their bytes.
    waiting: VecDeque<u64>,
    /// Messages that the connection has not taken whole: their streams and the bytes left.
    writing: Vec<(StreamId, u64)>,
    /// Streams whose message from the other end is not whole.
    reading: Vec<StreamId>,
    /// Messages that have come whole.
    whole: VecDeque<u64>,
    /// Bytes that the connection has taken.
    pub(crate) taken: u64,
    /// Bytes that were read.
    pub(crate) read: u64,
}

impl Messages {
    pub(crate) fn new(asks: bool) -> Messages {
        Messages {
            asks,
            waiting: VecDeque::new(),
            writing: Vec::new(),
            reading: Vec::new(),
            whole: VecDeque::new(),
            taken: 0,
            read: 0,
        }
    }

    /// The application writes message `number`, of so many bytes.
    pub(crate) fn add(&mut self, connection: Option<&Connection>, number: u64, bytes: u64) {
        if self.asks {
            self.waiting.push_back(bytes);
        } else if let Some(connection) = connection {
            // The client opened the stream.
            self.writing.push((StreamId::new(!connection.side(), Dir::Bi, number), bytes));
        }
    }

    /// The next message that has come whole.
    pub(crate) fn poll_whole(&mut self) -> Option<u64> {
        self.whole.pop_front()
    }

    /// Bytes that wait for the connection to take them.
    pub(crate) fn pending(&self) -> u64 {
        self.waiting.iter().sum::<u64>() + self.writing.iter().map(|(_, left)| left).sum::<u64>()
    }

    /// Hands over as much as the connection takes, and reads all that has come.
    pub(crate) fn work(&mut self, connection: &mut Connection) -> Result<(), WriteError> {
        while let Some(bytes) = self.waiting.front().copied() {
            let Some(stream) = connection.streams().open(Dir::Bi) else { break };
            self.waiting.pop_front();
            self.writing.push((stream, bytes));
            self.reading.push(stream);
        }
        let mut failed = None;
        self.writing.retain_mut(|(id, left)| {
            let mut stream = connection.send_stream(*id);
            while *left > 0 {
                match write_some(&mut stream, *left) {
                    Ok(bytes) => {
                        *left -= bytes;
                        self.taken += bytes;
                    }
                    Err(WriteError::Blocked) => return true,
                    Err(error) => {
                        failed = Some(error);
                        return true;
                    }
                }
            }
            // The other end has stopped reading: nothing is lost by it.
            let _stopped = stream.finish();
            false
        });
        while let Some(stream) = connection.streams().accept(Dir::Bi) {
            self.reading.push(stream);
        }
        self.reading.retain(|id| {
            let (bytes, goes_on) = drain(connection, *id);
            self.read += bytes;
            if !goes_on {
                self.whole.push_back(id.index());
            }
            goes_on
        });
        failed.map_or(Ok(()), Err)
    }
}
