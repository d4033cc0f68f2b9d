//! A store of version 2. `data/version-2.db` was written with the crates of commit 18c6470, the last one
//! before version 3.

use std::fs;
use std::path::Path;

use jiff::SignedDuration;
use kitbag_core::content::Content;
use kitbag_core::role::Role;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    CloseOutcome, ExportFilter, Forget, Incoming, Learned, Location, RecallRequest, Store,
    SummaryMaker, TurnStatus,
};

use crate::place::{Database, run, second};

/// The turns of the file, the forms of their prompts, and the hashes of what was sent.
const PROMPTS: [(&str, &str, &str); 9] = [
    (
        "3.1.1",
        "flat",
        "19a0c13fa464824807afdf16abaca20e3097ad6410ad2051404e043548b90cdc",
    ),
    (
        "3.1.2",
        "pack",
        "31c8baf4f1e9bc2e0cf010c887bc799ed7d6c2c6aea162fb13be11fdb7169a00",
    ),
    (
        "3.1.3",
        "markdown",
        "439c4f98b23fdbdd93ae757678e16f3a8ba8ce9cf9a5ebd6ff1e60020259e665",
    ),
    (
        "3.1.4",
        "xml",
        "54a9e02d677d38f4d37e6317972c4ecabf58d893fceb5271c54391b046231311",
    ),
    (
        "3.1.5",
        "node",
        "b9bc40cac8d041878bffe6638a9e02497d7543b83e48ed05948d5dd13043e82f",
    ),
    (
        "3.1.6",
        "anthropic",
        "6caedc9f01178f4953ce0ac441a87c7516a92a6bbc6e0768097d224809115cd3",
    ),
    (
        "3.1.7",
        "openai",
        "8c4f0c34059c1f7272093bd1097cf797fb2ba0e7ce00c93d2ff0615b1cb4ba5d",
    ),
    (
        "3.1.8",
        "responses",
        "25f6555cf0e37ab4c57288cb8ca2a92fe87801dc1a93a58bcf7580332399ee62",
    ),
    (
        "3.1.9",
        "json",
        "8b2e6211a3673c0c26a3d5d4ca0040373904fe81a6914bc53e2e65fdb06f5454",
    ),
];

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_file_of_version_2_is_brought_up_to_date_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/data/version-2.db");
    fs::copy(data, &file).unwrap();
    let location = Location::Sqlite(file);
    run(async {
        let store = Store::open_existing(&location).await.unwrap();
        let stats = store.stats().await.unwrap();
        assert_eq!(stats.version, 10);
        let counts = [stats.messages, stats.facts, stats.past_facts, stats.turns];
        assert_eq!(counts, [649, 3, 2, 12]);
        everything_is_there(&store).await;
    });
    // It goes on to a server, and opened again it is what it has become.
    run(async {
        let store = Store::open(&location).await.unwrap();
        let database = Database::new().await;
        let other = Store::open(&database.url.parse().unwrap()).await.unwrap();
        store.copy_to(&other).await.unwrap();
        everything_is_there(&other).await;
        work_goes_on(&other).await;
        work_goes_on(&store).await;
        drop(other);
        database.remove().await;
    });
}

async fn everything_is_there(store: &Store) {
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    messages_are_there(store).await;
    facts_and_state_are_there(store).await;
    for (turn, form, hash) in PROMPTS {
        let replayed = store.replay(turn.parse().unwrap(), None).await.unwrap();
        let settings = (replayed.settings.form.as_str(), replayed.hash.as_str());
        assert_eq!(settings, (form, hash));
    }
}

async fn messages_are_there(store: &Store) {
    let filter = ExportFilter::new(None, Some("mail".into()));
    let (exported, _) = store.export(&filter, None, 50).await.unwrap();
    let said: Vec<_> = exported
        .into_iter()
        .map(|one| one.unwrap().message)
        .collect();
    let texts: Vec<_> = said
        .iter()
        .map(|one| (one.message.role, one.text()))
        .collect();
    let texts: Vec<_> = texts.iter().map(|(role, text)| (*role, &**text)).collect();
    assert_eq!(
        texts,
        [
            (Role::System, "Answer in one line."),
            (Role::User, "My sister Ines keeps bees in Porto."),
            (Role::Assistant, "Bees! How many hives?"),
            (Role::User, "Seven hives, nul \0 and 🐝"),
            (Role::Assistant, "Let me look."),
            (Role::Tool, "{\"sky\":\"clear\"}"),
            (Role::Assistant, "A clear sky for seven hives."),
        ]
    );
    // Blocks, calls and fields that nobody knows came in with version 2.
    assert!(
        matches!(said[4].message.content, Content::Blocks(_)),
        "{said:?}"
    );
    let call = serde_json::to_value(&said[4].message).unwrap();
    assert_eq!(call["content"][0]["zz"], 1);
    assert_eq!(call["tool_calls"][0]["name"], "sky");
    assert_eq!(said[5].message.tool_call_id.as_deref(), Some("c1"));
    assert!(!said[5].recallable);
    assert_eq!(said[1].reference.as_deref(), Some("r1"));
    // The index is made again, of the messages that were in blocks and of those that were not.
    for (query, found) in [
        ("who keeps bees", "My sister Ines keeps bees in Porto."),
        ("note 7", "note 7, Setúbal"),
        ("note 613", "note 613, Setúbal"),
    ] {
        let hits = store
            .recall(&RecallRequest::new("ann", query))
            .await
            .unwrap();
        assert_eq!(hits[0].text(), found, "{query}");
    }
}

async fn facts_and_state_are_there(store: &Store) {
    let facts = store.facts("ann", 9).await.unwrap();
    let known: Vec<_> = facts.iter().map(|one| (&*one.key, &*one.value)).collect();
    let expected = [
        ("likes", "fish"),
        ("sister", "Ines"),
        ("timezone", "Lisbon"),
    ];
    assert_eq!(known, expected);
    // What was told is not taken for something that was drawn from talk.
    assert!(facts.iter().all(|one| !one.drawn && one.speaker.is_none()));
    assert!(facts[1].source.is_some() && facts[0].source.is_none());
    let past = store.fact_history("ann", Some("mood"), 9).await.unwrap();
    assert_eq!((past.len(), past[0].until), (1, Some(second(5))));
    let state = store.state("3.1".parse().unwrap()).await.unwrap();
    assert_eq!(state.problems, []);
    let keys = state.entries.as_slice().iter().map(|one| one.key.as_str());
    assert_eq!(keys.collect::<Vec<_>>(), ["rule"]);
    assert_eq!(
        (state.throttle.step, state.epoch_key.as_deref()),
        (9, Some("k3y"))
    );
    let summaries = store.summaries("cli", "bob", 9).await.unwrap();
    assert_eq!((summaries.len(), summaries[0].by), (1, SummaryMaker::Rules));
    let all = store.conversations("cli", "bob", 9).await.unwrap();
    assert_eq!((all[0].closed, &all[0].title), (Some(second(302)), &None));
}

/// The turn that waited gets an answer, its conversation is closed, and a message is forgotten.
async fn work_goes_on(store: &Store) {
    let waiting = Incoming::new("cli", "ann", "Are you there?").with_idempotency_key("open");
    let turn = store.accept(&waiting, second(501)).await.unwrap();
    let known = (turn.id.to_string(), turn.status);
    assert_eq!(known, ("3.1.11".to_owned(), TurnStatus::Accepted));
    let minute = SignedDuration::from_secs(60);
    let lease = store.begin(turn.id, minute, second(502)).await.unwrap();
    let learned = Learned::reply("Yes.", second(503));
    store.learned(&lease, learned, second(503)).await.unwrap();
    let closing = store.closing(turn.id.conversation()).await.unwrap();
    let closed = store.close(closing, Tokens(200), &Characters, second(504));
    let closed = closed.await.unwrap();
    assert!(
        matches!(closed, CloseOutcome::Closed(Some(_))),
        "{closed:?}"
    );
    let hits = store
        .recall(&RecallRequest::new("ann", "who keeps bees"))
        .await
        .unwrap();
    let gone = store
        .forget(Forget::Message(hits[0].message.id))
        .await
        .unwrap();
    assert_eq!((gone.messages, gone.facts), (1, 1));
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}
