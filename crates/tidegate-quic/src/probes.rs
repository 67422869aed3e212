//! Counts probe time-outs (RFC 9002 §6.2), which quinn tells to nobody but its log: the event "PTO fired" of `tracing`.
//!
//! While quinn handles a time-out, a subscriber of this file is the thread's own. It takes this event alone; for all others
//! `tracing` knows after the first that nobody listens.

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// Where the event comes from.
const TARGET: &str = "quinn_proto::connection";
/// What it says.
const MESSAGE: &str = "PTO fired";

thread_local! {
    static FIRED: Cell<u64> = const { Cell::new(0) };
}

/// Does `what`, and counts the probe time-outs in it.
pub(crate) fn counted(what: impl FnOnce()) -> u64 {
    static DISPATCH: OnceLock<Dispatch> = OnceLock::new();
    let dispatch = DISPATCH.get_or_init(|| Dispatch::new(Probes));
    FIRED.set(0);
    tracing::dispatcher::with_default(dispatch, what);
    FIRED.get()
}

struct Probes;

impl Probes {
    fn hears(metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET && metadata.is_event() && metadata.fields().field("count").is_some()
    }
}

impl Subscriber for Probes {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if Probes::hears(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        Probes::hears(metadata)
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Message);
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

struct Message;

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" && format!("{value:?}") == MESSAGE {
            FIRED.set(FIRED.get() + 1);
        }
    }
}
