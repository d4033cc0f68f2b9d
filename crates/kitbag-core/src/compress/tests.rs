//! Tests of compression and of the six-part prompt.

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::chunk::{ChunkType, ContextPriority, Detail, Level};
use crate::envelope::TaskType;
use crate::tokens::{Quarters, Tokens};

fn chunks() -> Vec<ContextChunk> {
    vec![
        ContextChunk::new(ChunkType::Dependency, "package.json", "express 5"),
        ContextChunk::new(ChunkType::Structure, "workspace", "src/\n  login.ts"),
        ContextChunk::new(
            ChunkType::File,
            "src/login.ts",
            "export function login() {\n  redirect()\n}\n",
        )
        .with_level(Level::new(Detail::Outline, "export function login()"))
        .with_priority(ContextPriority::High),
        ContextChunk::new(ChunkType::File, "src/big.ts", "x".repeat(8_000)),
    ]
}

fn envelope(budget: u32, strategy: FitStrategy) -> TaskEnvelope {
    let created = "2024-01-15T10:30:00Z".parse().unwrap();
    let mut envelope = TaskEnvelope::new(TaskType::Debug, "the login loops", "session_1", created);
    let ranked = chunks().into_iter().map(RankedChunk::from).collect();
    envelope.context = compress(ranked, Tokens(budget), strategy, &Quarters).unwrap();
    envelope
}

#[test]
fn p10_six_parts_in_order() {
    insta::assert_snapshot!(build_prompt(&envelope(400, FitStrategy::Optimal)), @"
    Here is the context for your task:

    ## Project Structure
    ```
    src/
      login.ts
    ```

    ## src/login.ts
    ```ts
    export function login() {
      redirect()
    }
    ```

    ## Dependencies
    ```json
    express 5
    ```

    ---
    ## Request
    the login loops

    As a debug task, please find the cause before the cure: name the lines above that are at fault and why, then give the smallest change that mends them and a test that fails without it.
    ");
}

#[test]
fn p07_what_fits_is_in_with_figures_and_what_does_not_has_a_reason() {
    let context = envelope(400, FitStrategy::Optimal).context;
    assert_eq!((context.chunks_in, context.chunks.len()), (4, 3));
    assert!(context.tokens_used <= context.budget);
    let [excluded] = context.excluded.as_slice() else {
        panic!("{:?}", context.excluded);
    };
    assert_eq!(excluded.source, "src/big.ts");
    assert!(
        matches!(excluded.reason, Reason::NoRoom { more: Some(more), .. } if more > Tokens(1_000))
    );
}

#[test]
fn p02_the_whole_prompt_of_an_envelope_fits_its_input() {
    for total in [200, 400, 4_000] {
        let mut envelope = envelope(400, FitStrategy::Optimal);
        envelope.token_budget = crate::budget::TokenBudget::new(Tokens(total));
        let ranked = chunks().into_iter().map(RankedChunk::from).collect();
        compress_for(&mut envelope, ranked, FitStrategy::Optimal, &Quarters).unwrap();
        let prompt = Quarters.count(&build_prompt(&envelope));
        assert_eq!(prompt, envelope.context.tokens_used);
        assert!(
            prompt <= envelope.token_budget.input(),
            "{prompt} of {total}"
        );
    }
}

#[test]
fn p07_chunks_of_one_text_are_all_there() {
    let fact = |source: &str| ContextChunk::new(ChunkType::Fact, source, "the same");
    let ranked = vec![fact("f/1").into(), fact("f/2").into()];
    let context = compress(ranked, Tokens(200), FitStrategy::Optimal, &Quarters).unwrap();
    assert_eq!(context.chunks.len(), 2);
}

#[test]
fn p07_utilization_is_used_over_budget() {
    let context = CompressedContext {
        tokens_used: Tokens(3_500),
        budget: Tokens(4_000),
        ..CompressedContext::default()
    };
    let json = serde_json::to_value(&context).unwrap();
    assert_eq!(json["utilization"], 0.875);
    assert_eq!(json["chunks_included"], 0);
    assert_eq!(
        serde_json::from_value::<CompressedContext>(json).unwrap(),
        context
    );
}

#[test]
fn p07_greedy_truncates_code_that_fits_only_in_part() {
    let level_within = |budget: u32| {
        let body = "  redirect()\n".repeat(40);
        let code = ContextChunk::new(ChunkType::File, "src/login.ts", body)
            .with_level(Level::new(Detail::Outline, "export function login()"));
        let budget = Tokens(budget);
        let context = compress(vec![code.into()], budget, FitStrategy::Greedy, &Quarters).unwrap();
        context.chunks.first().map(|chunk| chunk.levels[0].level)
    };
    assert_eq!(level_within(200), Some(Detail::Full));
    assert_eq!(level_within(100), Some(Detail::Outline));
    assert_eq!(level_within(20), None);
}
