//! What is wrong, and what bends a result, as it is found on the way to the plan.

use crate::check::Item;
use crate::document::Place;
use crate::error::Problem;

/// Collects what is wrong on the way.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

impl Notes {
    pub(super) fn wrong(&mut self, item: &Item, problem: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(item.at, &item.key, problem).help(help));
    }

    pub(super) fn wrong_at(
        &mut self,
        at: Place,
        key: &str,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Problem::new(at, key, problem).help(help));
    }

    pub(super) fn warn(&mut self, at: Place, key: &str, problem: impl Into<String>, help: impl Into<String>) {
        self.warnings.push(Problem::new(at, key, problem).help(help));
    }
}
