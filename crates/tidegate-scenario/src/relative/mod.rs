//! Sizes that are written as a time (`queue = "100 ms"`) or in bandwidth–delay products (`queue = "1 BDP"`).
//!
//! Neither rates nor round trips depend on such a size. So the scenario is made into a plan once with other sizes,
//! which tells the rates and the round trips; then the sizes are put in, and everything is checked with them.

mod amount;
mod asked;
mod mean;
mod windows;

use tidegate_core::plan::Plan;

use crate::check::{Form, Item, Value};
use crate::document::Place;
use crate::error::Problem;
use crate::inputs::Library;
use crate::lower;
use crate::units::Amount;
use amount::Came;
use asked::Of;

/// A size that was computed, for people and for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedSize {
    /// Dotted key.
    pub key: String,
    /// As written, such as `1 BDP`.
    pub written: String,
    /// What it is made of, such as `20 Mbit/s × 40 ms`.
    pub from: String,
    /// What it came to, as it could be written.
    pub size: String,
}

/// Puts sizes in bytes, packets or cells in the place of those that are given by a time or in bandwidth–delay
/// products.
///
/// # Errors
/// A size without a rate or without a round trip; whatever else is wrong with the scenario, if it stands in the way.
pub(crate) fn settle(root: &mut Form, library: &mut Library) -> Result<(), Vec<Problem>> {
    let mut found: Vec<Asked> = Vec::new();
    asked::each(root, &mut |item, of| {
        if let Value::Amount(amount) = item.value {
            found.push(Asked { amount, at: item.at, key: item.key.clone(), of: of.clone() });
        }
    });
    if found.is_empty() {
        return Ok(());
    }
    let lowered = lower::lower(&stand_ins(root), library);
    let came: Vec<Result<Option<Came>, Problem>> =
        found.iter().map(|asked| asked.came_to(root, &lowered.plan)).collect();
    if came.iter().any(Result::is_err) {
        // What else is wrong may be the reason.
        let of_others: Vec<Problem> = lowered
            .problems
            .into_iter()
            .filter(|problem| found.iter().all(|asked| asked.at != problem.at))
            .collect();
        let own = came.into_iter().filter_map(Result::err).collect();
        return Err(if of_others.is_empty() { own } else { of_others });
    }
    let mut came = came.into_iter().flatten();
    asked::each(root, &mut |item, _| {
        if let Some(Some(came)) = came.next() {
            item.value = Value::Amount(came.amount);
            item.computed = Some(came.computed);
        }
    });
    Ok(())
}

/// Every size of a settled scenario that was computed, in the order of gates and flows.
pub(crate) fn computed(root: &Form) -> Vec<ComputedSize> {
    let mut sizes = Vec::new();
    collect(root, &mut sizes);
    sizes
}

fn collect(form: &Form, sizes: &mut Vec<ComputedSize>) {
    for named in &form.items {
        if let (Some(computed), Value::Amount(amount)) = (&named.item.computed, &named.item.value) {
            sizes.push(ComputedSize {
                key: named.item.key.clone(),
                written: computed.written.clone(),
                from: computed.from.clone(),
                size: amount.to_string(),
            });
        }
        if let Some(below) = named.item.table() {
            collect(below, sizes);
        }
    }
}

/// One size as it is written.
struct Asked {
    amount: Amount,
    at: Place,
    key: String,
    of: Of,
}

impl Asked {
    fn came_to(&self, root: &Form, plan: &Plan) -> Result<Option<Came>, Problem> {
        let came = match &self.of {
            Of::Gate(gate) => mean::of_gate(gate, plan)
                .and_then(|rate| amount::of_gate(self.amount, rate, gate, plan))
                .map(Some),
            Of::Contract(gate, Some(rate)) => mean::of_contract(gate, *rate, plan)
                .and_then(|rate| amount::of_gate(self.amount, rate, gate, plan))
                .map(Some),
            Of::Contract(_, None) => Err(("the contract has no rate".to_owned(), "add its rate".to_owned())),
            Of::Window(section) => windows::came_to(self.amount, section, root, plan),
        };
        came.map_err(|(problem, help)| {
            let problem = format!("\"{}\" cannot be computed: {problem}", self.amount);
            Problem::new(self.at, &self.key, problem).help(help)
        })
    }
}

/// The scenario with a size in place of each that is to be computed.
fn stand_ins(root: &Form) -> Form {
    let mut copy = root.clone();
    asked::each(&mut copy, &mut |item: &mut Item, _| item.value = Value::Amount(Amount::Bytes(1_000_000)));
    copy
}
