//! What a recording holds in memory, by the rows that it makes: one reckoning for before a run and for during it.

use super::{Plan, RecordLevel};

/// The bytes of one row of a recording at the peak, about: the row, its columns, and the table they become. Measured: 288.
pub const ROW_BYTES: u64 = 300;
/// Of a group of flows, with the spread that it is counted in until the run is over.
pub const GROUP_ROW_BYTES: u64 = 4_000;
/// The default of `limits.memory`, in bytes; the table of keys gives the same.
pub const USUAL_MEMORY: u64 = 2_000_000_000;

impl Plan {
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
        let most = self.limits.memory_bytes.unwrap_or(USUAL_MEMORY).max(USUAL_MEMORY);
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
