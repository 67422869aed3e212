//! The live engine: the Linux kernel's own TCP through the very gates of the core, in real
//! time, without kernel modules.
//!
//! A [`Lab`] is two network namespaces with a device each; a [`Pump`] is the one real-time
//! thread between the devices. Live is real only at its two edges: a packet is stamped when
//! it comes in and written when it is due; everything between is the core's
//! [`Network`](tidegate_core::net::Network) in logical time. How late packets are written
//! is measured and never fed back.
//!
//! Read `docs/design/live.md` first. Endpoints (sockets, TCP_INFO) are apart from the engine.
#![allow(clippy::disallowed_methods, reason = "the live engine has the one real clock, and waits for it")]

mod error;

pub use error::LiveError;

#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
pub mod clean;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
pub mod endpoints;
#[cfg(target_os = "linux")]
pub mod lab;
#[cfg(target_os = "linux")]
pub mod limits;
#[cfg(target_os = "linux")]
pub mod priority;
#[cfg(target_os = "linux")]
mod processors;
#[cfg(target_os = "linux")]
mod progress;
#[cfg(target_os = "linux")]
pub mod pump;
#[cfg(target_os = "linux")]
pub mod replay;
#[cfg(target_os = "linux")]
mod rows;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod segment;
#[cfg(target_os = "linux")]
pub mod settings;
#[cfg(target_os = "linux")]
pub mod shell;
#[cfg(target_os = "linux")]
mod until_done;
#[cfg(target_os = "linux")]
pub mod userns;
#[cfg(target_os = "linux")]
mod verify;
#[cfg(target_os = "linux")]
pub mod wire;

#[cfg(target_os = "linux")]
pub use clock::Clock;
#[cfg(target_os = "linux")]
pub use lab::{Backend, Lab, LabOptions, Side, Work};
#[cfg(target_os = "linux")]
pub use progress::Progress;
#[cfg(target_os = "linux")]
pub use pump::{Classifier, Idle, Pump, PumpOptions, PumpReport, RunningPump};

#[cfg(target_os = "linux")]
pub use run::{Details, Late, LiveRun, RunOptions, run};
#[cfg(target_os = "linux")]
pub use verify::Verified;

/// Whether this system can run the engine at all.
///
/// # Errors
/// [`LiveError::NotLinux`] everywhere but on Linux.
pub fn supported() -> Result<(), LiveError> {
    if cfg!(target_os = "linux") { Ok(()) } else { Err(LiveError::NotLinux) }
}
