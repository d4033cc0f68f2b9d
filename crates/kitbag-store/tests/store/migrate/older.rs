//! Stores of version 1. `data/version-1.db` was written by the program of commit bc4ecaa, the last one
//! before version 2.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    CloseOutcome, ExportFilter, Incoming, Learned, Location, RecallRequest, Store, SummaryMaker,
    TurnStatus,
};

use crate::place::{self, Database, run, second};

/// The turns of the file, the forms of their prompts, and the hashes of what was sent.
const PROMPTS: [(&str, &str, &str); 8] = [
    (
        "2.1.1",
        "flat",
        "53a3e8a642e2f335a53b4721f02e46a512935a680d741b50d115a96dd9bcb616",
    ),
    (
        "2.1.2",
        "pack",
        "68f3a21a1568cdcd0ef3e8ea9fc747589205a459eeef83c9ecc11a82fbf65310",
    ),
    (
        "2.1.3",
        "markdown",
        "06761c27911761aec3a0c53576a1a7910ac44072b186b95e61a85c27d70fde4c",
    ),
    (
        "2.1.4",
        "xml",
        "5a89b158ea2f55afb622e953046494efafec0e52548dc47ea70ef14c02a3d1a5",
    ),
    (
        "2.1.5",
        "node",
        "1ee562a5c039ea4c3774f6164adefed0d7d995f46e77b92254a62f11012efe1c",
    ),
    (
        "2.1.6",
        "anthropic",
        "d4308549ade3ec0dff829a24c0f2e0dce2d1ab2ebdce39a80a721f13638d8a14",
    ),
    (
        "2.1.7",
        "openai",
        "6402a1867add7db41afe25bce399e3f68bbacd673ee375b92268022f95b93731",
    ),
    (
        "2.1.8",
        "json",
        "0ec50ad33801eaad0d0102a4c90c0b1b067a0ba927dfdcebb55bbff8d72fa542",
    ),
];

/// A copy of the file.
fn older(folder: &Path) -> PathBuf {
    let file = folder.join("memory.db");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/data/version-1.db");
    fs::copy(data, &file).unwrap();
    file
}

#[test]
fn x07_an_older_file_is_brought_up_to_date_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(older(folder.path()));
    run(async {
        let store = Store::open_existing(&location).await.unwrap();
        let stats = store.stats().await.unwrap();
        assert_eq!(stats.version, 10);
        let counts = [stats.messages, stats.facts, stats.past_facts, stats.turns];
        assert_eq!(counts, [23, 3, 1, 9]);
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        messages_are_there(&store).await;
        facts_and_summaries_are_there(&store).await;
        state_is_there(&store).await;
        prompts_come_out_again(&store).await;
        work_goes_on(&store).await;
    });
    // Opened again, it is what it has become.
    run(async {
        let store = Store::open(&location).await.unwrap();
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        prompts_come_out_again(&store).await;
    });
}

async fn messages_are_there(store: &Store) {
    let filter = ExportFilter::new(None, Some("mail".into()));
    let (exported, _) = store.export(&filter, None, 50).await.unwrap();
    let said = exported.into_iter().map(|one| {
        let stored = one.unwrap().message;
        assert_eq!(stored.sent_as, None);
        assert!(stored.message.is_for_user());
        let text = stored.text().into_owned();
        (
            stored.message.role,
            stored.message.name,
            stored.reference.unwrap(),
            text,
        )
    });
    let said: Vec<_> = said.collect();
    let expected = [
        (Role::System, None, "Answer in one line."),
        (
            Role::User,
            Some("Ann"),
            "My sister Ines keeps bees in Porto.",
        ),
        (Role::Assistant, None, "Bees! How many hives?"),
        (Role::User, Some("Ann"), "Seven hives, nul \0 and 🐝"),
        (Role::Tool, Some("weather"), "{\"sky\":\"clear\"}"),
        (Role::Assistant, None, "A clear sky for seven hives."),
    ];
    let expected = expected
        .into_iter()
        .enumerate()
        .map(|(n, (role, name, text))| {
            (
                role,
                name.map(str::to_owned),
                format!("r{n}"),
                text.to_owned(),
            )
        });
    assert_eq!(said, expected.collect::<Vec<_>>());
    let hits = store
        .recall(&RecallRequest::new("ann", "who keeps bees"))
        .await;
    let best = &hits.unwrap()[0];
    assert_eq!(best.text(), "My sister Ines keeps bees in Porto.");
    assert_eq!(
        best.message.at.unwrap().to_string(),
        "2023-03-01T10:01:00+01:00"
    );
    let ferry = store
        .recall(&RecallRequest::new("ann", "harbour of Setúbal"))
        .await;
    assert!(ferry.unwrap()[0].text().contains("Setúbal"));
}

async fn facts_and_summaries_are_there(store: &Store) {
    let facts = store.facts("ann", 9).await.unwrap();
    let facts: Vec<_> = facts.iter().map(|one| (&*one.key, &*one.value)).collect();
    assert_eq!(
        facts,
        [
            ("city", "Setúbal"),
            ("likes", "fish"),
            ("timezone", "Lisbon")
        ]
    );
    let past = store
        .fact_history("ann", Some("timezone"), 9)
        .await
        .unwrap();
    let past: Vec<&str> = past.iter().map(|one| one.value.as_str()).collect();
    assert!(
        past.contains(&"Berlin") && past.contains(&"Lisbon"),
        "{past:?}"
    );
    let bees = store.summaries("mail", "ann", 9).await.unwrap();
    assert_eq!(
        (bees[0].by, bees[0].text.as_str()),
        (SummaryMaker::Model, "Ines keeps bees in Porto.")
    );
    let ferries = store.summaries("cli", "ann", 9).await.unwrap();
    assert_eq!(ferries[0].text, "About ferries.");
}

async fn state_is_there(store: &Store) {
    let id = "2.1".parse().unwrap();
    let state = store.state(id).await.unwrap();
    assert_eq!(state.problems, []);
    assert_eq!(state.layers.history_summary, "They spoke of ferries.");
    assert_eq!(state.layers.reasoning_summary, "Turn 1: looked up ferries");
    assert_eq!(state.layers.other["future"]["kept"], true);
    let entities = serde_json::to_string(&state.layers.id_registry).unwrap();
    assert!(entities.contains("Bouillabaisse"), "{entities}");
    // The one that was consumed stays away; the other was due every fourth time.
    let keys: Vec<&str> = state
        .entries
        .as_slice()
        .iter()
        .map(|one| one.key.as_str())
        .collect();
    assert_eq!(keys, ["rule"]);
    assert_eq!(
        (state.throttle.step, state.throttle.emitted["rule"].step),
        (8, 4)
    );
    assert!(state.epoch.is_some());
    assert_eq!(state.epoch_key, None);
}

async fn prompts_come_out_again(store: &Store) {
    for (turn, form, hash) in PROMPTS {
        let replayed = store.replay(turn.parse().unwrap(), None).await.unwrap();
        assert_eq!(
            (replayed.settings.form.as_str(), replayed.hash.as_str()),
            (form, hash)
        );
    }
}

/// The turn that waited for an answer gets one, the conversation is closed, another one begins.
async fn work_goes_on(store: &Store) {
    let waiting = Incoming::new("cli", "ann", "Are you there?").with_idempotency_key("open");
    let turn = store.accept(&waiting, second(201)).await.unwrap();
    assert_eq!(
        (turn.id.to_string().as_str(), turn.status),
        ("2.1.9", TurnStatus::Accepted)
    );
    let minute = SignedDuration::from_secs(60);
    let lease = store.begin(turn.id, minute, second(202)).await.unwrap();
    let mut learned = Learned::reply("Yes.", second(203));
    learned.steps = vec![Message::tool("c1", "all is well")];
    store.learned(&lease, learned, second(203)).await.unwrap();
    let said = store.messages(turn.id.conversation(), 2).await.unwrap();
    assert_eq!(said[0].message.tool_call_id.as_deref(), Some("c1"));
    let closing = store.closing(turn.id.conversation()).await.unwrap();
    let closed = store.close(closing, Tokens(200), &Characters, second(204));
    assert!(matches!(
        closed.await.unwrap(),
        CloseOutcome::Closed(Some(_))
    ));
    let next = Incoming::new("cli", "ann", "hello again");
    let next = store.accept(&next, second(205)).await.unwrap();
    assert_ne!(next.id.conversation(), turn.id.conversation());
}

/// The tables of version 1 with some rows, as that version wrote them.
const ROWS: &str = "
INSERT INTO version VALUES (1);
INSERT INTO tenant VALUES ('main', 1);
INSERT INTO scope VALUES ('main', 1, 'ann', 'cli', 1, 2, 0, 0, 0, 0, 0);
INSERT INTO conversation VALUES ('main', 1, 1, NULL, 1700000000000000, 1700000001000000, NULL, 2, 1);
INSERT INTO message (tenant, scope, arrival, conversation, seq, role, speaker, at, at_offset,
    recallable, traits, words, fingerprint, body) VALUES
    ('main', 1, 1, 1, 1, 'user', 'Ann', 1700000000000000, 0, 1, 0, 0, 0, 'Ines keeps bees'),
    ('main', 1, 2, 1, 2, 'tool', NULL, 1700000001000000, 0, 0, 0, 0, 0, 'a\\000b');
INSERT INTO turn (tenant, scope, conversation, id, status, message, reply, inferences, accepted)
    VALUES ('main', 1, 1, 1, 'learned', 1, 2, 0, 1700000000000000);
INSERT INTO fact (tenant, sender, key, version, value, since) VALUES
    ('main', 'ann', 'timezone', 1, 'Lisbon', 1700000000000000);
INSERT INTO state VALUES ('main', 1, 1, 'throttle', '{\"step\":7}');
";

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_an_older_database_is_brought_up_to_date_and_loses_nothing() {
    run(async {
        let database = Database::new().await;
        let raw = place::superuser(&database.url).await;
        let tables = include_str!("../../../src/schema/1.sql")
            .replace(" INTEGER", " BIGINT")
            .replace(" BLOB", " BYTEA")
            .replace(" BODY", " BYTEA")
            .replace(" TEXT", " TEXT COLLATE \"C\"")
            .replace(" WITHOUT ROWID", "");
        let make = format!(
            "CREATE SCHEMA kitbag; SET search_path TO kitbag; \
             CREATE TABLE version (number BIGINT NOT NULL); {tables} {ROWS}"
        );
        raw.batch_execute(&make).await.unwrap();
        let location: Location = database.url.parse().unwrap();
        let store = Store::open_existing(&location).await.unwrap();
        assert_eq!(store.stats().await.unwrap().version, 10);
        let id = "1.1".parse().unwrap();
        let said = store.messages(id, 9).await.unwrap();
        assert_eq!(
            said[0].message,
            Message::user("Ines keeps bees").with_name("Ann")
        );
        assert_eq!(
            (said[1].message.role, &*said[1].text()),
            (Role::Tool, "a\0b")
        );
        let hits = store
            .recall(&RecallRequest::new("ann", "who keeps bees"))
            .await;
        assert_eq!(hits.unwrap()[0].text(), "Ines keeps bees");
        assert_eq!(store.facts("ann", 9).await.unwrap()[0].value, "Lisbon");
        assert_eq!(store.state(id).await.unwrap().throttle.step, 7);
        let next = Incoming::new("cli", "ann", "hello");
        store.accept(&next, second(2)).await.unwrap();
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        // Tenants are still kept apart.
        let nobody = store.for_tenant(place::new_tenant());
        assert_eq!(nobody.stats().await.unwrap().messages, 0);
        drop((store, nobody, raw));
        database.remove().await;
    });
}
