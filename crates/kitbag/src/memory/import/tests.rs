//! Tests of imports: lines, exports, what is wrong with them, and bytes of any kind.

use std::io::{self, BufReader, Cursor, Read};

use kitbag_core::role::Role;
use proptest::prelude::*;
use serde_json::json;

use super::*;

mod files;
mod products;

fn read(file: &str) -> Vec<Result<ImportLine, ImportError>> {
    read_import(file.as_bytes(), None, &ImportDefaults::default()).collect()
}

fn good(file: &str) -> Vec<ImportLine> {
    read(file).into_iter().map(Result::unwrap).collect()
}

/// The kinds of records that were met, with their counts.
fn counts<R: BufRead>(import: &Import<R>) -> String {
    let fates = [Fate::Kept, Fate::Converted, Fate::LeftOut].into_iter();
    let counts = fates.flat_map(|fate| import.tally().of(fate));
    let counts = counts.filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(kind, count)| format!("{} {count}", kind.name()))
        .collect();
    counts.join(", ")
}

/// Each line as `role speaker at: text`, each error as it reads.
fn shown(file: &str) -> String {
    let show = |line: Result<ImportLine, ImportError>| match line {
        Ok(line) => {
            let at = line.at.as_deref().unwrap_or("-");
            let speaker = line.speaker.as_deref().unwrap_or("-");
            format!("{} {speaker} {at}: {}", line.role, line.text.escape_debug())
        }
        Err(error) => format!("! {error}"),
    };
    read(file)
        .into_iter()
        .map(show)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn lines_have_defaults_and_ignore_what_they_do_not_know() {
    let lines = good(
        r#"{"text": "no fish", "mood": "firm"}
{"channel": "mail", "sender": "anna", "conversation": 12, "ref": "m1", "at": "2024-01-15T10:30:00", "role": "tool", "speaker": "Bo", "text": "ok", "recalled": true}
{"text": "null is nothing", "channel": null, "at": null, "role": null, "recalled": null, "speaker": " "}"#,
    );
    assert_eq!(lines[0], ImportLine::new(Role::User, "no fish"));
    assert_eq!(
        serde_json::to_value(&lines[1]).unwrap(),
        json!({
            "channel": "mail", "sender": "anna", "conversation": "12", "ref": "m1", "at": "2024-01-15T10:30:00",
            "role": "tool", "speaker": "Bo", "text": "ok", "recalled": true
        })
    );
    assert_eq!(lines[2], ImportLine::new(Role::User, "null is nothing"));

    let defaults = ImportDefaults {
        channel: Some("chat".to_owned()),
        sender: Some("cara".to_owned()),
    };
    let file = br#"{"text": "a"} "#.as_slice();
    let line = read_import(file, Some(ImportFormat::Lines), &defaults).next();
    let line = line.unwrap().unwrap();
    assert_eq!(
        (line.channel.as_str(), line.sender.as_str()),
        ("chat", "cara")
    );
}

#[test]
fn a_line_that_was_written_is_read_again() {
    let mut line = ImportLine::new(Role::Assistant, "a\nb \u{2028} ünï");
    line.reference = Some("x".to_owned());
    line.at = Some("2024-01-15".to_owned());
    line.recalled = true;
    let file = serde_json::to_string(&line).unwrap();
    assert_eq!(good(&file), [line]);
}

#[test]
fn marks_blank_lines_and_windows_line_ends_are_accepted() {
    let file = "\u{feff}\r\n\r\n{\"text\": \"one\"}\r\n  \r\n{\"text\": \"two\"}\r\nbad\r\n";
    insta::assert_snapshot!(shown(file), @r"
    user - -: one
    user - -: two
    ! line 6: expected a JSON object, found `bad`
    ");
    assert_eq!(
        good("").len() + good("\u{feff} \n").len() + good("[ ]").len(),
        0
    );
}

#[test]
fn a_bad_line_is_named_and_the_next_ones_are_read() {
    let file = r#"{"text": "one"}
{"text": "two"
{"text": 3}
{"role": "user"}
{"text": "five", "role": "boss"}
{"text": "six", "at": "yesterday"}
{"text": "seven", "sender": ["a"]}
["text"]
hello there, this is no JSON
{"text": " "}
{"text": "eleven"}"#;
    insta::assert_snapshot!(shown(file), @r#"
    user - -: one
    ! line 2: EOF while parsing an object at column 14
    ! line 3: invalid type: integer `3`, expected a string at column 10
    ! line 4: missing field `text`
    ! line 5: unknown variant `boss`, expected one of `developer`, `system`, `user`, `assistant`, `tool` at column 31
    ! line 6: `at` is "yesterday", expected a time such as 2024-01-15T10:30:00Z, seconds since 1970, or null
    ! line 7: invalid type: `["a"]`, expected text or a number at column 34
    ! line 8: expected a JSON object, found `[\"text\"]`
    ! line 9: expected a JSON object, found `hello there, this is no `
    user - -: eleven
    "#);
    let mut import = read_import(file.as_bytes(), None, &ImportDefaults::default());
    assert_eq!(import.by_ref().count(), 10);
    assert_eq!(import.tally().count(RecordKind::Empty), 1);
}

fn chatgpt() -> serde_json::Value {
    let message = |id: &str, role: &str, time: f64, parts: serde_json::Value| {
        json!({
            "id": id, "author": {"role": role, "name": null, "metadata": {}}, "create_time": time,
            "content": {"content_type": "text", "parts": parts}, "metadata": {}, "recipient": "all"
        })
    };
    let mut instructions = message("m1", "user", 5.0, json!(["be brief"]));
    instructions["metadata"] = json!({"is_visually_hidden_from_conversation": true});
    let mut call = message("m6", "assistant", 40.0, json!(["search(soup)"]));
    call["recipient"] = json!("web");
    let mut found = message("m7", "tool", 41.0, json!(null));
    found["author"]["name"] = json!("web");
    found["content"] =
        json!({"content_type": "tether_browsing_display", "result": "Nora's: soup of the day"});
    let mut thought = message("m8", "assistant", 42.0, json!(null));
    thought["content"] = json!({"content_type": "thoughts", "thoughts": [{"content": "hm"}]});
    let mut picture = message(
        "m4",
        "user",
        30.5,
        json!([
            {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}, "is this it?",
            {"content_type": "audio_transcription", "text": "I mean the red one"},
            {"content_type": "real_time_user_audio_video_asset_pointer"}
        ]),
    );
    picture["content"]["content_type"] = json!("multimodal_text");
    picture["metadata"] = json!({"attachments": [
        {"name": "photo.png", "mime_type": "image/png"}, {"name": "menu.pdf", "mime_type": "application/pdf"}
    ]});
    let mut answer = message(
        "m9",
        "assistant",
        0.0,
        json!([
            "Try \u{e200}entity\u{e202}[\"place\",\"Nora's\",\"diner\"]\u{e201}.\u{e200}cite\u{e202}turn0search1\u{e201} \
             Or \u{e200}cite\u{e202}turn0search2\u{e201} wait【4:0†menu of the winter, for tables of more than six guests, second edition.pdf】 【here】."
        ]),
    );
    answer["create_time"] = json!(null);
    json!({
        "title": "Soup plans", "conversation_id": "c-1", "create_time": 1_700_000_000.25, "current_node": "n9",
        "mapping": {
            "root": {"id": "root", "message": null, "parent": null, "children": ["n1"]},
            "n1": {"message": instructions, "parent": "root"},
            "n2": {"message": message("m2", "system", 1.0, json!([""])), "parent": "n1"},
            "n3": {"message": message("m3", "user", 10.0, json!(["where is soup?"])), "parent": "n2"},
            "edited": {"message": message("mx", "user", 9.0, json!(["where is tea?"])), "parent": "n2"},
            "tea": {"message": message("my", "assistant", 9.5, json!(["in China"])), "parent": "edited"},
            "n4": {"message": picture, "parent": "n3"},
            "n5": {"message": message("m5", "assistant", 35.0, json!(["", {"content_type": "x_pointer"}])), "parent": "n4"},
            "n6": {"message": call, "parent": "n5"},
            "n7": {"message": found, "parent": "n6"},
            "n8": {"message": thought, "parent": "n7"},
            "n9": {"message": answer, "parent": "n8"}
        }
    })
}

#[test]
fn a_chatgpt_export_gives_the_current_branch() {
    let file = json!([chatgpt(), {"title": "empty", "mapping": {}}]).to_string();
    insta::assert_snapshot!(shown(&file), @r"
    user - 1970-01-01T00:00:10Z: where is soup?
    user - 1970-01-01T00:00:30.5Z: [image]\nis this it?\nI mean the red one\n[file: menu.pdf]
    assistant - 1970-01-01T00:00:35Z: [attachment]
    assistant - 1970-01-01T00:00:35Z: Try Nora\'s. Or wait 【here】.
    ");
    let lines = good(&file);
    assert!(
        lines
            .iter()
            .all(|line| line.channel == "chatgpt" && line.sender == "user")
    );
    assert!(
        lines
            .iter()
            .all(|line| line.conversation.as_deref() == Some("c-1"))
    );
    assert_eq!(lines[0].reference.as_deref(), Some("m3"));
    let mut import = read_import(file.as_bytes(), None, &ImportDefaults::default());
    let _lines = import.by_ref().count();
    assert_eq!(
        counts(&import),
        "conversations 1, titles 1, user_messages 2, assistant_messages 2, file_names 3, \
         branches 1, hidden 2, thoughts 1, tool_calls 1, tool_results 1"
    );
}

#[test]
fn a_chatgpt_export_without_a_current_node_gives_the_latest_branch() {
    let mut conversation = chatgpt();
    conversation["current_node"] = json!("gone");
    let file = json!([conversation]).to_string();
    // The last message has no time, so that the latest one is the thought before it.
    assert_eq!(good(&file).last().unwrap().text, "[attachment]");
    // A way that runs in a circle ends.
    conversation["mapping"]["root"]["parent"] = json!("n9");
    conversation["current_node"] = json!("n9");
    assert_eq!(good(&json!([conversation]).to_string()).len(), 4);
}

#[test]
fn what_is_wrong_in_an_export_is_named_and_the_rest_is_read() {
    let mut conversation = chatgpt();
    conversation["mapping"]["n3"]["message"]["author"]["role"] = json!("boss");
    conversation["mapping"]["n4"]["message"] = json!({"author": "me"});
    let file = json!([conversation, {"title": "no tree"}, 7, chatgpt()]).to_string();
    let shown = shown(&file);
    let errors: Vec<&str> = shown.lines().filter(|line| line.starts_with('!')).collect();
    insta::assert_snapshot!(errors.join("\n"), @r#"
    ! message `n3` of conversation 1 (`Soup plans`): `author.role` is `boss`, expected user, assistant, tool or system
    ! message `n4` of conversation 1 (`Soup plans`): invalid type: string "me", expected an author at column 14
    ! conversation 2: missing field `mapping` at column 19
    ! conversation 3: invalid type: integer `7`, expected a conversation at column 1
    "#);
    assert!(shown.lines().count() > errors.len() + 4);
    // A file that was cut off says so, after what is whole.
    let cut: String = file.chars().take(file.chars().count() - 40).collect();
    insta::assert_snapshot!(read(&cut).pop().unwrap().unwrap_err(), @"record 4: the file ends in the middle of it");
    insta::assert_snapshot!(read("[{\"a\": 1}]").pop().unwrap().unwrap_err(), @"record 1: no conversation and no message: it has neither `mapping` nor `chat_messages`, `messages`, `text` or `content`");
    insta::assert_snapshot!(read("[{oops}]").pop().unwrap().unwrap_err(), @"record 1: key must be a string at column 2, found `oops}`");
}

fn claude() -> serde_json::Value {
    let message = |id: &str, parent: &str, sender: &str, text: &str| {
        json!({
            "uuid": id, "parent_message_uuid": parent, "sender": sender, "text": text,
            "content": [{"type": "text", "text": text}], "created_at": format!("2024-05-01T10:00:0{}.5Z", id.trim_start_matches('a')),
            "attachments": [], "files": []
        })
    };
    let mut pasted = message("a1", "00000000-0000-4000-8000-000000000000", "human", "");
    pasted["attachments"] = json!([
        {"file_name": "", "extracted_content": "A long letter."},
        {"file_name": "notes.txt", "extracted_content": "secret notes"}
    ]);
    pasted["files"] = json!([{"file_name": "notes.txt"}, {"file_name": "cat.jpg"}]);
    let mut thinking = message("a2", "a1", "assistant", "hm ... Fine.");
    thinking["content"] = json!([
        {"type": "thinking", "thinking": "hm ..."}, {"type": "tool_use", "name": "x", "input": {}},
        {"type": "text", "text": "Fine."}, {"type": "text", "text": "Thanks."}
    ]);
    json!({
        "uuid": "c-2", "name": "Letters", "created_at": "2024-05-01T09:00:00Z",
        "chat_messages": [
            pasted, thinking,
            message("a3", "a2", "human", "the first try"),
            message("a4", "a3", "assistant", "an answer to it"),
            message("a5", "a2", "human", "the second try"),
            message("a6", "a5", "assistant", "")
        ]
    })
}

#[test]
fn a_claude_export_gives_the_last_branch() {
    let file = serde_json::to_string_pretty(&json!([claude()])).unwrap();
    insta::assert_snapshot!(shown(&file), @r"
    user - 2024-05-01T10:00:01.5Z: ```\nA long letter.\n```\n[file: notes.txt]\n```\nsecret notes\n```\n[file: cat.jpg]
    assistant - 2024-05-01T10:00:02.5Z: Fine.\nThanks.
    user - 2024-05-01T10:00:05.5Z: the second try
    ");
    let lines = good(&file);
    assert!(lines.iter().all(|line| line.channel == "claude"));
    assert_eq!(lines[0].conversation.as_deref(), Some("c-2"));
    assert_eq!(lines[0].reference.as_deref(), Some("a1"));
    let mut import = read_import(file.as_bytes(), None, &ImportDefaults::default());
    let _lines = import.by_ref().count();
    assert_eq!(
        counts(&import),
        "conversations 1, titles 1, user_messages 2, assistant_messages 1, file_texts 2, file_names 2, \
         branches 1, empty 1, thoughts 1, tool_calls 1"
    );

    // The current message decides where it is told.
    let mut conversation = claude();
    conversation["current_leaf_message_uuid"] = json!("a4");
    assert_eq!(
        good(&json!([conversation]).to_string())
            .last()
            .unwrap()
            .text,
        "an answer to it"
    );
    // Where one message does not tell what it follows, all are taken.
    conversation["chat_messages"][4]["parent_message_uuid"] = json!(null);
    assert_eq!(good(&json!([conversation]).to_string()).len(), 5);
    // Older exports have no blocks.
    conversation["chat_messages"][4]["content"] = json!(null);
    assert_eq!(
        good(&json!([conversation]).to_string())[4].text,
        "the second try"
    );
}

#[test]
fn unknown_formats_are_named() {
    let unknown = "zip".parse::<ImportFormat>().unwrap_err();
    insta::assert_snapshot!(unknown, @"unknown import format `zip`, expected lines, chatgpt or claude");
}

#[test]
fn what_is_too_long_is_skipped_without_being_held() {
    let cut = |file: &str, capacity: usize, limit: usize| {
        let mut records = Records::of(BufReader::with_capacity(capacity, file.as_bytes()));
        records.open_next().unwrap();
        records.open(&mut None).unwrap();
        let mut found = Vec::new();
        loop {
            let mut record = Vec::new();
            match records.next(&mut record, limit).unwrap() {
                Found::Record => found.push(String::from_utf8(record).unwrap()),
                Found::TooLong => found.push("too long".to_owned()),
                other => {
                    assert_eq!(other, Found::End);
                    return found;
                }
            }
        }
    };
    assert_eq!(
        cut("123456789\n12345678\n\n1234567890", 3, 8),
        ["too long", "12345678", "too long"]
    );
    assert_eq!(
        cut(
            r#"[{"a": "long]}"}, {"b": [1, "\"]"]}, "x,y", 12, []]"#,
            2,
            16
        ),
        [r#"{"a": "long]}"}"#, "too long", "\"x,y\"", "12", "[]"]
    );
}

#[test]
fn a_reader_that_fails_ends_the_import() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let reader = BufReader::new(Read::chain(Cursor::new("{\"text\": \"a\"}\n"), Broken));
    let lines: Vec<_> = read_import(reader, None, &ImportDefaults::default()).collect();
    assert_eq!(lines.len(), 2);
    let error = lines.into_iter().last().unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read the import: the disk is gone"
    );
}

/// A file that never ends: a beginning, and then the same again and again.
struct Endless {
    beginning: Cursor<&'static [u8]>,
    again: Vec<u8>,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let begun = self.beginning.read(into)?;
        if begun > 0 {
            return Ok(begun);
        }
        for byte in into.iter_mut() {
            *byte = self.again[self.at % self.again.len()];
            self.at += 1;
        }
        Ok(into.len())
    }
}

#[test]
fn a_file_without_an_end_is_read_as_far_as_one_asks() {
    let line = b"{\"text\": \"again\"}\n".to_vec();
    for (beginning, again) in [
        (b"".as_slice(), line),
        (b"[", format!("{},", chatgpt()).into_bytes()),
        (b"[", format!("{},\n", claude()).into_bytes()),
    ] {
        let beginning = Cursor::new(beginning);
        let reader = BufReader::new(Endless {
            beginning,
            again,
            at: 0,
        });
        let lines = read_import(reader, None, &ImportDefaults::default());
        assert_eq!(lines.take(500).filter(Result::is_ok).count(), 500);
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), which in 0..4usize) {
        let format = [None, Some(ImportFormat::Lines), Some(ImportFormat::ChatGpt), Some(ImportFormat::Claude)];
        let format = format.into_iter().nth(which).flatten();
        let count = read_import(bytes.as_slice(), format, &ImportDefaults::default()).count();
        prop_assert!(count <= bytes.len());
    }

    #[test]
    fn no_change_of_an_export_makes_it_panic(
        service in any::<bool>(), at in 0..4_000usize, change in "[\\[\\]{}\",:0-9a-z\u{feff}]{0,3}", capacity in 1..50usize
    ) {
        let conversation = if service { chatgpt() } else { claude() };
        let mut file: Vec<char> = json!([conversation, conversation]).to_string().chars().collect();
        let at = at % file.len();
        let end = (at + change.chars().count()).min(file.len());
        file.splice(at..end, change.chars());
        let file: String = file.into_iter().collect();
        // However the bytes come, the lines are the same.
        let whole: Vec<String> = read(&file).iter().map(|line| format!("{line:?}")).collect();
        let reader = BufReader::with_capacity(capacity, file.as_bytes());
        let pieces: Vec<String> =
            read_import(reader, None, &ImportDefaults::default()).map(|line| format!("{line:?}")).collect();
        prop_assert_eq!(whole, pieces);
    }

    #[test]
    fn every_line_is_read_back(texts in prop::collection::vec("\\PC*[a-z]", 0..8)) {
        let lines: Vec<ImportLine> = texts.iter().map(|text| ImportLine::new(Role::User, text.as_str())).collect();
        let file: String = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\r\n").collect();
        prop_assert_eq!(good(&file), lines);
    }
}
