//! Data in a row ([`super::row`]).

use std::ops::RangeInclusive;

use super::Endpoint;
use super::row::Row;
use crate::tcp::header::Header;
use crate::tcp::outgoing::Outgoing;
use crate::tcp::sender::Sender;
use crate::units::Time;

impl Endpoint {
    /// Takes data and answers them.
    ///
    /// Fast path: the next expected segment at an end that acknowledges each segment at once and has nothing else to say. It counts the
    /// segment and sends its ACK; it skips reassembly, the delayed ACK, and the search for what else may leave. That its conditions hold
    /// is looked up once ([`Endpoint::acknowledged_singly`]) and remembered until anything else happens at this end.
    #[inline(always)]
    pub(super) fn take_data<R: Row>(&mut self, row: &mut R) {
        let mut wakeup = self.next_wakeup();
        loop {
            let (at, header, len) = row.next();
            row.take();
            let Sender { undisturbed, counters, .. } = &mut self.sender;
            let expected = self.theirs.wire(self.receiver.next());
            if len >= undisturbed.shortest && len <= undisturbed.longest && header.number == expected {
                self.receiver.take_acknowledged(len, counters);
                debug_assert!(self.acknowledged_singly().contains(&len), "something happened unnoticed");
                row.sent(at, Outgoing::new(self.sender.max, 0), self);
            } else {
                if !self.sender.ready && self.is_next(&header) {
                    self.handle_data_in_order(at, &header, len);
                    while let Some(ack) = self.poll_ack(at) {
                        row.sent(at, ack, self);
                    }
                } else {
                    self.take_other(at, header, len, row);
                }
                wakeup = self.next_wakeup();
            }
            row.received(at, self.in_order_bytes(), wakeup);
            if !row.goes_on(wakeup) {
                return;
            }
        }
    }

    /// Takes any segment, and looks up whether the next ones take the fast path.
    #[inline(never)]
    fn take_other<R: Row>(&mut self, now: Time, header: Header, len: u32, row: &mut R) {
        if self.headers_suffice || !self.numbers_suffice || self.sender.accounts.is_some() {
            self.handle_any(now, &self.segment_of_data(&header, len));
        } else if header.number == self.acknowledgement_number() {
            self.handle_next(now, len);
        } else {
            self.handle_disorder(now, header.number, len);
        }
        while let Some(sent) = self.poll(now) {
            row.sent(now, sent, self);
        }
        if !self.receiver.has_gaps() && u64::from(len) >= self.sender.config.ack_every {
            let lengths = self.acknowledged_singly();
            let undisturbed = &mut self.sender.undisturbed;
            (undisturbed.shortest, undisturbed.longest) =
                if lengths.is_empty() { (1, 0) } else { (*lengths.start(), *lengths.end()) };
        }
    }

    /// The lengths of segments that, in order, are acknowledged at once and by ACKs that say no more than their number.
    fn acknowledged_singly(&self) -> RangeInclusive<u32> {
        if self.numbers_suffice && !self.sender.ready && self.is_quiet() {
            self.receiver.acknowledged_singly(&self.sender.config)
        } else {
            RangeInclusive::new(1, 0)
        }
    }

    /// Whether data with this header simply continue the stream at an end that reads such headers and sends nothing itself.
    #[inline(always)]
    fn is_next(&self, header: &Header) -> bool {
        let Sender { una, max, raw_window, .. } = &self.sender;
        let same_window = header.window_or(*raw_window) == *raw_window;
        self.headers_suffice && una == max && same_window && header.number == self.acknowledgement_number()
    }

    /// `len` bytes of data that continue the stream ([`Endpoint::is_next`]) have come.
    #[inline(always)]
    fn handle_data_in_order(&mut self, now: Time, header: &Header, len: u32) {
        if self.sender.config.timestamps {
            self.read_timestamp(header.number, header.ts_val);
            self.receiver.handle_echo(now, header.ts_ecr);
        }
        self.receiver.note_push(header.is_pushed(), &self.sender.config);
        self.handle_next(now, len);
    }

    /// Data that say nothing but their number, and do not simply continue the stream. What comes with data acknowledges nothing new,
    /// and is no duplicate ACK (RFC 5681 §2).
    #[inline(never)]
    fn handle_disorder(&mut self, now: Time, seq: u32, len: u32) {
        crate::work::step();
        self.sender.undisturbed.forget();
        match self.theirs.offset(seq, self.receiver.next()) {
            Some(start) => {
                let Sender { config, counters, .. } = &mut self.sender;
                self.receiver.handle_disorder(now, start, len, config, counters);
            }
            None => self.receiver.demand_ack(),
        }
    }
}
