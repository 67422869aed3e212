//! Counts of lengths of time in bins whose width grows with the length.
//!
//! There are 2^d bins to each doubling, so a bin is at most 2^-d of its lengths wide. (A general histogram library
//! cost three times as much for each sample, a tenth of what a whole packet may cost.)

/// How finely quantiles are kept. Means, minima and maxima are exact in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Within 0.1%, counted from 1.024 ns: for runs of few gates and flows.
    Fine,
    /// Within 0.8%, counted from 1.05 µs: for runs of thousands.
    Coarse,
}

impl Precision {
    /// log₂ of the width of the narrowest bins in picoseconds.
    pub(super) fn shift(self) -> u8 {
        match self {
            Precision::Fine => 10,
            Precision::Coarse => 20,
        }
    }

    /// log₂ of the bins in each doubling.
    fn digits(self) -> u8 {
        match self {
            Precision::Fine => 10,
            Precision::Coarse => 7,
        }
    }

    /// The greatest relative error of a quantile.
    #[must_use]
    pub fn relative(self) -> f64 {
        1.0 / f64::from(1_u32 << self.digits())
    }
}

/// Memory for bins is taken in multiples of this many.
const ROOM: usize = 32;

/// The bins between the shortest and the longest length so far.
#[derive(Clone)]
#[repr(C)]
pub(super) struct Bins {
    /// Number of the first bin kept.
    first: u32,
    shift: u8,
    digits: u8,
    counts: Box<[u32]>,
}

/// Lengths whose bins have one width: some of those from one doubling up to the next. The default holds none.
#[derive(Default)]
pub(super) struct EqualBins {
    /// The shortest length in them.
    least: u64,
    /// How many there are.
    count: u64,
    base: usize,
    shift: u32,
}

impl EqualBins {
    /// Whether they hold a length.
    #[inline]
    pub(super) fn hold(&self, picos: u64) -> bool {
        picos.wrapping_sub(self.least) < self.count
    }
}

impl Bins {
    pub(super) fn new(precision: Precision) -> Bins {
        Bins { first: 0, shift: precision.shift(), digits: precision.digits(), counts: Box::default() }
    }

    /// Forgets all lengths.
    pub(super) fn clear(&mut self) {
        (self.first, self.counts) = (0, Box::default());
    }

    /// Counts a length of `picos`.
    #[inline]
    pub(super) fn add(&mut self, picos: u64) {
        let bin = self.bin(picos);
        match self.counts.get_mut(bin.wrapping_sub(self.first as usize)) {
            Some(count) => *count += 1,
            None => self.grow(bin),
        }
    }

    /// Counts `times` more of a length that [`Bins::add`] has counted.
    pub(super) fn add_again(&mut self, picos: u64, times: u64) {
        let bin = self.bin(picos) - self.first as usize;
        self.counts[bin] += u32::try_from(times).unwrap_or(u32::MAX);
    }

    /// Counts a length in `equal`, which hold it. `equal` then hold none any more if bins were added.
    #[inline]
    pub(super) fn add_in(&mut self, equal: &mut EqualBins, picos: u64) {
        match self.counts.get_mut(equal.base.wrapping_add((picos >> equal.shift) as usize)) {
            Some(bin) => *bin += 1,
            None => {
                self.grow(self.bin(picos));
                equal.count = 0;
            }
        }
    }

    /// The bins as wide as that of `picos`, for those of its lengths that lie between two, as `picos` does.
    #[inline]
    pub(super) fn equal_to(&self, picos: u64, (least, greatest): (u64, u64)) -> EqualBins {
        let doubling = self.doubling(picos);
        let shift = u32::from(self.shift) + doubling;
        let base = ((doubling << self.digits) as usize).wrapping_sub(self.first as usize);
        let top = 2_u64.checked_shl(u32::from(self.digits) + shift);
        let ceiling = top.filter(|top| *top > picos).unwrap_or(u64::MAX).min(greatest.saturating_add(1));
        let floor = if doubling == 0 { 0 } else { 1 << (u32::from(self.digits) + shift) };
        let least = least.max(floor);
        EqualBins { least, count: ceiling - least, base, shift }
    }

    /// The middle of the bin of the length that has this rank, in picoseconds; `None` where there are fewer lengths.
    pub(super) fn middle_of_rank(&self, rank: u64) -> Option<u64> {
        let mut seen = 0;
        let place = self.counts.iter().position(|count| {
            seen += u64::from(*count);
            rank <= seen
        });
        place.map(|place| self.middle(self.first as usize + place))
    }

    /// Number and count of the bins that are not empty.
    pub(super) fn filled(&self) -> impl Iterator<Item = (u32, &u32)> {
        (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0)
    }

    /// Counts what other bins of the same precision have counted.
    pub(super) fn add_all(&mut self, other: &Bins) {
        for (bin, count) in other.filled() {
            let bin = bin as usize;
            if bin.wrapping_sub(self.first as usize) >= self.counts.len() {
                self.widen(bin);
            }
            let own = &mut self.counts[bin - self.first as usize];
            *own = own.saturating_add(*count);
        }
    }

    /// Counts one length in a bin for which there is no memory yet.
    #[cold]
    fn grow(&mut self, bin: usize) {
        if bin.wrapping_sub(self.first as usize) >= self.counts.len() {
            self.widen(bin);
        }
        self.counts[bin - self.first as usize] += 1;
    }

    /// Which bins are kept depends on only the least and the greatest bin, not on the order of lengths.
    #[cold]
    fn widen(&mut self, bin: usize) {
        let (from, to) = (bin / ROOM * ROOM, bin / ROOM * ROOM + ROOM);
        let mut counts = std::mem::take(&mut self.counts).into_vec();
        if counts.is_empty() {
            self.first = from as u32;
        }
        let first = self.first as usize;
        counts.splice(0..0, std::iter::repeat_n(0, first.saturating_sub(from)));
        self.first = first.min(from) as u32;
        counts.resize(counts.len().max(to - self.first as usize), 0);
        self.counts = counts.into_boxed_slice();
    }

    /// Lengths below 2^(d+1) narrowest bins have a bin each; above, 2^d bins share each doubling.
    #[inline]
    fn bin(&self, picos: u64) -> usize {
        let value = picos >> self.shift;
        let doubling = self.doubling(picos);
        ((u64::from(doubling) << self.digits) + (value >> doubling)) as usize
    }

    /// log₂ of the width of the bin of `picos`, in narrowest bins.
    #[inline]
    fn doubling(&self, picos: u64) -> u32 {
        (63 - (picos >> self.shift | 1).leading_zeros()).saturating_sub(u32::from(self.digits))
    }

    /// The middle of a bin, in picoseconds.
    fn middle(&self, bin: usize) -> u64 {
        let doubling = (bin as u64 >> self.digits).saturating_sub(1);
        let low = (bin as u64 - (doubling << self.digits)) << doubling;
        (low << self.shift) + (1 << (doubling + u64::from(self.shift)) >> 1)
    }
}
