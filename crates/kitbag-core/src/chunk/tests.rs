//! Tests of chunks: their JSON, what it refuses, and splitting.

use alloc::string::ToString;
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::tokens::{TokenCounter, Tokens};

fn read(json: &str) -> Result<ContextChunk, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn p03_plain_json_loads_with_priority_by_name_or_number() {
    for priority in [r#""HIGH""#, r#""high""#, "800", r#""800""#] {
        let json = format!(
            r#"{{"content":"x","source":"a.md","chunk_type":"file","priority":{priority},"metadata":{{"language":"md"}}}}"#
        );
        let chunk = read(&json).unwrap();
        assert_eq!(chunk.priority, ContextPriority::High, "{priority}");
        assert_eq!(chunk.language(), Some("md"));
        assert_eq!(chunk.relevance, Relevance::CERTAIN);
    }
}

#[test]
fn p03_priorities_have_their_scores() {
    let scores: Vec<i64> = ContextPriority::ALL.map(ContextPriority::score).into();
    assert_eq!(scores, [100, 200, 500, 800, 1000]);
}

#[test]
fn p03_chunk_types_are_an_open_set() {
    let chunk =
        read(r#"{"content":"x","source":"api.yaml","chunk_type":"api_spec","priority":"LOW"}"#)
            .unwrap();
    assert_eq!(chunk.chunk_type, ChunkType::Other("api_spec".into()));
    assert_eq!(ChunkType::from("file".to_string()), ChunkType::File);
    for known in ChunkType::KNOWN {
        assert_eq!(ChunkType::from(known.as_str().to_string()), known);
    }
}

#[test]
fn x01_levels_load_with_their_coverage() {
    let chunk = read(
        r#"{"source":"a.rs","chunk_type":"file","priority":500,"relevance":250000,"levels":[
            {"level":"full","content":"fn a() { 1 }"},
            {"level":"outline","content":"fn a();","coverage":200},
            {"level":"path","content":"a.rs"}]}"#,
    )
    .unwrap();
    let coverages: Vec<u16> = chunk.levels.iter().map(|l| l.coverage.permille()).collect();
    assert_eq!(coverages, [1000, 200, 30]);
    assert_eq!(chunk.levels[2].level, Detail::Line);
    assert_eq!(chunk.relevance.ppm(), 250_000);
}

#[test]
fn p03_json_round_trip_keeps_levels_and_shows_the_first_as_content() {
    let plain = ContextChunk::new(ChunkType::File, "a.rs", "fn a() {}");
    let leveled = plain
        .clone()
        .with_level(Level::new(Detail::Outline, "fn a();"))
        .with_priority(ContextPriority::Critical);
    for chunk in [plain, leveled] {
        let json = serde_json::to_value(&chunk).unwrap();
        assert_eq!(json["content"], "fn a() {}");
        assert_eq!(serde_json::from_value::<ContextChunk>(json).unwrap(), chunk);
    }
}

#[test]
fn p03_bad_chunks_are_refused_by_name_and_value() {
    let cases = [
        (r#""content":"x","priority":"URGENT""#, "URGENT"),
        (r#""content":"x","priority":7"#, "7"),
        (
            r#""content":"x","priority":"LOW","relevance":-1"#,
            "relevance -1",
        ),
        (
            r#""content":"x","priority":"LOW","relevance":1000001"#,
            "1000001",
        ),
        (r#""content":"x","priority":"LOW","tokens":-5"#, "tokens -5"),
        (r#""priority":"LOW""#, "no levels"),
        (r#""content":"x","priority":"LOW","levels":[]"#, "no levels"),
        (
            r#""priority":"LOW","levels":[{"level":"huge","content":""}]"#,
            "huge",
        ),
        (
            r#""priority":"LOW","levels":[{"level":"full","content":"","coverage":1001}]"#,
            "coverage 1001",
        ),
        (
            r#""content":"x","priority":"LOW","band":"identity""#,
            "identity",
        ),
        (
            r#""content":"x","priority":"LOW","band":"footer""#,
            "footer",
        ),
    ];
    for (fields, named) in cases {
        let error = read(&format!(
            r#"{{"source":"a.md","chunk_type":"file",{fields}}}"#
        ))
        .unwrap_err();
        assert!(error.contains(named), "{fields}: {error}");
    }
}

/// Counts words and line ends, so that a reader can follow the tests.
struct Words;

impl TokenCounter for Words {
    fn name(&self) -> &str {
        "words"
    }

    fn count(&self, text: &str) -> Tokens {
        let ends = text.matches('\n').count();
        Tokens(u32::try_from(text.split_whitespace().count() + ends).unwrap())
    }
}

#[test]
fn p03_large_texts_are_split_at_logical_boundaries() {
    let text = "import a\n\ndef one():\n    return 1\n\ndef two():\n    x = 2\n\n    return x\n";
    let parts = split_text(text, Tokens(13), &Words);
    assert_eq!(
        parts,
        vec![
            "import a\n\ndef one():\n    return 1\n\n",
            "def two():\n    x = 2\n\n    return x\n",
        ]
    );
}

#[test]
fn p03_a_split_chunk_names_its_lines() {
    let text = "import a\n\ndef one():\n    return 1\n\ndef two():\n    x = 2\n\n    return x\n";
    let chunk =
        ContextChunk::new(ChunkType::File, "a.py", text).with_priority(ContextPriority::High);
    assert_eq!(
        chunk.clone().split(Tokens(100), &Words),
        vec![chunk.clone()]
    );
    let parts = chunk.split(Tokens(13), &Words);
    let sources: Vec<&str> = parts.iter().map(|part| part.source.as_str()).collect();
    assert_eq!(sources, ["a.py:1-5", "a.py:6-9"]);
    assert_eq!(parts[1].levels[0].lines, [(6, 9)]);
    assert!(
        parts
            .iter()
            .all(|part| part.priority == ContextPriority::High)
    );
}

#[test]
fn p03_a_line_that_is_too_long_is_cut_between_characters() {
    struct Characters;
    impl TokenCounter for Characters {
        fn name(&self) -> &str {
            "characters"
        }
        fn count(&self, text: &str) -> Tokens {
            Tokens(u32::try_from(text.chars().count()).unwrap())
        }
    }
    let parts = split_text("äöüäöüäöü", Tokens(4), &Characters);
    assert!(parts.len() > 1 && parts.iter().all(|part| part.chars().count() <= 4));
    assert_eq!(parts.concat(), "äöüäöüäöü");
}

proptest! {
    #[test]
    fn p03_parts_add_up_to_the_text_within_the_limit(text in "([a-z ]{0,12}\n?){0,20}", max in 3u32..12) {
        let parts = split_text(&text, Tokens(max), &Words);
        prop_assert_eq!(parts.concat(), text);
        for part in parts {
            prop_assert!(Words.count(&part) <= Tokens(max), "{part:?}");
        }
    }
}
