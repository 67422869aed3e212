//! Arrival processes: when how many bytes come. Applications write them into TCP, background
//! traffic sends them as packets.

use rand_distr::{Distribution, Exp1};

use super::instants::Instants;
use super::media::Media;
use crate::aal5::CELL_BYTES;
use crate::plan::{HoldingPlan, MessageLength, MessagePlan, SourcePlan};
use crate::random::Stream;
use crate::units::{PICOS_PER_SECOND, Rate, Span, Time};

/// On and off periods: the clock of the instants runs while the source is on and stands while it is off, so the
/// mean rate is the on rate times the share of time that is on, whatever the lengths.
#[derive(Debug)]
struct Periods {
    on: HoldingPlan,
    off: HoldingPlan,
    /// On time left after the next arrival.
    left: Span,
}

#[derive(Debug)]
enum Process {
    Constant(Instants),
    OnOff(Instants, Periods),
    /// Mean gap in picoseconds.
    Poisson(f64),
    Media(Box<Media>),
}

/// When how many bytes come.
///
/// *Constant*: `bytes` at the start and then evenly spaced, exactly. *On–off*: the same while on;
/// the first period is on. *Poisson*: exponential gaps, the first one before the first arrival. *Messages*:
/// one of the two, each of its own length. *Media*: frames evenly spaced, each in packets.
#[derive(Debug)]
pub struct ArrivalProcess {
    process: Process,
    bytes: u32,
    /// Where they say how many.
    messages: Option<Box<MessagePlan>>,
    /// Packets of the media frame that the last arrival began; 0: it began none.
    begun: u32,
    next: Time,
    rng: Stream,
}

impl ArrivalProcess {
    /// The process of `plan` from `start` on. A rate of zero brings one arrival, or none.
    #[must_use]
    pub fn new(plan: &SourcePlan, start: Time, mut rng: Stream) -> ArrivalProcess {
        let (process, bytes) = match plan {
            SourcePlan::Constant { rate, bytes } => (evenly(*rate, *bytes), *bytes),
            SourcePlan::OnOff { rate, bytes, on, off } => {
                let periods = Periods { on: *on, off: *off, left: Span::ZERO };
                (Process::OnOff(Instants::new(*rate, *bytes), periods), *bytes)
            }
            SourcePlan::Poisson { rate, bytes } => (at_random(*rate, *bytes), *bytes),
            SourcePlan::Messages(messages) => {
                let wire = messages.mean() * CELL_BYTES;
                let gaps = if messages.exponential { at_random } else { evenly };
                (gaps(messages.load, wire), messages.bytes(messages.mean()))
            }
            SourcePlan::Media(media) => {
                (Process::Media(Box::new(Media::new(media, start, &mut rng))), media.largest_packet())
            }
        };
        let messages = match plan {
            SourcePlan::Messages(messages) => Some(Box::new(messages.clone())),
            _ => None,
        };
        let mut arrivals = ArrivalProcess { process, bytes, messages, begun: 0, next: start, rng };
        match &mut arrivals.process {
            Process::Constant(_) | Process::Media(_) => {}
            Process::OnOff(_, periods) => periods.left = draw(periods.on, &mut arrivals.rng),
            Process::Poisson(_) => arrivals.advance(),
        }
        arrivals
    }

    /// When the next bytes come; [`Time::NEVER`]: never.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Time {
        self.next
    }

    /// Packets of the media frame that the last arrival began; `None`: it began none.
    #[must_use]
    pub fn begun(&self) -> Option<u32> {
        (self.begun > 0).then_some(self.begun)
    }

    /// The next arrival: when, and how many bytes.
    #[expect(clippy::should_implement_trait, reason = "an iterator that may be peeked without a wrapper")]
    pub fn next(&mut self) -> Option<(Time, u32)> {
        if self.next == Time::NEVER {
            return None;
        }
        let at = self.next;
        if let Process::Media(media) = &mut self.process {
            let (bytes, begun) = media.take();
            self.begun = begun.unwrap_or(0);
            self.next = media.next_at(&mut self.rng);
            return Some((at, bytes));
        }
        let bytes = match &self.messages {
            None => self.bytes,
            Some(messages) => match &messages.length {
                MessageLength::Constant(cells) => messages.bytes(*cells),
                MessageLength::Geometric(lengths) => messages.bytes(lengths.draw(&mut self.rng)),
            },
        };
        self.advance();
        Some((at, bytes))
    }

    fn advance(&mut self) {
        let rng = &mut self.rng;
        let gap = match &mut self.process {
            Process::Constant(instants) => instants.step(),
            Process::Poisson(mean) => exponential(*mean, rng),
            Process::Media(media) => return self.next = media.next_at(rng),
            Process::OnOff(instants, periods) => {
                let step = instants.step();
                if step == Span::MAX { Span::MAX } else { periods.stretch(step, rng) }
            }
        };
        self.next = self.next.saturating_add(gap);
    }
}

fn evenly(rate: Rate, bytes: u32) -> Process {
    Process::Constant(Instants::new(rate, bytes))
}

fn at_random(rate: Rate, bytes: u32) -> Process {
    let bits = f64::from(bytes) * 8.0;
    Process::Poisson(bits * PICOS_PER_SECOND as f64 / rate.bps() as f64)
}

impl Periods {
    /// The real time in which `on_time` of on time passes. Periods are `[on, off)`: an arrival due at the very end
    /// of an on period comes at the beginning of the next one.
    fn stretch(&mut self, on_time: Span, rng: &mut Stream) -> Span {
        let mut need = on_time;
        let mut gap = Span::ZERO;
        while need >= self.left {
            let pause = draw(self.off, rng);
            let next = draw(self.on, rng);
            if pause.picos().saturating_add(next.picos()) == 0 {
                // Two periods of no length: time would stand still.
                return Span::MAX;
            }
            gap =
                Span::from_picos(gap.picos().saturating_add(self.left.picos()).saturating_add(pause.picos()));
            if gap == Span::MAX {
                return gap;
            }
            need = need.saturating_sub(self.left);
            self.left = next;
        }
        self.left = self.left.saturating_sub(need);
        Span::from_picos(gap.picos().saturating_add(need.picos()))
    }
}

/// A length of time as planned.
pub(crate) fn draw(holding: HoldingPlan, rng: &mut Stream) -> Span {
    match holding {
        HoldingPlan::Constant(span) => span,
        HoldingPlan::Exponential(mean) => exponential(mean.picos() as f64, rng),
    }
}

/// An exponential span with this mean in picoseconds, to the picosecond below.
fn exponential(mean: f64, rng: &mut Stream) -> Span {
    let unit: f64 = Exp1.sample(rng);
    Span::from_picos((unit * mean) as u64)
}
