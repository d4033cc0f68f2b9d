//! The OpenAPI document describes the server: Schemathesis asks all that it allows, and much that it does not.

use std::process::{Command, Stdio};

use super::{folder, key, serve};
use crate::mcp::clients::{PYTHON, given};
use crate::run::{Folder, finish};

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn c10_schemathesis_finds_no_failure() {
    let folder = folder();
    let key = key(&folder, "main", &["--scope", "admin"]);
    let server = serve(&folder, &[]);
    let elsewhere = Folder::new();
    let program = given(PYTHON, "python").with_file_name("st");
    let mut schemathesis = Command::new(program);
    schemathesis
        .args(["run", &format!("{}/openapi.json", server.address())])
        .args(["--header", &format!("Authorization: Bearer {key}")])
        // Which models and agents there are, and what a time looks like, no schema says.
        .args([
            "--checks",
            "all",
            "--exclude-checks",
            "positive_data_acceptance",
        ])
        .args(["--phases", "examples,coverage,fuzzing,stateful"])
        .args(["--max-examples", "15", "--seed", "1", "--no-color"])
        .current_dir(elsewhere.path())
        .env("NO_PROXY", "127.0.0.1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = finish(schemathesis, None);
    assert_eq!(output.code, Some(0), "{}\n{}", output.stdout, output.stderr);
}
