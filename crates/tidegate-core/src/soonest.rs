//! Which of many inputs has the next arrival: the earliest, and of several at one instant the one with the lowest number. Up to 16 are
//! compared one by one; more stand in a tournament tree, so that a change costs the logarithm of their number.

/// Nothing is known to come.
const NEVER: u64 = u64::MAX;

/// So many are compared one by one.
const FEW: usize = 16;

/// The next arrival of each input, and the input whose arrival is the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Soonest {
    /// In picoseconds; [`NEVER`]: nothing is known to come.
    at: Vec<u64>,
    /// The number that comes first below each node; node n stands above 2n and 2n + 1, the last row above `at`.
    /// Empty where there are few.
    winners: Vec<u32>,
}

impl Soonest {
    /// One more, of which nothing is known. To be followed by [`Soonest::build`].
    pub(crate) fn push(&mut self) {
        self.at.push(NEVER);
    }

    /// All have been pushed, and nothing is known of any.
    pub(crate) fn build(&mut self) {
        self.winners.clear();
        if self.at.len() > FEW {
            let leaves = self.at.len().next_power_of_two();
            let first = |node: usize| (node << (leaves.ilog2() - node.max(1).ilog2())) - leaves;
            self.winners.extend((0..leaves).map(|node| if node == 0 { 0 } else { first(node) as u32 }));
        }
    }

    /// When one comes.
    #[inline]
    pub(crate) fn at(&self, number: usize) -> u64 {
        self.at[number]
    }

    /// One comes at another instant from now on.
    #[inline]
    pub(crate) fn set(&mut self, number: usize, at: u64) {
        self.at[number] = at;
        if !self.winners.is_empty() {
            self.play(number);
        }
    }

    /// All, where they are few; a change needs nothing else.
    #[inline]
    pub(crate) fn few(&mut self) -> Option<&mut [u64]> {
        self.winners.is_empty().then_some(self.at.as_mut_slice())
    }

    /// The first, and when it comes.
    #[inline]
    pub(crate) fn first(&self) -> (u64, usize) {
        if let Some(winner) = self.winners.get(1) {
            crate::work::looks(1);
            return (self.at[*winner as usize], *winner as usize);
        }
        crate::work::looks(self.at.len());
        let mut first = (NEVER, 0);
        for (number, at) in self.at.iter().enumerate() {
            if *at < first.0 {
                first = (*at, number);
            }
        }
        first
    }

    /// The first and the second.
    #[inline]
    pub(crate) fn two_first(&self) -> ((u64, usize), (u64, usize)) {
        if let Some(winner) = self.winners.get(1) {
            let winner = *winner as usize;
            return ((self.at[winner], winner), self.first_beside(winner));
        }
        crate::work::looks(self.at.len());
        let (mut first, mut second) = ((NEVER, 0), (NEVER, 0));
        for (number, at) in self.at.iter().enumerate() {
            if *at < first.0 {
                (second, first) = (first, (*at, number));
            } else if *at < second.0 {
                second = (*at, number);
            }
        }
        (first, second)
    }

    /// The first of all but one.
    fn first_beside(&self, number: usize) -> (u64, usize) {
        let mut node = self.winners.len() + number;
        let mut first = (NEVER, 0);
        while node > 1 {
            let beside = self.winner(node ^ 1);
            first = first.min((self.when(beside), beside));
            node /= 2;
            crate::work::looks(1);
        }
        first
    }

    /// Who comes first below a node, or the one that it stands for.
    #[inline]
    fn winner(&self, node: usize) -> usize {
        match self.winners.get(node) {
            Some(winner) => *winner as usize,
            None => node - self.winners.len(),
        }
    }

    #[inline]
    fn when(&self, number: usize) -> u64 {
        self.at.get(number).copied().unwrap_or(NEVER)
    }

    /// Another instant of one is known.
    fn play(&mut self, number: usize) {
        let mut node = (self.winners.len() + number) / 2;
        while node > 0 {
            crate::work::looks(1);
            let [one, other] = [self.winner(2 * node), self.winner(2 * node + 1)];
            let winner = if self.when(other) < self.when(one) { other } else { one };
            let before = std::mem::replace(&mut self.winners[node], winner as u32);
            if before as usize == winner && winner != number {
                return;
            }
            node /= 2;
        }
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.at.capacity() * size_of::<u64>() + self.winners.capacity() * size_of::<u32>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The tree says what comparing all one by one says.
        #[test]
        fn the_tree_agrees_with_a_list(
            count in 1usize..70,
            changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![0u64..12, Just(NEVER)]), 1..200),
        ) {
            let (mut tree, mut list) = (Soonest::default(), Soonest::default());
            (0..count).for_each(|_| { tree.push(); list.push(); });
            tree.build();
            prop_assert_eq!(tree.few().is_none(), count > FEW);
            for (number, at) in changes {
                let number = number.index(count);
                tree.set(number, at);
                list.set(number, at);
                let ((first, from), (second, then)) = list.two_first();
                let ((at_first, number_first), (at_second, number_second)) = tree.two_first();
                prop_assert_eq!((tree.first().0, at_first, at_second), (first, first, second));
                // Of those that never come, whichever.
                prop_assert!(first == NEVER || (number_first, tree.first().1) == (from, from));
                prop_assert!(second == NEVER || number_second == then);
            }
        }
    }
}
