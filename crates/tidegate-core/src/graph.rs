//! Topological order and cycles of a directed graph. Nodes are numbers; `after[n]` lists the nodes that `n` leads to.

use std::collections::BTreeSet;

/// Which nodes are left when those that nothing leads to, and then those that lead to nothing, are taken away
/// one after the other: the cycles and what lies between them.
#[must_use]
pub fn knot(after: &[Vec<usize>]) -> Vec<bool> {
    let mut left = vec![true; after.len()];
    let mut before: Vec<Vec<usize>> = vec![vec![]; after.len()];
    for (from, list) in after.iter().enumerate() {
        list.iter().for_each(|to| before[*to].push(from));
    }
    for (next, other) in [(after, before.as_slice()), (before.as_slice(), after)] {
        let mut inputs: Vec<usize> =
            other.iter().map(|list| list.iter().filter(|node| left[**node]).count()).collect();
        let mut open: Vec<usize> =
            (0..after.len()).filter(|node| left[*node] && inputs[*node] == 0).collect();
        while let Some(node) = open.pop() {
            left[node] = false;
            for to in next[node].iter().filter(|to| left[**to]) {
                inputs[*to] -= 1;
                if inputs[*to] == 0 {
                    open.push(*to);
                }
            }
        }
    }
    left
}

/// The rank of each node: before every node that it leads to, and otherwise as numbered. On a cycle the
/// lowest number that is left comes first.
#[must_use]
pub fn ranks(after: &[Vec<usize>]) -> Vec<usize> {
    let mut inputs = vec![0usize; after.len()];
    after.iter().flatten().for_each(|to| inputs[*to] += 1);
    let (mut ready, mut waiting): (BTreeSet<usize>, BTreeSet<usize>) =
        (0..after.len()).partition(|node| inputs[*node] == 0);
    let mut rank = vec![0; after.len()];
    for next_rank in 0..after.len() {
        let Some(node) = ready.pop_first().or_else(|| waiting.pop_first()) else { break };
        rank[node] = next_rank;
        for to in &after[node] {
            inputs[*to] = inputs[*to].saturating_sub(1);
            if inputs[*to] == 0 && waiting.remove(to) {
                ready.insert(*to);
            }
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found_whatever_leads_to_it() {
        assert_eq!(knot(&[vec![1], vec![2], vec![3], vec![1, 4], vec![]]), [false, true, true, true, false]);
        assert_eq!(knot(&[vec![1], vec![2], vec![]]), [false; 3]);
    }

    #[test]
    fn what_leads_to_a_node_comes_before_it() {
        assert_eq!(ranks(&[vec![], vec![0], vec![1], vec![1]]), [3, 2, 0, 1]);
        assert_eq!(ranks(&[vec![], vec![2], vec![1]]), [0, 1, 2]);
    }
}
