//! The first packets of a capture: how many of each connection, where only so many are to be looked at.

use crate::capture::Capture;

/// Parts of the capture's time that packets are counted in.
const PARTS: usize = 1 << 16;

/// The first packets of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    /// Where they end, in nanoseconds since the capture's first packet; none where they are all.
    pub until: Option<i64>,
    /// Of each connection, how many of its packets.
    pub rows: Vec<usize>,
}

impl Capture {
    /// The earliest packets of all connections, at most `most` of them, cut at one instant for all.
    #[must_use]
    pub fn first(&self, most: usize) -> First {
        let all: Vec<usize> = self.connections.iter().map(|each| each.packets()).collect();
        if all.iter().sum::<usize>() <= most {
            return First { until: None, rows: all };
        }
        let times = || {
            self.connections.iter().map(|each| {
                let shift = self.shift(each.file);
                each.log.rows().map(move |row| row.time.wrapping_add(shift))
            })
        };
        let last = times().flatten().max().unwrap_or(0).max(1);
        let width = last / PARTS as i64 + 1;
        let part = |time: i64| (time / width).clamp(0, PARTS as i64 - 1) as usize;
        let mut counts = vec![0_usize; PARTS];
        times().flatten().for_each(|time| counts[part(time)] += 1);
        let mut sum = 0;
        let kept = counts.iter().take_while(|count| {
            sum += **count;
            sum <= most
        });
        // A part of time with more packets than that is taken whole.
        let until = kept.count().max(1) as i64 * width;
        let rows = times().map(|each| each.take_while(|time| *time < until).count()).collect();
        First { until: Some(until), rows }
    }
}
