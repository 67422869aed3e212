//! Which servers there are, which of them each flow passes, and what depends on the routes.

pub(crate) mod abr;
pub(crate) mod circuits;
pub(crate) mod classes;
pub(crate) mod follow;
pub(crate) mod layout;
pub(crate) mod pools;
pub(crate) mod resolve;
pub(crate) mod servers;
pub(crate) mod spacers;
mod tins;
pub(crate) mod wiring;
