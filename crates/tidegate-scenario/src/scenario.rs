//! A scenario that has passed every check.

use std::path::Path;

use tidegate_core::plan::{GatePlan, Plan};
use tidegate_core::units::{Span, Time};

use crate::check::Form;
use crate::copies::servers;
use crate::document;
use crate::error::Warning;
use crate::explain;
use crate::inputs::{Input, Library};
use crate::relative::{self, ComputedSize};
use crate::sweep::{self, Sweep};

/// A scenario, parsed and checked: it makes plans and cannot fail any more.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) plan: Plan,
    pub(crate) seed: Option<u64>,
    pub(crate) runs: u64,
    pub(crate) toml: String,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) sweeps: Vec<Sweep>,
    pub(crate) flows: Vec<String>,
    pub(crate) gates: Vec<String>,
    pub(crate) root: Form,
    pub(crate) written: Written,
}

/// What a scenario was read from, so that its points can be read again with further edits.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// Of a scenario that has been read: without the values of its axes ([`sweep::without_values`]).
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) sets: Vec<String>,
    pub(crate) syntax: Syntax,
    pub(crate) library: Library,
}

/// The two ways to write a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

impl Scenario {
    /// The folder that trace paths count from; none: the working folder.
    #[must_use]
    pub fn base_dir(&self) -> Option<&Path> {
        self.written.library.base_dir()
    }

    /// The plan of replication `replication`; `seed` counts before the scenario's own, and
    /// without either it is 1.
    #[must_use]
    pub fn plan(&self, seed: Option<u64>, replication: u64) -> Plan {
        self.perturbed_plan(seed, replication, 0)
    }

    /// The plan of a replication with small change `number` ([`Plan::perturbed`]). 0: as [`Scenario::plan`], which is
    /// as written unless the scenario says `perturb = true`; then it has the change of its replication's number.
    #[must_use]
    pub fn perturbed_plan(&self, seed: Option<u64>, replication: u64, number: u64) -> Plan {
        let plan = Plan { seed: seed.or(self.seed).unwrap_or(1), replication, ..self.plan.clone() };
        let own = if plan.perturb { replication } else { 0 };
        plan.perturbed(if number == 0 { own } else { number })
    }

    /// The plan for questions that neither seed nor replication matter to; it is not copied, as by [`Scenario::plan`].
    #[must_use]
    pub fn unseeded_plan(&self) -> &Plan {
        &self.plan
    }

    /// The gates that a run records where it records anything, as written, before copies are made.
    #[must_use]
    pub fn recorded_gates(&self) -> Vec<&str> {
        let all = self.gates.iter().map(String::as_str);
        let Some(chosen) = &self.plan.record.gates else { return all.collect() };
        let is_chosen = |(number, _): (usize, &GatePlan)| chosen.binary_search(&number).is_ok();
        all.filter(|gate| servers(gate, &self.plan).any(is_chosen)).collect()
    }

    /// What to look at before trusting the numbers.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The document as run, after every `--set`; comments are kept.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.toml.clone()
    }

    /// The scenario in words: every default filled in and marked, and what follows from
    /// the numbers.
    #[must_use]
    pub fn explain(&self) -> String {
        explain::explain(&self.root, &self.plan)
    }

    /// Sizes that were written as a time or in bandwidth–delay products, and what they came to.
    #[must_use]
    pub fn computed_sizes(&self) -> Vec<ComputedSize> {
        relative::computed(&self.root)
    }

    /// What was read at a dotted key, in one spelling: `1 Mbit/s` and `1000 kbit/s` are the same. None where the key
    /// is not there, or is checked by hand.
    #[must_use]
    pub fn reading(&self, key: &str) -> Option<String> {
        sweep::reading(&self.root, &document::parse_path(key, 0, 0).ok()?)
    }

    /// The files that the scenario read, by name.
    #[must_use]
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// How many replications.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// The seed, if the scenario names one.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The axes of a study, in the order of the file.
    #[must_use]
    pub fn sweeps(&self) -> &[Sweep] {
        &self.sweeps
    }

    /// Every combination of the axes, the last one moving fastest: each is a list of
    /// `(key, value)` to pass as `--set key=value`. Without sweeps there is one, empty.
    #[must_use]
    pub fn combinations(&self) -> Vec<Vec<(String, String)>> {
        sweep::combinations(&self.sweeps)
    }

    /// What is said where one run, or one answer, leaves [`Self::combinations`] out; nothing where there is one.
    #[must_use]
    pub fn sweep_warning(&self) -> Option<String> {
        let count: usize = self.sweeps.iter().map(|sweep| sweep.steps.len()).product();
        (count > 1).then(|| {
            format!(
                "the scenario's sweep makes {count} combinations; this is of the values outside [[sweep]] \
                 (tidegate study runs them all)"
            )
        })
    }

    /// One line for people.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.plan.title
    }

    /// Whether the run ends when every finite transfer and every flow with a count of requests is done.
    #[must_use]
    pub fn until_done(&self) -> bool {
        self.plan.until_done
    }

    /// How long the run is; where it ends when all is done, how long it is at most.
    #[must_use]
    pub fn duration(&self) -> Time {
        self.plan.duration
    }

    /// Where the summary begins to count.
    #[must_use]
    pub fn warmup(&self) -> Span {
        Span::from_picos(self.plan.warmup.picos())
    }

    /// Flows as written, before copies are made.
    #[must_use]
    pub fn flow_names(&self) -> &[String] {
        &self.flows
    }

    /// Gates as written, before copies are made.
    #[must_use]
    pub fn gate_names(&self) -> &[String] {
        &self.gates
    }
}
