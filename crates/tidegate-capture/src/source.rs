//! A file's bytes, unpacked where it is packed, with what happened on the way.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ruzstd::decoding::StreamingDecoder;

/// Bytes of a file that are looked at to see what it is.
const MAGIC_BYTES: usize = 8;
/// Bytes that are read from the file at once.
const AT_ONCE: usize = 1 << 18;
/// Most bytes that a zstd frame may ask to remember: what `zstd --long=31` needs.
const ZSTD_WINDOW: u64 = 1 << 31;

/// What went wrong while a file was read, told apart from its end.
#[derive(Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<io::Error>>>);

impl Trouble {
    pub(crate) fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn put(&self, error: io::Error) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Xz,
    Zstd,
}

impl Packing {
    fn of(magic: &[u8]) -> Packing {
        match magic {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Packing::Xz,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Packing::Plain => "plain",
            Packing::Gzip => "gzip",
            Packing::Xz => "xz",
            Packing::Zstd => "zstd",
        }
    }
}

/// The unpacked bytes of a file. Each read fills the buffer or reaches the end; an error ends the bytes
/// and stands in the trouble.
pub(crate) struct Source<'a> {
    bytes: Box<dyn Read + Send + 'a>,
    trouble: Trouble,
    pub(crate) packing: Packing,
}

impl<'a> Source<'a> {
    /// Looks at what the file is. Bytes read off the file are added to `done`.
    pub(crate) fn open(
        mut file: impl Read + Send + 'a,
        done: &'a AtomicU64,
        trouble: &Trouble,
    ) -> io::Result<Source<'a>> {
        let mut magic = Vec::with_capacity(MAGIC_BYTES);
        file.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut magic)?;
        let packing = Packing::of(&magic);
        let counted = Counted { file: Cursor::new(magic).chain(file), done };
        let whole = BufReader::with_capacity(AT_ONCE, counted);
        let bytes: Box<dyn Read + Send + 'a> = match packing {
            Packing::Plain => Box::new(whole),
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(whole)),
            Packing::Xz => Box::new(lzma_rust2::XzReader::new(whole, true)),
            Packing::Zstd => Box::new(Frames { file: Some(whole), frame: None }),
        };
        Ok(Source { bytes, trouble: trouble.clone(), packing })
    }

    /// This source with bytes put back in front.
    pub(crate) fn with_front(self, front: Vec<u8>) -> Source<'a> {
        Source { bytes: Box::new(Cursor::new(front).chain(self.bytes)), ..self }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.bytes.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.trouble.put(error);
                    self.bytes = Box::new(io::empty());
                    break;
                }
            }
        }
        Ok(filled)
    }
}

struct Counted<'a, R> {
    file: R,
    done: &'a AtomicU64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The frames of a zstd file, one after the other (RFC 8878 §3.1); those to be skipped are skipped.
struct Frames<R: io::BufRead> {
    file: Option<R>,
    frame: Option<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>,
}

impl<R: io::BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let read = frame.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
                self.file = self.frame.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut file) = self.file.take() else { return Ok(0) };
            let Some(first) = file.fill_buf()?.first().copied() else { return Ok(0) };
            // A skippable frame: 0x184D2A5? and its length, both of four bytes (RFC 8878 §3.1.2).
            if first & 0xf0 == 0x50 {
                let mut head = [0; 8];
                file.read_exact(&mut head)?;
                let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
                io::copy(&mut file.by_ref().take(u64::from(length)), &mut io::sink())?;
                self.file = Some(file);
            } else {
                let frame = StreamingDecoder::new_with_max_window_size(file, ZSTD_WINDOW);
                self.frame = Some(frame.map_err(io::Error::other)?);
            }
        }
    }
}
