//! The archive: a prompt comes out again as it was sent, or is refused with the reason.

use jiff::SignedDuration;
use kitbag_core::assembly::{Assembly, AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::chunk::{ChunkType, ContextChunk};
use kitbag_core::inject::{ContextMessage, CooldownReading, EntryAction, plan};
use kitbag_core::message::Message;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    ConversationId, Forget, Incoming, Learned, Lease, NewFact, RecallRequest, SentPrompt, Store,
    StoreError, StoredMessage,
};

use crate::on_both;
use crate::place::second;
use crate::remembered;

on_both! {
    x03_a_prompt_is_rebuilt_byte_for_byte
    x03_what_was_forgotten_cannot_be_rebuilt
    x03_old_prompts_go_and_shared_texts_stay
    t03_cooldowns_are_kept_between_turns
    t03_every_inference_is_a_step_planned_or_not
    t04_an_entry_is_consumed_with_the_prompt_that_held_it
    t04_an_entry_that_no_prompt_held_is_not_consumed
    c07_the_wrapper_and_the_key_stay_with_the_conversation
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

/// A prompt as it is sent: what stands for the JSON of a request is made of its blocks.
pub(crate) fn sent(draft: Draft, settings: AssemblySettings, assembly: Assembly) -> SentPrompt {
    let body = match settings.form.is_text() {
        true => assembly.body.clone(),
        false => format!("{:?}", assembly.blocks),
    };
    SentPrompt::new(draft, settings, assembly, body)
}

/// A prompt in every form has blocks, chunks and marks that must come out again.
fn prompt(form: OutputForm, message: &str) -> SentPrompt {
    prompt_with(form, message, Vec::new())
}

/// The same with context messages.
fn prompt_with(form: OutputForm, message: &str, injected: Vec<ContextMessage>) -> SentPrompt {
    let mut draft = Draft::new(message);
    draft.injected = injected;
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
    sent(draft, settings, assembly)
}

async fn x03_a_prompt_is_rebuilt_byte_for_byte(store: Store) {
    for (number, form) in OutputForm::ALL.into_iter().enumerate() {
        let lease = begin(&store, &format!("question {number}"), number as i64).await;
        for inference in 0..2 {
            let sent = prompt(form, &format!("question {number}")).inference(inference);
            let (body, assembly) = (sent.body.clone(), sent.assembly.clone());
            store.sent(&lease, sent, second(1)).await.unwrap();
            let again = store.replay(lease.turn, Some(inference)).await.unwrap();
            assert_eq!(again.body, assembly.body);
            assert_eq!(again.blocks, assembly.blocks);
            assert_eq!(again.breakpoints, assembly.breakpoints);
            again.check(&body).unwrap();
            let altered = again.check(&format!("{body} ")).unwrap_err();
            assert!(matches!(altered, StoreError::Replay { .. }), "{altered}");
            assert_eq!((again.settings.form, again.inference), (form, inference));
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
    let told = remembered::prompt(&store, &incoming, Some(turn.message), second(5)).await;
    assert!(told.assembly.body.contains(secret));
    store.sent(&lease, told, second(6)).await.unwrap();
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

/// What is due in the next prompt of a conversation.
async fn due(store: &Store, id: ConversationId) -> Vec<ContextMessage> {
    let state = store.state(id).await.unwrap();
    plan(
        state.entries.as_slice(),
        &state.throttle,
        CooldownReading::default(),
    )
    .emitted
}

async fn keys(store: &Store, id: ConversationId) -> Vec<String> {
    let state = store.state(id).await.unwrap();
    let entries = state.entries.as_slice().iter();
    entries.map(|entry| entry.key.clone()).collect()
}

async fn answer(store: &Store, lease: &Lease, at: i64) {
    let learned = Learned::reply("ok", second(at));
    store.learned(lease, learned, second(at)).await.unwrap();
}

fn upsert(message: ContextMessage) -> EntryAction {
    EntryAction::Upsert { message }
}

async fn t03_cooldowns_are_kept_between_turns(store: Store) {
    let mut shown = Vec::new();
    for number in 0..6 {
        let lease = begin(&store, "question", number).await;
        let id = lease.turn.conversation();
        let branch = ContextMessage::system("git", "branch: main").with_cooldown_turns(3);
        store
            .change_entries(id, vec![upsert(branch)])
            .await
            .unwrap();
        let sent = prompt_with(OutputForm::Flat, "question", due(&store, id).await);
        shown.push(sent.assembly.body.contains("branch: main"));
        store.sent(&lease, sent, second(number)).await.unwrap();
        answer(&store, &lease, number).await;
    }
    assert_eq!(shown, [true, false, false, false, true, false]);
}

async fn t03_every_inference_is_a_step_planned_or_not(store: Store) {
    let branch = ContextMessage::system("git", "branch: main").with_cooldown_turns(2);
    let first = begin(&store, "question", 0).await;
    let id = first.turn.conversation();
    store
        .change_entries(id, vec![upsert(branch)])
        .await
        .unwrap();
    let sent = prompt_with(OutputForm::Flat, "question", due(&store, id).await);
    store.sent(&first, sent, second(0)).await.unwrap();
    assert_eq!(due(&store, id).await, []);
    // A second inference of the turn, and another turn, neither with a plan.
    let step = prompt(OutputForm::Flat, "question").inference(1);
    store.sent(&first, step, second(0)).await.unwrap();
    answer(&store, &first, 1).await;
    let next = begin(&store, "another", 2).await;
    let sent = prompt(OutputForm::Flat, "another");
    store.sent(&next, sent, second(2)).await.unwrap();
    assert_eq!(store.state(id).await.unwrap().throttle.step, 3);
    assert_eq!(due(&store, id).await.len(), 1);
}

async fn t04_an_entry_is_consumed_with_the_prompt_that_held_it(store: Store) {
    let lease = begin(&store, "question", 0).await;
    let id = lease.turn.conversation();
    let once = |key: &str, text: &str| {
        upsert(ContextMessage::system(key, text).with_consume_after_emit(true))
    };
    let added = vec![
        once("note", "Tell the news."),
        upsert(ContextMessage::system("rule", "Be kind.")),
        once("tip.1", "x"),
        once("tip.2", "y"),
    ];
    store.change_entries(id, added).await.unwrap();
    let prefix = EntryAction::RemoveByKeyPrefix {
        prefix: "tip.".into(),
    };
    store.change_entries(id, vec![prefix]).await.unwrap();
    let planned = due(&store, id).await;
    // Planned and not sent: nothing is consumed.
    assert_eq!(keys(&store, id).await, ["note", "rule"]);
    let sent = prompt_with(OutputForm::Flat, "question", planned);
    assert!(sent.assembly.body.contains("Tell the news."));
    store.sent(&lease, sent.clone(), second(1)).await.unwrap();
    assert_eq!(keys(&store, id).await, ["rule"]);
    // The same prompt once more is a retry.
    store.sent(&lease, sent, second(2)).await.unwrap();
    assert_eq!(store.state(id).await.unwrap().throttle.step, 1);
    let clear = vec![EntryAction::Clear];
    store.change_entries(id, clear).await.unwrap();
    assert_eq!(keys(&store, id).await, Vec::<String>::new());
}

async fn t04_an_entry_that_no_prompt_held_is_not_consumed(store: Store) {
    let lease = begin(&store, "question", 0).await;
    let id = lease.turn.conversation();
    let note = ContextMessage::system("note", "Tell the news.").with_consume_after_emit(true);
    store
        .change_entries(id, vec![upsert(note.clone())])
        .await
        .unwrap();
    // The draft has the note, the prompt that was sent has not.
    let mut without = prompt(OutputForm::Flat, "question");
    without.draft.injected = vec![note.clone()];
    let refused = store.sent(&lease, without, second(1)).await.unwrap_err();
    assert!(
        refused.to_string().contains("`note` was not sent"),
        "{refused}"
    );
    let state = store.state(id).await.unwrap();
    assert_eq!(
        (state.entries.as_slice().len(), state.throttle.step),
        (1, 0)
    );
    assert!(store.replay(lease.turn, None).await.is_err());
    // One that was replaced after the prompt was made stays: nobody has seen it.
    let sent = prompt_with(OutputForm::Flat, "question", vec![note.clone()]);
    let newer = ContextMessage {
        content: "Tell the latest news.".into(),
        ..note
    };
    store.change_entries(id, vec![upsert(newer)]).await.unwrap();
    store.sent(&lease, sent, second(1)).await.unwrap();
    assert_eq!(keys(&store, id).await, ["note"]);
    // A prompt without context messages consumes none.
    let plain = prompt(OutputForm::Flat, "question").inference(1);
    store.sent(&lease, plain, second(1)).await.unwrap();
    assert_eq!(keys(&store, id).await, ["note"]);
}

async fn c07_the_wrapper_and_the_key_stay_with_the_conversation(store: Store) {
    let wrapped = "<user_query key=\"k1\">where is it?</user_query>";
    let lease = begin(&store, "where is it?", 0).await;
    let id = lease.turn.conversation();
    assert_eq!(store.epoch_key(id).await.unwrap(), None);
    let sent = prompt(OutputForm::Flat, wrapped).with_key("k1");
    store.sent(&lease, sent, second(1)).await.unwrap();
    answer(&store, &lease, 2).await;
    let state = store.state(id).await.unwrap();
    assert_eq!(state.epoch_key.as_deref(), Some("k1"));
    assert_eq!(store.epoch_key(id).await.unwrap().as_deref(), Some("k1"));
    assert!(state.epoch.is_some() && state.problems.is_empty());
    let said = store.messages(id, 9).await.unwrap();
    assert_eq!(said[0].text(), "where is it?");
    let name = said[0].id.to_string();
    let mut in_history = said.into_iter().map(StoredMessage::into_history);
    let question = in_history.next().unwrap();
    assert_eq!(question.content.text(), wrapped);
    assert_eq!(question.id, Some(name));
    assert_eq!(in_history.next().unwrap().content.text(), "ok");
    // Who looks for the words finds them as they were said.
    let hits = store
        .recall(&RecallRequest::new("ann", "where is it"))
        .await;
    assert!(
        hits.unwrap()
            .iter()
            .all(|hit| !hit.text().contains("user_query"))
    );
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
