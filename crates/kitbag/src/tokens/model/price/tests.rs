//! Prices under the names that people write, and what they come to.

use super::*;
use crate::tokens::ModelProfile;

fn price(model: &str) -> Option<Price> {
    ModelProfile::find(model).ok()?.price.clone()
}

fn used(input: u64, cache_read: u64, cache_write: u64, output: u64) -> Usage {
    Usage {
        input,
        cache_read,
        cache_write,
        output,
    }
}

#[test]
fn prices_are_found_under_the_names_that_people_write() {
    for (model, dollars_per_hundred_million) in [
        ("claude-opus-4-8", 500),
        ("anthropic/claude-opus-4.5", 500),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 300),
        ("claude-opus-4-1@20250805", 1_500),
        ("claude-opus-5-5", 400),
        ("claude-3.5-haiku-latest", 80),
        ("gpt-4-0613", 3_000),
        ("gpt-4o-2024-05-13", 500),
        ("openai/gpt-5.6-luna", 20),
        ("gemini-3-pro-preview", 200),
        ("GPT-5-Mini", 25),
    ] {
        let cost = price(model).unwrap().cost(&used(100_000_000, 0, 0, 0));
        let step = price(model).unwrap().step(100_000_000);
        let factor = u64::from(step.map_or(1_000, |step| step.input_permille));
        let expected = dollars_per_hundred_million * factor * 1_000;
        assert_eq!(cost, Some(expected), "{model}");
    }
}

#[test]
fn unknown_models_have_no_price() {
    for model in [
        "claude",
        "claude-opus-4-9",
        "gpt-5.9",
        "gpt-5-maxi",
        "ft:gpt-4o-mini-2024-07-18:org::id",
        "llama-3.1-8b",
        "",
    ] {
        assert_eq!(price(model), None, "{model}");
    }
}

#[test]
fn o07_cost_is_exact_and_rounds_up() {
    let nano = price("gpt-5-nano").unwrap();
    let input = |tokens| nano.cost(&used(tokens, 0, 0, 0));
    assert_eq!(input(0), Some(0));
    assert_eq!(input(1), Some(1));
    assert_eq!(input(20), Some(1));
    assert_eq!(input(21), Some(2));
    // 1,000 plain at 4 $, 20,000 read at 0.20 $, 2,000 written at 5 $, 500 of the answer at 20 $.
    let opus = price("claude-opus-5-5").unwrap();
    let cost = opus.cost(&used(23_000, 20_000, 2_000, 500));
    assert_eq!(cost, Some(4_000 + 4_000 + 10_000 + 10_000));
    assert!(opus.cost(&used(u64::MAX, 0, 0, 0)) > Some(u64::MAX / 1_000));
}

#[test]
fn o07_all_tokens_of_a_request_beyond_a_step_cost_more() {
    let haiku = price("claude-haiku-5-5").unwrap();
    assert_eq!(haiku.cost(&used(100_000, 0, 0, 1_000)), Some(10_500));
    assert_eq!(haiku.cost(&used(100_001, 0, 0, 1_000)), Some(52_501));
    // The answer's price grows less than that of the request.
    let gpt = price("gpt-5.4").unwrap();
    assert_eq!(gpt.cost(&used(272_000, 0, 0, 1_000)), Some(695_000));
    assert_eq!(gpt.cost(&used(272_001, 0, 0, 1_000)), Some(1_382_505));
}

#[test]
fn o07_an_answer_without_a_price_has_no_cost() {
    let kimi = price("kimi-k2-turbo").unwrap();
    assert_eq!(kimi.cost(&used(1_000, 0, 0, 5)), None);
    assert_eq!(kimi.cost(&used(1_000, 0, 0, 0)), Some(1_150));
}
