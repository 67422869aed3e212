//! The scenario parser: any text gives a checked scenario that says the same when it is
//! printed and read again, or one message that names the file.

use tidegate_scenario::Scenario;

/// Scenarios that are right.
pub const SEEDS: &[&str] = &[
    include_str!("../seeds/scenario/small.toml"),
    include_str!("../seeds/scenario/large.toml"),
    include_str!("../seeds/scenario/requests.toml"),
];

/// The same as bytes.
pub const SEED_BYTES: [&[u8]; 3] = [SEEDS[0].as_bytes(), SEEDS[1].as_bytes(), SEEDS[2].as_bytes()];

/// Pieces that stand in scenarios.
pub const WORDS: &[&str] = &[
    "\n",
    " = ",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "'",
    "#",
    ".",
    ",",
    "-1",
    "0",
    "true",
    "1e9",
    "nan",
    "\"1 Mbit/s\"",
    "\"10 ms\"",
    "\"5 packets\"",
    "\"1 KiB\"",
    "\" \"",
    "\"m\"",
    "rate",
    "queue",
    "delay",
    "path",
    "back",
    "count",
    "tcp",
    "cc",
    "gate",
    "flow",
    "link",
    "use",
    "loss",
    "rate.constant",
    "rate.unlimited = true\n",
    "\n--set ",
    "[[sweep]]\n",
    "[gate.x]\n",
    "[flow.y]\n",
    "path = [\"x\"]\n",
    "\u{e9}",
    "99999999999999999999",
    "\"inf s\"",
    "count = 4000000000\n",
    "app.request.",
    "app.video.ladder = [\"1 Mbit/s\"]\n",
    "response",
    "think",
    "shape = 1e-300",
    "[server.z]\n",
];

/// Any bytes: lines that begin with `--set ` are sets, the rest is the scenario.
pub fn run(data: &[u8]) {
    let Ok(whole) = std::str::from_utf8(data) else { return };
    if whole.contains('/') && ["trace", "file"].iter().any(|word| whole.contains(word)) {
        return; // a path could be a device without end
    }
    let is_set = |line: &&str| line.starts_with("--set ");
    let sets: Vec<String> = whole.lines().filter(is_set).map(|line| line[6..].to_owned()).collect();
    let text: String = whole.split_inclusive('\n').filter(|line| !is_set(line)).collect();
    let folder = Some(std::path::Path::new("no-such-folder"));
    if let Err(error) = Scenario::from_json(&text, "t.json", folder, &sets) {
        check_message(&error.to_string());
    }
    match Scenario::from_toml(&text, "t.toml", folder, &sets) {
        Err(error) => check_message(&error.to_string()),
        Ok(scenario) => {
            let printed = scenario.to_toml();
            let again = Scenario::from_toml(&printed, "t.toml", folder, &[]).unwrap_or_else(|error| {
                panic!("the document as run is refused: {error}\n{printed}");
            });
            assert!(
                again.plan(Some(1), 0) == scenario.plan(Some(1), 0),
                "the document as run differs:\n{printed}"
            );
        }
    }
}

/// It says where, and it says something.
fn check_message(message: &str) {
    let from = ["t.toml", "t.json", "--set"].iter().any(|name| message.contains(name));
    assert!(from && message.len() > 10, "{message}");
}
