//! Rootless: a pair of virtual Ethernet devices for each end, and a packet socket with a
//! mapped ring (packet(7), TPACKET_V2) at the far end of the pair. The far ends are in a
//! third namespace, where nothing else is.
//!
//! The socket takes Ethernet headers off and puts them on, so that IP packets come and go
//! as they do at a TUN device.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use netlink_packet_route::link::LinkAttribute;

use super::namespace::Held;
use super::netlink::Netlink;
use super::tun::QUEUE_PACKETS;
use super::{LabOptions, Namespace, Side, offload};
use crate::LiveError;
use crate::clock::NANOS_PER_SECOND;

/// Packets that the ring holds, at least, between two looks at it.
const RING_PACKETS: usize = 4096;
/// Room of one block: contiguous memory, so not too large.
const BLOCK: usize = 1 << 17;
/// What stands before a packet in its place: header and address, generously.
const BEFORE: usize = 128;
/// Bytes that one connection may have below TCP: what it sends in one go passes the kernel's backlog, which
/// drops all above 1000 packets (net.core.netdev_max_backlog).
const BELOW_TCP: &str = "524288";
const PROTOCOL_IP: u16 = libc::ETH_P_IP as u16;

/// The engine's end of a pair of devices.
#[derive(Debug)]
pub(crate) struct PacketRing {
    socket: OwnedFd,
    /// Where the mapping begins.
    memory: NonNull<u8>,
    frame: usize,
    frames: usize,
    frames_per_block: usize,
    next: usize,
    to: libc::sockaddr_ll,
}

#[allow(unsafe_code, reason = "the mapping belongs to the ring alone")]
// SAFETY: the mapping is reached through the ring only, and a ring is used by one thread at a
// time because reading takes it mutably; the kernel's side is synchronised by the status words.
unsafe impl Send for PacketRing {}

fn hardware_address(side: Side) -> [u8; 6] {
    // Locally administered.
    [0x02, 0x74, 0x69, 0x64, 0x65, side as u8 + 1]
}

impl PacketRing {
    /// A pair of devices from `wires` to `namespace`, up, with address and route there, and
    /// a ring here.
    pub(super) fn new(
        wires: &Held,
        namespace: &Namespace,
        mtu: u32,
        options: &LabOptions,
    ) -> Result<PacketRing, LiveError> {
        let (side, gso) = (namespace.side(), options.gso_segments);
        let name = side.word();
        let far = namespace.held();
        let queue = [LinkAttribute::Mtu(mtu), LinkAttribute::TxQueueLen(QUEUE_PACKETS)];
        let index = wires.run(|| {
            let mut netlink = Netlink::open()?;
            netlink.add_pair(name, (Namespace::DEVICE, far.as_raw_fd()))?;
            netlink.change(name, &queue)?;
            Ok::<u32, LiveError>(netlink.link(name)?.header.index)
        })??;
        namespace.set_sysctl("net.ipv4.tcp_limit_output_bytes", BELOW_TCP)?;
        namespace.run(move || {
            offload::switch_off()
                .map_err(|error| LiveError::kernel("switch off the offloads of a device", error))?;
            let mut attributes = queue.to_vec();
            attributes.push(LinkAttribute::Address(hardware_address(side).to_vec()));
            attributes.extend(gso.map(LinkAttribute::GsoMaxSegs));
            super::configure(side, &attributes)
        })??;
        let opened = wires.run(move || open(index, mtu as usize, hardware_address(side)))?;
        opened.map_err(|error| LiveError::kernel("open a packet socket with a ring", error))
    }

    /// Takes the next packet, if there is one, with when the kernel had it, in nanoseconds of
    /// `CLOCK_REALTIME`.
    #[inline]
    #[allow(unsafe_code, reason = "the ring is memory shared with the kernel")]
    pub(crate) fn read(&mut self, room: &mut [u8]) -> Option<(usize, i64)> {
        let (block, place) = (self.next / self.frames_per_block, self.next % self.frames_per_block);
        // SAFETY: next < frames, so the frame lies inside the mapping, which lives as long as
        // self. Frames are aligned to 16 bytes. The status word is only ever accessed
        // atomically here; the rest of the frame belongs to us while the word says so.
        unsafe {
            let frame = self.memory.as_ptr().add(block * BLOCK + place * self.frame);
            let header = frame.cast::<libc::tpacket2_hdr>();
            let status = AtomicU32::from_ptr(&raw mut (*header).tp_status);
            if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return None;
            }
            let start = usize::from((*header).tp_net);
            let length = ((*header).tp_snaplen as usize).min(self.frame - start).min(room.len());
            let stamp = i64::from((*header).tp_sec) * NANOS_PER_SECOND + i64::from((*header).tp_nsec);
            std::ptr::copy_nonoverlapping(frame.add(start), room.as_mut_ptr(), length);
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.frames;
            Some((length, stamp))
        }
    }

    /// Gives a packet to the kernel.
    #[inline]
    #[allow(unsafe_code, reason = "there is no safe wrapper for this kind of address that is as quick")]
    pub(crate) fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        // SAFETY: the descriptor is open; packet and address live until the call returns.
        let sent = unsafe {
            libc::sendto(
                self.socket.as_raw_fd(),
                packet.as_ptr().cast(),
                packet.len(),
                libc::MSG_DONTWAIT,
                (&raw const self.to).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Packets that found the ring full.
    #[allow(unsafe_code, reason = "a socket option with a structure")]
    pub(crate) fn lost(&self) -> io::Result<u64> {
        let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut size = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the descriptor is open; statistics has the size that is said.
        let done = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut statistics).cast(),
                &raw mut size,
            )
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(u64::from(statistics.tp_drops)) }
    }

    fn bytes(&self) -> usize {
        self.frames / self.frames_per_block * BLOCK
    }
}

impl AsFd for PacketRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for PacketRing {
    #[allow(unsafe_code, reason = "the mapping is given back")]
    fn drop(&mut self) {
        // SAFETY: mapped by `open` with this size, and nobody has it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes()) };
    }
}

/// A socket at device `index` of the thread's namespace, with a ring for packets of `mtu`
/// bytes; what is written goes to the hardware address `to`.
#[allow(unsafe_code, reason = "system calls that no safe wrapper covers")]
fn open(index: u32, mtu: usize, to: [u8; 6]) -> io::Result<PacketRing> {
    let frame = (mtu + BEFORE).next_power_of_two().min(BLOCK);
    let frames_per_block = BLOCK / frame;
    let blocks = RING_PACKETS.div_ceil(frames_per_block).min(RING_PACKETS / 4);
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers.
    let socket = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it has just been opened and belongs to nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    set(&socket, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
    // Straight to the device: there is no queue that the packet should wait in.
    set(&socket, libc::PACKET_QDISC_BYPASS, &1i32)?;
    let request = libc::tpacket_req {
        tp_block_size: BLOCK as u32,
        tp_block_nr: blocks as u32,
        tp_frame_size: frame as u32,
        tp_frame_nr: (blocks * frames_per_block) as u32,
    };
    set(&socket, libc::PACKET_RX_RING, &request)?;
    // SAFETY: a mapping of the size just asked for, at an address of the kernel's choice.
    let memory = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            blocks * BLOCK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            socket.as_raw_fd(),
            0,
        )
    };
    let memory = match NonNull::new(memory.cast::<u8>()) {
        Some(memory) if memory.as_ptr().cast() != libc::MAP_FAILED => memory,
        _ => return Err(io::Error::last_os_error()),
    };
    let ring = PacketRing {
        socket,
        memory,
        frame,
        frames: blocks * frames_per_block,
        frames_per_block,
        next: 0,
        to: address(index, to),
    };
    // From now on packets come.
    // SAFETY: the address lives until the call returns and has the size that is said.
    let bound = unsafe {
        libc::bind(
            ring.socket.as_raw_fd(),
            (&raw const ring.to).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if bound < 0 { Err(io::Error::last_os_error()) } else { Ok(ring) }
}

fn address(index: u32, to: [u8; 6]) -> libc::sockaddr_ll {
    let mut hardware = [0; 8];
    hardware[..6].copy_from_slice(&to);
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: PROTOCOL_IP.to_be(),
        sll_ifindex: index as libc::c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 6,
        sll_addr: hardware,
    }
}

#[allow(unsafe_code, reason = "a socket option with a structure")]
fn set<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: the descriptor is open, and the value has the size that is said.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
