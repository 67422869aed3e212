//! Wrong input and its message, side by side in `bad_input/*.md`: the message is compared
//! exactly. `UPDATE_GOLDEN=1 cargo test -p tidegate-scenario --test bad_input` writes the
//! messages anew; read the diff before committing it.
//!
//! A case is a heading, a block with the input (`toml`, `json`, or `file` with a path), any
//! number of `--set` lines, and a block `text` with the message: the error, or in `warnings.md`
//! the warnings of an input that is valid.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tidegate_scenario::{Scenario, ScenarioError};

/// One case as the file has it.
#[derive(Default)]
struct Case {
    heading: String,
    syntax: String,
    input: String,
    sets: Vec<String>,
    expected: String,
}

fn folder() -> PathBuf {
    Path::new("tests/bad_input").to_owned()
}

/// What stands before the first case, and the cases.
fn read(text: &str) -> (String, Vec<Case>) {
    let (mut preface, mut cases) = (String::new(), Vec::<Case>::new());
    let mut block: Option<String> = None;
    for line in text.lines() {
        match (&block, line.strip_prefix("```"), cases.last_mut()) {
            (None, Some(syntax), Some(case)) => {
                if syntax != "text" {
                    case.syntax = syntax.to_owned();
                }
                block = Some(syntax.to_owned());
            }
            (Some(_), Some(""), _) => block = None,
            (Some(syntax), _, Some(case)) => {
                let body = if syntax == "text" { &mut case.expected } else { &mut case.input };
                body.push_str(line);
                body.push('\n');
            }
            _ => {
                if let Some(heading) = line.strip_prefix("## ") {
                    cases.push(Case { heading: heading.to_owned(), ..Case::default() });
                } else if let (Some(set), Some(case)) = (line.strip_prefix("`--set "), cases.last_mut()) {
                    case.sets.push(set.trim_end_matches('`').to_owned());
                } else if cases.is_empty() {
                    preface.push_str(line);
                    preface.push('\n');
                }
            }
        }
    }
    (preface, cases)
}

fn run(case: &Case) -> Result<Scenario, ScenarioError> {
    match case.syntax.as_str() {
        "toml" => Scenario::from_toml(&case.input, "bad.toml", Some(&folder()), &case.sets),
        "json" => Scenario::from_json(&case.input, "bad.json", Some(&folder()), &case.sets),
        _ => Scenario::load(&folder().join(case.input.trim()), &case.sets),
    }
}

fn write(preface: &str, cases: &[(Case, String)]) -> String {
    let mut text = preface.to_owned();
    for (case, message) in cases {
        let _ = write!(text, "## {}\n\n```{}\n{}```\n", case.heading, case.syntax, case.input);
        for set in &case.sets {
            let _ = write!(text, "\n`--set {set}`\n");
        }
        let _ = write!(text, "\n```text\n{message}\n```\n\n");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

#[test]
fn every_wrong_input_has_its_message() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the folder is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.sort();
    let mut count = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a golden file is text");
        let (preface, cases) = read(&text);
        let mut answered = Vec::new();
        let warned = path.ends_with("warnings.md");
        for case in cases {
            let message = match run(&case) {
                Err(error) if !warned => error.to_string(),
                Ok(scenario) if warned => {
                    let said: Vec<String> = scenario.warnings().iter().map(ToString::to_string).collect();
                    said.join("\n")
                }
                Err(error) => panic!("{}: {:?} was refused: {error}", path.display(), case.heading),
                Ok(_) => panic!("{}: {:?} was accepted", path.display(), case.heading),
            };
            count += 1;
            if std::env::var_os("UPDATE_GOLDEN").is_none() {
                assert_eq!(message, case.expected.trim_end(), "{}: {}", path.display(), case.heading);
            }
            answered.push((case, message));
        }
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, write(&preface, &answered)).expect("the golden file can be written");
        }
    }
    assert!(count >= 40, "only {count} cases");
}
