//! A checked scenario, and starting a run of it.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tidegate_core::plan::{FlowPlan, Plan, PythonSource, RecordLevel};
use tidegate_core::units::Time;
use tidegate_scenario::{OwnCode, Reading, ScenarioError, Syntax, Warning, check_recording, read_span};

use crate::error::{self, ArgumentError};
use crate::guard::patiently;
use crate::live::Progress;
use crate::run::RunData;
use crate::start::{self, Asking};

/// A scenario that passed every check.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct Scenario {
    inner: Arc<tidegate_scenario::Scenario>,
}

impl Scenario {
    /// What makes the plan of a replication, on another thread: see [`Scenario::plan`]. A wrong span is refused here.
    pub(crate) fn planner(
        &self,
        seed: u64,
        replication: u64,
        record: Option<&str>,
    ) -> PyResult<Box<dyn FnOnce() -> Plan + Send>> {
        let summary = match record {
            Some("summary") => true,
            None => false,
            Some(_) => {
                let plan = self.plan(seed, replication, record)?;
                return Ok(Box::new(move || plan));
            }
        };
        let inner = Arc::clone(&self.inner);
        Ok(Box::new(move || {
            let mut plan = inner.plan(Some(seed), replication);
            if summary {
                plan.record.level = RecordLevel::Summary;
            }
            plan
        }))
    }

    /// The plan of a replication, recorded as `record` says and otherwise as the file does.
    pub(crate) fn plan(&self, seed: u64, replication: u64, record: Option<&str>) -> PyResult<Plan> {
        self.changed(seed, replication, record, 0)
    }

    /// The plan of a replication with the small change of this number; 0: none but the scenario's own.
    fn changed(&self, seed: u64, replication: u64, record: Option<&str>, number: u64) -> PyResult<Plan> {
        let mut plan = self.inner.perturbed_plan(Some(seed), replication, number);
        match record {
            None => {}
            Some("summary") => plan.record.level = RecordLevel::Summary,
            Some("events") => plan.record.level = RecordLevel::Events,
            Some(span) => {
                let every = read_span(span).map_err(|wrong| match span.trim_start().as_bytes().first() {
                    Some(b'0'..=b'9') => error::quantity("record", &wrong),
                    _ => ArgumentError::new_err(format!(
                        "record: {span:?} is none of \"summary\", \"events\" and a time such as \"10 ms\""
                    )),
                })?;
                plan.record.level = RecordLevel::Every(every);
                check_recording(&plan)
                    .map_err(|problem| ArgumentError::new_err(format!("record: {problem}")))?;
            }
        }
        Ok(plan)
    }
}

fn checked(
    py: Python<'_>,
    read: impl FnOnce() -> Result<tidegate_scenario::Scenario, ScenarioError> + Send + 'static,
) -> PyResult<Scenario> {
    match patiently(py, |_| read())? {
        Ok(inner) => Ok(Scenario { inner: Arc::new(inner) }),
        Err(wrong) => Err(error::scenario(py, &wrong)),
    }
}

/// What becomes of congestion controllers in Python: "runs", "edits" (only those that a set names) or "told".
fn read_own_code(word: &str) -> PyResult<OwnCode> {
    match word {
        "runs" => Ok(OwnCode::Runs),
        "edits" => Ok(OwnCode::Edits),
        "told" => Ok(OwnCode::Told),
        _ => Err(ArgumentError::new_err(format!("own_code: read {word:?}; takes runs, edits or told"))),
    }
}

#[pymethods]
impl Scenario {
    #[staticmethod]
    #[pyo3(signature = (path, sets, allow_outside = false, own_code = "runs"))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        sets: Vec<String>,
        allow_outside: bool,
        own_code: &str,
    ) -> PyResult<Scenario> {
        let own_code = read_own_code(own_code)?;
        checked(py, move || {
            tidegate_scenario::Scenario::load_with(
                &path,
                Reading { sets: &sets, allow_outside, own_code, ..Reading::default() },
            )
        })
    }

    #[staticmethod]
    #[pyo3(signature = (text, name, base_dir, sets, allow_outside = false, confined = false, own_code = "runs"))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn from_toml(
        py: Python<'_>,
        text: String,
        name: String,
        base_dir: Option<PathBuf>,
        sets: Vec<String>,
        allow_outside: bool,
        confined: bool,
        own_code: &str,
    ) -> PyResult<Scenario> {
        let own_code = read_own_code(own_code)?;
        checked(py, move || {
            let reading = Reading { sets: &sets, allow_outside, confined, own_code, files: None };
            tidegate_scenario::Scenario::from_text(&text, &name, base_dir.as_deref(), Syntax::Toml, reading)
        })
    }

    /// A scenario whose files come with it, by the names that it has for them: none is opened.
    #[staticmethod]
    fn given(
        py: Python<'_>,
        text: String,
        name: String,
        base_dir: Option<PathBuf>,
        files: Vec<(String, Vec<u8>)>,
    ) -> PyResult<Scenario> {
        checked(py, move || {
            let files = files.into_iter().collect();
            let reading = Reading { files: Some(&files), allow_outside: true, ..Reading::default() };
            tidegate_scenario::Scenario::from_text(&text, &name, base_dir.as_deref(), Syntax::Toml, reading)
        })
    }

    #[staticmethod]
    #[pyo3(signature = (text, name, base_dir, sets, allow_outside = false, own_code = "runs"))]
    fn from_json(
        py: Python<'_>,
        text: String,
        name: String,
        base_dir: Option<PathBuf>,
        sets: Vec<String>,
        allow_outside: bool,
        own_code: &str,
    ) -> PyResult<Scenario> {
        let own_code = read_own_code(own_code)?;
        checked(py, move || {
            let reading = Reading { sets: &sets, allow_outside, own_code, ..Reading::default() };
            tidegate_scenario::Scenario::from_text(&text, &name, base_dir.as_deref(), Syntax::Json, reading)
        })
    }

    /// One point of a study: further edits, no sweep; traces are not read again.
    fn point(&self, py: Python<'_>, sets: Vec<String>) -> PyResult<Scenario> {
        let inner = Arc::clone(&self.inner);
        checked(py, move || inner.point(&sets))
    }

    /// What a kept result of this scenario is named after, beside seed, replication and what code of users does; and that code: the
    /// files and the modules that it is in.
    #[pyo3(signature = (record = None))]
    fn digest(&self, py: Python<'_>, record: Option<&str>) -> PyResult<(String, Vec<String>, Vec<String>)> {
        let plan = self.plan(0, 0, record)?;
        let (mut files, mut modules) = (Vec::new(), Vec::new());
        for own in plan.flows.iter().flat_map(FlowPlan::own_code) {
            let (names, name) = match &own.source {
                PythonSource::File(path) => (&mut files, path),
                PythonSource::Module(name) => (&mut modules, name),
            };
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Ok((patiently(py, move |_| tidegate_result::digest(plan))?, files, modules))
    }

    /// The axes of a study: keys that move together, and a row of values for each step.
    #[getter]
    fn sweeps(&self) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
        self.inner.sweeps().iter().map(|axis| (axis.keys.clone(), axis.steps.clone())).collect()
    }

    /// What was read at a dotted key, in one spelling; None where no value of the table of keys is there.
    fn reading(&self, key: &str) -> Option<String> {
        self.inner.reading(key)
    }

    #[getter]
    fn base_dir(&self) -> Option<String> {
        self.inner.base_dir().map(|folder| folder.display().to_string())
    }

    #[getter]
    fn title(&self) -> &str {
        self.inner.title()
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.duration().as_secs_f64()
    }

    #[getter]
    fn until_done(&self) -> bool {
        self.inner.until_done()
    }

    #[getter]
    fn warmup_s(&self) -> f64 {
        self.inner.warmup().as_secs_f64()
    }

    #[getter]
    fn seed(&self) -> Option<u64> {
        self.inner.seed()
    }

    #[getter]
    fn runs(&self) -> u64 {
        self.inner.runs()
    }

    #[getter]
    fn combinations(&self) -> usize {
        self.inner.combinations().len()
    }

    #[getter]
    fn sweep_warning(&self) -> Option<String> {
        self.inner.sweep_warning()
    }

    #[getter]
    fn records(&self) -> bool {
        self.inner.unseeded_plan().record.level != RecordLevel::Summary
    }

    #[getter]
    fn flow_names(&self) -> Vec<String> {
        self.inner.flow_names().to_vec()
    }

    #[getter]
    fn gate_names(&self) -> Vec<String> {
        self.inner.gate_names().to_vec()
    }

    /// The gates that a run records where it records anything, as written.
    #[getter]
    fn recorded_gates(&self) -> Vec<&str> {
        self.inner.recorded_gates()
    }

    /// The gates of a run by name: of a gate for each flow its copies.
    #[getter]
    fn run_gates(&self) -> Vec<&str> {
        self.inner.unseeded_plan().gates.iter().map(|gate| gate.name.as_str()).collect()
    }

    /// How many flows and gates a run has, copies counted.
    #[getter]
    fn counts(&self) -> (usize, usize) {
        let plan = self.inner.unseeded_plan();
        (plan.flows.len(), plan.gates.len())
    }

    /// The random streams that a run draws from; none: every seed gives the same run.
    #[getter]
    fn draws(&self) -> Vec<String> {
        self.inner.unseeded_plan().draws()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().iter().map(sentence).collect()
    }

    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let each = self.inner.inputs().iter().map(|input| {
            let dict = PyDict::new(py);
            dict.set_item("name", &input.name)?;
            dict.set_item("path", input.path.display().to_string())?;
            dict.set_item("sha256", &input.sha256)?;
            Ok(dict)
        });
        each.collect()
    }

    /// Sizes written as a time or in bandwidth–delay products: key, as written, what it is made of, what it came to.
    #[getter]
    fn computed_sizes(&self) -> Vec<(String, String, String, String)> {
        let sizes = self.inner.computed_sizes().into_iter();
        sizes.map(|size| (size.key, size.written, size.from, size.size)).collect()
    }

    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let inner = Arc::clone(&self.inner);
        patiently(py, move |_| inner.explain())
    }

    /// What a picture needs to know of each gate, by name.
    fn laws_json(&self, py: Python<'_>) -> PyResult<String> {
        let inner = Arc::clone(&self.inner);
        patiently(py, move |_| error::to_json("the laws", &tidegate_result::laws(inner.unseeded_plan())))?
    }

    fn plan_json(&self, py: Python<'_>) -> PyResult<String> {
        let inner = Arc::clone(&self.inner);
        patiently(py, move |_| crate::plan::to_json(inner.unseeded_plan()))?
    }

    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    /// A run of the simulator; `perturbation` is the number of a small change, 0: none but the scenario's own.
    #[pyo3(signature = (*, seed, replication = 0, record = None, pcap = None, qlog = None, exact = false, threads = None, tick = None, perturbation = 0))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn run(
        &self,
        py: Python<'_>,
        seed: u64,
        replication: u64,
        record: Option<&str>,
        pcap: Option<(String, String)>,
        qlog: Option<String>,
        exact: bool,
        threads: Option<usize>,
        tick: Option<Py<PyAny>>,
        perturbation: u64,
    ) -> PyResult<RunData> {
        let mut plan = self.changed(seed, replication, record, perturbation)?;
        plan.exact |= exact;
        plan.record.packets |= pcap.is_some();
        start::sim(py, plan, threads, (pcap, qlog), tick)
    }

    /// A program across the gates of the first flow: its exit status, seconds, packets dropped, packets, 99th
    /// percentile of lateness in µs, packets that went nowhere, warnings; then every packet, if `recorded`.
    #[pyo3(signature = (*, command, peer = None, uploads = false, nat = false, recorded = false, pcap = None, seed = 1))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn live_shell(
        &self,
        py: Python<'_>,
        command: Vec<String>,
        peer: Option<String>,
        uploads: bool,
        nat: bool,
        recorded: bool,
        pcap: Option<String>,
        seed: u64,
    ) -> PyResult<crate::live::Shell> {
        let plan = self.plan(seed, 0, Some("summary"))?;
        let mut asking = Asking::new(&plan, None);
        let done =
            crate::live::shell(py, &plan, command, peer, (uploads, nat), (recorded, pcap), &mut || {
                asking.go_on(Time::ZERO)
            });
        asking.settle(done)
    }

    /// A run of the kernel's TCP in real time; `pcap` names the captures at the two ends. `heard` is called with the
    /// share that is done and the rows that came since the last call, as tables of a run; its answer says nothing.
    #[pyo3(signature = (*, seed, replication = 0, record = None, pcap = None, backend = None, spin_us = None, tick = None, heard = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn run_live(
        &self,
        py: Python<'_>,
        seed: u64,
        replication: u64,
        record: Option<&str>,
        pcap: Option<(Option<String>, Option<String>)>,
        backend: Option<&str>,
        spin_us: Option<u64>,
        tick: Option<Py<PyAny>>,
        heard: Option<Py<PyAny>>,
    ) -> PyResult<RunData> {
        let plan = self.plan(seed, replication, record)?;
        let telling = heard.as_ref().map(|heard| (heard, Progress::default()));
        let progress = telling.as_ref().map(|(_, progress)| progress.clone());
        let mut asking = Asking::new(&plan, tick.as_ref()).telling(telling);
        let done = crate::live::run(py, &plan, backend, spin_us, progress, &mut |now| asking.go_on(now));
        crate::live::data(py, &plan, asking.settle(done)?, pcap.unwrap_or_default())
    }
}

/// A warning on one line, without the file's name: the same scenario, the same result.
fn sentence(warning: &Warning) -> String {
    let help = warning.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    format!("{}: {}{help}", warning.key, warning.message)
}
