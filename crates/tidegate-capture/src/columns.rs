//! The packets of a connection as columns of numbers, one row a packet in the order of the capture.

use crate::connection::Connection;
use crate::log::{ACK, HAS_TIMESTAMPS, Row, SYN, TCP_FLAGS};

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
        let client = self.client_index();
        let bases = [self.base(0), self.base(1)];
        let from_base = |offset: i64, space: usize| (offset - bases[space]).max(0) as u64;
        let acked = |row: &Row| row.flags & ACK != 0;
        let scales = [0, 1].map(|index| self.scale(index).unwrap_or(0));
        match field {
            Field::Time => Column::I64(self.each(rows, |row| row.time.wrapping_add(shift))),
            Field::FromClient => Column::Bool(self.each(rows, |row| row.from == client)),
            Field::Seq => Column::U64(self.each(rows, |row| from_base(row.seq, row.from))),
            Field::Ack => Column::U64(
                self.each(rows, |row| if acked(row) { from_base(row.ack, 1 - row.from) } else { 0 }),
            ),
            Field::HasAck => Column::Bool(self.each(rows, acked)),
            Field::Payload => Column::U32(self.each(rows, |row| row.payload)),
            Field::IpBytes => Column::U32(self.each(rows, |row| row.ip_bytes)),
            Field::Wire => Column::U32(self.each(rows, |row| row.wire)),
            Field::Flags => Column::U16(self.each(rows, |row| row.flags & TCP_FLAGS)),
            // A SYN's window is never scaled (RFC 7323 §2.2).
            Field::Window => Column::U64(self.each(rows, |row| {
                u64::from(row.window) << if row.flags & SYN == 0 { scales[row.from] } else { 0 }
            })),
            Field::Ecn => Column::U8(self.each(rows, |row| row.tos & 3)),
            Field::Dscp => Column::U8(self.each(rows, |row| row.tos >> 2)),
            Field::Ttl => Column::U8(self.each(rows, |row| row.ttl)),
            Field::IpId => Column::U32(self.each(rows, |row| u32::from(row.ip_id))),
            Field::HasTs => Column::Bool(self.each(rows, |row| row.flags & HAS_TIMESTAMPS != 0)),
            Field::TsValue => Column::U32(self.each(rows, |row| row.ts_value)),
            Field::TsEcho => Column::U32(self.each(rows, |row| row.ts_echo)),
            Field::SackFirst => {
                let mut sum = 0;
                let mut first = vec![0];
                first.extend(self.log.rows().take(rows).map(|row| {
                    sum += row.block_count as u64;
                    sum
                }));
                Column::U64(first)
            }
            Field::SackLeft => Column::U64(self.blocks(rows, |row, (left, _)| from_base(left, 1 - row.from))),
            Field::SackRight => {
                Column::U64(self.blocks(rows, |row, (_, right)| from_base(right, 1 - row.from)))
            }
        }
    }

    fn each<T>(&self, rows: usize, value: impl Fn(&Row) -> T) -> Vec<T> {
        let mut values = Vec::with_capacity(self.log.rows.min(rows));
        values.extend(self.log.rows().take(rows).map(|row| value(&row)));
        values
    }

    fn blocks(&self, rows: usize, value: impl Fn(&Row, (i64, i64)) -> u64) -> Vec<u64> {
        let mut values = Vec::new();
        for row in self.log.rows().take(rows) {
            values.extend(row.blocks[..row.block_count].iter().map(|block| value(&row, *block)));
        }
        values
    }
}
