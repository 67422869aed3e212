//! What a page can ask.

use serde::Deserialize;
use tidegate_core::plan::{Plan, RecordLevel, TransportPlan};
use tidegate_scenario::{Files, Reading, Scenario, ScenarioError, Syntax, check_recording, read_span};

use crate::message::Message;
use crate::reply;

/// A question; in JSON `{"ask": "run", "scenario": {…}, …}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
pub enum Question {
    /// Whether a scenario is right, and what it says.
    Check {
        /// The scenario.
        scenario: Written,
    },
    /// A simulated run of a scenario.
    Run {
        /// The scenario.
        scenario: Written,
        /// Seed of all random numbers; none: the scenario's, or 1.
        #[serde(default)]
        seed: Option<u64>,
        /// Which replication; the first is 0.
        #[serde(default)]
        replication: u64,
        /// Which small change that nobody can know; 0 is the scenario as it is written.
        #[serde(default)]
        perturbation: u64,
        /// `"summary"`, `"events"` or an interval such as `"10 ms"`; none: as the scenario says.
        #[serde(default)]
        record: Option<String>,
    },
    /// The JSON Schema of the scenario language.
    Schema {},
    /// The words behind the codes of recorded columns.
    Words {},
}

/// A scenario as a page has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// The text.
    text: String,
    /// What messages call it; one that ends in `.json` is JSON, any other TOML.
    #[serde(default = "unnamed")]
    name: String,
    /// Edits, `key=value`.
    #[serde(default)]
    sets: Vec<String>,
    /// Files that it names, in the order in which their bytes follow the JSON.
    #[serde(default)]
    files: Vec<File>,
}

/// A file behind the JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    /// How many bytes of the message are it.
    bytes: usize,
}

fn unnamed() -> String {
    "scenario".to_owned()
}

impl Question {
    /// The question in a message, and the files that came with it.
    pub(crate) fn read(message: &Message) -> Result<(Question, Files), String> {
        let question: Question =
            serde_json::from_str(&message.json).map_err(|error| format!("the question: {error}"))?;
        let files = match &question {
            Question::Check { scenario } | Question::Run { scenario, .. } => {
                scenario.files(&message.bytes)?
            }
            Question::Schema {} | Question::Words {} => Files::default(),
        };
        Ok((question, files))
    }

    /// Its answer.
    pub(crate) fn answer(&self, files: Files) -> Message {
        match self {
            Question::Check { scenario } => match scenario.read(&files) {
                Ok(scenario) => reply::checked(&scenario),
                Err(error) => reply::wrong_scenario(&error),
            },
            Question::Run { scenario, seed, replication, perturbation, record } => {
                match scenario.read(&files) {
                    Ok(scenario) => {
                        let plan = scenario.perturbed_plan(*seed, *replication, *perturbation);
                        run(&scenario, plan, record.as_deref())
                    }
                    Err(error) => reply::wrong_scenario(&error),
                }
            }
            Question::Schema {} => reply::schema(),
            Question::Words {} => reply::words(),
        }
    }
}

impl Written {
    fn files(&self, mut bytes: &[u8]) -> Result<Files, String> {
        let mut found = Vec::new();
        for File { name, bytes: len } in &self.files {
            let (file, rest) = bytes
                .split_at_checked(*len)
                .ok_or_else(|| format!("the file {name} has {len} bytes, but {} follow", bytes.len()))?;
            found.push((name.clone(), file.to_owned()));
            bytes = rest;
        }
        Ok(found.into_iter().collect())
    }

    fn read(&self, files: &Files) -> Result<Scenario, ScenarioError> {
        let syntax = if self.name.ends_with(".json") { Syntax::Json } else { Syntax::Toml };
        let reading = Reading { sets: &self.sets, files: Some(files), ..Reading::default() };
        Scenario::from_text(&self.text, &self.name, None, syntax, reading)
    }
}

fn run(scenario: &Scenario, mut plan: Plan, record: Option<&str>) -> Message {
    if let Some(record) = record
        && let Err(wrong) = record_as(&mut plan, record)
    {
        return reply::wrong_question(&wrong);
    }
    if let Some(flow) = plan.flows.iter().find(|flow| flow.transport != TransportPlan::Tcp) {
        return reply::stopped(&format!(
            "flow.{}.transport: read {:?}; this page has TCP only: write \"tcp\", or use tidegate lab, whose page has it",
            flow.name,
            flow.transport.name()
        ));
    }
    match tidegate_sim::run(&plan, &mut |_| true) {
        Ok(result) => reply::done(scenario, &plan, &result),
        Err(stopped) => reply::stopped(&stopped.to_string()),
    }
}

fn record_as(plan: &mut Plan, record: &str) -> Result<(), String> {
    plan.record.level = match record {
        "summary" => RecordLevel::Summary,
        "events" => RecordLevel::Events,
        span => RecordLevel::Every(read_span(span).map_err(|wrong| format!("record: {wrong}"))?),
    };
    check_recording(plan).map_err(|problem| format!("record: {problem}"))
}
