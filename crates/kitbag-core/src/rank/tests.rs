//! Tests of the score's parts and of the order.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::chunk::ContextPriority;

fn file(source: &str, content: &str) -> ContextChunk {
    ContextChunk::new(ChunkType::File, source, content)
}

/// The value of one part of the score.
fn part(task_type: TaskType, request: &str, chunk: &ContextChunk, name: &str) -> i64 {
    let task = RankTask::new(Some(task_type), request, core::slice::from_ref(chunk));
    let score = ScoreWeights::default().score(chunk, &task);
    let part = score.parts().iter().find(|part| part.name == name);
    part.map_or(0, |part| part.value)
}

#[test]
fn p06_task_boosts() {
    let cases = [
        (TaskType::Debug, "src/error_handler.rs", 300),
        (TaskType::Debug, "src/main.rs", 0),
        (TaskType::Test, "tests/fixtures/user.json", 250),
        (TaskType::Test, "src/latest.rs", 0),
        (TaskType::Implement, "src/auth/login.py", 400),
        (TaskType::Implement, "src/auth/logout.py", 0),
        (TaskType::Analyze, "tests/error.rs", 0),
    ];
    for (task_type, source, boost) in cases {
        let chunk = file(source, "");
        assert_eq!(
            part(task_type, "extend the login", &chunk, "task"),
            boost,
            "{source}"
        );
    }
    let dependency = ContextChunk::new(ChunkType::Dependency, "Cargo.toml", "");
    assert_eq!(part(TaskType::Refactor, "x", &dependency, "task"), 200);
    let mut dependent = file("src/a.rs", "");
    assert_eq!(part(TaskType::Refactor, "x", &dependent, "task"), 0);
    dependent
        .metadata
        .insert("relation".into(), json!("dependent"));
    assert_eq!(part(TaskType::Refactor, "x", &dependent, "task"), 200);
}

#[test]
fn p06_base_is_the_priority() {
    for priority in ContextPriority::ALL {
        let chunk = file("a", "").with_priority(priority);
        assert_eq!(
            part(TaskType::Analyze, "", &chunk, "base"),
            priority.score()
        );
    }
}

#[test]
fn p06_mentions_in_the_name_weigh_more_than_in_the_content_up_to_a_limit() {
    let chunk = file("src/login.rs", "fn redirect() {}");
    assert_eq!(
        part(TaskType::Debug, "the login redirect", &chunk, "mention"),
        200
    );
    assert_eq!(
        part(TaskType::Debug, "fix the redirects", &chunk, "mention"),
        0
    );
    let many = file("aaa/bbb/ccc/ddd", "");
    assert_eq!(
        part(TaskType::Debug, "aaa bbb ccc ddd", &many, "mention"),
        450
    );
}

#[test]
fn p06_recency_counts_from_the_newest_chunk() {
    let aged = |source: &str, modified: serde_json::Value| {
        let mut chunk = file(source, "");
        chunk.metadata.insert("last_modified".into(), modified);
        chunk
    };
    let chunks = vec![
        aged("newest", json!("2024-03-31T00:00:00Z")),
        aged("week", json!("2024-03-26T00:00:00")),
        aged("month", json!(1_709_424_000)),
        aged("old", json!("2023-01-01T00:00:00Z")),
        aged("odd", json!("sometime")),
    ];
    let task = RankTask::new(None, "", &chunks);
    let boosts: Vec<i64> = chunks
        .iter()
        .map(|chunk| ScoreWeights::default().recency_boost(chunk, &task))
        .collect();
    assert_eq!(boosts, [100, 75, 50, 0, 0]);
}

#[test]
fn p06_size_takes_away_by_doubling() {
    let sized = |bytes: usize| {
        part(
            TaskType::Analyze,
            "",
            &file("a", &"x".repeat(bytes)),
            "size",
        )
    };
    assert_eq!(sized(16 * 1024), 0);
    assert_eq!(sized(32 * 1024), -50);
    assert_eq!(sized(64 * 1024), -100);
    assert_eq!(sized(64 * 1024 * 1024), -250);
}

#[test]
fn p06_every_part_is_visible_and_adds_up() {
    let chunk = file("tests/login.rs", "").with_priority(ContextPriority::High);
    let task = RankTask::new(
        Some(TaskType::Test),
        "cover the login",
        core::slice::from_ref(&chunk),
    );
    let score = ScoreWeights::default().score(&chunk, &task);
    let parts: Vec<_> = score.parts().iter().map(|p| (&*p.name, p.value)).collect();
    assert_eq!(parts, [("base", 800), ("task", 250), ("mention", 150)]);
    assert_eq!(score.total(), 1200);
}

#[test]
fn p06_constants_are_configurable() {
    let weights: ScoreWeights = serde_json::from_str(r#"{"debug":1}"#).unwrap();
    assert_eq!((weights.debug, weights.test), (1, 250));
}

proptest! {
    #[test]
    fn p06_order_does_not_depend_on_the_input(
        sources in prop::collection::btree_set("[a-c]{1,3}", 0..12),
        seed in any::<u64>(),
    ) {
        let chunks: Vec<ContextChunk> = sources.iter().map(|source| file(source, "x")).collect();
        let mut shuffled = chunks.clone();
        let turn = usize::try_from(seed % 12).unwrap().min(shuffled.len());
        shuffled.rotate_left(turn);
        shuffled.reverse();
        let task = RankTask::new(Some(TaskType::Debug), "a b c", &chunks);
        let weights = ScoreWeights::default();
        prop_assert_eq!(rank(chunks, &task, &weights), rank(shuffled, &task, &weights));
    }
}
