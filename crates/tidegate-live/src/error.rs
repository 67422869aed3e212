//! What can go wrong between a plan and the kernel.

use std::io;

/// Why the live engine cannot run, or why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// Another operating system.
    #[error(
        "the live engine needs Linux: it runs the Linux kernel's TCP; use the engines \"sim\" and \"theory\" here"
    )]
    NotLinux,
    /// Neither root nor inside a user namespace.
    #[error(
        "the live engine must make network namespaces, which takes root or a user namespace; {why}; \
         run it as root, or allow user namespaces (sysctl user.max_user_namespaces)"
    )]
    NotPermitted {
        /// What was tried.
        why: String,
    },
    /// Something asked of the kernel that it refused.
    #[error("could not {what}: {source}")]
    Kernel {
        /// In words, to follow "could not".
        what: String,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// A plan that cannot be honoured in real time.
    #[error("{0}")]
    Beyond(String),
    /// The run could not be kept up with in real time.
    #[error("{0}")]
    FellBehind(String),
    /// The caller said stop.
    #[error("the run was interrupted")]
    Interrupted,
    /// A thread of the engine ended by a panic.
    #[error("the thread \"{0}\" of the live engine panicked")]
    Panicked(String),
}

#[cfg(target_os = "linux")]
impl LiveError {
    /// What was asked of the kernel, in words that follow "could not".
    pub(crate) fn kernel(what: impl Into<String>, source: impl Into<io::Error>) -> LiveError {
        LiveError::Kernel { what: what.into(), source: source.into() }
    }
}
