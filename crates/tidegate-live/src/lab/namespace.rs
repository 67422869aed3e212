//! A network namespace without a name, held by a file descriptor.

use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd as _, AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::thread::JoinHandle;

use nix::sched::{CloneFlags, setns, unshare};

use super::netlink::{Netlink, RouteOptions};
use super::{Side, address_of, netlink};
use crate::LiveError;

/// The namespace of one end. Its device is [`Namespace::DEVICE`], its address
/// [`Namespace::address`], and it has a route to the other end.
#[derive(Clone, Debug)]
pub struct Namespace {
    side: Side,
    held: Held,
    /// The run's name, for what is started inside.
    mark: String,
}

/// A network namespace that exists as long as someone holds it.
#[derive(Clone, Debug)]
pub(super) struct Held {
    handle: Arc<File>,
}

impl Held {
    /// A new namespace with a loopback device that is up, and without IPv6: nothing but the
    /// flows' packets is to travel, no router solicitations and the like.
    pub(super) fn new() -> Result<Held, LiveError> {
        let make = || -> Result<File, LiveError> {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|error| LiveError::NotPermitted {
                why: format!("the kernel refused a network namespace: {error}"),
            })?;
            let handle = File::open("/proc/thread-self/ns/net")
                .map_err(|error| LiveError::kernel("open the new network namespace", error))?;
            Netlink::open()?.set_up("lo")?;
            for which in ["all", "default"] {
                // A kernel without IPv6 has no such file, and nothing to switch off.
                let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1");
            }
            Ok(handle)
        };
        Ok(Held { handle: Arc::new(on_thread("namespace", make)??) })
    }

    /// The namespace that this process is in.
    pub(super) fn current() -> Result<Held, LiveError> {
        let handle = File::open("/proc/self/ns/net")
            .map_err(|error| LiveError::kernel("open this network namespace", error))?;
        Ok(Held { handle: Arc::new(handle) })
    }

    /// What devices made from now on receive here is received on these processors.
    pub(super) fn receive_on(&self, processors: &str) -> Result<(), LiveError> {
        self.run(|| std::fs::write("/proc/sys/net/core/rps_default_mask", processors))?
            .map_err(|error| LiveError::kernel("set net.core.rps_default_mask", error))
    }

    /// The kernel's number of it.
    pub(super) fn number(&self) -> Result<u64, LiveError> {
        let about = self.handle.metadata();
        Ok(about.map_err(|error| LiveError::kernel("look at a network namespace", error))?.ino())
    }

    /// Runs `job` on a thread inside.
    pub(super) fn run<T: Send>(&self, job: impl FnOnce() -> T + Send) -> Result<T, LiveError> {
        let enter = self.handle.as_fd();
        on_thread("namespace", move || {
            setns(enter, CloneFlags::CLONE_NEWNET)
                .map_err(|error| LiveError::kernel("enter a network namespace", error))?;
            Ok(job())
        })?
    }
}

impl AsRawFd for Held {
    fn as_raw_fd(&self) -> RawFd {
        self.handle.as_raw_fd()
    }
}

impl Namespace {
    /// Name of the device inside.
    pub const DEVICE: &'static str = "tide0";

    pub(super) fn new(side: Side, held: Held, mark: &str) -> Namespace {
        Namespace { side, held, mark: mark.to_owned() }
    }

    pub(super) fn held(&self) -> &Held {
        &self.held
    }

    /// Which end it is.
    #[must_use]
    pub fn side(&self) -> Side {
        self.side
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> Ipv4Addr {
        address_of(self.side)
    }

    /// Runs `job` on a thread inside the namespace, and waits for it. Sockets made there stay
    /// there, whoever uses them later.
    ///
    /// # Errors
    /// [`LiveError::Kernel`] when the namespace cannot be entered, [`LiveError::Panicked`].
    pub fn run<T: Send>(&self, job: impl FnOnce() -> T + Send) -> Result<T, LiveError> {
        self.held.run(job)
    }

    /// Starts a named thread inside the namespace.
    ///
    /// # Errors
    /// [`LiveError::Kernel`] when the thread cannot be started; what the thread returns is an
    /// error as well when it could not enter the namespace.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<Result<T, LiveError>>, LiveError> {
        let handle = self.held.handle.clone();
        let inside = move || {
            setns(handle.as_fd(), CloneFlags::CLONE_NEWNET)
                .map_err(|error| LiveError::kernel("enter a network namespace", error))?;
            Ok(job())
        };
        let thread = std::thread::Builder::new().name(name.to_owned());
        thread.spawn(inside).map_err(|error| LiveError::kernel(format!("start the thread \"{name}\""), error))
    }

    /// Makes `command` start inside the namespace, marked so that [`crate::clean::clean`] finds
    /// it if this process dies before it.
    #[allow(unsafe_code, reason = "a closure that runs between fork and exec")]
    pub fn place(&self, command: &mut Command) {
        command.env(crate::clean::MARK, &self.mark);
        let handle = self.held.handle.clone();
        // SAFETY: between fork and exec only setns is called, which is a system call and
        // takes no lock and no memory.
        unsafe {
            command.pre_exec(move || {
                setns(handle.as_fd(), CloneFlags::CLONE_NEWNET).map_err(std::io::Error::from)
            });
        }
    }

    /// Sets a system control of the namespace, such as `net.ipv4.tcp_sack`. It is gone with
    /// the namespace.
    ///
    /// # Errors
    /// [`LiveError::Kernel`] when there is none of that name or the value is refused.
    pub fn set_sysctl(&self, name: &str, value: &str) -> Result<(), LiveError> {
        let path = sysctl_path(name);
        self.run(|| std::fs::write(path, value))?
            .map_err(|error| LiveError::kernel(format!("set {name} to \"{value}\""), error))
    }

    /// Reads a system control of the namespace.
    ///
    /// # Errors
    /// [`LiveError::Kernel`] when there is none of that name.
    pub fn sysctl(&self, name: &str) -> Result<String, LiveError> {
        let path = sysctl_path(name);
        let text = self
            .run(|| std::fs::read_to_string(path))?
            .map_err(|error| LiveError::kernel(format!("read {name}"), error))?;
        Ok(text.trim().to_owned())
    }

    /// Replaces the metrics of the route to the other end.
    ///
    /// # Errors
    /// [`LiveError::Kernel`].
    pub fn set_route(&self, options: &RouteOptions) -> Result<(), LiveError> {
        let to = address_of(self.side.other());
        self.run(|| Netlink::open()?.route(Self::DEVICE, netlink::Destination::Host(to), options))?
    }

    /// Replaces the metrics of the route to another address at the other end, or makes one.
    ///
    /// # Errors
    /// [`LiveError::Kernel`].
    pub fn set_route_to(&self, to: Ipv4Addr, options: &RouteOptions) -> Result<(), LiveError> {
        self.run(|| Netlink::open()?.route(Self::DEVICE, netlink::Destination::Host(to), options))?
    }

    /// Gives the device one more address.
    ///
    /// # Errors
    /// [`LiveError::Kernel`].
    pub fn add_address(&self, address: Ipv4Addr) -> Result<(), LiveError> {
        self.run(|| Netlink::open()?.add_address(Self::DEVICE, address))?
    }

    /// Packets that the device lost on their way out of the kernel or into it.
    pub(crate) fn device_drops(&self) -> Result<u64, LiveError> {
        self.run(|| Netlink::open()?.dropped(Self::DEVICE))?
    }

    /// What TCP hands to the device at once, for the manifest.
    pub(super) fn segmentation(&self) -> Result<String, LiveError> {
        let most = self.run(|| Netlink::open()?.most_segments(Self::DEVICE))??;
        Ok(match most {
            1 => "tcp.segmentation = \"off\": TCP hands over one segment at a time".to_owned(),
            most => format!(
                "tcp.segmentation = \"kernel\": TCP hands over several segments at once, as many as the kernel chooses (at most {most} \
                 and 64 KB), which leave back to back"
            ),
        })
    }

    /// Sends what has no other route to the other end.
    ///
    /// # Errors
    /// [`LiveError::Kernel`].
    pub fn set_default_route(&self) -> Result<(), LiveError> {
        let options = RouteOptions::default();
        self.run(|| Netlink::open()?.route(Self::DEVICE, netlink::Destination::Anywhere, &options))?
    }
}

/// Runs `job` in a network namespace of its own.
pub(crate) fn in_a_namespace<T: Send>(job: impl FnOnce() -> T + Send) -> Result<T, LiveError> {
    Held::new()?.run(job)
}

fn sysctl_path(name: &str) -> PathBuf {
    PathBuf::from("/proc/sys").join(name.replace('.', "/"))
}

/// Runs a job on a thread of its own, because it changes what the thread belongs to.
fn on_thread<T: Send>(name: &str, job: impl FnOnce() -> T + Send) -> Result<T, LiveError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn_scoped(scope, job)
            .map_err(|error| LiveError::kernel(format!("start the thread \"{name}\""), error))?;
        thread.join().map_err(|_panic| LiveError::Panicked(name.to_owned()))
    })
}
