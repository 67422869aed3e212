//! The links as the package for Python has them: one file states links and rules for both.

use tidegate_scenario::Scenario;
use toml_edit::{DocumentMut, Table};

use crate::JudgeError;
use crate::bound::Bound;

macro_rules! text {
    ($name:literal) => {
        ($name, include_str!(concat!("../suite/", $name)))
    };
}

const LINKS: (&str, &str) = text!("links.toml");
const SCENARIOS: [(&str, &str); 5] = [
    text!("link.toml"),
    text!("asymmetric.toml"),
    text!("lte.toml"),
    text!("satellite.toml"),
    text!("two.toml"),
];

/// A link, and what is asked on it.
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) purpose: String,
    /// The name of the file of its scenario.
    file: String,
    /// What is changed in it: `KEY=VALUE`.
    sets: Vec<String>,
    /// So many of its flows, from the first on, are the transport's.
    pub(crate) ours: usize,
    /// Its flow asks for an application of its own.
    has_application: bool,
    pub(crate) bounds: Vec<Bound>,
}

impl Link {
    pub(crate) fn scenario(&self) -> Scenario {
        let (name, text) = SCENARIOS.iter().find(|(name, _)| *name == self.file).expect("the file of a link");
        Scenario::from_toml(text, name, None, &self.sets).expect("the scenario of a link")
    }
}

/// All links, in the order of the file.
pub(crate) fn links() -> Vec<Link> {
    let suite: DocumentMut = LINKS.1.parse().expect("TOML");
    suite["link"].as_array_of_tables().expect("[[link]]").iter().map(read).collect()
}

/// The links with these names; those without an application of their own, if none is named.
pub(crate) fn asked(names: &[&str]) -> Result<Vec<Link>, JudgeError> {
    let all = links();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|link| link.name != **name)) {
        let known: Vec<&str> = all.iter().map(|link| link.name.as_str()).collect();
        return Err(JudgeError::UnknownLink { asked: (*unknown).to_owned(), known: known.join(", ") });
    }
    let is_asked = |link: &Link| {
        if names.is_empty() { !link.has_application } else { names.contains(&link.name.as_str()) }
    };
    Ok(all.into_iter().filter(is_asked).collect())
}

fn read(row: &Table) -> Link {
    let text = |key: &str| row.get(key).and_then(|item| item.as_str());
    let array = |key: &str| row.get(key).and_then(|item| item.as_array());
    let sets: Vec<(String, String)> = row
        .get("set")
        .and_then(|item| item.as_table_like())
        .into_iter()
        .flat_map(|set| set.iter().map(|(key, value)| (key.to_owned(), value.to_string().trim().to_owned())))
        .collect();
    let bounds = array("expect").expect("bounds").iter().map(|pair| {
        Bound::read(
            pair.as_array().and_then(|pair| pair.get(0)?.as_str()).expect("a bound and what it is about"),
        )
    });
    Link {
        name: text("name").expect("a name").to_owned(),
        purpose: text("purpose").expect("a purpose").to_owned(),
        file: format!("{}.toml", text("file").unwrap_or("link")),
        has_application: sets.iter().any(|(key, _)| key == "flow.one.app"),
        sets: sets.iter().map(|(key, value)| format!("{key}={value}")).collect(),
        // Where `ours` does not say otherwise, the transport's flow is the first.
        ours: array("ours").map_or(1, toml_edit::Array::len),
        bounds: bounds.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::links;

    #[test]
    fn every_link_has_a_scenario_bounds_and_as_many_flows_as_are_the_transports() {
        let all = links();
        assert!(all.len() >= 27);
        for link in all {
            let plan = link.scenario().plan(None, 0);
            assert!(!link.bounds.is_empty() && link.ours <= plan.flows.len(), "{}", link.name);
            assert_eq!(plan.flows[0].name, "one");
            assert_eq!(plan.gates[0].name, "link");
        }
    }
}
