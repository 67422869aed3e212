//! What is sent through the engine, and the machine's floor.

use std::io::{IoSliceMut, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeValLike as _;
use tidegate_core::units::Time;
use tidegate_live::pump::{Lateness, LatenessSummary};
use tidegate_live::{Clock, Lab, LiveError, priority};

use super::Failure;

/// IP and UDP headers.
const HEADERS: u32 = 28;
const BELOW_THE_ENGINE: i32 = 30;
const PATIENCE: Duration = Duration::from_millis(50);
const EVERY: Duration = Duration::from_millis(1);

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

/// When the kernel had each packet.
fn stamps(socket: &UdpSocket, stop: &AtomicBool) -> Vec<i64> {
    let mut room = [0; 2048];
    let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let mut stamps = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let mut parts = [IoSliceMut::new(&mut room)];
        let Ok(message) =
            recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty())
        else {
            continue;
        };
        let Ok(mut found) = message.cmsgs() else { continue };
        stamps.extend(found.find_map(|part| match part {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp.num_nanoseconds()),
            _ => None,
        }));
    }
    stamps
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
