//! Bringing messages in: what is kept, exactly, whatever happens.

use serde_json::json;

use super::{Memory, lines, talk};
use crate::run::Folder;

#[test]
fn o06_the_same_file_adds_nothing_the_second_time() {
    let memory = Memory::new();
    let first = memory.import(&talk());
    assert_eq!(first.stderr, "imported 5 messages\n");
    assert_eq!(first.success(), "");
    let second = memory.import(&talk());
    assert_eq!(second.stderr, "imported 0 messages, 5 already known\n");
    let with_json = ["import", "-", "--json"];
    let told = memory.run_with_stdin(&with_json, lines(&talk()).as_bytes());
    let told: serde_json::Value = serde_json::from_str(&told.success()).unwrap();
    assert_eq!((&told["messages"], &told["known"]), (&json!(0), &json!(5)));
}

#[test]
fn x01_a_large_import_ends_with_a_compact_file_unless_most_of_it_is_older() {
    let memory = Memory::new();
    let import = |tenant: &str, count: usize| {
        let line = |n: usize| format!("{{\"sender\": \"s{}\", \"text\": \"word{n}\"}}\n", n % 40);
        let lines: String = (0..count).map(line).collect();
        let args = ["--tenant", tenant, "import", "-"];
        let told = memory.run_with_stdin(&args, lines.as_bytes());
        assert!(told.stderr.starts_with("imported "), "{told:?}");
        told.success();
    };
    let size = || memory.json(&["stats"])["file_bytes"].as_u64().unwrap();
    let is_compact = || {
        let before = size();
        memory.run(&["vacuum"]).success();
        size() == before
    };
    import("main", 10_000);
    assert_eq!(memory.json(&["stats"])["messages"], 10_000);
    assert!(is_compact());
    memory.run(&["check"]).success();
    // Less than half of the file, though all of its tenant.
    import("main", 10_100);
    import("other", 10_000);
    assert!(!is_compact());
}

#[test]
fn o06_a_bad_line_keeps_all_before_it_and_names_itself() {
    for (bad, named) in [
        ("{\"text\": 3}", "line 7: invalid type"),
        (
            "nonsense",
            "line 7: expected a JSON object, found `nonsense`",
        ),
        ("{\"text\": \"x\", \"at\": \"soon\"}", "line 7: `at` is"),
        (
            "{\"text\": \"x\", \"role\": \"king\"}",
            "line 7: unknown variant `king`",
        ),
        (
            "{\"text\": \"x\", \"speaker\": \"\\u0007\"}",
            "line 7: the speaker has a control character",
        ),
        (
            "{\"text\": \"x\", \"conversation\": \"\\u0000\"}",
            "line 7: the conversation has a control",
        ),
        ("{\"text\": \"x\", \"at\": 1e300}", "line 7: `at` is 1e+300"),
    ] {
        let memory = Memory::new();
        let file = format!("{}\n{bad}\n{{\"text\": \"after\"}}\n", lines(&talk()));
        memory.0.write("talk.jsonl", &file);
        let error = memory.run(&["import", "talk.jsonl", "--strict"]).failure(1);
        assert!(error.contains(named), "{bad}: {error}");
        assert!(
            error.contains("; 5 messages before it were imported"),
            "{error}"
        );
        assert_eq!(memory.references("Biscuit the puppy")[0], "m1");
        assert_eq!(memory.references("after").len(), 0);

        let error = memory.run(&["import", "talk.jsonl", "--atomic"]).failure(1);
        assert!(
            error.contains(named) && error.contains("; nothing was imported"),
            "{error}"
        );
        let memory = Memory::new();
        memory.0.write("talk.jsonl", &file);
        memory.run(&["import", "talk.jsonl", "--atomic"]).failure(1);
        assert_eq!(memory.json(&["stats"])["messages"], 0);
    }
}

#[test]
fn o06_a_bad_record_is_skipped_and_named_and_the_rest_is_kept() {
    let memory = Memory::new();
    let file = format!(
        "{}nonsense\n{{\"text\": \"x\", \"speaker\": \"\\u0007\"}}\n{{\"text\": \"after\", \"ref\": \"a\"}}\n",
        lines(&talk())
    );
    memory.0.write("talk.jsonl", &file);
    let told = memory.run(&["import", "talk.jsonl"]);
    assert_eq!(
        told.stderr,
        "skipped line 6: expected a JSON object, found `nonsense`\n\
         skipped line 7: the speaker has a control character, \\u{7}\n\
         imported 6 messages\nskipped 2 bad records; `--strict` stops at the first\n"
    );
    assert_eq!(told.success(), "");
    let report = memory.json(&["import", "talk.jsonl"]);
    assert_eq!(
        (&report["known"], &report["skipped"]["count"]),
        (&json!(6), &json!(2))
    );
    assert!(
        report["skipped"]["named"][1]
            .as_str()
            .unwrap()
            .starts_with("line 7: the speaker")
    );
    // A file without a single good record is no import.
    let error = memory
        .run_with_stdin(&["import", "-"], b"what\nis this\n")
        .failure(1);
    assert!(
        error
            .contains("error: the file has no usable record (2 bad records); nothing was imported"),
        "{error}"
    );
}

#[test]
fn x04_metadata_comes_along_and_is_found_by_its_value() {
    let said = [
        json!({"sender": "ann", "text": "bees swarm in May", "ref": "a", "metadata": {"topic": "bees", "run_id": "r7", "page": {"n": 3}}}),
        json!({"sender": "ann", "text": "bees sleep in winter", "ref": "b", "metadata": {"topic": "winter"}}),
    ];
    let memory = Memory::of(&said);
    for (key, found) in [
        ("topic=bees", "a"),
        ("run_id=r7", "a"),
        ("page.n=3", "a"),
        ("topic=winter", "b"),
    ] {
        let ranked = memory.json(&["recall", "bees", "--where", key]);
        let ranked = ranked["ranked"].as_array().unwrap();
        assert_eq!(
            (ranked.len(), &ranked[0]["ref"]),
            (1, &json!(found)),
            "{key}"
        );
    }
    let exported = memory.run(&["export"]).success();
    let first: serde_json::Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(first["metadata"], said[0]["metadata"]);
    let other = Memory::new();
    other
        .run_with_stdin(&["import", "-"], exported.as_bytes())
        .success();
    assert_eq!(other.run(&["export"]).success(), exported);
    let secret = [json!({"text": "x", "metadata": {"login": "password: hunter2-correct-horse"}})];
    let exported = Memory::of(&secret).run(&["export"]).success();
    assert!(!exported.contains("hunter2"), "{exported}");
}

#[test]
fn x01_a_broken_configuration_is_an_error() {
    let memory = Memory::new();
    memory.0.write("kitbag.yaml", "memory: {secrets: [keep\n");
    let error = memory.import(&talk()).failure(1);
    assert!(error.contains("kitbag.yaml"), "{error}");
    assert!(
        error.contains("error: nothing was imported: the configuration has errors"),
        "{error}"
    );
    assert!(!memory.0.path().join("memory.db").exists());
}

#[test]
fn o06_many_lines_are_kept_up_to_the_bad_one() {
    let memory = Memory::new();
    let message = |number: u32| json!({"ref": number, "conversation": "long", "text": format!("message {number}")});
    let mut messages: Vec<_> = (1..=9_000).map(message).collect();
    messages[8_500]["speaker"] = json!("\u{1b}");
    let args = ["import", "-", "--strict"];
    let error = memory.run_with_stdin(&args, lines(&messages).as_bytes());
    let error = error.failure(1);
    assert!(error.contains("line 8501 (`8501`): the speaker"), "{error}");
    assert!(
        error.contains("; 8,500 messages before it were imported"),
        "{error}"
    );
    assert_eq!(memory.json(&["stats"])["messages"], 8_500);
}

#[test]
fn o06_exports_of_chats_are_recognised() {
    let memory = Memory::new();
    let claude = json!([{"uuid": "c1", "name": "Dog", "chat_messages": [
        {"uuid": "a", "sender": "human", "text": "my puppy is called Biscuit", "created_at": "2024-05-08T13:56:00Z"},
        {"uuid": "b", "sender": "assistant", "text": "What a name", "created_at": "2024-05-08T13:57:00Z"}]}]);
    memory.0.write("claude.json", claude.to_string());
    let output = memory.run(&["import", "claude.json", "--sender", "ann"]);
    let read = "read: 1 conversation, 1 title, 1 message by a user, 1 message by an assistant\n";
    assert_eq!(output.stderr, format!("imported 2 messages\n{read}"));
    let node = |parent: &str, role: &str, text: &str| {
        json!({"parent": parent, "message": {"id": text, "author": {"role": role},
            "create_time": 1_715_176_560.0, "content": {"content_type": "text", "parts": [text]}}})
    };
    let chatgpt = json!([{"title": "Trip", "id": "t1", "current_node": "n2", "mapping": {
        "n1": node("", "user", "we fly to Lisbon"), "n2": node("n1", "assistant", "have fun")}}]);
    memory.0.write("chatgpt.json", chatgpt.to_string());
    let import = [
        "import",
        "chatgpt.json",
        "--format",
        "chatgpt",
        "--sender",
        "ann",
        "--channel",
        "web",
    ];
    let told = memory.run(&import).stderr;
    assert_eq!(told, format!("imported 2 messages\n{read}"));
    let told = memory.run(&import).stderr;
    assert_eq!(
        told,
        format!("imported 0 messages, 2 already known\n{read}")
    );
    let found = memory.json(&["recall", "Lisbon", "--channel", "web"]);
    assert_eq!(found["ranked"][0]["text"], "we fly to Lisbon");
    let found = memory.json(&["recall", "Biscuit", "--channel", "claude"]);
    assert_eq!(found["ranked"][0]["speaker"], json!(null));
}

#[test]
fn x01_what_is_no_import_is_refused() {
    let memory = Memory::new();
    assert_eq!(
        memory.run_with_stdin(&["import", "-"], b"").stderr,
        "imported 0 messages\n"
    );
    assert_eq!(
        memory
            .run_with_stdin(&["import", "-"], b"\xef\xbb\xbf\r\n\r\n")
            .stderr,
        "imported 0 messages\n"
    );
    let error = memory
        .run_with_stdin(&["import", "-"], b"[1, 2]")
        .failure(1);
    assert!(
        error.contains("no conversation") && error.contains("hint: "),
        "{error}"
    );
    let error = memory.run(&["import", "gone.jsonl"]).failure(1);
    assert!(error.contains("cannot read gone.jsonl"), "{error}");
    let error = memory.run(&["import", "."]).failure(1);
    assert!(error.contains("cannot read .: "), "{error}");
    memory.run(&["import"]).failure(2);
    memory.run(&["import", "-", "--format", "xml"]).failure(2);
    let bytes = memory
        .run_with_stdin(&["import", "-"], b"{\"text\": \"\xff\xfe\"}\n")
        .failure(1);
    assert!(bytes.contains("line 1: "), "{bytes}");
}

#[test]
fn x01_what_would_be_kept_twice_is_told() {
    let memory = Memory::new();
    let talk = [json!({"text": "hello", "ref": "a"}), json!({"text": "bye"})];
    let told = memory.import(&talk).stderr;
    let again = "would be stored again by another import of this file";
    let expected = format!("imported 2 messages\none of them has no `ref`, and {again}\n");
    assert_eq!(told, expected);
    let told = memory.import(&talk).stderr;
    assert!(
        told.starts_with("imported 1 message, 1 already known\none of them has no `ref`"),
        "{told}"
    );
    assert_eq!(memory.json(&["stats"])["messages"], 3);
}

#[test]
fn x01_a_time_that_is_none_is_told_with_what_is_expected() {
    let memory = Memory::new();
    for at in ["1715176560000", "-1715176560000", "1e300"] {
        let line = format!("{{\"text\": \"x\", \"at\": {at}}}");
        let error = memory
            .run_with_stdin(&["import", "-"], line.as_bytes())
            .failure(1);
        assert!(
            error.contains("expected seconds since 1970, not milliseconds"),
            "{error}"
        );
    }
    let line = b"{\"text\": \"x\", \"at\": 1715176560.25}";
    memory.run_with_stdin(&["import", "-"], line).success();
    let list = memory.json(&["history"]);
    assert_eq!(list["conversations"][0]["began"], "2024-05-08T13:56:00.25Z");
}

#[cfg(unix)]
#[test]
fn x01_an_interrupted_import_says_what_is_kept() {
    use std::io::Write as _;
    use std::process::Command;

    let memory = Memory::new();
    let message = |number: u32| json!({"ref": number, "text": format!("message {number}")});
    let messages: Vec<_> = (0..16_484).map(message).collect();
    let mut import = memory
        .0
        .command(&["--store", "memory.db", "memory", "import", "-"])
        .spawn()
        .unwrap();
    let mut stdin = import.stdin.take().unwrap();
    stdin.write_all(lines(&messages).as_bytes()).unwrap();
    stdin.flush().unwrap();
    // The rest waits for more that could go with it.
    let kept = || {
        let stats = memory.run(&["stats", "--json"]).stdout;
        let stats: serde_json::Value = serde_json::from_str(&stats).unwrap_or_default();
        stats["messages"] == 16_384
    };
    let begun = std::time::Instant::now();
    while !kept() {
        assert_eq!(import.try_wait().unwrap(), None);
        assert!(begun.elapsed().as_secs() < 60, "no batch was stored");
    }
    let id = import.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = import.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(130));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.starts_with("error: interrupted; 16,384 messages were imported\nhint: "),
        "{told}"
    );
}

#[test]
fn x01_a_message_of_100_megabytes_is_refused_in_words() {
    let memory = Memory::new();
    let text = "long ".repeat(20 << 20);
    let file = format!("{{\"text\": \"short\"}}\n{{\"ref\": \"long\", \"text\": \"{text}\"}}\n");
    memory.0.write("long.jsonl", file);
    let error = memory.run(&["import", "long.jsonl", "--strict"]).failure(1);
    assert!(
        error.contains("line 2 (`long`): the message has 104857600 bytes"),
        "{error}"
    );
    assert!(
        error.contains("; 1 message before it was imported"),
        "{error}"
    );
}

#[test]
fn x01_a_store_that_is_none_is_named() {
    let folder = Folder::new();
    folder.write(
        "notes.db",
        "these are my notes, and no database at all ".repeat(100),
    );
    let import = |store: &str| {
        let args = ["memory", "import", "-", "--store", store];
        folder.run_with_stdin(&args, b"{\"text\": \"x\"}")
    };
    let error = import("notes.db").failure(1);
    assert!(
        error.contains("notes.db is not a store of Kitbag"),
        "{error}"
    );
    assert!(error.contains("hint: "), "{error}");
    let error = import("mysql://host/db").failure(2);
    assert!(
        error.contains("`mysql://host/db` is not the location of a store"),
        "{error}"
    );
    let error = import("postgresql://ann:secret@127.0.0.1:1/agents").failure(1);
    assert!(
        error.contains("cannot connect to PostgreSQL at 127.0.0.1, port 1"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
    let error = import("notes.db/memory.db").failure(1);
    assert!(
        error.contains("cannot open the store notes.db/memory.db"),
        "{error}"
    );
    let args = [
        "memory", "import", "-", "--store", "m.db", "--tenant", "a b",
    ];
    let error = folder.run(&args).failure(2);
    assert!(error.contains("the tenant `a b`"), "{error}");
}

#[test]
fn o06_the_store_is_named_by_a_variable_or_by_habit() {
    let folder = Folder::new();
    let home = folder.path().to_str().unwrap();
    let stats = |variables: &[(&str, &str)]| {
        let output = folder.run_with(variables, &["memory", "stats", "--json"]);
        let stats: serde_json::Value = serde_json::from_str(&output.success()).unwrap();
        stats["messages"].clone()
    };
    folder.write("one.jsonl", "{\"text\": \"one\"}");
    folder.write("two.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}");
    let habit = [("XDG_DATA_HOME", home), ("HOME", home)];
    folder
        .run_with(&habit, &["memory", "import", "one.jsonl"])
        .success();
    assert!(folder.path().join("kitbag/memory.db").exists());
    let variable = [("KITBAG_STORE", "named.db"), ("XDG_DATA_HOME", home)];
    folder
        .run_with(&variable, &["memory", "import", "two.jsonl"])
        .success();
    assert_eq!((stats(&habit), stats(&variable)), (json!(1), json!(2)));
    let tenant = [("KITBAG_STORE", "named.db"), ("KITBAG_TENANT", "other")];
    assert_eq!(stats(&tenant), json!(0));
}

#[test]
fn x04_what_was_forgotten_is_counted_and_comes_back_when_asked_for() {
    let said = [json!({"sender": "ann", "conversation": "c", "ref": "m1", "text": "hello"})];
    let memory = Memory::of(&said);
    memory
        .run(&["forget", "--message", "1.1#1", "--yes"])
        .success();
    let told = memory.import(&said);
    assert_eq!(
        told.stderr,
        "imported 0 messages, 1 forgotten and left out (`--forgotten` imports them)\n"
    );
    let lines = said[0].to_string();
    let told = memory.run_with_stdin(&["import", "-", "--forgotten"], lines.as_bytes());
    assert_eq!(told.stderr, "imported 1 message\n");
}
