//! How quinn is set: what the plan says, and nothing that is drawn from the operating system.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig,
    MtuDiscoveryConfig, QlogStream, ServerConfig, TransportConfig, VarInt,
};
use tidegate_core::plan::QuicPlan;

use crate::control::Control;
use crate::plain::{Key, Plain, Read};
use crate::watch::Seen;

/// Bytes of the headers of IPv4 and UDP.
const HEADERS: u32 = 28;

/// What is seen of an end that quinn does not tell.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    pub(crate) seen: Arc<Seen>,
    pub(crate) read: Read,
    /// Where quinn logs what it does.
    pub(crate) log: Option<QlogStream>,
}

/// The end that begins the connection, and how it begins it.
pub(crate) fn client(
    plan: &QuicPlan,
    seed: u64,
    watch: &Watch,
    control: Control,
) -> (Endpoint, ClientConfig) {
    let mut config = ClientConfig::new(Arc::new(Plain(watch.read.clone())));
    config.transport_config(Arc::new(transport(plan, watch, control)));
    config.initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&seed.to_be_bytes())));
    (endpoint(plan, 1, seed, None), config)
}

/// The end that waits for it.
pub(crate) fn server(plan: &QuicPlan, seed: u64, watch: &Watch, control: Control) -> Endpoint {
    let mut config = ServerConfig::new(Arc::new(Plain(watch.read.clone())), Arc::new(Key::default()));
    config.transport_config(Arc::new(transport(plan, watch, control)));
    endpoint(plan, 2, seed, Some(config))
}

/// Bytes of the UDP payload of the largest packet, if the plan says it.
fn largest_payload(plan: &QuicPlan) -> Option<u16> {
    plan.mtu.and_then(|mtu| u16::try_from(mtu - HEADERS).ok())
}

fn endpoint(plan: &QuicPlan, number: u8, seed: u64, server: Option<ServerConfig>) -> Endpoint {
    let mut config = EndpointConfig::new(Arc::new(Key::default()));
    // The other end sends no packet larger than what this one says it takes (RFC 9000 §18.2, `max_udp_payload_size`).
    if let Some(bytes) =
        largest_payload(plan).filter(|bytes| u64::from(*bytes) > config.get_max_udp_payload_size())
    {
        // It refuses less than 1200 bytes, which no plan has.
        let _taken = config.max_udp_payload_size(bytes);
    }
    let mut seeds = [number; 32];
    seeds[..8].copy_from_slice(&seed.to_be_bytes());
    config.rng_seed(Some(seeds));
    config.cid_generator(move || Box::new(Counted { number, next: 0 }));
    Endpoint::new(Arc::new(config), server.map(Arc::new), true, None)
}

fn transport(plan: &QuicPlan, watch: &Watch, control: Control) -> TransportConfig {
    let mut transport = TransportConfig::default();
    if let Some(window) = plan.window {
        let bytes = VarInt::from_u32(window);
        transport.stream_receive_window(bytes).receive_window(bytes).send_window(u64::from(window));
    }
    match largest_payload(plan) {
        Some(bytes) => transport.initial_mtu(bytes).min_mtu(bytes).mtu_discovery_config(None),
        None => transport.mtu_discovery_config(Some(MtuDiscoveryConfig::default())),
    };
    if let Some(rtt) = plan.initial_rtt {
        transport.initial_rtt(Duration::from_nanos(rtt.picos() / 1000));
    }
    if let Some(every) = plan.ack_every {
        let mut acks = AckFrequencyConfig::default();
        acks.ack_eliciting_threshold(VarInt::from_u32(every - 1));
        transport.ack_frequency_config(Some(acks));
    }
    // A path that is silent for long is what many come for; quinn would close after 30 s.
    transport.max_idle_timeout(None);
    transport.qlog_stream(watch.log.clone());
    transport.congestion_controller_factory(control);
    transport
}

/// Connection IDs that are counted.
struct Counted {
    number: u8,
    next: u64,
}

impl ConnectionIdGenerator for Counted {
    fn generate_cid(&mut self) -> ConnectionId {
        self.next += 1;
        let mut id = self.next.to_be_bytes();
        id[0] = self.number;
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
