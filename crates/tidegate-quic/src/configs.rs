//! quinn set as it is shipped, with our handshake, for programs that send through sockets.

use std::sync::Arc;

use quinn_proto::{ClientConfig, EndpointConfig, ServerConfig};

use crate::plain::{Key, Plain, Read};

/// An endpoint's configuration. Its reset tokens are no secret.
pub fn endpoint_config() -> EndpointConfig {
    EndpointConfig::new(Arc::new(Key::default()))
}

/// A client's configuration, whose handshake only [`server_config`]'s understands. Nothing is encrypted and no peer is verified: it is
/// for measurements in a network of one's own.
pub fn client_config() -> ClientConfig {
    ClientConfig::new(Arc::new(Plain(Read::default())))
}

/// A server's configuration, for clients with [`client_config`].
pub fn server_config() -> ServerConfig {
    ServerConfig::new(Arc::new(Plain(Read::default())), Arc::new(Key::default()))
}
