//! Query plans: on PostgreSQL no statement of these shapes reads a whole table, and on SQLite messages of one
//! conversation or one day are found without reading the whole scope. `sqlite::plans` explains all statements
//! that SQLite runs.

use kitbag_store::{Location, Store};

use crate::place::{self, run, superuser};

/// Tables that grow with what is said.
const GROWING: [&str; 7] = [
    "message",
    "posting",
    "block",
    "fact",
    "turn",
    "prompt_text",
    "conversation",
];

/// The statements of turns, imports, recall and lists, of every shape, with values for their parameters.
const STATEMENTS: [&str; 26] = [
    // Conversations.
    "SELECT id FROM conversation WHERE tenant = 'local' AND scope = 1 AND name = 'a' \
     ORDER BY id DESC LIMIT 1",
    "SELECT id FROM conversation WHERE tenant = 'local' AND scope = 1 AND closed IS NULL \
     AND name IS NULL AND active >= 7 AND began <= 9 ORDER BY id DESC LIMIT 1",
    "SELECT scope, id, turns FROM conversation WHERE tenant = 'local' AND scope = 1 AND id <> 3 \
     AND closed IS NULL AND name IS NULL AND active < 7 ORDER BY active DESC, id DESC LIMIT 1",
    "UPDATE conversation SET kept = kept + 1 WHERE tenant = 'local' AND scope = 1 AND id = 3",
    "UPDATE conversation SET began = 1, active = 2 WHERE tenant = 'local' AND scope = 1 AND id = 3",
    "SELECT scope.sender, conversation.id FROM conversation CROSS JOIN scope \
     WHERE scope.tenant = 'local' AND conversation.tenant = 'local' \
     AND scope.id = conversation.scope ORDER BY conversation.active DESC, \
     conversation.scope DESC, conversation.id DESC LIMIT 50",
    "SELECT conversation.id FROM scope CROSS JOIN conversation WHERE scope.tenant = 'local' \
     AND conversation.tenant = 'local' AND scope.id = conversation.scope AND scope.sender = 'ann' \
     ORDER BY conversation.active DESC LIMIT 50",
    // Messages.
    "SELECT traits FROM message WHERE tenant = 'local' AND scope = 1 AND conversation = 3 AND seq = 5",
    "SELECT body FROM message WHERE tenant = 'local' AND scope = 1 AND conversation = 3 AND seq < 9 \
     ORDER BY seq DESC LIMIT 5",
    "SELECT count(*) FROM message WHERE tenant = 'local' AND scope = 1 AND conversation = 3 AND seq < 9",
    "SELECT ref FROM message WHERE tenant = 'local' AND scope = 1 AND conversation = 3 \
     AND ref IS NOT NULL ORDER BY seq",
    "SELECT arrival FROM message WHERE tenant = 'local' AND scope = 1 AND arrival >= 3 AND arrival <= 9",
    "SELECT arrival FROM message WHERE tenant = 'local' AND scope = 1 AND at >= 7 AND at < 9 \
     AND recallable = 1 ORDER BY arrival LIMIT 5",
    "UPDATE message SET sent_as = NULL WHERE tenant = 'local' AND scope = 1 AND conversation = 3 AND seq = 5",
    "DELETE FROM message WHERE tenant = 'local' AND scope = 1 AND conversation = 3 AND seq = 5",
    // The index.
    "SELECT id, words FROM block WHERE tenant = 'local' AND scope = 1 ORDER BY id",
    "SELECT id, first, last FROM block WHERE tenant = 'local' AND scope = 1 ORDER BY id DESC LIMIT 64",
    "SELECT words FROM posting WHERE tenant = 'local' AND scope = 1 AND block = 2",
    "SELECT words FROM posting WHERE tenant = 'local' AND scope = 1 AND block = 2 AND first <= 'b' \
     AND first >= (SELECT coalesce(max(first), '') FROM posting WHERE tenant = 'local' \
     AND scope = 1 AND block = 2 AND first <= 'a')",
    "DELETE FROM posting WHERE tenant = 'local' AND scope = 1 AND block = 2",
    // Facts.
    "SELECT value FROM fact WHERE tenant = 'local' AND sender = 'ann' AND key = 'home'",
    "SELECT key, value FROM fact WHERE tenant = 'local' AND sender = 'ann' AND until IS NULL \
     ORDER BY since DESC, key LIMIT 50",
    "SELECT key FROM fact WHERE tenant = 'local' AND source_scope = 1 AND source_conversation = 3 \
     AND source_seq = 5",
    // Turns.
    "SELECT id FROM turn WHERE tenant = 'local' AND scope = 1 AND conversation = 3 AND id = 2",
    "SELECT id FROM turn WHERE tenant = 'local' AND scope = 1 AND idempotency_key = 'k'",
    "SELECT origin FROM prompt_text WHERE tenant = 'local' AND scope = 1 AND conversation = 3 \
     AND turn = 2 AND inference = 1",
];

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn no_statement_of_a_turn_or_an_import_reads_a_whole_table_in_postgres() {
    run(async {
        drop(Store::open(&place::postgres()).await.unwrap());
        let server = superuser(&place::postgres_url()).await;
        // The tables are small here, and reading all of one would be cheapest.
        server
            .batch_execute(
                "SET search_path = kitbag; SET enable_seqscan = off; SET enable_bitmapscan = off",
            )
            .await
            .unwrap();
        for sql in STATEMENTS {
            let steps = server.query(&format!("EXPLAIN {sql}"), &[]).await.unwrap();
            for step in steps.iter().map(|row| row.get::<_, String>(0)) {
                let scanned = step.split_once("Seq Scan on ").map(|(_, rest)| rest);
                let table = scanned.and_then(|rest| rest.split(' ').next());
                let scans = table.is_some_and(|table| GROWING.contains(&table));
                assert!(!scans, "{sql}: {step}");
            }
        }
    });
}

#[test]
fn the_conversation_that_fell_silent_last_is_the_first_that_the_index_has() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    run(Store::open(&Location::Sqlite(file.clone()))).unwrap();
    let connection = rusqlite::Connection::open(&file).unwrap();
    let is_asked = |sql: &&&str| sql.contains("active < 7");
    let sql = STATEMENTS.iter().find(is_asked).unwrap();
    let mut explained = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap();
    let steps = explained.query_map([], |row| row.get(3)).unwrap();
    let steps: Vec<String> = steps.map(Result::unwrap).collect();
    // One step: nothing is sorted.
    let expected =
        "SEARCH conversation USING INDEX conversation_open (tenant=? AND scope=? AND active<?)";
    assert_eq!(steps, [expected]);
}

#[test]
fn messages_are_found_by_the_index_that_has_fewest_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    run(Store::open(&Location::Sqlite(file.clone()))).unwrap();
    let connection = rusqlite::Connection::open(&file).unwrap();
    let by_conversation = "sqlite_autoindex_message_2 (tenant=? AND scope=? AND conversation=?";
    for (condition, index) in [
        ("conversation = 3 AND internal = 0", by_conversation),
        ("conversation = 3 AND ref IS NOT NULL", by_conversation),
        (
            "conversation = 3 AND seq < 9 ORDER BY seq DESC LIMIT 5",
            by_conversation,
        ),
        (
            "conversation = 3 AND at = 7 AND at_offset IS NULL",
            "message_at (tenant=? AND scope=? AND at=?)",
        ),
        (
            "at >= 7 AND at < 9 AND recallable = 1 ORDER BY arrival LIMIT 5",
            "message_at (tenant=? AND scope=? AND at>? AND at<?)",
        ),
        (
            "arrival > 9 ORDER BY arrival LIMIT 5",
            "PRIMARY KEY (tenant=? AND scope=? AND arrival>?)",
        ),
    ] {
        let sql = format!(
            "EXPLAIN QUERY PLAN SELECT body FROM message \
             WHERE tenant = 'local' AND scope = 1 AND {condition}"
        );
        let plan: String = connection.query_row(&sql, [], |row| row.get(3)).unwrap();
        assert!(plan.contains(index), "{condition}: {plan}");
    }
}
