//! Tests of how files come: archives, encodings, wrappers, and bytes of any kind in them.

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::*;

/// The place in which an archive tells the length and the checksum of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lengths {
    Before,
    Behind,
}

/// An archive as chat services and packers make it.
fn zipped(files: &[(&str, &[u8])], method: u16, lengths: Lengths) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let packed = match method {
            8 => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            _ => content.to_vec(),
        };
        let mut crc = Crc::new();
        crc.update(content);
        let told = [
            crc.sum(),
            u32::try_from(packed.len()).unwrap(),
            u32::try_from(content.len()).unwrap(),
        ];
        let told: Vec<u8> = told.into_iter().flat_map(u32::to_le_bytes).collect();
        let (flags, before) = match lengths {
            Lengths::Before => (0_u16, told.clone()),
            Lengths::Behind => (8, vec![0; 12]),
        };
        archive.extend(*b"PK\x03\x04\x14\x00");
        archive.extend(flags.to_le_bytes());
        archive.extend(method.to_le_bytes());
        archive.extend([0; 4]);
        archive.extend(before);
        archive.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        archive.extend([0; 2]);
        archive.extend(name.as_bytes());
        archive.extend(packed);
        if lengths == Lengths::Behind {
            archive.extend(*b"PK\x07\x08");
            archive.extend(told);
        }
    }
    archive.extend(*b"PK\x01\x02 the directory, which nobody reads");
    archive
}

fn export() -> Vec<(&'static str, Vec<u8>)> {
    let second =
        json!([{"uuid": "c-9", "chat_messages": [{"sender": "human", "text": "from part two"}]}]);
    vec![
        ("users.json", b"[{\"uuid\": \"u\"}]".to_vec()),
        ("conversations-000.json", json!([claude()]).to_string().into_bytes()),
        ("files/cat.png", b"\x89PNG not text".to_vec()),
        ("files/", Vec::new()),
        ("__MACOSX/._conversations.json", b"\0\x05\x16\x07".to_vec()),
        ("data/conversations-001.json", second.to_string().into_bytes()),
        ("memories.json", b"[{\"conversations_memory\": \"Ann bakes.\", \"project_memories\": {\"p1\": \"A bakery.\"}}]".to_vec()),
    ]
}

fn borrowed<'a>(files: &'a [(&'a str, Vec<u8>)]) -> Vec<(&'a str, &'a [u8])> {
    let files = files.iter();
    files
        .map(|(name, content)| (*name, content.as_slice()))
        .collect()
}

fn texts(bytes: &[u8], capacity: usize) -> Vec<String> {
    let reader = BufReader::with_capacity(capacity, bytes);
    let lines = read_import(reader, None, &ImportDefaults::default());
    lines
        .map(|line| match line {
            Ok(line) => line.text,
            Err(error) => format!("! {error}"),
        })
        .collect()
}

#[test]
fn an_archive_is_read_as_it_was_downloaded() {
    let files = export();
    let whole = texts(&zipped(&borrowed(&files), 8, Lengths::Before), 1 << 16);
    insta::assert_snapshot!(whole.join(" | "), @r"
    ```
    A long letter.
    ```
    [file: notes.txt]
    ```
    secret notes
    ```
    [file: cat.jpg] | Fine.
    Thanks. | the second try | from part two | Ann bakes. | A bakery.
    ");
    for (method, lengths) in [(8, Lengths::Behind), (0, Lengths::Before)] {
        for capacity in [1, 7, 4_096] {
            let archive = zipped(&borrowed(&files), method, lengths);
            assert_eq!(texts(&archive, capacity), whole, "{method} {lengths:?}");
        }
    }
    let archive = zipped(&borrowed(&files), 8, Lengths::Behind);
    let mut import = read_import(archive.as_slice(), None, &ImportDefaults::default());
    assert_eq!(import.by_ref().filter(Result::is_err).count(), 0);
    assert_eq!(import.tally().count(RecordKind::Files), 3);
    assert_eq!(import.tally().count(RecordKind::MemoryTexts), 2);
    assert_eq!(import.tally().count(RecordKind::Conversations), 3);
}

#[test]
fn an_archive_that_is_cut_off_gives_what_came_before() {
    let files = export();
    let archive = zipped(&borrowed(&files), 0, Lengths::Before);
    let end = archive
        .windows(13)
        .position(|part| part == b"from part two");
    let lines = texts(&archive[..end.unwrap()], 4_096);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(
        lines[3],
        "! data/conversations-001.json: record 1: the file ends in the middle of it"
    );
    let damaged: Vec<u8> = archive
        .iter()
        .map(|byte| if *byte == b'F' { b'G' } else { *byte })
        .collect();
    let lines = texts(&damaged, 4_096);
    let last = lines.last().unwrap();
    assert!(
        last.contains("`conversations-000.json` of the archive is damaged"),
        "{last}"
    );
}

#[test]
fn archives_that_cannot_be_read_are_named() {
    for (archive, told) in [
        (
            zipped(
                &[("photo.jpg", b"x"), ("notes.txt", b"y")],
                8,
                Lengths::Before,
            ),
            "! the archive has no conversations: it has `photo.jpg`, `notes.txt`",
        ),
        (zipped(&[], 8, Lengths::Before), "! record 1: expected"),
        (
            zipped(&[("conversations.json", b"[]")], 12, Lengths::Before),
            "! cannot read the import: `conversations.json` of the archive is packed by method 12",
        ),
        (
            zipped(&[("conversations.json", b"[]")], 0, Lengths::Behind),
            "! cannot read the import: the archive does not tell where `conversations.json` ends",
        ),
    ] {
        let lines = texts(&archive, 4_096);
        if archive.starts_with(b"PK\x03\x04") {
            assert!(lines[0].starts_with(told), "{lines:?}");
        }
    }
    let mut secret = zipped(&[("conversations.json", b"[]")], 8, Lengths::Before);
    secret[6] = 1;
    assert_eq!(
        texts(&secret, 4_096),
        ["! cannot read the import: `conversations.json` of the archive needs a password"]
    );
}

#[test]
fn files_that_nobody_wants_are_passed_over_however_they_are_packed() {
    let conversations = json!([claude()]).to_string().into_bytes();
    let conversations = [("conversations.json", conversations.as_slice())];
    let expected = texts(&zipped(&conversations, 8, Lengths::Before), 4_096);
    let last = zipped(&conversations, 8, Lengths::Behind);
    let other = |name, content: &[u8], method, lengths| {
        let mut archive = zipped(&[(name, content)], method, lengths);
        let end = archive.windows(4).rposition(|part| part == b"PK\x01\x02");
        archive.truncate(end.unwrap());
        archive
    };
    let mut secret = other("a.txt", b"abc", 8, Lengths::Before);
    secret[6] = 1;
    let mut damaged = other("a.txt", b"abc", 0, Lengths::Before);
    *damaged.last_mut().unwrap() = b'd';
    // Both before and behind it the archive tells the lengths, behind it in eight bytes each.
    let mut twice = other("a.txt", b"abc", 12, Lengths::Before);
    twice[6] = 8;
    twice.extend(*b"PK\x07\x08crc ");
    twice.extend([3_u64.to_le_bytes(); 2].concat());
    let mut long = other("empty.txt", b"", 0, Lengths::Behind);
    long.extend([0; 8]);
    let mut without_mark = other("empty.txt", b"", 0, Lengths::Behind);
    without_mark.drain(without_mark.len() - 16..without_mark.len() - 12);
    for (what, first) in [
        (
            "another method",
            other("a.txt", b"abc", 12, Lengths::Before),
        ),
        ("a password", secret),
        ("damage", damaged),
        ("lengths twice", twice),
        ("an empty file", other("empty.txt", b"", 0, Lengths::Behind)),
        ("an empty file with long lengths", long),
        ("an empty file without a mark", without_mark),
    ] {
        let archive = [first, last.clone()].concat();
        for capacity in [1, 4_096] {
            assert_eq!(texts(&archive, capacity), expected, "{what}");
        }
        let mut import = read_import(archive.as_slice(), None, &ImportDefaults::default());
        assert_eq!(import.by_ref().filter(Result::is_err).count(), 0, "{what}");
        assert_eq!(import.tally().count(RecordKind::Files), 1, "{what}");
    }
    let endless = other("a.txt", b"abc", 0, Lengths::Behind);
    assert_eq!(
        texts(&[endless, last].concat(), 4_096),
        ["! cannot read the import: the archive does not tell where `a.txt` ends"]
    );
}

#[test]
fn errors_show_the_control_characters_of_a_path() {
    let path = "memories\\a\n\u{1b}[2J\u{202e}b.jsonl";
    let shown = "memories\\a\\n\\u{1b}[2J\\u{202e}b.jsonl";
    assert_eq!(
        texts(&zipped(&[(path, b"{}")], 12, Lengths::Before), 4_096),
        [format!(
            "! cannot read the import: `{shown}` of the archive is packed by method 12, and only 0 and 8 can be read"
        )]
    );
    let lines = texts(&zipped(&[(path, b"{]")], 8, Lengths::Before), 4_096);
    assert!(lines[0].starts_with(&format!("! {shown}: ")), "{lines:?}");
}

#[test]
fn an_archive_that_grows_without_end_is_refused() {
    let zeros = vec![b' '; 80 << 20];
    let archive = zipped(&[("conversations.json", &zeros)], 8, Lengths::Before);
    assert!(archive.len() < 1 << 20);
    let lines = texts(&archive, 4_096);
    assert_eq!(
        lines,
        [
            "! conversations.json: cannot read the import: `conversations.json` of the archive grows to more than 200 times its size"
        ]
    );
}

#[test]
fn utf_16_is_read_by_its_mark() {
    let file = json!([claude()])
        .to_string()
        .replace("Fine.", "Fünf \u{1F41D}.");
    let expected = texts(file.as_bytes(), 4_096);
    let marked = format!("\u{feff}{file}");
    for bytes in [
        marked.clone().into_bytes(),
        marked.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        marked.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    ] {
        for capacity in [1, 3, 4_096] {
            assert_eq!(texts(&bytes, capacity), expected);
        }
        let archive = zipped(&[("conversations.json", &bytes)], 8, Lengths::Before);
        assert_eq!(texts(&archive, 4_096), expected);
    }
}

#[test]
fn conversations_are_found_alone_and_in_wrappers() {
    for conversation in [claude(), chatgpt()] {
        let expected = texts(json!([conversation]).to_string().as_bytes(), 4_096);
        let wrapped = json!({"version": {"a": [1]}, "conversations": [conversation], "z": 1});
        let nested = json!({"about": "conversations", "conversations": [conversation]});
        for file in [
            conversation.to_string(),
            serde_json::to_string_pretty(&conversation).unwrap(),
            wrapped.to_string(),
            serde_json::to_string_pretty(&wrapped).unwrap(),
            serde_json::to_string_pretty(&nested).unwrap(),
            format!("{conversation}\n\n"),
        ] {
            assert_eq!(texts(file.as_bytes(), 7), expected, "{file}");
        }
        let two = format!("{conversation}\n{conversation}\n");
        assert_eq!(texts(two.as_bytes(), 4_096).len(), 2 * expected.len());
    }
}

#[test]
fn messages_of_chat_apis_are_lines() {
    let file = r#"{"role": "user", "content": "My name is Ann", "name": "ann"}
{"role": "assistant", "content": [{"type": "text", "text": "Hello"}, {"type": "image_url", "image_url": {}}]}
{"role": "assistant", "content": null, "tool_calls": []}
{"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "what is tea?"}], "title": "Tea"}"#;
    assert_eq!(
        shown(file),
        "user ann -: My name is Ann\nassistant - -: Hello\\n[image]\nsystem - -: be brief\nuser - -: what is tea?"
    );
    let lines = good(file);
    assert_eq!(
        (
            lines[0].conversation.as_deref(),
            lines[0].reference.as_deref()
        ),
        (None, None)
    );
    let name = lines[3].conversation.as_deref().unwrap();
    assert!(name.starts_with("messages-") && lines[2].conversation.as_deref() == Some(name));
    assert_eq!(
        (lines[3].reference.as_deref(), lines[3].title.as_deref()),
        (Some("2"), Some("Tea"))
    );
    // An array of messages is as good as lines.
    let array =
        r#"[{"role": "user", "content": "one"}, {"text": 3}, {"role": "user", "content": "two"}]"#;
    assert_eq!(
        shown(array),
        "user - -: one\n! record 2: invalid type: integer `3`, expected a string at column 10\nuser - -: two"
    );
}

#[test]
fn a_broken_first_line_costs_no_other() {
    for broken in ["{\"text\": \"cut", "{\"text\": 3", "{\"text\":"] {
        let file = format!("{broken}\n{{\"text\": \"two\"}}\n{{\"text\": \"three\"}}\n");
        let lines = texts(file.as_bytes(), 4_096);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].starts_with("! line 1: "), "{lines:?}");
    }
}

proptest! {
    #[test]
    fn no_change_of_an_archive_makes_it_panic(
        method in 0..2u16, is_behind in any::<bool>(), at in any::<prop::sample::Index>(),
        change in prop::collection::vec(any::<u8>(), 0..6), end in any::<prop::sample::Index>(), is_cut in any::<bool>(),
        capacity in 1..60usize,
    ) {
        let files = export();
        let lengths = if is_behind { Lengths::Behind } else { Lengths::Before };
        let mut archive = zipped(&borrowed(&files), method * 8, lengths);
        let at = at.index(archive.len());
        let until = (at + change.len()).min(archive.len());
        archive.splice(at..until, change);
        if is_cut {
            archive.truncate(end.index(archive.len()));
        }
        // Of damaged data one reader gets a little further than another: up to there they agree.
        let intact = |capacity| -> Vec<String> {
            let texts = texts(&archive, capacity).into_iter();
            texts.take_while(|text| !text.starts_with("! ")).collect()
        };
        let (few, many) = (intact(capacity), intact(4_096));
        let both = few.len().min(many.len());
        prop_assert_eq!(&few[..both], &many[..both]);
    }

    #[test]
    fn no_change_of_utf_16_makes_it_panic(at in any::<prop::sample::Index>(), change in prop::collection::vec(any::<u8>(), 0..6), capacity in 1..60usize) {
        let file = format!("\u{feff}{}", json!([chatgpt(), claude()]));
        let mut bytes: Vec<u8> = file.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let at = at.index(bytes.len());
        let until = (at + change.len()).min(bytes.len());
        bytes.splice(at..until, change);
        prop_assert_eq!(texts(&bytes, capacity), texts(&bytes, 4_096));
    }
}
