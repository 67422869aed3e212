//! What an endpoint does with segments that come with short headers.

use super::Endpoint;
use crate::tcp::accounts::Accounts;
use crate::tcp::header::Header;
use crate::tcp::outgoing::Outgoing;
use crate::tcp::sender::Sender;
use crate::units::Time;

impl Endpoint {
    /// An ACK with a short header arrived at an end to which the other one sends no data.
    #[inline]
    pub fn handle_short_ack(&mut self, now: Time, short: &Header) {
        self.handle_any(now, &self.header_of_ack(short));
    }

    /// The same, then [`Endpoint::poll`]: one way from an ACK to what it lets go.
    #[inline(always)]
    pub fn answer_short_ack(&mut self, now: Time, short: &Header) -> Option<Outgoing> {
        if !self.short {
            self.handle_short_ack(now, short);
            return self.poll(now);
        }
        self.answer_next(now, *short)
    }

    /// What a short ACK lets go, of a sender that accounts for none.
    #[inline(always)]
    pub(super) fn answer_short_here(&mut self, now: Time, short: &Header) -> Outgoing {
        if self.sender.config.timestamps {
            self.read_timestamp(self.acknowledgement_number(), short.ts_val);
        }
        let segment = self.header_of_ack(short);
        if !self.sender.handle_ack(now, segment.ack, segment.window, Some(&segment)) {
            self.receiver.demand_ack();
        }
        self.release_alone(now)
    }

    /// What a short ACK does at a sender that accounts for it where it is not the one that moves SND.UNA.
    #[inline(never)]
    pub(super) fn account_short_ack(&mut self, accounts: &mut Accounts, now: Time, short: &Header) {
        let segment = self.header_of_ack(short);
        if !self.sender.handle_ack_with(accounts, now, segment.ack, segment.window, Some(&segment)) {
            self.receiver.demand_ack();
        }
    }

    /// Data with a short header arrived at an end that sends none.
    #[inline(always)]
    pub fn handle_short_data(&mut self, now: Time, short: Header, len: u32) {
        let Header { number, window, ts_val, ts_ecr, pushed } = short;
        let Sender { una, max, raw_window, .. } = &self.sender;
        if self.short && una == max && window == *raw_window && number == self.acknowledgement_number() {
            if self.sender.config.timestamps {
                self.read_timestamp(number, ts_val);
                self.receiver.handle_echo(now, ts_ecr);
            }
            self.receiver.note_push(pushed, &self.sender.config);
            return self.handle_next(now, len);
        }
        self.handle_any(now, &self.header_of_data(&Header { number, window, ts_val, ts_ecr, pushed }, len));
    }
}
