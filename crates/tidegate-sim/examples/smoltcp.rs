//! The TCP of smoltcp beside ours on one gate: `cargo run --release -p tidegate-sim --example smoltcp`.

#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use std::collections::VecDeque;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use tidegate_scenario::Scenario;
use tidegate_sim::host::{Ecn, Host, Outgoing, Packet, Report, Span, Time, tick_at, time_of_tick};
use tidegate_sim::{RunResult, run_hosted};

const LINK: &str = r#"
duration = "60 s"
gate.link = { rate = "20 Mbit/s", queue = "100 packets" }
flow.smoltcp = { path = ["link"], rtt = "40 ms" }
flow.ours = { path = ["link"], rtt = "40 ms", tcp.cc = "cubic" }
"#;

/// Packets that come to smoltcp, and packets that leave it.
#[derive(Default)]
struct Wire(VecDeque<Vec<u8>>, VecDeque<Vec<u8>>);
struct Queue<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Queue<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0.pop_front().unwrap_or_default())
    }
}

impl TxToken for Queue<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        self.0.push_back(vec![0; len]);
        write(self.0.back_mut().expect("it was put there"))
    }
}

#[rustfmt::skip]
impl Device for Wire {
    type RxToken<'a> = Queue<'a>;
    type TxToken<'a> = Queue<'a>;
    fn receive(&mut self, _: Instant) -> Option<(Queue<'_>, Queue<'_>)> {
        (!self.0.is_empty()).then_some((Queue(&mut self.0), Queue(&mut self.1)))
    }
    fn transmit(&mut self, _: Instant) -> Option<Queue<'_>> { Some(Queue(&mut self.1)) }
    fn capabilities(&self) -> DeviceCapabilities {
        let mut can = DeviceCapabilities::default();
        (can.medium, can.max_transmission_unit) = (Medium::Ip, 1500);
        can
    }
}

/// An end, with an application that writes or reads as much as it can.
struct Smoltcp {
    wire: Wire,
    interface: Interface,
    sockets: SocketSet<'static>,
    tcp: SocketHandle,
    sends: bool,
    now: Instant,
    read: u64,
}

/// smoltcp counts microseconds.
const TICK: Span = Span::from_micros(1);

impl Smoltcp {
    fn end(address: u8, sends: bool) -> Box<dyn Host> {
        let (mut wire, now) = (Wire::default(), Instant::ZERO);
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut wire, now);
        let own = IpCidr::new(IpAddress::v4(10, 0, 0, address), 24);
        interface.update_ip_addrs(|all| all.push(own).expect("there is room for one"));
        let buffer = || SocketBuffer::new(vec![0; 1 << 20]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(CongestionControl::Cubic);
        let mut sockets = SocketSet::new(vec![]);
        let tcp = sockets.add(socket);
        Box::new(Smoltcp { wire, interface, sockets, tcp, sends, now, read: 0 })
    }

    fn tcp(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.tcp)
    }
}

#[rustfmt::skip]
impl Host for Smoltcp {
    fn open(&mut self, now: Time) {
        let (context, to) = (self.interface.context(), (IpAddress::v4(10, 0, 0, 2), 80));
        let socket = self.sockets.get_mut::<Socket>(self.tcp);
        if self.sends { socket.connect(context, to, 4000).expect("a good address") } else { socket.listen(80).expect("a free port") }
        self.handle_wakeup(now);
    }
    fn handle_packet(&mut self, now: Time, _ecn: Ecn, packet: Packet) {
        self.wire.0.push_back(packet.into_bytes());
        self.handle_wakeup(now);
    }
    fn handle_wakeup(&mut self, now: Time) {
        self.now = Instant::from_micros(tick_at(now, TICK) as i64);
        for _ in 0..2 {
            self.interface.poll(self.now, &mut self.wire, &mut self.sockets);
            while self.sends && self.tcp().send_slice(&[0; 1 << 14]).is_ok_and(|written| written > 0) {}
            while let Ok(read @ 1..) = self.tcp().recv(|bytes| (bytes.len(), bytes.len())) { self.read += read as u64; }
        }
    }
    fn poll_transmit(&mut self, _now: Time) -> Option<Outgoing> {
        self.wire.1.pop_front().map(|bytes| Outgoing { data: self.sends, ..Outgoing::packet(bytes) })
    }
    fn next_wakeup(&mut self) -> Time {
        let due = self.interface.poll_at(self.now, &self.sockets);
        due.map_or(Time::NEVER, |due| time_of_tick(due.total_micros() as u64, TICK))
    }
    fn report(&self) -> Report { Report { delivered_bytes: self.read, in_order_bytes: self.read, ..Report::default() } }
    fn name(&self) -> String { "smoltcp 0.14, cubic".to_owned() }
}

fn run() -> RunResult {
    let plan = Scenario::from_toml(LINK, "link.toml", None, &[]).expect("the scenario is good").plan(None, 0);
    let named = |flow: usize| plan.flows[flow].name == "smoltcp";
    let mut hosts = |flow| named(flow).then(|| [Smoltcp::end(1, true), Smoltcp::end(2, false)]);
    run_hosted(&plan, &mut hosts, &mut |_| true).expect("both behave")
}

fn main() {
    for flow in &run().summary.flows {
        println!(
            "{:<8} {:<20} {:5.2} Mbit/s",
            flow.name,
            flow.tcp,
            flow.goodput_bps.unwrap_or_default() / 1e6
        );
    }
}

#[test]
fn they_fill_the_link_together_and_do_so_again() {
    let (one, other) = (run().summary, run().summary);
    assert_eq!(one.flows[0].tcp, "smoltcp 0.14, cubic");
    let goodput: Vec<f64> =
        one.flows.iter().filter_map(|flow| flow.goodput_bps).map(|goodput| goodput / 1e6).collect();
    assert!(goodput.iter().all(|mbps| *mbps > 1.0) && goodput.iter().sum::<f64>() > 18.0, "{goodput:?}");
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
}
