//! Runs the real Handlebars.js.

use std::io::Write;
use std::process::{Command, Stdio};

use super::Case;

const MODULES: &str = "KITBAG_TEST_NODE_MODULES";

/// What Handlebars.js renders for each case, where nothing stands for an error.
pub(crate) fn rendered(cases: &[Case]) -> Vec<Option<String>> {
    let modules = std::env::var(MODULES).unwrap_or_else(|_| {
        panic!("no Handlebars.js: run the tests with `cargo xtask test`, or set {MODULES} to what `cargo xtask npm` prints")
    });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/handlebars/reference.js");
    let mut node = Command::new("node")
        .arg(script)
        .env(MODULES, modules)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = node.stdin.take().unwrap();
    let json = serde_json::to_vec(cases).unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&json));
    let output = node.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the reference failed");
    serde_json::from_slice(&output.stdout).unwrap()
}
