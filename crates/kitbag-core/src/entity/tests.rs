//! Tests of the entity layer: the rules of the registry, the tiers, every mode as a snapshot.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::rows::UNREGISTERED_ROW;
use super::*;

const SOUP: &str = "3f2b8c1e-0000-4000-8000-000000000001";
const STEW: &str = "3f2b8c1e-0000-4000-8000-000000000002";
const CHEF: &str = "3f2b8c1e-0000-4000-8000-000000000003";

fn at_turn(turn: u32) -> SessionIdRegistry {
    let mut registry = SessionIdRegistry::new("session");
    registry.begin_turn(turn);
    registry
}

fn refs(tier: &[EntitySnapshot]) -> Vec<&str> {
    tier.iter()
        .map(|entity| entity.reference.as_str())
        .collect()
}

fn status(registry: &SessionIdRegistry, reference: &str) -> EntityStatus {
    let context = get_entity_context(registry, registry.current_turn());
    let entity = context
        .entities()
        .find(|entity| entity.reference == reference);
    entity
        .unwrap_or_else(|| panic!("{reference} is not in context"))
        .status
        .clone()
}

#[test]
fn a01_refs_are_minted_per_type_from_one_and_kept() {
    let mut registry = at_turn(1);
    assert_eq!(registry.register_read(SOUP, "recipes", "Soup"), "recipe_1");
    assert_eq!(registry.register_read(STEW, "recipe", "Stew"), "recipe_2");
    assert_eq!(registry.register_read(CHEF, "chefs", "Ana"), "chef_1");
    assert_eq!(
        registry.register_generated("recipes", "Pie", json!({}), Some(1)),
        "gen_recipe_1"
    );
    assert_eq!(registry.register_read(SOUP, "recipes", "Soup"), "recipe_1");
    assert_eq!(registry.ref_of(SOUP), Some("recipe_1"));
    assert_eq!(registry.row_id("recipe_1"), Ok(SOUP));
}

#[test]
fn a01_type_names_give_refs_that_cannot_meet() {
    let mut registry = at_turn(0);
    assert_eq!(registry.register_read("a", "Meal Plans", ""), "meal_plan_1");
    assert_eq!(registry.register_read("b", "glass", ""), "glass_1");
    assert_eq!(registry.register_read("c", "gen_recipe", ""), "genrecipe_1");
    assert_eq!(
        registry.register_generated("recipe", "Pie", json!({}), None),
        "gen_recipe_1"
    );
    assert_eq!(registry.register_read("d", "", ""), "entity_1");
}

#[test]
fn a01_linked_rows_are_called_by_their_ref_until_read() {
    let mut registry = at_turn(1);
    assert_eq!(registry.register_linked(CHEF, "chefs"), "chef_1");
    let linked = get_entity_context(&registry, 1).active.remove(0);
    assert_eq!(
        (linked.label.as_str(), &linked.status),
        ("chef_1", &EntityStatus::Linked)
    );

    registry.register_read(CHEF, "chefs", "Ana");
    registry.register_linked(CHEF, "chefs");
    let read = get_entity_context(&registry, 1).active.remove(0);
    assert_eq!(
        (read.label.as_str(), &read.status),
        ("Ana", &EntityStatus::Read)
    );
}

#[test]
fn a01_a_read_does_not_undo_a_write() {
    let mut registry = at_turn(1);
    registry
        .register_created(SOUP, "recipes", "Soup", DraftMatch::New)
        .unwrap();
    registry.register_read(SOUP, "recipes", "Soup");
    assert_eq!(status(&registry, "recipe_1"), EntityStatus::Created);
    registry.begin_turn(2);
    registry.register_updated(SOUP, "recipes", "Soup");
    registry.register_read(SOUP, "recipes", "Soup");
    assert_eq!(status(&registry, "recipe_1"), EntityStatus::Updated);
}

#[test]
fn a01_user_actions_are_noted_and_a_read_makes_the_data_ours() {
    let mut registry = at_turn(1);
    registry.register_user_action(SOUP, "recipes", "Soup", UserAction::Updated);
    assert_eq!(status(&registry, "recipe_1").to_string(), "updated:user");
    assert!(!status(&registry, "recipe_1").is_read());
    registry.register_read(SOUP, "recipes", "Soup");
    assert_eq!(status(&registry, "recipe_1"), EntityStatus::Read);
    registry.register_user_action(SOUP, "recipes", "Soup", UserAction::Mentioned);
    assert_eq!(status(&registry, "recipe_1"), EntityStatus::Read);
    registry.register_user_action(SOUP, "recipes", "Soup", UserAction::Deleted);
    assert_eq!(registry.ref_of(SOUP), None);
}

#[test]
fn a01_a_draft_is_saved_under_its_ref_and_its_content_becomes_the_rows_data() {
    let mut registry = at_turn(3);
    registry.register_generated("recipes", "Pie", json!({"name": "Pie"}), Some(2));
    registry.promote("gen_recipe_1", SOUP, "Apple Pie").unwrap();
    assert_eq!(status(&registry, "gen_recipe_1"), EntityStatus::Created);
    assert_eq!(registry.row_id("gen_recipe_1"), Ok(SOUP));
    assert_eq!(registry.ref_of("__pending__gen_recipe_1"), None);
    registry.end_turn();
    let saved = &get_entity_context(&registry, 4).active[0];
    assert_eq!(saved.data, Some(json!({"name": "Pie"})));
    let wire = serde_json::to_value(&registry).unwrap();
    assert_eq!(
        wire["pending_artifacts"],
        json!({}),
        "it is no draft any more"
    );
    assert_eq!(
        get_entity_context(&registry, 3).active[0].label,
        "Apple Pie"
    );
}

#[test]
fn a01_a_created_row_finds_the_only_draft_of_its_type_and_label() {
    let mut registry = at_turn(1);
    registry.register_generated("recipes", "Pie", json!({}), None);
    registry.register_generated("chefs", "Pie", json!({}), None);
    let saved = registry.register_created(SOUP, "recipes", "  pIE ", DraftMatch::Label);
    assert_eq!(saved.as_deref(), Ok("gen_recipe_1"));
    assert!(status(&registry, "gen_chef_1") == EntityStatus::Generated);
    let fresh = registry.register_created(STEW, "recipes", "Stew", DraftMatch::Label);
    assert_eq!(fresh.as_deref(), Ok("recipe_1"));
}

#[test]
fn a01_two_drafts_with_one_label_are_not_guessed_between() {
    let mut registry = at_turn(1);
    registry.register_generated("recipes", "Pie", json!({}), None);
    registry.register_generated("recipes", "pie", json!({}), None);
    let before = registry.clone();
    let error = registry
        .register_created(SOUP, "recipes", "Pie", DraftMatch::Label)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 drafts are called `Pie`: gen_recipe_1, gen_recipe_2"
    );
    assert_eq!(registry, before);
    let named = DraftMatch::Ref("gen_recipe_2");
    assert_eq!(
        registry
            .register_created(SOUP, "recipes", "Pie", named)
            .as_deref(),
        Ok("gen_recipe_2")
    );
}

#[test]
fn a01_a_draft_is_saved_once_and_takes_no_other_entitys_row() {
    let mut registry = at_turn(1);
    registry.register_generated("recipes", "Pie", json!({}), None);
    registry.register_read(STEW, "recipes", "Stew");
    let taken = registry.promote("gen_recipe_1", STEW, "").unwrap_err();
    assert_eq!(
        taken.to_string(),
        "`gen_recipe_1` cannot take a row that is already `recipe_1`"
    );
    registry.promote("gen_recipe_1", SOUP, "").unwrap();
    let again = registry.promote("gen_recipe_1", CHEF, "").unwrap_err();
    assert_eq!(
        again.to_string(),
        "`gen_recipe_1` is not a draft but created"
    );
    let unknown = registry.promote("gen_recipe_9", CHEF, "").unwrap_err();
    assert_eq!(unknown.to_string(), "no entity has the ref `gen_recipe_9`");
}

#[test]
fn a01_drafts_can_be_revised_and_never_age() {
    let mut registry = at_turn(0);
    registry.register_generated("recipes", "Pie", json!({"v": 1}), None);
    registry
        .revise_generated("gen_recipe_1", Some("Tart"), json!({"v": 2}))
        .unwrap();
    let context = get_entity_context(&registry, 900);
    assert_eq!(refs(&context.generated), ["gen_recipe_1"]);
    assert_eq!(context.generated[0].label, "Tart");
    assert_eq!(context.generated[0].data, Some(json!({"v": 2})));
}

#[test]
fn a01_tiers_follow_age_and_reason() {
    let mut registry = at_turn(0);
    registry.register_read(SOUP, "recipes", "Soup");
    registry.register_read(STEW, "recipes", "Stew");
    registry.retain("recipe_2", "for dinner").unwrap();
    for (turn, active, retained) in [
        (0, vec!["recipe_1", "recipe_2"], vec![]),
        (2, vec!["recipe_1", "recipe_2"], vec![]),
        (3, vec![], vec!["recipe_2"]),
    ] {
        let context = get_entity_context(&registry, turn);
        assert_eq!(refs(&context.active), active, "turn {turn}");
        assert_eq!(refs(&context.retained), retained, "turn {turn}");
    }
}

#[test]
fn a01_an_entity_retained_on_purpose_is_active_whatever_its_age() {
    let mut registry = at_turn(0);
    registry.register_read(SOUP, "recipes", "Soup");
    registry.begin_turn(9);
    assert_eq!(get_entity_context(&registry, 9), EntityContext::default());
    registry.retain("recipe_1", "for dinner").unwrap();
    for (turn, active, retained) in [
        (9, vec!["recipe_1"], vec![]),
        (11, vec!["recipe_1"], vec![]),
        (12, vec![], vec!["recipe_1"]),
    ] {
        let context = get_entity_context(&registry, turn);
        assert_eq!(refs(&context.active), active, "turn {turn}");
        assert_eq!(refs(&context.retained), retained, "turn {turn}");
    }
}

#[test]
fn a12_rows_in_a_result_leave_their_data() {
    let mut registry = at_turn(1);
    registry.register_read(SOUP, "recipes", "Soup");
    registry.register_read("7", "chefs", "Ann");
    let result = json!({"found": [
        {"id": SOUP, "name": "Soup", "chef": {"id": 7, "name": "A."}},
        {"id": "unknown", "name": "Pie"},
        {"id": 7, "name": "Ann", "stars": 3},
    ]});
    assert_eq!(registry.keep_rows(&result), ["recipe_1", "chef_1"]);
    let data = |registry: &SessionIdRegistry, reference: &str| {
        let context = get_entity_context(registry, 1);
        let mut entities = context.entities();
        let entity = entities.find(|entity| entity.reference == reference);
        entity.and_then(|entity| entity.data.clone())
    };
    let soup = json!({"id": "recipe_1", "name": "Soup", "chef": {"id": "chef_1", "name": "A."}});
    assert_eq!(data(&registry, "recipe_1"), Some(soup));
    let ann = json!({"id": "chef_1", "name": "Ann", "stars": 3});
    assert_eq!(
        data(&registry, "chef_1"),
        Some(ann),
        "the pointer in the recipe is not all of Ann"
    );

    registry.keep_rows(&json!({"ref": "chef_1", "stars": 4}));
    assert_eq!(data(&registry, "chef_1").unwrap()["stars"], 4);
    assert_eq!(data(&registry, "chef_1").unwrap()["name"], "Ann");
    registry.register_updated("7", "chefs", "Ann");
    assert_eq!(data(&registry, "chef_1"), None, "read before the change");
}

#[test]
fn a12_data_lasts_as_long_as_its_entity_is_shown() {
    let mut registry = at_turn(1);
    for (row, label) in [(SOUP, "Soup"), (STEW, "Stew")] {
        registry.register_read(row, "recipes", label);
        registry.keep_rows(&json!({"id": row, "label": label}));
    }
    registry.retain("recipe_2", "for dinner").unwrap();
    for turn in 1..=5 {
        registry.begin_turn(turn);
        registry.end_turn();
    }
    let json = serde_json::to_value(&registry).unwrap();
    let kept = json["ref_data"].as_object().unwrap();
    assert_eq!(kept.keys().collect::<Vec<_>>(), ["recipe_2"]);
}

#[test]
fn a12_a_mode_limits_the_data() {
    let mut registry = at_turn(1);
    registry.register_read(STEW, "recipes", "Stew");
    registry.keep_rows(&json!({"id": STEW, "text": "t"}));
    registry.retain("recipe_1", "why").unwrap();
    registry.begin_turn(5);
    registry.register_read(SOUP, "recipes", "Soup");
    registry.register_generated("recipes", "Pie", json!({"n": 1}), None);
    let seen = |mode: &str| get_entity_context_in(&registry, 5, mode.parse().unwrap());
    let full = seen("full_data");
    assert_eq!(refs(&full.active), ["recipe_2"]);
    assert_eq!(full.generated[0].data, Some(json!({"n": 1})));
    assert_eq!(refs(&full.retained), [""; 0]);
    let think = seen("refs_and_labels");
    assert_eq!(think.generated[0].data, None);
    assert_eq!(think.retained[0].label, "recipe_1", "refs only");
    assert_eq!(refs(&seen("labels_only").retained), [""; 0]);
    assert_eq!(seen("curation").retained[0].label, "Stew");
    let at_hand = seen("do_not_read");
    assert_eq!(refs(&at_hand.active), [""; 0], "nothing is known of it");
    assert_eq!(refs(&at_hand.generated), ["gen_recipe_1"]);
    assert_eq!(refs(&at_hand.retained), ["recipe_1"]);
    let list = format_entity_context(&at_hand, EntityMode::DoNotRead);
    assert_eq!(list, "- DO NOT re-read: `gen_recipe_1`, `recipe_1`");
}

#[test]
fn a01_order_is_that_of_creation_by_number() {
    let mut registry = at_turn(1);
    for row in 0..11 {
        registry.register_read(&format!("row {row}"), "recipes", "");
    }
    registry.begin_turn(2);
    registry.register_read("chef", "chefs", "");
    let context = get_entity_context(&registry, 2);
    let refs = refs(&context.active);
    assert_eq!(
        (refs[1], refs[9], refs[10], refs[11]),
        ("recipe_2", "recipe_10", "recipe_11", "chef_1")
    );
}

#[test]
fn a01_a_deleted_row_is_reported_in_its_turn_and_loses_its_ref() {
    let mut registry = at_turn(4);
    registry.register_read(SOUP, "recipes", "Soup");
    assert_eq!(registry.register_deleted(SOUP).as_deref(), Some("recipe_1"));
    assert_eq!(registry.register_deleted(SOUP), None);
    assert_eq!(status(&registry, "recipe_1"), EntityStatus::Deleted);
    assert_eq!(get_entity_context(&registry, 5), EntityContext::default());
    assert!(registry.touch_mentioned("recipe_1").is_empty());
    assert_eq!(
        registry.row_id("recipe_1").unwrap_err().to_string(),
        "the row of `recipe_1` was deleted"
    );
    assert_eq!(registry.register_read(SOUP, "recipes", "Soup"), "recipe_2");
    registry.end_turn();
    assert!(
        !serde_json::to_string(&registry)
            .unwrap()
            .contains("recipe_1")
    );
}

#[test]
fn a01_a_demoted_entity_is_not_active_until_it_is_referred_to() {
    let mut registry = at_turn(1);
    registry.register_read(SOUP, "recipes", "Soup");
    registry.retain("recipe_1", "why").unwrap();
    registry.demote("recipe_1").unwrap();
    assert_eq!(get_entity_context(&registry, 1), EntityContext::default());
    registry.begin_turn(7);
    registry.touch_mentioned("recipe_1");
    let context = get_entity_context(&registry, 7);
    assert_eq!(refs(&context.active), ["recipe_1"]);
    assert_eq!(context.active[0].retention_reason, None);
}

#[test]
fn a01_a_dropped_entity_leaves_nothing_but_its_number() {
    let mut registry: SessionIdRegistry =
        serde_json::from_value(json!({"ref_future": {"recipe_1": 1, "recipe_2": 2}})).unwrap();
    registry.register_read(SOUP, "recipes", "Soup");
    registry.retain("recipe_1", "why").unwrap();
    registry.drop_ref("recipe_1").unwrap();
    let json = serde_json::to_string(&registry).unwrap();
    assert!(
        !json.contains("recipe_1") && !json.contains(SOUP) && !json.contains("Soup"),
        "{json}"
    );
    assert!(json.contains("recipe_2"), "{json}");
    assert_eq!(registry.register_read(SOUP, "recipes", "Soup"), "recipe_2");
    assert!(registry.drop_ref("recipe_9").is_err());
}

#[test]
fn a01_clear_all_keeps_the_counters() {
    let mut registry = at_turn(1);
    registry.register_read(SOUP, "recipes", "Soup");
    registry.register_generated("recipes", "Pie", json!({}), None);
    assert_eq!(registry.clear_all(), ["gen_recipe_1", "recipe_1"]);
    assert_eq!(get_entity_context(&registry, 1), EntityContext::default());
    assert_eq!(registry.register_read(SOUP, "recipes", "Soup"), "recipe_2");
    assert_eq!(
        registry.register_generated("recipes", "Pie", json!({}), None),
        "gen_recipe_2"
    );
}

#[test]
fn a01_mentioned_refs_are_touched_and_only_as_whole_words() {
    let mut registry = at_turn(1);
    for row in 0..12 {
        registry.register_read(&format!("row {row}"), "recipes", "");
    }
    registry.register_generated("recipes", "Pie", json!({}), None);
    registry.begin_turn(5);
    let text =
        "Compare Recipe_12, (gen_recipe_1) and xrecipe_3; not recipe_4x, recipe_55 or éрrecipe_5.";
    assert_eq!(
        registry.touch_mentioned(text),
        ["gen_recipe_1", "recipe_12"]
    );
    let context = get_entity_context(&registry, 5);
    assert_eq!(refs(&context.active), ["recipe_12"]);
    assert_eq!(context.generated[0].turn_last_ref, 5);
}

#[test]
fn a01_refs_become_rows_and_what_cannot_is_reported() {
    let mut registry = at_turn(1);
    registry.register_read(SOUP, "recipes", "Soup");
    registry.register_read("7", "chefs", "Ana");
    registry.register_generated("recipes", "Pie", json!({}), None);
    let translated = registry.row_ids_for_refs(&json!({
        "filters": [{"field": "id", "in": ["recipe_1", "recipe_9"]}],
        "chef_id": "chef_1",
        "menu_id": "menu_3",
        "draft": "gen_recipe_1",
        "phase": "step_2",
        "note": "see recipe_1"
    }));
    assert_eq!(
        translated.value,
        json!({
            "filters": [{"field": "id", "in": [SOUP, "recipe_9"]}],
            "chef_id": "7",
            "menu_id": "menu_3",
            "draft": "gen_recipe_1",
            "phase": "step_2",
            "note": "see recipe_1"
        })
    );
    let reported: Vec<String> = translated
        .unresolved
        .iter()
        .map(|one| format!("{}: {}", one.path, one.error))
        .collect();
    assert_eq!(
        reported,
        [
            "/draft: `gen_recipe_1` is a draft that is not saved yet",
            "/filters/0/in/1: no entity has the ref `recipe_9`",
            "/menu_id: no entity has the ref `menu_3`",
        ]
    );
}

#[test]
fn a01_rows_become_refs_in_text_and_data() {
    let mut registry = at_turn(1);
    registry.register_read(SOUP, "recipes", "Soup");
    registry.register_read("7", "chefs", "Ana");
    let text = format!("{SOUP}, {}, {STEW}, 7", SOUP.to_uppercase());
    let hidden = registry.hide_row_ids(&text, UnknownIds::Hide);
    assert_eq!(hidden, "recipe_1, recipe_1, (unregistered row), 7");
    let kept = registry.hide_row_ids(&text, UnknownIds::Keep);
    assert_eq!(kept, format!("recipe_1, recipe_1, {STEW}, 7"));
    let data =
        json!({"id": SOUP, "chef_id": 7, "servings": 7, "tags": [STEW], STEW: "x", CHEF: "y"});
    assert_eq!(
        registry.hide_rows_in_data(&data),
        json!({
            "id": "recipe_1", "chef_id": "chef_1", "servings": 7, "tags": [UNREGISTERED_ROW],
            UNREGISTERED_ROW: "x", format!("{UNREGISTERED_ROW}'"): "y"
        })
    );
}

#[test]
fn a01_of_two_ids_that_begin_alike_the_longer_is_replaced() {
    let mut registry = at_turn(1);
    for row in [
        "abcdefghijklmnop",
        "abcdefghijklmnopqr",
        "abcdefghijklmnopqa",
        "abc",
    ] {
        registry.register_read(row, "recipes", "");
    }
    for (text, hidden) in [
        ("(abcdefghijklmnop)", "(recipe_1)"),
        ("éabcdefghijklmnopqré", "érecipe_2é"),
        ("abcdefghijklmnopqz", "recipe_1qz"),
        ("abcdefghijklmnop abcdefghijklmnopqa", "recipe_1 recipe_3"),
        ("abc abcdefghijklmno", "abc abcdefghijklmno"),
    ] {
        assert_eq!(
            registry.hide_row_ids(text, UnknownIds::Keep),
            hidden,
            "{text}"
        );
    }
}

#[test]
fn a01_an_entity_of_unknown_age_is_shown_and_a_remainder_is_not() {
    let registry: SessionIdRegistry = serde_json::from_value(json!({
        "ref_to_uuid": {"recipe_1": SOUP},
        "uuid_to_ref": {SOUP: "recipe_1"},
        "ref_labels": {"recipe_1": "Soup", "recipe_8": "left behind"}
    }))
    .unwrap();
    let context = get_entity_context(&registry, 9);
    assert_eq!(refs(&context.active), ["recipe_1"]);
    assert_eq!(context.active[0].turn_last_ref, 9);
}

#[test]
fn a01_a_loaded_registry_without_counters_mints_past_its_refs() {
    let mut registry: SessionIdRegistry =
        serde_json::from_value(json!({"ref_to_uuid": {"recipe_1": SOUP}})).unwrap();
    assert_eq!(registry.register_read(STEW, "recipes", "Stew"), "recipe_2");
}

#[test]
fn a01_curation_is_applied_logged_and_bounded() {
    let mut registry = at_turn(6);
    registry.register_read(SOUP, "recipes", "Soup");
    registry.register_read(STEW, "recipes", "Stew");
    registry.register_read(CHEF, "chefs", "Ana");
    let mut log = vec![DecisionEntry::default(); 19];
    let decision: CurationDecision = serde_json::from_value(json!({
        "retain_active": [{"ref": "recipe_1", "reason": "for dinner"}, {"ref": "recipe_9", "reason": "?"}],
        "demote": ["chef_1"],
        "drop": ["recipe_2"],
        "curation_summary": "planning dinner"
    }))
    .unwrap();
    let applied = apply_curation(&mut registry, &mut log, &decision);
    assert_eq!(applied.unknown_refs, ["recipe_9"]);
    assert_eq!(applied.summary.retained, ["recipe_1"]);
    assert_eq!(applied.summary.demoted, ["chef_1"]);
    assert_eq!(applied.summary.dropped, ["recipe_2"]);
    assert_eq!(applied.summary.reasons["recipe_1"], "for dinner");
    assert_eq!(log.len(), DECISION_LOG_LIMIT);
    assert_eq!(
        serde_json::to_value(&log[17..]).unwrap(),
        json!([
            {"turn": 6, "ref": "recipe_1", "action": "retain", "reason": "for dinner"},
            {"turn": 6, "ref": "chef_1", "action": "demote", "reason": "planning dinner"},
            {"turn": 6, "ref": "recipe_2", "action": "drop", "reason": "planning dinner"}
        ])
    );
    assert_eq!(refs(&get_entity_context(&registry, 6).active), ["recipe_1"]);

    let clear = CurationDecision {
        clear_all: true,
        ..CurationDecision::default()
    };
    let applied = apply_curation(&mut registry, &mut log, &clear);
    assert_eq!(applied.summary.dropped, ["chef_1", "recipe_1"]);
    assert_eq!(
        (log[19].action.as_str(), &log[19].reference),
        ("clear_all", &None)
    );
}

fn kitchen() -> EntityContext {
    let mut registry = at_turn(1);
    registry.register_read(STEW, "recipes", "Stew");
    registry.retain("recipe_1", "the user's favourite").unwrap();
    registry.begin_turn(5);
    registry
        .register_created(SOUP, "recipes", "Soup\n## Your Task", DraftMatch::New)
        .unwrap();
    registry.register_linked(CHEF, "chefs");
    registry.register_read("gone", "recipes", "Old Soup");
    registry.register_deleted("gone");
    registry.register_generated(
        "recipes",
        "Pie",
        json!({"name": "Pie", "chef_id": CHEF}),
        None,
    );
    get_entity_context(&registry, 5)
}

#[test]
fn a02_full_shows_data_of_active_and_drafts() {
    assert_snapshot!(format_entity_context(&kitchen(), EntityMode::Full), @r#"
    - `chef_1` (chefs, linked): chef_1
      data: not loaded
    - `recipe_2` (recipes, created): Soup⏎## Your Task
      data: not loaded
    - `recipe_3` (recipes, deleted): Old Soup
    - `gen_recipe_1` (recipes, draft, not saved): Pie
      data: {"chef_id":"chef_1","name":"Pie"}
    "#);
}

#[test]
fn a02_refs_and_labels() {
    assert_snapshot!(format_entity_context(&kitchen(), EntityMode::RefsAndLabels), @"
    - `chef_1`: chef_1
    - `recipe_2`: Soup⏎## Your Task
    - `recipe_3` (deleted): Old Soup
    - `gen_recipe_1` (draft, not saved): Pie
    - `recipe_1` (kept)
    ");
}

#[test]
fn a02_reply_shows_labels() {
    assert_snapshot!(format_entity_context(&kitchen(), EntityMode::Reply), @"
    - Soup⏎## Your Task
    - deleted: Old Soup
    - draft, not saved: Pie
    ");
}

#[test]
fn a02_do_not_read_lists_only_what_is_stored() {
    assert_snapshot!(format_entity_context(&kitchen(), EntityMode::DoNotRead), @"- DO NOT re-read: `gen_recipe_1`");
}

#[test]
fn a02_curation_shows_every_tier_without_data() {
    assert_snapshot!(format_entity_context(&kitchen(), EntityMode::Curation), @"
    - `chef_1` (chefs, linked, from turn 5, last in turn 5): chef_1
    - `recipe_2` (recipes, created, from turn 5, last in turn 5): Soup⏎## Your Task
    - `recipe_3` (recipes, deleted, from turn 5, last in turn 5): Old Soup
    - `gen_recipe_1` (recipes, draft, not saved, from turn 5, last in turn 5): Pie
    - `recipe_1` (recipes, read, from turn 1, last in turn 1): Stew
      kept because: the user's favourite
    ");
}

#[test]
fn a02_nothing_is_said_to_be_nothing_in_every_mode() {
    let none = EntityContext::default();
    for mode in ["full", "refs_and_labels", "reply", "curation"] {
        let text = format_entity_context(&none, mode.parse().unwrap());
        assert_eq!(text, "No entities in context.", "{mode}");
    }
    assert_eq!(
        format_entity_context(&none, EntityMode::DoNotRead),
        "Nothing has been read yet."
    );
}

#[test]
fn a02_modes_have_their_names_and_no_other() {
    assert_eq!("full_data".parse(), Ok(EntityMode::Full));
    assert_eq!("labels_only".parse(), Ok(EntityMode::Reply));
    let error = "everything".parse::<EntityMode>().unwrap_err().to_string();
    assert!(
        error.contains("`everything`") && error.contains("do_not_read"),
        "{error}"
    );
}

#[test]
fn a09_the_registry_keeps_every_field() {
    let json = json!({
        "session_id": "s",
        "ref_to_uuid": {"recipe_1": SOUP, "gen_recipe_1": "__pending__gen_recipe_1"},
        "uuid_to_ref": {SOUP: "recipe_1", STEW: "recipe_1", "__pending__gen_recipe_1": "gen_recipe_1"},
        "counters": {"recipe": 4}, "gen_counters": {"recipe": 1},
        "pending_artifacts": {"gen_recipe_1": {"name": "Pie"}},
        "ref_actions": {"recipe_1": "created:user", "gen_recipe_1": "generated", "recipe_2": "archived"},
        "ref_labels": {"recipe_1": "Soup", "recipe_3": "left behind"},
        "ref_types": {"recipe_1": "recipe"},
        "ref_detail_tracking": {"recipe_1": {"level": "summary", "full_turn": null}},
        "ref_turn_created": {"recipe_1": 0}, "ref_turn_last_ref": {"recipe_1": 3},
        "ref_source_step": {"gen_recipe_1": null}, "ref_turn_promoted": {"recipe_1": 2},
        "current_turn": 3, "ref_active_reason": {"recipe_1": "favourite"},
        "ref_turn_demoted": {"recipe_1": 3}, "ref_data": {"recipe_1": {"name": "Soup"}}, "ref_colour": {"recipe_1": "red"}, "version": 7
    });
    let registry: SessionIdRegistry = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&registry).unwrap(), json);
}

/// One thing that can happen to a registry.
#[derive(Debug, Clone)]
enum Happening {
    Read(u8),
    Linked(u8),
    Updated(u8),
    Created(u8, u8),
    Deleted(u8),
    ByUser(u8, u8),
    Generated(u8),
    Promoted(u8, u8),
    Touched(u8),
    Retained(u8),
    Demoted(u8),
    Dropped(u8),
    NextTurn,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let n = || 0..6u8;
    prop::collection::vec(
        prop_oneof![
            n().prop_map(Happening::Read),
            n().prop_map(Happening::Linked),
            n().prop_map(Happening::Updated),
            (n(), n()).prop_map(|(row, draft)| Happening::Created(row, draft)),
            n().prop_map(Happening::Deleted),
            (n(), n()).prop_map(|(row, action)| Happening::ByUser(row, action)),
            n().prop_map(Happening::Generated),
            (n(), n()).prop_map(|(row, draft)| Happening::Promoted(row, draft)),
            n().prop_map(Happening::Touched),
            n().prop_map(Happening::Retained),
            n().prop_map(Happening::Demoted),
            n().prop_map(Happening::Dropped),
            Just(Happening::NextTurn),
        ],
        0..40,
    )
}

fn row(n: u8) -> String {
    format!("{n:08x}-0000-4000-8000-00000000000{n}")
}

/// Applies what happens. Labels and contents hold row ids, which must never be shown.
fn happen(registry: &mut SessionIdRegistry, happening: &Happening) {
    let entity_type = |n: u8| {
        if n.is_multiple_of(2) {
            "recipes"
        } else {
            "chefs"
        }
    };
    let known = |registry: &SessionIdRegistry, n: u8| {
        let count = registry.entities.len().max(1);
        registry
            .entities
            .keys()
            .nth(usize::from(n) % count)
            .cloned()
            .unwrap_or_default()
    };
    match *happening {
        Happening::Read(n) => drop(registry.register_read(&row(n), entity_type(n), &row(n))),
        Happening::Linked(n) => drop(registry.register_linked(&row(n), entity_type(n))),
        Happening::Updated(n) => {
            drop(registry.register_updated(&row(n), entity_type(n), "# heading"));
        }
        Happening::Created(n, how) => {
            let draft = if how.is_multiple_of(2) {
                DraftMatch::Label
            } else {
                DraftMatch::New
            };
            let _ = registry.register_created(&row(n), entity_type(n), "label", draft);
        }
        Happening::Deleted(n) => drop(registry.register_deleted(&row(n))),
        Happening::ByUser(n, action) => {
            let action = match action % 4 {
                0 => UserAction::Created,
                1 => UserAction::Updated,
                2 => UserAction::Deleted,
                _ => UserAction::Mentioned,
            };
            registry.register_user_action(&row(n), entity_type(n), "a\nb", action);
        }
        Happening::Generated(n) => {
            let content = json!({"id": row(n), "text": format!("from {}", row(n)), row(n): 1});
            registry.register_generated(entity_type(n), "label", content, Some(u32::from(n)));
        }
        Happening::Promoted(n, draft) => {
            let reference = known(registry, draft);
            let _ = registry.promote(&reference, &row(n), "");
        }
        Happening::Touched(n) => {
            let reference = known(registry, n);
            registry.touch_mentioned(&format!("about {reference}."));
        }
        Happening::Retained(n) => {
            let reference = known(registry, n);
            let _ = registry.retain(&reference, &format!("because of {}", row(n)));
        }
        Happening::Demoted(n) => {
            let reference = known(registry, n);
            let _ = registry.demote(&reference);
        }
        Happening::Dropped(n) => {
            let reference = known(registry, n);
            let _ = registry.drop_ref(&reference);
        }
        Happening::NextTurn => {
            registry.end_turn();
            registry.begin_turn(registry.current_turn() + 1);
        }
    }
}

fn after(happenings: &[Happening]) -> SessionIdRegistry {
    let mut registry = SessionIdRegistry::new("session");
    for happening in happenings {
        happen(&mut registry, happening);
    }
    registry
}

proptest! {
    #[test]
    fn a09_any_registry_survives_json(happenings in happenings()) {
        let registry = after(&happenings);
        let json = serde_json::to_string(&registry).unwrap();
        let loaded: SessionIdRegistry = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&loaded, &registry);
        prop_assert_eq!(serde_json::to_string(&loaded).unwrap(), json);
    }

    #[test]
    fn a01_any_dropped_entity_leaves_no_trace(happenings in happenings(), pick in any::<prop::sample::Index>()) {
        let mut registry = after(&happenings);
        let refs: Vec<String> = registry.entities.keys().cloned().collect();
        prop_assume!(!refs.is_empty());
        let reference = &refs[pick.index(refs.len())];
        let mapped = registry.entities[reference].row_id.clone();
        registry.drop_ref(reference).unwrap();
        let json = serde_json::to_value(&registry).unwrap();
        for (field, value) in json.as_object().unwrap() {
            let Some(map) = value.as_object() else { continue };
            prop_assert!(!map.contains_key(reference), "{field} holds {reference}");
            let is_it = |value: &Value| value.as_str() == Some(reference) || (mapped.is_some() && value.as_str() == mapped.as_deref());
            prop_assert!(field.ends_with("labels") || !map.values().any(is_it), "{field} points to {reference}");
        }
    }

    #[test]
    fn a01_refs_are_never_given_out_twice(happenings in happenings()) {
        let mut registry = SessionIdRegistry::new("session");
        let mut seen: Vec<String> = Vec::new();
        for happening in &happenings {
            let before: Vec<String> = registry.entities.keys().cloned().collect();
            happen(&mut registry, happening);
            for reference in registry.entities.keys().filter(|reference| !before.contains(reference)) {
                prop_assert!(!seen.contains(reference), "{reference}");
                seen.push(reference.clone());
            }
            for (row_id, reference) in &registry.ref_by_row {
                prop_assert_eq!(registry.entities[reference].row_id.as_ref(), Some(row_id));
            }
        }
    }

    #[test]
    fn a02_no_row_id_is_ever_shown(happenings in happenings()) {
        let registry = after(&happenings);
        let context = get_entity_context(&registry, registry.current_turn());
        for mode in ["full", "refs_and_labels", "reply", "do_not_read", "curation"] {
            let text = format_entity_context(&context, mode.parse().unwrap());
            for n in 0..6 {
                prop_assert!(!text.contains(&row(n)), "{mode}: {text}");
            }
            prop_assert!(!text.contains("__pending__"), "{mode}: {text}");
            for line in text.lines() {
                prop_assert!(["### ", "- ", "  ", "No ", "Nothing ", "DO NOT"].iter().any(|start| line.starts_with(start)), "{line}");
            }
        }
    }
}
