//! The live engine: runs with the kernel's TCP.

#[cfg(target_os = "linux")]
pub(crate) use here::{Progress, Shell, data, live_clean, live_enter, run, shell};
#[cfg(not(target_os = "linux"))]
pub(crate) use nowhere::{Progress, Shell, data, live_clean, live_enter, run, shell};

#[cfg(target_os = "linux")]
mod here {
    use std::fs::File;
    use std::io::{self, BufWriter};
    use std::time::Duration;

    use pyo3::prelude::*;
    use tidegate_core::plan::Plan;
    use tidegate_core::units::Time;
    pub(crate) use tidegate_live::Progress;
    use tidegate_live::settings::VARIABLE;
    use tidegate_live::{Backend, LiveRun, PumpReport, RunOptions, Side};

    use crate::error;
    use crate::error::named;
    use crate::guard::guarded;
    use crate::run::RunData;

    pub(crate) fn run(
        py: Python<'_>,
        plan: &Plan,
        backend: Option<&str>,
        spin_us: Option<u64>,
        progress: Option<Progress>,
        go_on: &mut (dyn FnMut(Time) -> bool + Send),
    ) -> PyResult<LiveRun> {
        let words = std::env::var(VARIABLE).unwrap_or_default();
        let mut options = RunOptions::from_words(&words).map_err(error::ArgumentError::new_err)?;
        options.progress = progress;
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

    /// Exit status, seconds, packets dropped, packets, 99th percentile of lateness in µs, packets that went nowhere,
    /// warnings.
    pub(crate) type Told = (i32, f64, u64, u64, Option<f64>, u64, Vec<String>);
    /// When each packet came, seconds; its way (0: the flow's path, 1: back) and bytes; how long it was on its way, ms;
    /// the gate that dropped it.
    pub(crate) type Packets = (Vec<f64>, Vec<u32>, Vec<u32>, Vec<Option<f64>>, Vec<Option<String>>);
    pub(crate) type Shell = (Told, Packets);

    pub(crate) fn shell(
        py: Python<'_>,
        plan: &Plan,
        command: Vec<String>,
        peer: Option<String>,
        (uploads, nat): (bool, bool),
        (recorded, pcap): (bool, Option<String>),
        go_on: &mut (dyn FnMut() -> bool + Send),
    ) -> PyResult<Shell> {
        use std::os::unix::process::ExitStatusExt as _;
        let command = command.into_iter().map(Into::into).collect();
        let options =
            tidegate_live::shell::ShellOptions { command, peer, uploads, nat, packets: pcap.is_some() };
        let done = guarded(py, || tidegate_live::shell::shell(plan, &options, go_on))?
            .map_err(|failed| error::live(&failed))?;
        let status = done.status.code().or_else(|| done.status.signal().map(|signal| 128 + signal));
        let late = done.lateness.p99_s.map(|seconds| seconds * 1e6);
        if let Some(path) = pcap {
            let side = if uploads { Side::Sender } else { Side::Receiver };
            let write = || done.write_pcap(side, BufWriter::new(File::create(&path)?));
            guarded(py, write)?.map_err(|failed| named(failed, &path))?;
        }
        let told = (
            status.unwrap_or(1),
            done.report.ended.as_secs_f64(),
            done.dropped,
            done.lateness.packets,
            late,
            done.astray,
            done.warnings,
        );
        Ok((told, if recorded { packets(&done.report, plan) } else { Packets::default() }))
    }

    fn packets(report: &PumpReport, plan: &Plan) -> Packets {
        let came = &report.arrivals;
        let mut delays = vec![None; came.len()];
        let mut gates = vec![None; came.len()];
        for gone in &report.departures {
            let number = gone.arrival as usize;
            delays[number] = Some(gone.due.saturating_since(came[number].at).as_secs_f64() * 1e3);
        }
        for dropped in &report.drops {
            gates[dropped.unit.handle as usize] = Some(plan.gates[dropped.gate].name.clone());
        }
        (
            came.iter().map(|packet| packet.at.as_secs_f64()).collect(),
            came.iter().map(|packet| packet.route % 2).collect(),
            came.iter().map(|packet| packet.bytes).collect(),
            delays,
            gates,
        )
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

    /// Nothing is told where nothing runs.
    #[derive(Clone, Default)]
    pub(crate) struct Progress;

    impl Progress {
        pub(crate) fn take(&self) -> Vec<tidegate_result::Table> {
            Vec::new()
        }
    }

    pub(crate) fn run(
        _py: Python<'_>,
        _plan: &Plan,
        _backend: Option<&str>,
        _spin_us: Option<u64>,
        _progress: Option<Progress>,
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

    pub(crate) type Told = (i32, f64, u64, u64, Option<f64>, u64, Vec<String>);
    pub(crate) type Packets = (Vec<f64>, Vec<u32>, Vec<u32>, Vec<Option<f64>>, Vec<Option<String>>);
    pub(crate) type Shell = (Told, Packets);

    pub(crate) fn shell(
        _py: Python<'_>,
        _plan: &Plan,
        _command: Vec<String>,
        _peer: Option<String>,
        _ways: (bool, bool),
        _kept: (bool, Option<String>),
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
