//! `[server.x]` to [`ServerPlan`].

use tidegate_core::plan::{AppPlan, ServerPlan};

use crate::check::Form;
use crate::lower::draft::{Load, User};
use crate::lower::names::{SERVER, tables};
use crate::lower::notes::Notes;

/// The servers, in the order of the file. A server to which no flow sends requests is a warning.
pub(crate) fn servers(root: &Form, users: &[User<'_>], notes: &mut Notes) -> Vec<ServerPlan> {
    let asked = |index: usize| {
        users.iter().any(|user| match &user.load {
            Load::Flow { app: AppPlan::Request(plan), .. } => plan.server == Some(index),
            _ => false,
        })
    };
    let mut plans = Vec::new();
    for (index, named) in tables(root, &SERVER).iter().enumerate() {
        if !asked(index) {
            let help =
                format!("add app.request.server = \"{}\" to a flow, or remove this server", named.name);
            notes.warn(named.name_at, &named.item.key, "no flow sends requests to this server", help);
        }
        let rate = named.item.table().and_then(|form| form.rate("rate"));
        plans.push(ServerPlan { name: named.name.clone(), rate });
    }
    plans
}
