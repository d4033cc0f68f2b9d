//! Closing a conversation in two steps.

use jiff::SignedDuration;
use kitbag_core::inject::{ContextMessage, EntryAction};
use kitbag_core::message::Message;
use kitbag_core::record::TurnRecord;
use kitbag_core::role::Visibility;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    CloseOutcome, Closing, ConversationId, ExportFilter, IDLE, Incoming, Learned, NewFact, Store,
    Summary, SummaryMaker,
};

use crate::on_both;
use crate::place::second;

on_both! {
    o09_a_conversation_is_closed_with_a_summary_and_facts
    o09_a_provider_that_fails_loses_nothing
    o09_what_is_said_meanwhile_keeps_a_conversation_open
    o09_conversations_that_ended_by_silence_are_found
    o09_a_summary_tells_nothing_internal
    t03_durable_entries_go_over_to_the_conversation_that_follows
}

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

async fn t03_durable_entries_go_over_to_the_conversation_that_follows(store: Store) {
    let keys = async |id: ConversationId| {
        let entries = store.state(id).await.unwrap().entries;
        let keys = entries.as_slice().iter().map(|entry| entry.key.clone());
        keys.collect::<Vec<_>>()
    };
    let first = turn(&store, says("Good morning."), 0).await;
    let message = ContextMessage::suffix_system("plain", "Speak plainly.");
    let added = vec![EntryAction::Upsert { message }];
    store.change_entries(first, added).await.unwrap();
    // After a silence, but not to a conversation in the past, nor to one that has a name.
    let past = turn(&store, says("This was before."), -90_000).await;
    let named = turn(&store, says("Elsewhere.").in_conversation("thread"), 9_000).await;
    assert_eq!(keys(first).await, ["plain"]);
    assert!(keys(past).await.is_empty() && keys(named).await.is_empty());
    let next = turn(&store, says("Good evening."), 9_000).await;
    assert_ne!(next, first);
    assert_eq!(keys(next).await, ["plain"]);
    assert!(keys(first).await.is_empty());
    // After a closing.
    let closing = store.closing(next).await.unwrap();
    close(&store, closing, 9_010).await;
    let last = turn(&store, says("One more thing."), 9_020).await;
    assert_ne!(last, next);
    assert_eq!(keys(last).await, ["plain"]);
    // A conversation that ended before any entry was made hands over nothing.
    let clear = vec![EntryAction::Clear];
    store.change_entries(last, clear).await.unwrap();
    let empty = turn(&store, says("Hello."), 30_000).await;
    assert!(keys(empty).await.is_empty());
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

/// A turn, and its conversation.
async fn turn(store: &Store, incoming: Incoming, at: i64) -> ConversationId {
    let turn = store.accept(&incoming, second(at)).await.unwrap();
    let lease = store.begin(turn.id, MINUTE, second(at)).await.unwrap();
    let learned = Learned::reply("Noted.", second(at));
    store.learned(&lease, learned, second(at)).await.unwrap();
    turn.id.conversation()
}

fn says(text: &str) -> Incoming {
    Incoming::new("cli", "ann", text)
}

async fn close(store: &Store, closing: Closing, at: i64) -> CloseOutcome {
    let closed = store.close(closing, Tokens(200), &Characters, second(at));
    closed.await.unwrap()
}

fn summary(outcome: CloseOutcome) -> Summary {
    match outcome {
        CloseOutcome::Closed(Some(summary)) => summary,
        other => panic!("{other:?}"),
    }
}

async fn o09_a_conversation_is_closed_with_a_summary_and_facts(store: Store) {
    let id = turn(&store, says("We meet Ines in Porto on 7 August."), 0).await;
    let mut closing = store.closing(id).await.unwrap();
    assert_eq!(closing.sender, "ann");
    let said: Vec<String> = closing
        .utterances()
        .into_iter()
        .map(|one| one.text)
        .collect();
    assert_eq!(said, ["We meet Ines in Porto on 7 August.", "Noted."]);
    closing.summary = Some("Ann meets Ines.".into());
    let source = closing.messages[0].id;
    closing.facts = vec![NewFact::new("sister", "Ines").from_message(source)];
    let kept = summary(close(&store, closing.clone(), 9).await);
    assert_eq!(
        (kept.by, kept.first, kept.last),
        (SummaryMaker::Model, 1, 2)
    );
    assert_eq!(store.summaries("cli", "ann", 9).await.unwrap(), [kept]);
    let facts = store.facts("ann", 9).await.unwrap();
    assert_eq!(facts[0].value, "Ines");
    // Once more, with the reading of before or with a new one, adds nothing.
    let again = store.closing(id).await.unwrap();
    for closing in [closing, again] {
        assert_eq!(
            close(&store, closing, 10).await,
            CloseOutcome::AlreadyClosed
        );
    }
    assert_eq!(store.summaries("cli", "ann", 9).await.unwrap().len(), 1);
    assert_ne!(turn(&store, says("hello again"), 20).await, id);
}

async fn o09_a_provider_that_fails_loses_nothing(store: Store) {
    let id = turn(&store, says("We meet Ines in Porto on 7 August."), 0).await;
    let mut closing = store.closing(id).await.unwrap();
    // Before the second step nothing has changed.
    assert_eq!(turn(&store, says("And Rui?"), 1).await, id);
    closing.summary = None;
    assert_eq!(close(&store, closing, 2).await, CloseOutcome::StillActive);
    for answer in [None, Some(" ".to_owned())] {
        let name = format!("named {answer:?}");
        let said = says("We meet Ines in Porto on 7 August.").in_conversation(name);
        let id = turn(&store, said, 3).await;
        let mut closing = store.closing(id).await.unwrap();
        closing.summary = answer;
        let kept = summary(close(&store, closing, 4).await);
        assert_eq!(kept.by, SummaryMaker::Rules);
        assert!(kept.text.contains("Ines in Porto"), "{}", kept.text);
        assert_eq!(store.messages(id, 9).await.unwrap().len(), 2);
    }
}

async fn o09_what_is_said_meanwhile_keeps_a_conversation_open(store: Store) {
    let id = turn(&store, says("one"), 0).await;
    let mut closing = store.closing(id).await.unwrap();
    closing.facts = vec![NewFact::new("mood", "calm")];
    // A message alone is enough, and so is a turn that began before and has not ended.
    let open = store.accept(&says("two"), second(1)).await.unwrap();
    assert_eq!(
        close(&store, closing.clone(), 2).await,
        CloseOutcome::StillActive
    );
    let lease = store.begin(open.id, MINUTE, second(3)).await.unwrap();
    let late = store.closing(id).await.unwrap();
    assert_eq!(close(&store, late, 4).await, CloseOutcome::StillActive);
    assert!(store.facts("ann", 9).await.unwrap().is_empty());
    assert!(store.summaries("cli", "ann", 9).await.unwrap().is_empty());
    store
        .failed(&lease, "no answer", TurnRecord::default(), second(5))
        .await
        .unwrap();
    let late = store.closing(id).await.unwrap();
    summary(close(&store, late, 6).await);
    // One with a name goes on after its end, and ends again.
    let named = || says("three").in_conversation("x");
    let id = turn(&store, named(), 7).await;
    for at in [8, 10] {
        let closing = store.closing(id).await.unwrap();
        summary(close(&store, closing, at).await);
        assert_eq!(turn(&store, named(), at + 1).await, id);
    }
}

async fn o09_conversations_that_ended_by_silence_are_found(store: Store) {
    let half_hour = IDLE.as_secs();
    let first = turn(&store, says("morning"), 0).await;
    turn(&store, says("named").in_conversation("x"), 0).await;
    let bob = turn(&store, Incoming::new("cli", "bob", "hello"), 60).await;
    let last = turn(&store, says("noon"), 4 * half_hour).await;
    let silent = async |filter: ExportFilter, limit, at| {
        let found = store.silent_conversations(&filter, IDLE, limit, second(at));
        found.await.unwrap()
    };
    let all = ExportFilter::default;
    let now = 4 * half_hour + 1;
    assert_eq!(silent(all(), 9, now).await, [first, bob]);
    assert_eq!(silent(all(), 1, now).await, [first]);
    let of_bob = ExportFilter::new(Some("bob".into()), None);
    assert_eq!(silent(of_bob, 9, now).await, [bob]);
    let closing = store.closing(first).await.unwrap();
    summary(close(&store, closing, now).await);
    assert_eq!(silent(all(), 9, now).await, [bob]);
    let later = 5 * half_hour + 1;
    assert_eq!(silent(all(), 9, later).await, [bob, last]);
}

async fn o09_a_summary_tells_nothing_internal(store: Store) {
    let hidden =
        Message::user("The budget is 900 euros in Porto.").with_visibility(Visibility::Internal);
    turn(&store, Incoming::new("cli", "ann", hidden), 0).await;
    let id = turn(&store, says("We meet Ines in Porto."), 1).await;
    let closing = store.closing(id).await.unwrap();
    let kept = summary(close(&store, closing, 2).await);
    assert!(
        kept.text.contains("Ines") && !kept.text.contains("900"),
        "{}",
        kept.text
    );
}
