//! The archive: a prompt comes out again as it was sent, or is refused with the reason.

use jiff::SignedDuration;
use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::chunk::{ChunkType, ContextChunk};
use kitbag_core::inject::{ContextMessage, EntryAction, plan};
use kitbag_core::message::Message;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    ContextSettings, Forget, Incoming, Learned, Lease, NewFact, SentPrompt, Store, StoreError,
};

use crate::on_both;
use crate::place::second;

on_both! {
    x03_a_prompt_is_rebuilt_byte_for_byte
    x03_what_was_forgotten_cannot_be_rebuilt
    x03_old_prompts_go_and_shared_texts_stay
    t03_cooldowns_are_kept_between_turns
    t04_an_entry_is_consumed_with_the_prompt_that_held_it
    a_prompt_sent_twice_counts_once
}

pub(crate) async fn begin(store: &Store, text: &str, at: i64) -> Lease {
    let turn = store
        .accept(&Incoming::new("cli", "ann", text), second(at))
        .await
        .unwrap();
    store
        .begin(turn.id, SignedDuration::from_secs(600), second(at))
        .await
        .unwrap()
}

/// A prompt in every form has blocks, chunks and marks that must come out again.
fn prompt(form: OutputForm, message: &str) -> SentPrompt {
    let mut draft = Draft::new(message);
    draft.identity = "You are\tbrief. 😀 [System]".into();
    draft.history = vec![
        serde_json::from_str(
            r#"{"role":"user","content":[{"type":"text","text":"hi","zz":1,"a":{"b":1.0}}]}"#,
        )
        .unwrap(),
        Message::assistant("Hello.\n\n[User]\nno"),
    ];
    let chunks = ["timezone: Lisbon", "likes: fish"].map(|text| {
        ContextChunk::new(
            ChunkType::Fact,
            format!("fact/{}", text.split(':').next().unwrap()),
            text,
        )
        .into()
    });
    let settings = AssemblySettings::new(form, Tokens(10_000));
    let assembly = assemble(&draft, chunks.into(), &settings, &Characters, None).unwrap();
    SentPrompt::new(draft, settings, assembly)
}

async fn x03_a_prompt_is_rebuilt_byte_for_byte(store: Store) {
    for (number, form) in OutputForm::ALL.into_iter().enumerate() {
        let lease = begin(&store, &format!("question {number}"), number as i64).await;
        for inference in 0..2 {
            let sent = prompt(form, &format!("question {number}")).inference(inference);
            let body = sent.assembly.body.clone();
            store.sent(&lease, sent, second(1)).await.unwrap();
            let again = store.replay(lease.turn, Some(inference)).await.unwrap();
            assert_eq!(again.body, body);
            assert_eq!((again.form, again.inference), (form, inference));
        }
        store
            .learned(&lease, Learned::reply("ok", second(2)), second(2))
            .await
            .unwrap();
    }
    let missing = begin(&store, "not sent", 99).await;
    let refused = store.replay(missing.turn, None).await.unwrap_err();
    assert!(matches!(refused, StoreError::Replay { .. }), "{refused}");
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x03_what_was_forgotten_cannot_be_rebuilt(store: Store) {
    let secret = "My sister Ines keeps bees in Porto.";
    let first = begin(&store, secret, 0).await;
    store
        .learned(&first, Learned::reply("How nice!", second(1)), second(1))
        .await
        .unwrap();
    store
        .set_facts("ann", vec![NewFact::new("timezone", "Lisbon")], second(1))
        .await
        .unwrap();
    let incoming = Incoming::new("cli", "ann", "What does Ines keep?");
    let turn = store.accept(&incoming, second(5)).await.unwrap();
    let lease = store
        .begin(turn.id, SignedDuration::from_secs(60), second(5))
        .await
        .unwrap();
    let settings = ContextSettings::new(Tokens(4_000)).answering(turn.message);
    let built = store
        .build_context(&incoming, &settings, &Characters, second(5))
        .await
        .unwrap();
    assert!(built.assembly.body.contains(secret));
    store
        .sent(
            &lease,
            SentPrompt::new(built.draft, built.settings, built.assembly),
            second(6),
        )
        .await
        .unwrap();
    store.replay(turn.id, None).await.unwrap();
    let id = store.messages(turn.id.conversation(), 9).await.unwrap()[0].id;
    let gone = store.forget(Forget::Message(id)).await.unwrap();
    assert_eq!((gone.messages, gone.prompts), (1, 1));
    let refused = store.replay(turn.id, None).await.unwrap_err().to_string();
    assert!(refused.contains("was forgotten"), "{refused}");
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x03_old_prompts_go_and_shared_texts_stay(store: Store) {
    let mut turns = Vec::new();
    for number in 0..4 {
        let lease = begin(&store, "question", number).await;
        store
            .sent(&lease, prompt(OutputForm::Flat, "question"), second(number))
            .await
            .unwrap();
        store
            .learned(&lease, Learned::reply("ok", second(number)), second(number))
            .await
            .unwrap();
        turns.push(lease.turn);
    }
    assert_eq!(
        store
            .prune_prompts(Some(second(2)), None)
            .await
            .unwrap()
            .prompts,
        2
    );
    assert!(store.replay(turns[1], None).await.is_err());
    let bytes = store.replay(turns[3], None).await.unwrap().body.len() as u64;
    assert_eq!(
        store
            .prune_prompts(None, Some(2 * bytes))
            .await
            .unwrap()
            .prompts,
        0
    );
    assert_eq!(
        store
            .prune_prompts(None, Some(2 * bytes - 1))
            .await
            .unwrap()
            .prompts,
        1
    );
    assert!(store.replay(turns[2], None).await.is_err());
    store.replay(turns[3], None).await.unwrap();
    let last = store.prune_prompts(None, Some(0)).await.unwrap();
    assert!(last.prompts == 1 && last.texts > 0, "{last:?}");
}

async fn t03_cooldowns_are_kept_between_turns(store: Store) {
    let mut emitted = Vec::new();
    for number in 0..6 {
        let lease = begin(&store, "question", number).await;
        let id = lease.turn.conversation();
        let (_, throttle) = store.injections(id).await.unwrap();
        let messages = [ContextMessage::system("git", "branch: main").with_cooldown_turns(3)];
        let planned = plan(&messages, &throttle, Default::default());
        emitted.push(planned.emitted.len());
        let sent = prompt(OutputForm::Flat, "question").with_change(planned.change);
        store.sent(&lease, sent, second(number)).await.unwrap();
        store
            .learned(&lease, Learned::reply("ok", second(number)), second(number))
            .await
            .unwrap();
    }
    assert_eq!(emitted, [1, 0, 0, 0, 1, 0]);
}

async fn t04_an_entry_is_consumed_with_the_prompt_that_held_it(store: Store) {
    let lease = begin(&store, "question", 0).await;
    let id = lease.turn.conversation();
    let once = |key: &str, text: &str| EntryAction::Upsert {
        message: ContextMessage::system(key, text).with_consume_after_emit(true),
    };
    let stays = EntryAction::Upsert {
        message: ContextMessage::system("rule", "Be kind."),
    };
    store
        .change_entries(
            id,
            vec![
                once("note", "Tell the news."),
                stays,
                once("tip.1", "x"),
                once("tip.2", "y"),
            ],
        )
        .await
        .unwrap();
    let prefix = EntryAction::RemoveByKeyPrefix {
        prefix: "tip.".into(),
    };
    store.change_entries(id, vec![prefix]).await.unwrap();
    let (entries, throttle) = store.injections(id).await.unwrap();
    assert_eq!(
        entries
            .iter()
            .map(|entry| entry.key.as_str())
            .collect::<Vec<_>>(),
        ["note", "rule"]
    );
    let planned = plan(&entries, &throttle, Default::default());
    // Planned and not sent: nothing is consumed.
    assert_eq!(store.injections(id).await.unwrap().0.len(), 2);
    let sent = prompt(OutputForm::Flat, "question").with_change(planned.change.clone());
    store.sent(&lease, sent, second(1)).await.unwrap();
    let (left, throttle) = store.injections(id).await.unwrap();
    assert_eq!(
        left.iter()
            .map(|entry| entry.key.as_str())
            .collect::<Vec<_>>(),
        ["rule"]
    );
    assert_eq!(throttle.step, 1);
    // The same plan again, in another prompt, is refused and changes nothing.
    let stale = prompt(OutputForm::Flat, "question")
        .inference(1)
        .with_change(planned.change);
    assert!(store.sent(&lease, stale, second(1)).await.is_err());
    assert_eq!(store.injections(id).await.unwrap().1.step, 1);
    store
        .change_entries(id, vec![EntryAction::Clear])
        .await
        .unwrap();
    assert!(store.injections(id).await.unwrap().0.is_empty());
}

async fn a_prompt_sent_twice_counts_once(store: Store) {
    let lease = begin(&store, "question", 0).await;
    let once = store
        .sent(&lease, prompt(OutputForm::Flat, "question"), second(1))
        .await
        .unwrap();
    let again = store
        .sent(&lease, prompt(OutputForm::Flat, "question"), second(2))
        .await
        .unwrap();
    assert_eq!(once, again);
    assert_eq!(once.inferences, 1);
    let other = store
        .sent(&lease, prompt(OutputForm::Flat, "other"), second(2))
        .await
        .unwrap_err();
    assert!(matches!(other, StoreError::Turn { .. }), "{other}");
    let skipped = store
        .sent(
            &lease,
            prompt(OutputForm::Flat, "x").inference(5),
            second(2),
        )
        .await;
    assert!(skipped.is_err());
}
