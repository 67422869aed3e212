//! From a rate and a time to a size, in whole numbers.

use tidegate_core::aal5::CELL_BITS;
use tidegate_core::plan::Plan;
use tidegate_core::units::{PICOS_PER_SECOND, Span, Speed};

use super::mean::{MeanRate, Refusal};
use crate::check::Computed;
use crate::copies::servers;
use crate::units::{Amount, LARGEST_BYTES, NANOS_PER_PRODUCT};

/// What a size came to.
pub(super) struct Came {
    pub(super) amount: Amount,
    pub(super) computed: Computed,
}

/// The size that a gate holds.
pub(super) fn of_gate(asked: Amount, rate: MeanRate, gate: &str, plan: &Plan) -> Result<Came, Refusal> {
    let longest = match asked {
        Amount::Products(_) => Some(longest(gate, plan)?),
        _ => None,
    };
    of_round_trip(asked, rate, longest)
}

/// The longest of round trips, and the flow that has it where others have a shorter one.
pub(super) struct RoundTrip<'a> {
    pub(super) span: Span,
    pub(super) only_of: Option<&'a str>,
}

/// The size, with the round trip of a bandwidth–delay product.
pub(super) fn of_round_trip(
    asked: Amount,
    rate: MeanRate,
    trip: Option<RoundTrip<'_>>,
) -> Result<Came, Refusal> {
    let (nanos, span, from) = match (asked, trip) {
        (Amount::Products(nanos), Some(trip)) => {
            let parts = match nanos {
                NANOS_PER_PRODUCT => String::new(),
                _ => format!("{} × ", asked.to_string().trim_end_matches(" BDP")),
            };
            let whose = trip.only_of.map(|flow| format!(", the round trip of {flow}, the longest"));
            let from = format!("{parts}{rate} × {}{}", trip.span, whose.unwrap_or_default());
            (nanos, trip.span, from)
        }
        (Amount::Time(span), _) => (NANOS_PER_PRODUCT, span, format!("{rate} × {span}")),
        // Other sizes stay as they are written.
        _ => return Err(("it is a size already".to_owned(), "write it without a rate".to_owned())),
    };
    let amount =
        size(rate, nanos, span).ok_or_else(|| (format!("{from} is too large"), "write less".to_owned()))?;
    Ok(Came { amount, computed: Computed { written: asked.to_string(), from } })
}

/// What a rate carries in `nanos` billionths of a time, rounded down to whole bytes, packets or cells.
fn size(rate: MeanRate, nanos: u64, span: Span) -> Option<Amount> {
    let parts = u128::from(PICOS_PER_SECOND) * u128::from(NANOS_PER_PRODUCT);
    let work = u128::from(rate.speed.work_per_second())
        .checked_mul(u128::from(span.picos()))?
        .checked_mul(u128::from(nanos))?;
    let count = |per: u64, most: u64| {
        u64::try_from(work / (parts * u128::from(per))).ok().filter(|count| *count <= most)
    };
    Some(match rate.speed {
        Speed::Packets(_) => Amount::Packets(count(MILLIONTHS, u64::from(u32::MAX))?),
        Speed::Bits(_) if rate.cells => Amount::Cells(count(CELL_BITS, u64::from(u32::MAX))?),
        Speed::Bits(_) => Amount::Bytes(count(8, LARGEST_BYTES)?),
    })
}

/// Steps of a rate in packets.
const MILLIONTHS: u64 = 1_000_000;

/// The longest round trip of the flows that pass any copy of a gate, in either direction.
fn longest<'a>(gate: &str, plan: &'a Plan) -> Result<RoundTrip<'a>, Refusal> {
    // In order.
    let servers: Vec<usize> = servers(gate, plan).map(|(index, _)| index).collect();
    let passes = |path: &[usize]| path.iter().any(|index| servers.binary_search(index).is_ok());
    let flows = plan.flows.iter().filter(|flow| passes(&flow.path) || passes(&flow.back));
    longest_of(flows.map(|flow| (flow.round_trip_delay(&plan.gates), flow.name.as_str()))).ok_or_else(
        || {
            (
                format!("no flow passes gate {gate}, so there is no round trip"),
                "add the gate to the path of a flow, or write a time such as \"100 ms\"".to_owned(),
            )
        },
    )?
}

/// The longest of these; one of 0 s is refused. `None` if there are none.
pub(super) fn longest_of<'a>(
    mut trips: impl Iterator<Item = (Span, &'a str)>,
) -> Option<Result<RoundTrip<'a>, Refusal>> {
    let (mut span, mut flow) = trips.next()?;
    let mut differ = false;
    for (other, name) in trips {
        differ |= other != span;
        if other > span {
            (span, flow) = (other, name);
        }
    }
    if span == Span::ZERO {
        let help = "give a gate a delay or the flow an rtt, or write a time such as \"100 ms\"".to_owned();
        return Some(Err((format!("the round trip of flow {flow} without queueing is 0 s"), help)));
    }
    Some(Ok(RoundTrip { span, only_of: differ.then_some(flow) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::Rate;

    fn of(speed: Speed, cells: bool, nanos: u64, millis: u64) -> Option<Amount> {
        size(MeanRate::constant(speed, cells), nanos, Span::from_millis(millis))
    }

    #[test]
    fn sizes_are_rounded_down() {
        let bits = |bps| Speed::Bits(Rate::from_bps(bps));
        let one = NANOS_PER_PRODUCT;
        assert_eq!(of(bits(20_000_000), false, one, 40), Some(Amount::Bytes(100_000)));
        assert_eq!(of(bits(20_000_000), false, one / 2, 40), Some(Amount::Bytes(50_000)));
        // 1 000 001 × 0.04 / 8 = 5000.005; 0.333333333 × 5000 = 1666.67.
        assert_eq!(of(bits(1_000_001), false, one, 40), Some(Amount::Bytes(5000)));
        assert_eq!(of(bits(1_000_000), false, 333_333_333, 40), Some(Amount::Bytes(1666)));
        // 35 Mbit/s × 20 ms / 424 = 1650.9.
        assert_eq!(of(bits(35_000_000), true, one, 20), Some(Amount::Cells(1650)));
        assert_eq!(of(Speed::Packets(1_500_000_000), false, one, 10), Some(Amount::Packets(15)));
        assert_eq!(of(bits(1_000_000_000_000_000), false, 1_000_000 * one, 8_640_000), None);
    }
}
