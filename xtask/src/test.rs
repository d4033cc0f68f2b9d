//! `cargo xtask test`: every check of the project, in the order of what fails fastest.

use anyhow::Result;

use crate::command::{announce_and_run, cargo, succeeds};
use crate::model;
use crate::npm;
use crate::postgres::Server;
use crate::python;
use crate::tidy;

/// Runs every check and stops at the first failure.
pub(crate) fn test() -> Result<()> {
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

/// nextest where it is installed, which is faster, else cargo's own runner. Neither runs benches.
fn test_runner() -> std::process::Command {
    let mut runner = cargo();
    if succeeds(cargo().args(["nextest", "--version"])) {
        runner.args(["nextest", "run", "--workspace", "--all-features"]);
    } else {
        runner
            .args(["test", "--workspace", "--all-features"])
            .args(["--lib", "--bins", "--tests", "--examples"]);
    }
    runner
}
