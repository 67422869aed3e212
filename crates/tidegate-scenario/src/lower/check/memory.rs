//! What a run would hold in memory, before it begins. A scenario that could never fit is refused.

use tidegate_core::plan::{AppPlan, DEFAULT_MEMORY, JitterPlan, Plan, Population};

use crate::check::Form;
use crate::lower::draft::{Gate, Hop, Load, User};
use crate::lower::limits::limits;
use crate::lower::notes::Notes;
use crate::units::plural;

/// Whether the rows that a plan records at fixed intervals fit into `limits.memory`. Of a run until all is done nobody knows how many
/// they are: it is asked again when its end is known, and its rows count as they are made.
///
/// # Errors
/// What is wrong, in words.
pub fn check_recording(plan: &Plan) -> Result<(), String> {
    if plan.until_done { Ok(()) } else { plan.recording_fits() }
}

/// Below this a limit that is written is about what the run collects: it stops there with a word.
const SMALL: u64 = 50_000_000;

/// Whether all copies of gates and flows fit into `limits.memory`; if not, it is reported.
pub(crate) fn fits(root: &Form, gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) -> bool {
    let own = |hops: &[Hop<'_>]| hops.iter().filter(|hop| gates[hop.gate].per_flow).count() as u64;
    let (mut servers, mut flows, mut places, mut asking) = (gates.len() as u64, 0_u64, 0_u64, 0_u64);
    for user in users {
        let copies = user.count;
        flows = flows.saturating_add(copies);
        if matches!(user.load, Load::Flow { app: AppPlan::Request(_), .. }) {
            asking = asking.saturating_add(copies);
        }
        let hops = (user.path.len() + user.back.len()) as u64;
        places = places.saturating_add(copies.saturating_mul(hops));
        // A sender's random delay is a gate of its own.
        let delays = u64::from(user.jitter != JitterPlan::None);
        servers = servers.saturating_add(copies.saturating_mul(own(&user.path) + own(&user.back) + delays));
    }
    let need = Population { gates: servers, flows, asking, places }.bytes();
    let most = limits(root).memory_bytes.unwrap_or(DEFAULT_MEMORY);
    let written = root.table("limits").and_then(|limits| limits.given("memory"));
    if need <= most.max(SMALL) {
        return true;
    }
    let problem = format!(
        "{}, {} and {} on their paths need about {} MB of memory before the run begins: more than limits.memory, {} \
         MB",
        plural(flows, "flow"),
        plural(servers, "gate"),
        plural(places, "place"),
        need / 1_000_000,
        most / 1_000_000
    );
    let help = "make fewer copies, or shorter paths; or raise limits.memory";
    match written {
        Some(item) => notes.wrong(item, problem, help),
        None => match users.iter().max_by_key(|user| user.count.saturating_mul(user.path.len() as u64)) {
            Some(user) => notes.wrong_at(user.at, &user.key, problem, help),
            None => notes.wrong_at(root.at, "", problem, help),
        },
    }
    false
}
