//! Moving from one database to another.

use std::env;

use serde_json::json;

use super::Memory;

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn o06_memory_moves_to_postgresql_and_back() {
    let Ok(server) = env::var("KITBAG_TEST_POSTGRES") else {
        panic!(
            "no PostgreSQL server: run `cargo xtask postgres -- cargo nextest run -p kitbag-cli --run-ignored all memory`"
        );
    };
    let memory = Memory::new();
    let tenant = format!(
        "cli-{}",
        memory
            .0
            .path()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .replace('.', "")
    );
    let run = |store: &str, args: &[&str]| {
        let args = [&["--store", store, "--tenant", &tenant, "memory"], args].concat();
        memory.0.run(&args)
    };
    let migrate = |args: &[&str]| {
        let args = [&["--tenant", &tenant, "memory", "migrate"], args].concat();
        memory.0.run(&args)
    };
    memory.0.write("talk.jsonl", super::lines(&super::talk()));
    run("here.db", &["import", "talk.jsonl"]).success();
    run("here.db", &["facts", "set", "diet", "no fish"]).success();
    let exported = run("here.db", &["export"]).success();

    let there = migrate(&["here.db", &server]);
    assert!(
        there.stderr.contains(", and compared them"),
        "{}",
        there.stderr
    );
    there.success();
    assert_eq!(run(&server, &["export"]).success(), exported);
    let recalled = |store: &str| {
        run(
            store,
            &[
                "recall",
                "what is my puppy called?",
                "--json",
                "--now",
                "2024-07-01",
            ],
        )
        .success()
    };
    assert_eq!(recalled(&server), recalled("here.db"));
    run(&server, &["check"]).success();
    let again = migrate(&["here.db", &server]).failure(1);
    assert!(again.contains("already has memory of tenant"), "{again}");

    migrate(&[&server, "back.db", "--json"]).success();
    assert_eq!(run("back.db", &["export"]).success(), exported);
    assert_eq!(recalled("back.db"), recalled("here.db"));
    assert_eq!(
        run("back.db", &["facts", "list"]).success(),
        run("here.db", &["facts", "list"]).success()
    );
    run("back.db", &["check"]).success();
}

#[test]
fn o06_a_copy_is_the_same_and_the_first_stays() {
    let memory = Memory::talk();
    let migrate = |args: &[&str]| memory.0.run(&[&["memory", "migrate"], args].concat());
    let report = migrate(&["memory.db", "sqlite:copy.db", "--json"]).success();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["rows"]["message"], 5);
    assert_eq!(report["to"], "sqlite:copy.db");
    let copy = memory
        .0
        .run(&["memory", "export", "--store", "copy.db"])
        .success();
    assert_eq!(copy, memory.run(&["export"]).success());
    assert_eq!(memory.json(&["stats"])["messages"], json!(5));
    let error = migrate(&["gone.db", "new.db"]).failure(1);
    assert!(error.contains("there is no store at gone.db"), "{error}");
    assert!(!memory.0.path().join("new.db").exists());
    migrate(&["memory.db"]).failure(2);
    migrate(&["memory.db", "redis://x"]).failure(2);
}

#[test]
fn x01_a_store_that_would_be_ignored_is_refused() {
    let memory = Memory::talk();
    let error = memory.run(&["migrate", "memory.db", "copy.db"]).failure(2);
    assert!(error.contains("`--store` has no effect here"), "{error}");
    assert!(!memory.0.path().join("copy.db").exists());
    let args = ["memory", "migrate", "memory.db", "copy.db"];
    let habit = [("KITBAG_STORE", "elsewhere.db")];
    memory.0.run_with(&habit, &args).success();
}
