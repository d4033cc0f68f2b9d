//! Closing a conversation in two steps.

use jiff::SignedDuration;
use kitbag_core::compact::Compaction;
use kitbag_core::inject::{ContextMessage, EntryAction};
use kitbag_core::message::Message;
use kitbag_core::record::{InferenceRecord, TurnRecord};
use kitbag_core::role::Visibility;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    CloseOutcome, Closing, CompactOutcome, ConversationId, ExportFilter, IDLE, Incoming, Learned,
    MemoryRequest, NewFact, Store, Summary, SummaryMaker,
};

use crate::on_both;
use crate::place::second;

on_both! {
    o09_a_conversation_is_closed_with_a_summary_and_facts
    o09_a_provider_that_fails_loses_nothing
    o09_what_is_said_meanwhile_keeps_a_conversation_open
    o09_conversations_that_ended_by_silence_are_found
    o09_a_summary_tells_nothing_internal
    o09_a_models_summary_takes_the_place_of_the_rules
    o09_what_learning_cost_stays_in_the_record_of_its_turn
    a10_a_compaction_is_kept_only_for_the_messages_that_it_was_made_of
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
    let kept = store.summaries("cli", "ann", 9).await.unwrap();
    for closing in [closing, again] {
        let outcome = close(&store, closing, 10).await;
        assert_eq!(outcome, CloseOutcome::AlreadyClosed(kept.first().cloned()));
    }
    assert_eq!(store.summaries("cli", "ann", 9).await.unwrap(), kept);
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

async fn o09_a_models_summary_takes_the_place_of_the_rules(store: Store) {
    let half_hour = IDLE.as_secs();
    let id = turn(&store, says("We meet Ines in Porto on 7 August."), 0).await;
    let next = turn(&store, says("Good evening."), 4 * half_hour).await;
    let now = 4 * half_hour + 1;
    let before = async |id| store.silent_before(id, IDLE, second(now)).await.unwrap();
    assert_eq!((before(next).await, before(id).await), (Some(id), None));
    let mut closing = store.closing(id).await.unwrap();
    closing.summary = Some("Ann meets Ines.".into());
    let source = closing.messages[0].id;
    closing.facts = vec![NewFact::new("meeting", "7 August").from_message(source)];
    // As long as it is open there is nothing to improve.
    assert!(
        !store
            .learn_closed(closing.clone(), second(now))
            .await
            .unwrap()
    );
    let open = store.closing(id).await.unwrap();
    summary(close(&store, open, now).await);
    assert_eq!(before(next).await, None);
    assert!(store.learn_closed(closing, second(now)).await.unwrap());
    let kept = store.summaries("cli", "ann", 9).await.unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(
        (kept[0].by, &*kept[0].text),
        (SummaryMaker::Model, "Ann meets Ines.")
    );
    let facts = store.facts("ann", 9).await.unwrap();
    let meeting = facts.iter().find(|fact| fact.key == "meeting").unwrap();
    assert_eq!((meeting.drawn, meeting.since), (true, second(0)));
    let mut record = TurnRecord::default();
    record.inferences.push(InferenceRecord::default());
    let first = format!("{id}.1").parse().unwrap();
    store.add_to_record(first, record).await.unwrap();
    let noted = store.turn(first).await.unwrap();
    assert_eq!(noted.record.inferences.len(), 1);
    // A second time the summary is another one, and not one more.
    let mut again = store.closing(id).await.unwrap();
    again.summary = Some("Ann meets Ines in Porto.".into());
    assert!(store.learn_closed(again, second(now)).await.unwrap());
    let kept = store.summaries("cli", "ann", 9).await.unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].text, "Ann meets Ines in Porto.");
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

/// The record of a prompt that was sent for a purpose.
fn record(purpose: &str) -> TurnRecord {
    let mut inference = InferenceRecord::default();
    inference.purpose = Some(purpose.to_owned());
    let mut record = TurnRecord::default();
    record.inferences.push(inference);
    record
}

async fn o09_what_learning_cost_stays_in_the_record_of_its_turn(store: Store) {
    let first = store.accept(&says("one"), second(0)).await.unwrap().id;
    let lease = store.begin(first, MINUTE, second(0)).await.unwrap();
    let mut learned = Learned::reply("Noted.", second(0));
    learned.record = record("answer");
    store.learned(&lease, learned, second(0)).await.unwrap();
    // The next turn is under way when the first one's learning ends.
    let next = store.accept(&says("two"), second(1)).await.unwrap().id;
    let lease = store.begin(next, MINUTE, second(1)).await.unwrap();
    store
        .add_to_record(first, record("compaction"))
        .await
        .unwrap();
    // What is told of a turn that has not ended is not overwritten either.
    store.add_to_record(next, record("facts")).await.unwrap();
    let mut learned = Learned::reply("Noted.", second(2));
    learned.record = record("answer");
    store.learned(&lease, learned, second(2)).await.unwrap();
    let last = store.accept(&says("three"), second(3)).await.unwrap().id;
    let lease = store.begin(last, MINUTE, second(3)).await.unwrap();
    store.add_to_record(last, record("summary")).await.unwrap();
    let failed = store.failed(&lease, "no answer", record("answer"), second(4));
    failed.await.unwrap();
    let purposes = async |turn| {
        let noted = store
            .turn(turn)
            .await
            .unwrap()
            .record
            .inferences
            .into_iter();
        noted.filter_map(|one| one.purpose).collect::<Vec<_>>()
    };
    assert_eq!(purposes(first).await, ["answer", "compaction"]);
    assert_eq!(purposes(next).await, ["facts", "answer"]);
    assert_eq!(purposes(last).await, ["summary", "answer"]);
}

async fn a10_a_compaction_is_kept_only_for_the_messages_that_it_was_made_of(store: Store) {
    let id = turn(&store, says("one"), 0).await;
    turn(&store, says("two"), 1).await;
    turn(&store, says("three"), 2).await;
    let compaction = |through: u32, before: &Compaction| {
        let mut compaction = before.clone();
        compaction.through = through;
        compaction.messages = through;
        compaction.summary = "They count.".into();
        compaction
    };
    let compacting = store.compacting(id, 99).await.unwrap();
    assert_eq!((compacting.messages.len(), compacting.unread), (6, 0));
    let made = compaction(4, &compacting.before);
    // What is added meanwhile stands behind it.
    turn(&store, says("four"), 3).await;
    let kept = store
        .compact(compacting.clone(), made.clone())
        .await
        .unwrap();
    assert_eq!(kept, CompactOutcome::Kept);
    // The same from before it was kept comes too late.
    let late = store.compact(compacting, made.clone()).await.unwrap();
    assert_eq!(late, CompactOutcome::Outdated);
    let request = MemoryRequest::new(says("five"), second(4));
    let read = store.read_conversation(&request).await.unwrap();
    let texts: Vec<String> = read
        .messages
        .iter()
        .map(|one| one.text().into_owned())
        .collect();
    assert_eq!(texts, ["three", "Noted.", "four", "Noted."]);
    assert_eq!((read.unread, read.state.compaction.messages), (0, 4));
    let few = store.compacting(id, 2).await.unwrap();
    assert_eq!((few.messages.len(), few.unread), (2, 2));
    // A message that is edited is no longer the one that was read, and undoes what told of it.
    let compacting = store.compacting(id, 99).await.unwrap();
    let edited = format!("{id}#5").parse().unwrap();
    store.edit_message(edited, "drei", second(5)).await.unwrap();
    let late = compaction(6, &compacting.before);
    let late = store.compact(compacting, late).await.unwrap();
    assert_eq!(late, CompactOutcome::Outdated);
    assert_eq!(store.state(id).await.unwrap().compaction, made);
    store
        .edit_message(format!("{id}#1").parse().unwrap(), "eins", second(6))
        .await
        .unwrap();
    assert_eq!(
        store.state(id).await.unwrap().compaction,
        Compaction::default()
    );
}
