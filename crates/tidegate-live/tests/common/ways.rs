//! Every live test twice: with this process's own rights where it is root, and as nobody who
//! makes a user namespace. A way that this machine does not allow is skipped with the reason.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use tidegate_live::userns;

use super::machine::{self, Watch};

/// What a test's process is for: see [`both`].
const WAY: &str = "TIDEGATE_TEST_WAY";
const NOBODY: u32 = 65_534;
/// A test that failed is tried again, up to this many times in all, only where the machine was
/// measured to be late meanwhile ([`Watch`]).
const ATTEMPTS: u32 = 3;
const RAN: &str = "ran without root";
const SKIPPED: &str = "skipped without root";

/// A test that runs as root and without root: its name, and the function that does it.
#[allow(unused_macros, reason = "each test program uses a part")]
macro_rules! both_ways {
    ($test:ident, $body:ident) => {
        #[test]
        fn $test() {
            $crate::common::ways::both(stringify!($test), $body);
        }
    };
}

/// Whether this test runs inside a user namespace of nobody's.
pub(crate) fn is_rootless() -> bool {
    std::env::var(WAY).is_ok_and(|way| way == "inside")
}

/// Runs the test `name`, whose body is `body`, as root and without root, one after the other.
pub(crate) fn both(name: &str, body: fn()) {
    match std::env::var(WAY).as_deref() {
        Ok("inside") => {
            if let Err((panic, excuse)) = watched(body) {
                eprintln!("{}", excuse.unwrap_or_default());
                std::panic::resume_unwind(panic);
            }
            eprintln!("{RAN}");
        }
        // Nobody, who makes the namespace; it takes a process of its own again, because this one
        // has several threads.
        Ok(_) => say(&run_inside(&std::env::current_exe().unwrap(), name)),
        Err(_) => {
            if userns::is_capable() {
                patiently(body);
            } else {
                eprintln!("skipped as root: this process is not root");
            }
            without_root(name);
        }
    }
}

/// As [`both`], without root only.
pub(crate) fn rootless(name: &str, body: fn()) {
    if std::env::var_os(WAY).is_some() { both(name, body) } else { without_root(name) }
}

/// Why a test failed, and what the machine was measured to be late by, if that may be the reason.
type Failure = (Box<dyn std::any::Any + Send>, Option<String>);

fn watched(body: fn()) -> Result<(), Failure> {
    let watch = Watch::start();
    std::panic::catch_unwind(body).map_err(|panic| (panic, watch.excuse()))
}

fn patiently(body: fn()) {
    for attempt in 1.. {
        // The panic has said what went wrong.
        let Err((panic, excuse)) = watched(body) else { return };
        match excuse {
            Some(excuse) if attempt < ATTEMPTS => eprintln!("{excuse}; trying again"),
            _ => std::panic::resume_unwind(panic),
        }
    }
}

fn without_root(name: &str) {
    // One at a time: nobody's engines have no priority over each other.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let me = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut attempt = 1;
    loop {
        let output = if nix::unistd::geteuid().is_root() {
            as_nobody(&me, name, folder.path())
        } else {
            run_inside(&me, name)
        };
        say(&output);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            assert!(told.contains(RAN) || told.contains(SKIPPED), "the test {name} was not run: {told}");
            return;
        }
        assert!(machine::excuses(&told), "without root, on a machine that kept time: {told}");
        assert!(attempt < ATTEMPTS, "without root, {ATTEMPTS} times: {told}");
        eprintln!("the machine was late; trying again");
        attempt += 1;
    }
}

fn as_nobody(me: &Path, name: &str, folder: &Path) -> Output {
    // Nobody may not look into the folder of the build.
    let program = folder.join("test");
    if !program.exists() {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::copy(me, &program).unwrap();
    }
    let mut command = again(&program, name, "nobody");
    command.uid(NOBODY).gid(NOBODY).env_remove("XDG_RUNTIME_DIR");
    command.output().unwrap()
}

fn run_inside(program: &Path, name: &str) -> Output {
    let mut command = again(program, name, "inside");
    userns::place(&mut command);
    command.output().unwrap_or_else(|error| Output {
        status: std::process::ExitStatus::default(),
        stdout: Vec::new(),
        stderr: format!("{SKIPPED}: no user namespaces here ({error})").into_bytes(),
    })
}

/// One test alone, in a process of its own.
fn again(program: &Path, name: &str, way: &str) -> Command {
    let mut command = Command::new(program);
    command.args([name, "--exact", "--nocapture"]).current_dir("/").env(WAY, way);
    command
}

fn say(output: &Output) {
    eprintln!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let way = std::env::var_os(WAY);
    assert!(way.is_none() || output.status.success(), "it failed inside");
}
