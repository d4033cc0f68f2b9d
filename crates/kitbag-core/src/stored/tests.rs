//! Tests of the stored conversation: everything in the JSON survives a round trip.

use alloc::string::{String, ToString};

use serde_json::json;

use super::*;

#[test]
fn a09_every_field_is_loaded_and_saved() {
    let json = json!({
        "recent_turns": [{
            "user": "hi", "assistant_summary": "hello", "assistant": "Hello!", "routing": {"agent": "chef"},
            "timestamp": "2026-01-13T10:00:00Z", "entities": ["recipe_1"]
        }],
        "history_summary": "h", "engagement_summary": "e",
        "pending_clarification": {"type": "ask_user", "context": "c", "questions": ["q", {"id": 1}], "goal": "g"},
        "id_registry": serde_json::to_value(SessionIdRegistry::new("s")).unwrap(),
        "turn_summaries": [{
            "turn_num": 0, "think_decision": "propose", "think_goal": "g",
            "steps": [{
                "step_num": 1, "type": "write", "subdomain": "d", "description": "x", "outcome": "o",
                "entities_involved": ["recipe_1"], "note": null, "ms": 12
            }],
            "entity_curation": {"retained": ["a"], "demoted": ["b"], "dropped": ["c"], "reasons": {"a": "r"}, "by": "u"},
            "conversation_phase": "exploring", "user_expressed": "u", "blocked_reason": "b", "model": "m"
        }],
        "reasoning_summary": "r",
        "content_archive": {"k": {"description": "d"}},
        "understand_decision_log": [{"turn": 0, "ref": "recipe_1", "action": "retain", "reason": "r", "by": "u"}],
        "step_summaries": [{"step_index": 0, "outcome": "o"}, "free text"],
        "active_entities": {"recipe": {"id": "x"}}, "all_entities": {}
    });
    let stored: ConversationContext = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&stored).unwrap(), json);
    assert_eq!(stored.other.len(), 2);
}

#[test]
fn a09_older_json_loads_and_then_stays_the_same() {
    for json in [
        json!({}),
        json!({"history_summary": null, "id_registry": null, "turn_summaries": null, "content_archive": null}),
        json!({"recent_turns": [{"user": null, "assistant": "x"}], "turn_summaries": [{"turn_num": 2, "steps": null}]}),
        json!({"pending_clarification": {"type": null}, "understand_decision_log": [{"turn": null, "action": "drop"}]}),
        json!({"turn_summaries": [{"turn_num": null, "steps": [{"step_num": null}], "entity_curation": {"dropped": null}}]}),
        json!({"id_registry": {"counters": null, "session_id": null, "current_turn": null, "ref_labels": {"recipe_1": null}}}),
        json!({"understand_decision_log": [{"turn": 1, "action": "clear_all", "reason": null}]}),
    ] {
        let loaded: ConversationContext = serde_json::from_value(json.clone()).unwrap();
        let saved = serde_json::to_string(&loaded).unwrap();
        let again: ConversationContext = serde_json::from_str(&saved).unwrap();
        assert_eq!(again, loaded, "{json}");
        assert_eq!(serde_json::to_string(&again).unwrap(), saved, "{json}");
    }
}

#[test]
fn a09_what_has_another_type_is_an_error_that_names_it() {
    let error = serde_json::from_value::<ConversationContext>(json!({"recent_turns": "none"}));
    let message: String = error.unwrap_err().to_string();
    assert!(message.contains("\"none\""), "{message}");
}
