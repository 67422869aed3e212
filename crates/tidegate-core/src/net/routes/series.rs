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
        // Where TCP hears departures, stretches are gone through gate by gate.
        let noted: Vec<bool> = self.map.chains.iter().map(|chain| chain.notify).collect();
        let users = Users::new(&lists, speeds.len());
        let mut found = Vec::new();
        let mut known = BTreeMap::new();
        for (chain, list) in self.map.chains.iter_mut().zip(&lists) {
            let Some(last) = list.last() else { continue };
            let same = |gate: &&u32| speeds[**gate as usize] > 0 && users.are_same(**gate, *last);
            let length = list.iter().rev().take_while(same).count();
            let gates = &list[list.len() - length..];
            if length < 2 {
                continue;
            }
            // What holds of one stretch that ends with these gates holds of all.
            let number = *known.entry(gates).or_insert_with(|| {
                crate::work::looks(users.of(*last).len());
                let alike = |user: &u32| lists[*user as usize].ends_with(gates) && !noted[*user as usize];
                if !users.of(*last).iter().all(alike) {
                    return None;
                }
                let slowest = gates.iter().map(|gate| speeds[*gate as usize]).min();
                let place = gates.iter().rposition(|gate| Some(speeds[*gate as usize]) == slowest);
                found.push(Series { gates: gates.to_vec(), slowest: place.unwrap_or(0) });
                Some(found.len() as u32 - 1)
            });
            let Some(number) = number else { continue };
            chain.end -= length as u32;
            chain.series = number;
        }
        found
    }
}

/// The stretches that use each gate.
struct Users {
    of: Vec<Vec<u32>>,
    /// Gates with equal lists have the same number.
    class: Vec<u32>,
}

impl Users {
    /// `lists`: the gates of each stretch.
    fn new(lists: &[Vec<u32>], gates: usize) -> Users {
        let mut of: Vec<Vec<u32>> = vec![vec![]; gates];
        for (number, list) in (0..).zip(lists) {
            crate::work::looks(list.len());
            list.iter().for_each(|gate| of[*gate as usize].push(number));
        }
        let mut classes: BTreeMap<&[u32], u32> = BTreeMap::new();
        let mut class = Vec::with_capacity(gates);
        for users in &of {
            let next = classes.len() as u32;
            class.push(*classes.entry(users.as_slice()).or_insert(next));
        }
        Users { class, of }
    }

    fn of(&self, gate: u32) -> &[u32] {
        &self.of[gate as usize]
    }

    fn are_same(&self, one: u32, other: u32) -> bool {
        self.class[one as usize] == self.class[other as usize]
    }
}
