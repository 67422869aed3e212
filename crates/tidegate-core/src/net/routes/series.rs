//! Gates in series that are passed as one ([`crate::net::fast`]).

use std::collections::BTreeMap;

use crate::net::routes::Routes;

/// Plain gates in series that the same stretches use, and no other.
#[derive(Clone, Debug)]
pub(in crate::net) struct Series {
    pub(in crate::net) gates: Vec<u32>,
    /// Place of the slowest of them, the last of several.
    pub(in crate::net) slowest: usize,
}

impl Routes {
    /// Finds the series at the end of stretches, and shortens these by them. `speeds`: that
    /// of every plain gate, 0 of the others.
    pub(in crate::net) fn take_series(&mut self, speeds: &[u64]) -> Vec<Series> {
        let lists: Vec<Vec<u32>> =
            self.map.chains.iter().map(|chain| self.map.gates_of(chain).to_vec()).collect();
        let mut users: Vec<Vec<usize>> = vec![vec![]; speeds.len()];
        for (number, list) in lists.iter().enumerate() {
            list.iter().for_each(|gate| users[*gate as usize].push(number));
        }
        // Where TCP hears departures, stretches are gone through gate by gate.
        let noted: Vec<bool> = self.map.chains.iter().map(|chain| chain.notify).collect();
        let mut found = Vec::new();
        let mut known = BTreeMap::new();
        for (chain, list) in self.map.chains.iter_mut().zip(&lists) {
            let Some(last) = list.last() else { continue };
            let users_of_last = &users[*last as usize];
            let same = |gate: &&u32| speeds[**gate as usize] > 0 && users[**gate as usize] == *users_of_last;
            let length = list.iter().rev().take_while(same).count();
            let gates = &list[list.len() - length..];
            let alike = |user: &usize| lists[*user].ends_with(gates) && !noted[*user];
            if length < 2 || !users_of_last.iter().all(alike) {
                continue;
            }
            chain.end -= length as u32;
            chain.series = *known.entry(gates).or_insert_with(|| {
                let slowest = gates.iter().map(|gate| speeds[*gate as usize]).min();
                let place = gates.iter().rposition(|gate| Some(speeds[*gate as usize]) == slowest);
                found.push(Series { gates: gates.to_vec(), slowest: place.unwrap_or(0) });
                found.len() as u32 - 1
            });
        }
        found
    }
}
