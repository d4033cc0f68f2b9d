//! Transcripts as agents write them, and as they get damaged.

use std::fmt::Write as _;

use super::*;

fn read(text: &str) -> Transcript {
    Transcript::read(text.as_bytes(), Path::new("/app")).unwrap()
}

fn shown(transcript: &Transcript) -> Vec<String> {
    let entries = transcript.entries.iter();
    entries
        .map(|entry| {
            format!(
                "{} {}: {}",
                entry.reference,
                entry.role.as_str(),
                entry.text
            )
        })
        .collect()
}

/// A line of Claude Code's, with further fields.
fn line(uuid: &str, parent: &str, kind: &str, content: &str, more: &str) -> String {
    let parent = match parent {
        "" => "null".to_owned(),
        parent => format!("\"{parent}\""),
    };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","uuid":"{uuid}","timestamp":"2026-11-18T13:39:10.089Z","message":{{"role":"{kind}","content":{content}}}{more}}}"#
    ) + "\n"
}

#[test]
fn x11_words_and_deeds_are_read_and_nothing_that_was_put_into_mouths() {
    let mut text = String::new();
    text += r#"{"type":"queue-operation","operation":"enqueue","content":"How do we deploy?"}"#;
    text += "\n";
    text += &line("u1", "", "user", r#""How do we deploy?""#, "");
    text += r#"{"parentUuid":"u1","isSidechain":false,"type":"attachment","uuid":"h1","attachment":{"type":"hook_additional_context","content":["<kitbag-memory>\n- [1.1#1] x\n</kitbag-memory>"]}}"#;
    text += "\n";
    text += &line(
        "s1",
        "h1",
        "assistant",
        r#"[{"type":"text","text":"A helper's words"}]"#,
        "",
    )
    .replace("\"isSidechain\":false", "\"isSidechain\":true");
    text += &line(
        "a1",
        "h1",
        "assistant",
        r#"[{"type":"thinking","thinking":"hm"},{"type":"text","text":"With fly.io."}]"#,
        "",
    );
    text += &line(
        "a2",
        "a1",
        "assistant",
        r#"[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/app/src/a.rs","old_string":"x"}}]"#,
        "",
    );
    text += &line(
        "r1",
        "a2",
        "user",
        r#"[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]"#,
        "",
    );
    text += &line(
        "a3",
        "r1",
        "assistant",
        r#"[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"cargo test\nls"}},{"type":"tool_use","id":"t3","name":"Read","input":{"file_path":"/app/b.rs"}}]"#,
        "",
    );
    text += &line(
        "m1",
        "a3",
        "user",
        r#""Caveat: not said""#,
        r#","isMeta":true"#,
    );
    text += &line(
        "m2",
        "m1",
        "user",
        r#""<command-name>/clear</command-name>""#,
        "",
    );
    text += &line(
        "u2",
        "m2",
        "user",
        r#"[{"type":"text","text":"Thanks <kitbag-memory>\n- [1.1#1] x\n</kitbag-memory>!"}]"#,
        "",
    );
    let transcript = read(&text);
    assert_eq!(
        shown(&transcript),
        [
            "u1 user: How do we deploy?",
            "a1 assistant: With fly.io.",
            "a2 assistant: Changed src/a.rs. Ran: cargo test.",
            "u2 user: Thanks !",
        ]
    );
    let at = transcript.entries[0].at.unwrap();
    assert_eq!(at.timestamp().to_string(), "2026-11-18T13:39:10.089Z");
    assert_eq!(transcript.broken, 0);
}

#[test]
fn x11_of_a_tree_the_branch_counts_that_ends_last() {
    let text = [
        line("u1", "", "user", r#""first""#, ""),
        line(
            "a1",
            "u1",
            "assistant",
            r#"[{"type":"text","text":"one"}]"#,
            "",
        ),
        line("u2", "a1", "user", r#""taken back""#, ""),
        line(
            "a2",
            "u2",
            "assistant",
            r#"[{"type":"text","text":"gone"}]"#,
            "",
        ),
        line("u3", "a1", "user", r#""instead""#, ""),
    ];
    let expected = ["u1 user: first", "a1 assistant: one", "u3 user: instead"];
    assert_eq!(shown(&read(&text.concat())), expected);
    // A circle ends.
    let circle = [
        line("u1", "u2", "user", r#""first""#, ""),
        line("u2", "u1", "user", r#""second""#, ""),
    ];
    assert_eq!(read(&circle.concat()).entries.len(), 2);
}

#[test]
fn x11_parallel_calls_of_one_answer_are_all_told() {
    let call = |uuid: &str, parent: &str, file: &str| {
        let content = format!(
            r#"[{{"type":"tool_use","name":"Write","input":{{"file_path":"/app/{file}"}}}}]"#
        );
        line(uuid, parent, "assistant", &content, "")
            .replace("\"role\":", "\"id\":\"msg_1\",\"role\":")
    };
    let text = [
        line("u1", "", "user", r#""write both""#, ""),
        call("a1", "u1", "one"),
        call("a2", "a1", "two"),
        line(
            "r1",
            "a1",
            "user",
            r#"[{"type":"tool_result","content":"ok"}]"#,
            "",
        ),
    ];
    let expected = ["u1 user: write both", "a1 assistant: Changed one, two."];
    assert_eq!(shown(&read(&text.concat())), expected);
}

#[test]
fn x11_broken_lines_lose_only_themselves() {
    let text = [
        line("u1", "", "user", r#""first""#, ""),
        "{\"parentUuid\":\"u1\",\"type\":\"assis\n".to_owned(),
        "\n".to_owned(),
        line("u2", "a1", "user", r#""second""#, ""),
        "\u{0}\u{1}garbage".to_owned(),
    ];
    let transcript = read(&text.concat());
    assert_eq!(shown(&transcript), ["u1 user: first", "u2 user: second"]);
    assert_eq!(transcript.broken, 2);
    assert_eq!(read("").entries, []);
}

#[test]
fn x11_what_was_said_before_a_compaction_is_kept_and_its_summary_is_not() {
    let text = [
        line("u1", "", "user", r#""first""#, ""),
        "{\"parentUuid\":null,\"logicalParentUuid\":\"u1\",\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"c1\"}\n".to_owned(),
        line("c2", "c1", "user", r#""This session is being continued""#, r#","isCompactSummary":true"#),
        line("u2", "c2", "user", r#""second""#, ""),
    ];
    let expected = ["u1 user: first", "u2 user: second"];
    assert_eq!(shown(&read(&text.concat())), expected);
}

#[test]
fn x11_codex_lines_are_read_without_what_codex_added() {
    let text = r#"{"timestamp":"2026-11-18T10:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/app"}}
{"timestamp":"2026-11-18T10:00:01Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"<kitbag-memory>"}]}}
{"timestamp":"2026-11-18T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}}
{"timestamp":"2026-11-18T10:00:02Z","type":"event_msg","payload":{"type":"user_message","message":"rename it","images":[]}}
{"timestamp":"2026-11-18T10:00:03Z","type":"response_item","payload":{"type":"reasoning","summary":[]}}
{"timestamp":"2026-11-18T10:00:04Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cargo check\"}"}}
{"timestamp":"2026-11-18T10:00:04Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}"}}
{"timestamp":"2026-11-18T10:00:05Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** Add File: /app/b.rs\n*** End Patch"}}
{"timestamp":"2026-11-18T10:00:06Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Renamed."}]}}
"#;
    assert_eq!(
        shown(&read(text)),
        [
            "line-4 user: rename it",
            "line-9 assistant: Renamed.",
            "line-6 assistant: Changed src/a.rs, b.rs. Ran: cargo check; ls.",
        ]
    );
}

#[test]
fn x11_what_people_say_to_later_versions_of_codex_is_read() {
    let text = r#"{"timestamp":"2026-11-19T01:30:51Z","ordinal":7,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"We deploy with fly.io."}]}}
{"timestamp":"2026-11-19T01:30:51Z","ordinal":8,"type":"event_msg","payload":{"type":"item_completed","turn_id":"t","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"We deploy with fly.io.","text_elements":[]}]}}}
{"timestamp":"2026-11-19T01:30:52Z","ordinal":9,"type":"event_msg","payload":{"type":"item_completed","turn_id":"t","item":{"type":"AgentMessage","id":"m","content":[{"type":"Text","text":"Noted."}]}}}
{"timestamp":"2026-11-19T01:30:52Z","ordinal":10,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Noted."}]}}
"#;
    assert_eq!(
        shown(&read(text)),
        [
            "line-2 user: We deploy with fly.io.",
            "line-4 assistant: Noted."
        ]
    );
}

#[test]
fn x11_a_transcript_of_50_megabytes_is_read_line_by_line() {
    let result = "x".repeat(1 << 20);
    let mut text = String::new();
    for turn in 0..50 {
        let parent = match turn {
            0 => String::new(),
            _ => format!("r{}", turn - 1),
        };
        text += &line(
            &format!("u{turn}"),
            &parent,
            "user",
            &format!("\"question {turn}\""),
            "",
        );
        let content = format!(r#"[{{"type":"tool_result","content":"{result}"}}]"#);
        text += &line(
            &format!("r{turn}"),
            &format!("u{turn}"),
            "user",
            &content,
            "",
        );
        writeln!(
            text,
            r#"{{"type":"file-history-snapshot","messageId":"{turn}"}}"#
        )
        .unwrap();
    }
    assert!(text.len() > 50 << 20);
    assert_eq!(read(&text).entries.len(), 50);
}

#[test]
fn x11_a_secret_across_the_end_of_a_command_is_masked() {
    let token = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
    for blanks in 80..120 {
        let command = format!("echo {} {token}", "x".repeat(blanks));
        let done = Actions::ran(&command).to_string();
        assert!(!done.contains("ghp_"), "{done}");
    }
}
