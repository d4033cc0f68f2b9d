//! Tests of the views: the consumption tables cell by cell, prompts, views of a user's own.

use alloc::format;
use alloc::string::{String, ToString};

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{from_value, json};

use super::*;
use crate::conversation::ConversationTurn;
use crate::entity::{EntityDetail, EntityRegistry};
use crate::reasoning::StepSummary;

const ACTIVE: &str = "3f2b8c1e-0000-4000-8000-000000000001";
const RETAINED: &str = "3f2b8c1e-0000-4000-8000-000000000002";

/// A turn in which every column of every layer has something of its own to show.
fn state() -> TurnState {
    let mut conversation: ConversationContext = from_value(json!({
        "recent_turns": [
            {"user": "u older", "assistant_summary": "a older"},
            {"user": "u recent", "assistant_summary": "a recent"},
            {"user": "u latest", "assistant_summary": "a latest"}
        ],
        "history_summary": "the summary", "engagement_summary": "the engagement",
        "pending_clarification": {"type": "propose", "context": "the proposal"},
        "turn_summaries": [{
            "turn_num": 8, "think_decision": "plan_direct", "think_goal": "the past goal",
            "steps": [{
                "step_num": 1, "type": "read", "description": "the past step", "outcome": "the past outcome",
                "entities_involved": ["recipe_1"], "note": "the past note"
            }],
            "entity_curation": {"retained": [], "demoted": ["recipe_7"], "reasons": {}},
            "conversation_phase": "the phase", "user_expressed": "the wish", "blocked_reason": "the block"
        }],
        "reasoning_summary": "the older reasoning",
        "content_archive": {"the_key": {"description": "the archived"}},
        "understand_decision_log": [{"turn": 2, "ref": "recipe_1", "action": "retain", "reason": "the decision"}],
        "step_summaries": [{"step_index": 0, "outcome": "the oldest step"}]
    }))
    .unwrap();
    let registry = &mut conversation.id_registry;
    registry.begin_turn(1);
    registry.register_read(RETAINED, "recipes", "Retained Label");
    registry.retain("recipe_1", "the reason").unwrap();
    registry.begin_turn(9);
    registry.register_read(ACTIVE, "recipes", "Active Label");
    registry.register_generated(
        "recipes",
        "Draft Label",
        json!({"draft": "draft data"}),
        None,
    );

    let mut state = TurnState::new(conversation, 9);
    let row = json!({"id": ACTIVE, "text": "active data"});
    state.entity_data.insert("recipe_2".to_string(), row);
    state
        .entity_data
        .insert("recipe_1".to_string(), json!({"text": "retained data"}));
    let step = StepSummary::new(1, "write", "", "this step", Some("this outcome"), 1);
    state.this_turn.finish_step(
        step.with_note("this note"),
        json!({"rows": [ACTIVE, "this result"]}),
    );
    state
        .this_turn
        .summary
        .entity_curation
        .retained
        .push("recipe_1".to_string());
    state.this_turn.accomplished = Some("the feat".to_string());
    state
}

fn seen_by(node: &str) -> NodeContext {
    let build = match node {
        "understand" => build_understand_context,
        "think" => build_think_context,
        "act" => build_act_context,
        _ => build_reply_context,
    };
    build(&state())
}

/// For each node and column: what must be there, and what must not.
#[test]
fn a07_the_entity_table_holds_cell_by_cell() {
    let active_record = "`recipe_2` (recipes, read, from turn 9, last in turn 9): Active Label";
    let draft_record =
        "`gen_recipe_1` (recipes, generated, from turn 9, last in turn 9): Draft Label";
    let retained_record = "`recipe_1` (recipes, read, from turn 1, last in turn 1): Retained Label";
    let active_data = "data: {\"id\":\"recipe_2\",\"text\":\"active data\"}";
    for (node, column, there, missing) in [
        (
            "understand",
            "active",
            &[active_record][..],
            &["active data"][..],
        ),
        ("understand", "generated", &[draft_record], &["draft data"]),
        (
            "understand",
            "retained",
            &[retained_record, "the reason"],
            &["retained data"],
        ),
        (
            "think",
            "active",
            &["- `recipe_2`: Active Label\n"],
            &["active data", "last in turn 9"],
        ),
        (
            "think",
            "generated",
            &["- `gen_recipe_1`: Draft Label\n"],
            &["draft data"],
        ),
        (
            "think",
            "retained",
            &["- `recipe_1`\n"],
            &["Retained Label", "the reason", "retained data"],
        ),
        ("act", "active", &["Active Label", active_data], &[]),
        (
            "act",
            "generated",
            &["Draft Label", "data: {\"draft\":\"draft data\"}"],
            &[],
        ),
        (
            "act",
            "retained",
            &[],
            &[
                "recipe_1`:",
                "- `recipe_1`",
                "Retained Label",
                "retained data",
            ],
        ),
        (
            "reply",
            "active",
            &["- Active Label\n"],
            &["recipe_2", "active data"],
        ),
        (
            "reply",
            "generated",
            &["(not saved yet)\n- Draft Label"],
            &["gen_recipe_1", "draft data"],
        ),
        ("reply", "retained", &[], &["recipe_1", "Retained Label"]),
        (
            "think",
            "do not re-read",
            &["DO NOT re-read: `recipe_2`, `gen_recipe_1`"],
            &[],
        ),
        ("understand", "do not re-read", &[], &["re-read"]),
        ("act", "do not re-read", &[], &["re-read"]),
        ("reply", "do not re-read", &[], &["re-read"]),
    ] {
        check(node, column, &seen_by(node).entity, there, missing);
    }
}

#[test]
fn a07_the_conversation_table_holds_cell_by_cell() {
    let recent = ["u recent", "a recent", "u latest", "a latest"];
    for node in ["understand", "think", "act", "reply"] {
        let text = seen_by(node).conversation;
        check(node, "recent", &text, &recent, &[]);
        let shows = |part: &str| match part {
            "summary" => matches!(node, "understand" | "think"),
            _ => node != "act",
        };
        for (column, mark) in [
            ("summary", "the summary"),
            ("summary", "u older"),
            ("engagement", "the engagement"),
            ("pending", "the proposal"),
        ] {
            let (there, missing) = ([mark], [mark]);
            if shows(column) {
                check(node, column, &text, &there, &[]);
            } else {
                check(node, column, &text, &[], &missing);
            }
        }
    }
}

#[test]
fn a07_the_reasoning_table_holds_cell_by_cell() {
    let past = [
        "the past step",
        "the past outcome",
        "`recipe_1`",
        "the past note",
        "the past goal",
        "the older reasoning",
    ];
    let this = [
        "this step",
        "this outcome",
        "this note",
        "{\"rows\":[\"recipe_2\",\"this result\"]}",
    ];
    for (node, column, there, missing) in [
        (
            "understand",
            "last turn",
            &[][..],
            &["the past outcome", "the block", "Turn 8"][..],
        ),
        ("understand", "this turn", &[], &this),
        (
            "understand",
            "curation",
            &["Turn 2: retain `recipe_1`: the decision"],
            &["recipe_7"],
        ),
        ("understand", "phase", &[], &["the phase", "the wish"]),
        (
            "understand",
            "additions",
            &[],
            &["the feat", "the_key", "the oldest step"],
        ),
        ("think", "last turn", &past, &[]),
        ("think", "blocked", &["Blocked: the block"], &[]),
        ("think", "this turn", &[], &this),
        (
            "think",
            "curation",
            &["Kept `recipe_1`", "Set aside `recipe_7`"],
            &["the decision"],
        ),
        ("think", "phase", &["Conversation phase: the phase"], &[]),
        (
            "think",
            "last turn in a line",
            &["Last turn: the past outcome; blocked: the block"],
            &[],
        ),
        (
            "think",
            "user expressed",
            &["User expressed: the wish"],
            &[],
        ),
        (
            "think",
            "additions",
            &[],
            &["the feat", "the_key", "the oldest step"],
        ),
        (
            "act",
            "last turn",
            &[],
            &["the past outcome", "the block", "the older reasoning"],
        ),
        ("act", "this turn", &this, &[]),
        (
            "act",
            "curation",
            &[],
            &["Kept", "recipe_7", "the decision"],
        ),
        ("act", "phase", &[], &["the phase", "the wish"]),
        (
            "act",
            "previous step's note",
            &["Note from the previous step: this note"],
            &[],
        ),
        ("act", "archive", &["`the_key`: the archived"], &[]),
        ("act", "older steps", &["the oldest step"], &["the feat"]),
        (
            "reply",
            "last turn",
            &["the past outcome", "the block"],
            &["the past step", "the past note", "the past goal"],
        ),
        (
            "reply",
            "this turn",
            &["this outcome"],
            &["this step", "this note", "this result"],
        ),
        (
            "reply",
            "curation",
            &[],
            &["Kept", "recipe_7", "the decision"],
        ),
        (
            "reply",
            "phase",
            &["Conversation phase: the phase"],
            &["the older reasoning"],
        ),
        (
            "reply",
            "user expressed",
            &["User expressed: the wish"],
            &["Last turn:"],
        ),
        (
            "reply",
            "accomplished",
            &["Just accomplished: the feat"],
            &["the_key", "the oldest step"],
        ),
    ] {
        check(node, column, &seen_by(node).reasoning, there, missing);
    }
}

fn check(node: &str, column: &str, text: &str, there: &[&str], missing: &[&str]) {
    for mark in there {
        let lined = format!("{text}\n");
        assert!(
            lined.contains(mark),
            "{node} × {column} lacks {mark:?}:\n{text}"
        );
    }
    for mark in missing {
        assert!(
            !text.contains(mark),
            "{node} × {column} shows {mark:?}:\n{text}"
        );
    }
}

#[test]
fn a08_the_prompt_of_understand() {
    assert_snapshot!(render_node_prompt(&seen_by("understand"), "Curate."), @"
    ## Entity Context
    ### Active (saved)
    - `recipe_2` (recipes, read, from turn 9, last in turn 9): Active Label
    ### Drafts (not saved yet)
    - `gen_recipe_1` (recipes, generated, from turn 9, last in turn 9): Draft Label
    ### Kept from earlier turns
    - `recipe_1` (recipes, read, from turn 1, last in turn 1): Retained Label
      kept because: the reason

    ## Conversation History
    ### Session
    - the engagement
    ### Earlier
    - the summary
    - User: u older
      Assistant: a older
    ### Recent turns
    - User: u recent
    - Assistant: a recent
    - User: u latest
    - Assistant: a latest
    ### Waiting for the user
    - Proposed, not approved yet: the proposal

    ## What Happened (Reasoning Trace)
    ### Your earlier decisions
    - Turn 2: retain `recipe_1`: the decision

    ---
    ## Your Task
    Curate.
    ");
}

#[test]
fn a08_the_prompt_of_think() {
    assert_snapshot!(render_node_prompt(&seen_by("think"), "Plan."), @"
    ## Entity Context
    ### Active (saved)
    - `recipe_2`: Active Label
    ### Drafts (not saved yet)
    - `gen_recipe_1`: Draft Label
    ### Kept from earlier turns
    - `recipe_1`

    DO NOT re-read: `recipe_2`, `gen_recipe_1`

    ## Conversation History
    ### Session
    - the engagement
    ### Earlier
    - the summary
    - User: u older
      Assistant: a older
    ### Recent turns
    - User: u recent
    - Assistant: a recent
    - User: u latest
    - Assistant: a latest
    ### Waiting for the user
    - Proposed, not approved yet: the proposal

    ## What Happened (Reasoning Trace)
    ### Earlier reasoning
    - the older reasoning
    ### Turn 8
    - Decided: plan_direct, the past goal
    - Step 1 (read): the past step
      outcome: the past outcome
      entities: `recipe_1`
      note: the past note
    - Blocked: the block
    - Set aside `recipe_7`
    ### This turn
    - Kept `recipe_1`
    ### Where we are
    - Last turn: the past outcome; blocked: the block
    - Conversation phase: the phase
    - User expressed: the wish

    ---
    ## Your Task
    Plan.
    ");
}

#[test]
fn a08_the_prompt_of_act() {
    assert_snapshot!(render_node_prompt(&seen_by("act"), "Execute."), @r#"
    ## Entity Context
    ### Active (saved)
    - `recipe_2` (recipes, read): Active Label
      data: {"id":"recipe_2","text":"active data"}
    ### Drafts (not saved yet)
    - `gen_recipe_1` (recipes, generated): Draft Label
      data: {"draft":"draft data"}

    ## Conversation History
    ### Recent turns
    - User: u recent
    - Assistant: a recent
    - User: u latest
    - Assistant: a latest

    ## What Happened (Reasoning Trace)
    ### Earlier steps
    - Step 1: the oldest step
    ### Archive (ask by key)
    - `the_key`: the archived
    ### This turn
    - Step 1 (write): this step
      outcome: this outcome
      note: this note
      result: {"rows":["recipe_2","this result"]}
    - Note from the previous step: this note

    ---
    ## Your Task
    Execute.
    "#);
}

#[test]
fn a08_the_prompt_of_reply() {
    assert_snapshot!(render_node_prompt(&seen_by("reply"), "Answer."), @"
    ## Entity Context
    ### Active (saved)
    - Active Label
    ### Drafts (not saved yet)
    - Draft Label

    ## Conversation History
    ### Session
    - the engagement
    ### Recent turns
    - User: u recent
    - Assistant: a recent
    - User: u latest
    - Assistant: a latest
    ### Waiting for the user
    - Proposed, not approved yet: the proposal

    ## What Happened (Reasoning Trace)
    ### Turn 8
    - Step 1 (read): the past outcome
    - Blocked: the block
    ### This turn
    - Step 1 (write): this outcome
    - Just accomplished: the feat
    ### Where we are
    - Conversation phase: the phase
    - User expressed: the wish

    ---
    ## Your Task
    Answer.
    ");
}

#[test]
fn a08_turn_zero_has_all_sections_too() {
    let state = TurnState::new(ConversationContext::new(), 0);
    assert_snapshot!(render_node_prompt(&build_think_context(&state), "Plan."), @"
    ## Entity Context
    No entities in context.

    Nothing has been read yet.

    ## Conversation History
    No earlier conversation.

    ## What Happened (Reasoning Trace)
    Nothing so far.

    ---
    ## Your Task
    Plan.
    ");
}

#[test]
fn a11_a_node_of_the_users_own_sees_what_it_names() {
    let view: View = from_value(json!({
        "name": "critic",
        "entity": {"generated": "full_data"},
        "conversation": {"depth": 2, "recent_turns": 1, "also": ["engagement"]},
        "reasoning": {"current_steps": "line"},
        "additions": ["user_expressed"]
    }))
    .unwrap();
    let context = build_context(&view, &state());
    assert_eq!(context.node, "critic");
    assert_snapshot!(render_node_prompt(&context, "Criticise."), @r#"
    ## Entity Context
    ### Drafts (not saved yet)
    - `gen_recipe_1` (recipes, generated): Draft Label
      data: {"draft":"draft data"}

    ## Conversation History
    ### Session
    - the engagement
    ### Recent turns
    - User: u latest
    - Assistant: a latest

    ## What Happened (Reasoning Trace)
    ### This turn
    - Step 1 (write): this step
    ### Where we are
    - User expressed: the wish

    ---
    ## Your Task
    Criticise.
    "#);
}

#[test]
fn a11_an_empty_view_sees_nothing() {
    let context = build_context(&from_value(json!({})).unwrap(), &state());
    assert_eq!(context.entity, "No entities in context.");
    assert_eq!(context.conversation, "No earlier conversation.");
    assert_eq!(context.reasoning, "Nothing so far.");
}

#[test]
fn a11_a_node_named_like_a_built_in_one_changes_only_what_is_written() {
    let think = View::builtin("think").unwrap();
    assert_eq!(&View::read("think", json!({})).unwrap(), think);
    assert_eq!(
        &View::read("think", json!({"entity": null})).unwrap(),
        think
    );
    let changed = json!({
        "entity": {"active": "labels"},
        "conversation": {"recent_turns": 4},
        "additions": ["do_not_reread"]
    });
    let view = View::read("think", changed).unwrap();
    assert_eq!(view.name, "think");
    assert_eq!(view.entity.active, EntityDetail::Labels);
    assert_eq!(view.entity.retained, think.entity.retained);
    assert_eq!(view.conversation.recent_turns, 4);
    assert_eq!(view.conversation.depth, think.conversation.depth);
    assert_eq!(view.reasoning, think.reasoning);
    assert_eq!(view.additions, [Addition::DoNotReread].as_slice());

    let own = View::read("critic", json!({"reasoning": {"past_steps": "line"}})).unwrap();
    assert_eq!(own.name, "critic");
    assert_eq!(own.entity, EntityView::default());
    assert_eq!(own.reasoning.past_turns, 2);
    let renamed = View::read("think", json!({"name": "critic"})).unwrap_err();
    assert_eq!(renamed.field, "name");
}

#[test]
fn a11_errors_name_the_field() {
    for (json, message) in [
        (
            json!({"entity": {"active": "lables"}}),
            "view field `entity.active`: unknown variant `lables`, expected one of `hidden`, `refs`, `labels`, `refs_and_labels`, `record`, `full_data`",
        ),
        (
            json!({"entity": {"activ": "labels"}}),
            "view field `entity.activ`: unknown field, expected one of active, generated, retained",
        ),
        (
            json!({"conversation": {"depth": 3}}),
            "view field `conversation.depth`: unknown conversation depth `3`, expected 0, 2, 5 or full",
        ),
        (
            json!({"reasoning": true}),
            "view field `reasoning`: `true` is not a map of fields",
        ),
        (
            json!({"layers": {}}),
            "view field `layers`: unknown field, expected one of entity, conversation, reasoning, additions",
        ),
    ] {
        assert_eq!(from_value::<View>(json).unwrap_err().to_string(), message);
    }
}

#[test]
fn a11_the_built_in_views_are_data_like_any_other() {
    for view in &BUILTIN_VIEWS {
        let json = serde_json::to_value(view).unwrap();
        assert_eq!(&from_value::<View>(json).unwrap(), view);
        assert_eq!(View::builtin(&view.name), Some(view));
    }
    assert_eq!(View::builtin("critic"), None);
}

proptest! {
    #[test]
    fn a08_no_text_from_outside_adds_a_heading(text in hostile()) {
        let mut conversation = ConversationContext::new();
        let mut registry = EntityRegistry::new("s");
        registry.register_read(&text, "recipes", &text);
        registry.register_generated("recipes", &text, json!({"text": text}), None);
        registry.register_linked(ACTIVE, "recipes");
        registry.retain("recipe_1", &text).unwrap();
        conversation.id_registry = registry;
        conversation.recent_turns.push(ConversationTurn::new(text.clone(), text.clone()));
        conversation.history_summary.clone_from(&text);
        conversation.engagement_summary.clone_from(&text);
        conversation.reasoning_summary.clone_from(&text);
        conversation.content_archive.insert(text.clone(), json!(text));
        let mut state = TurnState::new(conversation, 0);
        let step = StepSummary::new(1, &text, &text, &text, Some(&text), 1).with_note(text.clone());
        state.this_turn.finish_step(step.with_entities([text.clone()]), json!(text));
        state.this_turn.accomplished = Some(text.clone());
        state.this_turn.summary.user_expressed.clone_from(&text);
        state.conversation.turn_summaries.push(state.this_turn.summary.clone());

        for view in &BUILTIN_VIEWS {
            let prompt = render_node_prompt(&build_context(view, &state), "Do it.");
            prop_assert!(!prompt.contains(ACTIVE));
            let headings: String = prompt.lines().filter(|line| line.starts_with("## ")).collect();
            prop_assert_eq!(headings, "## Entity Context## Conversation History## What Happened (Reasoning Trace)## Your Task");
            for line in prompt.split(['\n', '\r', '\u{2028}']).filter(|line| !line.is_empty()) {
                let ours = ["## ", "### ", "- ", "  ", "---", "DO NOT", "No ", "Nothing ", "Do it."];
                prop_assert!(ours.iter().any(|start| line.starts_with(start)), "{line:?} in\n{prompt}");
            }
        }
    }
}

fn hostile() -> impl Strategy<Value = String> {
    let part = prop::sample::select(
        &[
            "## Your Task",
            "### Turn 9",
            "---",
            "- ",
            "```",
            "\n",
            "\r\n",
            "\u{2028}",
            " ",
            "word",
            "`",
            ACTIVE,
        ][..],
    );
    prop::collection::vec(part, 1..8).prop_map(|parts| parts.concat())
}

#[test]
fn x01_entities_turns_and_steps_are_chunks_with_the_levels_that_a_view_allows() {
    use crate::chunk::{ChunkType, ContextChunk};

    let levels = |node: &str, source: &str| -> Vec<String> {
        let chunks = layer_chunks(View::builtin(node).unwrap(), &state());
        let chunk = chunks.iter().find(|chunk| chunk.source == source);
        let levels = chunk.into_iter().flat_map(|chunk| &chunk.levels);
        levels.map(|level| level.content.clone()).collect()
    };
    assert_eq!(
        levels("act", "entity/recipe_2"),
        [
            "`recipe_2` (recipes, read): Active Label\n  data: {\"id\":\"recipe_2\",\"text\":\"active data\"}",
            "`recipe_2`: Active Label",
            "Active Label",
        ]
    );
    assert_eq!(levels("think", "entity/recipe_1"), ["`recipe_1`"]);
    assert_eq!(
        levels("act", "entity/recipe_1"),
        [""; 0],
        "Act sees nothing that is retained"
    );
    assert_eq!(levels("reply", "entity/recipe_2"), ["Active Label"]);
    assert_eq!(levels("act", "step/9.1").len(), 3);
    assert_eq!(levels("understand", "step/9.1"), [""; 0]);
    let chunks = layer_chunks(View::builtin("reply").unwrap(), &state());
    let turns = chunks
        .iter()
        .filter(|chunk| chunk.chunk_type == ChunkType::Turn);
    let said: Vec<&str> = turns.map(ContextChunk::content).collect();
    let recent = ["recent", "latest"].map(|n| format!("User: u {n}\n- Assistant: a {n}"));
    assert_eq!(said, recent, "the two recent turns");

    let chunks = layer_chunks(View::builtin("act").unwrap(), &state());
    let is_layer = |chunk: &ContextChunk| {
        matches!(
            chunk.chunk_type,
            ChunkType::Entity | ChunkType::Turn | ChunkType::Step
        )
    };
    assert!(chunks.iter().all(is_layer));
    assert!(
        !serde_json::to_string(&chunks).unwrap().contains(ACTIVE),
        "no row id is shown"
    );
}
