//! A TUN device: one read brings one IP packet, one write sends one. Without offloads (the
//! default of TUN) the kernel hands over real-size segments with their checksums.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use netlink_packet_route::link::LinkAttribute;

use super::{LabOptions, Namespace};
use crate::LiveError;

/// Room for packets between the kernel's stack and the engine; the engine's queues are its
/// own, and a packet lost here would be lost in silence.
pub(super) const QUEUE_PACKETS: u32 = 10_000;

/// Bytes that the kernel may have yet to receive where it does so on another processor: fewer
/// packets than its own backlog holds (net.core.netdev_max_backlog, 1000), which drops the rest.
const UNRECEIVED: libc::c_int = 512 << 10;

/// The engine's end of a TUN device.
#[derive(Debug)]
pub(crate) struct Tun {
    file: File,
}

impl Tun {
    /// Whether this process may open the device.
    pub(super) fn is_permitted() -> bool {
        open().is_ok()
    }

    /// A device in `namespace`, up, with its address and a route to the other end.
    pub(super) fn new(namespace: &Namespace, mtu: u32, options: &LabOptions) -> Result<Tun, LiveError> {
        let (side, gso) = (namespace.side(), options.gso_segments);
        namespace.run(move || {
            let file = open().map_err(|error| LiveError::kernel("open /dev/net/tun", error))?;
            attach(&file).map_err(|error| LiveError::kernel("make a TUN device", error))?;
            let mut attributes = vec![LinkAttribute::Mtu(mtu), LinkAttribute::TxQueueLen(QUEUE_PACKETS)];
            attributes.extend(gso.map(LinkAttribute::GsoMaxSegs));
            super::configure(side, &attributes)?;
            Ok(Tun { file })
        })?
    }

    /// Takes the next packet, if there is one.
    #[inline]
    pub(crate) fn read(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(room) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives a packet to the kernel.
    #[inline]
    pub(crate) fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        self.file.write(packet).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn open() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")
}

#[allow(unsafe_code, reason = "an ioctl with a structure")]
fn attach(file: &File) -> io::Result<()> {
    // SAFETY: all zeros are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(Namespace::DEVICE.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the descriptor is open and the request lives until the call returns.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    let unreceived = UNRECEIVED;
    // SAFETY: the descriptor is open and the number lives until the call returns.
    let bounded = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETSNDBUF, &raw const unreceived) };
    if bounded < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
