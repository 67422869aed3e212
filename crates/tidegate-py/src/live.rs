//! The live engine: runs with the kernel's TCP.

#[cfg(target_os = "linux")]
pub(crate) use here::{data, live_clean, run};
#[cfg(not(target_os = "linux"))]
pub(crate) use nowhere::{data, live_clean, run};

#[cfg(target_os = "linux")]
mod here {
    use std::fs::File;
    use std::io::{self, BufWriter};
    use std::time::Duration;

    use pyo3::prelude::*;
    use tidegate_core::plan::Plan;
    use tidegate_core::units::Time;
    use tidegate_live::{Backend, LiveRun, PumpOptions, RunOptions, Side};

    use crate::error;
    use crate::guard::guarded;
    use crate::run::RunData;
    use crate::scenario::named;

    pub(crate) fn run(
        py: Python<'_>,
        plan: &Plan,
        backend: Option<&str>,
        spin_us: Option<u64>,
        go_on: &mut (dyn FnMut(Time) -> bool + Send),
    ) -> PyResult<LiveRun> {
        let mut pump = PumpOptions::default();
        if let Some(spin) = spin_us {
            pump.spin = Duration::from_micros(spin);
        }
        let backend = match backend {
            None | Some("auto") => Backend::Auto,
            Some("tun") => Backend::Tun,
            Some("packet") => Backend::Packet,
            Some(other) => {
                return Err(error::ArgumentError::new_err(format!(
                    "backend: read \"{other}\"; it is auto, tun or packet"
                )));
            }
        };
        let options = RunOptions { backend, pump };
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

    /// Removes what dead runs left.
    #[pyfunction]
    pub(crate) fn live_clean(_py: Python<'_>) -> PyResult<(Vec<u32>, Vec<u32>)> {
        Err(error::live(&LiveError::NotLinux))
    }
}
