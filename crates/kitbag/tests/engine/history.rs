//! What stands beside a history, and what becomes of the messages that it has no room for.

use kitbag::core::assembly::LedgerEntry;
use kitbag::core::chunk::{ChunkType, ContextChunk, ContextPriority};
use kitbag::core::role::Role;
use kitbag::core::tokens::Characters;
use kitbag::core::view::View;
use kitbag::engine::{Contribution, Sources, turn};
use kitbag::store::{Import, Incoming, Learned, NewMessage, Store};

use crate::{from_memory, on_store, request, second};

/// Imports messages of the user and the assistant in turn into a conversation with or without a name.
async fn import(store: &Store, name: Option<&str>, texts: impl Iterator<Item = String>) {
    let messages = texts.enumerate().map(|(index, text)| {
        let role = match index % 2 {
            0 => Role::User,
            _ => Role::Assistant,
        };
        let message = NewMessage::new(role, text).at(second(index as i64));
        Import::new("cli", "ann", name.map(str::to_owned), message)
    });
    store.import(messages.collect(), second(60)).await.unwrap();
}

#[test]
fn o06_a_long_history_leaves_recall_its_places() {
    on_store(async |store| {
        let answer = "The bees of my sister Ines stand behind the old mill in Porto.";
        import(&store, Some("bees"), [answer.to_owned()].into_iter()).await;
        let talk = (0..40).map(|n| format!("{n}: my sister keeps bees, hives and more bees."));
        import(&store, None, talk).await;
        let incoming = Incoming::new("cli", "ann", "Where does my sister Ines keep her bees?");
        let request = request(&incoming, 32_000, second(90));
        let prompt = from_memory(&store, &request, &Characters).await.unwrap();
        let body = &prompt.composed.assembly.body;
        assert!(body.contains("39: my sister keeps bees"), "{body}");
        assert!(body.contains("behind the old mill"), "{body}");
    });
}

#[test]
fn o06_the_prompt_of_a_node_does_not_cut_the_history_of_the_next_turn() {
    on_store(async |store| {
        import(&store, None, (0..8).map(|n| format!("message {n}"))).await;
        let incoming = Incoming::new("cli", "ann", "plan it");
        let accepted = store.accept(&incoming, second(90)).await.unwrap();
        let hour = jiff::SignedDuration::from_hours(1);
        let lease = store.begin(accepted.id, hour, second(90)).await.unwrap();
        let mut node = request(&incoming, 8_000, second(90));
        node.memory.as_mut().unwrap().answering = Some(accepted.message);
        node.node = View::builtin("think").cloned();
        let prompt = from_memory(&store, &node, &Characters).await.unwrap();
        store.sent(&lease, prompt.sent(), second(91)).await.unwrap();
        let learned = Learned::reply("done", second(91));
        store.learned(&lease, learned, second(91)).await.unwrap();

        let next = request(&Incoming::new("cli", "ann", "and?"), 8_000, second(92));
        let prompt = from_memory(&store, &next, &Characters).await.unwrap();
        assert_eq!(prompt.composed.draft.history.len(), 10);
    });
}

#[test]
fn x09_a_secret_is_told_only_where_it_was_replaced() {
    on_store(async |store| {
        let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
        let said = format!("My sister's token is {token}, keep it.");
        import(&store, None, [said].into_iter()).await;
        let incoming = Incoming::new("cli", "ann", "What is the token of my sister?");
        let request = request(&incoming, 8_000, second(90));
        let prompt = from_memory(&store, &request, &Characters).await.unwrap();
        // It was masked when it was stored, so that nothing is left to replace.
        let body = &prompt.composed.assembly.body;
        assert!(!body.contains(&token), "{body}");
        assert!(
            body.contains("token is [REDACTED:github-token], keep"),
            "{body}"
        );
        assert_eq!(prompt.composed.redacted, []);
    });
}

#[test]
fn x09_files_with_the_same_text_are_different_files() {
    on_store(async |store| {
        let chunk = |kind: ChunkType, source: &str, text: &str| {
            ContextChunk::new(kind, source, text).with_priority(ContextPriority::Critical)
        };
        let mut contribution = Contribution::default();
        contribution.add(chunk(ChunkType::File, "a/greet.py", "print('hi')\n"));
        contribution.add(chunk(ChunkType::File, "b/greet.py", "print('hi')\n"));
        contribution.add(chunk(ChunkType::File, "a/__init__.py", ""));
        contribution.add(chunk(ChunkType::File, "b/__init__.py", ""));
        contribution.add(chunk(ChunkType::File, "docs/guide.md", "# Guide\n"));
        contribution.add(chunk(ChunkType::Document, "document/guide", "# Guide\n"));
        let mut request = request(&Incoming::new("cli", "ann", "hi"), 8_000, second(0));
        let mut sources = Sources::default();
        sources.store = Some(&store);
        request.contributions = vec![contribution];
        let prompt = turn(sources, request, &Characters).await.unwrap();
        let assembly = &prompt.composed.assembly;
        for source in ["a/greet.py", "b/greet.py", "a/__init__.py", "b/__init__.py"] {
            assert!(assembly.body.contains(source), "{}", assembly.body);
        }
        assert_eq!(assembly.body.matches("# Guide").count(), 1);
        let guides = |entry: &&LedgerEntry| entry.source.contains("guide");
        assert_eq!(assembly.ledger.entries.iter().filter(guides).count(), 2);
    });
}
