//! Plans, labs and ordinary sockets for the tests of the engine.
#![allow(clippy::print_stderr, reason = "a skipped test says why")]
#![allow(clippy::disallowed_methods, reason = "real time passes here")]
#![allow(dead_code, reason = "each test program uses a part")]

mod machine;
#[macro_use]
pub(crate) mod ways;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tidegate_core::plan::Plan;
use tidegate_live::lab::FlowAddresses;
use tidegate_live::{Backend, Lab, LabOptions, LiveError, LiveRun, PumpOptions, RunOptions, run};
use tidegate_scenario::Scenario;

/// The plan of a scenario.
pub(crate) fn plan(toml: &str) -> Plan {
    match Scenario::from_toml(toml, "test.toml", None, &[]) {
        Ok(scenario) => scenario.plan(Some(1), 0),
        Err(error) => panic!("{error}"),
    }
}

/// The pump's choices: nobody has no priority, and waits longer.
pub(crate) fn pump_options() -> PumpOptions {
    let default = PumpOptions::default();
    if ways::is_rootless() { PumpOptions { fail_behind: Some(PATIENT), ..default } } else { default }
}

/// A run, or nothing where this machine allows none.
pub(crate) fn live(plan: &Plan) -> Option<LiveRun> {
    let options = RunOptions { pump: pump_options(), ..RunOptions::default() };
    match run(plan, &options, &mut |_| true) {
        Ok(done) => {
            eprintln!("{:#?}\n{:#?}", done.result.summary, done.details);
            Some(done)
        }
        Err(error @ (LiveError::NotPermitted { .. } | LiveError::NotLinux)) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A lab, or nothing where this machine allows none.
pub(crate) fn lab(plan: &Plan, backend: Backend) -> Option<Lab> {
    match Lab::new(plan, backend, &LabOptions::default()) {
        Ok(lab) => {
            // What the kernel would choose differs from host to host.
            lab.sender().set_sysctl("net.ipv4.tcp_congestion_control", "reno").unwrap();
            Some(lab)
        }
        Err(error @ (LiveError::NotPermitted { .. } | LiveError::NotLinux)) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// One bulk transfer with ordinary sockets.
pub(crate) struct Bulk {
    stop: Arc<AtomicBool>,
    received: Arc<AtomicU64>,
    threads: Vec<JoinHandle<Result<(), LiveError>>>,
}

impl Bulk {
    /// Listens in the receiver's namespace; connects and writes from the sender's.
    pub(crate) fn start(lab: &Lab, flow: usize) -> Bulk {
        let stop = Arc::new(AtomicBool::new(false));
        let received = Arc::new(AtomicU64::new(0));
        let at = lab.flow_addresses(flow);
        let listener = lab.receiver().run(|| TcpListener::bind(at.receiver)).unwrap().unwrap();
        let (counter, end_receiver, end_sender) = (received.clone(), stop.clone(), stop.clone());
        let receive = move || receive(&listener, &counter, &end_receiver);
        let send = move || send(at, &end_sender);
        let threads = vec![
            lab.receiver().spawn("receive", receive).unwrap(),
            lab.sender().spawn("send", send).unwrap(),
        ];
        Bulk { stop, received, threads }
    }

    /// Ends both; says how many bytes had come.
    pub(crate) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap().unwrap();
        }
        self.received.load(Ordering::Relaxed)
    }
}

/// Later than this a run has no result.
const PATIENT: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_millis(50);

fn receive(listener: &TcpListener, received: &AtomicU64, stop: &AtomicBool) {
    listener.set_nonblocking(true).unwrap();
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(_) if stop.load(Ordering::Relaxed) => return,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut room = vec![0; 1 << 18];
    while !stop.load(Ordering::Relaxed) {
        match stream.read(&mut room) {
            Ok(0) => return,
            Ok(bytes) => {
                received.fetch_add(bytes as u64, Ordering::Relaxed);
            }
            Err(_) => {}
        }
    }
}

fn send(at: FlowAddresses, stop: &AtomicBool) {
    // The engine may have ended before.
    let Ok(mut stream) = TcpStream::connect_timeout(&at.receiver.into(), Duration::from_secs(2)) else {
        return;
    };
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let bytes = vec![0; 1 << 18];
    while !stop.load(Ordering::Relaxed) {
        let _ = stream.write(&bytes);
    }
}
