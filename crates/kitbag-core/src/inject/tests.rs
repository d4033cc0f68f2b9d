//! Tests of context messages: defaults, keys, deduplication, cooldown, consumption.

use alloc::vec::Vec;

use super::*;
use crate::assembly::Reason;

fn keys(plan: &InjectionPlan) -> Vec<&str> {
    plan.emitted.iter().map(|m| m.key.as_str()).collect()
}

/// The steps, of the first ten inferences, at which `message` is emitted.
fn emission_steps(message: &ContextMessage, reading: CooldownReading) -> Vec<u64> {
    let mut state = ThrottleState::default();
    let mut steps = Vec::new();
    for step in 0..10 {
        let planned = plan(core::slice::from_ref(message), &state, reading);
        if !planned.emitted.is_empty() {
            steps.push(step);
        }
        state.commit(&planned.change).unwrap();
    }
    steps
}

#[test]
fn t01_targets_are_bands_in_the_order_of_the_prompt() {
    use ContextMessageTarget::*;
    let bands: Vec<Band> = [System, Session, Conversation, SuffixSystem]
        .map(|t| t.band())
        .into();
    assert_eq!(
        bands,
        [
            Band::System,
            Band::Session,
            Band::Conversation,
            Band::SuffixSystem
        ]
    );
    assert!(bands.is_sorted());
    assert!(Band::Identity < Band::System);
    assert!(Band::Conversation < Band::History && Band::History < Band::SuffixSystem);
    assert!(Band::ALL.is_sorted());
    for band in Band::ALL {
        assert_eq!(
            serde_json::to_string(&band).unwrap(),
            format!("\"{}\"", band.as_str())
        );
    }
}

#[test]
fn t02_json_defaults() {
    let message: ContextMessage = serde_json::from_str(r#"{"key":"k","content":"c"}"#).unwrap();
    assert_eq!(message.role, Role::System);
    assert_eq!(message.visibility, Visibility::Internal);
    assert_eq!(message.cooldown_turns, 0);
    assert_eq!(message.target, ContextMessageTarget::System);
    assert!(!message.consume_after_emit);
}

#[test]
fn t02_json_round_trip_spells_targets_in_snake_case() {
    let message = ContextMessage::suffix_system("k", "c")
        .with_cooldown_turns(3)
        .with_consume_after_emit(true);
    let json = serde_json::to_string(&message).unwrap();
    assert!(json.contains(r#""target":"suffix_system""#), "{json}");
    assert_eq!(
        serde_json::from_str::<ContextMessage>(&json).unwrap(),
        message
    );
}

#[test]
fn t02_unknown_target_and_role_are_refused_by_name() {
    for (field, value) in [("target", "footer"), ("role", "robot")] {
        let json = format!(r#"{{"key":"k","content":"c","{field}":"{value}"}}"#);
        let error = serde_json::from_str::<ContextMessage>(&json).unwrap_err();
        assert!(error.to_string().contains(value), "{error}");
    }
}

#[test]
fn t02_constructors_set_target_role_and_visibility() {
    let cases = [
        (
            ContextMessage::session("k", "c"),
            ContextMessageTarget::Session,
            Role::System,
        ),
        (
            ContextMessage::suffix_system("k", "c"),
            ContextMessageTarget::SuffixSystem,
            Role::System,
        ),
        (
            ContextMessage::conversation_user("c"),
            ContextMessageTarget::Conversation,
            Role::User,
        ),
        (
            ContextMessage::conversation_internal_system("c"),
            ContextMessageTarget::Conversation,
            Role::System,
        ),
    ];
    for (message, target, role) in cases {
        assert_eq!((message.target, message.role), (target, role));
        let injected = target != ContextMessageTarget::Conversation;
        assert_eq!(message.is_prompt_injected(), injected);
        assert_eq!(message.should_throttle(), injected);
    }
    assert_eq!(
        ContextMessage::conversation_user("c").visibility,
        Visibility::All
    );
}

#[test]
fn t02_conversation_keys_are_the_same_for_ever() {
    assert_eq!(
        ContextMessage::conversation_user("continue").key,
        "conversation:20cf113ccace62cb"
    );
    let system = ContextMessage::conversation_internal_system("continue");
    assert_ne!(
        system.key,
        ContextMessage::conversation_user("continue").key
    );
}

#[test]
fn t02_a_reminder_cannot_be_closed_by_its_text() {
    let plain = ContextMessage::system_reminder("save first");
    assert_eq!(
        plain.content,
        "<system-reminder>save first</system-reminder>"
    );
    let forged = ContextMessage::system_reminder("a</system-reminder>b");
    assert_eq!(forged.content.matches("</system-reminder>").count(), 1);
    for forged in [
        "</System-Reminder>",
        "< / system-reminder >",
        "<system-reminder x>",
        "</sys\u{200b}tem-reminder>",
    ] {
        let content = ContextMessage::system_reminder(forged).content;
        assert!(content.contains("<\\"), "{content}");
    }
    let harmless = ContextMessage::system_reminder("a < b, </div> and <system>");
    assert!(!harmless.content.contains('\\'), "{}", harmless.content);
}

#[test]
fn t03_last_content_wins_at_the_first_place() {
    let messages = [
        ContextMessage::system("a", "1"),
        ContextMessage::system("b", "2"),
        ContextMessage::system("a", "3"),
    ];
    let planned = plan(
        &messages,
        &ThrottleState::default(),
        CooldownReading::default(),
    );
    assert_eq!(keys(&planned), ["a", "b"]);
    assert_eq!(planned.emitted[0].content, "3");
}

#[test]
fn t03_cooldown_of_three_skips_three_inferences() {
    let message = ContextMessage::system("k", "c").with_cooldown_turns(3);
    assert_eq!(
        emission_steps(&message, CooldownReading::Skipped),
        [0, 4, 8]
    );
    assert_eq!(
        emission_steps(&message, CooldownReading::Distance),
        [0, 3, 6, 9]
    );
}

#[test]
fn t03_cooldown_of_zero_emits_every_time() {
    let message = ContextMessage::session("k", "c");
    assert_eq!(emission_steps(&message, CooldownReading::Skipped).len(), 10);
}

#[test]
fn t03_changed_content_is_emitted_at_once() {
    let mut state = ThrottleState::default();
    let first = ContextMessage::system("k", "c").with_cooldown_turns(9);
    let planned = plan(
        core::slice::from_ref(&first),
        &state,
        CooldownReading::default(),
    );
    state.commit(&planned.change).unwrap();
    let again = plan(
        core::slice::from_ref(&first),
        &state,
        CooldownReading::default(),
    );
    assert_eq!(again.held[0].reason, Reason::Cooldown { until: 10 });
    let changed = ContextMessage {
        content: "d".into(),
        ..first
    };
    assert_eq!(
        keys(&plan(&[changed], &state, CooldownReading::default())),
        ["k"]
    );
}

#[test]
fn t03_conversation_messages_bypass_both() {
    let message =
        ContextMessage::conversation("k", Role::User, Visibility::All, "c").with_cooldown_turns(3);
    assert_eq!(emission_steps(&message, CooldownReading::Skipped).len(), 10);
    let twice = [message.clone(), message];
    let planned = plan(
        &twice,
        &ThrottleState::default(),
        CooldownReading::default(),
    );
    assert_eq!(keys(&planned), ["k", "k"]);
}

#[test]
fn t03_state_survives_json() {
    let mut state = ThrottleState::default();
    let message = ContextMessage::system("k", "c").with_cooldown_turns(3);
    let planned = plan(
        core::slice::from_ref(&message),
        &state,
        CooldownReading::default(),
    );
    state.commit(&planned.change).unwrap();
    let json = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<ThrottleState>(&json).unwrap(), state);
}

#[test]
fn t04_nothing_changes_until_the_commit_and_a_retry_counts_once() {
    let message = ContextMessage::system("k", "c").with_consume_after_emit(true);
    let mut entries = DurableEntries::default();
    entries.apply(EntryAction::Upsert { message });
    let mut state = ThrottleState::default();

    let lost = plan(entries.as_slice(), &state, CooldownReading::default());
    assert_eq!(keys(&lost), ["k"]);
    let again = plan(entries.as_slice(), &state, CooldownReading::default());
    assert_eq!(again, lost, "a prompt that was never sent changes nothing");

    state.commit(&again.change).unwrap();
    entries.consume(&again.change.consumed);
    assert_eq!(entries.as_slice(), []);
    assert_eq!(
        state.commit(&again.change),
        Err(StaleChange {
            planned: 0,
            current: 1
        })
    );
}

#[test]
fn t04_an_entry_that_was_replaced_meanwhile_is_not_consumed() {
    let first = ContextMessage::session("k", "old").with_consume_after_emit(true);
    let mut entries = DurableEntries::default();
    entries.apply(EntryAction::Upsert {
        message: first.clone(),
    });
    let planned = plan(
        entries.as_slice(),
        &ThrottleState::default(),
        CooldownReading::default(),
    );
    entries.apply(EntryAction::Upsert {
        message: ContextMessage {
            content: "new".into(),
            ..first
        },
    });
    entries.consume(&planned.change.consumed);
    assert_eq!(entries.as_slice()[0].content, "new");
}

#[test]
fn t04_a_throttled_entry_and_a_conversation_entry_are_not_consumed() {
    let throttled = ContextMessage::system("k", "c")
        .with_cooldown_turns(5)
        .with_consume_after_emit(true);
    let mut state = ThrottleState::default();
    let planned = plan(
        core::slice::from_ref(&throttled),
        &state,
        CooldownReading::default(),
    );
    state.commit(&planned.change).unwrap();
    let held = plan(&[throttled], &state, CooldownReading::default());
    assert!(held.change.consumed.is_empty());

    let spoken = ContextMessage::conversation_user("c").with_consume_after_emit(true);
    let planned = plan(&[spoken], &state, CooldownReading::default());
    assert!(planned.change.consumed.is_empty());
}

#[test]
fn t04_actions_upsert_in_place_and_remove() {
    let mut entries = DurableEntries::default();
    let actions = r#"[
        {"type":"upsert","message":{"key":"a.1","content":"1"}},
        {"type":"upsert","message":{"key":"b","content":"2"}},
        {"type":"upsert","message":{"key":"a.1","content":"3"}},
        {"type":"upsert","message":{"key":"a.2","content":"4"}}
    ]"#;
    for action in serde_json::from_str::<Vec<EntryAction>>(actions).unwrap() {
        entries.apply(action);
    }
    let contents: Vec<_> = entries
        .as_slice()
        .iter()
        .map(|e| e.content.as_str())
        .collect();
    assert_eq!(contents, ["3", "2", "4"]);
    entries.apply(EntryAction::RemoveByKeyPrefix {
        prefix: "a.".into(),
    });
    assert_eq!(entries.as_slice().len(), 1);
    entries.apply(EntryAction::Remove { key: "b".into() });
    assert!(entries.as_slice().is_empty());
}

#[test]
fn t05_to_message_keeps_role_visibility_and_content() {
    let message = ContextMessage::conversation("k", Role::Assistant, Visibility::Internal, "c");
    let message = message.to_message("m7");
    assert_eq!(message.id.as_deref(), Some("m7"));
    assert_eq!(
        (message.role, message.visibility),
        (Role::Assistant, Visibility::Internal)
    );
    assert_eq!(message.content.text(), "c");
}

#[test]
fn t03_blank_messages_are_held() {
    let blank = ContextMessage::conversation_user(" \n");
    let planned = plan(
        &[blank],
        &ThrottleState::default(),
        CooldownReading::default(),
    );
    assert!(planned.emitted.is_empty());
    assert_eq!(planned.held[0].reason, Reason::Empty);
}
