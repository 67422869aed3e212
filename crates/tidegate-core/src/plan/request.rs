//! Requests and responses: what a client asks a server for, how often, and how fast it answers.

use std::sync::Arc;

use super::VideoPlan;
use crate::random::SizeTable;
use crate::units::{Rate, Span};

/// A client at the end of a flow's path that asks a server at its beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestPlan {
    /// Index of the server; `None`: requests are answered at once.
    pub server: Option<usize>,
    /// User bytes of a request.
    pub request: SizePlan,
    /// User bytes of its response.
    pub response: SizePlan,
    /// Time before the first request, and before each one after it.
    pub think: ThinkPlan,
    /// What the time before a request begins with.
    pub request_loop: RequestLoop,
    /// How many may be on the connection at once, at least one; others wait at the client. `None`: any number.
    pub outstanding: Option<u64>,
    /// Whether each request has a connection of its own.
    pub connection: ConnectionPlan,
    /// So many requests, then none; `None`: as many as there is time for.
    pub count: Option<u64>,
    /// A player asks, for the segments of a video: it chooses when and how large a response, and `response`, `think` and `request_loop`
    /// say nothing.
    pub video: Option<Box<VideoPlan>>,
}

/// What a think time begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestLoop {
    /// The last byte of the response before.
    Closed,
    /// The request before, whatever became of it.
    Open,
}

/// Which connection carries a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionPlan {
    /// One for all: windows and estimates live on.
    Persistent,
    /// A new one for each: windows and estimates begin anew, after a handshake if TCP has one.
    New,
}

/// A length of time between requests, never zero for all of them.
#[derive(Clone, Debug, PartialEq)]
pub enum ThinkPlan {
    /// Always the same.
    Constant(Span),
    /// Exponential with this mean.
    Exponential(Span),
    /// These, one after the other, and again from the first.
    List(Vec<Span>),
}

/// User bytes of a message: at least 1, at most [`LARGEST_MESSAGE`](crate::random::LARGEST_MESSAGE).
#[derive(Clone, Debug, PartialEq)]
pub enum SizePlan {
    /// Always the same.
    Constant(u64),
    /// Exponential with this mean in bytes.
    Exponential {
        /// In bytes, above zero.
        mean: u64,
    },
    /// P(size > x) = (least / x)^shape.
    Pareto {
        /// The smallest, in bytes, above zero.
        least: u64,
        /// Above zero; the mean is finite above 1.
        shape: f64,
        /// Larger draws are cut to this.
        most: u64,
    },
    /// The logarithm is normal.
    LogNormal {
        /// In bytes, above zero.
        median: u64,
        /// Deviation of the natural logarithm, above zero.
        sigma: f64,
        /// Larger draws are cut to this.
        most: u64,
    },
    /// From a cumulative distribution.
    Table(Arc<SizeTable>),
    /// One of these, each equally likely; there is at least one.
    List(Arc<[u64]>),
}

/// Serves whole messages in the order of their arrival, for all flows that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPlan {
    /// Unique.
    pub name: String,
    /// User bytes of a request and its response are worked through at this rate; `None`: at once.
    pub rate: Option<Rate>,
}
