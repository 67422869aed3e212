//! What is sent through the engine, and the machine's floor.

use std::io::{IoSliceMut, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd as _, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, recvmsg,
    sendto, setsockopt, sockopt,
};
use nix::sys::time::{TimeSpec, TimeVal, TimeValLike as _};
use nix::time::{ClockId, clock_gettime};
use tidegate_core::units::{Span, Time};
use tidegate_live::pump::{Lateness, LatenessSummary};
use tidegate_live::{Clock, Lab, LiveError, priority};

use super::Failure;

/// IP and UDP headers.
const HEADERS: u32 = 28;
const BELOW_THE_ENGINE: i32 = 30;
const PATIENCE: Duration = Duration::from_millis(50);
const EVERY: Duration = Duration::from_millis(1);
/// Not in step with the kernel's ticks.
const OFTEN: Duration = Duration::from_micros(37);
const WATCH: Duration = Duration::from_millis(8);
const REST: Duration = Duration::from_millis(2);

/// How late a timer wakes a real-time thread.
pub(crate) fn floor(length: Duration) -> LatenessSummary {
    let measure = move || {
        let _ = priority::set_realtime(priority::ENGINE);
        let clock = Clock::starting_in(Duration::ZERO);
        let mut lateness = Lateness::default();
        let end = super::after(Time::ZERO, length);
        let mut due = super::after(clock.now(), EVERY);
        while due < end {
            clock.sleep_until(due);
            lateness.note(clock.now().saturating_since(due));
            due = super::after(due, EVERY);
        }
        lateness.summary()
    };
    std::thread::spawn(measure).join().unwrap_or_else(|_| Lateness::default().summary())
}

/// How late a real-time thread is that only watches the clock: what interrupts it no tail can avoid.
pub(crate) fn watching(length: Duration) -> LatenessSummary {
    let measure = move || {
        let _ = priority::set_realtime(priority::ENGINE);
        let clock = Clock::starting_in(Duration::ZERO);
        let mut lateness = Lateness::default();
        let end = super::after(Time::ZERO, length);
        let mut due = super::after(clock.now(), OFTEN);
        while due < end {
            // Awake for 8 ms of 10: the kernel stops a real-time thread that never sleeps.
            let rest = super::after(due, WATCH);
            while due < rest {
                let now = clock.now();
                if now >= due {
                    lateness.note(now.saturating_since(due));
                    due = super::after(due, OFTEN);
                }
            }
            due = super::after(due, REST);
            clock.sleep_until(Time::from_picos(due.picos() - EVERY.as_nanos() as u64 * 1000));
        }
        lateness.summary()
    };
    std::thread::spawn(measure).join().unwrap_or_else(|_| Lateness::default().summary())
}

/// CPU time of all threads so far.
pub(crate) fn process_cpu() -> Result<Duration, Failure> {
    Ok(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into())
}

/// UDP packets at a constant rate, and the gaps between them at the other end.
pub(crate) struct Blast {
    stop: Arc<AtomicBool>,
    send: JoinHandle<Result<(), LiveError>>,
    receive: JoinHandle<Result<Vec<i64>, LiveError>>,
}

impl Blast {
    pub(crate) fn start(lab: &Lab, clock: Clock, every: Duration) -> Result<Blast, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        let to = lab.flow_addresses(0).receiver;
        let socket = lab.receiver().run(|| UdpSocket::bind(to))??;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let ended = stop.clone();
        let receive = lab.receiver().spawn("receive", move || stamps(&socket, &ended))?;
        let source = lab.sender().run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))??;
        let end = stop.clone();
        let send = lab.sender().spawn("send", move || {
            let _ = priority::set_realtime(BELOW_THE_ENGINE);
            let packet = vec![0; (super::PACKET - HEADERS) as usize];
            let mut due = Time::ZERO;
            while !end.load(Ordering::Relaxed) {
                clock.sleep_until(due);
                let _ = source.send_to(&packet, to);
                due = super::after(due, every);
            }
        })?;
        Ok(Blast { stop, send, receive })
    }

    /// Ends it; median and 99th percentile of the gaps' errors, in seconds.
    pub(crate) fn stop(self, ideal: f64) -> Result<[f64; 2], Failure> {
        self.stop.store(true, Ordering::Relaxed);
        self.send.join().map_err(|_| "the source panicked")??;
        let stamps = self.receive.join().map_err(|_| "the sink panicked")??;
        let error = |pair: &[i64]| ((pair[1] - pair[0]) as f64 / 1e9 - ideal).abs();
        // The first packets find the queue empty.
        let mut errors: Vec<f64> = stamps.windows(2).skip(stamps.len() / 10).map(error).collect();
        errors.sort_by(f64::total_cmp);
        let quantile = |q: f64| errors.get((q * errors.len() as f64) as usize).copied().unwrap_or(f64::NAN);
        Ok([quantile(0.5), quantile(0.99)])
    }
}

/// What is added to round trips that should last so long: one ICMP echo at a time until `end`. Both
/// kernels answer and stamp by themselves, so that no program has to wake up.
pub(crate) fn echo(lab: &Lab, clock: Clock, end: Time, ideal: Duration) -> Result<LatenessSummary, Failure> {
    lab.sender().set_sysctl("net.ipv4.ping_group_range", "0 0")?;
    let kind = (AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, SockProtocol::Icmp);
    let socket = lab.sender().run(|| nix::sys::socket::socket(kind.0, kind.1, kind.2, kind.3))??;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::milliseconds(PATIENCE.as_millis() as i64))?;
    let to = SockaddrIn::from(SocketAddrV4::new(lab.receiver().address(), 0));
    let mut added = Lateness::default();
    let mut room = [0; 256];
    let mut control = nix::cmsg_space!(TimeSpec);
    clock.sleep_until(Time::ZERO);
    while clock.now() < end {
        // Type 8, code 0; the kernel fills in the rest.
        let request = [8, 0, 0, 0, 0, 0, 0, 0];
        let sent = clock_gettime(ClockId::CLOCK_REALTIME)?.num_nanoseconds();
        sendto(socket.as_raw_fd(), &request, &to, MsgFlags::empty())?;
        if let Some(back) = stamp(socket.as_raw_fd(), &mut room, &mut control) {
            let extra = back - sent - ideal.as_nanos() as i64;
            added.note(Span::from_picos(extra.max(0) as u64 * 1000));
        }
        // Not in step with anything.
        clock.sleep_until(super::after(clock.now(), Duration::from_micros(777)));
    }
    Ok(added.summary())
}

/// When the kernel had each packet.
fn stamps(socket: &UdpSocket, stop: &AtomicBool) -> Vec<i64> {
    let mut room = [0; 2048];
    let mut control = nix::cmsg_space!(TimeSpec);
    let mut stamps = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        stamps.extend(stamp(socket.as_raw_fd(), &mut room, &mut control));
    }
    stamps
}

/// Takes a packet; says when the kernel had it, in nanoseconds of `CLOCK_REALTIME`.
fn stamp(socket: RawFd, room: &mut [u8], control: &mut [u8]) -> Option<i64> {
    let mut parts = [IoSliceMut::new(room)];
    let message = recvmsg::<()>(socket, &mut parts, Some(control), MsgFlags::empty()).ok()?;
    message.cmsgs().ok()?.find_map(|part| match part {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp.num_nanoseconds()),
        _ => None,
    })
}

/// One bulk transfer.
pub(crate) struct Bulk {
    stop: Arc<AtomicBool>,
    received: Arc<AtomicU64>,
    threads: Vec<JoinHandle<Result<(), LiveError>>>,
}

impl Bulk {
    pub(crate) fn start(lab: &Lab) -> Result<Bulk, Failure> {
        let (stop, received) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let at = lab.flow_addresses(0).receiver;
        let listener = lab.receiver().run(|| TcpListener::bind(at))??;
        let (counter, end_receiver, end_sender) = (received.clone(), stop.clone(), stop.clone());
        let receive = lab.receiver().spawn("receive", move || {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let _ = stream.set_read_timeout(Some(PATIENCE));
            let mut room = vec![0; 1 << 20];
            while !end_receiver.load(Ordering::Relaxed) {
                counter.fetch_add(stream.read(&mut room).unwrap_or(0) as u64, Ordering::Relaxed);
            }
        })?;
        let send = lab.sender().spawn("send", move || {
            let Ok(mut stream) = TcpStream::connect(at) else { return };
            let _ = stream.set_write_timeout(Some(PATIENCE));
            let bytes = vec![0; 1 << 20];
            while !end_sender.load(Ordering::Relaxed) {
                let _ = stream.write(&bytes);
            }
        })?;
        Ok(Bulk { stop, received, threads: vec![receive, send] })
    }

    /// Ends it; bytes received.
    pub(crate) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let bytes = self.received.load(Ordering::Relaxed);
        for thread in self.threads {
            // What counts has been counted.
            let _ = thread.join();
        }
        bytes
    }
}
