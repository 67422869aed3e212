//! Offloads of a device: with them on, the kernel would hand over segments larger than any
//! packet, with checksums that nobody has filled in.

use std::io;
use std::os::fd::AsRawFd as _;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use super::Namespace;

/// Commands of ethtool that switch one thing each (linux/ethtool.h).
const SWITCHES: [u32; 6] = [
    0x15, // checksums of incoming packets
    0x17, // checksums of outgoing packets
    0x19, // scatter and gather
    0x1f, // TCP segmentation
    0x24, // generic segmentation
    0x2c, // generic receive
];
const SIOCETHTOOL: libc::c_ulong = 0x8946;

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Switches them all off at the device of the namespace that the calling thread is in.
#[allow(unsafe_code, reason = "an ioctl with a structure")]
pub(super) fn switch_off() -> io::Result<()> {
    let control = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    for command in SWITCHES {
        let mut value = Value { command, data: 0 };
        // SAFETY: all zeros are a valid ifreq.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(Namespace::DEVICE.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_data = (&raw mut value).cast();
        // SAFETY: the descriptor is open, and request and value live until the call returns.
        let done = unsafe { libc::ioctl(control.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
