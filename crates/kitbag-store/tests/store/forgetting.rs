//! Forgetting, exporting, copying, checking.

use jiff::SignedDuration;
use kitbag_core::record::{StageRecord, TurnRecord};
use kitbag_core::role::Role;
use kitbag_store::{
    ConversationChoice, ExportFilter, Exported, Forget, Import, Incoming, Location, MessageFilter,
    MessageTime, NewFact, NewMessage, NewSummary, RecallRequest, Store, StoreError, SummaryMaker,
};

use crate::on_both;
use crate::place::{new_tenant, postgres, run, second};

on_both! {
    a_forgotten_message_is_gone_with_what_came_of_it
    nothing_that_quotes_a_forgotten_message_is_left_in_turns
    a_title_with_words_of_a_forgotten_message_is_gone
    a_forgotten_conversation_is_gone
    a_forgotten_sender_is_gone
    what_is_exported_is_imported_again_as_it_was
    importing_twice_adds_nothing
    what_may_not_be_recalled_is_kept_and_not_found
    a_check_finds_nothing_wrong_with_a_large_scope
    the_latest_conversations_count_what_is_left
}

fn said(sender: &str, conversation: &str, number: u32, text: &str) -> Import {
    let message = NewMessage::new(Role::User, text).with_reference(format!("r{number}"));
    Import::new("cli", sender, Some(conversation.into()), message)
}

/// Messages in several blocks, large and small.
async fn fill(store: &Store) {
    let messages = (0..1_300).map(|n| {
        said(
            "ann",
            &format!("c{}", n / 100),
            n,
            &format!("word{n} about apples"),
        )
    });
    store.import(messages.collect(), second(0)).await.unwrap();
    let more = (1_300..1_340).map(|n| said("ann", "late", n, &format!("word{n} about pears")));
    store.import(more.collect(), second(1)).await.unwrap();
    store
        .import(vec![said("bob", "b", 0, "word7 too")], second(1))
        .await
        .unwrap();
}

async fn found(store: &Store, sender: &str, query: &str) -> Vec<String> {
    let hits = store
        .recall(&RecallRequest::new(sender, query).limit(2_000))
        .await
        .unwrap();
    hits.iter()
        .map(|hit| hit.message.text().into_owned())
        .collect()
}

async fn a_forgotten_message_is_gone_with_what_came_of_it(store: Store) {
    fill(&store).await;
    for word in ["word7", "word1320"] {
        let hit = store
            .recall(&RecallRequest::new("ann", word).limit(1))
            .await
            .unwrap()
            .remove(0);
        assert!(hit.message.text().starts_with(word));
        let fact = NewFact::new(format!("fact {word}"), "learned").from_message(hit.message.id);
        store.set_facts("ann", vec![fact], second(2)).await.unwrap();
        let conversation = hit.message.id.conversation();
        store
            .add_summary(
                conversation,
                NewSummary::new((1, 99), format!("He said {word}."), SummaryMaker::Rules),
                second(2),
            )
            .await
            .unwrap();
        let mut layers = kitbag_core::stored::ConversationContext::default();
        layers.history_summary = format!("{word} was said");
        store.set_layers(conversation, layers).await.unwrap();

        let gone = store.forget(Forget::Message(hit.message.id)).await.unwrap();
        assert_eq!((gone.messages, gone.facts, gone.summaries), (1, 1, 1));
        assert!(
            !found(&store, "ann", word)
                .await
                .iter()
                .any(|text| text.contains(word))
        );
        assert_eq!(
            store.layers(conversation).await.unwrap().history_summary,
            ""
        );
        assert!(matches!(
            store.message(hit.message.id).await,
            Err(StoreError::Missing { .. })
        ));
        assert!(store.forget(Forget::Message(hit.message.id)).await.is_err());
    }
    assert_eq!(found(&store, "bob", "word7").await, ["word7 too"]);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn nothing_that_quotes_a_forgotten_message_is_left_in_turns(store: Store) {
    let quoting = || {
        let mut record = TurnRecord::default();
        let stage = StageRecord::new("infer", "refused: the code is 4711", 5);
        record.stages.push(stage);
        record
    };
    let mut turns = Vec::new();
    for text in ["hello", "the code is 4711", "what was it?"] {
        let incoming = Incoming::new("cli", "ann", text);
        let turn = store.accept(&incoming, second(0)).await.unwrap();
        let lease = store.begin(turn.id, SignedDuration::from_secs(60), second(1));
        let lease = lease.await.unwrap();
        let problem = "refused: the code is 4711";
        let failed = store.failed(&lease, problem, quoting(), second(2));
        turns.push(failed.await.unwrap());
    }
    // Learning tells what went wrong in the record of the latest turn.
    store.add_to_record(turns[2].id, quoting()).await.unwrap();
    let forget = Forget::Message(turns[1].message);
    store.forget(forget).await.unwrap();
    assert_eq!(store.turn(turns[0].id).await.unwrap(), turns[0]);
    for turn in &turns[1..] {
        let left = store.turn(turn.id).await.unwrap();
        assert_eq!(left.problem, None);
        assert_eq!(left.record, TurnRecord::default());
    }
}

async fn a_title_with_words_of_a_forgotten_message_is_gone(store: Store) {
    for (name, by_words) in [("one", false), ("two", true)] {
        let texts = ["my tax number is 4711", "what a nice day"];
        let mut imports: Vec<Import> = texts
            .iter()
            .map(|text| {
                let message = NewMessage::new(Role::User, *text).at(second(0));
                Import::new("cli", "ann", Some(name.to_owned()), message)
            })
            .collect();
        imports[0].title = Some("My tax number is…".to_owned());
        store.import(imports, second(0)).await.unwrap();
        let choice = ConversationChoice::Named(name.to_owned());
        let conversation = || store.get_or_create_conversation("cli", "ann", &choice, second(1));
        let before = conversation().await.unwrap();
        assert!(before.title.is_some());
        let messages = store.messages(before.id, 9).await.unwrap();
        store.forget(Forget::Message(messages[1].id)).await.unwrap();
        assert_eq!(
            conversation().await.unwrap().title,
            before.title,
            "it says nothing of that"
        );
        let what = match by_words {
            true => {
                let filter = MessageFilter::default().with_words("tax");
                Forget::Messages(ExportFilter::new(Some("ann".into()), None).among(filter))
            }
            false => Forget::Message(messages[0].id),
        };
        // Another message, so that the conversation stays.
        let more = NewMessage::new(Role::User, "and more").at(second(2));
        let more = Import::new("cli", "ann", Some(name.to_owned()), more);
        store.import(vec![more], second(2)).await.unwrap();
        store.forget(what).await.unwrap();
        assert_eq!(conversation().await.unwrap().title, None);
    }
}

async fn a_forgotten_conversation_is_gone(store: Store) {
    fill(&store).await;
    let choice = ConversationChoice::Named("c3".into());
    let id = store
        .get_or_create_conversation("cli", "ann", &choice, second(0))
        .await
        .unwrap()
        .id;
    let gone = store.forget(Forget::Conversation(id)).await.unwrap();
    assert_eq!((gone.messages, gone.conversations), (100, 1));
    assert!(
        !found(&store, "ann", "word333")
            .await
            .iter()
            .any(|text| text.contains("word333"))
    );
    assert_eq!(store.stats().await.unwrap().messages, 1_241);
    assert!(store.messages(id, 5).await.is_err());
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn a_forgotten_sender_is_gone(store: Store) {
    fill(&store).await;
    store
        .set_facts("ann", vec![NewFact::new("name", "Ann")], second(0))
        .await
        .unwrap();
    let gone = store.forget(Forget::Sender("ann".into())).await.unwrap();
    assert_eq!(
        (gone.messages, gone.conversations, gone.facts),
        (1_340, 14, 1)
    );
    assert!(found(&store, "ann", "apples").await.is_empty());
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.senders, stats.messages, stats.facts), (1, 1, 0));
    assert!(store.forget(Forget::Sender("ann".into())).await.is_err());
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn export_all(store: &Store) -> Vec<Exported> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let (page, next) = store
            .export(&ExportFilter::default(), cursor, 500)
            .await
            .unwrap();
        if next.is_none() {
            return all;
        }
        (cursor, _) = (next, all.extend(page.into_iter().map(Result::unwrap)));
    }
}

async fn what_is_exported_is_imported_again_as_it_was(store: Store) {
    fill(&store).await;
    let odd = NewMessage::new(Role::Assistant, "nul \0 and 🐝\n")
        .with_speaker("Bee")
        .at(MessageTime::parse("2024-05-08T13:56:00+02:00").unwrap());
    store
        .import(vec![Import::new("slack", "ann", None, odd)], second(0))
        .await
        .unwrap();
    let all = export_all(&store).await;
    assert_eq!(all.len(), 1_342);
    let other = store.for_tenant(new_tenant());
    let again = all.iter().map(|one| {
        Import::new(
            &one.channel,
            &one.sender,
            one.conversation.clone(),
            kept(one),
        )
    });
    other.import(again.collect(), second(0)).await.unwrap();
    let messages = |all: &[Exported]| -> Vec<(Option<String>, NewMessage)> {
        let of = |one: &Exported| (one.conversation.clone(), kept(one));
        let mut messages: Vec<_> = all.iter().map(of).collect();
        messages.sort_by(|a, b| (&a.0, a.1.text()).cmp(&(&b.0, b.1.text())));
        messages
    };
    assert_eq!(messages(&export_all(&other).await), messages(&all));
}

fn kept(exported: &Exported) -> NewMessage {
    let stored = exported.message.clone();
    let mut message = NewMessage::from(stored.message);
    (message.at, message.reference) = (stored.at, stored.reference);
    message.recallable = stored.recallable;
    message
}

async fn importing_twice_adds_nothing(store: Store) {
    fill(&store).await;
    let again = store
        .import(
            vec![
                said("ann", "c0", 7, "word7 about apples"),
                said("ann", "c0", 9_999, "new"),
            ],
            second(5),
        )
        .await
        .unwrap();
    assert_eq!((again.messages, again.known), (1, 1));
}

async fn what_may_not_be_recalled_is_kept_and_not_found(store: Store) {
    let recalled =
        NewMessage::new(Role::User, "You said once: zebras are striped").not_recallable();
    store
        .import(
            vec![
                Import::new("cli", "ann", Some("x".into()), recalled),
                said("ann", "x", 1, "hello, I saw zebras"),
            ],
            second(0),
        )
        .await
        .unwrap();
    // Not even as the neighbour of a message that is.
    assert_eq!(
        found(&store, "ann", "zebras").await,
        ["hello, I saw zebras"]
    );
    assert_eq!(export_all(&store).await.len(), 2);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn a_check_finds_nothing_wrong_with_a_large_scope(store: Store) {
    fill(&store).await;
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    store.vacuum().await.unwrap();
    assert!(!found(&store, "ann", "word700").await.is_empty());
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_store_is_copied_to_postgresql_and_back() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let file = |name: &str| Location::Sqlite(folder.path().join(name));
        let tenant = new_tenant();
        let first = Store::open(&file("a.db"))
            .await
            .unwrap()
            .for_tenant(tenant.clone());
        fill(&first).await;
        first
            .set_facts("ann", vec![NewFact::new("name", "Ann \0")], second(0))
            .await
            .unwrap();
        let server = Store::open(&postgres())
            .await
            .unwrap()
            .for_tenant(tenant.clone());
        let copied = first.copy_to(&server).await.unwrap();
        assert_eq!(copied.rows["message"], 1_341);
        let back = Store::open(&file("b.db")).await.unwrap().for_tenant(tenant);
        server.copy_to(&back).await.unwrap();
        assert_eq!(export_all(&first).await, export_all(&back).await);
        for store in [&first, &server, &back] {
            assert_eq!(
                found(store, "ann", "word700 pears").await,
                found(&first, "ann", "word700 pears").await
            );
            assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        }
        assert!(first.copy_to(&server).await.is_err(), "it has rows already");
    });
}

/// What was forgotten is nowhere in the file or its log.
#[test]
fn a_forgotten_text_is_in_no_byte_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let holds = |needle: &str| {
        std::fs::read_dir(folder.path()).unwrap().any(|entry| {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            bytes
                .windows(needle.len())
                .any(|window| window == needle.as_bytes())
        })
    };
    run(async {
        let store = Store::open(&Location::Sqlite(path.clone())).await.unwrap();
        fill(&store).await;
        let secret = "xylophonist quagmire";
        let long = format!("{secret} {}", "filler words here ".repeat(2_000));
        store
            .import(
                vec![said("ann", "s", 1, &long), said("eve", "s", 2, secret)],
                second(0),
            )
            .await
            .unwrap();
        store
            .set_facts("eve", vec![NewFact::new("job", "xylophonist")], second(0))
            .await
            .unwrap();
        assert!(holds("xylophonist") && holds("quagmire"));
        let hit = store
            .recall(&RecallRequest::new("ann", secret).limit(1))
            .await
            .unwrap()
            .remove(0);
        store.forget(Forget::Message(hit.message.id)).await.unwrap();
        store.forget(Forget::Sender("eve".into())).await.unwrap();
        assert!(!holds("xylophonist") && !holds("quagmire") && !holds("xylophon"));
    });
}

async fn the_latest_conversations_count_what_is_left(store: Store) {
    fill(&store).await;
    let forget = Forget::Message("1.14#3".parse().unwrap());
    store.forget(forget).await.unwrap();
    let all = ExportFilter::default();
    let latest = store.latest_conversations(&all, 2).await.unwrap();
    let told = |index: usize| {
        let one = &latest[index];
        let name = one.conversation.name.clone().unwrap();
        (one.sender.clone(), name, one.kept)
    };
    assert_eq!(latest.len(), 2);
    assert_eq!(told(0), ("bob".into(), "b".into(), 1));
    assert_eq!(told(1), ("ann".into(), "late".into(), 39));
    let nobody = ExportFilter::new(Some("ann".into()), Some("mail".into()));
    let nobody = store.latest_conversations(&nobody, 9).await.unwrap();
    assert_eq!(nobody, Vec::new());
}
