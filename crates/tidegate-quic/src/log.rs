//! qlog of connections (draft-ietf-quic-qlog-main-schema): one file for each end, in JSON-SEQ (RFC 7464), with times since the start of
//! the run.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use quinn_proto::{QlogConfig, QlogStream};
use tidegate_sim::host::Side;

/// A folder for the logs of a run. A log is begun anew when its connection is.
#[derive(Clone, Debug)]
pub struct Logs {
    folder: PathBuf,
    failed: Arc<Mutex<Option<(io::Error, PathBuf)>>>,
}

impl Logs {
    /// Logs go into this folder, which is there: `NAME-sender.sqlog` and `NAME-receiver.sqlog` for a flow.
    #[must_use]
    pub fn new(folder: &Path) -> Logs {
        Logs { folder: folder.to_owned(), failed: Arc::default() }
    }

    /// The first error of writing, and the file that it is about. What comes after it is not written.
    #[must_use]
    pub fn take_failure(&self) -> Option<(io::Error, PathBuf)> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn fail(&self, error: io::Error, path: &Path) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get_or_insert_with(|| (error, path.to_owned()));
    }

    /// A log of one end of a flow. `origin` is the instant of the clock at which the run begins.
    pub(crate) fn begin(&self, flow: &str, side: Side, origin: Instant) -> Option<QlogStream> {
        let end = side.word();
        let path = self.folder.join(format!("{}-{end}.sqlog", file_name(flow)));
        let file = match File::create(&path) {
            Ok(file) => BufWriter::new(file),
            Err(error) => {
                self.fail(error, &path);
                return None;
            }
        };
        let mut config = QlogConfig::default();
        config.start_time(origin).title(Some(format!("{flow}, {end}")));
        config.writer(Box::new(Log { file, path, logs: self.clone(), whole: true }));
        config.into_stream()
    }
}

/// A name that a file can have: letters, digits, `.`, `-` and `_` stay, others are written in hexadecimal.
fn file_name(flow: &str) -> String {
    let letter = |byte: u8| {
        let stays = byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if stays { char::from(byte).to_string() } else { format!("%{byte:02x}") }
    };
    flow.bytes().map(letter).collect()
}

/// The file of a log. quinn does not hear of errors, so that they are kept.
struct Log {
    file: BufWriter<File>,
    path: PathBuf,
    logs: Logs,
    whole: bool,
}

impl Log {
    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.whole = false;
            self.logs.fail(error, &self.path);
        }
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.whole {
            let result = self.file.write_all(bytes);
            self.keep(result);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.whole {
            let result = self.file.flush();
            self.keep(result);
        }
        Ok(())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // What it says is kept.
        let _kept = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_name_of_a_flow_leads_into_no_other_folder() {
        assert_eq!(file_name("client.3"), "client.3");
        assert_eq!(file_name("../a b"), "..%2fa%20b");
    }
}
