//! Values printed so that reading them again gives the same value.

use super::known::NANOS_PER_PRODUCT;

/// Exact text of a size: 2 560 000 is "2.56 MB", 61 440 is "60 KiB".
pub(crate) fn bytes_text(bytes: u64) -> String {
    for (size, name) in [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= size && bytes.is_multiple_of(size) && !bytes.is_multiple_of(1000) {
            return format!("{} {name}", bytes / size);
        }
    }
    for (size, name) in [(1_000_000_000_u64, "GB"), (1_000_000, "MB"), (10_000, "kB")] {
        let size = if name == "kB" { 1000 } else { size };
        if bytes >= size.max(10_000) && bytes.is_multiple_of(size / 100) {
            let (whole, part) = (bytes / size, bytes % size);
            if part == 0 {
                return format!("{whole} {name}");
            }
            let digits = size.ilog10() as usize;
            let text = format!("{whole}.{part:0digits$}");
            return format!("{} {name}", text.trim_end_matches('0'));
        }
    }
    format!("{bytes} B")
}

/// A number of billionths: 1 500 000 000 is "1.5".
pub(crate) fn nanos_text(nanos: u64) -> String {
    let (whole, part) = (nanos / NANOS_PER_PRODUCT, nanos % NANOS_PER_PRODUCT);
    if part == 0 {
        return whole.to_string();
    }
    format!("{whole}.{part:09}").trim_end_matches('0').to_owned()
}

/// `1 packet`, `2 packets`.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;
    use tidegate_core::dtm::Slots;
    use tidegate_core::units::{FASTEST, Rate, Span, Speed};

    use crate::units::{Amount, Dim, LARGEST_BYTES, LONGEST_PICOS, MOST_PRODUCTS, read};

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!(bytes_text(1500), "1500 B");
        assert_eq!(bytes_text(61_440), "60 KiB");
        assert_eq!(bytes_text(2_560_000), "2.56 MB");
        assert_eq!(bytes_text(15_000), "15 kB");
        assert_eq!(bytes_text(0), "0 B");
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(picos in 0..=LONGEST_PICOS, bps in 0..=FASTEST.bps(), bytes in 0..=LARGEST_BYTES) {
            let span = Span::from_picos(picos);
            prop_assert_eq!(read(&span.to_string(), Dim::Time), Ok(Amount::Time(span)));
            let rate = Rate::from_bps(bps);
            prop_assert_eq!(read(&rate.to_string(), Dim::Rate), Ok(Amount::Speed(Speed::Bits(rate))));
            prop_assert_eq!(read(&bytes_text(bytes), Dim::Size), Ok(Amount::Bytes(bytes)));
            let products = Amount::Products(bytes % (MOST_PRODUCTS * NANOS_PER_PRODUCT));
            for dim in [Dim::Queue, Dim::Burst, Dim::ReceiveWindow] {
                prop_assert_eq!(read(&products.to_string(), dim), Ok(products));
                prop_assert_eq!(read(&products.to_string().to_lowercase(), dim), Ok(products));
                prop_assert_eq!(read(&span.to_string(), dim), Ok(Amount::Time(span)));
            }
            let slots = Slots::from_nanos(bytes);
            prop_assert_eq!(read(&slots.to_string(), Dim::Slots), Ok(Amount::Slots(slots)));
        }

        #[test]
        fn round_sizes_read_back(bytes in 0_u64..5_000_000, scale in prop::sample::select(vec![1_u64, 1000, 1024])) {
            prop_assert_eq!(read(&bytes_text(bytes * scale), Dim::Size), Ok(Amount::Bytes(bytes * scale)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,20}", number in "-?[0-9.e]{1,12} ?[a-zA-Zµ/]{0,8}") {
            for dim in [Dim::Time, Dim::Rate, Dim::Speed, Dim::Size, Dim::Queue, Dim::Burst, Dim::Cells, Dim::Window, Dim::ReceiveWindow, Dim::Slots, Dim::Pool] {
                let _ = read(&text, dim);
                let _ = read(&number, dim);
            }
        }
    }
}
