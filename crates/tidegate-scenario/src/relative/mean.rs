//! The rate at which a size counts: of a gate its mean rate, of a bucket the rate that fills it.

use std::fmt;

use tidegate_core::plan::{Course, GatePlan, MarkovPlan, Plan, RatePlan};
use tidegate_core::units::{Rate, Span, Speed, Time};

use crate::copies::servers;

/// What is wrong, and what would be right.
pub(super) type Refusal = (String, String);

/// A rate for sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeanRate {
    pub(super) speed: Speed,
    /// Whether it is the mean of a rate that varies.
    varies: bool,
    /// Whether sizes are counted in cells.
    pub(super) cells: bool,
}

impl MeanRate {
    #[cfg(test)]
    pub(super) fn constant(speed: Speed, cells: bool) -> MeanRate {
        MeanRate { speed, varies: false, cells }
    }
}

impl fmt::Display for MeanRate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", if self.varies { "mean rate " } else { "" }, self.speed)
    }
}

fn server<'a>(gate: &'a str, plan: &'a Plan) -> Result<&'a GatePlan, Refusal> {
    let unused = || {
        let help = "add the gate to a path, or write the size in packets or bytes".to_owned();
        (format!("no flow or traffic passes gate {gate}"), help)
    };
    servers(gate, plan).next().map(|(_, server)| server).ok_or_else(unused)
}

/// The rate of a gate.
pub(super) fn of_gate(gate: &str, plan: &Plan) -> Result<MeanRate, Refusal> {
    let server = server(gate, plan)?;
    let help = |what: &str| format!("{what}, or write the size in packets or bytes");
    let (speed, varies) = of_law(&server.rate, plan.duration).map_err(|why| match why {
        Without::Rate => (format!("gate {gate} has no rate"), help(&format!("give gate.{gate} a rate"))),
        Without::Mean => (
            format!("the rate of gate {gate} is decided during the run ({})", server.rate.kind()),
            "write the size in packets or bytes".to_owned(),
        ),
    })?;
    Ok(MeanRate { speed, varies, cells: server.is_cell_gate() })
}

/// The rate that fills a bucket at a gate.
pub(super) fn of_contract(gate: &str, rate: Rate, plan: &Plan) -> Result<MeanRate, Refusal> {
    let cells = server(gate, plan)?.is_cell_gate();
    Ok(MeanRate { speed: Speed::Bits(rate), varies: false, cells })
}

/// The lowest rate in bit/s of some gates, contracts of their policers included; gates whose rate is decided during
/// the run do not count.
pub(super) fn lowest(gates: &[usize], plan: &Plan) -> Option<MeanRate> {
    let of_server = |server: &GatePlan| {
        let law = of_law(&server.rate, plan.duration).ok();
        let contract = server.contract().map(|contract| (rate(contract.bits_per_second), false));
        law.into_iter()
            .chain(contract)
            .filter(|(speed, _)| matches!(speed, Speed::Bits(_)))
            .collect::<Vec<_>>()
    };
    gates
        .iter()
        .flat_map(|gate| of_server(&plan.gates[*gate]))
        .min_by_key(|(speed, _)| speed.work_per_second())
        .map(|(speed, varies)| MeanRate { speed, varies, cells: false })
}

/// Why a law gives no rate for sizes.
enum Without {
    Rate,
    Mean,
}

fn rate(bps: u64) -> Speed {
    Speed::Bits(Rate::from_bps(bps))
}

/// The mean of a law in whole steps of its speed, rounded down, and whether it varies.
fn of_law(law: &RatePlan, end: Time) -> Result<(Speed, bool), Without> {
    match law {
        RatePlan::Constant(speed) => Ok((*speed, false)),
        RatePlan::Steps { steps, repeat } => {
            let until = repeat.map_or(end, |period| Time::ZERO.saturating_add(period));
            Ok((of_steps(steps, until), steps.len() > 1))
        }
        RatePlan::RateTrace { trace, .. } => Ok((Speed::Bits(trace.mean()), true)),
        RatePlan::Opportunities { trace, .. } => Ok((Speed::Bits(trace.mean()), true)),
        RatePlan::CellReplay(link) => Ok((Speed::Bits(link.heavy.mean()), true)),
        RatePlan::Markov(chain) => of_chain(chain).map(|mean| (rate(mean), true)).ok_or(Without::Mean),
        RatePlan::Reserve(circuit) => Ok((Speed::Bits(circuit.rate), false)),
        law => match law.course() {
            Course::Unlimited => Err(Without::Rate),
            Course::Constant(bps) => Ok((rate(bps), false)),
            Course::Pieces | Course::Opportunities(..) | Course::Set(_) => Err(Without::Mean),
        },
    }
}

/// The mean from the start until an instant.
fn of_steps(steps: &[(Time, Speed)], until: Time) -> Speed {
    let ends = steps.iter().skip(1).map(|(at, _)| *at).chain([until]);
    let work: u128 = steps
        .iter()
        .zip(ends)
        .map(|((at, speed), end)| {
            u128::from(speed.work_per_second()) * span(end.min(until).saturating_since(*at))
        })
        .sum();
    let mean = u64::try_from(work / u128::from(until.picos().max(1))).unwrap_or(u64::MAX);
    match steps.first() {
        Some((_, Speed::Packets(_))) => Speed::Packets(mean),
        _ => rate(mean),
    }
}

fn span(span: Span) -> u128 {
    u128::from(span.picos())
}

/// The stationary mean: exact where states follow each other in turn, otherwise as the core computes it.
fn of_chain(chain: &MarkovPlan) -> Option<u64> {
    if chain.transitions.is_some() {
        return chain.mean().map(|mean| mean as u64);
    }
    let states = || chain.rates.iter().zip(&chain.mean_holding);
    let time: u128 = states().map(|(_, holding)| span(*holding)).sum();
    let bits: u128 = states().map(|(rate, holding)| u128::from(rate.bps()) * span(*holding)).sum();
    u64::try_from(bits.checked_div(time)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_the_mean_until_the_end() {
        let at = |seconds: u64| Time::ZERO.saturating_add(Span::from_millis(1000 * seconds));
        let steps = [(at(0), rate(10_000_000)), (at(6), rate(0)), (at(8), rate(5_000_000))];
        // 60 + 0 + 10 Mbit in 10 s; 40 Mbit in 4 s.
        assert_eq!(of_steps(&steps, at(10)), rate(7_000_000));
        assert_eq!(of_steps(&steps, at(4)), rate(10_000_000));
    }

    #[test]
    fn means_are_rounded_down() {
        let at = |millis| Time::ZERO.saturating_add(Span::from_millis(millis));
        assert_eq!(of_steps(&[(at(0), rate(1)), (at(2), rate(2))], at(3)), rate(1));
    }
}
