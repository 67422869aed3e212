//! One end of a QUIC connection of quinn-proto, with its application.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::BytesMut;
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, Event};
use rand::Rng as _;
use tidegate_core::plan::{AppPlan, FlowPlan, QuicPlan};
use tidegate_core::random::Stream;
use tidegate_sim::host::{Ecn, Ends, HeldBy, Host, Outgoing, Packet, Phase, Report, Side, Span, Time};

use crate::clock::{Clock, span};
use crate::connection::{Watch, client, server};
use crate::control::{Control, Maker};
use crate::log::Logs;
use crate::pace::Pace;
use crate::probes;
use crate::watch::Seen;
use crate::work::Work;

/// The two ends of the connection of a flow with this plan. `stream`: the flow's random streams, by name.
pub(crate) fn ends(
    flow: &FlowPlan,
    quic: &QuicPlan,
    stream: &dyn Fn(&str) -> Stream,
    logs: Option<&Logs>,
) -> Ends {
    let clock = Clock::new();
    ends_controlled(flow, quic, stream, logs, clock, &|side, seen| {
        Arc::new(Maker {
            cc: quic.cc,
            tcp: flow.tcp.clone(),
            rng: Mutex::new(Some(stream(&format!("{side}/cc")))),
            clock,
            seen,
        })
    })
}

/// The same ends with other congestion controllers: `control` says who makes those of the end of this name.
pub(crate) fn ends_controlled(
    flow: &FlowPlan,
    quic: &QuicPlan,
    stream: &dyn Fn(&str) -> Stream,
    logs: Option<&Logs>,
    clock: Clock,
    control: &dyn Fn(&str, Arc<Seen>) -> Control,
) -> Ends {
    let seed = stream("quic").next_u64();
    let end = |number: u8, endpoint, watch, work| End {
        endpoint,
        connection: None,
        client: None,
        peer: SocketAddr::from((Ipv4Addr::new(10, 0, 0, 3 - number), 443)),
        clock,
        watch,
        label: quic.label(&flow.tcp),
        ecn: quic.ecn,
        work,
        responses: VecDeque::new(),
        buffer: Vec::new(),
        held_by: HeldBy::Application,
        pace: Pace::new(quic.cc, flow.tcp.cc),
        departs: Time::ZERO,
        timed: None,
        probe_timeouts: 0,
        lost: None,
    };
    let [writes, reads] = Work::both(flow, quic, stream("app"));
    // Whoever asks begins the connection.
    let asker = if matches!(flow.app, AppPlan::Request(_)) { Side::Receiver } else { Side::Sender };
    let made = [(1, Side::Sender, writes), (2, Side::Receiver, reads)];
    made.map(|(number, side, work)| -> Box<dyn Host> {
        let log = logs.and_then(|logs| logs.begin(&flow.name, side, clock.origin()));
        let watch = Watch { log, ..Watch::default() };
        let control = control(side.word(), Arc::clone(&watch.seen));
        if side == asker {
            let (endpoint, config) = client(quic, seed, &watch, control);
            Box::new(End { client: Some(config), ..end(number, endpoint, watch, work) })
        } else {
            Box::new(end(number, server(quic, seed, &watch, control), watch, work))
        }
    })
}

struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The end that begins the connection and sends, until it has begun.
    client: Option<ClientConfig>,
    peer: SocketAddr,
    clock: Clock,
    watch: Watch,
    label: String,
    /// Its packets keep the codepoint of ECN that quinn gives them.
    ecn: bool,
    work: Work,
    /// Datagrams that the endpoint answers with, outside of a connection.
    responses: VecDeque<Vec<u8>>,
    buffer: Vec<u8>,
    held_by: HeldBy,
    pace: Pace,
    /// When that rate lets the next packet leave; [`Time::ZERO`]: it has.
    departs: Time,
    /// When quinn's timers were looked at last: none of them expires at the same time again. Its pacer waits a part of the smoothed round
    /// trip, which is no whole nanosecond where a path takes no time, and then asks to be woken at once until time passes.
    timed: Option<Time>,
    /// Probe time-outs so far.
    probe_timeouts: u64,
    /// Why the connection ended.
    lost: Option<String>,
}

impl End {
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
        if let Err(error) = self.work.carry(connection) {
            self.lost = Some(error.to_string());
        }
    }

    /// What keeps the sender from sending now that quinn has nothing that may leave.
    fn waits_for(&self) -> HeldBy {
        // Before the handshake is over the application has nothing to send.
        let Some((_, connection)) = self.connection.as_ref().filter(|(_, made)| !made.is_handshaking())
        else {
            return HeldBy::Application;
        };
        let unsent = self.work.unsent(self.watch.read.sent.bytes());
        if unsent == 0 && self.work.pending() == 0 {
            return HeldBy::Application;
        }
        let path = connection.stats().path;
        // quinn keeps what is in flight below the window.
        if self.watch.seen.in_flight() + u64::from(path.current_mtu) >= path.cwnd {
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
        let instant = self.clock.instant(now);
        self.work.start(now);
        let Some(client) = self.client.take() else { return };
        match self.endpoint.connect(instant, client, self.peer, "receiver") {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.lost = Some(error.to_string()),
        }
    }

    fn handle_packet(&mut self, now: Time, ecn: Ecn, packet: Packet) {
        let instant = self.clock.instant(now);
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
        self.work.advance(now);
        self.work();
    }

    fn handle_wakeup(&mut self, now: Time) {
        if self.departs <= now {
            self.departs = Time::ZERO;
        }
        let instant = self.clock.instant(now);
        self.work.advance(now);
        if let Some((_, connection)) = &mut self.connection {
            self.probe_timeouts += probes::counted(|| connection.handle_timeout(instant));
            self.timed = Some(now);
        }
        self.work();
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let instant = self.clock.instant(now);
        if let Some(response) = self.responses.pop_front() {
            return Some(Outgoing { data: false, ..Outgoing::datagram(response) });
        }
        let (_, connection) = self.connection.as_mut()?;
        if self.departs > now {
            self.work();
            self.held_by = self.waits_for();
            return None;
        }
        let carried = self.watch.read.sent.carried();
        self.buffer.clear();
        let Some(transmit) = connection.poll_transmit(instant, 1, &mut self.buffer) else {
            self.work();
            self.held_by = self.waits_for();
            return None;
        };
        let user = self.watch.read.sent.carried() - carried;
        let data = user > 0;
        if data {
            self.watch.seen.note_data();
            if let Some(rate) = self.watch.seen.pacing_rate() {
                self.departs = self.pace.next(now, transmit.size, user, rate);
            }
        }
        let ecn = transmit
            .ecn
            .filter(|_| self.ecn)
            .map_or(Ecn::NotEct, |codepoint| Ecn::from_bits(codepoint as u8));
        let payload = self.buffer[..transmit.size].to_vec();
        Some(Outgoing { ecn, data, held_by: self.held_by, ..Outgoing::datagram(payload) })
    }

    fn next_wakeup(&mut self) -> Time {
        let due = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        let due = due.map_or(Time::NEVER, |instant| self.clock.time(instant));
        let due = self.timed.map_or(due, |timed| due.max(self.clock.next(timed)));
        let due = if self.departs == Time::ZERO { due } else { due.min(self.departs) };
        due.min(self.work.next_wakeup(self.watch.read.sent.bytes()))
    }

    fn report(&self) -> Report {
        let Some((_, connection)) = &self.connection else { return Report::default() };
        let path = connection.stats().path;
        let seen = &self.watch.seen;
        let read = self.work.read();
        Report {
            delivered_bytes: self.watch.read.came.bytes(),
            in_order_bytes: read,
            duplicates: self.watch.read.came.duplicates(),
            window: Some(path.cwnd as f64),
            ssthresh: seen.ssthresh(),
            in_flight: Some(seen.in_flight()),
            srtt: Some(span(path.rtt)),
            phase: seen
                .ssthresh()
                .map(|bytes| if path.cwnd < bytes { Phase::SlowStart } else { Phase::CongestionAvoidance }),
            held_by: self.held_by,
            retransmitted: self.watch.read.sent.again(),
            timeouts: self.probe_timeouts,
            recoveries: seen.recoveries(),
            ecn_reductions: self.ecn.then_some(seen.reductions()),
            ..Report::default()
        }
    }

    fn take_rtt_sample(&mut self) -> Option<Span> {
        self.watch.seen.take_rtt().map(span)
    }

    fn carries_messages(&self) -> bool {
        matches!(self.work, Work::Exchange(_))
    }

    fn write_message(&mut self, _now: Time, number: u64, bytes: u64) {
        let Work::Exchange(messages) = &mut self.work else { return };
        messages.add(self.connection.as_ref().map(|(_, connection)| connection), number, bytes);
        self.work();
    }

    fn poll_message(&mut self) -> Option<u64> {
        let Work::Exchange(messages) = &mut self.work else { return None };
        messages.poll_whole()
    }

    fn name(&self) -> String {
        self.label.clone()
    }

    fn failure(&self) -> Option<String> {
        self.lost.clone()
    }
}
