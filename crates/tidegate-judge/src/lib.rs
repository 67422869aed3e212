//! A transport over the links that people test with: [`judge`] makes its runs and gives a verdict for each bound of a rule.
//!
//! The links and the rules are those of `tidegate reproduce transports`; [`links`] names them.

mod bound;
mod suite;

use tidegate_result::Summary;
use tidegate_sim::host::Ends;
use tidegate_sim::{Plan, RunError, run_hosted};

use crate::bound::Bound;
use crate::suite::Link;

/// What is asked of a transport.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Names of [`links`]; none: all but those that ask for an application of their own, whose data the hosts would have to write.
    pub links: &'a [&'a str],
    /// Runs of each link, from 1 on. The first is the link as it is written; the others start at other instants and have small changes
    /// of delays that nobody can know.
    pub runs: u64,
    /// Another seed draws other starts and changes.
    pub seed: u64,
}

impl Default for Asked<'_> {
    /// All links, three runs of each, seed 1.
    fn default() -> Self {
        Asked { links: &[], runs: 3, seed: 1 }
    }
}

/// What came of one bound of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The name of the link.
    pub link: String,
    /// What is asked, such as `gate.link.utilisation > 90%`.
    pub bound: String,
    /// The number of each run, in bit/s, ms or as a share; none where a run has no such number.
    pub measured: Vec<Option<f64>>,
    /// Whether the bound holds for the whole 95% interval of the mean, or for the one number of a single run. `None`: undecided, the
    /// interval lies on both sides. A number that a run does not have fails.
    pub holds: Option<bool>,
}

/// The verdicts on a transport.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// In the order of the links.
    pub verdicts: Vec<Verdict>,
    /// What its runs warned of, each once, behind the link's name.
    pub warnings: Vec<String>,
}

impl Judged {
    /// An exit status: 0 if all holds, 1 if something fails, 3 if something is undecided.
    #[must_use]
    pub fn status(&self) -> u8 {
        let any = |found| self.verdicts.iter().any(|verdict| verdict.holds == found);
        if any(Some(false)) { 1 } else { 3 * u8::from(any(None)) }
    }
}

/// Why a transport could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// There is no such link.
    #[error("there is no link {asked:?}; links: {known}")]
    UnknownLink {
        /// What was asked for.
        asked: String,
        /// The names that there are.
        known: String,
    },
    /// A verdict needs a run.
    #[error("runs: read 0; write 1 or more")]
    NoRuns,
    /// The transport did what no run can go on with.
    #[error("link {link}, run {run}: {source}")]
    Run {
        /// The name of the link.
        link: String,
        /// The number of the run, from 0 on.
        run: u64,
        /// Names the flow, the end and the instant.
        source: RunError,
    },
}

/// The links by name, and what each is for.
#[must_use]
pub fn links() -> Vec<(String, String)> {
    suite::links().into_iter().map(|link| (link.name, link.purpose)).collect()
}

/// Makes runs of each link that is asked for, and judges them by the rules of the links. `make` has the ends for a flow of a plan, by its
/// number, anew at each call; it is asked for the flows that are the transport's, the others are of our TCP.
///
/// ```
/// use tidegate_judge::{Asked, judge};
/// use tidegate_sim::host::Tcp;
///
/// let asked = Asked { links: &["plain"], runs: 1, ..Asked::default() };
/// let judged = judge(&asked, &mut |plan, flow| Tcp::ends(plan, flow).expect("no requests"))?;
/// assert_eq!(judged.status(), 0);
/// # Ok::<(), tidegate_judge::JudgeError>(())
/// ```
///
/// # Errors
/// [`JudgeError::UnknownLink`] and [`JudgeError::NoRuns`] before anything runs; [`JudgeError::Run`] where an end panics, never sleeps or
/// sends without end.
pub fn judge(asked: &Asked<'_>, make: &mut dyn FnMut(&Plan, usize) -> Ends) -> Result<Judged, JudgeError> {
    if asked.runs == 0 {
        return Err(JudgeError::NoRuns);
    }
    let mut judged = Judged::default();
    for link in suite::asked(asked.links)? {
        let runs: Vec<Summary> =
            (0..asked.runs).map(|number| run(&link, asked.seed, number, make)).collect::<Result<_, _>>()?;
        for text in runs.iter().flat_map(|run| &run.warnings).map(|text| format!("{}: {text}", link.name)) {
            if !judged.warnings.contains(&text) {
                judged.warnings.push(text);
            }
        }
        judged.verdicts.extend(link.bounds.iter().map(|bound| verdict(&link.name, bound, &runs)));
    }
    Ok(judged)
}

fn run(
    link: &Link,
    seed: u64,
    number: u64,
    make: &mut dyn FnMut(&Plan, usize) -> Ends,
) -> Result<Summary, JudgeError> {
    let plan = link.scenario().plan(Some(seed), number);
    let mut hosts = |flow| (flow < link.ours).then(|| make(&plan, flow));
    let told = |source| JudgeError::Run { link: link.name.clone(), run: number, source };
    Ok(run_hosted(&plan, &mut hosts, &mut |_| true).map_err(told)?.summary)
}

fn verdict(link: &str, bound: &Bound, runs: &[Summary]) -> Verdict {
    let measured: Vec<Option<f64>> = runs.iter().map(|run| bound.number.of(run)).collect();
    let holds = bound.holds(&measured);
    Verdict { link: link.to_owned(), bound: bound.text.clone(), measured, holds }
}
