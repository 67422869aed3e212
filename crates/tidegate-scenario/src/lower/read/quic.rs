//! `flow.x.transport` and `flow.x.quic` to [`TransportPlan`].

use tidegate_core::plan::{
    AppPlan, CongestionPlan, ConnectionPlan, QuicControl, QuicPlan, ReadPlan, TcpPlan, TransportPlan,
};

use crate::check::Form;
use crate::lower::notes::Notes;
use crate::lower::values::{bytes_u32, choice};

/// Bytes of the headers of IPv4 and UDP.
const HEADERS: u32 = 28;

/// The controllers, by their words.
const CONTROLS: [(&str, QuicControl); 4] = [
    ("cubic", QuicControl::Cubic),
    ("newreno", QuicControl::NewReno),
    ("bbr", QuicControl::Bbr),
    ("tcp", QuicControl::Tcp),
];

/// What is chosen of a flow's connection, where QUIC carries it.
pub(crate) fn quic(flow: &Form, notes: &mut Notes) -> Option<QuicPlan> {
    choice(flow.get("transport"), [("tcp", false), ("quic", true)], notes)
        .then(|| flow.table("quic").map_or_else(QuicPlan::default, |form| read(form, notes)))
}

/// What a segment is over QUIC, whatever `tcp.mss` says: the UDP payload of the largest packet, which is RFC 9002's
/// `max_datagram_size` (§2). Windows of so many segments are given and shown in it.
pub(crate) fn segment(plan: &QuicPlan) -> u32 {
    plan.largest_packet() - HEADERS
}

/// Whose transport carries a flow: `quic`, or TCP. `tcp` has the segments that [`segment`] says.
pub(crate) fn transport(
    flow: &Form,
    app: &AppPlan,
    quic: Option<QuicPlan>,
    tcp: &mut TcpPlan,
    notes: &mut Notes,
) -> TransportPlan {
    let Some(plan) = quic else {
        if let Some(item) = flow.given("quic") {
            let help = "add transport = \"quic\", or remove these keys";
            notes.warn(item.at, &item.key, "these keys have an effect only with transport = \"quic\"", help);
        }
        return TransportPlan::Tcp;
    };
    refuse(flow, app, &plan, tcp, notes);
    // quinn is told no advice.
    tcp.rules.obeys_advice = false;
    tcp.headers = HEADERS;
    if plan.cc == QuicControl::Tcp {
        refuse_extent(flow, tcp, notes);
    } else {
        tcp.cc = CongestionPlan::NewReno;
        if let Some(item) = flow.given("tcp") {
            let help = "use the keys of quic; quic.cc = \"tcp\" takes the controller of tcp.cc";
            notes.warn(item.at, &item.key, "these keys have no effect on a flow of QUIC", help);
        }
    }
    TransportPlan::Quic(Box::new(plan))
}

fn read(form: &Form, notes: &mut Notes) -> QuicPlan {
    QuicPlan {
        cc: choice(form.get("cc"), CONTROLS, notes),
        window: bytes(form, "window", u32::MAX >> 2, notes),
        mtu: mtu(form, notes),
        initial_rtt: form.span("initial_rtt"),
        ecn: form.flag("ecn"),
        ack_every: form.whole("ack_every").and_then(|every| u32::try_from(every).ok()),
        datagrams: form.flag("datagrams"),
        streams: form.whole("streams").and_then(|streams| u32::try_from(streams).ok()).unwrap_or(1),
    }
}

fn mtu(form: &Form, notes: &mut Notes) -> Option<u32> {
    const LEAST: u32 = QuicPlan::LEAST_MTU;
    const MOST: u32 = QuicPlan::MOST_MTU;
    let item = form.given("mtu")?;
    let bytes = item.bytes().unwrap_or(0);
    if bytes < u64::from(LEAST) {
        let problem = format!("QUIC needs packets of {LEAST} B at least (RFC 9000 section 14)");
        notes.wrong(item, problem, format!("write \"{LEAST} B\" or more"));
    } else if bytes > u64::from(MOST) {
        let problem = format!("quinn cannot send packets of more than {MOST} B");
        notes.wrong(item, problem, format!("write \"{MOST} B\" or less"));
    }
    Some(u32::try_from(bytes).unwrap_or(MOST).clamp(LEAST, MOST))
}

fn bytes(form: &Form, name: &str, most: u32, notes: &mut Notes) -> Option<u32> {
    let item = form.given(name)?;
    Some(bytes_u32(Some(item), most, notes))
}

/// Refuses a controller that needs what quinn does not tell: how much was marked.
fn refuse_extent(flow: &Form, tcp: &TcpPlan, notes: &mut Notes) {
    if matches!(tcp.cc, CongestionPlan::Dctcp | CongestionPlan::Prague | CongestionPlan::Kernel(_))
        && let Some(item) = flow.table("quic").and_then(|keys| keys.given("cc"))
    {
        let name = tcp.cc.name();
        let problem = match tcp.cc {
            CongestionPlan::Kernel(_) => {
                format!("tcp.cc = {name:?} is the kernel's alone, and this takes the controller of tcp.cc")
            }
            _ => {
                format!("tcp.cc = {name:?} needs to know how much was marked, and quinn tells no controller")
            }
        };
        notes.wrong(item, problem, "choose another tcp.cc, such as \"cubic\"");
    }
}

/// What a flow of QUIC cannot have.
fn refuse(flow: &Form, app: &AppPlan, plan: &QuicPlan, tcp: &TcpPlan, notes: &mut Notes) {
    if let AppPlan::Request(requests) = app
        && requests.connection == ConnectionPlan::New
        && let Some(item) =
            flow.table("app").and_then(|keys| keys.table("request")).and_then(|keys| keys.given("connection"))
    {
        let help = "remove it: each request has a stream of its own, on one connection";
        notes.wrong(item, "over QUIC the requests of a flow share a connection", help);
    }
    if plan.datagrams
        && !matches!(app, AppPlan::Source(_))
        && let Some(item) = flow.table("quic").and_then(|keys| keys.given("datagrams"))
    {
        let help =
            "choose an application that writes at times of its own, such as app.constant, or remove this key";
        notes.wrong(
            item,
            "datagrams carry what is written, and are not sent again; this application needs streams",
            help,
        );
    }
    if tcp.rules.obeys_advice
        && let Some(item) = flow.table("tcp").and_then(|keys| keys.given("advice"))
    {
        let help = "remove it; app.video.advice = \"cap\" works over QUIC too";
        notes.wrong(item, "quinn takes no advice, and so this flow of QUIC is not paced by it", help);
    }
    if tcp.read != ReadPlan::AtOnce
        && let Some(item) = flow.table("app").and_then(|keys| keys.given("read"))
    {
        let help = "remove app.read; a smaller quic.window limits the sender too";
        notes.wrong(item, "the receiver of a flow of QUIC reads at once", help);
    }
}
