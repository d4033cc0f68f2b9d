//! Whatever is wrong with the store, the configuration or the event, the agent goes on.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;

use super::{Project, STORE};

/// The first of two events of a session is told of a failure, and the second of nothing.
#[track_caller]
fn told_once(project: &Project, options: &[&str], what: &str) {
    let ask = |name: &str, session: &str| {
        project.event_with(
            options,
            name,
            session,
            json!({"prompt": "How do we deploy?"}),
        )
    };
    let first = ask("UserPromptSubmit", "tuesday");
    let notice = first
        .notice()
        .unwrap_or_else(|| panic!("{what}: nothing was told"));
    assert!(notice.starts_with("kitbag adds no memory: "), "{notice}");
    assert!(notice.contains(what), "{what}: {notice}");
    ask("UserPromptSubmit", "tuesday").nothing();
    ask("SessionStart", "tuesday").nothing();
    assert!(ask("UserPromptSubmit", "wednesday").notice().is_some());
}

#[test]
fn x11_a_damaged_store_is_told_once_a_session() {
    let project = Project::with_monday();
    project
        .0
        .write("memory.db", "this is no database".repeat(500));
    told_once(&project, &STORE, "memory.db");
    // Also in a session without a name.
    assert!(project.ask("", "How do we deploy?").notice().is_some());
    project.ask("", "And to staging?").nothing();
    project.say("thursday", &[("user", "hello")]);
    let reply = project.event("Stop", "thursday", json!({}));
    assert!(reply.notice().is_some());
    project.event("SessionEnd", "thursday", json!({})).nothing();
}

#[test]
fn x11_a_store_that_is_gone_is_told_once_a_session() {
    let project = Project::new();
    told_once(
        &project,
        &["--store", "sqlite:gone/memory.db"],
        "gone/memory.db",
    );
    let unreachable = "postgresql://nobody@127.0.0.1:1/none?sslmode=disable";
    let other = Project::new();
    told_once(&other, &["--store", unreachable], "127.0.0.1");
}

#[test]
fn x11_a_locked_store_is_waited_for_no_longer_than_allowed() {
    let project = Project::with_monday();
    project
        .0
        .write("kitbag.yaml", "hooks: {time_limit: 200ms}\n");
    let holder = Connection::open(project.0.path().join("memory.db")).unwrap();
    holder
        .pragma_update(None, "locking_mode", "EXCLUSIVE")
        .unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let begun = Instant::now();
    told_once(&project, &STORE, "did not answer within 0.2 s");
    // Four events, with a lot of room for a slow machine: without the limit they would wait forever.
    assert!(begun.elapsed() < Duration::from_secs(60));
    drop(holder);
    // A busy machine may need longer for all of it.
    project.0.write("kitbag.yaml", "");
    let reply = project.ask("tuesday", "How do we deploy?");
    assert!(reply.context().contains("fly.io"), "it is there again");
}

#[test]
fn x11_a_broken_configuration_is_told_and_nothing_is_kept() {
    let project = Project::with_monday();
    project
        .0
        .write("kitbag.yaml", "hooks: {scope: [everything}\n");
    told_once(&project, &STORE, "kitbag.yaml");
}

#[test]
fn x11_no_mistake_exits_with_the_code_that_stops_an_agent() {
    let project = Project::new();
    for (args, stdin) in [
        (&["hook", "--bogus"][..], "{}"),
        (&["--store", "ask", "hook", "--bogus"], "{}"),
        (&["--store=ask", "--bogus", "hook"], "{}"),
        (&["hook", "--for", "emacs"], "{}"),
        (&["hook"], ""),
        (&["hook"], "[1, 2"),
        (&["hook"], "{\"hook_event_name\": 3}"),
    ] {
        let output = project.0.run_with_stdin(args, stdin.as_bytes());
        let told = output.failure(1);
        assert!(told.starts_with("error: "), "{told}");
    }
    for args in [
        &["ask", "--bogus", "hook"][..],
        &["--store", "hook", "ask", "--bogus"],
    ] {
        project.0.run(args).failure(2);
    }
    // Events of later versions, and those that there is nothing to do for.
    for name in ["PostToolUse", "PreCompact", "SomethingNew"] {
        project
            .event(name, "tuesday", json!({"tool_name": "Bash"}))
            .nothing();
    }
    let no_transcript = json!({"transcript_path": null});
    project.event("Stop", "tuesday", no_transcript).nothing();
}

#[test]
fn x11_a_transcript_of_50_megabytes_is_kept_and_looked_through() {
    let project = Project::new();
    project.0.write("kitbag.yaml", "hooks: {time_limit: 2s}\n");
    let result = "x".repeat(1 << 20);
    for turn in 0..3 {
        let said = format!("Question {turn} about marmots");
        project.record(
            "long",
            &json!({"type": "user", "uuid": format!("u{turn}"), "parentUuid": null,
                "message": {"role": "user", "content": said}}),
        );
    }
    let mut lines = std::fs::read_to_string(project.0.path().join("long.jsonl")).unwrap();
    let line = json!({"type": "user", "uuid": "r", "parentUuid": "u2",
        "message": {"role": "user", "content": [{"type": "tool_result", "content": result}]}});
    lines += &format!("{line}\n").repeat(50);
    project.0.write("long.jsonl", lines);
    project.event("Stop", "long", json!({})).nothing();
    let exported = project.memory(&["export"]);
    assert!(exported.contains("Question 2 about marmots"), "{exported}");
    project.ask("long", "What about marmots?").nothing();
}
