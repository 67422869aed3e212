//! Text with a unit outside a scenario file: options of commands, parameters of models.

use std::fmt;

use tidegate_core::units::{Rate, Span, Speed, Time};

use crate::units::{Amount, Complaint, Dim, read};

/// A text that is not the quantity asked for; `Display` is the whole message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// What is wrong; the text itself is part of it.
    pub problem: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl std::error::Error for QuantityError {}

impl From<Complaint> for QuantityError {
    fn from(complaint: Complaint) -> QuantityError {
        QuantityError { problem: complaint.problem, help: complaint.help }
    }
}

/// Reads a time, such as `10 ms`.
///
/// # Errors
/// A text that is no time, or a time of 0.
pub fn read_span(text: &str) -> Result<Span, QuantityError> {
    match read(text, Dim::Time)? {
        Amount::Time(span) if span > Span::ZERO => Ok(span),
        _ => {
            Err(Complaint::new(format!("{text:?} is not a time"), "write a time above 0, such as \"10 ms\"")
                .into())
        }
    }
}

/// Reads a time since a beginning, such as `10 ms`; 0 is the beginning.
///
/// # Errors
/// A text that is no time.
pub fn read_instant(text: &str) -> Result<Time, QuantityError> {
    match read(text, Dim::Time)? {
        Amount::Time(span) => Ok(Time::ZERO.saturating_add(span)),
        _ => Err(Complaint::new(format!("{text:?} is not a time"), "write a time, such as \"10 ms\"").into()),
    }
}

/// Reads a rate, such as `5 Mbit/s`.
///
/// # Errors
/// A text that is no rate.
pub fn read_rate(text: &str) -> Result<Rate, QuantityError> {
    match read(text, Dim::Rate)? {
        Amount::Speed(Speed::Bits(rate)) => Ok(rate),
        _ => {
            Err(Complaint::new(format!("{text:?} is not a rate"), "write a rate, such as \"5 Mbit/s\"")
                .into())
        }
    }
}
