//! The base class of controllers in Python.

use pyo3::prelude::*;

use super::{Ack, Loss};

/// The base class of controllers. A subclass has `on_ack`, `on_loss`, `on_timeout` and sets the attributes that the sender
/// obeys after each call.
#[pyclass(subclass, module = "tidegate", name = "CongestionControl")]
pub(crate) struct CongestionControl {
    /// Bytes that may be in flight.
    #[pyo3(get, set)]
    pub(super) window_bytes: f64,
    /// User bits a second; None: as fast as ACKs come.
    #[pyo3(get, set)]
    pub(super) pacing_bps: Option<f64>,
    /// What plots show as threshold; None: there is none.
    #[pyo3(get, set)]
    pub(super) ssthresh_bytes: Option<f64>,
    #[pyo3(get)]
    mss_bytes: u32,
    #[pyo3(get)]
    initial_window_bytes: u64,
    #[pyo3(get)]
    seed: u64,
}

#[pymethods]
impl CongestionControl {
    #[new]
    #[pyo3(signature = (*, mss_bytes = 1460, initial_window_bytes = 14600, seed = 0))]
    fn new(mss_bytes: u32, initial_window_bytes: u64, seed: u64) -> CongestionControl {
        CongestionControl {
            window_bytes: initial_window_bytes as f64,
            pacing_bps: None,
            ssthresh_bytes: None,
            mss_bytes,
            initial_window_bytes,
            seed,
        }
    }

    /// An ACK was dealt with.
    #[pyo3(signature = (ack, /))]
    fn on_ack(&mut self, ack: &Bound<'_, Ack>) {
        let _ = ack;
    }

    /// A loss was found; by itself the window halves.
    #[pyo3(signature = (loss, /))]
    fn on_loss(&mut self, loss: &Bound<'_, Loss>) {
        let _ = loss;
        self.window_bytes = (self.window_bytes / 2.0).max(2.0 * f64::from(self.mss_bytes));
    }

    /// The retransmission timer expired; by itself the window falls to one segment.
    #[pyo3(signature = (loss, /))]
    fn on_timeout(&mut self, loss: &Bound<'_, Loss>) {
        let _ = loss;
        self.window_bytes = f64::from(self.mss_bytes);
    }

    /// Nothing was sent for longer than a time-out, or a SYN was lost; by itself the window falls to `window_bytes`.
    fn on_restart(&mut self, window_bytes: u64) {
        self.window_bytes = self.window_bytes.min(window_bytes as f64);
    }
}
