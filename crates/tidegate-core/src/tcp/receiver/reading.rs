//! An application that does not read at once: what waits in the receive buffer, the window that is left, and the ACKs that tell of it
//! (RFC 1122 §4.2.3.3, RFC 9293 §3.8.6.2.2; `tcp_select_window`, `tcp_cleanup_rbuf` and `__tcp_ack_snd_check` of Linux 6.18).

use super::Receiver;
use crate::app::Pace;
use crate::plan::{ReadPlan, TcpPlan};
use crate::tcp::buffer::Buffer;
use crate::tcp::config::Config;
use crate::tcp::reader::Reader;
use crate::tcp::report::Counters;
use crate::units::Time;

impl Receiver {
    /// The application reads as the plan has it, from the beginning of the connection on.
    pub(in crate::tcp) fn read_as_planned(&mut self, plan: &TcpPlan) {
        let pace = match plan.read {
            ReadPlan::AtOnce => return,
            ReadPlan::AtRate(rate) => Some(Pace::new(rate, plan.mss)),
            ReadPlan::ByHand => None,
        };
        let buffer = self.buffer.get_or_insert_with(|| Box::new(Buffer::unchanging(plan.mss, plan.window)));
        buffer.begin_in_segments();
        buffer.reader = Some(Reader::new(pace, buffer.offered()));
        (self.longest, self.tells) = (0, true);
    }

    /// Whether the application reads by itself or when told to, not at once.
    #[inline]
    pub(super) fn reader(&self) -> Option<&Reader> {
        self.buffer.as_ref().and_then(|buffer| buffer.reader.as_ref())
    }

    #[inline]
    pub(super) fn reader_mut(&mut self) -> Option<&mut Reader> {
        self.buffer.as_mut().and_then(|buffer| buffer.reader.as_mut())
    }

    /// Bytes in order that the application has not read.
    pub(in crate::tcp) fn unread(&self) -> u64 {
        // Their FIN has an offset, and is nothing to be read.
        let end = self.next - u64::from(self.ended);
        self.reader().map_or(0, |reader| end.saturating_sub(reader.read))
    }

    /// Bytes that wait in the buffer of an application that does not read at once, in order or ahead of a gap.
    pub(super) fn used(&self) -> u64 {
        if self.reader().is_some() { self.unread() + self.islands.bytes() } else { 0 }
    }

    /// The window that is left of what was said last; `None`: the plan's holds always.
    pub(in crate::tcp) fn window_left(&self) -> Option<u64> {
        let buffer = self.buffer.as_ref()?;
        Some(buffer.reader.map_or(buffer.offered(), |reader| reader.edge.saturating_sub(self.next)))
    }

    /// What lies behind this offset is outside the window.
    #[inline]
    pub(super) fn window_end(&self, config: &Config) -> u64 {
        self.reader().map_or(self.next.saturating_add(config.window), |reader| reader.edge)
    }

    /// Data came to an application that does not read at once.
    #[cold]
    pub(super) fn handle_unread(
        &mut self,
        now: Time,
        start: u64,
        len: u32,
        config: &Config,
        counters: &mut Counters,
    ) {
        let before = self.next;
        if start == before && self.islands.is_empty() && start + u64::from(len) <= self.window_end(config) {
            self.next += u64::from(len);
            counters.delivered_bytes += u64::from(len);
            counters.delivered_segments += 1;
            self.owe_unread(now, len, config);
        } else {
            self.handle_other_disorder(now, start, len, config, counters);
        }
        let next = self.next;
        if let Some(reader) = self.reader_mut()
            && next > before
            && let Some(pace) = &reader.pace
            && reader.next_at == Time::NEVER
        {
            reader.next_at = now.max(pace.ready_at());
        }
        self.set_wakeup();
    }

    /// Data came in order: acknowledge now or later.
    fn owe_unread(&mut self, now: Time, len: u32, config: &Config) {
        self.owed += u64::from(len);
        self.scheduled = true;
        let (next, used) = (self.next, self.used());
        let Some(buffer) = &mut self.buffer else { return };
        if !buffer.linux {
            if self.owed >= config.ack_every || self.quick > 0 {
                self.ack_now = true;
            } else {
                self.put_off(self.ack_deadline(now, config));
            }
            return;
        }
        if !config.timestamps {
            buffer.measure_by_window(now, next);
        }
        let arrival = buffer.handle_unread(now, u64::from(len), used);
        let Some(Reader { said, pushed, .. }) = buffer.reader else { return };
        let short = buffer.is_short(len, pushed);
        if let Some(reader) = &mut buffer.reader {
            reader.pushed |= short;
        }
        let (reader_said, full) = (said, buffer.full);
        self.take_arrival(arrival);
        let much = next - self.acknowledged_to > u64::from(full);
        // Where the window does not move on, the ACK is left to the application's reading.
        if (much && self.select_window() >= reader_said) || self.is_quick() {
            self.ack_now = true;
        } else {
            self.put_off_or_hasten(now, config);
        }
    }

    fn set_wakeup(&mut self) {
        if let Some(Reader { next_at, ack_at, .. }) = self.reader() {
            self.delayed_until = *next_at.min(ack_at);
        }
    }

    /// It is time for a delayed ACK, or for the application to read.
    #[cold]
    pub(super) fn handle_reader_wakeup(&mut self, now: Time, config: &Config) {
        if let Some(reader) = self.reader_mut()
            && now >= reader.ack_at
        {
            reader.ack_at = Time::NEVER;
            self.handle_ack_expiry();
        }
        let due = self.reader().filter(|reader| now >= reader.next_at).and_then(|reader| reader.pace);
        if let Some(mut pace) = due {
            let taken = self.read(now, pace.most(), config);
            pace.handle_read(now, taken);
            let next_at = if self.unread() > 0 { pace.ready_at() } else { Time::NEVER };
            if let Some(reader) = self.reader_mut() {
                (reader.pace, reader.next_at) = (Some(pace), next_at);
            }
        }
        self.set_wakeup();
    }

    /// The application reads `most` bytes at most; how many there were.
    pub(in crate::tcp) fn read(&mut self, now: Time, most: u64, config: &Config) -> u64 {
        let (next, unread, ahead) = (self.next, self.unread(), self.ahead());
        let taken = unread.min(most);
        let Some(buffer) = &mut self.buffer else { return 0 };
        let Some(reader) = &mut buffer.reader else { return 0 };
        if taken == 0 {
            return 0;
        }
        reader.read += taken;
        let Reader { read, edge, pushed, .. } = *reader;
        buffer.ahead = ahead;
        buffer.count(now, read, unread - taken);
        let (left, linux, clamp) = (edge.saturating_sub(next), buffer.linux, buffer.clamp());
        let owes = self.scheduled && linux;
        let much = next - self.acknowledged_to > u64::from(config.mss);
        self.ack_now |= if owes
            && (much || (pushed && !self.interactive && taken == unread && self.islands.is_empty()))
        {
            true
        } else if linux {
            // The window has doubled at least.
            let wider = if 2 * left <= clamp { self.select_window() } else { 0 };
            wider > 0 && wider >= 2 * left
        } else {
            let (wider, mss) = (self.select_window() - left, u64::from(config.mss));
            wider > 0 && (left < mss || wider >= (2 * mss).min(clamp / 2))
        };
        taken
    }

    /// The window that an ACK would say now.
    fn select_window(&mut self) -> u64 {
        let (next, used) = (self.next, self.used());
        let Some(buffer) = &mut self.buffer else { return 0 };
        let Some(Reader { edge, said, .. }) = buffer.reader else { return buffer.offered() };
        let left = edge.saturating_sub(next);
        if !buffer.linux {
            // RFC 9293 §3.8.6.2.2: the edge stays until it may move by a segment, or half the buffer.
            let free = buffer.space(used);
            let far = free.saturating_sub(left) >= buffer.mss().min(buffer.clamp() / 2);
            return if far { free } else { left };
        }
        if buffer.is_half_full(used) {
            self.quick = 0;
        }
        buffer.window_beside(used, said).max(left)
    }

    /// An ACK leaves an end whose application does not read at once: what it says of the window, and when the end wakes.
    #[cold]
    pub(super) fn say_window(&mut self) {
        let window = self.select_window();
        let next = self.next;
        if let Some(buffer) = &mut self.buffer
            && let Some(reader) = &mut buffer.reader
        {
            let window = buffer.scale.align(window);
            (reader.edge, reader.said) = (next + window, window);
            (reader.ack_at, reader.pushed) = (Time::NEVER, false);
        }
        self.tells = true;
        self.set_wakeup();
    }
}
