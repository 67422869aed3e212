//! One end of a QUIC connection of quinn-proto, with its application.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, Event};
use tidegate_core::plan::{FlowPlan, QuicPlan};
use tidegate_core::random::Stream;
use tidegate_sim::host::{
    Ecn, Ends, HeldBy, Host, Outgoing, Packet, Phase, Report, Side, Span, Time, tick_at, time_of_tick,
};

use crate::connection::{Watch, client, server};
use crate::data::{Reader, Writer};
use crate::log::Logs;

/// A tick of quinn's clock.
const TICK: Span = Span::from_picos(1000);

/// The two ends of the connection of a flow with this plan. `seed`: of what quinn draws; `rng`: of what the application draws.
pub(crate) fn ends(flow: &FlowPlan, quic: &QuicPlan, seed: u64, rng: Stream, logs: Option<&Logs>) -> Ends {
    #[allow(
        clippy::disallowed_methods,
        reason = "only differences from it are used, and it cannot be made otherwise"
    )]
    let origin = Instant::now();
    let end = |number: u8, endpoint, watch, work| End {
        endpoint,
        connection: None,
        client: None,
        peer: SocketAddr::from((Ipv4Addr::new(10, 0, 0, 3 - number), 443)),
        origin,
        watch,
        label: quic.label(),
        ecn: quic.ecn,
        work,
        responses: VecDeque::new(),
        buffer: Vec::new(),
        held_by: HeldBy::Application,
        lost: None,
    };
    let [sees, receiver_sees] = [Side::Sender, Side::Receiver].map(|side| {
        let log = logs.and_then(|logs| logs.begin(&flow.name, side, origin));
        Watch { log, ..Watch::default() }
    });
    let (begins, config) = client(quic, seed, &sees);
    let writes = Work::Write(Box::new(Writer::new(&flow.app, rng, quic.streams)));
    let sender = End { client: Some(config), ..end(1, begins, sees, writes) };
    let waits = server(quic, seed, &receiver_sees);
    let receiver = end(2, waits, receiver_sees, Work::Read(Reader::default()));
    [Box::new(sender), Box::new(receiver)]
}

fn span(duration: Duration) -> Span {
    Span::from_picos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000))
}

/// What an end's application does.
enum Work {
    Write(Box<Writer>),
    Read(Reader),
}

struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The end that begins the connection and sends, until it has begun.
    client: Option<ClientConfig>,
    peer: SocketAddr,
    origin: Instant,
    watch: Watch,
    label: String,
    /// Its packets keep the codepoint of ECN that quinn gives them.
    ecn: bool,
    work: Work,
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
        if self.lost.is_some() {
            return;
        }
        match &mut self.work {
            Work::Write(writer) if !connection.is_handshaking() => {
                if let Err(error) = writer.write(connection) {
                    self.lost = Some(error.to_string());
                }
            }
            Work::Write(_) => {}
            Work::Read(reader) => reader.read(connection),
        }
    }

    /// What keeps the sender from sending now that quinn has nothing that may leave.
    fn waits_for(&self) -> HeldBy {
        let (Some((_, connection)), Work::Write(writer)) = (&self.connection, &self.work) else {
            return HeldBy::Application;
        };
        let path = connection.stats().path;
        let unsent = writer.taken() - self.watch.sent.bytes().min(writer.taken());
        if unsent == 0 && writer.pending() == 0 {
            HeldBy::Application
        } else if self.watch.seen.in_flight() + u64::from(path.current_mtu) > path.cwnd {
            HeldBy::CongestionWindow
        } else if unsent == 0 {
            HeldBy::ReceiverWindow
        } else {
            HeldBy::Pacing
        }
    }
}

impl Host for End {
    fn open(&mut self, now: Time) {
        let instant = self.instant(now);
        if let Work::Write(writer) = &mut self.work {
            writer.start(now);
        }
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
        if let Work::Write(writer) = &mut self.work {
            writer.advance(now);
        }
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
        let frames = self.watch.sent.frames();
        self.buffer.clear();
        let Some(transmit) = connection.poll_transmit(instant, 1, &mut self.buffer) else {
            self.work();
            self.held_by = self.waits_for();
            return None;
        };
        let data = self.watch.sent.frames() > frames;
        let ecn = transmit
            .ecn
            .filter(|_| self.ecn)
            .map_or(Ecn::NotEct, |codepoint| Ecn::from_bits(codepoint as u8));
        let payload = self.buffer[..transmit.size].to_vec();
        Some(Outgoing { ecn, data, held_by: self.held_by, ..Outgoing::datagram(payload) })
    }

    fn next_wakeup(&mut self) -> Time {
        let due = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        let due = due.map_or(Time::NEVER, |instant| self.time(instant));
        match &self.work {
            Work::Write(writer) => due.min(writer.next_wakeup()),
            Work::Read(_) => due,
        }
    }

    fn report(&self) -> Report {
        let Some((_, connection)) = &self.connection else { return Report::default() };
        let path = connection.stats().path;
        let seen = &self.watch.seen;
        let marks = seen.marks();
        let read = match &self.work {
            Work::Read(reader) => reader.bytes,
            Work::Write(_) => 0,
        };
        Report {
            delivered_bytes: read,
            in_order_bytes: read,
            window: Some(path.cwnd as f64),
            ssthresh: seen.ssthresh(),
            in_flight: Some(seen.in_flight()),
            srtt: Some(span(path.rtt)),
            phase: seen
                .ssthresh()
                .map(|bytes| if path.cwnd < bytes { Phase::SlowStart } else { Phase::CongestionAvoidance }),
            held_by: self.held_by,
            retransmitted: path.lost_packets,
            recoveries: path.congestion_events - marks.min(path.congestion_events),
            ecn_reductions: self.ecn.then_some(marks),
            ..Report::default()
        }
    }

    fn take_rtt_sample(&mut self) -> Option<Span> {
        self.watch.seen.take_rtt().map(span)
    }

    fn name(&self) -> String {
        self.label.clone()
    }

    fn failure(&self) -> Option<String> {
        self.lost.clone()
    }
}
