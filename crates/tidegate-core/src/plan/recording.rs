//! What a run holds in memory when it begins, and what its recording does, by the rows that it makes: one reckoning for before a run and
//! for during it.

use super::{AppPlan, Plan, RecordLevel};
use crate::units::Time;

/// The bytes of one row of a recording at the peak, about: the row, its columns, and the table they become. Measured: 288.
pub const ROW_BYTES: u64 = 300;
/// Of a group of flows, with the spread that it is counted in until the run is over.
pub const GROUP_ROW_BYTES: u64 = 4_000;
/// A recording makes room for so many rows at most before there are any. More come to an allocation that is large enough to grow
/// without a copy.
const ROWS_AT_ONCE: u64 = 2_048;
/// The default of `limits.memory`, in bytes; the table of keys gives the same.
pub const DEFAULT_MEMORY: u64 = 2_000_000_000;

/// What one gate, one flow or source, and one place on a path take in memory at the peak of a run that records nothing, in
/// bytes, about. Measured: 7,400 to 7,800 for a flow with one gate for all, 4,400 more with a gate of its own, 3,000 more where it
/// has requests.
const GATE_BYTES: u64 = 4_300;
const FLOW_BYTES: u64 = 7_500;
const REQUESTS_BYTES: u64 = 3_000;
const PLACE_BYTES: u64 = 100;

impl RecordLevel {
    /// For how many rows a recording until `until` makes room when it begins.
    #[must_use]
    pub fn first_rows(self, until: Time) -> usize {
        match self {
            RecordLevel::Every(every) => {
                until.picos().div_ceil(every.picos().max(1)).min(ROWS_AT_ONCE) as usize
            }
            RecordLevel::Summary | RecordLevel::Events => 0,
        }
    }
}

/// What a run has before it begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Population {
    /// Gates, those of single flows included.
    pub gates: u64,
    /// Flows and background sources.
    pub flows: u64,
    /// Those of them with requests.
    pub asking: u64,
    /// Places of gates on paths.
    pub places: u64,
}

impl Population {
    /// Bytes that it holds, about.
    #[must_use]
    pub fn bytes(self) -> u64 {
        (self.gates.saturating_mul(GATE_BYTES))
            .saturating_add(self.flows.saturating_mul(FLOW_BYTES))
            .saturating_add(self.asking.saturating_mul(REQUESTS_BYTES))
            .saturating_add(self.places.saturating_mul(PLACE_BYTES))
    }
}

impl Plan {
    /// Bytes that a run holds when it begins, about.
    #[must_use]
    pub fn start_bytes(&self) -> u64 {
        let asks = |app: &AppPlan| matches!(app, AppPlan::Request(_));
        let places = self.flows.iter().map(|flow| flow.path.len() + flow.back.len()).sum::<usize>()
            + self.traffic.iter().map(|source| source.path.len()).sum::<usize>();
        let population = Population {
            gates: self.gates.len() as u64,
            flows: (self.flows.len() + self.traffic.len()) as u64,
            asking: self.flows.iter().filter(|flow| asks(&flow.app)).count() as u64,
            places: places as u64,
        };
        population.bytes()
    }

    /// Whether the rows that are recorded at fixed intervals up to `duration` fit into `limits.memory`. A smaller limit than the
    /// usual one is about what the run collects: it stops there with a word. Of a run until all is done the end is known only when
    /// it has been there, so its plan is asked then.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn recording_fits(&self) -> Result<(), String> {
        let RecordLevel::Every(every) = self.record.level else { return Ok(()) };
        let count = |chosen: &Option<Vec<usize>>, all: usize| chosen.as_ref().map_or(all, Vec::len) as u64;
        let things =
            count(&self.record.gates, self.gates.len()) + count(&self.record.flows, self.flows.len());
        let instants = self.duration.picos() / every.picos().max(1);
        let groups = instants.saturating_mul(self.record.groups.len() as u64);
        let rows = instants.saturating_mul(things).saturating_add(groups);
        let bytes =
            (rows - groups).saturating_mul(ROW_BYTES).saturating_add(groups.saturating_mul(GROUP_ROW_BYTES));
        let most = self.limits.memory_bytes.unwrap_or(DEFAULT_MEMORY).max(DEFAULT_MEMORY);
        if bytes <= most {
            return Ok(());
        }
        Err(format!(
            "recording a row every {every} gives {rows} rows in {}, about {} MB: more than limits.memory, {} MB",
            self.duration,
            bytes / 1_000_000,
            most / 1_000_000
        ))
    }
}
