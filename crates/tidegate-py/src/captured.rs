//! The captures of a simulated run, written while it goes on.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use tidegate_core::plan::Plan;
use tidegate_core::units::Time;
use tidegate_result::pcap::Writer;
use tidegate_result::{PacketRecord, Side};
use tidegate_sim::Watch;

/// Asks somebody whether to go on, and writes packets into files as they come.
pub(crate) struct Captured<'a> {
    plan: &'a Plan,
    files: Vec<Part>,
    /// The first error, and the file that it is about.
    failed: Option<(io::Error, String)>,
    go_on: &'a mut dyn FnMut(Time) -> bool,
}

impl<'a> Captured<'a> {
    /// `paths` are the files of what the senders and the receivers see.
    pub(crate) fn new(
        plan: &'a Plan,
        paths: Option<(String, String)>,
        go_on: &'a mut dyn FnMut(Time) -> bool,
    ) -> Captured<'a> {
        let ends = paths.map(|(sender, receiver)| [(sender, Side::Sender), (receiver, Side::Receiver)]);
        let files = ends.into_iter().flatten().map(|(path, seen)| Part::new(path, seen)).collect();
        Captured { plan, files, failed: None, go_on }
    }

    /// Puts the files of a run that is `whole` in their places, and removes those of any other.
    ///
    /// # Errors
    /// The first error of all, with the path of its file.
    pub(crate) fn finish(mut self, whole: bool) -> Result<(), (io::Error, String)> {
        if whole {
            self.each(Part::finish);
        }
        self.failed.map_or(Ok(()), Err)
    }

    fn each(&mut self, mut work: impl FnMut(&mut Part) -> io::Result<()>) {
        for file in &mut self.files {
            if self.failed.is_none()
                && let Err(error) = work(file)
            {
                self.failed = Some((error, file.path.clone()));
            }
        }
    }
}

impl Watch for Captured<'_> {
    fn go_on(&mut self, now: Time) -> bool {
        self.failed.is_none() && (self.go_on)(now)
    }

    fn begin(&mut self) {
        self.each(Part::begin);
    }

    fn packets(&mut self, seen: &mut Vec<PacketRecord>) {
        let plan = self.plan;
        if !self.files.is_empty() {
            self.each(|file| file.add(plan, seen));
            seen.clear();
        }
    }
}

/// A capture that is not whole yet. It has another name until it is.
struct Part {
    path: String,
    /// What is at `path`; where that is a link, what it leads to: a link stays one.
    target: PathBuf,
    seen: Side,
    /// The temporary file; `None`: what is at the path is no plain file (a pipe, `/dev/null`), and is written itself.
    beside: Option<PathBuf>,
    writer: Option<Writer<BufWriter<File>>>,
}

impl Part {
    fn new(path: String, seen: Side) -> Part {
        let target = fs::canonicalize(&path).unwrap_or_else(|_| PathBuf::from(&path));
        let plain = fs::metadata(&target).map_or(true, |found| found.is_file());
        Part { beside: plain.then(|| beside(&target)), path, target, seen, writer: None }
    }

    fn begin(&mut self) -> io::Result<()> {
        let file = File::create(self.beside.as_ref().unwrap_or(&self.target))?;
        self.writer = Some(Writer::new(BufWriter::with_capacity(1 << 16, file), self.seen)?);
        Ok(())
    }

    fn add(&mut self, plan: &Plan, packets: &[PacketRecord]) -> io::Result<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        packets.iter().try_for_each(|packet| writer.add(plan, packet))
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        match self.beside.take() {
            Some(beside) => fs::rename(beside, &self.target),
            None => Ok(()),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // A run that did not end well leaves nothing behind; the file may be gone already.
        if let Some(beside) = &self.beside {
            fs::remove_file(beside).ok();
        }
    }
}

fn beside(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.part"))
}
