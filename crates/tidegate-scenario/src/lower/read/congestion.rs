//! `tcp.cc` to [`CongestionPlan`]: a controller of this program, or a class of a user's.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tidegate_core::plan::{CongestionPlan, PythonClass, PythonSource};
use tidegate_core::units::Rate;

use super::tcp_layers::TcpLayers;
use crate::check::Item;
use crate::inputs::{Library, OwnCode};
use crate::lower::notes::Notes;
use crate::lower::values::unreadable;

pub(crate) fn congestion(
    layers: &TcpLayers<'_>,
    window: Option<u64>,
    library: &mut Library,
    notes: &mut Notes,
) -> CongestionPlan {
    if let Some(item) = layers.given("cc")
        && let Some(text) = item.text()
    {
        return python(item, text, library, notes).map_or(CongestionPlan::NewReno, CongestionPlan::Python);
    }
    let name = layers.word("cc");
    let Some(plan) = CongestionPlan::named(name) else {
        // A value that is no name of a controller has been refused with the list of names.
        debug_assert!(name.is_empty(), "{name} is in the table of keys, but not in the core's list");
        return CongestionPlan::NewReno;
    };
    match plan {
        CongestionPlan::Tahoe { .. } => {
            CongestionPlan::Tahoe { fast_retransmit: layers.flag("fast_retransmit") }
        }
        CongestionPlan::Fixed { .. } => {
            if window.is_none()
                && let Some(item) = layers.given("cc")
            {
                notes.wrong(item, "cc = \"fixed\" needs a window", "add tcp.window, such as \"20 segments\"");
            }
            CongestionPlan::Fixed { window: window.unwrap_or(0) }
        }
        CongestionPlan::FixedRate { .. } => {
            let rate = layers.given("rate").and_then(Item::rate);
            if rate.is_none()
                && let Some(item) = layers.given("cc")
            {
                let help = "add tcp.rate, such as \"5 Mbit/s\"";
                notes.wrong(item, "cc = \"fixed_rate\" needs a rate", help);
            }
            CongestionPlan::FixedRate { rate: rate.unwrap_or(Rate::ZERO), window: window.unwrap_or(u64::MAX) }
        }
        other => other,
    }
}

/// A class in a file, which must be readable, or in a module, which is imported when the run begins.
pub(super) fn python(
    item: &Item,
    text: &str,
    library: &mut Library,
    notes: &mut Notes,
) -> Option<&'static PythonClass> {
    let parts = text.strip_prefix("python:").and_then(|rest| rest.rsplit_once(':'));
    let Some((source, class)) = parts.filter(|(source, class)| !source.is_empty() && is_name(class)) else {
        let help = "write \"python:FILE:CLASS\", such as \"python:mine.py:Mine\"";
        notes.wrong(item, format!("{text:?} does not name a file and a class"), help);
        return None;
    };
    told(item, source, library.own_code(), notes);
    let source = if is_file(source) {
        match library.code(source) {
            Ok(path) => PythonSource::File(path),
            Err(error) => {
                unreadable(item, &error, notes);
                return None;
            }
        }
    } else {
        PythonSource::Module(source.to_owned())
    };
    Some(interned(PythonClass { name: text.to_owned(), source, class: class.to_owned() }))
}

/// Refuses code that the scenario's file names, or warns of what would run.
fn told(item: &Item, source: &str, code: OwnCode, notes: &mut Notes) {
    let what = if is_file(source) { "the Python file" } else { "the Python module" };
    match code {
        OwnCode::Edits if item.at.source == 0 => {
            let problem = format!("this runs {what} {source}, with your rights");
            let help = "read it first, as any program; then run this with --allow-python, or choose another with --set";
            notes.wrong(item, problem, help);
        }
        OwnCode::Runs | OwnCode::Edits => {}
        OwnCode::Told => {
            let problem = format!("a run of this scenario runs {what} {source}, with your rights");
            notes.warn(
                item.at,
                &item.key,
                problem,
                "read it first; commands that run it ask for --allow-python",
            );
        }
    }
}

/// Whether a source names a file, and not a module.
fn is_file(source: &str) -> bool {
    Path::new(source).extension().is_some_and(|ending| ending == "py") || source.contains('/')
}

fn is_name(class: &str) -> bool {
    class.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && class.starts_with(|letter: char| !letter.is_ascii_digit())
}

/// The controllers that scenarios of this process have named. They are few, and live as long as the process, so that a plan
/// is a plain value.
static NAMED: Mutex<Vec<&'static PythonClass>> = Mutex::new(Vec::new());

fn interned(controller: PythonClass) -> &'static PythonClass {
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = named.iter().find(|known| ***known == controller) {
        return known;
    }
    let kept: &'static PythonClass = Box::leak(Box::new(controller));
    named.push(kept);
    kept
}
