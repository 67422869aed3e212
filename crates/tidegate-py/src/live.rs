//! The live engine: runs with the kernel's TCP.

#[cfg(target_os = "linux")]
pub(crate) use here::{Shell, data, live_clean, live_enter, run, shell};
#[cfg(not(target_os = "linux"))]
pub(crate) use nowhere::{Shell, data, live_clean, live_enter, run, shell};

#[cfg(target_os = "linux")]
mod here {
    use std::fs::File;
    use std::io::{self, BufWriter};
    use std::time::Duration;

    use pyo3::prelude::*;
    use tidegate_core::plan::Plan;
    use tidegate_core::units::Time;
    use tidegate_live::settings::VARIABLE;
    use tidegate_live::{Backend, LiveRun, RunOptions, Side};

    use crate::error;
    use crate::error::named;
    use crate::guard::guarded;
    use crate::run::RunData;

    pub(crate) fn run(
        py: Python<'_>,
        plan: &Plan,
        backend: Option<&str>,
        spin_us: Option<u64>,
        go_on: &mut (dyn FnMut(Time) -> bool + Send),
    ) -> PyResult<LiveRun> {
        let words = std::env::var(VARIABLE).unwrap_or_default();
        let mut options = RunOptions::from_words(&words).map_err(error::ArgumentError::new_err)?;
        if let Some(spin) = spin_us {
            options.pump.spin = Duration::from_micros(spin);
        }
        match backend {
            None => {}
            Some("auto") => options.backend = Backend::Auto,
            Some("tun") => options.backend = Backend::Tun,
            Some("packet") => options.backend = Backend::Packet,
            Some(other) => {
                return Err(error::ArgumentError::new_err(format!(
                    "backend: read \"{other}\"; it is auto, tun or packet"
                )));
            }
        }
        guarded(py, || tidegate_live::run(plan, &options, go_on))?.map_err(|failed| error::live(&failed))
    }

    pub(crate) fn data(
        py: Python<'_>,
        plan: &Plan,
        done: LiveRun,
        pcap: (Option<String>, Option<String>),
    ) -> PyResult<RunData> {
        for (path, side) in [(pcap.0, Side::Sender), (pcap.1, Side::Receiver)] {
            if let Some(path) = path {
                guarded(py, || write(&done, side, &path))?.map_err(|failed| named(failed, &path))?;
            }
        }
        let LiveRun { result, details, .. } = done;
        guarded(py, || RunData::new(plan, result, Vec::new()))??.with_live(&details)
    }

    fn write(done: &LiveRun, side: Side, path: &str) -> io::Result<()> {
        done.write_pcap(side, BufWriter::new(File::create(path)?))
    }

    /// Exit status, packets dropped, packets, 99th percentile of lateness in µs, warnings.
    pub(crate) type Shell = (i32, u64, u64, Option<f64>, Vec<String>);

    pub(crate) fn shell(
        py: Python<'_>,
        plan: &Plan,
        command: Vec<String>,
        peer: Option<String>,
        uploads: bool,
        go_on: &mut (dyn FnMut() -> bool + Send),
    ) -> PyResult<Shell> {
        use std::os::unix::process::ExitStatusExt as _;
        let command = command.into_iter().map(Into::into).collect();
        let options = tidegate_live::shell::ShellOptions { command, peer, uploads };
        let done = guarded(py, || tidegate_live::shell::shell(plan, &options, go_on))?
            .map_err(|failed| error::live(&failed))?;
        let status = done.status.code().or_else(|| done.status.signal().map(|signal| 128 + signal));
        let late = done.lateness.p99_s.map(|seconds| seconds * 1e6);
        Ok((status.unwrap_or(1), done.dropped, done.lateness.packets, late, done.warnings))
    }

    /// Makes this process root of a user namespace where it may make no network namespaces as it is;
    /// only while it has a single thread.
    #[pyfunction]
    pub(crate) fn live_enter(py: Python<'_>) -> PyResult<()> {
        guarded(py, tidegate_live::userns::enter)?.map_err(|failed| error::live(&failed))
    }

    /// Removes what dead runs left; what was found, as (runs, processes).
    #[pyfunction]
    pub(crate) fn live_clean(py: Python<'_>) -> PyResult<(Vec<u32>, Vec<u32>)> {
        let cleaned = guarded(py, tidegate_live::clean::clean)?.map_err(|failed| error::live(&failed))?;
        Ok((cleaned.runs, cleaned.processes))
    }
}

#[cfg(not(target_os = "linux"))]
mod nowhere {
    use pyo3::prelude::*;
    use tidegate_core::plan::Plan;
    use tidegate_core::units::Time;
    use tidegate_live::LiveError;

    use crate::error;
    use crate::run::RunData;

    pub(crate) enum Never {}

    pub(crate) fn run(
        _py: Python<'_>,
        _plan: &Plan,
        _backend: Option<&str>,
        _spin_us: Option<u64>,
        _go_on: &mut (dyn FnMut(Time) -> bool + Send),
    ) -> PyResult<Never> {
        Err(error::live(&LiveError::NotLinux))
    }

    pub(crate) fn data(
        _py: Python<'_>,
        _plan: &Plan,
        done: Never,
        _pcap: (Option<String>, Option<String>),
    ) -> PyResult<RunData> {
        match done {}
    }

    pub(crate) type Shell = (i32, u64, u64, Option<f64>, Vec<String>);

    pub(crate) fn shell(
        _py: Python<'_>,
        _plan: &Plan,
        _command: Vec<String>,
        _peer: Option<String>,
        _uploads: bool,
        _go_on: &mut (dyn FnMut() -> bool + Send),
    ) -> PyResult<Shell> {
        Err(error::live(&LiveError::NotLinux))
    }

    /// Needs Linux.
    #[pyfunction]
    pub(crate) fn live_enter(_py: Python<'_>) -> PyResult<()> {
        Err(error::live(&LiveError::NotLinux))
    }

    /// Removes what dead runs left.
    #[pyfunction]
    pub(crate) fn live_clean(_py: Python<'_>) -> PyResult<(Vec<u32>, Vec<u32>)> {
        Err(error::live(&LiveError::NotLinux))
    }
}
