//! A tree to its plan.

use tidegate_core::plan::Plan;

use crate::check::{Checker, Form};
use crate::document::Node;
use crate::error::Problem;
use crate::inputs::Library;
use crate::lower;
use crate::relative;
use crate::table::ROOT;

/// The tree against the table, then every key against the others.
pub(crate) fn check(tree: &Node, library: &mut Library) -> Result<(Form, Plan, Vec<Problem>), Vec<Problem>> {
    let mut checker = Checker::default();
    let root = checker.form(&ROOT, tree, "");
    if !checker.problems.is_empty() {
        return Err(checker.problems);
    }
    let Some(mut root) = root else { return Err(Vec::new()) };
    relative::settle(&mut root, library)?;
    let lowered = lower::lower(&root, library);
    if !lowered.problems.is_empty() {
        return Err(lowered.problems);
    }
    Ok((root, lowered.plan, lowered.warnings))
}
