//! The `AccECN` Option (RFC 9768 §3.2.3): how many bytes of user data arrived with each codepoint of ECN.

/// Where ECT(0), CE and ECT(1) stand among the counters.
pub(super) const ECT0: usize = 0;
pub(super) const CE: usize = 1;
pub(super) const ECT1: usize = 2;

/// What the counters begin with (RFC 9768 §3.2.1): those of ECT(0) and ECT(1) are never zero at the start.
pub(super) const FIRST_BYTES: [u32; 3] = [1, 0, 1];

/// A field has 24 bits (RFC 9768 §3.2.3).
const MASK: u32 = 0xFF_FFFF;

/// An option as it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcn {
    /// The fields in their order: EE0B, ECEB, EE1B, or turned round. Those beyond `count` are not there.
    pub fields: [u32; 3],
    /// How many fields are there; 0: the option is empty.
    pub count: u8,
    /// Order 1 (AccECN1, kind 174) begins with EE1B, order 0 (AccECN0, kind 172) with EE0B.
    pub order: u8,
}

impl AccEcn {
    /// The first `count` fields of these counters (ECT(0), CE, ECT(1)) in an order.
    #[must_use]
    pub fn new(counters: [u32; 3], count: u8, order: u8) -> AccEcn {
        let [ect0, ce, ect1] = counters.map(|bytes| bytes & MASK);
        let mut fields = if order == 0 { [ect0, ce, ect1] } else { [ect1, ce, ect0] };
        for field in fields.iter_mut().skip(usize::from(count)) {
            *field = 0;
        }
        AccEcn { fields, count: count.min(3), order }
    }

    /// The counters of ECT(0), CE and ECT(1) that it has.
    #[must_use]
    pub fn counters(&self) -> [Option<u32>; 3] {
        let has = |place: u8| (self.count > place).then(|| self.fields[usize::from(place)] & MASK);
        if self.order == 0 { [has(0), has(1), has(2)] } else { [has(2), has(1), has(0)] }
    }

    /// Its length in bytes (RFC 9768 §3.2.3, table 5).
    #[must_use]
    pub fn len(&self) -> u32 {
        2 + 3 * u32::from(self.count)
    }

    /// Whether it has no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// As it stands in a header.
    pub fn bytes(&self) -> impl Iterator<Item = u8> {
        let kind = if self.order == 0 { 172 } else { 174 };
        let fields = self.fields.into_iter().take(usize::from(self.count));
        let low = |field: u32| field.to_be_bytes().into_iter().skip(1);
        [kind, self.len() as u8].into_iter().chain(fields.flat_map(low))
    }

    /// By how much a counter of ours, whose last value was `known`, has moved on (RFC 9768 §3.2.3.1).
    pub(super) fn increment(field: u32, known: u32) -> u32 {
        field.wrapping_sub(known) & MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_and_every_length() {
        let bytes = |option: AccEcn| option.bytes().collect::<Vec<u8>>();
        let counters = [0x0102_0304, 0x0506_0708, 9];
        assert_eq!(bytes(AccEcn::new(counters, 3, 0)), [172, 11, 2, 3, 4, 6, 7, 8, 0, 0, 9]);
        assert_eq!(bytes(AccEcn::new(counters, 3, 1)), [174, 11, 0, 0, 9, 6, 7, 8, 2, 3, 4]);
        assert_eq!(bytes(AccEcn::new(counters, 2, 1)), [174, 8, 0, 0, 9, 6, 7, 8]);
        assert_eq!(bytes(AccEcn::new(counters, 1, 0)), [172, 5, 2, 3, 4]);
        assert_eq!(bytes(AccEcn::new(counters, 0, 0)), [172, 2]);
        for (count, order, has) in [
            (3, 1, [Some(0x02_0304), Some(0x06_0708), Some(9)]),
            (2, 0, [Some(0x02_0304), Some(0x06_0708), None]),
            (1, 1, [None, None, Some(9)]),
        ] {
            assert_eq!(AccEcn::new(counters, count, order).counters(), has);
        }
        assert_eq!(AccEcn::increment(5, 0xFF_FFFE), 7);
    }
}
