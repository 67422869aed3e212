//! A message: JSON and, behind it, bytes that the JSON speaks of.

/// Bytes of the length before the JSON.
const HEAD: usize = 4;

/// A message, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) json: String,
    pub(crate) bytes: Vec<u8>,
}

impl Message {
    /// Takes `bytes` apart.
    pub(crate) fn read(bytes: &[u8]) -> Result<Message, String> {
        let short = || format!("the message has {} bytes, fewer than it says", bytes.len());
        let (head, tail) = bytes.split_first_chunk::<HEAD>().ok_or_else(short)?;
        let len = usize::try_from(u32::from_le_bytes(*head)).map_err(|_| short())?;
        let (json, rest) = tail.split_at_checked(len).ok_or_else(short)?;
        let json = std::str::from_utf8(json).map_err(|_| "the message's JSON is not UTF-8".to_owned())?;
        Ok(Message { json: json.to_owned(), bytes: rest.to_owned() })
    }

    /// Puts it together.
    #[must_use]
    pub(crate) fn write(&self) -> Vec<u8> {
        let len = u32::try_from(self.json.len()).expect("an answer's JSON is shorter than 4 GiB");
        [&len.to_le_bytes(), self.json.as_bytes(), &self.bytes].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let message = Message { json: "{\"a\": 1}".to_owned(), bytes: vec![1, 2, 3] };
        assert_eq!(Message::read(&message.write()), Ok(message));
    }

    #[test]
    fn a_message_that_is_cut_short_is_refused() {
        for bytes in [&[][..], &[1, 0], &[5, 0, 0, 0, b'{', b'}'], &[255, 255, 255, 255]] {
            assert!(Message::read(bytes).is_err(), "{bytes:?}");
        }
        assert!(Message::read(&[1, 0, 0, 0, 0xff]).is_err());
    }
}
