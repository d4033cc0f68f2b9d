//! SQLite's query plans: messages of one conversation or one day are found without reading the whole scope.

use kitbag_store::{Location, Store};

use crate::place::run;

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
