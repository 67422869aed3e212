//! Reading files that a scenario or a person names: regular files, of a stated size at most.
//!
//! Anything else may never end (a pipe, `/dev/zero`) or do something when it is opened, so it is
//! refused before a byte is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A scenario is a small text: 8 MB are more than 100,000 gates.
pub(crate) const LARGEST_SCENARIO: u64 = 8_000_000;

/// The largest trace, or file of sizes: 100 MB are a recording of 14 million packets.
pub(crate) const LARGEST_DATA: u64 = 100_000_000;

/// Why a file is not read.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The system's reason.
    Io(io::Error),
    /// A folder.
    Folder,
    /// A pipe, a device or a socket.
    Special,
    /// It has more bytes than are read.
    Large { bytes: u64, most: u64 },
}

impl Refused {
    /// What is wrong, to follow the file's name.
    pub(crate) fn problem(&self) -> String {
        match self {
            Refused::Io(error) => format!("cannot read it ({error})"),
            Refused::Folder => "this is a folder, not a file".to_owned(),
            Refused::Special => "this is a pipe or a device, not a file".to_owned(),
            Refused::Large { bytes, most } => {
                format!("the file has {bytes} bytes; at most {most} are read")
            }
        }
    }
}

/// The bytes of the regular file at `path`, if it has at most `most`.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, Refused> {
    // Before it is opened: to open a pipe waits for its other end.
    check(&std::fs::metadata(path).map_err(Refused::Io)?, most)?;
    let file = File::open(path).map_err(Refused::Io)?;
    let data = file.metadata().map_err(Refused::Io)?;
    check(&data, most)?;
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or(0));
    // Files of the kernel's own (`/proc`) say 0 bytes and may have any number.
    file.take(most + 1).read_to_end(&mut bytes).map_err(Refused::Io)?;
    let read = bytes.len() as u64;
    if read > most { Err(Refused::Large { bytes: read, most }) } else { Ok(bytes) }
}

fn check(data: &std::fs::Metadata, most: u64) -> Result<(), Refused> {
    let kind = data.file_type();
    if kind.is_dir() {
        Err(Refused::Folder)
    } else if !kind.is_file() {
        Err(Refused::Special)
    } else if data.len() > most {
        Err(Refused::Large { bytes: data.len(), most })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_size_are_read() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let path = folder.path().join("file");
        std::fs::write(&path, b"12345").expect("a file for tests");
        assert_eq!(read(&path, 5).expect("it has five bytes"), b"12345");
        assert!(matches!(read(&path, 4), Err(Refused::Large { bytes: 5, most: 4 })));
        assert!(matches!(read(folder.path(), 5), Err(Refused::Folder)));
        assert!(matches!(read(&folder.path().join("none"), 5), Err(Refused::Io(_))));
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_refused_before_a_byte_is_read() {
        for name in ["/dev/zero", "/dev/null"] {
            assert!(matches!(read(Path::new(name), 5), Err(Refused::Special)), "{name}");
        }
    }
}
