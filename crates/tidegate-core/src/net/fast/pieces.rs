//! A list divided among owners by place. Several threads may change the places of different owners at once.

/// Owns the places that belong to no single owner.
pub(super) const NOBODY: u32 = u32::MAX;

/// The owner of each place of a list. Adjacent places with one owner are a piece.
#[derive(Debug)]
pub(super) struct Shares {
    /// Behind which place each piece ends, and its owner.
    pieces: Vec<(u32, u32)>,
}

impl Shares {
    /// `owners`: that of each place.
    pub(super) fn new(owners: &[u32]) -> Shares {
        let mut end = 0;
        let pieces = owners.chunk_by(|one, next| one == next).map(|piece| {
            end += piece.len() as u32;
            (end, piece[0])
        });
        Shares { pieces: pieces.collect() }
    }

    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The pieces of the list that each of so many owners has.
    pub(super) fn part<'a, T>(
        &self,
        mut list: &'a mut [T],
        owners: usize,
    ) -> impl Iterator<Item = Pieces<'a, T>> + use<'a, T> {
        let mut shares: Vec<Vec<(u32, &mut [T])>> = (0..owners).map(|_| Vec::new()).collect();
        let mut begin = 0;
        for (end, owner) in &self.pieces {
            let (piece, rest) = list.split_at_mut((end - begin) as usize);
            if let Some(share) = shares.get_mut(*owner as usize) {
                share.push((begin, piece));
            }
            (list, begin) = (rest, *end);
        }
        shares.into_iter().map(Pieces)
    }
}

/// The pieces of a list that one owner has, each with its first place.
#[derive(Debug)]
pub(in crate::net) struct Pieces<'a, T>(Vec<(u32, &'a mut [T])>);

impl<T> Pieces<'_, T> {
    /// The entry at a place of the list.
    ///
    /// # Panics
    /// The place is not in these pieces.
    #[inline(always)]
    pub(super) fn at(&mut self, place: u32) -> &mut T {
        for (first, piece) in &mut self.0 {
            if let Some(found) = piece.get_mut(place.wrapping_sub(*first) as usize) {
                return found;
            }
        }
        panic!("place {place} belongs to somebody else");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_owner_gets_its_places_and_no_other() {
        let owners = [0, 0, NOBODY, 2, 2, 0, 1, NOBODY];
        let mut list: Vec<usize> = (0..owners.len()).collect();
        let shares = Shares::new(&owners);
        assert_eq!(shares.len(), 6);
        for (owner, mut pieces) in shares.part(&mut list, 3).enumerate() {
            for place in (0..owners.len()).filter(|place| owners[*place] == owner as u32) {
                *pieces.at(place as u32) += 10 * (owner + 1);
            }
        }
        assert_eq!(list, [10, 11, 2, 33, 34, 15, 26, 7]);
    }

    #[test]
    #[should_panic(expected = "belongs to somebody else")]
    fn what_belongs_to_nobody_is_not_handed_out() {
        let mut list = [7; 3];
        let mut shares = Shares::new(&[0, NOBODY, 0]).part(&mut list, 1);
        shares.next().expect("there is one").at(1);
    }
}
