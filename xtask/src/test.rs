//! `cargo xtask test`: every check of the project, in the order of what fails fastest.

use anyhow::Result;

use crate::command::{announce_and_run, cargo, succeeds};
use crate::model;
use crate::npm;
use crate::postgres::Server;
use crate::python;
use crate::tidy;

/// Printed before anything is downloaded, so that a developer can still press Ctrl-C.
const SETUP: &str = "\
Some tests run other programs. Those that are missing are downloaded now, once:
  into the target folder   a model (19 MB) and clients in Python (60 MB), with `pip`
                           Node.js and clients in JavaScript (800 MB), with `npm`
  onto this machine        the Debian packages postgresql, pgbouncer, nodejs and npm, with `apt-get`
`cargo test` runs the tests that need only a Rust toolchain.";

/// Runs every check and stops at the first failure.
pub(crate) fn test() -> Result<()> {
    eprintln!("{SETUP}");
    announce_and_run("format", cargo().args(["fmt", "--all", "--check"]))?;
    announce_and_run(
        "lints",
        cargo()
            .args(["clippy", "--workspace", "--all-targets", "--all-features"])
            .args(["--", "-D", "warnings"]),
    )?;
    let model = model::folder()?;
    let modules = npm::folder()?;
    let python = python::python()?;
    let server = Server::start()?;
    let mut tests = test_runner();
    tests.env(model::VARIABLE, &model);
    tests.env(npm::VARIABLE, &modules);
    tests.env(python::VARIABLE, &python);
    server.run("tests", &mut tests)?;
    server.run(
        "doctests",
        cargo().args(["test", "--doc", "--workspace", "--all-features"]),
    )?;
    drop(server);
    // Libraries only: the command `kitbag` and the library `kitbag` would write to the same folder.
    announce_and_run(
        "documentation",
        cargo()
            .args(["doc", "--workspace", "--no-deps", "--all-features", "--lib"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    eprintln!("\n== tidy");
    tidy::tidy()?;
    eprintln!("\nall checks passed");
    Ok(())
}

/// Returns nextest if it is installed, which is faster, else cargo's own runner. Neither runs benches.
///
/// Tests that need a server or other people's programs are marked as ignored, so that a plain `cargo test` passes
/// with a Rust toolchain alone. Here they run too.
fn test_runner() -> std::process::Command {
    let mut runner = cargo();
    if succeeds(cargo().args(["nextest", "--version"])) {
        runner.args(["nextest", "run", "--workspace", "--all-features"]);
        runner.args(["--run-ignored", "all"]);
    } else {
        runner
            .args(["test", "--workspace", "--all-features"])
            .args(["--lib", "--bins", "--tests", "--examples"])
            .args(["--", "--include-ignored"]);
    }
    runner
}
