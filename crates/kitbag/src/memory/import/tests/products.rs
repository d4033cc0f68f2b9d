//! Tests of what matters in exports: documents, memories, titles and summaries.

use kitbag_core::statement::Statements;

use super::*;

/// A ChatGPT conversation of messages that follow each other.
fn conversation(messages: &[serde_json::Value]) -> String {
    let mut mapping = json!({});
    for (index, message) in messages.iter().enumerate() {
        let mut message = message.clone();
        message["id"] = json!(format!("m{index}"));
        message["create_time"] = json!(index + 1);
        let parent = index.checked_sub(1).map(|before| format!("n{before}"));
        mapping[format!("n{index}")] = json!({"message": message, "parent": parent});
    }
    let last = format!("n{}", messages.len() - 1);
    json!([{"title": "Plans\nfor  May", "id": "c", "current_node": last, "mapping": mapping}])
        .to_string()
}

fn said(role: &str, recipient: &str, text: &str) -> serde_json::Value {
    json!({"author": {"role": role}, "recipient": recipient, "content": {"content_type": "text", "parts": [text]}})
}

fn told(file: &str) -> (String, String) {
    let mut import = read_import(file.as_bytes(), None, &ImportDefaults::default());
    let lines: Vec<String> = import
        .by_ref()
        .map(|line| {
            let line = line.unwrap();
            let facts = if line.facts.is_empty() {
                String::new()
            } else {
                format!(" {:?}", line.facts)
            };
            format!(
                "{} {}: {}{facts}",
                line.reference.unwrap_or_default(),
                line.role,
                line.text.escape_debug()
            )
        })
        .collect();
    (lines.join("\n"), counts(&import))
}

#[test]
fn canvas_documents_are_kept_in_their_latest_version() {
    let answer = |id: &str| {
        let mut answer = said("tool", "all", "Successfully created");
        answer["metadata"] = json!({"canvas": {"textdoc_id": id}});
        answer
    };
    let create = |name: &str, content: &str| {
        let call = json!({"name": name, "type": "document", "content": content}).to_string();
        said("assistant", "canmore.create_textdoc", &call)
    };
    let update = |updates: serde_json::Value| {
        said(
            "assistant",
            "canmore.update_textdoc",
            &json!({"updates": updates}).to_string(),
        )
    };
    let file = conversation(&[
        said("user", "all", "write a letter"),
        create("Letter", "Dear Bo,\nthe bees are well.\nAnn"),
        answer("d1"),
        create("List", "milk"),
        answer("d2"),
        update(
            json!([{"pattern": "bees.*well", "multiple": false, "replacement": "bees $1 swarmed"}]),
        ),
        answer("d1"),
        update(json!([{"pattern": "not there", "multiple": false, "replacement": "x"}])),
        answer("d1"),
        said("assistant", "all", "Done."),
        update(json!([{"pattern": ".*", "multiple": true, "replacement": "milk\nhoney"}])),
        said("assistant", "canmore.comment_textdoc", "{\"comments\": []}"),
    ]);
    let (lines, counts) = told(&file);
    assert_eq!(
        lines,
        "m0 user: write a letter\nm1 assistant: [document: Letter]\\nDear Bo,\\nthe bees $1 swarmed.\\nAnn\n\
        m9 assistant: Done.\nm3 assistant: [document: List]\\nmilk\\nhoney"
    );
    assert_eq!(
        counts,
        "conversations 1, titles 1, user_messages 1, assistant_messages 3, documents 2, tool_calls 1, \
        tool_results 4, older_versions 2, lost_changes 1"
    );
    assert_eq!(good(&file)[0].title.as_deref(), Some("Plans for May"));
}

#[test]
fn memories_become_facts_of_the_message_before_and_noise_is_left_out() {
    let mut quote = said("assistant", "all", "");
    quote["content"] = json!({"content_type": "tether_quote", "text": "scraped"});
    let mut instructions = said("user", "all", "");
    instructions["content"] =
        json!({"content_type": "user_editable_context", "user_profile": "I am Ann"});
    let mut output = said("tool", "all", "");
    output["content"] = json!({"content_type": "execution_output", "text": "42"});
    let long = "word ".repeat(900);
    let file = conversation(&[
        instructions,
        said("system", "all", ""),
        said("assistant", "bio", "Too early to belong to anything"),
        said(
            "user",
            "all",
            "I only drink tea, in the morning and at night",
        ),
        said(
            "assistant",
            "bio",
            "- User prefers tea.\n\n- The user drinks tea in the morning and at night, never coffee",
        ),
        said("tool", "all", "Model set context updated."),
        said("assistant", "bio", &long),
        quote,
        said("assistant", "python", "6*7"),
        output,
        said("assistant", "all", "Noted."),
    ]);
    let (lines, counts) = told(&file);
    assert_eq!(
        lines,
        "m3 user: I only drink tea, in the morning and at night \
        {\"memory/drinks-tea-in-the-morning-and-at-night-never-cof-0dae9e33\": \"The user drinks tea in the morning and at night, never coffee\", \
        \"prefers/tea\": \"tea\"}\nm10 assistant: Noted."
    );
    assert_eq!(
        counts,
        "conversations 1, titles 1, user_messages 1, assistant_messages 1, memories 2, hidden 1, instructions 1, \
        tool_calls 1, tool_results 3, lost_memories 2"
    );
}

#[test]
fn artifacts_and_created_files_are_kept_in_their_latest_version() {
    let tool = |name: &str, input: serde_json::Value| json!({"type": "tool_use", "name": name, "input": input});
    let message = |id: &str, sender: &str, content: serde_json::Value| json!({"uuid": id, "sender": sender, "text": "", "content": content, "created_at": "2024-05-01T10:00:00Z"});
    let older = "Here:\n<antArtifact identifier=\"poem\" type=\"text/markdown\" title=\"A poem\">\nRoses\n</antArtifact>\nEnjoy, <antArtifact";
    let file = json!([{"uuid": "c", "name": "Poems", "summary": "Ann asked for poems.", "chat_messages": [
        message("a1", "human", json!([{"type": "text", "text": "a poem, please"}])),
        message("a2", "assistant", json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": older}])),
        message("a3", "assistant", json!([
            tool("artifacts", json!({"id": "poem", "command": "update", "old_str": "Roses", "new_str": "Violets"})),
            tool("artifacts", json!({"id": "gone", "command": "update", "old_str": "a", "new_str": "b"})),
            tool("create_file", json!({"path": "/out/a.py", "file_text": "print(1)\n"})),
            tool("str_replace", json!({"path": "/out/a.py", "old_str": "1", "new_str": "2"})),
            tool("web_search", json!({"query": "poems"})), {"type": "tool_result", "content": []},
            tool("memory_user_edits", json!({"command": "add", "control": "User likes poems"})),
            {"type": "text", "text": "Changed."}])),
        message("a4", "assistant", json!([
            tool("artifacts", json!({"id": "poem", "title": "The poem", "command": "rewrite", "content": "Tulips"}))])),
    ]}]).to_string();
    let (lines, counts) = told(&file);
    assert_eq!(
        lines,
        "a1 user: a poem, please {\"likes/poems\": \"poems\"}\n\
        a2 assistant: Here:\\n[document: A poem]\\nEnjoy, <antArtifact\n\
        a3 assistant: Changed.\n\
        a3//out/a.py assistant: [document: /out/a.py]\\nprint(2)\n\
        a2/poem assistant: [document: The poem]\\nTulips"
    );
    assert_eq!(
        counts,
        "conversations 1, titles 1, summaries 1, user_messages 1, assistant_messages 4, documents 2, memories 1, \
        empty 1, thoughts 1, tool_calls 1, tool_results 1, older_versions 3, lost_changes 1"
    );
    let lines = good(&file);
    assert_eq!(
        lines.last().unwrap().summary.as_deref(),
        Some("Ann asked for poems.")
    );
    assert!(
        lines
            .iter()
            .all(|line| line.title.as_deref() == Some("Poems"))
    );
}

#[test]
fn the_text_of_a_file_stands_between_fences() {
    let mut asked = json!({"uuid": "a1", "sender": "human", "text": "I live in Porto."});
    asked["attachments"] = json!([{"file_name": "a.txt", "extracted_content": "Dear Tom, I live in Oslo now.\n```\nx"}]);
    let file = json!([{"uuid": "c", "chat_messages": [asked]}]).to_string();
    let text = &good(&file)[0].text;
    assert_eq!(
        text,
        "I live in Porto.\n[file: a.txt]\n````\nDear Tom, I live in Oslo now.\n```\nx\n````"
    );
    let stated = Statements::new().of(text);
    let values: Vec<&str> = stated.iter().map(|one| one.value.as_str()).collect();
    assert_eq!(values, ["Porto"]);
}

#[test]
fn memories_that_the_user_edits_are_replaced_and_removed() {
    let edit = |input: serde_json::Value| json!({"type": "tool_use", "name": "memory_user_edits", "input": input});
    let added = |number: u32| {
        json!({"type": "tool_result", "name": "memory_user_edits",
        "content": [{"type": "text", "text": format!("Added memory #{number}: …")}]})
    };
    let file = json!([{"uuid": "c", "chat_messages": [
        {"uuid": "a1", "sender": "human", "text": "Remember this."},
        {"uuid": "a2", "sender": "assistant", "text": "", "content": [
            edit(json!({"command": "add", "control": "User lives in Berlin"})), added(7),
            edit(json!({"command": "add", "control": "User sails at night"})), added(8),
            edit(json!({"command": "replace", "line_number": 7, "replacement": "User lives in Hamburg"})),
            edit(json!({"command": "remove", "line_number": 8})),
            edit(json!({"command": "remove", "line_number": 2})),
            edit(json!({"command": "view"})),
            {"type": "text", "text": "Done."}]},
    ]}]).to_string();
    let (lines, counts) = told(&file);
    assert_eq!(
        lines,
        "a1 user: Remember this. {\"home\": \"Hamburg\"}\na2 assistant: Done."
    );
    assert_eq!(
        counts,
        "conversations 1, user_messages 1, assistant_messages 1, memories 1, tool_calls 1, tool_results 2, \
        lost_changes 1"
    );
    let metadata = serde_json::to_value(&good(&file)[0].metadata).unwrap();
    assert_eq!(metadata, json!({"remembered_by": "Claude"}));
}

#[test]
fn answers_to_edits_made_at_once_number_each_line() {
    let edit = |id: &str, input: serde_json::Value| json!({"type": "tool_use", "id": id, "name": "memory_user_edits", "input": input});
    let added = |id: &str, number: u32| {
        json!({"type": "tool_result", "tool_use_id": id, "name": "memory_user_edits",
        "content": [{"type": "text", "text": format!("Added memory #{number}: …")}]})
    };
    // By the ids of the calls in any order, and without ids in theirs.
    for answers in [
        [added("t2", 8), added("t1", 7)],
        [added("", 7), added("", 8)],
    ] {
        let mut content = vec![
            edit(
                "t1",
                json!({"command": "add", "control": "User lives in Berlin"}),
            ),
            edit("t2", json!({"command": "add", "control": "User likes tea"})),
        ];
        content.extend(answers);
        content.push(edit("t3", json!({"command": "remove", "line_number": 7})));
        content.push(json!({"type": "text", "text": "Done."}));
        let file = json!([{"uuid": "c", "chat_messages": [
            {"uuid": "a1", "sender": "human", "text": "Remember this."},
            {"uuid": "a2", "sender": "assistant", "text": "", "content": content},
        ]}])
        .to_string();
        let (lines, _) = told(&file);
        assert_eq!(
            lines,
            "a1 user: Remember this. {\"likes/tea\": \"tea\"}\na2 assistant: Done."
        );
    }
}
