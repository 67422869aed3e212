//! A handshake of the shape and the size of TLS 1.3 (RFC 9001), without secrets: in a simulation nobody listens. It needs no C compiler
//! and no certificate, draws nothing, and every packet is as long as with AES-128-GCM.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey,
    KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};

use crate::frames::{Came, Sent};

/// Bytes of the tag of AES-128-GCM (RFC 9001 §5.3).
const TAG: usize = 16;
/// Bytes of what protects a header (RFC 9001 §5.4.2).
const SAMPLE: usize = 16;

/// Bytes of the messages: the client's hello, the server's, its certificate with all that follows, and the client's last.
const CLIENT_HELLO: usize = 330;
const SERVER_HELLO: usize = 122;
const CERTIFICATE: usize = 1100;
const FINISHED: usize = 36;

/// What is read along of an end's packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    pub(crate) sent: Arc<Sent>,
    pub(crate) came: Arc<Came>,
}

/// Leaves all as it is, but for its length, and reads along.
#[derive(Clone, Default)]
pub(crate) struct Key(Read);

impl PacketKey for Key {
    fn encrypt(&self, _packet: u64, buffer: &mut [u8], header_len: usize) {
        self.0.sent.note(&buffer[header_len..buffer.len() - TAG]);
    }

    fn decrypt(&self, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let len = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(len);
        self.0.came.note(payload);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Key {
    fn decrypt(&self, _offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        SAMPLE
    }
}

impl HmacKey for Key {
    /// FNV-1a, once for each byte of the signature: no secret, but different for different data.
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        for (number, byte) in signature.iter_mut().enumerate() {
            let mix = |hash: u64, next: &u8| {
                (hash ^ u64::from(*next) ^ number as u64).wrapping_mul(0x0100_0000_01b3)
            };
            *byte = (data.iter().fold(0xcbf2_9ce4_8422_2325, mix) >> 32) as u8;
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut right = vec![0; signature.len()];
        self.sign(data, &mut right);
        if right == signature { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for Key {
    fn aead_from_hkdf(&self, _random: &[u8]) -> Box<dyn AeadKey> {
        Box::new(self.clone())
    }
}

impl AeadKey for Key {
    fn seal(&self, data: &mut Vec<u8>, _more: &[u8]) -> Result<(), CryptoError> {
        data.extend([0; TAG]);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _more: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let len = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..len])
    }
}

impl Key {
    fn packet_keys(&self) -> KeyPair<Box<dyn PacketKey>> {
        KeyPair { local: Box::new(self.clone()), remote: Box::new(self.clone()) }
    }

    fn keys(&self) -> Keys {
        let header = KeyPair { local: Box::new(self.clone()) as _, remote: Box::new(self.clone()) as _ };
        Keys { header, packet: self.packet_keys() }
    }
}

/// The handshake of one end. A message is two bytes of length and so many bytes; where it carries transport parameters they come first,
/// behind two bytes of their length, and zeros fill the rest.
struct Handshake {
    key: Key,
    side: Side,
    own: Vec<u8>,
    theirs: Option<TransportParameters>,
    /// Bytes that came and are no whole message yet.
    come: Vec<u8>,
    /// Steps of [`Session::write_handshake`] that are done, and messages that were read.
    written: u8,
    read: u8,
}

impl Handshake {
    fn new(key: Key, side: Side, own: &TransportParameters) -> Handshake {
        let mut bytes = Vec::new();
        own.write(&mut bytes);
        Handshake { key, side, own: bytes, theirs: None, come: Vec::new(), written: 0, read: 0 }
    }

    /// Writes a message of `len` bytes, or of as many as the transport parameters need.
    fn write_parameters(&self, len: usize, buffer: &mut Vec<u8>) {
        let own = self.own.len();
        let mut message = vec![0; len.max(own + 2)];
        message[..2].copy_from_slice(&length(own));
        message[2..2 + own].copy_from_slice(&self.own);
        write_message(&message, buffer);
    }

    /// Reads a message if it is whole.
    fn read_message(&mut self, with_parameters: bool) -> Result<(), TransportError> {
        let Some((len, rest)) = split_length(&self.come) else { return Ok(()) };
        if rest.len() < len {
            return Ok(());
        }
        let message: Vec<u8> = self.come.drain(..2 + len).skip(2).collect();
        if with_parameters {
            let own = split_length(&message).and_then(|(own, all)| all.get(..own));
            let mut own = own.ok_or_else(broken)?;
            self.theirs = Some(TransportParameters::read(self.side, &mut own).map_err(|_| broken())?);
        }
        self.read += 1;
        Ok(())
    }
}

fn broken() -> TransportError {
    TransportError {
        code: TransportErrorCode::TRANSPORT_PARAMETER_ERROR,
        frame: None,
        reason: "the handshake has no transport parameters".to_owned(),
    }
}

fn length(len: usize) -> [u8; 2] {
    u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes()
}

fn split_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<2>()?;
    Some((usize::from(u16::from_be_bytes(*len)), rest))
}

fn write_message(message: &[u8], buffer: &mut Vec<u8>) {
    buffer.extend(length(message.len()));
    buffer.extend(message);
}

impl Session for Handshake {
    fn initial_keys(&self, _to: &ConnectionId, _side: Side) -> Keys {
        self.key.keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.theirs.map(|_| Box::new(()) as Box<dyn Any>)
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        match self.side {
            Side::Client => self.written < 3,
            Side::Server => self.read < 2,
        }
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.come.extend(bytes);
        let knew = self.theirs.is_some();
        match (self.side, self.read) {
            (Side::Client, 0) => self.read_message(false)?,
            (Side::Client, 1) if self.written == 2 => self.read_message(true)?,
            (Side::Server, 0) => self.read_message(true)?,
            (Side::Server, 1) => self.read_message(false)?,
            _ => {}
        }
        Ok(!knew && self.theirs.is_some())
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.theirs)
    }

    /// Initial: client's hello, server's hello. Handshake: the server's certificate, the client's last. Then the keys of data.
    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let next_keys = match (self.side, self.written, self.read) {
            (Side::Client, 0, _) => {
                self.write_parameters(CLIENT_HELLO, buffer);
                false
            }
            (Side::Client, 1, 1) => true,
            (Side::Client, 2, 2) => {
                write_message(&[0; FINISHED], buffer);
                true
            }
            (Side::Server, 0, 1) => {
                write_message(&[0; SERVER_HELLO], buffer);
                true
            }
            (Side::Server, 1, 1) => {
                self.write_parameters(CERTIFICATE, buffer);
                true
            }
            _ => return None,
        };
        self.written += 1;
        next_keys.then(|| self.key.keys())
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(self.key.packet_keys())
    }

    fn is_valid_retry(&self, _to: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        output.fill(0);
        Ok(())
    }
}

/// Makes the handshakes of a client or a server.
pub(crate) struct Plain(pub(crate) Read);

impl ClientConfig for Plain {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server: &str,
        own: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Key(self.0.clone()), Side::Client, own)))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _version: u32, _to: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(Key(self.0.clone()).keys())
    }

    fn retry_tag(&self, _version: u32, _to: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _version: u32, own: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Key(self.0.clone()), Side::Server, own))
    }
}
