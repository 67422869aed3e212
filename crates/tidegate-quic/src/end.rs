//! One end of a QUIC connection of quinn-proto, with an application that sends or reads one stream.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, Dir,
    EcnCodepoint, Endpoint, EndpointConfig, Event, MtuDiscoveryConfig, ServerConfig, StreamId,
    TransportConfig, VarInt, WriteError,
};
use tidegate_sim::host::{
    Ecn, Ends, HeldBy, Host, Outgoing, Packet, Phase, Report, Span, Time, tick_at, time_of_tick,
};

use crate::plain::{Key, Plain};
use crate::watch::{Seen, Watching};

/// quinn's congestion controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controller {
    /// RFC 9438, quinn's default.
    #[default]
    Cubic,
    /// RFC 9002 §7.
    NewReno,
}

impl Controller {
    /// Its name in scenarios and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Controller::Cubic => "cubic",
            Controller::NewReno => "newreno",
        }
    }
}

/// What is not quinn's default.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The congestion controller of the sender.
    pub controller: Controller,
    /// User bytes to send; `None`: without end.
    pub bytes: Option<u64>,
    /// The window of the stream and of the connection, of both ends, in bytes; `None`: quinn's, 1.25 MB for the stream.
    pub window: Option<u32>,
    /// Bytes of the longest payload of UDP, from 1200; `None`: quinn looks for it, up to 1452.
    pub datagram: Option<u16>,
    /// The round trip that a connection begins with; `None`: 333 ms (RFC 9002 §6.2.2).
    pub initial_rtt: Option<Span>,
}

/// A tick of quinn's clock.
const TICK: Span = Span::from_picos(1000);
/// The longest piece that its application reads.
const LONGEST_READ: usize = 1 << 20;
/// What its application writes.
const WRITTEN_AT_ONCE: [u8; 1 << 14] = [0; 1 << 14];

/// The two ends of a connection. `seed`: of what quinn draws; another one makes other packets of the same lengths.
#[must_use]
pub fn ends(settings: &Settings, seed: u64) -> Ends {
    #[allow(
        clippy::disallowed_methods,
        reason = "only differences from it are used, and it cannot be made otherwise"
    )]
    let origin = Instant::now();
    let [sees, receiver_sees] = [(); 2].map(|()| Arc::new(Seen::default()));
    let mut client = ClientConfig::new(Arc::new(Plain));
    client.transport_config(Arc::new(transport(settings, &sees)));
    client.initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&seed.to_be_bytes())));
    let mut listening = ServerConfig::new(Arc::new(Plain), Arc::new(Key));
    listening.transport_config(Arc::new(transport(settings, &receiver_sees)));
    let end = |number: u8, server: Option<ServerConfig>, seen| {
        let mut config = EndpointConfig::new(Arc::new(Key));
        let mut seeds = [number; 32];
        seeds[..8].copy_from_slice(&seed.to_be_bytes());
        config.rng_seed(Some(seeds));
        config.cid_generator(move || Box::new(Counted { number, next: 0 }));
        End {
            endpoint: Endpoint::new(Arc::new(config), server.map(Arc::new), false, None),
            connection: None,
            client: None,
            peer: SocketAddr::from((Ipv4Addr::new(10, 0, 0, 3 - number), 443)),
            origin,
            seen,
            controller: settings.controller,
            stream: None,
            left: settings.bytes,
            read: 0,
            responses: VecDeque::new(),
            buffer: Vec::new(),
            held_by: HeldBy::Application,
            lost: None,
        }
    };
    let sender = End { client: Some(client), ..end(1, None, sees) };
    let receiver = End { left: Some(0), ..end(2, Some(listening), receiver_sees) };
    [Box::new(sender), Box::new(receiver)]
}

fn transport(settings: &Settings, seen: &Arc<Seen>) -> TransportConfig {
    let mut transport = TransportConfig::default();
    if let Some(window) = settings.window {
        let bytes = VarInt::from_u32(window);
        transport.stream_receive_window(bytes).receive_window(bytes).send_window(u64::from(window));
    }
    match settings.datagram {
        Some(bytes) => transport.initial_mtu(bytes).min_mtu(bytes).mtu_discovery_config(None),
        None => transport.mtu_discovery_config(Some(MtuDiscoveryConfig::default())),
    };
    if let Some(rtt) = settings.initial_rtt {
        transport.initial_rtt(Duration::from_nanos(rtt.picos() / 1000));
    }
    // A path that is silent for long is what many come for; quinn would close after 30 s.
    transport.max_idle_timeout(None);
    transport.congestion_controller_factory(factory(settings.controller, Arc::clone(seen)));
    transport
}

fn factory(controller: Controller, seen: Arc<Seen>) -> Arc<dyn ControllerFactory + Send + Sync + 'static> {
    match controller {
        Controller::Cubic => Arc::new(Watching { factory: Arc::new(CubicConfig::default()), seen }),
        Controller::NewReno => Arc::new(Watching { factory: Arc::new(NewRenoConfig::default()), seen }),
    }
}

fn span(duration: Duration) -> Span {
    Span::from_picos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000))
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

struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The end that begins the connection and sends, until it has begun.
    client: Option<ClientConfig>,
    peer: SocketAddr,
    origin: Instant,
    seen: Arc<Seen>,
    controller: Controller,
    stream: Option<StreamId>,
    /// Bytes that are still to be written; `None`: without end.
    left: Option<u64>,
    /// Bytes that were read in order.
    read: u64,
    /// Datagrams that the endpoint answers with, outside of a connection.
    responses: VecDeque<Vec<u8>>,
    buffer: Vec<u8>,
    held_by: HeldBy,
    /// Why the connection ended.
    lost: Option<String>,
}

impl End {
    /// quinn's time: a tick is never earlier than `time`.
    fn instant(&self, time: Time) -> Instant {
        self.origin + Duration::from_nanos(tick_at(time, TICK))
    }

    fn time(&self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.origin).as_nanos();
        time_of_tick(u64::try_from(since).unwrap_or(u64::MAX), TICK)
    }

    /// Carries what the connection says to its endpoint and back, and lets the application write or read.
    fn work(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            if let Event::ConnectionLost { reason } = event {
                self.lost.get_or_insert_with(|| reason.to_string());
            }
        }
        if self.lost.is_none() {
            self.write();
            self.read();
        }
    }

    fn write(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if self.left == Some(0) || connection.is_handshaking() {
            return;
        }
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(id) = self.stream else { return };
        let mut stream = connection.send_stream(id);
        loop {
            let most = self.left.unwrap_or(u64::MAX).min(WRITTEN_AT_ONCE.len() as u64) as usize;
            match stream.write(&WRITTEN_AT_ONCE[..most]) {
                Ok(bytes) => self.left = self.left.map(|left| left - bytes as u64),
                Err(WriteError::Blocked) => return,
                Err(error) => {
                    self.lost.get_or_insert_with(|| error.to_string());
                    return;
                }
            }
            if self.left == Some(0) {
                // What is written is sent without the end of the stream if the other end has stopped reading.
                let _stopped = stream.finish();
                return;
            }
        }
    }

    fn read(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if connection.side().is_client() {
            return;
        }
        self.stream = self.stream.or_else(|| connection.streams().accept(Dir::Uni));
        let Some(id) = self.stream else { return };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        while let Ok(Some(chunk)) = chunks.next(LONGEST_READ) {
            self.read += chunk.bytes.len() as u64;
        }
        // Whether a window is to be told: the connection is polled anyway.
        let _polled = chunks.finalize();
    }

    /// What keeps the sender from sending now that quinn has nothing that may leave.
    fn waits_for(&self) -> HeldBy {
        let Some((_, connection)) = &self.connection else { return HeldBy::Application };
        let path = connection.stats().path;
        if self.left == Some(0) {
            HeldBy::Application
        } else if self.seen.in_flight() + u64::from(path.current_mtu) > path.cwnd {
            HeldBy::CongestionWindow
        } else {
            HeldBy::Pacing
        }
    }
}

impl Host for End {
    fn open(&mut self, now: Time) {
        let instant = self.instant(now);
        let Some(client) = self.client.take() else { return };
        match self.endpoint.connect(instant, client, self.peer, "receiver") {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.lost = Some(error.to_string()),
        }
    }

    fn handle_packet(&mut self, now: Time, ecn: Ecn, packet: Packet) {
        let instant = self.instant(now);
        let data = BytesMut::from(&packet.into_bytes()[..]);
        self.buffer.clear();
        let codepoint = EcnCodepoint::from_bits(ecn as u8);
        match self.endpoint.handle(instant, self.peer, None, codepoint, data, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, instant, &mut self.buffer, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(error) => self.lost = Some(error.cause.to_string()),
                }
            }
            Some(DatagramEvent::Response(response)) => {
                self.responses.push_back(self.buffer[..response.size].to_vec());
            }
            None => {}
        }
        self.work();
    }

    fn handle_wakeup(&mut self, now: Time) {
        let instant = self.instant(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(instant);
        }
        self.work();
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let instant = self.instant(now);
        if let Some(response) = self.responses.pop_front() {
            return Some(Outgoing { data: false, ..Outgoing::datagram(response) });
        }
        let (_, connection) = self.connection.as_mut()?;
        let streams = connection.stats().frame_tx.stream;
        self.buffer.clear();
        let Some(transmit) = connection.poll_transmit(instant, 1, &mut self.buffer) else {
            self.work();
            self.held_by = self.waits_for();
            return None;
        };
        let data = connection.stats().frame_tx.stream > streams;
        let ecn = transmit.ecn.map_or(Ecn::NotEct, |codepoint| Ecn::from_bits(codepoint as u8));
        let payload = self.buffer[..transmit.size].to_vec();
        Some(Outgoing { ecn, data, held_by: self.held_by, ..Outgoing::datagram(payload) })
    }

    fn next_wakeup(&mut self) -> Time {
        let due = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        due.map_or(Time::NEVER, |instant| self.time(instant))
    }

    fn report(&self) -> Report {
        let Some((_, connection)) = &self.connection else { return Report::default() };
        let path = connection.stats().path;
        let marks = self.seen.marks();
        Report {
            delivered_bytes: self.read,
            in_order_bytes: self.read,
            window: Some(path.cwnd as f64),
            ssthresh: self.seen.ssthresh(),
            in_flight: Some(self.seen.in_flight()),
            srtt: Some(span(path.rtt)),
            phase: self
                .seen
                .ssthresh()
                .map(|bytes| if path.cwnd < bytes { Phase::SlowStart } else { Phase::CongestionAvoidance }),
            held_by: self.held_by,
            retransmitted: path.lost_packets,
            recoveries: path.congestion_events - marks.min(path.congestion_events),
            ecn_reductions: Some(marks),
            ..Report::default()
        }
    }

    fn take_rtt_sample(&mut self) -> Option<Span> {
        self.seen.take_rtt().map(span)
    }

    fn name(&self) -> String {
        format!("{}, quinn 0.11", self.controller.name())
    }

    fn failure(&self) -> Option<String> {
        self.lost.clone()
    }
}
