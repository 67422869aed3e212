//! Which circuits belong to one call.

use super::{GateIndex, GatePlan, RatePlan};

/// Which circuits must be of one reservation: those that somebody passes both of, and so on.
/// `together`: the gates that belong together, such as all those of a flow. The answer has
/// each group once, its gates and the groups in the order of the gates; gates of other laws
/// are in none.
#[must_use]
pub fn groups_of_circuits(gates: &[GatePlan], together: &[Vec<GateIndex>]) -> Vec<Vec<GateIndex>> {
    let mut group: Vec<usize> = (0..gates.len()).collect();
    let is_circuit = |gate: &GateIndex| matches!(gates[*gate].rate, RatePlan::Reserve(_));
    loop {
        let before = group.clone();
        for list in together {
            let circuits = || list.iter().copied().filter(is_circuit);
            let Some(least) = circuits().map(|gate| group[gate]).min() else { continue };
            circuits().for_each(|gate| group[gate] = least);
        }
        if group == before {
            break;
        }
    }
    let mut found: Vec<Vec<GateIndex>> = vec![vec![]; gates.len()];
    (0..gates.len()).filter(is_circuit).for_each(|gate| found[group[gate]].push(gate));
    found.retain(|members| !members.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ReservePlan;
    use crate::units::Rate;

    #[test]
    fn circuits_on_one_path_belong_together() {
        let circuit = GatePlan {
            rate: RatePlan::Reserve(ReservePlan { reservation: 0, rate: Rate::from_bps(1) }),
            ..GatePlan::open("")
        };
        let mut gates = vec![circuit; 6];
        gates[2] = GatePlan::open("");
        let together = [vec![5, 2, 4], vec![2, 1], vec![0, 2], vec![4, 3]];
        assert_eq!(groups_of_circuits(&gates, &together), [vec![0], vec![1], vec![3, 4, 5]]);
    }
}
