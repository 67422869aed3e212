//! What is wrong, and what bends a result, as it is found on the way to the plan.

use crate::check::Item;
use crate::document::Place;
use crate::error::Problem;

/// Collects what is wrong on the way.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

impl Notes {
    pub(crate) fn wrong(&mut self, item: &Item, problem: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(item.at, &item.key, problem).help(help));
    }

    pub(crate) fn wrong_at(
        &mut self,
        at: Place,
        key: &str,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Problem::new(at, key, problem).help(help));
    }

    pub(crate) fn warn(&mut self, at: Place, key: &str, problem: impl Into<String>, help: impl Into<String>) {
        self.warnings.push(Problem::new(at, key, problem).help(help));
    }
}
