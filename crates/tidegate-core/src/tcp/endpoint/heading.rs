//! How segments in a row are told: by their numbers, or by short headers.

use super::Endpoint;
use crate::tcp::accounts::Accounts;
use crate::tcp::ack::Known;
use crate::tcp::header::Header;
use crate::tcp::outgoing::Outgoing;
use crate::units::Time;

/// What a segment in a row says.
pub(in crate::tcp) trait Heading: Copy {
    /// Whether an end reads such segments the short way.
    fn is_read_by(end: &Endpoint) -> bool;
    /// Whether it can say what this segment says.
    fn fits(sent: Outgoing) -> bool;
    /// What this segment says, which is leaving.
    fn of(end: &Endpoint, now: Time, sent: Outgoing) -> Self;
    /// What a segment says that leaves at the same instant as this one, `len` bytes behind it.
    fn behind(self, len: u32) -> Self;
    /// The same, with PSH or not.
    fn pushed_if(self, pushed: bool) -> Self;
    /// An ACK, and what it lets go.
    fn answer(self, end: &mut Endpoint, now: Time) -> Outgoing;
    /// An ACK at a sender that accounts for it, with `accounts` as those of the sender. `false`: it is not the usual one that
    /// moves SND.UNA, and [`Heading::account`] takes it.
    fn is_next<K: Known>(self, end: &mut Endpoint, accounts: &mut Accounts, now: Time) -> bool;
    /// See [`Heading::is_next`].
    fn account(self, end: &mut Endpoint, accounts: &mut Accounts, now: Time);
    /// `len` bytes of data.
    fn take(self, end: &mut Endpoint, now: Time, len: u32);
    /// An ACK that leaves where nothing else does; `None`: perhaps another segment is to leave, and nothing has been done.
    fn poll_ack(end: &mut Endpoint, now: Time) -> Option<Self>;
}

impl Heading for u32 {
    #[inline(always)]
    fn is_read_by(end: &Endpoint) -> bool {
        end.plain
    }

    #[inline(always)]
    fn fits(sent: Outgoing) -> bool {
        sent.fits_header()
    }

    #[inline(always)]
    fn of(end: &Endpoint, _now: Time, sent: Outgoing) -> u32 {
        if sent.is_empty() { end.acknowledgement_number() } else { end.sequence_number(sent) }
    }

    #[inline(always)]
    fn behind(self, len: u32) -> u32 {
        self.wrapping_add(len)
    }

    #[inline(always)]
    fn pushed_if(self, _pushed: bool) -> u32 {
        self
    }

    #[inline(always)]
    fn answer(self, end: &mut Endpoint, now: Time) -> Outgoing {
        end.answer_ack_here(now, self)
    }

    #[inline(always)]
    fn is_next<K: Known>(self, end: &mut Endpoint, accounts: &mut Accounts, now: Time) -> bool {
        let window = end.sender.raw_window;
        end.sender.handle_next_number::<K>(accounts, now, self, window)
    }

    #[inline(always)]
    fn account(self, end: &mut Endpoint, accounts: &mut Accounts, now: Time) {
        end.account_usual_ack(accounts, now, self);
    }

    #[inline(always)]
    fn take(self, end: &mut Endpoint, now: Time, len: u32) {
        end.handle_usual_data(now, self, len);
    }

    #[inline(always)]
    fn poll_ack(end: &mut Endpoint, _now: Time) -> Option<u32> {
        end.poll_usual_ack()
    }
}

impl Heading for Header {
    #[inline(always)]
    fn is_read_by(end: &Endpoint) -> bool {
        end.short
    }

    #[inline(always)]
    fn fits(sent: Outgoing) -> bool {
        sent.fits_header()
    }

    #[inline(always)]
    fn of(end: &Endpoint, now: Time, sent: Outgoing) -> Header {
        end.short_header(now, sent)
    }

    #[inline(always)]
    fn behind(self, len: u32) -> Header {
        Header { number: self.number.wrapping_add(len), ..self }
    }

    #[inline(always)]
    fn pushed_if(self, pushed: bool) -> Header {
        Header { pushed, ..self }
    }

    #[inline(always)]
    fn answer(self, end: &mut Endpoint, now: Time) -> Outgoing {
        end.answer_short_here(now, &self)
    }

    #[inline(always)]
    fn is_next<K: Known>(self, end: &mut Endpoint, accounts: &mut Accounts, now: Time) -> bool {
        if end.sender.config.timestamps {
            end.read_timestamp(end.acknowledgement_number(), self.ts_val);
        }
        end.sender.handle_next_number::<K>(accounts, now, self.number, self.window)
    }

    #[inline(always)]
    fn account(self, end: &mut Endpoint, accounts: &mut Accounts, now: Time) {
        // By a copy, so that the words themselves may lie in registers.
        let copy = self;
        end.account_short_ack(accounts, now, &copy);
    }

    #[inline(always)]
    fn take(self, end: &mut Endpoint, now: Time, len: u32) {
        end.handle_short_data(now, self, len);
    }

    #[inline(always)]
    fn poll_ack(end: &mut Endpoint, now: Time) -> Option<Header> {
        end.poll_short_ack(now)
    }
}
