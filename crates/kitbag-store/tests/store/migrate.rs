//! Stores that are new, foreign, or from another version.

mod older;
mod revision_2;
mod version_2;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use kitbag_store::{Incoming, Location, Store, StoreError};

use crate::place::{self, Database, run, second};

#[test]
fn eight_nodes_open_a_new_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    eight_at_once(&Location::Sqlite(folder.path().join("memory.db")));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn eight_nodes_open_a_new_database_at_once() {
    let database = run(Database::new());
    eight_at_once(&database.url.parse().unwrap());
    run(database.remove());
}

/// Each on a thread of its own: the file is opened without letting others go on.
fn eight_at_once(location: &Location) {
    let barrier = Arc::new(std::sync::Barrier::new(8));
    let nodes: Vec<_> = (0..8)
        .map(|node| {
            let (location, barrier) = (location.clone(), Arc::clone(&barrier));
            thread::spawn(move || {
                run(async {
                    barrier.wait();
                    let store = Store::open(&location).await.unwrap();
                    let incoming = Incoming::new("cli", format!("node {node}"), "hello");
                    store.accept(&incoming, second(0)).await.unwrap();
                });
            })
        })
        .collect();
    for node in nodes {
        node.join().unwrap();
    }
    run(async {
        let store = Store::open(location).await.unwrap();
        assert_eq!(store.stats().await.unwrap().messages, 8);
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_file_of_a_later_version_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    run(async {
        let store = Store::open(&Location::Sqlite(file.clone())).await.unwrap();
        let incoming = Incoming::new("cli", "ann", "hello");
        store.accept(&incoming, second(0)).await.unwrap();
    });
    let raw = rusqlite::Connection::open(&file).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    raw.close().unwrap();
    let error = refused_and_unchanged(&file);
    assert!(matches!(error, StoreError::Newer { found: 99, .. }));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn a_database_of_a_later_version_is_refused_and_unchanged() {
    run(async {
        let database = Database::new().await;
        let location: Location = database.url.parse().unwrap();
        drop(Store::open(&location).await.unwrap());
        let raw = place::superuser(&database.url).await;
        let change = "UPDATE kitbag.version SET number = 99; DROP TABLE kitbag.fact";
        raw.batch_execute(change).await.unwrap();
        let error = Store::open(&location).await.unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 99, .. }));
        let after = "SELECT number, to_regclass('kitbag.fact') IS NULL FROM kitbag.version";
        let row = raw.query_one(after, &[]).await.unwrap();
        assert_eq!((row.get::<_, i64>(0), row.get::<_, bool>(1)), (99, true));
        drop(raw);
        database.remove().await;
    });
}

#[test]
fn a_foreign_file_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("music.db");
    let raw = rusqlite::Connection::open(&file).unwrap();
    raw.execute_batch("CREATE TABLE song (name TEXT); INSERT INTO song VALUES ('Blue')")
        .unwrap();
    raw.close().unwrap();
    let error = refused_and_unchanged(&file);
    assert!(matches!(error, StoreError::NotAStore { .. }));

    let text = folder.path().join("letter.txt");
    fs::write(&text, "Dear Ann, ".repeat(1_000)).unwrap();
    let error = refused_and_unchanged(&text);
    assert!(matches!(error, StoreError::NotAStore { .. }));
}

fn refused_and_unchanged(file: &Path) -> StoreError {
    let before = fs::read(file).unwrap();
    let names = names_beside(file);
    let opened = run(Store::open(&Location::Sqlite(file.to_owned())));
    assert_eq!(fs::read(file).unwrap(), before);
    assert_eq!(names_beside(file), names);
    opened.unwrap_err()
}

fn names_beside(file: &Path) -> Vec<std::ffi::OsString> {
    let folder = fs::read_dir(file.parent().unwrap()).unwrap();
    let mut names: Vec<_> = folder.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn what_is_only_read_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("empty.db"), "").unwrap();
    let raw = rusqlite::Connection::open(path("bare.db")).unwrap();
    raw.execute_batch("VACUUM").unwrap();
    drop(raw);
    fs::write(path("notes.txt"), "these are my notes ".repeat(100)).unwrap();
    let before: Vec<u64> = ["empty.db", "bare.db", "notes.txt"]
        .map(|name| fs::metadata(path(name)).unwrap().len())
        .into();
    for (name, told) in [
        ("gone.db", "the file does not exist"),
        ("empty.db", "the file is empty"),
        ("bare.db", "the file has no tables"),
        ("notes.txt", "is not a store of Kitbag"),
        ("notes.txt/memory.db", "cannot open the store"),
    ] {
        let location = Location::Sqlite(path(name));
        let error = run(Store::open_existing(&location)).unwrap_err();
        assert!(error.to_string().contains(told), "{name}: {error}");
    }
    let after: Vec<u64> = ["empty.db", "bare.db", "notes.txt"]
        .map(|name| fs::metadata(path(name)).unwrap().len())
        .into();
    assert_eq!(after, before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn a_database_that_is_only_read_gets_no_tables() {
    run(async {
        let database = Database::new().await;
        let location: Location = database.url.parse().unwrap();
        let error = Store::open_existing(&location).await.unwrap_err();
        assert!(matches!(error, StoreError::NoStore { .. }), "{error}");
        let raw = place::superuser(&database.url).await;
        let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'kitbag'";
        let count = async || raw.query_one(schemas, &[]).await.unwrap().get::<_, i64>(0);
        assert_eq!(count().await, 0);
        drop(Store::open(&location).await.unwrap());
        let store = Store::open_existing(&location).await.unwrap();
        assert_eq!(store.stats().await.unwrap().messages, 0);
        drop(store);
        database.remove().await;
    });
}
