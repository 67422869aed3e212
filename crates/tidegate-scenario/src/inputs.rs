//! Trace files: read once however many gates and sweep values name them, and hashed, so
//! that a run can say what it read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tidegate_core::plan::{LightTrace, OpportunityTrace, RateTrace, SizePlan};

use crate::trace::segments::SegmentSizes;
use crate::trace::{self, Format, LoadedTrace, Remarked, TraceError, TraceOptions};

/// A file that a scenario read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// As written in the scenario.
    pub name: String,
    /// Where it was found.
    pub path: PathBuf,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
}

/// Files that are given as bytes, by the names that a scenario has for them. A scenario that is read with them opens no file:
/// so it is read where there is no file system, as in a browser.
#[derive(Clone, Debug, Default)]
pub struct Files(Arc<BTreeMap<String, Vec<u8>>>);

impl FromIterator<(String, Vec<u8>)> for Files {
    fn from_iter<I: IntoIterator<Item = (String, Vec<u8>)>>(files: I) -> Files {
        Files(Arc::new(files.into_iter().collect()))
    }
}

impl Files {
    /// The bytes of the file `name`.
    fn get(&self, name: &str) -> Result<Vec<u8>, TraceError> {
        self.0.get(name).cloned().ok_or_else(|| {
            let given: Vec<&str> = self.0.keys().map(String::as_str).collect();
            let help = match given.as_slice() {
                [] => "give the file together with the scenario".to_owned(),
                names => format!("give the file together with the scenario; given: {}", names.join(", ")),
            };
            TraceError::not_given(name, help)
        })
    }
}

/// What becomes of a congestion controller in Python that a scenario names: its file runs with the rights of whoever
/// runs the scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnCode {
    /// It may run.
    #[default]
    Runs,
    /// It may run where an edit names it: whoever made the edit chose it. What the scenario itself names is refused.
    Edits,
    /// Nothing runs now; a warning says what would.
    Told,
}

/// A trace that gates share.
#[derive(Clone, Debug)]
pub(crate) enum Loaded {
    Rates(Arc<RateTrace>),
    Opportunities(Arc<OpportunityTrace>),
}

/// A trace with what is to be said of its file.
pub(crate) type Heard = (Loaded, Vec<String>);

/// Which files may be read, and which a message may quote.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quotes {
    /// Every file.
    pub(crate) outside: bool,
    /// Beside those in the scenario's folder, absolute paths that stand in one of these edits: whoever made
    /// the edit chose the file.
    pub(crate) edits: Vec<String>,
    /// Only files in the scenario's folder are read, links followed, and none is executed.
    pub(crate) confined: bool,
    /// Which code may be executed.
    pub(crate) code: OwnCode,
}

impl Quotes {
    fn chosen(&self, name: &str) -> bool {
        let in_edit = |edit: &String| {
            let value = edit.split_once('=').map_or("", |(_, value)| value.trim());
            value == name || value.split(['"', '\'']).any(|part| part == name)
        };
        Path::new(name).is_absolute() && self.edits.iter().any(in_edit)
    }
}

type TraceKey = (String, Option<Format>, TraceOptions);

/// The files of one scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Library {
    base_dir: Option<PathBuf>,
    /// In place of the file system.
    given: Option<Files>,
    quotes: Quotes,
    traces: BTreeMap<TraceKey, Result<Heard, TraceError>>,
    sizes: BTreeMap<String, Result<SizePlan, TraceError>>,
    lights: BTreeMap<String, Result<Arc<LightTrace>, TraceError>>,
    inputs: BTreeMap<String, Input>,
    /// The names asked for; what is here from before was read for another scenario.
    named: BTreeSet<String>,
}

impl Library {
    pub(crate) fn new(base_dir: Option<&Path>, quotes: Quotes, given: Option<&Files>) -> Library {
        Library {
            base_dir: base_dir.map(Path::to_owned),
            quotes,
            given: given.cloned(),
            ..Library::default()
        }
    }

    /// The bytes of the file `name`: as given, or as `read` finds them.
    fn bytes(
        &self,
        name: &str,
        read: impl FnOnce() -> Result<Vec<u8>, TraceError>,
    ) -> Result<Vec<u8>, TraceError> {
        self.given.as_ref().map_or_else(read, |given| given.get(name))
    }

    /// The trace in the file `name`, which counts from the scenario's folder.
    pub(crate) fn trace(
        &mut self,
        name: &str,
        format: Option<Format>,
        options: TraceOptions,
    ) -> Result<Heard, TraceError> {
        self.named.insert(name.to_owned());
        let key = (name.to_owned(), format, options);
        if let Some(loaded) = self.traces.get(&key) {
            return loaded.clone();
        }
        let path = self.readable(name)?;
        let shown = path.display().to_string();
        let loaded = self.bytes(name, || trace::read(&path, &shown)).and_then(|bytes| {
            let Remarked { trace, remarks } = trace::parse_with_remarks(&bytes, &shown, format, &key.2)?;
            self.keep_input(name, path.clone(), &bytes);
            let loaded = match trace {
                LoadedTrace::Rates(trace) => Loaded::Rates(Arc::new(trace)),
                LoadedTrace::Opportunities(trace) => Loaded::Opportunities(Arc::new(trace)),
            };
            Ok((loaded, remarks))
        });
        let loaded = loaded.map_err(|error| self.discreet(error, name, &path));
        self.traces.insert(key, loaded.clone());
        loaded
    }

    /// The sizes in the file `name`, which counts from the scenario's folder.
    pub(crate) fn sizes(&mut self, name: &str) -> Result<SizePlan, TraceError> {
        self.named.insert(name.to_owned());
        if let Some(loaded) = self.sizes.get(name) {
            return loaded.clone();
        }
        let path = self.readable(name)?;
        let loaded = self.bytes(name, || trace::sizes::read(&path, name)).and_then(|bytes| {
            let sizes = trace::sizes::parse(&bytes, name)?;
            self.keep_input(name, path.clone(), &bytes);
            Ok(sizes)
        });
        let loaded = loaded.map_err(|error| self.discreet(error, name, &path));
        self.sizes.insert(name.to_owned(), loaded.clone());
        loaded
    }

    /// The sizes of a video's segments in `rungs` bitrates in the file `name`, which counts from the scenario's folder.
    pub(crate) fn segments(&mut self, name: &str, rungs: usize) -> Result<SegmentSizes, TraceError> {
        self.named.insert(name.to_owned());
        let path = self.readable(name)?;
        let loaded = self.bytes(name, || trace::sizes::read(&path, name)).and_then(|bytes| {
            let sizes = trace::segments::parse(&bytes, name, rungs)?;
            self.keep_input(name, path.clone(), &bytes);
            Ok(sizes)
        });
        loaded.map_err(|error| self.discreet(error, name, &path))
    }

    /// The light trace of CellReplay in the file `name`, which counts from the scenario's folder.
    pub(crate) fn light(&mut self, name: &str) -> Result<Arc<LightTrace>, TraceError> {
        self.named.insert(name.to_owned());
        if let Some(loaded) = self.lights.get(name) {
            return loaded.clone();
        }
        let path = self.readable(name)?;
        let shown = path.display().to_string();
        let loaded = self.bytes(name, || trace::light::read(&path, &shown)).and_then(|bytes| {
            let trains = trace::light::parse(&bytes, &shown)?;
            self.keep_input(name, path.clone(), &bytes);
            Ok(Arc::new(trains))
        });
        let loaded = loaded.map_err(|error| self.discreet(error, name, &path));
        self.lights.insert(name.to_owned(), loaded.clone());
        loaded
    }

    /// The file of code `name`, which counts from the scenario's folder: where it is. It is hashed, not read.
    pub(crate) fn code(&mut self, name: &str) -> Result<String, TraceError> {
        self.named.insert(name.to_owned());
        if self.quotes.confined {
            let help = "tidegate run runs it".to_owned();
            return Err(refused(name, "a congestion controller in Python is not run from here", help));
        }
        let path = self.path(name);
        let bytes = self.bytes(name, || trace::read_code(&path, name))?;
        self.keep_input(name, path.clone(), &bytes);
        Ok(path.display().to_string())
    }

    /// What becomes of code that the scenario names.
    pub(crate) fn own_code(&self) -> OwnCode {
        self.quotes.code
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base_dir.as_ref().map_or_else(|| PathBuf::from(name), |folder| folder.join(name))
    }

    /// Where a file is, if it may be read. Of a file elsewhere nothing is said, not even whether it is there.
    fn readable(&self, name: &str) -> Result<PathBuf, TraceError> {
        let path = self.path(name);
        if self.quotes.confined && !self.is_inside(&path) {
            let help = "put it there and give its name, without folders above it".to_owned();
            return Err(refused(name, "there is no such file in the scenario's folder", help));
        }
        Ok(path)
    }

    fn keep_input(&mut self, name: &str, path: PathBuf, bytes: &[u8]) {
        let input = Input { name: name.to_owned(), path, sha256: hex(&Sha256::digest(bytes)) };
        self.inputs.insert(name.to_owned(), input);
    }

    /// The error without a byte of the file, where the file lies outside the scenario's folder and nobody
    /// but the scenario's author chose it.
    fn discreet(&self, error: TraceError, name: &str, path: &Path) -> TraceError {
        if self.given.is_some() || self.quotes.outside || self.quotes.chosen(name) || self.is_inside(path) {
            error
        } else {
            error.without_content()
        }
    }

    /// Whether a file lies in the scenario's folder, links followed.
    fn is_inside(&self, path: &Path) -> bool {
        let folder = self.base_dir.as_deref().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new(".")).canonicalize();
        matches!((folder, path.canonicalize()), (Ok(folder), Ok(path)) if path.starts_with(&folder))
    }

    pub(crate) fn base_dir(&self) -> Option<&Path> {
        self.base_dir.as_deref()
    }

    /// Keeps the traces for a scenario that may name fewer.
    pub(crate) fn forget_names(&mut self) {
        self.named.clear();
    }

    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.inputs.values().filter(|input| self.named.contains(&input.name)).cloned().collect()
    }
}

fn refused(name: &str, problem: &str, help: String) -> TraceError {
    TraceError {
        file: name.to_owned(),
        line: None,
        read: "".into(),
        problem: problem.into(),
        before: "".into(),
        help: help.into(),
        discreet: "".into(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
