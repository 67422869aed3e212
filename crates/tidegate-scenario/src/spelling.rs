//! Names: what they may be made of, and which one was probably meant.

use crate::units::Complaint;

/// "did you mean …?" with the key that was probably meant, as keys are written.
pub(crate) fn key_meant<'a>(name: &str, keys: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(name, keys).map(|key| format!("did you mean {key}?"))
}

/// "did you mean …?" with the value that was probably meant, in quotes.
pub(crate) fn value_meant<'a>(text: &str, values: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(text, values).map(|value| format!("did you mean {value:?}?"))
}

/// The candidate nearest to `name`, if one is near enough to have been meant.
fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = 1.max(name.chars().count().min(200) / 3);
    let lower = name.to_lowercase();
    candidates
        .map(|candidate| {
            (strsim::damerau_levenshtein(&clip(&lower), &clip(&candidate.to_lowercase())), candidate)
        })
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The first 200 characters: the comparison takes time quadratic in the length.
fn clip(name: &str) -> String {
    name.chars().take(200).collect()
}

/// What is wrong with `name` as the name of a gate, flow, traffic or TCP set.
pub(crate) fn name_complaint(name: &str) -> Option<Complaint> {
    let good = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if name.is_empty() {
        return Some(Complaint::new("a name cannot be empty", "use letters, digits, '-' and '_'"));
    }
    if name.len() > 64 {
        return Some(Complaint::new("a name has at most 64 letters", "use a shorter name"));
    }
    if let Some(bad) = name.chars().find(|letter| !good(*letter)) {
        let fixed: String = name.chars().map(|letter| if good(letter) { letter } else { '_' }).collect();
        return Some(Complaint::new(
            format!("the name {name:?} has {bad:?} in it"),
            format!("use letters, digits, '-' and '_', such as {fixed:?}"),
        ));
    }
    None
}
