//! The packets of a connection as columns of numbers, one row a packet in the order of the capture.

use crate::connection::Connection;
use crate::log::{ACK, HAS_TIMESTAMPS, Row, SYN, TCP_FLAGS};

/// Packets that are unpacked at once.
const PART: usize = 256;

/// A column of one kind of number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Yes or no.
    Bool(Vec<bool>),
    /// Eight bits.
    U8(Vec<u8>),
    /// Sixteen bits.
    U16(Vec<u16>),
    /// 32 bits.
    U32(Vec<u32>),
    /// 64 bits.
    U64(Vec<u64>),
    /// 64 bits with a sign.
    I64(Vec<i64>),
}

/// What a column tells of each packet; the SACK columns have rows of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Time in nanoseconds since the capture's first packet.
    Time,
    /// Whether the client sent it.
    FromClient,
    /// Sequence number without wrap, from the direction's first (the SYN's, where it was seen).
    Seq,
    /// ACK without wrap, from the other direction's first number; 0 without ACK.
    Ack,
    /// Whether the flag ACK is set.
    HasAck,
    /// Bytes of user data, by IP's length.
    Payload,
    /// Bytes of the IP packet.
    IpBytes,
    /// Bytes of the frame before the capture cut it.
    Wire,
    /// TCP's flags, from FIN (1) to AE (256).
    Flags,
    /// The receive window in bytes, scaled where the scale is known; SYNs have no scale.
    Window,
    /// IP's ECN bits.
    Ecn,
    /// IP's DSCP.
    Dscp,
    /// Time to live, or hop limit.
    Ttl,
    /// IPv4's identification, 0 for IPv6.
    IpId,
    /// Whether the packet has timestamps.
    HasTs,
    /// The timestamp's value.
    TsValue,
    /// The timestamp's echo.
    TsEcho,
    /// The place of each packet's first SACK block in the two columns that follow, and their length at the end.
    SackFirst,
    /// Left edges of SACK blocks, as `Ack` counts.
    SackLeft,
    /// Right edges.
    SackRight,
}

impl Field {
    /// Every column.
    pub const ALL: [Field; 20] = {
        use Field::*;
        [
            Time, FromClient, Seq, Ack, HasAck, Payload, IpBytes, Wire, Flags, Window, Ecn, Dscp, Ttl, IpId,
            HasTs, TsValue, TsEcho, SackFirst, SackLeft, SackRight,
        ]
    };

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Field::Time => "time_ns",
            Field::FromClient => "from_client",
            Field::Seq => "seq",
            Field::Ack => "ack",
            Field::HasAck => "has_ack",
            Field::Payload => "payload",
            Field::IpBytes => "ip_bytes",
            Field::Wire => "wire",
            Field::Flags => "flags",
            Field::Window => "window",
            Field::Ecn => "ecn",
            Field::Dscp => "dscp",
            Field::Ttl => "ttl",
            Field::IpId => "ip_id",
            Field::HasTs => "has_ts",
            Field::TsValue => "ts_value",
            Field::TsEcho => "ts_echo",
            Field::SackFirst => "sack_first",
            Field::SackLeft => "sack_left",
            Field::SackRight => "sack_right",
        }
    }
}

impl Connection {
    /// One column of the first `rows` packets. `shift` nanoseconds are added to times.
    #[must_use]
    pub fn column(&self, field: Field, shift: i64, rows: usize) -> Column {
        let mut columns = self.columns(&[field], shift, rows);
        columns.remove(0)
    }

    /// As [`Self::column`], several at once: packets are unpacked once for all.
    #[must_use]
    pub fn columns(&self, fields: &[Field], shift: i64, rows: usize) -> Vec<Column> {
        let view = View {
            shift,
            client: self.client_index(),
            bases: [self.base(0), self.base(1)],
            scales: [0, 1].map(|index| self.scale(index).unwrap_or(0)),
        };
        let count = self.log.rows.min(rows);
        let mut columns: Vec<Column> = fields.iter().map(|field| Column::of(*field, count)).collect();
        let mut all = self.log.rows().take(count);
        let mut part = Vec::with_capacity(PART);
        loop {
            part.clear();
            part.extend(all.by_ref().take(PART));
            if part.is_empty() {
                return columns;
            }
            for (field, column) in fields.iter().zip(&mut columns) {
                view.add(*field, &part, column);
            }
        }
    }
}

impl Column {
    /// An empty column with room for so many packets.
    fn of(field: Field, count: usize) -> Column {
        use Field::*;
        match field {
            Time => Column::I64(Vec::with_capacity(count)),
            FromClient | HasAck | HasTs => Column::Bool(Vec::with_capacity(count)),
            Seq | Ack | Window => Column::U64(Vec::with_capacity(count)),
            Payload | IpBytes | Wire | IpId | TsValue | TsEcho => Column::U32(Vec::with_capacity(count)),
            Flags => Column::U16(Vec::with_capacity(count)),
            Ecn | Dscp | Ttl => Column::U8(Vec::with_capacity(count)),
            SackFirst => Column::U64(vec![0]),
            SackLeft | SackRight => Column::U64(Vec::new()),
        }
    }
}

/// How a connection's packets are told: whose numbers are the client's, and what they count from.
struct View {
    shift: i64,
    client: usize,
    bases: [i64; 2],
    scales: [u8; 2],
}

impl View {
    /// Adds some packets to a column, which [`Column::of`] made for this field.
    fn add(&self, field: Field, part: &[Row], column: &mut Column) {
        match column {
            Column::Bool(values) => each(part, values, |row| match field {
                Field::FromClient => row.from == self.client,
                Field::HasAck => acked(row),
                _ => row.flags & HAS_TIMESTAMPS != 0,
            }),
            Column::U8(values) => each(part, values, |row| match field {
                Field::Ecn => row.tos & 3,
                Field::Dscp => row.tos >> 2,
                _ => row.ttl,
            }),
            Column::U16(values) => each(part, values, |row| row.flags & TCP_FLAGS),
            Column::U32(values) => each(part, values, |row| match field {
                Field::Payload => row.payload,
                Field::IpBytes => row.ip_bytes,
                Field::Wire => row.wire,
                Field::IpId => u32::from(row.ip_id),
                Field::TsValue => row.ts_value,
                _ => row.ts_echo,
            }),
            Column::I64(values) => each(part, values, |row| row.time.wrapping_add(self.shift)),
            Column::U64(values) => self.add_wide(field, part, values),
        }
    }

    fn add_wide(&self, field: Field, part: &[Row], values: &mut Vec<u64>) {
        match field {
            Field::Seq => each(part, values, |row| self.offset(row.seq, row.from)),
            Field::Ack => {
                each(part, values, |row| if acked(row) { self.offset(row.ack, 1 - row.from) } else { 0 })
            }
            // A SYN's window is never scaled (RFC 7323 §2.2).
            Field::Window => each(part, values, |row| {
                u64::from(row.window) << if row.flags & SYN == 0 { self.scales[row.from] } else { 0 }
            }),
            Field::SackFirst => {
                let mut sum = values.last().copied().unwrap_or(0);
                each(part, values, |row| {
                    sum += row.block_count as u64;
                    sum
                });
            }
            Field::SackLeft => self.add_edges(part, values, |block| block.0),
            _ => self.add_edges(part, values, |block| block.1),
        }
    }

    fn add_edges(&self, part: &[Row], values: &mut Vec<u64>, edge: impl Fn(&(i64, i64)) -> i64) {
        for row in part {
            let blocks = row.blocks[..row.block_count].iter();
            values.extend(blocks.map(|block| self.offset(edge(block), 1 - row.from)));
        }
    }

    fn offset(&self, number: i64, space: usize) -> u64 {
        (number - self.bases[space]).max(0) as u64
    }
}

fn acked(row: &Row) -> bool {
    row.flags & ACK != 0
}

fn each<T>(part: &[Row], values: &mut Vec<T>, value: impl FnMut(&Row) -> T) {
    values.extend(part.iter().map(value));
}
