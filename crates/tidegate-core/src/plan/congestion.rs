//! Which congestion controllers there are: the one list of their names.

use super::PythonClass;
use crate::units::Rate;

/// Congestion controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionPlan {
    /// Slow start after every loss.
    Tahoe {
        /// Retransmit at the third duplicate ACK, or only after a time-out.
        fast_retransmit: bool,
    },
    /// RFC 5681 with fast recovery that ends at the first new ACK.
    Reno,
    /// RFC 6582.
    NewReno,
    /// RFC 9438.
    Cubic,
    /// Westwood+.
    Westwood,
    /// Vegas.
    Vegas,
    /// Copa.
    Copa,
    /// LEDBAT++.
    Ledbat,
    /// RFC 8257.
    Dctcp,
    /// Prague.
    Prague,
    /// A constant window in bytes.
    Fixed {
        /// The window.
        window: u64,
    },
    /// A constant rate, and a window only if the plan gives one.
    FixedRate {
        /// User bits per second.
        rate: Rate,
        /// The window in bytes; `u64::MAX`: none.
        window: u64,
    },
    /// BBR, version 1, as Linux has it.
    Bbr,
    /// BBR, version 3 (draft-ietf-ccwg-bbr).
    Bbr3,
    /// One that a user wrote, outside this program.
    Python(&'static PythonClass),
    /// Windows and paces come from outside, step by step (`Stepper` of the simulator); no scenario names it.
    Steered,
    /// One that only the Linux kernel has, by its name in [`CONTROLLERS`]: only the live engine can run it.
    Kernel(&'static str),
}

/// A congestion controller as scenarios name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerRow {
    /// As scenarios spell it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The Linux kernel's name of it; `None`: the kernel does not have it.
    pub kernel: Option<&'static str>,
    plan: Option<CongestionPlan>,
    hears_acks: bool,
    halves: bool,
    draws: Option<&'static str>,
}

impl ControllerRow {
    /// See [`CongestionPlan::hears_acks`].
    const fn hears_acks(self) -> ControllerRow {
        ControllerRow { hears_acks: true, ..self }
    }

    /// See [`CongestionPlan::halves`].
    const fn halves(self) -> ControllerRow {
        ControllerRow { halves: true, ..self }
    }

    /// See [`CongestionPlan::draws`].
    const fn draws(self, what: &'static str) -> ControllerRow {
        ControllerRow { draws: Some(what), ..self }
    }

    /// Whether only the live engine has it.
    #[must_use]
    pub const fn is_live_only(&self) -> bool {
        self.plan.is_none()
    }
}

/// Every controller. The table of keys offers these names, and plans are made from these rows.
pub const CONTROLLERS: &[ControllerRow] = &[
    own("tahoe", "slow start after every loss", None, CongestionPlan::Tahoe { fast_retransmit: true })
        .halves(),
    own("reno", "fast recovery that ends at the first new ACK", Some("reno"), CongestionPlan::Reno).halves(),
    // The kernel's reno is NewReno (RFC 6582) where SACK is off.
    own("newreno", "RFC 6582", Some("reno"), CongestionPlan::NewReno).halves(),
    own("cubic", "RFC 9438", Some("cubic"), CongestionPlan::Cubic),
    own(
        "westwood",
        "Westwood+: after a loss, the window that the path carries",
        Some("westwood"),
        CongestionPlan::Westwood,
    )
    .hears_acks(),
    own("vegas", "two to four segments in the queue", Some("vegas"), CongestionPlan::Vegas).hears_acks(),
    own("copa", "a short queue, or a share of a full one", None, CongestionPlan::Copa).hears_acks(),
    own("ledbat++", "yields to all others", None, CongestionPlan::Ledbat).hears_acks(),
    own("dctcp", "RFC 8257: reduces by how much is marked", Some("dctcp"), CongestionPlan::Dctcp)
        .hears_acks(),
    own("prague", "DCTCP for the Internet (L4S)", None, CongestionPlan::Prague).hears_acks(),
    own("fixed", "a constant window, given by tcp.window", None, CongestionPlan::Fixed { window: 0 }),
    own(
        "fixed_rate",
        "a constant pace, given by tcp.rate",
        None,
        CongestionPlan::FixedRate { rate: Rate::ZERO, window: 0 },
    )
    .hears_acks(),
    own(
        "bbr",
        "BBR version 1: paces at the rate that it finds, detects policers",
        Some("bbr"),
        CongestionPlan::Bbr,
    )
    .hears_acks()
    .draws("probing"),
    own("bbr3", "BBR version 3: also bounds what is in flight by losses", None, CongestionPlan::Bbr3)
        .hears_acks()
        .draws("probing"),
    kernel("bic", "the kernel's BIC, engine live only"),
    kernel("cdg", "the kernel's CAIA delay gradient, engine live only"),
    kernel("highspeed", "the kernel's HighSpeed TCP, engine live only"),
    kernel("htcp", "the kernel's H-TCP, engine live only"),
    kernel("hybla", "the kernel's Hybla, engine live only"),
    kernel("illinois", "the kernel's Illinois, engine live only"),
    kernel("lp", "the kernel's TCP-LP (low priority), engine live only"),
    kernel("nv", "the kernel's New Vegas, engine live only"),
    kernel("scalable", "the kernel's Scalable TCP, engine live only"),
    kernel("veno", "the kernel's Veno, engine live only"),
    kernel("yeah", "the kernel's YeAH, engine live only"),
];

/// The row of a user's own controller, which has no name that all know. It is given a number of the stream, and nobody can know whether
/// it uses it.
const PYTHON: ControllerRow = row("python", "a class of yours in Python").hears_acks().draws("controller");

/// The row of flows that are steered from outside.
const STEERED: ControllerRow = row("steered", "steered from outside, step by step").hears_acks();

/// One that the engine "sim" has. The plan is that without parameters of its own.
const fn own(
    name: &'static str,
    about: &'static str,
    kernel: Option<&'static str>,
    plan: CongestionPlan,
) -> ControllerRow {
    ControllerRow { kernel, plan: Some(plan), ..row(name, about) }
}

const fn kernel(name: &'static str, about: &'static str) -> ControllerRow {
    ControllerRow { kernel: Some(name), ..row(name, about) }
}

const fn row(name: &'static str, about: &'static str) -> ControllerRow {
    ControllerRow { name, about, kernel: None, plan: None, hears_acks: false, halves: false, draws: None }
}

impl CongestionPlan {
    /// The controller of this name, with the usual parameters if it has any; `None`: there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<CongestionPlan> {
        let row = CONTROLLERS.iter().find(|row| row.name == name)?;
        Some(row.plan.unwrap_or(CongestionPlan::Kernel(row.name)))
    }

    /// Its row in [`CONTROLLERS`]; a user's own has one for all.
    #[must_use]
    pub fn row(self) -> &'static ControllerRow {
        if let CongestionPlan::Python(_) = self {
            return &PYTHON;
        }
        if self == CongestionPlan::Steered {
            return &STEERED;
        }
        let is_same = |row: &&ControllerRow| match (self, row.plan) {
            (CongestionPlan::Kernel(name), None) => row.name == name,
            (_, Some(plan)) => std::mem::discriminant(&plan) == std::mem::discriminant(&self),
            (_, None) => false,
        };
        CONTROLLERS.iter().find(is_same).expect("every controller has a row")
    }

    /// Its name as scenarios spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CongestionPlan::Python(own) => &own.name,
            _ => self.row().name,
        }
    }

    /// Names of those that the engine "sim" has.
    pub fn simulated() -> impl Iterator<Item = &'static str> {
        CONTROLLERS.iter().filter(|row| row.plan.is_some()).map(|row| row.name)
    }

    /// Whether it is told of every ACK, or paces data: its senders account for each ACK, which takes SACK.
    #[must_use]
    pub fn hears_acks(self) -> bool {
        self.row().hears_acks
    }

    /// What it draws from the seed, by the last part of the stream's name; `None`: nothing.
    #[must_use]
    pub fn draws(self) -> Option<&'static str> {
        self.row().draws
    }

    /// Whether its window grows by addition and shrinks by halving, as the closed forms of theories assume.
    #[must_use]
    pub fn halves(self) -> bool {
        self.row().halves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_has_one_row_and_its_name_leads_to_it() {
        for (place, row) in CONTROLLERS.iter().enumerate() {
            let plan = CongestionPlan::named(row.name).expect("it has a name");
            assert_eq!(plan.row(), row);
            assert!(CONTROLLERS[..place].iter().all(|other| other.name != row.name), "{} twice", row.name);
        }
        assert_eq!(CongestionPlan::Fixed { window: 3 }.name(), "fixed");
        assert_eq!(CongestionPlan::named("reno2"), None);
    }
}
