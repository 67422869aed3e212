//! Samples of the delivery rate (draft-ietf-ccwg-bbr §4.1): how fast data arrive, as `tcp_rate.c` of Linux 6.18 takes them.

use super::scoreboard::Scoreboard;
use crate::cc::RateSample;
use crate::units::{Span, Time};

/// What was known when a segment was sent last.
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    /// Bytes that had arrived (P.delivered), and when the last of them were reported (P.delivered_time).
    delivered: u64,
    delivered_at: Time,
    /// When the segment was sent whose arrival had been reported last (P.first_send_time).
    first_sent_at: Time,
    /// Bytes in flight with it (P.tx_in_flight).
    in_flight: u64,
    /// Bytes taken to be lost until then (P.lost).
    lost: u64,
    app_limited: bool,
    repeated: bool,
}

/// A ring has room for so many records at least.
const SMALL: usize = 16;

/// What a record is sent with.
#[derive(Clone, Copy, Debug)]
pub struct With {
    /// Nothing else is outstanding.
    pub none_out: bool,
    /// Bytes in flight, its own included.
    pub in_flight: u64,
    /// Bytes ever taken to be lost.
    pub lost: u64,
    /// It was sent before.
    pub repeated: bool,
}

/// What is usually known of a sample ([`RateSample`]).
#[derive(Clone, Copy, Debug)]
pub(super) struct InOrderSample {
    pub(super) delivered: u64,
    pub(super) interval: Span,
    pub(super) prior_delivered: u64,
}

/// The state of a connection's samples of the delivery rate. What is sent has numbers that rise by one: segments of TCP, packets of QUIC.
#[derive(Debug, Default)]
pub struct Sampler {
    /// Of the records outstanding: a ring, in which a record's place follows from its number.
    stamps: Vec<Stamp>,
    /// C.delivered, C.delivered_time and C.first_send_time.
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Samples are of the application until more than this has arrived (C.app_limited); 0: they are not.
    app_limited_until: u64,
    /// When the newest segment was sent that an ACK reported, and its number.
    newest: Option<(Time, u64)>,
    /// A round is over when a segment is reported that was sent after so much had arrived.
    round_end: u64,
    round: u64,
}

impl Sampler {
    /// Record `number` was sent, with `first` as the oldest outstanding.
    #[inline]
    pub fn handle_sent(&mut self, now: Time, number: u64, first: u64, with: With) {
        let With { none_out, in_flight, lost, repeated } = with;
        if none_out && !repeated {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        if (number - first) as usize >= self.stamps.len() {
            self.grow(first, number);
        }
        let place = number as usize & (self.stamps.len() - 1);
        self.stamps[place] = Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight,
            lost,
            app_limited: self.app_limited_until > 0,
            repeated,
        };
    }

    /// Makes room for the records from `first` to `number`.
    #[cold]
    fn grow(&mut self, first: u64, number: u64) {
        let len = ((number - first + 1) as usize).next_power_of_two().max(SMALL);
        let mut stamps = vec![Stamp::default(); len];
        if !self.stamps.is_empty() {
            for kept in first..number {
                stamps[kept as usize & (len - 1)] = self.stamps[kept as usize & (self.stamps.len() - 1)];
            }
        }
        self.stamps = stamps;
    }

    /// See [`super::scoreboard::renumber`]; `board` has the numbers already.
    pub(super) fn renumber(&mut self, from: u64, later: bool, board: &Scoreboard) {
        if (board.next - board.first) as usize > self.stamps.len() {
            self.grow(board.first, board.next - 1);
        }
        let mask = self.stamps.len() - 1;
        let place = |number: u64| number as usize & mask;
        if later {
            for number in (from..board.next).rev() {
                self.stamps[place(number)] = self.stamps[place(number - 1)];
            }
        } else {
            for number in from - 1..board.next {
                self.stamps[place(number)] = self.stamps[place(number + 1)];
            }
        }
    }

    /// The arrival of record `number` is reported, which was sent at `sent` with so many bytes.
    pub fn handle_delivered(&mut self, number: u64, sent: Time, bytes: u64) {
        self.delivered += bytes;
        self.newest = self.newest.max(Some((sent, number)));
    }

    /// So many bytes have arrived again.
    pub(super) fn handle_again(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// The arrival of the oldest records is reported, the last of them just below number `first`, which was sent at `newest`;
    /// they had `bytes`.
    #[inline]
    pub(super) fn handle_next(&mut self, first: u64, newest: Time, bytes: u64) {
        self.delivered += bytes;
        self.newest = Some((newest, first - 1));
    }

    /// The application had nothing to send, with so many bytes in flight.
    pub fn handle_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// The rate sample of an ACK after which no round ends, and which the application did not limit. `None`: it is another ACK.
    #[inline(always)]
    pub(super) fn in_order_sample(
        &self,
        now: Time,
        first: u64,
        newest: Time,
        bytes: u64,
    ) -> Option<InOrderSample> {
        let stamp = &self.stamps[(first - 1) as usize & (self.stamps.len() - 1)];
        if stamp.delivered >= self.round_end || stamp.app_limited || self.app_limited_until > 0 {
            return None;
        }
        let sending = newest.saturating_since(stamp.first_sent_at);
        let acknowledging = now.saturating_since(stamp.delivered_at);
        Some(InOrderSample {
            delivered: self.delivered + bytes - stamp.delivered,
            interval: sending.max(acknowledging),
            prior_delivered: stamp.delivered,
        })
    }

    /// [`Sampler::in_order_sample`] has been used.
    #[inline(always)]
    pub(super) fn note_in_order(&mut self, now: Time, newest: Time, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent_at = newest;
    }

    /// Rounds that are over.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.round
    }

    /// The sample of an ACK; `lost`: bytes ever taken to be lost; `least_rtt`: no shorter interval is believed.
    #[inline]
    pub fn sample(&mut self, now: Time, lost: u64, least_rtt: Option<Span>) -> Option<RateSample> {
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let (sent_at, number) = self.newest.take()?;
        let stamp = self.stamps[number as usize & (self.stamps.len() - 1)];
        self.delivered_at = now;
        self.first_sent_at = sent_at;
        if stamp.delivered >= self.round_end {
            self.round_end = self.delivered;
            self.round += 1;
        }
        let sending = sent_at.saturating_since(stamp.first_sent_at);
        let acknowledging = now.saturating_since(stamp.delivered_at);
        let interval = sending.max(acknowledging);
        if interval == Span::ZERO || least_rtt.is_some_and(|least| interval < least) {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - stamp.delivered,
            lost: lost - stamp.lost,
            interval,
            prior_delivered: stamp.delivered,
            total_delivered: self.delivered,
            sent_in_flight: stamp.in_flight,
            app_limited: stamp.app_limited,
            retransmitted: stamp.repeated,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u32 = 1000;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn with(none_out: bool, in_flight: u64) -> With {
        With { none_out, in_flight, lost: 0, repeated: false }
    }

    /// Ten segments leave at once, and one is reported each millisecond from 20 ms on: the sample is of what arrived since the
    /// segment was sent, over the time from then.
    #[test]
    fn a_sample_is_what_arrived_since_the_segment_was_sent() {
        let mut board = Scoreboard::default();
        let mut sampler = Sampler::default();
        for number in 0..10 {
            board.push((number + 1) * u64::from(LEN), LEN, at(0));
            sampler.handle_sent(at(0), number, 0, with(number == 0, (number + 1) * u64::from(LEN)));
        }
        for number in 0..10 {
            let sent = *board.slot(number);
            sampler.handle_delivered(number, sent.at(), u64::from(sent.len()));
            let sample = sampler.sample(at(20 + number), 0, None).expect("a segment arrived");
            assert_eq!(
                (sample.delivered, sample.interval),
                ((number + 1) * 1000, Span::from_millis(20 + number))
            );
            assert_eq!(sample.sent_in_flight, (number + 1) * 1000);
        }
        assert_eq!(sampler.round(), 1);
        // Sent after 10 000 bytes had arrived: a new round, and a rate over the round trip.
        board.push(11_000, LEN, at(30));
        sampler.handle_sent(at(30), 10, 10, with(true, 1000));
        sampler.handle_delivered(10, board.slot(10).at(), u64::from(LEN));
        let sample = sampler.sample(at(50), 0, Some(Span::from_millis(20))).expect("it arrived");
        assert_eq!((sample.delivered, sample.interval), (1000, Span::from_millis(20)));
        assert_eq!((sample.bytes_per_second(), sampler.round()), (50_000, 2));
    }

    #[test]
    fn samples_are_the_applications_until_all_has_arrived_that_was_out() {
        let mut board = Scoreboard::default();
        let mut sampler = Sampler::default();
        sampler.handle_app_limited(0);
        for number in 0..3 {
            board.push((number + 1) * u64::from(LEN), LEN, at(number));
            sampler.handle_sent(at(number), number, 0, with(number == 0, 0));
        }
        sampler.handle_delivered(0, board.slot(0).at(), u64::from(LEN));
        let sample = sampler.sample(at(20), 0, None).expect("it arrived");
        assert!(sample.app_limited);
        board.push(4000, LEN, at(20));
        sampler.handle_sent(at(20), 3, 1, with(false, 0));
        sampler.handle_delivered(3, board.slot(3).at(), u64::from(LEN));
        assert!(!sampler.sample(at(40), 0, None).expect("it arrived").app_limited);
    }

    #[test]
    fn no_interval_below_the_least_round_trip_is_believed() {
        let mut board = Scoreboard::default();
        let mut sampler = Sampler::default();
        board.push(1000, LEN, at(0));
        sampler.handle_sent(at(0), 0, 0, with(true, 1000));
        sampler.handle_delivered(0, board.slot(0).at(), u64::from(LEN));
        assert_eq!(sampler.sample(at(9), 0, Some(Span::from_millis(10))), None);
    }
}
