//! Contexts: what a message is answered with.

use kitbag_core::role::Role;
use kitbag_core::tokens::{Characters, TokenCounter, Tokens};
use kitbag_store::{
    ContextSettings, Import, Incoming, MessageTime, NewFact, NewMessage, NewSummary, Store,
    SummaryMaker,
};

use crate::on_both;
use crate::place::second;

on_both! {
    o06_a_context_has_history_facts_summaries_and_related_messages
    o06_a_context_stays_within_its_budget_and_tells_what_is_left_out
    o06_facts_follow_the_sender_and_summaries_stay_in_their_channel
    o12_the_message_is_answered_once_and_history_is_in_order
}

/// A past conversation, and one that is under way.
async fn fill(store: &Store) {
    let at = |text: &str| MessageTime::parse(text).unwrap();
    let past = [
        (Role::User, "My sister Ines lives in Porto and keeps bees."),
        (Role::Assistant, "How many hives does she have?"),
        (Role::User, "Twelve, behind the old mill."),
    ];
    let past = past.map(|(role, text)| {
        Import::new(
            "cli",
            "ann",
            Some("bees".into()),
            NewMessage::new(role, text).at(at("2023-03-01T10:00:00")),
        )
    });
    store.import(past.into(), second(-9_000)).await.unwrap();
    let bees = store.conversations("cli", "ann", 1).await.unwrap();
    store
        .add_summary(
            bees[0].id,
            NewSummary::new(
                (1, 3),
                "User: My sister Ines lives in Porto and keeps bees.",
                SummaryMaker::Rules,
            ),
            second(-8_000),
        )
        .await
        .unwrap();
    store
        .set_facts(
            "ann",
            vec![NewFact::new("timezone", "Europe/Lisbon")],
            second(-5),
        )
        .await
        .unwrap();
    let now = [
        (Role::User, "Good morning!"),
        (Role::Assistant, "Good morning, Ann."),
    ];
    let now = now.map(|(role, text)| {
        Import::new(
            "cli",
            "ann",
            None,
            NewMessage::new(role, text).at(second(0)),
        )
    });
    store.import(now.into(), second(0)).await.unwrap();
}

async fn o06_a_context_has_history_facts_summaries_and_related_messages(store: Store) {
    fill(&store).await;
    let incoming = Incoming::new("cli", "ann", "Where does my sister keep her hives?");
    let settings = ContextSettings::new(Tokens(4_000));
    let built = store
        .build_context(&incoming, &settings, &Characters, second(9))
        .await
        .unwrap();
    built.context.validate().unwrap();
    insta::assert_snapshot!(built.context.to_prompt_string(), @"
    [System]
    You are Kitbag, an assistant that works from the context it is given. Use that context first, say when it does not hold the answer, and keep to the point.

    - About the user, timezone: Europe/Lisbon
    - Earlier conversation, summarised 2023-11-14: User: My sister Ines lives in Porto and keeps bees.
    - Earlier, user on 2023-03-01: My sister Ines lives in Porto and keeps bees.
    - Earlier, user on 2023-03-01: Twelve, behind the old mill.
    - Earlier, assistant on 2023-03-01: How many hives does she have?

    [User]
    Good morning!

    [Assistant]
    Good morning, Ann.

    [User]
    Where does my sister keep her hives?
    ");
    assert_eq!(built.assembly.ledger.problems, []);
    assert!(Characters.count(&built.assembly.body) <= Tokens(4_000));
}

async fn o06_a_context_stays_within_its_budget_and_tells_what_is_left_out(store: Store) {
    fill(&store).await;
    let long = "We talked about the weather in Lisbon, again and again. ".repeat(30);
    let many = (0..40).map(|n| {
        let text = format!("{n}. {long}I decided to buy {n} apples.");
        Import::new(
            "cli",
            "ann",
            None,
            NewMessage::new(Role::User, text).at(second(1)),
        )
    });
    store.import(many.collect(), second(1)).await.unwrap();
    let incoming = Incoming::new("cli", "ann", "How many apples was it?");
    for budget in [600, 2_000, 9_000, 50_000] {
        let settings = ContextSettings::new(Tokens(budget));
        let built = store
            .build_context(&incoming, &settings, &Characters, second(9))
            .await
            .unwrap();
        assert!(Characters.count(&built.assembly.body) <= Tokens(budget));
        assert!(Characters.count(&built.context.to_prompt_string()) <= Tokens(budget));
        // Every message is in the history or has a line in the ledger.
        let told = built
            .assembly
            .ledger
            .entries
            .iter()
            .filter(|entry| entry.source.starts_with("message/"))
            .count();
        assert!(built.draft.history.len() + told >= 42, "{budget}: {told}");
    }
    let tight = ContextSettings::new(Tokens(20));
    assert!(
        store
            .build_context(&incoming, &tight, &Characters, second(9))
            .await
            .is_err()
    );
}

async fn o06_facts_follow_the_sender_and_summaries_stay_in_their_channel(store: Store) {
    fill(&store).await;
    let incoming = Incoming::new("slack", "ann", "Where does my sister keep her hives?");
    let mut settings = ContextSettings::new(Tokens(4_000));
    let built = store
        .build_context(&incoming, &settings, &Characters, second(9))
        .await
        .unwrap();
    assert!(built.context.system_prompt.contains("Europe/Lisbon"));
    assert!(!built.context.system_prompt.contains("Ines"));
    assert!(built.context.history.is_empty());
    settings.across_channels = true;
    let built = store
        .build_context(&incoming, &settings, &Characters, second(9))
        .await
        .unwrap();
    assert!(built.context.system_prompt.contains("old mill"));
    let other = Incoming::new("cli", "bob", "Where does my sister keep her hives?");
    let built = store
        .build_context(&other, &settings, &Characters, second(9))
        .await
        .unwrap();
    assert_eq!(built.context.system_prompt, settings.system_prompt);
}

async fn o12_the_message_is_answered_once_and_history_is_in_order(store: Store) {
    fill(&store).await;
    let incoming = Incoming::new("cli", "ann", "And my sister?");
    let turn = store.accept(&incoming, second(5)).await.unwrap();
    let settings = ContextSettings::new(Tokens(4_000)).answering(turn.message);
    let built = store
        .build_context(&incoming, &settings, &Characters, second(9))
        .await
        .unwrap();
    let history: Vec<&str> = built
        .context
        .history
        .iter()
        .map(|entry| entry.content.as_str())
        .collect();
    assert_eq!(history, ["Good morning!", "Good morning, Ann."]);
    assert_eq!(built.context.current_message, "And my sister?");
    assert!(!built.context.system_prompt.contains("And my sister?"));
}
