//! The plans of the statements that the store really runs: none that a turn, an import, a recall or
//! a list runs reads a whole table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::inject::{ContextMessage, EntryAction};
use kitbag_core::role::Role;
use kitbag_core::tokens::{Characters, Tokens};
use rusqlite::Connection;

use crate::error::Result;
use crate::{
    ConversationChoice, ExportFilter, FactsFromTalk, Forget, Import, Incoming, Learned, Location,
    MemoryRequest, MessageFilter, NewFact, NewMessage, NewSummary, RecallRequest, SentPrompt,
    Store, SummaryMaker,
};

/// The statements that ran on each file.
static RAN: Mutex<BTreeMap<PathBuf, BTreeSet<String>>> = Mutex::new(BTreeMap::new());

/// Notes a statement that is about to run.
pub(super) fn note(connection: &Connection, sql: &str) {
    let Some(path) = connection.path() else {
        return;
    };
    let mut ran = RAN.lock().unwrap_or_else(PoisonError::into_inner);
    ran.entry(path.into()).or_default().insert(sql.to_owned());
}

/// Steps that may read all rows of a tenant.
const MAY_READ_ALL: [&str; 4] = [
    // The latest conversations, in the order of this index, up to a limit, and what was found of them.
    "SEARCH conversation USING INDEX conversation_active (tenant=?)",
    "SCAN latest",
    // Tables with one row for a tenant.
    "SEARCH tenant USING PRIMARY KEY (tenant=?)",
    "SEARCH mark_key USING PRIMARY KEY (tenant=?)",
];

#[tokio::test]
async fn no_statement_of_a_hot_path_reads_a_whole_table() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    let store = Store::open(&Location::Sqlite(file.clone())).await.unwrap();
    import(&store).await.unwrap();
    turn(&store).await.unwrap();
    look_up(&store).await.unwrap();
    drop(store);

    let connection = Connection::open(&file).unwrap();
    let path = PathBuf::from(connection.path().unwrap());
    let ran = RAN.lock().unwrap().remove(&path).unwrap();
    assert!(ran.len() > 60, "only {} statements ran", ran.len());
    let mut problems = Vec::new();
    for sql in &ran {
        let mut explained = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap();
        let steps = explained.raw_query().mapped(|row| row.get::<_, String>(3));
        for step in steps.map(rusqlite::Result::unwrap) {
            let scans = step.starts_with("SCAN ") && step != "SCAN CONSTANT ROW";
            // A part of the key besides the tenant must be known.
            let reads_all = scans || step.ends_with("(tenant=?)");
            if reads_all && !MAY_READ_ALL.contains(&step.as_str()) {
                problems.push(format!("{step}: {sql}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

async fn import(store: &Store) -> Result<()> {
    let line = |sender: &str, conversation: Option<&str>, number: i64, text: &str| {
        let message = NewMessage::new(Role::User, text)
            .with_reference(format!("r{number}"))
            .at(at(number));
        let conversation = conversation.map(str::to_owned);
        let mut import = Import::new("cli", sender, conversation, message);
        import.title = Some("Harbours".to_owned());
        import.facts = vec![NewFact::new(format!("k{number}"), "v")];
        import.summary = Some("About harbours.".to_owned());
        import
    };
    // Long enough for words in rows of their own, and for merges of blocks.
    let text: Vec<String> = (0..300).map(|word| format!("w{word}")).collect();
    for round in 0..9 {
        let lines =
            (0..9).map(|number| line("ann", Some("a"), round * 9 + number, &text.join(" ")));
        store.import(lines.collect(), at(0)).await?;
    }
    let unnamed = [0, 5_000, 9_000].map(|number| line("bob", None, number, "I live in Berlin."));
    store.import(unnamed.into(), at(0)).await?;
    // A message that changed, and one that was forgotten.
    let forgotten = store.messages(first_conversation(store).await?, 1).await?;
    for message in forgotten {
        store.forget(Forget::Message(message.id)).await?;
    }
    let again = [
        line("ann", Some("a"), 3, "other words"),
        line("ann", Some("a"), 80, "more"),
    ];
    store.import(again.into(), at(0)).await.map(drop)
}

async fn first_conversation(store: &Store) -> Result<crate::ConversationId> {
    let found = store.conversations("cli", "ann", 1).await?;
    Ok(found.first().unwrap().id)
}

async fn turn(store: &Store) -> Result<()> {
    let named = Incoming::new("cli", "ann", "What do I like? I moved to Rome.")
        .in_conversation("a")
        .with_idempotency_key("k");
    for incoming in [named, Incoming::new("cli", "bob", "Where do I live?")] {
        let turn = store.accept(&incoming, at(90_000)).await?;
        // The same message again is the same turn.
        store.accept(&incoming, at(90_000)).await?;
        let id = turn.id.conversation();
        let lease = store
            .begin(turn.id, SignedDuration::from_mins(1), at(90_000))
            .await?;
        let message = ContextMessage::system("k", "remember the tide");
        let added = vec![EntryAction::Upsert { message }];
        store.change_entries(id, added).await?;
        let request = MemoryRequest::new(incoming.clone(), at(90_000)).answering(turn.message);
        let memory = store.read_conversation(&request).await?;
        store.recollect(&request, memory.id, Vec::new()).await;
        let settings = AssemblySettings::new(OutputForm::Flat, Tokens(10_000));
        let draft = Draft::new("hello");
        let assembly = assemble(&draft, Vec::new(), &settings, &Characters, None).unwrap();
        let body = assembly.body.clone();
        let prompt = SentPrompt::new(draft, settings, assembly, body);
        store.sent(&lease, prompt, at(90_001)).await?;
        let mut learned = Learned::reply("You live in Rome.", at(90_002));
        learned.facts = vec![NewFact::new("home", "Rome")];
        store.learned(&lease, learned, at(90_002)).await?;
        store.turn(turn.id).await?;
        store.last_turn(id).await?;
        store.unfinished_turns(id).await?;
        store.state(id).await?;
        store
            .add_summary(
                id,
                NewSummary::new((1, 2), "Rome.", SummaryMaker::Model),
                at(90_003),
            )
            .await?;
        store.summaries("cli", "ann", 5).await?;
        store
            .edit_message(turn.message, "What do I hate?", at(90_004))
            .await?;
        store.message_versions(turn.message).await?;
        store.visible_messages(id, 5).await?;
    }
    let choice = ConversationChoice::default();
    store
        .get_or_create_conversation("cli", "bob", &choice, at(900_000))
        .await?;
    Ok(())
}

async fn look_up(store: &Store) -> Result<()> {
    let recall = |query: &str| RecallRequest::new("ann", query);
    let ignoring = store.with_facts_from_talk(FactsFromTalk::Ignore);
    for request in [
        recall("w1 w2 more"),
        recall("w1 w2 more").on_channel("cli"),
        recall("where do I live?"),
        recall("what did we say yesterday about w3?").at(at(86_400)),
        recall("nobody said thisword"),
        recall("w4").among(MessageFilter::default().since(at(3)).until(at(9))),
        recall("w4").among(
            MessageFilter::default()
                .by_role(Role::User)
                .in_conversation("a"),
        ),
    ] {
        store.recall(&request).await?;
        ignoring.recall(&request).await?;
        store.recall_facts(&request).await?;
    }
    store.facts("ann", 50).await?;
    store.fact_history("ann", Some("home"), 9).await?;
    let everybody = ExportFilter::default();
    let of_ann = ExportFilter::new(Some("ann".to_owned()), Some("cli".to_owned()));
    for filter in [everybody, of_ann] {
        store.latest_conversations(&filter, 50).await?;
    }
    store.conversations("cli", "ann", 9).await.map(drop)
}
