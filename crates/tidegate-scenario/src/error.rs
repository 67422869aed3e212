//! One clear message: file, line, column, key, what was read, what would be right.

use std::fmt;
use std::ops::Deref;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::place::{Place, Source, Sources};

/// Something wrong, before it is put into words for a person.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) at: Place,
    pub(crate) key: String,
    pub(crate) problem: String,
    pub(crate) help: Option<String>,
    /// Something is missing: reported only if everything that was written is right.
    pub(crate) missing: bool,
}

impl Problem {
    pub(crate) fn new(at: Place, key: &str, problem: impl Into<String>) -> Problem {
        Problem { at, key: key.to_owned(), problem: problem.into(), help: None, missing: false }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn missing(mut self) -> Problem {
        self.missing = true;
        self
    }

    pub(crate) fn with_help(mut self, help: Option<String>) -> Problem {
        self.help = help;
        self
    }
}

/// Why a scenario cannot be used: `Display` is the whole message for a person, the fields
/// of [`Report`] are its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(Box<Report>);

impl Deref for ScenarioError {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.0
    }
}

/// The parts of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The scenario file as it was named, or `--set`.
    pub file: String,
    /// Line, from 1; `None` when the file could not be read at all.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// The dotted key; empty when the text is not TOML or JSON.
    pub key: String,
    /// What was read there.
    pub read: String,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub help: Option<String>,
    /// What else is wrong, in the order of the text, each without others of its own; the first of them.
    pub others: Vec<ScenarioError>,
    /// How many there are beside them.
    pub more: usize,
    rendered: String,
}

/// More problems than this are counted only: a person mends the first ones and asks again.
const MOST_SHOWN: usize = 20;
/// More than this are not put into words: each has to look through the text.
const MOST_KEPT: usize = 100;

impl fmt::Display for ScenarioError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.rendered)?;
        for other in self.others.iter().take(MOST_SHOWN - 1) {
            write!(out, "\n\n{}", other.rendered)?;
        }
        let all = self.others.len() + 1 + self.more;
        if all > MOST_SHOWN {
            write!(out, "\n\n{} more problems", all - MOST_SHOWN)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

impl ScenarioError {
    /// An error without a place in a text: the file cannot be read.
    pub(crate) fn unreadable(file: &str, problem: impl Into<String>, help: Option<String>) -> ScenarioError {
        let problem = problem.into();
        let mut rendered = format!("error: {problem}");
        if let Some(help) = &help {
            rendered.push_str("\nhelp: ");
            rendered.push_str(help);
        }
        ScenarioError(Box::new(Report {
            file: file.to_owned(),
            line: None,
            column: None,
            key: String::new(),
            read: String::new(),
            problem,
            help,
            others: Vec::new(),
            more: 0,
            rendered,
        }))
    }

    /// All problems as one error: the file before `--set`, in the order of the text. What is missing counts only where
    /// everything that was written is right.
    pub(crate) fn from_problems(mut problems: Vec<Problem>, sources: &Sources) -> ScenarioError {
        problems.sort_by_key(|problem| (problem.missing, problem.at));
        let missing = problems.first().is_some_and(|problem| problem.missing);
        problems.retain(|problem| problem.missing == missing);
        problems.dedup_by(|one, other| one.at == other.at && one.key == other.key);
        let more = problems.len().saturating_sub(MOST_KEPT);
        problems.truncate(MOST_KEPT);
        let mut errors = problems.into_iter().map(|problem| ScenarioError::from_problem(problem, sources));
        let unknown =
            || ScenarioError::from_problem(Problem::new(Place::default(), "", "unknown problem"), sources);
        let mut first = errors.next().unwrap_or_else(unknown);
        first.0.others = errors.collect();
        first.0.more = more;
        first
    }

    pub(crate) fn from_problem(problem: Problem, sources: &Sources) -> ScenarioError {
        let shown = show(&problem, sources, Level::ERROR);
        ScenarioError(Box::new(Report {
            file: shown.file,
            line: Some(shown.line),
            column: Some(shown.column),
            key: problem.key,
            read: shown.read,
            problem: problem.problem,
            help: problem.help,
            others: Vec::new(),
            more: 0,
            rendered: shown.rendered,
        }))
    }
}

/// Something to look at before trusting the numbers; the scenario can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The scenario file as it was named, or `--set`.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The dotted key.
    pub key: String,
    /// One sentence.
    pub message: String,
    /// What would avoid it.
    pub help: Option<String>,
    rendered: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.rendered)
    }
}

impl Warning {
    pub(crate) fn from_problem(problem: Problem, sources: &Sources) -> Warning {
        let shown = show(&problem, sources, Level::WARNING);
        Warning {
            file: shown.file,
            line: shown.line,
            column: shown.column,
            key: problem.key,
            message: problem.problem,
            help: problem.help,
            rendered: shown.rendered,
        }
    }
}

struct Shown {
    file: String,
    line: usize,
    column: usize,
    read: String,
    rendered: String,
}

/// Longest piece of text quoted in [`ScenarioError::read`].
const LONGEST_READ: usize = 200;

fn show(problem: &Problem, sources: &Sources, level: Level<'_>) -> Shown {
    let empty = Source { name: String::new(), text: String::new() };
    let source = sources.get(problem.at.source).unwrap_or(&empty);
    let text = source.text.as_str();
    let start = floor(text, problem.at.start);
    let end = floor(text, problem.at.end).max(start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line = text[..start].matches('\n').count() + 1;
    let column = text[line_start..start].chars().count() + 1;
    let shown_line = text[line_start..line_end].trim_end_matches('\r');
    let from = (start - line_start).min(shown_line.len());
    let to = (end.min(line_end) - line_start).clamp(from, shown_line.len());
    let title = if problem.key.is_empty() {
        problem.problem.clone()
    } else {
        format!("{}: {}", problem.key, problem.problem)
    };
    let (shown_line, from, to) = window(shown_line, from, to);
    let mut group = Group::with_title(level.primary_title(&title)).element(
        Snippet::source(shown_line)
            .path(&source.name)
            .line_start(line)
            .annotation(AnnotationKind::Primary.span(from..to)),
    );
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help));
    }
    let rendered = Renderer::plain().render(&[group]);
    let rendered = rendered.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let read = text[start..end].chars().take(LONGEST_READ).collect();
    Shown { file: source.name.clone(), line, column, read, rendered }
}

/// The longest line that is shown, in bytes.
const LONGEST_LINE: usize = 1000;

/// A line, or of a very long one the part around what is marked, with the place of the mark in it.
fn window(line: &str, from: usize, to: usize) -> (&str, usize, usize) {
    if line.len() <= LONGEST_LINE {
        return (line, from, to);
    }
    let begin = floor(line, from.saturating_sub(LONGEST_LINE / 2));
    let end = floor(line, begin + LONGEST_LINE).max(floor(line, from));
    (&line[begin..end], from - begin, to.min(end) - begin)
}

/// The nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}
