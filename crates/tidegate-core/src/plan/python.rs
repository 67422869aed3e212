//! What users wrote in Python, as a plan names it.

/// A class that a user wrote in Python: a congestion controller, or the rule of a player.
#[derive(Debug, PartialEq, Eq)]
pub struct PythonClass {
    /// As the scenario names it.
    pub name: String,
    /// The file that it is in, or the module.
    pub source: PythonSource,
    /// The class.
    pub class: String,
}

/// Where a user's class is.
#[derive(Debug, PartialEq, Eq)]
pub enum PythonSource {
    /// A file of this path.
    File(String),
    /// A module that Python can import.
    Module(String),
}
