//! Idle processors that stay awake. Waking one that was halted takes tens of microseconds, most
//! of all under a hypervisor; the kernel's PM QoS interface
//! (Documentation/power/pm_qos_interface.rst) keeps them from halting for as long as a descriptor
//! of `/dev/cpu_dma_latency` is open that a latency of zero was written to. Nothing has to be put
//! back: the wish goes with the descriptor, however the process ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

const DEVICE: &str = "/dev/cpu_dma_latency";
/// Microseconds that waking up may take.
const NO_LATENCY: i32 = 0;

/// While this value exists, idle processors of the whole machine poll instead of sleeping.
#[derive(Debug)]
pub struct Awake {
    _wish: File,
}

impl Awake {
    /// Asks for it.
    ///
    /// # Errors
    /// The kernel's refusal: the device is root's alone on most systems, and not on every system.
    pub fn ask() -> io::Result<Awake> {
        Awake::ask_at(Path::new(DEVICE))
    }

    fn ask_at(device: &Path) -> io::Result<Awake> {
        let mut wish = OpenOptions::new().write(true).open(device)?;
        wish.write_all(&NO_LATENCY.to_ne_bytes())?;
        Ok(Awake { _wish: wish })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wish_is_a_whole_number_of_32_bits() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let awake = Awake::ask_at(file.path()).unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), [0; 4]);
        drop(awake);
    }

    #[test]
    fn where_there_is_no_device_the_kernel_says_so() {
        let nowhere = Awake::ask_at(Path::new("/nowhere/cpu_dma_latency")).unwrap_err();
        assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
    }
}
