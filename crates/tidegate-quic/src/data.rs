//! What an end's application does: it writes into streams, or reads all that come.

use quinn_proto::{Connection, Dir, ReadError, StreamId, WriteError};
use tidegate_core::app::Application;
use tidegate_core::plan::AppPlan;
use tidegate_core::random::Stream;
use tidegate_core::units::Time;

/// The longest piece that is read.
const LONGEST_READ: usize = 1 << 20;
/// What is written at once.
const WRITTEN_AT_ONCE: [u8; 1 << 14] = [0; 1 << 14];

/// The application of the sender.
pub(crate) struct Writer {
    plan: AppPlan,
    rng: Stream,
    /// From the start on.
    application: Option<Application>,
    /// Bytes that it has written and the connection has not taken; `u64::MAX`: always more.
    pending: u64,
    /// Bytes that the connection has taken.
    taken: u64,
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
            plan: plan.clone(),
            rng,
            application: None,
            pending: 0,
            taken: 0,
            streams: Vec::new(),
            count: streams,
            next: 0,
            finished: false,
        }
    }

    /// The flow begins.
    pub(crate) fn start(&mut self, now: Time) {
        self.application = Some(Application::new(&self.plan, now, self.rng.clone()));
        self.advance(now);
    }

    /// The application writes what is due.
    pub(crate) fn advance(&mut self, now: Time) {
        let written = self.application.as_mut().map_or(0, |application| application.handle_wakeup(now));
        self.pending = self.pending.saturating_add(written);
    }

    /// When it writes next.
    pub(crate) fn next_wakeup(&self) -> Time {
        self.application.as_ref().map_or(Time::NEVER, Application::next_wakeup)
    }

    /// Bytes that wait for the connection to take them.
    pub(crate) fn pending(&self) -> u64 {
        self.pending
    }

    /// Bytes that the connection has taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Hands over as much as the connection takes.
    pub(crate) fn write(&mut self, connection: &mut Connection) -> Result<(), WriteError> {
        while self.streams.len() < self.count as usize {
            let Some(stream) = connection.streams().open(Dir::Uni) else { break };
            self.streams.push(stream);
        }
        let mut blocked = 0;
        while self.pending > 0 && blocked < self.streams.len() {
            let most = self.pending.min(WRITTEN_AT_ONCE.len() as u64) as usize;
            match connection.send_stream(self.streams[self.next]).write(&WRITTEN_AT_ONCE[..most]) {
                Ok(bytes) => {
                    blocked = 0;
                    self.taken += bytes as u64;
                    // A sender that always has more stays so.
                    self.pending -= if self.pending == u64::MAX { 0 } else { bytes as u64 };
                }
                Err(WriteError::Blocked) => blocked += 1,
                Err(error) => return Err(error),
            }
            self.next = (self.next + 1) % self.streams.len();
        }
        if self.pending == 0 && self.next_wakeup() == Time::NEVER && !self.finished {
            self.finished = true;
            for stream in &self.streams {
                // What is written is sent without the end of the stream if the other end has stopped reading.
                let _stopped = connection.send_stream(*stream).finish();
            }
        }
        Ok(())
    }
}

/// The application of the receiver: it reads each stream as its bytes come, in order.
#[derive(Default)]
pub(crate) struct Reader {
    open: Vec<StreamId>,
    /// Bytes that were read.
    pub(crate) bytes: u64,
}

impl Reader {
    pub(crate) fn read(&mut self, connection: &mut Connection) {
        while let Some(stream) = connection.streams().accept(Dir::Uni) {
            self.open.push(stream);
        }
        self.open.retain(|stream| {
            let mut stream = connection.recv_stream(*stream);
            let Ok(mut chunks) = stream.read(true) else { return false };
            let goes_on = loop {
                match chunks.next(LONGEST_READ) {
                    Ok(Some(chunk)) => self.bytes += chunk.bytes.len() as u64,
                    Err(ReadError::Blocked) => break true,
                    Ok(None) | Err(ReadError::Reset(_)) => break false,
                }
            };
            // Whether a window is to be told: the connection is polled anyway.
            let _polled = chunks.finalize();
            goes_on
        });
    }
}
