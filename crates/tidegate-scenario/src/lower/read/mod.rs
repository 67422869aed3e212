//! Tables of the file to parts of the plan, one kind of table for each file.

mod advice;
mod app;
mod aqm;
pub(crate) mod cake;
pub(crate) mod calls;
pub(crate) mod classes;
mod congestion;
pub(crate) mod gate;
mod laws;
mod marker;
mod media;
mod police;
mod quic;
mod rate;
pub(crate) mod record;
mod red;
mod request;
mod schedulers;
mod tcp;
mod tcp_layers;
mod threshold;
mod traffic_groups;
pub(crate) mod users;
mod video;

pub(crate) use tcp_layers::TcpLayers;
