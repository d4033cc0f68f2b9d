//! Exports of ChatGPT and Claude as they are downloaded: what is kept, converted and left out.

use serde_json::{Value, json};

use super::Memory;

/// An archive of files that are stored as they are.
fn archive(files: &[(&str, String)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        archive.extend(*b"PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00");
        archive.extend(crc(content.as_bytes()).to_le_bytes());
        archive.extend([length, length].concat());
        archive.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        archive.extend([0, 0]);
        archive.extend(name.as_bytes());
        archive.extend(content.as_bytes());
    }
    archive.extend(*b"PK\x05\x06");
    archive.extend([0; 18]);
    archive
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| match crc & 1 {
        1 => (crc >> 1) ^ 0xEDB8_8320,
        _ => crc >> 1,
    };
    !bytes
        .iter()
        .fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

fn chatgpt() -> Value {
    let message = |id: &str, role: &str, to: &str, text: &str| {
        json!({"id": id, "author": {"role": role}, "recipient": to, "create_time": 1_715_176_560.0,
            "content": {"content_type": "text", "parts": [text]}, "metadata": {}})
    };
    let mut instructions = message("i", "user", "all", "");
    instructions["content"] =
        json!({"content_type": "user_editable_context", "user_profile": "I bake"});
    let mut thought = message("t", "assistant", "all", "");
    thought["content"] = json!({"content_type": "thoughts", "thoughts": []});
    let mut page = message("p", "tool", "all", "");
    page["content"] = json!({"content_type": "tether_browsing_display", "result": "zebra page"});
    let canvas = json!({"name": "Bread plan", "type": "document", "content": "Knead the dough."})
        .to_string();
    let change = json!({"updates": [{"pattern": ".*", "multiple": false, "replacement": "Rest the sourdough overnight."}]});
    let messages = [
        message("s", "system", "all", ""),
        instructions,
        message(
            "q",
            "user",
            "all",
            "How do I bake bread? I only have rye flour.",
        ),
        thought,
        message("b", "assistant", "bio", "User only has rye flour."),
        message("br", "tool", "all", "Model set context updated."),
        message("w", "assistant", "web.run", "search"),
        page,
        message("c", "assistant", "canmore.create_textdoc", &canvas),
        message(
            "u",
            "assistant",
            "canmore.update_textdoc",
            &change.to_string(),
        ),
        message("a", "assistant", "all", "The plan is in the canvas."),
    ];
    let mut mapping = json!({"other": {"parent": "n2", "message": message("o", "assistant", "all", "an abandoned answer")}});
    for (index, message) in messages.iter().enumerate() {
        let parent = index.checked_sub(1).map(|before| format!("n{before}"));
        mapping[format!("n{index}")] = json!({"message": message, "parent": parent});
    }
    json!([{"title": "Rye bread", "conversation_id": "g1", "current_node": "n10", "mapping": mapping}])
}

fn claude() -> Value {
    let message = |id: &str, sender: &str, content: Value| json!({"uuid": id, "sender": sender, "text": "", "created_at": "2025-02-01T10:00:00Z", "content": content});
    let mut asked = message(
        "h1",
        "human",
        json!([{"type": "text", "text": "Draw up my garden"}]),
    );
    asked["attachments"] =
        json!([{"file_name": "beds.txt", "extracted_content": "three raised beds"}]);
    let made = message(
        "h2",
        "assistant",
        json!([
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "name": "artifacts", "input": {"id": "g", "title": "Garden", "command": "create", "content": "leeks"}},
        {"type": "tool_result", "content": []},
        {"type": "tool_use", "name": "artifacts", "input": {"id": "g", "command": "rewrite", "content": "leeks and chard"}},
        {"type": "text", "text": "Here it is."}]),
    );
    json!([{"uuid": "l1", "name": "Garden plan", "summary": "Ann planned three beds.", "chat_messages": [asked, made]}])
}

/// The counts that are not zero.
fn counts(report: &Value) -> Value {
    let mut counts = json!({});
    for fate in ["read", "converted", "left_out"] {
        let all = report[fate].as_object().unwrap();
        let met = all.iter().filter(|(_, count)| **count != json!(0));
        counts[fate] = met
            .map(|(kind, count)| (kind.clone(), count.clone()))
            .collect();
    }
    counts
}

#[test]
fn o06_a_chatgpt_export_is_counted_by_kind_and_kept_once() {
    let memory = Memory::new();
    let files = [
        ("user.json", "{}".to_owned()),
        ("conversations.json", chatgpt().to_string()),
        ("chat.html", "<p>".to_owned()),
    ];
    memory.0.write("chatgpt.zip", archive(&files));
    let import = ["import", "chatgpt.zip", "--sender", "ann"];
    let report = memory.json(&import);
    assert_eq!(
        counts(&report),
        json!({
            "read": {"conversations": 1, "titles": 1, "user_messages": 1, "assistant_messages": 2},
            "converted": {"documents": 1, "memories": 1},
            "left_out": {"branches": 1, "hidden": 1, "instructions": 1, "thoughts": 1, "tool_calls": 1, "tool_results": 2,
                "older_versions": 1, "files": 2},
        })
    );
    assert_eq!(
        (&report["messages"], &report["facts"]),
        (&json!(3), &json!(1))
    );
    let list = memory.run(&["history"]).success();
    assert!(list.contains("Rye bread"), "{list}");
    assert_eq!(
        memory.json(&["history"])["conversations"][0]["title"],
        "Rye bread"
    );
    let facts = memory.json(&["facts", "list"]);
    let fact = facts["facts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|fact| fact["key"] == "memory/only-has-rye-flour");
    assert_eq!(fact.unwrap()["value"], "User only has rye flour.");
    let source = fact.unwrap()["source"].as_str().unwrap();
    assert!(
        memory
            .run(&["history", source])
            .success()
            .contains("I only have rye flour")
    );
    assert_eq!(memory.references("sourdough overnight")[0], "c");
    assert_eq!(memory.references("zebra page").len(), 0);
    let again = memory.run(&import);
    assert_eq!(
        again.stderr.lines().next(),
        Some("imported 0 messages, 3 already known")
    );
    assert_eq!(memory.json(&import)["facts"], 0);
}

#[test]
fn o06_a_later_memory_of_a_service_replaces_an_earlier_one_and_names_the_service() {
    let memory = Memory::new();
    let message = |id: &str, role: &str, to: &str, at: f64, text: &str| {
        json!({"id": id, "author": {"role": role}, "recipient": to, "create_time": at,
            "content": {"content_type": "text", "parts": [text]}, "metadata": {}})
    };
    let messages = [
        message("a", "user", "all", 1_715_176_560.0, "Berlin is my place."),
        message(
            "b",
            "assistant",
            "bio",
            1_715_176_561.0,
            "User lives in Berlin.",
        ),
        message(
            "c",
            "user",
            "all",
            1_717_854_960.0,
            "Hamburg it is, since May.",
        ),
        message(
            "d",
            "assistant",
            "bio",
            1_717_854_961.0,
            "User moved to Hamburg.",
        ),
    ];
    let mut mapping = json!({});
    for (index, message) in messages.iter().enumerate() {
        let parent = index.checked_sub(1).map(|before| format!("n{before}"));
        mapping[format!("n{index}")] = json!({"message": message, "parent": parent});
    }
    let export = json!([{"title": "Home", "conversation_id": "g", "current_node": "n3", "mapping": mapping}]);
    memory.0.write("conversations.json", export.to_string());
    memory
        .run(&["import", "conversations.json", "--sender", "ann"])
        .success();
    let found = memory
        .run(&["recall", "Where do I live?", "--sender", "ann"])
        .success();
    let first = found.lines().next().unwrap();
    assert!(
        first.starts_with("home: Hamburg (from ChatGPT's memory of 2024-06-08, "),
        "{found}"
    );
    assert!(!found.contains("Berlin ("), "{found}");
    let json = memory.json(&["recall", "Where do I live?", "--sender", "ann"]);
    assert_eq!(json["facts"][0]["remembered_by"], "ChatGPT");
    assert_eq!(json["facts"][0]["said_by"], Value::Null);
}

#[test]
fn o06_a_claude_export_is_counted_by_kind_and_goes_round() {
    let memory = Memory::new();
    let remembered =
        json!([{"conversations_memory": "Ann keeps a garden.", "project_memories": {}}]);
    let files = [
        ("users.json", "[]".to_owned()),
        ("projects.json", "[]".to_owned()),
        ("memories.json", remembered.to_string()),
        ("conversations.json", claude().to_string()),
    ];
    memory.0.write("claude.zip", archive(&files));
    let import = ["import", "claude.zip", "--sender", "ann"];
    let report = memory.json(&import);
    assert_eq!(
        counts(&report),
        json!({
            "read": {"conversations": 2, "titles": 2, "summaries": 1, "user_messages": 1, "assistant_messages": 3},
            "converted": {"documents": 1, "file_names": 1, "file_texts": 1, "memory_texts": 1},
            "left_out": {"thoughts": 1, "tool_results": 1, "older_versions": 1, "files": 2},
        })
    );
    assert_eq!(
        (&report["messages"], &report["summaries"]),
        (&json!(4), &json!(1))
    );
    let summaries = memory.run(&["summaries"]).success();
    assert!(summaries.contains("Ann planned three beds."), "{summaries}");
    assert_eq!(memory.references("chard")[0], "h2/g");
    assert_eq!(memory.references("raised beds")[0], "h1");

    let exported = memory.run(&["export"]).success();
    let other = Memory::new();
    other
        .run_with_stdin(&["import", "-"], exported.as_bytes())
        .success();
    assert_eq!(other.run(&["export"]).success(), exported);
    let titles = |memory: &Memory| {
        let list = memory.json(&["history"]);
        let list = list["conversations"].as_array().unwrap().clone();
        let titles: Vec<Value> = list.iter().map(|one| one["title"].clone()).collect();
        titles
    };
    assert_eq!(titles(&other), titles(&memory));
}

#[test]
fn o06_the_report_says_what_became_of_records() {
    let memory = Memory::new();
    memory.0.write("claude.json", claude().to_string());
    insta::assert_snapshot!(memory.run(&["import", "claude.json"]).stderr, @r"
    imported 3 messages
    read: 1 conversation, 1 title, 1 summary, 1 message by a user, 2 messages by assistants
    converted: 1 document into a message, 1 attached text into its message, 1 picture or file into its name
    left out: 1 thought of the model, 1 tool result, 1 older version of a document
    ");
}

#[test]
fn x01_an_archive_that_is_cut_off_keeps_what_came_before() {
    let memory = Memory::new();
    let two = json!([claude()[0], {"uuid": "l2", "chat_messages": [{"sender": "human", "text": "the second one"}]}]);
    let archive = archive(&[("conversations.json", two.to_string())]);
    memory.0.write("cut.zip", &archive[..archive.len() - 60]);
    let error = memory.run(&["import", "cut.zip"]).failure(1);
    assert!(error.contains("conversations.json: record 2: the file ends in the middle of it; 3 messages before it were imported"), "{error}");
    assert!(error.contains("hint: download the file again"), "{error}");
    assert_eq!(memory.json(&["stats"])["messages"], 3);
}

#[test]
fn x01_an_archive_without_conversations_is_refused_by_what_it_holds() {
    let memory = Memory::new();
    let text = |text: &str| text.to_owned();
    let photos = ["1.png", "2.png", "3.png", "4.png", "5.png"].map(|name| (name, text("x")));
    let hidden = json!([{"title": "x", "mapping": {"a": {"id": "a", "message": {"id": "a",
        "author": {"role": "system"}, "content": {"content_type": "text", "parts": ["be kind"]}}}}}]);
    let empty = [("conversations.json", text("[]"))];
    let both = [empty[0].clone(), ("user.json", text("{}"))];
    let cases: [(&[(&str, String)], &str); 6] = [
        (&[], "it has no files"),
        (
            &photos,
            "it has `1.png`, `2.png`, `3.png` and 2 other files",
        ),
        (
            &[("conversations.json", String::new())],
            "there is no message in `conversations.json`",
        ),
        (&empty, "there is no message in `conversations.json`"),
        (
            &both,
            "there is no message in `conversations.json`, and it has `user.json` besides",
        ),
        (
            &[("conversations.json", hidden.to_string())],
            "there is no message in `conversations.json`",
        ),
    ];
    for (files, found) in cases {
        memory.0.write("empty.zip", archive(files));
        let error = memory.run(&["import", "empty.zip"]).failure(1);
        let expected = format!(
            "error: the archive has no conversations: {found}; nothing was imported\n\
             hint: give an export of ChatGPT or Claude, its `conversations.json`, or JSON lines\n"
        );
        assert!(error.ends_with(&expected), "{error}");
    }
    let error = memory.run(&["import", "empty.zip"]).failure(1);
    assert!(
        error.contains("left out: 1 message that nobody saw"),
        "{error}"
    );
    memory.0.write("nothing.zip", "");
    let error = memory.run(&["import", "nothing.zip"]).failure(1);
    assert!(
        error.contains("nothing.zip is not a zip archive, and has no conversation in it"),
        "{error}"
    );
}
