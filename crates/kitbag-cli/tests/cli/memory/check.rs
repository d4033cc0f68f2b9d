//! Whether a store is whole, and how large it is.

use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};

use serde_json::json;

use super::Memory;

#[test]
fn o06_a_whole_store_is_told_to_be_whole() {
    let memory = Memory::talk();
    let output = memory.run(&["check"]);
    assert_eq!(output.stderr, "no problems found\n");
    assert_eq!(output.success(), "");
    assert_eq!(memory.json(&["check"]), json!({"problems": []}));
    let stats = memory.json(&["stats"]);
    assert_eq!(
        (&stats["messages"], &stats["conversations"]),
        (&json!(5), &json!(2))
    );
    let told = memory.run(&["stats"]).success();
    assert!(
        told.lines().any(|line| line.trim() == "5 messages"),
        "{told}"
    );
}

#[test]
fn x01_a_damaged_file_is_told_and_not_believed() {
    let memory = Memory::talk();
    memory.run(&["vacuum"]).success();
    let path = memory.0.path().join("memory.db");
    let size = fs::metadata(&path).unwrap().len();
    // All pages but the first, which says what kind of file it is.
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    let noise = vec![0x5a; usize::try_from(size).unwrap() - 4_096];
    file.seek(SeekFrom::Start(4_096)).unwrap();
    file.write_all(&noise).unwrap();
    let output = memory.run(&["check"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let told = format!("{}{}", output.stdout, output.stderr);
    assert!(
        told.contains("damaged") || told.contains("malformed"),
        "{told}"
    );
    assert!(!told.contains("panicked"), "{told}");
    for args in [&["recall", "puppy"][..], &["export"], &["history"]] {
        let error = memory.run(args).failure(1);
        assert!(error.contains("error: "), "{error}");
    }
}

#[test]
fn o06_vacuum_takes_times_and_sizes() {
    let memory = Memory::talk();
    let args = [
        "vacuum",
        "--prompts-older-than",
        "30d",
        "--prompts-max-bytes",
        "1GB",
    ];
    let report = memory.json(&args);
    assert_eq!(report["prompts"], 0);
    assert!(report["file_bytes"].as_u64().unwrap() > 0, "{report}");
    let told = memory.run(&["vacuum"]).stderr;
    assert!(
        told.starts_with("removed 0 prompts; the file had "),
        "{told}"
    );
    for wrong in [
        ["--prompts-older-than", "soon"],
        ["--prompts-older-than", "-3d"],
        ["--prompts-older-than", "99999999y"],
        ["--prompts-max-bytes", "much"],
        ["--prompts-max-bytes", "99999999999999999999"],
    ] {
        memory.run(&[&["vacuum"], &wrong[..]].concat()).failure(2);
    }
    assert_eq!(memory.json(&["stats"])["messages"], 5);
}
