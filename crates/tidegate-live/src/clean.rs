//! What a dead engine may have left, and its removal.
//!
//! Namespaces and devices go with the process that holds them, even with SIGKILL. Left may
//! be programs that were started inside ([`crate::lab::Namespace::place`]): they hold their
//! namespace. So a run notes itself in a file, and marks the programs by a variable of their
//! environment; both ways must agree before anything is ended.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::LiveError;

/// Marks what was started inside a run's namespaces.
pub(crate) const MARK: &str = "TIDEGATE_LIVE_RUN";

/// What was found and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The dead engines' process numbers.
    pub runs: Vec<u32>,
    /// Programs of theirs that were still there and were ended.
    pub processes: Vec<u32>,
}

/// A run's note of itself; gone with it.
#[derive(Debug)]
pub(crate) struct Note {
    name: String,
    path: PathBuf,
}

/// A note as read.
struct Found {
    process: u32,
    started: u64,
    namespaces: BTreeSet<u64>,
}

/// Removes what dead engines of this user left behind; every run does so at its start.
///
/// # Errors
/// [`LiveError::Kernel`] when the notes cannot be read or a left-over cannot be ended.
pub fn clean() -> Result<Cleaned, LiveError> {
    let failed = |error| LiveError::kernel("remove what an earlier live run left", error);
    clean_folder(&folder()).map_err(failed)
}

impl Note {
    /// Notes a run that holds the namespaces of these numbers.
    pub(crate) fn write(namespaces: &[u64]) -> Result<Note, LiveError> {
        write_note(namespaces).map_err(|error| LiveError::kernel("note the run for later cleaning", error))
    }

    /// The run's name, for marks.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // Whoever removed it before did what was to do.
        let _ = fs::remove_file(&self.path);
    }
}

fn write_note(namespaces: &[u64]) -> io::Result<Note> {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    let started = started(process).ok_or(io::ErrorKind::NotFound)?;
    let name = format!("{process}-{started}-{}", RUNS.fetch_add(1, Ordering::Relaxed));
    let folder = folder();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let path = folder.join(&name);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    writeln!(file, "process {process}\nstarted {started}")?;
    for number in namespaces {
        writeln!(file, "namespace {number}")?;
    }
    Ok(Note { name, path })
}

fn clean_folder(folder: &Path) -> io::Result<Cleaned> {
    let mut cleaned = Cleaned::default();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cleaned),
        Err(error) => return Err(error),
    };
    let about = fs::symlink_metadata(folder)?;
    if !about.is_dir() || about.uid() != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::other(format!("the folder {} belongs to another user", folder.display())));
    }
    let mut notes: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    notes.sort();
    for path in notes {
        let Some(found) = read_note(&path) else { continue };
        if started(found.process) == Some(found.started) {
            continue;
        }
        let mark = format!("{MARK}={}", path.file_name().unwrap_or_default().to_string_lossy());
        for process in processes()? {
            if runs_inside(process, &mark, &found.namespaces) {
                match kill(Pid::from_raw(process as i32), Signal::SIGKILL) {
                    Ok(()) => {
                        wait_for_end(process, &found.namespaces);
                        cleaned.processes.push(process);
                    }
                    // It ended by itself meanwhile.
                    Err(nix::errno::Errno::ESRCH) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        cleaned.runs.push(found.process);
        match fs::remove_file(&path) {
            // Another run cleans at the same time.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(cleaned)
}

/// A note that is whole; one that is being written is not.
fn read_note(path: &Path) -> Option<Found> {
    let text = fs::read_to_string(path).ok()?;
    let values = |name: &str| -> Vec<u64> {
        let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
        text.lines().filter_map(value).collect()
    };
    let process = u32::try_from(*values("process ").first()?).ok()?;
    let started = *values("started ").first()?;
    Some(Found { process, started, namespaces: values("namespace ").into_iter().collect() })
}

fn is_inside(process: u32, namespaces: &BTreeSet<u64>) -> bool {
    let namespace = fs::metadata(format!("/proc/{process}/ns/net"));
    namespace.is_ok_and(|found| namespaces.contains(&found.ino()))
}

/// Whether a process carries the mark and is in one of the namespaces.
fn runs_inside(process: u32, mark: &str, namespaces: &BTreeSet<u64>) -> bool {
    if !is_inside(process, namespaces) {
        return false;
    }
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
}

/// An ended process holds its namespace until the kernel has taken it apart, and no longer has an
/// environment by then.
fn wait_for_end(process: u32, namespaces: &BTreeSet<u64>) {
    for _ in 0..1000 {
        if !is_inside(process, namespaces) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn processes() -> io::Result<Vec<u32>> {
    let number = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    Ok(fs::read_dir("/proc")?.filter_map(number).collect())
}

/// When a process was started, in ticks since the machine was (proc(5), field 22 of stat);
/// `None`: there is no such process, or it is dead and only not yet waited for.
fn started(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") { None } else { fields.nth(18)?.parse().ok() }
}

/// Where this user's runs note themselves.
fn folder() -> PathBuf {
    let place = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    place.join(format!("tidegate-live-{}", outside_user()))
}

/// This user's number outside of a user namespace: inside, everybody is 0.
fn outside_user() -> u32 {
    let me = nix::unistd::geteuid().as_raw();
    let outside = |line: &str| -> Option<u32> {
        let mut fields = line.split_ascii_whitespace().map(str::parse::<u32>);
        let (inside, outside, count) = (fields.next()?.ok()?, fields.next()?.ok()?, fields.next()?.ok()?);
        let place = me.checked_sub(inside)?;
        (place < count).then_some(outside.checked_add(place)?)
    };
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.lines().find_map(outside).unwrap_or(me)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let me = std::process::id();
        let alive = format!("process {me}\nstarted {}\nnamespace 1\n", started(me).unwrap());
        fs::write(folder.path().join("alive"), alive).unwrap();
        // The same number, but another process.
        fs::write(folder.path().join("dead"), format!("process {me}\nstarted 1\nnamespace 1\n")).unwrap();
        fs::write(folder.path().join("half"), "process").unwrap();
        let cleaned = clean_folder(folder.path()).unwrap();
        assert_eq!(cleaned, Cleaned { runs: vec![me], processes: vec![] });
        assert!(folder.path().join("alive").exists());
        assert!(folder.path().join("half").exists());
        assert!(!folder.path().join("dead").exists());
    }

    #[test]
    fn nothing_was_ever_noted() {
        assert_eq!(clean_folder(Path::new("/nonexistent")).unwrap(), Cleaned::default());
    }
}
