//! Tests of the views: the consumption tables cell by cell, prompts, views of a user's own.
//!
//! Every state went through JSON and every prompt through [`assemble`], as in a real turn.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{from_str, from_value, json, to_string};

use super::*;
use crate::assembly::{AssembleError, AssemblySettings, Draft, OutputForm, assemble};
use crate::chunk::{ChunkBand, ContextChunk};
use crate::conversation::ConversationTurn;
use crate::entity::{Retention, SessionIdRegistry};
use crate::reasoning::get_own_decision_history;
use crate::summarize::{FinishedTurn, SummarySettings, summarize};
use crate::tokens::{Characters, Quarters, Tokens};

const ACTIVE: &str = "3f2b8c1e-0000-4000-8000-000000000001";
const RETAINED: &str = "3f2b8c1e-0000-4000-8000-000000000002";
const CHOSEN: &str = "3f2b8c1e-0000-4000-8000-000000000003";
const NODES: [&str; 4] = ["understand", "think", "act", "reply"];
const AMPLE: u32 = 100_000;

/// A turn in which every column of every layer has something of its own to show, stored and loaded
/// after each thing that happened.
fn state() -> TurnState {
    let conversation: ConversationContext = from_value(json!({
        "recent_turns": [
            {"user": "u older", "assistant_summary": "a older"},
            {"user": "u recent", "assistant_summary": "a recent", "assistant": "a recent answer of so many words that a line of them is worth far less room than all of them, and it goes on about soups, stews and pies, one after the other, until nobody can remember how it began"},
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
        "understand_decision_log": [{"turn": 0, "ref": "recipe_1", "action": "retain", "reason": "the decision"}],
        "step_summaries": [{"step_index": 0, "outcome": "the oldest step"}]
    }))
    .unwrap();
    let mut first = TurnState::new(conversation, 1);
    let registry = &mut first.conversation.id_registry;
    registry.register_read(RETAINED, "recipes", "Retained Label");
    registry.register_read(CHOSEN, "menu", "Chosen Label");
    let read = StepSummary::new(1, "read", "", "", None, 2);
    let rows =
        json!([{"id": RETAINED, "text": "retained data"}, {"id": CHOSEN, "text": "chosen data"}]);
    first.finish_step(read, rows);
    first.curate(&retaining("recipe_1", "the reason"));
    first.curate(&retaining("menu_1", "the first reason"));

    let mut state = TurnState::new(reloaded(&first).conversation, 9);
    let registry = &mut state.conversation.id_registry;
    registry.register_read(ACTIVE, "recipes", "Active Label");
    registry.register_generated(
        "recipes",
        "Draft Label",
        json!({"draft": "draft data"}),
        None,
    );
    state.curate(&retaining("menu_1", "the choice"));
    let step = StepSummary::new(1, "write", "", "this step", Some("this outcome"), 1);
    let result = json!({"rows": [{"id": ACTIVE, "text": "active data"}, "this result"]});
    state.finish_step(step.with_note("this note"), result);
    state.this_turn.accomplished = Some("the feat".to_string());
    reloaded(&state)
}

fn retaining(reference: &str, reason: &str) -> CurationDecision {
    CurationDecision {
        retain_active: vec![Retention::new(reference, reason)],
        ..CurationDecision::default()
    }
}

fn reloaded(state: &TurnState) -> TurnState {
    from_str(&to_string(state).unwrap()).unwrap()
}

fn prompt_of(
    view: &View,
    state: &TurnState,
    task: &str,
    budget: u32,
) -> Result<String, AssembleError> {
    let chunks = node_chunks(view, state).into_iter().map(Into::into);
    let settings = AssemblySettings::new(OutputForm::Node, Tokens(budget));
    let assembly = assemble(
        &Draft::new(task),
        chunks.collect(),
        &settings,
        &Quarters,
        None,
    )?;
    assert!(assembly.tokens <= Tokens(budget));
    Ok(assembly.body)
}

fn prompt(node: &str, task: &str) -> String {
    prompt_of(View::builtin(node).unwrap(), &state(), task, AMPLE).unwrap()
}

/// The prompt within the least budget that has room for what is critical, and that budget.
fn tightest(node: &str) -> (u32, String) {
    let (view, state) = (View::builtin(node).unwrap(), state());
    let within = |budget| {
        prompt_of(view, &state, "Do it.", budget)
            .ok()
            .map(|text| (budget, text))
    };
    (0..2_000).find_map(within).unwrap()
}

const ENTITY: &str = "## Entity Context\n";
const CONVERSATION: &str = "\n\n## Conversation History\n";
const REASONING: &str = "\n\n## What Happened (Reasoning Trace)\n";
const TASK: &str = "\n\n---\n## Your Task\n";

/// The three sections of a prompt.
fn sections(prompt: &str) -> [String; 3] {
    let rest = prompt.strip_prefix(ENTITY).unwrap();
    let (entity, rest) = rest.split_once(CONVERSATION).unwrap();
    let (conversation, rest) = rest.split_once(REASONING).unwrap();
    let (reasoning, _) = rest.split_once(TASK).unwrap();
    [entity, conversation, reasoning].map(|text| format!("{text}\n"))
}

/// A cell of a consumption table: node, section, column, the marks that it must show, and those that
/// it must not.
type Cell = (
    &'static str,
    usize,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const ACTIVE_DATA: &str = "data: {\"id\":\"recipe_2\",\"text\":\"active data\"}";
const THIS_TURN: &[&str] = &["this step", "this outcome", "this note", "\"this result\"]"];

#[rustfmt::skip]
const CELLS: &[Cell] = &[
    ("understand", 0, "active", &["`recipe_2` (recipes, read, from turn 9, last in turn 9): Active Label\n", "`menu_1` (menu, read, from turn 1, last in turn 9): Chosen Label\n  kept because: the choice\n"], &["active data"]),
    ("understand", 0, "generated", &["`gen_recipe_1` (recipes, draft, not saved, from turn 9, last in turn 9): Draft Label\n"], &["draft data"]),
    ("understand", 0, "retained", &["`recipe_1` (recipes, read, from turn 1, last in turn 1): Retained Label\n  kept because: the reason\n"], &["retained data"]),
    ("understand", 0, "do not re-read", &[], &["re-read"]),
    ("think", 0, "active", &["- `recipe_2`: Active Label\n", "- `menu_1` (kept): Chosen Label\n"], &["active data", "chosen data", "last in turn 9"]),
    ("think", 0, "generated", &["- `gen_recipe_1` (draft, not saved): Draft Label\n"], &["draft data"]),
    ("think", 0, "retained", &["- `recipe_1` (kept)\n"], &["Retained Label", "the reason", "retained data"]),
    ("think", 0, "do not re-read", &["- DO NOT re-read: `menu_1`, `recipe_2`, `gen_recipe_1`, `recipe_1`\n"], &[]),
    ("act", 0, "active", &["Active Label", ACTIVE_DATA, "chosen data"], &["not loaded"]),
    ("act", 0, "generated", &["(recipes, draft, not saved): Draft Label\n  data: {\"draft\":\"draft data\"}\n"], &[]),
    ("act", 0, "retained", &[], &["- `recipe_1`", "Retained Label", "retained data"]),
    ("act", 0, "do not re-read", &[], &["re-read"]),
    ("reply", 0, "active", &["- Active Label\n", "- Chosen Label\n"], &["recipe_2", "active data"]),
    ("reply", 0, "generated", &["- draft, not saved: Draft Label\n"], &["gen_recipe_1", "draft data"]),
    ("reply", 0, "retained", &[], &["recipe_1", "Retained Label"]),
    ("reply", 0, "do not re-read", &[], &["re-read"]),

    ("understand", 1, "recent", RECENT, &[]),
    ("understand", 1, "summary", &["the summary", "u older"], &[]),
    ("understand", 1, "engagement", &["the engagement"], &[]),
    ("understand", 1, "pending", &["the proposal"], &[]),
    ("think", 1, "recent", RECENT, &[]),
    ("think", 1, "summary", &["the summary", "u older"], &[]),
    ("think", 1, "engagement", &["the engagement"], &[]),
    ("think", 1, "pending", &["the proposal"], &[]),
    ("act", 1, "recent", RECENT, &[]),
    ("act", 1, "summary", &[], &["the summary", "u older"]),
    ("act", 1, "engagement", &[], &["the engagement"]),
    ("act", 1, "pending", &[], &["the proposal"]),
    ("reply", 1, "recent", RECENT, &[]),
    ("reply", 1, "summary", &[], &["the summary", "u older"]),
    ("reply", 1, "engagement", &["the engagement"], &[]),
    ("reply", 1, "pending", &["the proposal"], &[]),

    ("understand", 2, "last turn", &[], &["the past outcome", "the block", "Turn 8"]),
    ("understand", 2, "this turn", &[], THIS_TURN),
    ("understand", 2, "curation", &["turn 0: retain `recipe_1`: the decision", "turn 9: retain `menu_1`: the choice"], &["recipe_7"]),
    ("understand", 2, "phase", &[], &["the phase", "the wish"]),
    ("understand", 2, "additions", &[], &["the feat", "the_key", "the oldest step"]),
    ("think", 2, "last turn", &["the past step", "the past outcome", "`recipe_1`", "the past note", "the past goal", "the older reasoning", "blocked: the block"], &[]),
    ("think", 2, "this turn", &[], THIS_TURN),
    ("think", 2, "curation", &["kept `menu_1`: the choice", "set aside `recipe_7`"], &["the decision"]),
    ("think", 2, "phase", &["Conversation phase: the phase"], &[]),
    ("think", 2, "last turn in a line", &["Last turn: the past outcome; blocked: the block"], &[]),
    ("think", 2, "user expressed", &["User expressed: the wish"], &[]),
    ("think", 2, "additions", &[], &["the feat", "the_key", "the oldest step"]),
    ("act", 2, "last turn", &[], &["the past outcome", "the block", "the older reasoning"]),
    ("act", 2, "this turn", THIS_TURN, &[]),
    ("act", 2, "curation", &[], &["kept `", "recipe_7", "the decision"]),
    ("act", 2, "phase", &[], &["the phase", "the wish"]),
    ("act", 2, "previous step's note", &["Note from the previous step: this note"], &[]),
    ("act", 2, "archive", &["`the_key`: the archived"], &[]),
    ("act", 2, "older steps", &["the oldest step"], &["the feat"]),
    ("reply", 2, "last turn", &["the past outcome", "the block"], &["the past step", "the past note", "the past goal"]),
    ("reply", 2, "this turn", &["this outcome"], &["this step", "this note", "this result"]),
    ("reply", 2, "curation", &[], &["kept `", "recipe_7", "the decision"]),
    ("reply", 2, "phase", &["Conversation phase: the phase"], &["the older reasoning"]),
    ("reply", 2, "user expressed", &["User expressed: the wish"], &["Last turn:"]),
    ("reply", 2, "accomplished", &["Just accomplished: the feat"], &["the_key", "the oldest step"]),
];

const RECENT: &[&str] = &["u recent", "a recent", "u latest", "a latest"];

/// What no budget drops: node, section, mark.
#[rustfmt::skip]
const CRITICAL: &[(&str, usize, &str)] = &[
    ("understand", 0, "draft, not saved"),
    ("understand", 1, "Proposed, not approved yet: the proposal"),
    ("think", 0, "DO NOT re-read: `menu_1`, `recipe_2`, `gen_recipe_1`, `recipe_1`"),
    ("think", 0, "`gen_recipe_1` (draft, not saved)"),
    ("think", 1, "Proposed, not approved yet: the proposal"),
    ("think", 2, "kept `menu_1`: the choice"),
    ("think", 2, "Last turn: the past outcome; blocked: the block"),
    ("think", 2, "User expressed: the wish"),
    ("think", 2, "Conversation phase: the phase"),
    ("act", 0, "draft, not saved"),
    ("act", 2, "This turn, step 1 (write): this"),
    ("act", 2, "Note from the previous step: this note"),
    ("act", 2, "`the_key`"),
    ("reply", 0, "draft, not saved: Draft Label"),
    ("reply", 1, "Proposed, not approved yet: the proposal"),
    ("reply", 2, "Conversation phase: the phase"),
    ("reply", 2, "User expressed: the wish"),
    ("reply", 2, "Just accomplished: the feat"),
];

fn check(node: &str, column: &str, text: &str, there: &[&str], missing: &[&str]) {
    for mark in there {
        assert!(
            text.contains(mark),
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
fn a07_the_tables_hold_cell_by_cell_after_a_reload() {
    for node in NODES {
        let sections = sections(&prompt(node, "Do it."));
        for (_, section, column, there, missing) in CELLS.iter().filter(|cell| cell.0 == node) {
            check(node, column, &sections[*section], there, missing);
        }
    }
}

#[test]
fn a14_pressure_drops_nothing_critical_and_shows_nothing_that_is_hidden() {
    for node in NODES {
        let (view, state) = (View::builtin(node).unwrap(), state());
        let (least, _) = tightest(node);
        for budget in (least..least + 400).step_by(7) {
            let sections = sections(&prompt_of(view, &state, "Do it.", budget).unwrap());
            for (_, section, column, _, missing) in CELLS.iter().filter(|cell| cell.0 == node) {
                check(node, column, &sections[*section], &[], missing);
            }
            for (_, section, mark) in CRITICAL.iter().filter(|cell| cell.0 == node) {
                check(node, "critical", &sections[*section], &[mark], &[]);
            }
        }
    }
}

#[test]
fn a14_what_does_not_fit_loses_detail_first() {
    let (view, state) = (View::builtin("act").unwrap(), state());
    let (least, tight) = tightest("act");
    assert!(tight.len() < prompt("act", "Do it.").len() / 2, "{tight}");
    let prompts =
        (least..least + 200).map(|budget| prompt_of(view, &state, "Do it.", budget).unwrap());
    let prompts: Vec<String> = prompts.collect();
    for (lesser, more) in [
        ("- `recipe_2`: Active Label\n", ACTIVE_DATA),
        ("- draft, not saved: Draft Label\n", "draft data"),
        (
            "- User: u recent\n  Assistant: a recent\n",
            "- Assistant: a recent answer of so many words that a line of them is worth far less room than all of them, and it goes on about soups, stews and pies, one after the other, until nobody can remember how it began",
        ),
        ("step 1 (write): this", "this result"),
    ] {
        let is_between = |text: &&String| text.contains(lesser) && !text.contains(more);
        assert!(
            prompts.iter().any(|text| is_between(&text)),
            "no prompt with {lesser:?}"
        );
    }
}

#[test]
fn a14_a_budget_without_room_for_what_is_critical_is_an_error() {
    let (least, _) = tightest("think");
    let view = View::builtin("think").unwrap();
    let error = prompt_of(view, &state(), "Do it.", least - 1).unwrap_err();
    assert!(
        matches!(error, AssembleError::CriticalOverBudget { .. }),
        "{error}"
    );
}

#[test]
fn a08_a_prompt_with_room_for_all_says_what_the_builders_say() {
    let builders = [
        build_understand_context,
        build_think_context,
        build_act_context,
        build_reply_context,
    ];
    for (node, build) in NODES.into_iter().zip(builders) {
        let context = build(&state());
        assert_eq!(context.node, node);
        let NodeText {
            entity,
            conversation,
            reasoning,
        } = &context.text;
        let whole = format!(
            "{ENTITY}{entity}{CONVERSATION}{conversation}{REASONING}{reasoning}{TASK}Do it."
        );
        assert_eq!(prompt(node, "Do it."), whole);
        let loaded: NodeContext = from_str(&to_string(&context).unwrap()).unwrap();
        assert_eq!(loaded, context);
    }
}

#[test]
fn a12_builders_give_the_data_that_the_node_sees() {
    let refs = |tier: &[crate::entity::EntitySnapshot]| -> Vec<String> {
        tier.iter().map(|entity| entity.reference.clone()).collect()
    };
    let state = state();
    let understand = build_understand_context(&state);
    assert_eq!(refs(&understand.entity.retained), ["recipe_1"]);
    assert_eq!(
        understand.reasoning.decisions,
        get_own_decision_history(&state.conversation)
    );
    assert_eq!(understand.reasoning.recent_summaries, []);
    assert_eq!(understand.curation, None);

    let think = build_think_context(&state);
    assert_eq!(think.entity.active[0].data, None);
    assert_eq!(
        think.reasoning.recent_summaries[0].steps[0].note.as_deref(),
        Some("the past note")
    );
    assert_eq!(think.reasoning.current.results.len(), 0);
    let curation = think.curation.unwrap();
    assert_eq!(curation, get_current_curation(&state));
    assert_eq!(
        (
            curation.retained[0].as_str(),
            curation.reasons["menu_1"].as_str()
        ),
        ("menu_1", "the choice")
    );

    let act = build_act_context(&state);
    assert_eq!(refs(&act.entity.active), ["menu_1", "recipe_2"]);
    assert_eq!(
        act.entity.active[1].data,
        Some(json!({"id": "recipe_2", "text": "active data"}))
    );
    assert_eq!(refs(&act.entity.retained), [""; 0]);
    assert_eq!(act.conversation.pending, None);
    assert_eq!(act.reasoning, get_current_turn_steps(&state));
    assert_eq!(act.reasoning.current.results.len(), 1);
    assert_eq!(act.reasoning.recent_summaries, []);

    let reply = build_reply_context(&state);
    assert_eq!(reply.reasoning, get_execution_outcomes(&state));
    let steps = &reply.reasoning.recent_summaries[0].steps;
    assert_eq!(
        (steps[0].outcome.as_str(), steps[0].description.as_str()),
        ("the past outcome", "")
    );
}

#[test]
fn a12_think_forbids_no_read_of_what_act_cannot_see() {
    let mut json = serde_json::to_value(state()).unwrap();
    let registry = json["conversation"]["id_registry"].as_object_mut().unwrap();
    assert!(registry.remove("ref_data").is_some());
    let older: TurnState = from_value(json).unwrap();
    let think = prompt_of(View::builtin("think").unwrap(), &older, "Plan.", AMPLE).unwrap();
    assert!(
        think.contains("DO NOT re-read: `gen_recipe_1`\n"),
        "{think}"
    );
    let act = prompt_of(View::builtin("act").unwrap(), &older, "Do.", AMPLE).unwrap();
    assert!(
        act.contains("(recipes, read): Active Label\n  data: not loaded\n"),
        "{act}"
    );
}

#[test]
fn a12_a_plan_that_names_a_retained_ref_brings_its_data_to_act() {
    let mut state = state();
    let before = build_act_context(&state).text.entity;
    assert!(!before.contains("retained data"), "{before}");
    let registry = &mut state.conversation.id_registry;
    assert_eq!(
        registry.touch_mentioned("Compare recipe_1 with the rest"),
        ["recipe_1"]
    );
    let act = build_act_context(&reloaded(&state)).text.entity;
    assert!(
        act.contains("Retained Label\n  data: {\"id\":\"recipe_1\",\"text\":\"retained data\"}"),
        "{act}"
    );
}

#[test]
fn a12_results_without_a_row_are_archived_and_answer_by_key() {
    let mut context = ConversationContext::new();
    for number in 1..=25 {
        let mut state = TurnState::new(context, number);
        state
            .conversation
            .id_registry
            .register_read(ACTIVE, "recipes", "Soup");
        let step = StepSummary::new(1, "analyze", "recipes", "Compare", Some("Soup wins"), 1);
        state.finish_step(step, json!({"turn": number, "best_id": ACTIVE}));
        state.finish_step(
            StepSummary::new(2, "read", "", "", None, 0),
            json!([{"id": ACTIVE}]),
        );
        let finished = FinishedTurn::of(state.this_turn, "u", "a");
        let settings = SummarySettings::in_characters();
        context = summarize(state.conversation, finished, &settings, &Characters, |_| {
            None
        })
        .context;
    }
    let context: ConversationContext = from_str(&to_string(&context).unwrap()).unwrap();
    let result = json!({"turn": 25, "best_id": "recipe_1"});
    assert_eq!(context.archived("turn_25_step_1"), Some(result));
    assert_eq!(
        context.archived("turn_25_step_2"),
        None,
        "it is the entity's data"
    );
    assert_eq!(context.archived("turn_5_step_1"), None, "the oldest go");
    assert_eq!(context.content_archive.len(), 20);
    let act = build_act_context(&TurnState::new(context, 26))
        .text
        .reasoning;
    assert!(act.contains("\n  `turn_25_step_1`: Compare\n"), "{act}");
}

#[test]
fn a13_each_layer_changes_through_its_owner() {
    let before = state();
    let mut after = before.clone();
    after.curate(&retaining("recipe_1", "again"));
    let step = StepSummary::new(2, "read", "", "", None, 1);
    after.finish_step(step, json!({"id": RETAINED, "text": "newer"}));
    let (old, new) = (&before.conversation, &after.conversation);
    assert_eq!(old.recent_turns, new.recent_turns);
    assert_eq!(old.turn_summaries, new.turn_summaries);
    assert_eq!(old.pending_clarification, new.pending_clarification);
    assert_eq!(
        new.understand_decision_log.len(),
        old.understand_decision_log.len() + 1
    );
    assert_eq!(
        after.this_turn.summary.steps[1].entities_involved,
        ["recipe_1"]
    );

    let finished = FinishedTurn::of(after.this_turn, "u", "a");
    let settings = SummarySettings::in_characters();
    let ended = summarize(after.conversation, finished, &settings, &Characters, |_| {
        None
    })
    .context;
    assert_eq!(ended.turn_summaries.last().unwrap().turn_num, 9);
    assert_eq!(ended.recent_turns.last().unwrap().user, "u");
    assert_eq!(ended.pending_clarification, None);
}

#[test]
fn a08_the_prompt_of_understand() {
    assert_snapshot!(prompt("understand", "Curate."), @"
    ## Entity Context
    - `gen_recipe_1` (recipes, draft, not saved, from turn 9, last in turn 9): Draft Label
    - `menu_1` (menu, read, from turn 1, last in turn 9): Chosen Label
      kept because: the choice
    - `recipe_1` (recipes, read, from turn 1, last in turn 1): Retained Label
      kept because: the reason
    - `recipe_2` (recipes, read, from turn 9, last in turn 9): Active Label

    ## Conversation History
    - Session: the engagement
    - Earlier: the summary
    - User: u older
      Assistant: a older
    - User: u recent
    - Assistant: a recent answer of so many words that a line of them is worth far less room than all of them, and it goes on about soups, stews and pies, one after the other, until nobody can remember how it began
    - User: u latest
    - Assistant: a latest
    - Proposed, not approved yet: the proposal

    ## What Happened (Reasoning Trace)
    - Your earlier decisions:
      turn 0: retain `recipe_1`: the decision
      turn 1: retain `recipe_1`: the reason
      turn 1: retain `menu_1`: the first reason
      turn 9: retain `menu_1`: the choice

    ---
    ## Your Task
    Curate.
    ");
}

#[test]
fn a08_the_prompt_of_think() {
    assert_snapshot!(prompt("think", "Plan."), @"
    ## Entity Context
    - `gen_recipe_1` (draft, not saved): Draft Label
    - `menu_1` (kept): Chosen Label
    - `recipe_1` (kept)
    - `recipe_2`: Active Label
    - DO NOT re-read: `menu_1`, `recipe_2`, `gen_recipe_1`, `recipe_1`

    ## Conversation History
    - Session: the engagement
    - Earlier: the summary
    - User: u older
      Assistant: a older
    - User: u recent
    - Assistant: a recent answer of so many words that a line of them is worth far less room than all of them, and it goes on about soups, stews and pies, one after the other, until nobody can remember how it began
    - User: u latest
    - Assistant: a latest
    - Proposed, not approved yet: the proposal

    ## What Happened (Reasoning Trace)
    - Earlier reasoning: the older reasoning
    - Turn 8: plan_direct, the past goal
      blocked: the block
      set aside `recipe_7`
    - Turn 8, step 1 (read): the past step
      outcome: the past outcome
      entities: `recipe_1`
      note: the past note
    - Decided about entities in this turn:
      kept `menu_1`: the choice
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
    assert_snapshot!(prompt("act", "Execute."), @r#"
    ## Entity Context
    - `gen_recipe_1` (recipes, draft, not saved): Draft Label
      data: {"draft":"draft data"}
    - `menu_1` (menu, read): Chosen Label
      data: {"id":"menu_1","text":"chosen data"}
    - `recipe_2` (recipes, read): Active Label
      data: {"id":"recipe_2","text":"active data"}

    ## Conversation History
    - User: u recent
    - Assistant: a recent answer of so many words that a line of them is worth far less room than all of them, and it goes on about soups, stews and pies, one after the other, until nobody can remember how it began
    - User: u latest
    - Assistant: a latest

    ## What Happened (Reasoning Trace)
    - Earlier step 1: the oldest step
    - In the archive, to be asked for by key:
      `the_key`: the archived
    - This turn, step 1 (write): this step
      outcome: this outcome
      entities: `recipe_2`
      note: this note
      result: {"rows":[{"id":"recipe_2","text":"active data"},"this result"]}
    - Note from the previous step: this note

    ---
    ## Your Task
    Execute.
    "#);
}

#[test]
fn a08_the_prompt_of_reply() {
    assert_snapshot!(prompt("reply", "Answer."), @"
    ## Entity Context
    - draft, not saved: Draft Label
    - Chosen Label
    - Active Label

    ## Conversation History
    - Session: the engagement
    - User: u recent
    - Assistant: a recent answer of so many words that a line of them is worth far less room than all of them, and it goes on about soups, stews and pies, one after the other, until nobody can remember how it began
    - User: u latest
    - Assistant: a latest
    - Proposed, not approved yet: the proposal

    ## What Happened (Reasoning Trace)
    - Turn 8
      blocked: the block
    - Turn 8, step 1 (read): the past outcome
    - This turn, step 1 (write): this outcome
    - Just accomplished: the feat
    - Conversation phase: the phase
    - User expressed: the wish

    ---
    ## Your Task
    Answer.
    ");
}

#[test]
fn a14_the_tightest_prompt_of_think() {
    assert_snapshot!(tightest("think").1, @"
    ## Entity Context
    - `gen_recipe_1` (draft, not saved)
    - DO NOT re-read: `menu_1`, `recipe_2`, `gen_recipe_1`, `recipe_1`

    ## Conversation History
    - Proposed, not approved yet: the proposal

    ## What Happened (Reasoning Trace)
    - Decided about entities in this turn:
      kept `menu_1`: the choice
    - Last turn: the past outcome; blocked: the block
    - Conversation phase: the phase
    - User expressed: the wish

    ---
    ## Your Task
    Do it.
    ");
}

#[test]
fn a08_turn_zero_has_all_sections_too() {
    let state = TurnState::new(ConversationContext::new(), 0);
    let prompt = prompt_of(View::builtin("think").unwrap(), &state, "Plan.", AMPLE);
    assert_snapshot!(prompt.unwrap(), @"
    ## Entity Context
    No entities in context.

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
fn a11_an_ordinary_turn_has_a_view_without_recent_turns() {
    let chunks = node_chunks(View::builtin("turn").unwrap(), &state());
    let shown: Vec<String> = chunks
        .iter()
        .map(|chunk| format!("{}: {}", chunk.source, chunk.content()))
        .collect();
    assert_snapshot!(shown.join("\n"), @r#"
    entity/gen_recipe_1: `gen_recipe_1` (recipes, draft, not saved): Draft Label
      data: {"draft":"draft data"}
    entity/menu_1: `menu_1` (menu, read): Chosen Label
      data: {"id":"menu_1","text":"chosen data"}
    entity/recipe_1: `recipe_1` (kept): Retained Label
    entity/recipe_2: `recipe_2` (recipes, read): Active Label
      data: {"id":"recipe_2","text":"active data"}
    engagement: Session: the engagement
    history_summary: Earlier: the summary
    pending: Proposed, not approved yet: the proposal
    step/8: Turn 8
      blocked: the block
    step/8.1: Turn 8, step 1 (read): the past outcome
    step/9.1: This turn, step 1 (write): this outcome
    "#);
}

#[test]
fn a11_a_node_of_the_users_own_sees_what_it_names() {
    let view = View::read(
        "critic",
        json!({
            "entity": {"generated": "full_data"},
            "conversation": {"depth": 2, "recent_turns": 1, "also": ["engagement"]},
            "reasoning": {"current_steps": "line"},
            "additions": ["user_expressed"]
        }),
    )
    .unwrap();
    assert_snapshot!(prompt_of(&view, &state(), "Criticise.", AMPLE).unwrap(), @r#"
    ## Entity Context
    - `gen_recipe_1` (recipes, draft, not saved): Draft Label
      data: {"draft":"draft data"}

    ## Conversation History
    - Session: the engagement
    - User: u latest
    - Assistant: a latest

    ## What Happened (Reasoning Trace)
    - This turn, step 1 (write): this step
    - User expressed: the wish

    ---
    ## Your Task
    Criticise.
    "#);
}

#[test]
fn a11_an_empty_view_sees_nothing() {
    let view = View::read("", json!({})).unwrap();
    assert_eq!(node_chunks(&view, &state()), []);
    let context = build_context(&view, &state());
    assert_eq!(context.text.entity, "No entities in context.");
    assert_eq!(context.text.conversation, "No earlier conversation.");
    assert_eq!(context.text.reasoning, "Nothing so far.");
    assert_eq!(context.entity, crate::entity::EntityContext::default());
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
        let error = View::read("critic", json).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a11_the_built_in_views_are_data_like_any_other() {
    for view in &BUILTIN_VIEWS {
        let mut json = serde_json::to_value(view).unwrap();
        assert_eq!(&from_value::<View>(json.clone()).unwrap(), view);
        let name = json.as_object_mut().unwrap().remove("name");
        assert_eq!(name, Some(json!(view.name)));
        let mut copy = View::read("copy", json).unwrap();
        copy.name.clone_from(&view.name);
        assert_eq!(&copy, view);
        assert_eq!(View::builtin(&view.name), Some(view));
    }
    assert_eq!(View::builtin("critic"), None);
}

proptest! {
    #[test]
    fn a08_no_text_from_outside_adds_a_heading(text in hostile()) {
        let mut conversation = ConversationContext::new();
        let mut registry = SessionIdRegistry::new("s");
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
        state.finish_step(step.with_entities([text.clone()]), json!(text));
        state.this_turn.accomplished = Some(text.clone());
        state.this_turn.summary.user_expressed.clone_from(&text);
        state.conversation.turn_summaries.push(state.this_turn.summary.clone());

        for view in &BUILTIN_VIEWS {
            let prompt = prompt_of(view, &state, "Do it.", AMPLE).unwrap();
            prop_assert!(!prompt.contains(ACTIVE));
            let headings: String = prompt.lines().filter(|line| line.starts_with("## ")).collect();
            prop_assert_eq!(headings, "## Entity Context## Conversation History## What Happened (Reasoning Trace)## Your Task");
            for line in prompt.split(['\n', '\r', '\u{2028}']).filter(|line| !line.is_empty()) {
                let ours = ["## ", "- ", "  ", "---", "No ", "Nothing ", "Do it."];
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
    let levels = |node: &str, source: &str| -> Vec<String> {
        let chunks = node_chunks(View::builtin(node).unwrap(), &state());
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
    assert_eq!(levels("think", "entity/recipe_1"), ["`recipe_1` (kept)"]);
    assert_eq!(
        levels("act", "entity/recipe_1"),
        [""; 0],
        "Act sees nothing that is retained"
    );
    assert_eq!(levels("reply", "entity/recipe_2"), ["Active Label"]);
    assert_eq!(levels("act", "step/9.1").len(), 3);
    assert_eq!(levels("understand", "step/9.1"), [""; 0]);
    assert_eq!(
        levels("reply", "turn/7"),
        [
            "User: u recent\n- Assistant: a recent answer of so many words that a line of them is worth far less room than all of them, and it goes on about soups, stews and pies, one after the other, until nobody can remember how it began",
            "User: u recent\n  Assistant: a recent",
            "(turn 7 is not shown)",
        ]
    );
}

#[test]
fn x02_chunks_are_volatile_and_keep_their_ids_from_turn_to_turn() {
    let ids = |state: &TurnState, view: &View| -> Vec<String> {
        let chunks = node_chunks(view, state);
        assert!(
            chunks
                .iter()
                .all(|chunk: &ContextChunk| chunk.band == ChunkBand::Volatile)
        );
        assert!(
            !to_string(&chunks).unwrap().contains(ACTIVE),
            "no row id is shown"
        );
        chunks.iter().map(|chunk| chunk.id.to_string()).collect()
    };
    let now = state();
    let finished = FinishedTurn::of(now.this_turn.clone(), "u new", "a new");
    let settings = SummarySettings::in_characters();
    let ended = summarize(
        now.conversation.clone(),
        finished,
        &settings,
        &Characters,
        |_| None,
    );
    let next = TurnState::new(ended.context, 10);
    let think = View::builtin("think").unwrap();
    let (before, after) = (ids(&now, think), ids(&next, think));
    for id in [
        "entity:entity/recipe_2",
        "turn:turn/8",
        "step:step/8.1",
        "summary:history_summary",
    ] {
        assert!(before.iter().any(|known| known == id), "{id} in {before:?}");
        assert!(after.iter().any(|known| known == id), "{id} in {after:?}");
    }
    assert!(after.iter().any(|id| id == "step:step/9.1"), "{after:?}");
}
