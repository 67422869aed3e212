//! The way from a program behind the gates into the world: this machine sends its packets on
//! under its own address (masquerading) and brings the answers back.
//!
//! Nothing of it outlives the process, however that ends. The rules stand in a table of nftables
//! that belongs to a netlink socket (`NFT_TABLE_F_OWNER`, Linux 5.12), and go with it. Packets from the program
//! are forwarded because its device's own control says so, and the device goes, too. Answers
//! would be forwarded only if the machine's other devices did so, which is the machine's state and
//! nobody's to leave behind; so they are handed over before anything is routed (`dup`).

use std::io;
use std::net::Ipv4Addr;

use netlink_sys::{Socket, SocketAddr};

use super::Namespace;
use super::netlink::Netlink;
use crate::LiveError;

/// `include/uapi/linux/netfilter/`: `nfnetlink.h`, `nf_tables.h`; `include/uapi/linux/netlink.h`.
const NETLINK_NETFILTER: isize = 12;
const NFTABLES: u16 = 10;
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const NEW_TABLE: u16 = NFTABLES << 8;
const NEW_CHAIN: u16 = NFTABLES << 8 | 3;
const NEW_RULE: u16 = NFTABLES << 8 | 6;
const ERROR: u16 = 2;
const REQUEST: u16 = 0x1;
const ACK: u16 = 0x4;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;
const NESTED: u16 = 0x8000;
const IPV4: u8 = 2;
const OWNER: u32 = 2;

/// Hooks of netfilter, and priorities: source addresses are changed at 100, destinations at -100.
const PREROUTING: u32 = 0;
const POSTROUTING: u32 = 4;
const AFTER_DESTINATION: i32 = -90;
const SOURCE: i32 = 100;

const TABLE: &str = "tidegate-live";
/// Registers of a rule.
const VERDICT: u32 = 0;
const ONE: u32 = 1;
const TWO: u32 = 2;
/// Where addresses are in an IPv4 header.
const FROM: u32 = 12;
const TO: u32 = 16;
/// Keys of `meta` and `ct`; bits of connections that are established or related.
const INPUT_DEVICE: u32 = 4;
const OUTPUT_DEVICE: u32 = 5;
const STATE: u32 = 0;
const KNOWN: u32 = 0b110;
const EQUAL: u32 = 0;
const UNEQUAL: u32 = 1;
const DROP: u32 = 0;

/// The rules; dropping it removes them.
#[derive(Debug)]
pub(crate) struct Nat {
    _owner: Socket,
}

impl Nat {
    /// Lets `inside`, behind the device of the namespace `outside`, into the world.
    ///
    /// # Errors
    /// [`LiveError::Kernel`]: the kernel lacks a part of nftables, or another shell has its table here.
    pub(crate) fn new(outside: &Namespace, inside: Ipv4Addr) -> Result<Nat, LiveError> {
        outside.set_sysctl(&format!("net.ipv4.conf.{}.forwarding", Namespace::DEVICE), "1")?;
        outside.run(|| {
            let device = Netlink::open()?.link(Namespace::DEVICE)?.header.index;
            let failed =
                |error| LiveError::kernel("set up masquerading (nftables: nat, masq, dup, owner)", error);
            Ok(Nat { _owner: send(&rules(inside, device)).map_err(failed)? })
        })?
    }
}

/// All or nothing: table, chains and rules are one transaction.
fn send(messages: &[Message]) -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut bytes = Vec::new();
    bytes.extend(Message::batch(BATCH_BEGIN).finish(0));
    for (number, message) in (1..).zip(messages) {
        bytes.extend(message.clone().finish(number));
    }
    bytes.extend(Message::batch(BATCH_END).finish(messages.len() as u32 + 1));
    socket.send(&bytes, 0)?;
    // Every message is acknowledged, or the first that is not stands for all.
    for _ in messages {
        let (answer, _) = socket.recv_from_full()?;
        match code(&answer) {
            Some(0) => {}
            Some(refused) => return Err(io::Error::from_raw_os_error(-refused)),
            None => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
    Ok(socket)
}

/// What an acknowledgement says: 0 or an error.
fn code(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(*answer.get(4..6)?.first_chunk()?);
    let code = i32::from_ne_bytes(*answer.get(16..20)?.first_chunk()?);
    (kind == ERROR).then_some(code)
}

fn rules(inside: Ipv4Addr, device: u32) -> Vec<Message> {
    let address = inside.octets();
    let device = device.to_ne_bytes();
    let chain = |name: &str, kind: &str, hook: u32, priority: i32| {
        let hook = Attributes::default().number(1, hook).number(2, priority as u32);
        Message::new(
            NEW_CHAIN,
            CREATE,
            Attributes::default().text(1, TABLE).text(3, name).nest(4, hook).text(7, kind),
        )
    };
    let rule = |of: &str, expressions: Attributes| {
        Message::new(
            NEW_RULE,
            CREATE | APPEND,
            Attributes::default().text(1, TABLE).text(2, of).nest(4, expressions),
        )
    };
    vec![
        Message::new(NEW_TABLE, CREATE, Attributes::default().text(1, TABLE).number(2, OWNER)),
        chain("out", "nat", POSTROUTING, SOURCE),
        chain("back", "filter", PREROUTING, AFTER_DESTINATION),
        rule(
            "out",
            Attributes::default()
                .header(FROM)
                .compare(EQUAL, &address)
                .about("meta", OUTPUT_DEVICE)
                .compare(UNEQUAL, &device)
                .expression("masq", Attributes::default()),
        ),
        rule(
            "back",
            Attributes::default()
                .header(TO)
                .compare(EQUAL, &address)
                .about("meta", INPUT_DEVICE)
                .compare(UNEQUAL, &device)
                .about("ct", STATE)
                .mask(KNOWN)
                .compare(UNEQUAL, &0_u32.to_ne_bytes())
                .value(ONE, &address)
                .value(TWO, &device)
                .expression("dup", Attributes::default().number(1, ONE).number(2, TWO))
                .drop(),
        ),
    ]
}

/// A message to nftables.
#[derive(Clone, Debug)]
struct Message {
    kind: u16,
    flags: u16,
    family: u8,
    subsystem: u16,
    attributes: Attributes,
}

impl Message {
    fn new(kind: u16, flags: u16, attributes: Attributes) -> Message {
        Message { kind, flags: REQUEST | ACK | flags, family: IPV4, subsystem: 0, attributes }
    }

    fn batch(kind: u16) -> Message {
        Message { kind, flags: REQUEST, family: 0, subsystem: NFTABLES, attributes: Attributes::default() }
    }

    /// With both headers (`nlmsghdr`, `nfgenmsg`); attributes are padded already.
    fn finish(self, sequence: u32) -> Vec<u8> {
        let length = 20 + self.attributes.bytes.len() as u32;
        let mut bytes = Vec::with_capacity(length as usize);
        bytes.extend(length.to_ne_bytes());
        bytes.extend(self.kind.to_ne_bytes());
        bytes.extend(self.flags.to_ne_bytes());
        bytes.extend(sequence.to_ne_bytes());
        bytes.extend(0_u32.to_ne_bytes());
        bytes.extend([self.family, 0]);
        bytes.extend(self.subsystem.to_be_bytes());
        bytes.extend(self.attributes.bytes);
        bytes
    }
}

/// Attributes of netlink, one after the other; numbers of nftables are big-endian.
#[derive(Clone, Debug, Default)]
struct Attributes {
    bytes: Vec<u8>,
}

impl Attributes {
    fn bytes(mut self, kind: u16, value: &[u8]) -> Attributes {
        self.bytes.extend((value.len() as u16 + 4).to_ne_bytes());
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    fn text(self, kind: u16, value: &str) -> Attributes {
        self.bytes(kind, &[value.as_bytes(), &[0]].concat())
    }

    fn number(self, kind: u16, value: u32) -> Attributes {
        self.bytes(kind, &value.to_be_bytes())
    }

    fn nest(self, kind: u16, inner: Attributes) -> Attributes {
        self.bytes(kind | NESTED, &inner.bytes)
    }

    fn expression(self, name: &str, about: Attributes) -> Attributes {
        self.nest(1, Attributes::default().text(1, name).nest(2, about))
    }

    /// Four bytes of the IPv4 header into the first register.
    fn header(self, offset: u32) -> Attributes {
        let network_header = 1;
        let about = Attributes::default().number(1, ONE).number(2, network_header);
        self.expression("payload", about.number(3, offset).number(4, 4))
    }

    /// A number of `meta` or `ct` into the first register.
    fn about(self, name: &str, key: u32) -> Attributes {
        self.expression(name, Attributes::default().number(1, ONE).number(2, key))
    }

    /// The first register against a value: what differs ends the rule.
    fn compare(self, how: u32, value: &[u8]) -> Attributes {
        let about = Attributes::default().number(1, ONE).number(2, how);
        self.expression("cmp", about.nest(3, Attributes::default().bytes(1, value)))
    }

    /// Some bits of the first register.
    fn mask(self, bits: u32) -> Attributes {
        let value = |number: u32| Attributes::default().bytes(1, &number.to_ne_bytes());
        let about = Attributes::default().number(1, ONE).number(2, ONE).number(3, 4);
        self.expression("bitwise", about.nest(4, value(bits)).nest(5, value(0)))
    }

    fn value(self, register: u32, value: &[u8]) -> Attributes {
        let about = Attributes::default().number(1, register);
        self.expression("immediate", about.nest(2, Attributes::default().bytes(1, value)))
    }

    fn drop(self) -> Attributes {
        let verdict = Attributes::default().nest(2, Attributes::default().number(1, DROP));
        self.expression("immediate", Attributes::default().number(1, VERDICT).nest(2, verdict))
    }
}
