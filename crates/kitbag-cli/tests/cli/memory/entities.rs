//! `kitbag memory entities`: what an agent left in a conversation.

use kitbag::core::reasoning::StepSummary;
use kitbag::core::summarize::{FinishedTurn, SummarySettings, summarize};
use kitbag::core::tokens::Characters;
use kitbag::core::view::TurnState;
use serde_json::json;

use super::Memory;

const ROW: &str = "3f2b8c1e-0000-4000-8000-000000000001";

/// A talk whose agent read a row, drafted another, and compared something.
fn worked() -> Memory {
    let memory = Memory::talk();
    memory.open("memory.db", async |store| {
        let id = "1.1".parse().unwrap();
        let mut state = TurnState::new(store.layers(id).await.unwrap(), 1);
        let registry = &mut state.conversation.id_registry;
        registry.register_read(ROW, "dogs", "Biscuit");
        registry.register_generated("walks", "Round the lake", json!({"km": 4}), None);
        let read = StepSummary::new(1, "read", "dogs", "Find the dog", None, 1);
        state.finish_step(read, json!([{"id": ROW, "breed": "beagle"}]));
        let compare = StepSummary::new(2, "analyze", "dogs", "Compare foods", None, 0);
        state.finish_step(compare, json!({"best": "dry food", "for": ROW}));
        let finished = FinishedTurn::of(state.this_turn, "Which food?", "Dry food.");
        let settings = SummarySettings::default();
        let ended = summarize(state.conversation, finished, &settings, &Characters, |_| {
            None
        });
        store.set_layers(id, ended.context).await.unwrap();
    });
    memory
}

#[test]
fn a12_entities_have_their_data_and_the_archive_answers_by_key() {
    let memory = worked();
    let report = memory.json(&["entities", "1.1"]);
    assert_eq!(report["active"][0]["ref"], "dog_1");
    assert_eq!(report["active"][0]["data"]["breed"], "beagle");
    assert_eq!(report["generated"][0]["label"], "Round the lake");
    assert_eq!(
        report["archive"],
        json!([{"key": "turn_1_step_2", "description": "Compare foods"}])
    );
    let archived = memory.run(&["entities", "1.1", "--archived", "turn_1_step_2"]);
    let content: serde_json::Value = serde_json::from_str(&archived.success()).unwrap();
    assert_eq!(content, json!({"best": "dry food", "for": "dog_1"}));
    insta::assert_snapshot!(memory.run(&["entities", "1.1"]).success(), @r"
    ref         tier       status     turns   label           kept because
    dog_1       active     read       1 to 1  Biscuit
    gen_walk_1  generated  generated  1 to 1  Round the lake

    archived       result
    turn_1_step_2  Compare foods
    ");
}

#[test]
fn what_is_not_there_is_named() {
    let memory = worked();
    let missing = memory.run(&["entities", "1.1", "--archived", "turn_9"]);
    let missing = missing.failure(1);
    assert!(
        missing.contains("has nothing archived as `turn_9`"),
        "{missing}"
    );
    assert!(missing.contains("kitbag memory entities 1.1"), "{missing}");
    let none = memory.run(&["entities", "1.2"]);
    assert!(
        none.stderr.contains("conversation 1.2 has no entities"),
        "{none:?}"
    );
    assert_eq!(none.success(), "");
    let missing = memory.run(&["entities", "7.7"]).failure(1);
    assert!(
        missing.contains("there is no conversation `7.7`"),
        "{missing}"
    );
}
