//! Reading a scenario: from a file or a text to a [`Scenario`], or to the first thing that is wrong.

use std::path::Path;

use crate::document::{self, Node, Op, Source, Sources};
use crate::error::{Problem, ScenarioError, Warning};
use crate::file::{self, LARGEST_SCENARIO, Refused};
use crate::inputs::{Files, Library, OwnCode, Quotes};
use crate::planned;
use crate::scenario::{Scenario, Syntax, Written};
use crate::sweep;
use crate::table::ROOT;
use crate::units::plural;

/// How a scenario is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'a> {
    /// Edits, `key=value`, made before the checks.
    pub sets: &'a [String],
    /// A message about a trace or a file of sizes may quote numbers in it even where the file lies outside the
    /// scenario's folder. Otherwise it may only if an edit names the file by an absolute path.
    pub allow_outside: bool,
    /// Files are read only in the scenario's folder, links followed, and no code is executed: for a scenario
    /// from somebody else.
    pub confined: bool,
    /// What becomes of congestion controllers in Python.
    pub own_code: OwnCode,
    /// The files that the scenario may name, in place of those of the file system.
    pub files: Option<&'a Files>,
}

const TOO_LARGE: &str = "a scenario is a small text file: use count = 1000 to make many flows of one table";

impl Scenario {
    /// Reads the file at `path` (JSON if its name ends in `.json`, otherwise TOML), edits it
    /// as each of `sets` says (`key=value`), and checks it. Trace files count from its folder.
    ///
    /// # Errors
    /// The first thing that is wrong, in the order of the file.
    pub fn load(path: &Path, sets: &[String]) -> Result<Scenario, ScenarioError> {
        Scenario::load_with(path, Reading { sets, ..Reading::default() })
    }

    /// [`Scenario::load`] with every choice of how a file is read.
    ///
    /// # Errors
    /// The first thing that is wrong, in the order of the file.
    pub fn load_with(path: &Path, reading: Reading<'_>) -> Result<Scenario, ScenarioError> {
        let name = path.display().to_string();
        let unreadable =
            |problem: String, help: &str| ScenarioError::unreadable(&name, problem, Some(help.to_owned()));
        let help = "give the path of a scenario file";
        let bytes = file::read(path, LARGEST_SCENARIO).map_err(|refused| match &refused {
            Refused::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
                unreadable(format!("there is no file {name}"), help)
            }
            Refused::Io(error) => {
                unreadable(format!("cannot read {name}: {error}"), "give the path of a readable file")
            }
            Refused::Folder => unreadable(format!("{name} is a folder"), help),
            Refused::Special => unreadable(format!("{name}: {}", refused.problem()), help),
            Refused::Large { .. } => unreadable(format!("{name}: {}", refused.problem()), TOO_LARGE),
        })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            unreadable(format!("{name}, line {line}: not UTF-8 text"), "save the file as UTF-8")
        })?;
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let syntax = if is_json { Syntax::Json } else { Syntax::Toml };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Scenario::from_text(&text, &name, folder, syntax, reading)
    }

    /// The scenario in the TOML `text`, called `name` in messages; trace files count from
    /// `base_dir`.
    ///
    /// # Errors
    /// The first thing that is wrong, in the order of the text.
    pub fn from_toml(
        text: &str,
        name: &str,
        base_dir: Option<&Path>,
        sets: &[String],
    ) -> Result<Scenario, ScenarioError> {
        Scenario::from_text(text, name, base_dir, Syntax::Toml, Reading { sets, ..Reading::default() })
    }

    /// The scenario in the JSON `text`: the same keys, checks and messages.
    ///
    /// # Errors
    /// The first thing that is wrong, in the order of the text.
    pub fn from_json(
        text: &str,
        name: &str,
        base_dir: Option<&Path>,
        sets: &[String],
    ) -> Result<Scenario, ScenarioError> {
        Scenario::from_text(text, name, base_dir, Syntax::Json, Reading { sets, ..Reading::default() })
    }

    /// The scenario in `text`, written in `syntax` and read as `reading` says.
    ///
    /// # Errors
    /// The first thing that is wrong, in the order of the text.
    pub fn from_text(
        text: &str,
        name: &str,
        base_dir: Option<&Path>,
        syntax: Syntax,
        reading: Reading<'_>,
    ) -> Result<Scenario, ScenarioError> {
        if text.len() as u64 > LARGEST_SCENARIO {
            let problem = Refused::Large { bytes: text.len() as u64, most: LARGEST_SCENARIO }.problem();
            return Err(ScenarioError::unreadable(
                name,
                format!("{name}: {problem}"),
                Some(TOO_LARGE.to_owned()),
            ));
        }
        let quotes = Quotes {
            outside: reading.allow_outside,
            edits: reading.sets.to_vec(),
            confined: reading.confined,
            code: reading.own_code,
        };
        Scenario::build(Written {
            text: text.to_owned(),
            name: name.to_owned(),
            sets: reading.sets.to_vec(),
            syntax,
            library: Library::new(base_dir, quotes, reading.files),
        })
    }

    /// One point of a study: the same scenario with further edits (`key=value`) and without
    /// its sweep. Trace files that were read already are not read again.
    ///
    /// # Errors
    /// What is wrong with the edited scenario.
    pub fn point(&self, sets: &[String]) -> Result<Scenario, ScenarioError> {
        let mut written = self.written.clone();
        written.sets.extend_from_slice(sets);
        written.sets.push("sweep=[]".to_owned());
        written.library.forget_names();
        Scenario::build(written)
    }

    fn build(written: Written) -> Result<Scenario, ScenarioError> {
        let mut sources = vec![Source { name: written.name.clone(), text: written.text.clone() }];
        let sets = written.sets.iter();
        sources.extend(sets.map(|set| Source { name: "--set".to_owned(), text: set.clone() }));
        Scenario::check(written, &sources)
            .map_err(|problems| ScenarioError::from_problems(problems, &sources))
    }

    fn check(mut written: Written, sources: &Sources) -> Result<Scenario, Vec<Problem>> {
        let parsed = match written.syntax {
            Syntax::Toml => document::parse_toml(&written.text, 0),
            Syntax::Json => document::parse_json(&written.text, 0),
        };
        let mut tree = parsed.map_err(|problem| vec![problem])?;
        let short = sweep::without_values(&written.text, &tree);
        let mut ops = apply_sets(&mut tree, &written.sets).map_err(|problem| vec![problem])?;
        let (root, plan, mut warnings) = planned::check(&tree, &mut written.library)?;
        let inputs = written.library.inputs();
        let mut sweeps = sweep::read(&tree, None)?;
        if let Err(problems) = sweep::read(&tree, Some(&mut written.library)) {
            if written.sets.is_empty() {
                return Err(problems);
            }
            let Some(gone) = sweep::left_out(&tree, &problems) else { return Err(problems) };
            warnings.push(gone.0);
            ops.push(gone.1);
            sweeps.clear();
        }
        let toml = match written.syntax {
            Syntax::Toml => document::edited(&written.text, &ops),
            Syntax::Json => {
                ops.iter().for_each(|op| tree.apply(op));
                document::from_tree(&tree)
            }
        };
        let names = |what: &str| -> Vec<String> {
            root.table(what)
                .map_or(Vec::new(), |form| form.items.iter().map(|named| named.name.clone()).collect())
        };
        warnings.sort_by_key(|problem| problem.at);
        few(&mut warnings);
        Ok(Scenario {
            seed: root.whole("seed"),
            runs: root.whole("runs").unwrap_or(1),
            toml,
            warnings: warnings.into_iter().map(|problem| Warning::from_problem(problem, sources)).collect(),
            inputs,
            sweeps,
            flows: names("flow"),
            gates: names("gate"),
            plan,
            root,
            written: Written { text: short, ..written },
        })
    }
}

/// Nobody reads more warnings than this.
const MOST_WARNINGS: usize = 100;

/// Keeps the first warnings, and says how many there are beside them.
fn few(warnings: &mut Vec<Problem>) {
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    if more == 0 {
        return;
    }
    warnings.truncate(MOST_WARNINGS);
    if let Some(last) = warnings.last() {
        let problem = format!("{} not shown", plural(more as u64, "more warning"));
        warnings
            .push(Problem::new(last.at, &last.key, problem).help("correct these problems, then check again"));
    }
}

/// Edits the tree as each set says; gives the edits for the text.
fn apply_sets(tree: &mut Node, sets: &[String]) -> Result<Vec<Op>, Problem> {
    let mut all = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let (path, value) = document::parse_set(set, index + 1)?;
        for op in document::operations(tree, &ROOT, &path, value)? {
            tree.apply(&op);
            all.push(op);
        }
    }
    Ok(all)
}
