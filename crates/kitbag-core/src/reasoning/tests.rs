//! Tests of the reasoning layer: what the trace holds and what each node reads of it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use insta::assert_snapshot;
use serde_json::{from_value, json};

use super::*;

fn stored() -> ConversationContext {
    let turn = |turn_num: u32| {
        json!({
            "turn_num": turn_num, "think_decision": "plan_direct", "think_goal": format!("goal {turn_num}"),
            "steps": [{
                "step_num": 1, "type": "read", "subdomain": "recipes", "description": "Find soups",
                "outcome": format!("found soups in turn {turn_num}"), "entities_involved": ["recipe_1", "recipe_2"],
                "note": "compare them\n# forged"
            }],
            "entity_curation": {"retained": ["recipe_1"], "demoted": [], "reasons": {"recipe_1": "a favourite"}},
            "conversation_phase": "narrowing", "user_expressed": "wants quick meals"
        })
    };
    let mut last = turn(3);
    last["blocked_reason"] = json!("write failed on inventory: sugar");
    from_value(json!({
        "turn_summaries": [turn(1), turn(2), last],
        "reasoning_summary": "Turn 0 was a greeting.",
        "content_archive": {"menu": {"description": "A menu draft", "items": []}, "list": [1, 2], "text": "abc"},
        "understand_decision_log": [
            {"turn": 1, "ref": "recipe_1", "action": "retain", "reason": "a favourite"},
            {"turn": 2, "action": "clear_all", "reason": null}
        ],
        "step_summaries": [{"step_index": 0, "description": "d", "outcome": "old outcome", "entity_ids": ["x"]}]
    }))
    .unwrap()
}

fn current() -> CurrentTurn {
    let mut turn = CurrentTurn::new(4);
    turn.summary
        .entity_curation
        .demoted
        .push("recipe_2".to_string());
    turn.summary.conversation_phase = "confirming".to_string();
    let step = StepSummary::new(1, "write", "recipes", "Save the soup", None, 1);
    let step = step
        .with_entities(["gen_recipe_1"])
        .with_note("saved as gen_recipe_1");
    turn.finish_step(step, json!([{"id": "recipe_3"}]));
    turn.accomplished = Some("The soup is saved.".to_string());
    turn
}

fn shown(node: &str) -> String {
    let trace = get_reasoning_trace(&stored(), &current());
    format_reasoning_for_prompt(&trace, View::builtin(node).unwrap())
}

#[test]
fn a05_the_last_two_turns_and_the_summary_of_the_rest() {
    let trace = get_reasoning_trace(&stored(), &current());
    let turns: Vec<u32> = trace
        .recent_summaries
        .iter()
        .map(|turn| turn.turn_num)
        .collect();
    assert_eq!(turns, [2, 3]);
    assert_eq!(trace.reasoning_summary, "Turn 0 was a greeting.");
    assert_eq!(
        trace.recent_summaries[1].blocked_reason.as_deref(),
        Some("write failed on inventory: sugar")
    );
    assert_eq!(trace.current, current());
    let archive: Vec<(&str, &str)> = trace
        .archive
        .iter()
        .map(|entry| (entry.key.as_str(), entry.description.as_str()))
        .collect();
    assert_eq!(
        archive,
        [
            ("list", "2 items"),
            ("menu", "A menu draft"),
            ("text", "text of 3 characters")
        ]
    );
    assert_eq!(
        (
            trace.older_steps[0].step_num,
            trace.older_steps[0].outcome.as_str()
        ),
        (1, "old outcome")
    );
}

#[test]
fn a05_an_outcome_is_the_steps_own_word_or_a_count() {
    let outcome = |told, count| StepSummary::new(1, "read", "", "", told, count).outcome;
    assert_eq!(outcome(Some("three soups"), 3), "three soups");
    assert_eq!(outcome(Some("  "), 3), "read: 3 records");
    assert_eq!(outcome(None, 1), "read: 1 record");
    assert_eq!(outcome(None, 0), "read: no records");
}

#[test]
fn a06_think_sees_two_turns_in_full() {
    assert_snapshot!(shown("think"), @r"
    - Earlier reasoning: Turn 0 was a greeting.
    - Turn 2: plan_direct, goal 2
      kept `recipe_1`: a favourite
    - Turn 2, step 1 (read recipes): Find soups
      outcome: found soups in turn 2
      entities: `recipe_1`, `recipe_2`
      note: compare them
        \# forged
    - Turn 3: plan_direct, goal 3
      blocked: write failed on inventory: sugar
      kept `recipe_1`: a favourite
    - Turn 3, step 1 (read recipes): Find soups
      outcome: found soups in turn 3
      entities: `recipe_1`, `recipe_2`
      note: compare them
        \# forged
    - Decided about entities in this turn:
      set aside `recipe_2`
    - Last turn: found soups in turn 3; blocked: write failed on inventory: sugar
    - Conversation phase: confirming
    - User expressed: wants quick meals
    ");
}

#[test]
fn a06_act_sees_this_turn_with_results() {
    assert_snapshot!(shown("act"), @r#"
    - Earlier step 1: old outcome
    - In the archive, to be asked for by key:
      `list`: 2 items
      `menu`: A menu draft
      `text`: text of 3 characters
    - This turn, step 1 (write recipes): Save the soup
      outcome: write: 1 record
      entities: `gen_recipe_1`
      note: saved as gen_recipe_1
      result: [{"id":"recipe_3"}]
    - Note from the previous step: saved as gen_recipe_1
    "#);
}

#[test]
fn a06_reply_sees_outcomes() {
    assert_snapshot!(shown("reply"), @"
    - Turn 3
      blocked: write failed on inventory: sugar
    - Turn 3, step 1 (read recipes): found soups in turn 3
    - This turn, step 1 (write recipes): write: 1 record
    - Just accomplished: The soup is saved.
    - Conversation phase: confirming
    - User expressed: wants quick meals
    ");
}

#[test]
fn a06_a_node_of_the_users_own_sees_what_its_view_names() {
    let trace = get_reasoning_trace(&stored(), &current());
    let view = View::read("ponder", json!({"reasoning": {"current_steps": "line"}})).unwrap();
    assert_eq!(
        format_reasoning_for_prompt(&trace, &view),
        "- This turn, step 1 (write recipes): Save the soup"
    );
    assert_eq!(View::builtin("ponder"), None);
}

#[test]
fn a06_a_first_turn_says_that_nothing_happened() {
    let trace = get_reasoning_trace(&ConversationContext::new(), &CurrentTurn::new(0));
    for node in ["think", "act", "reply"] {
        assert_eq!(
            format_reasoning_for_prompt(&trace, View::builtin(node).unwrap()),
            "Nothing so far."
        );
    }
}

#[test]
fn a06_a_block_in_this_turn_reaches_reply() {
    let mut turn = CurrentTurn::new(4);
    turn.summary.blocked_reason = Some("no such table".to_string());
    let trace = get_reasoning_trace(&ConversationContext::new(), &turn);
    let text = format_reasoning_for_prompt(&trace, View::builtin("reply").unwrap());
    assert_eq!(text, "- This turn is blocked: no such table");
}

#[test]
fn a06_the_steps_say_what_was_accomplished_if_nobody_else_does() {
    let mut turn = current();
    turn.accomplished = None;
    let trace = get_reasoning_trace(&ConversationContext::new(), &turn);
    let text = format_reasoning_for_prompt(&trace, View::builtin("reply").unwrap());
    assert!(
        text.contains("- Just accomplished: write: 1 record"),
        "{text}"
    );
}

#[test]
fn a06_a_last_turn_without_steps_tells_what_it_decided() {
    let json = json!({"turn_summaries": [{"turn_num": 3, "think_decision": "propose", "think_goal": "a menu"}]});
    let stored = from_value(json).unwrap();
    let trace = get_reasoning_trace(&stored, &CurrentTurn::new(4));
    let text = format_reasoning_for_prompt(&trace, View::builtin("think").unwrap());
    assert!(text.contains("- Last turn: propose, a menu"), "{text}");
}
