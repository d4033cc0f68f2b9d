//! Turns: three durable steps, one at a time in a conversation, each once.

use jiff::SignedDuration;
use kitbag_core::calibration::CountSample;
use kitbag_core::record::InferenceRecord;
use kitbag_core::role::Role;
use kitbag_store::{Incoming, Learned, Store, StoreError, TurnStatus};

use crate::on_both;
use crate::place::second;

on_both! {
    a_turn_is_accepted_begun_and_learned
    a_retry_commits_once
    turns_of_a_conversation_take_turns
    a_turn_that_ended_keeps_nobody_waiting
    silence_begins_another_conversation
    o07_what_was_billed_is_summed_by_model
}

async fn o07_what_was_billed_is_summed_by_model(store: Store) {
    let learned = |billed| {
        let mut inference = InferenceRecord::default();
        inference.model = Some("claude-sonnet-4-5".into());
        inference.sample = CountSample::new("o200k_base", 1_000, billed, 1_300);
        let mut learned = Learned::reply("hi", second(2));
        learned.record.inferences.push(inference);
        learned
    };
    for billed in [1_200, 0, 1_200, 1_200] {
        let incoming = Incoming::new("cli", "ann", "hello");
        let turn = store.accept(&incoming, second(0)).await.unwrap();
        let lease = store.begin(turn.id, SignedDuration::from_secs(60), second(1));
        let lease = lease.await.unwrap();
        let kept = store.learned(&lease, learned(billed), second(2)).await;
        kept.unwrap();
        // The same step twice counts once.
        let again = store.learned(&lease, learned(billed), second(3)).await;
        again.unwrap();
    }
    let known = store.calibration("claude-sonnet-4-5").await.unwrap();
    let known = known.unwrap();
    assert_eq!((known.answers, known.factor_permille), (3, 1_200));
    assert_eq!(store.calibration("gpt-4o").await.unwrap(), None);
}

async fn a_turn_is_accepted_begun_and_learned(store: Store) {
    let turn = store
        .accept(&Incoming::new("cli", "ann", "hello"), second(0))
        .await
        .unwrap();
    assert_eq!(turn.status, TurnStatus::Accepted);
    let lease = store
        .begin(turn.id, SignedDuration::from_secs(60), second(1))
        .await
        .unwrap();
    let done = store
        .learned(&lease, Learned::reply("hi Ann", second(2)), second(2))
        .await
        .unwrap();
    assert_eq!(done.status, TurnStatus::Learned);
    let messages = store.messages(turn.id.conversation(), 50).await.unwrap();
    let said: Vec<_> = messages
        .iter()
        .map(|stored| (stored.message.role, stored.text()))
        .collect();
    assert_eq!(
        said,
        [
            (Role::User, "hello".into()),
            (Role::Assistant, "hi Ann".into())
        ]
    );
    assert_eq!(done.reply, Some(messages[1].id));
    assert_eq!(store.turn(turn.id).await.unwrap(), done);
}

async fn a_retry_commits_once(store: Store) {
    let incoming = Incoming::new("cli", "ann", "hello").with_idempotency_key("k1");
    let first = store.accept(&incoming, second(0)).await.unwrap();
    let again = store.accept(&incoming, second(9)).await.unwrap();
    assert_eq!(first, again);
    let lease = store
        .begin(first.id, SignedDuration::from_secs(60), second(1))
        .await
        .unwrap();
    let reply = || Learned::reply("hi", second(2));
    let done = store.learned(&lease, reply(), second(2)).await.unwrap();
    assert_eq!(
        store.learned(&lease, reply(), second(3)).await.unwrap(),
        done
    );
    assert_eq!(store.accept(&incoming, second(9)).await.unwrap(), done);
    assert_eq!(
        store
            .messages(first.id.conversation(), 50)
            .await
            .unwrap()
            .len(),
        2
    );
}

async fn turns_of_a_conversation_take_turns(store: Store) {
    let minute = SignedDuration::from_secs(60);
    let first = store
        .accept(&Incoming::new("cli", "ann", "one"), second(0))
        .await
        .unwrap();
    let other = store
        .accept(&Incoming::new("cli", "ann", "two"), second(1))
        .await
        .unwrap();
    assert_eq!(first.id.conversation(), other.id.conversation());
    let lease = store.begin(first.id, minute, second(2)).await.unwrap();
    let busy = store.begin(other.id, minute, second(3)).await.unwrap_err();
    assert!(matches!(busy, StoreError::Busy { .. }), "{busy}");
    // A lease that has run out is taken over, and its owner can commit nothing any more.
    let taken = store.begin(other.id, minute, second(99)).await.unwrap();
    let lost = store
        .learned(&lease, Learned::reply("late", second(99)), second(99))
        .await
        .unwrap_err();
    assert!(matches!(lost, StoreError::LeaseLost { .. }), "{lost}");
    store
        .learned(&taken, Learned::reply("in time", second(100)), second(100))
        .await
        .unwrap();
    let unfinished = store
        .unfinished_turns(first.id.conversation())
        .await
        .unwrap();
    assert_eq!(
        unfinished.iter().map(|turn| turn.id).collect::<Vec<_>>(),
        [first.id]
    );
}

async fn silence_begins_another_conversation(store: Store) {
    let accept = async |at| {
        store
            .accept(&Incoming::new("cli", "ann", "hm"), second(at))
            .await
            .unwrap()
    };
    let first = accept(0).await.id.conversation();
    assert_eq!(accept(29 * 60).await.id.conversation(), first);
    let later = accept(29 * 60 + 30 * 60 + 1).await.id.conversation();
    assert_ne!(later, first);
}

async fn a_turn_that_ended_keeps_nobody_waiting(store: Store) {
    let minute = SignedDuration::from_secs(60);
    let incoming = Incoming::new("cli", "ann", "hello");
    let turn = store.accept(&incoming, second(0)).await.unwrap();
    let slow = store.begin(turn.id, minute, second(0)).await.unwrap();
    let quick = store.begin(turn.id, minute, second(99)).await.unwrap();
    let reply = |text: &str| Learned::reply(text, second(99));
    let done = store.learned(&quick, reply("quick"), second(99)).await;
    let done = done.unwrap();
    // A third one did not know, and begins once more; the first one does not know either.
    let late = store.begin(turn.id, minute, second(100)).await.unwrap();
    for lease in [&slow, &late] {
        let again = store.learned(lease, reply("late"), second(101)).await;
        assert_eq!(again.unwrap(), done);
    }
    let next = store.accept(&incoming, second(102)).await.unwrap();
    store.begin(next.id, minute, second(102)).await.unwrap();
    let nowhere = "7.7.7".parse().unwrap();
    let missing = store.begin(nowhere, minute, second(103)).await.unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
}
