//! Cache reads as they are predicted, against those that are billed.

use std::cell::Cell;

use jiff::Timestamp;
use kitbag::Engine;
use kitbag::core::envelope::ToolDefinition;
use kitbag::core::record::{CacheMiss, InferenceRecord};
use kitbag::engine::Contribution;
use kitbag::store::{Incoming, Store};
use serde_json::json;

use crate::billing::Biller;
use crate::with_store;

thread_local! {
    /// The time of a test, in seconds. Each test runs on a thread of its own.
    static NOW: Cell<i64> = const { Cell::new(1_800_000_000) };
}

fn clock() -> Timestamp {
    Timestamp::from_second(NOW.get()).unwrap()
}

fn pass(seconds: i64) {
    NOW.set(NOW.get() + seconds);
}

fn engine(store: &Store, provider: Biller) -> Engine {
    let engine = Engine::builder().store(store.clone());
    engine.provider(provider).clock(clock).build().unwrap()
}

async fn ask(engine: &Engine, message: &str, tool: Option<&str>) -> InferenceRecord {
    let mut turn = engine.turn(Incoming::new("cli", "ann", message)).unwrap();
    if let Some(name) = tool {
        let mut tools = Contribution::default();
        let schema = json!({"type": "object"});
        let tool = ToolDefinition::new(name, "Looks something up.", schema);
        tools.draft.tools.push(tool);
        turn.contributions.push(tools);
    }
    let stop = std::pin::pin!(std::future::pending());
    // Unoptimised, several of these side by side would not fit on the stack of a test's thread.
    let answer = Box::pin(engine.answer(turn, &mut |_| (), stop)).await;
    let answer = answer.unwrap();
    answer.record.inferences[0].clone()
}

fn story() -> String {
    "A long story about bees, honey and the weather of the year. ".repeat(120)
}

#[test]
fn o07_predicted_cache_reads_are_those_that_are_billed() {
    with_store(async |store| {
        let engine = engine(&store, Biller::new("claude-sonnet-4-5", 1_300));
        let first = ask(&engine, &story(), None).await;
        assert_eq!((first.predicted_cache_read, first.cache_miss), (None, None));
        for turn in 0..4 {
            pass(30);
            let sent = ask(&engine, &format!("Question {turn}?"), None).await;
            let (predicted, usage) = (sent.predicted_cache_read.unwrap(), sent.usage.unwrap());
            assert!(usage.cache_read > 1_000, "{sent:?}");
            let off = predicted.abs_diff(usage.cache_read);
            assert!(off * 20 <= predicted, "{sent:?}");
            assert_eq!(sent.cache_shortfall(), None);
        }
    });
}

#[test]
fn o07_a_miss_is_predicted_and_explained() {
    with_store(async |store| {
        let biller = Biller::new("claude-sonnet-4-5", 1_300);
        let sonnet = engine(&store, biller.clone());
        ask(&sonnet, &story(), Some("search")).await;
        let changed = ask(&sonnet, "And now?", Some("find")).await;
        assert_eq!(changed.predicted_cache_read, Some(0));
        assert_eq!(changed.cache_miss, Some(CacheMiss::ToolsChanged));
        assert_eq!(changed.usage.unwrap().cache_read, 0);

        let mut biller = biller;
        biller.model = "claude-opus-4-8";
        let opus = engine(&store, biller);
        let other = ask(&opus, "And now?", Some("find")).await;
        assert_eq!(other.predicted_cache_read, Some(0));
        assert_eq!(other.cache_miss, Some(CacheMiss::ModelChanged));

        pass(301);
        let late = ask(&opus, "And now?", Some("find")).await;
        assert_eq!(late.predicted_cache_read, Some(0));
        assert_eq!(late.cache_miss, Some(CacheMiss::Expired));
    });
}
