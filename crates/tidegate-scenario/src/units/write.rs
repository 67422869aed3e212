//! Values printed so that reading them again gives the same value.

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

/// `1 packet`, `2 packets`.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!(bytes_text(1500), "1500 B");
        assert_eq!(bytes_text(61_440), "60 KiB");
        assert_eq!(bytes_text(2_560_000), "2.56 MB");
        assert_eq!(bytes_text(15_000), "15 kB");
        assert_eq!(bytes_text(0), "0 B");
    }
}
