//! Backups, and bringing them back.

use std::path::{Path, PathBuf};

use kitbag_core::role::Role;
use kitbag_store::{
    Existing, Import, Location, NewFact, NewMessage, RecallRequest, Store, StoreError,
};

use crate::on_both;
use crate::place::{Database, new_tenant, run, second, superuser};

on_both! {
    x07_a_backup_brings_everything_back
    x07_a_backup_replaces_what_is_there_only_if_asked
    x07_an_interrupted_backup_is_told_and_left_alone
    x07_a_rehearsal_finds_what_is_refused_and_changes_nothing
    x07_a_rehearsal_passes_where_other_rows_have_the_same_names
}

async fn fill(store: &Store) {
    let said = (0..700).map(|n| {
        let message = NewMessage::new(Role::User, format!("word{n} about apples"));
        Import::new("cli", "ann", Some(format!("c{}", n / 100)), message)
    });
    store.import(said.collect(), second(0)).await.unwrap();
    let facts = vec![NewFact::new("home", "Lisbon \0")];
    store.set_facts("ann", facts, second(1)).await.unwrap();
}

async fn recall(store: &Store, query: &str) -> Vec<String> {
    let hits = store
        .recall(&RecallRequest::new("ann", query))
        .await
        .unwrap();
    hits.iter()
        .map(|hit| hit.message.text().into_owned())
        .collect()
}

async fn opened(path: &Path) -> Store {
    let location = Location::Sqlite(path.into());
    Store::open_existing(&location).await.unwrap()
}

async fn x07_a_backup_brings_everything_back(store: Store) {
    fill(&store).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    let written = store.back_up(&path).await.unwrap();
    assert_eq!(written.bytes, path.metadata().unwrap().len());
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 1, "nothing is left beside it");
    let again = store.back_up(&path).await.unwrap_err().to_string();
    assert!(again.contains("already exists"), "{again}");

    // It is a store itself.
    let tenant = store.tenant().clone();
    let backup = opened(&path).await.for_tenant(tenant.clone());
    assert_eq!(
        recall(&backup, "word77").await,
        recall(&store, "word77").await
    );
    assert_eq!(backup.check().await.unwrap(), Vec::<String>::new());
    drop(backup);

    let empty = Location::Sqlite(folder.path().join("other.db"));
    let other = Store::open(&empty).await.unwrap().for_tenant(tenant);
    let copied = other.restore(&path, Existing::Refuse).await.unwrap();
    assert_eq!((copied.rows["message"], copied.rows["fact"]), (700, 1));
    assert_eq!(
        recall(&other, "word77").await,
        recall(&store, "word77").await
    );
    assert_eq!(other.check().await.unwrap(), Vec::<String>::new());
    // Numbers go on where they were.
    fill(&other).await;
    assert_eq!(other.check().await.unwrap(), Vec::<String>::new());
    let nobody = other.for_tenant(new_tenant());
    let error = nobody.restore(&path, Existing::Refuse).await.unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
}

async fn x07_a_backup_replaces_what_is_there_only_if_asked(store: Store) {
    fill(&store).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    store.back_up(&path).await.unwrap();
    let later = NewMessage::new(Role::User, "zebras came later");
    let later = Import::new("cli", "ann", None, later);
    store.import(vec![later], second(9)).await.unwrap();

    let refused = store.restore(&path, Existing::Refuse).await.unwrap_err();
    assert!(
        refused.to_string().contains("already has memory of tenant"),
        "{refused}"
    );
    assert_eq!(recall(&store, "zebras").await, ["zebras came later"]);
    store.restore(&path, Existing::Replace).await.unwrap();
    assert!(recall(&store, "zebras").await.is_empty());
    assert_eq!(store.stats().await.unwrap().messages, 700);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x07_an_interrupted_backup_is_told_and_left_alone(store: Store) {
    fill(&store).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    let beside = |ending: &str| folder.path().join(format!("backup.db{ending}"));
    let left = [beside(".partial"), beside(".partial-0123")];
    // The log of one, and files of somebody else.
    let others = [".partial-0123-wal", ".partial-notes.txt", ".partially"];
    for file in left.iter().chain(&others.map(beside)) {
        std::fs::write(file, "half of a backup").unwrap();
    }
    let written = store.back_up(&path).await.unwrap();
    assert_eq!(written.left_over, left);
    for file in &left {
        assert_eq!(std::fs::read(file).unwrap(), b"half of a backup");
    }
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 6, "the backup and what was there before");
    let backup = opened(&path).await.for_tenant(store.tenant().clone());
    assert_eq!(backup.stats().await.unwrap().messages, 700);
}

async fn x07_a_rehearsal_finds_what_is_refused_and_changes_nothing(store: Store) {
    fill(&store).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    store.back_up(&path).await.unwrap();
    let refused = store.rehearse_restore(&path, Existing::Refuse).await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("already has memory of tenant"),
        "{refused}"
    );
    let rehearsed = store.rehearse_restore(&path, Existing::Replace);
    rehearsed.await.unwrap();
    fill(&store).await;
    assert_eq!(store.stats().await.unwrap().messages, 1_400);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    let nobody = store.for_tenant(new_tenant());
    let missing = nobody.rehearse_restore(&path, Existing::Refuse).await;
    let missing = missing.unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    assert_eq!(nobody.stats().await.unwrap().messages, 0);
}

/// Numbers of scopes are given in the order of their senders' first messages, so that another store has
/// the same sender under another number.
async fn x07_a_rehearsal_passes_where_other_rows_have_the_same_names(store: Store) {
    let folder = tempfile::tempdir().unwrap();
    let source = Location::Sqlite(folder.path().join("source.db"));
    let source = Store::open(&source).await.unwrap();
    let source = source.for_tenant(store.tenant().clone());
    fill(&source).await;
    let path = folder.path().join("backup.db");
    source.back_up(&path).await.unwrap();
    let bob = Import::new("cli", "bob", None, NewMessage::new(Role::User, "hello"));
    store.import(vec![bob], second(0)).await.unwrap();
    fill(&store).await;

    let rehearsed = store.rehearse_restore(&path, Existing::Replace);
    rehearsed.await.unwrap();
    assert_eq!(store.stats().await.unwrap().messages, 701);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    store.restore(&path, Existing::Replace).await.unwrap();
    assert_eq!(store.stats().await.unwrap().messages, 700);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

/// Whoever takes a lock that another has just removed would hold it beside the next, whose backup would
/// take the first one's file for that of an interrupted one.
#[test]
fn x07_backups_of_one_name_in_turn_never_meet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (folder, path) = (folder.path(), &path);
            scope.spawn(move || {
                run(async {
                    let location = Location::Sqlite(folder.join(format!("{number}.db")));
                    let store = Store::open(&location).await.unwrap();
                    let mut written = 0;
                    while written < 15 {
                        if let Ok(backup) = store.back_up(path).await {
                            // First, so that the others end where this fails.
                            std::fs::remove_file(path).unwrap();
                            assert_eq!(backup.left_over, Vec::<PathBuf>::new());
                            written += 1;
                        }
                    }
                });
            });
        }
    });
}

#[test]
fn x07_a_backup_that_is_under_way_is_not_begun_twice() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let location = Location::Sqlite(folder.path().join("memory.db"));
        let store = Store::open(&location).await.unwrap();
        fill(&store).await;
        let path = folder.path().join("backup.db");
        let lock = folder.path().join("backup.db.partial-lock");
        let other = std::fs::File::create(&lock).unwrap();
        other.lock().unwrap();
        let busy = store.back_up(&path).await.unwrap_err().to_string();
        assert!(
            busy.contains("is being written by another process"),
            "{busy}"
        );
        assert!(!path.exists());
        // A process that was killed has let go of it.
        drop(other);
        store.back_up(&path).await.unwrap();
        assert!(!lock.exists());

        // Of two at once one is written, and the other says why it was not.
        let both = folder.path().join("both.db");
        let writer = Store::open(&location).await.unwrap();
        let (one, other) = tokio::join!(store.back_up(&both), writer.back_up(&both));
        assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
        assert_eq!(opened(&both).await.stats().await.unwrap().messages, 700);
    });
}

/// A policy of the server's owner lets a tenant's messages not be written.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_rehearsal_finds_a_policy_that_refuses_a_tenant() {
    run(async {
        let database = Database::new().await;
        let location: Location = database.url.parse().unwrap();
        let store = Store::open(&location).await.unwrap();
        let tenant = new_tenant();
        let store = store.for_tenant(tenant.clone());
        fill(&store).await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backup.db");
        store.back_up(&path).await.unwrap();
        let admin = superuser(&database.url).await;
        let policy = format!(
            "CREATE POLICY closed ON kitbag.message AS RESTRICTIVE FOR INSERT TO kitbag_app \
             WITH CHECK (tenant <> '{tenant}')"
        );
        admin.batch_execute(&policy).await.unwrap();
        let refused = store.rehearse_restore(&path, Existing::Replace).await;
        let refused = refused.unwrap_err();
        assert!(matches!(refused, StoreError::Rights { .. }), "{refused}");
        let refused = store.restore(&path, Existing::Replace).await.unwrap_err();
        assert!(matches!(refused, StoreError::Rights { .. }), "{refused}");
        assert_eq!(store.stats().await.unwrap().messages, 700);
        let open = "DROP POLICY closed ON kitbag.message";
        admin.batch_execute(open).await.unwrap();
        let rehearsed = store.rehearse_restore(&path, Existing::Replace);
        rehearsed.await.unwrap();
        drop((store, admin));
        database.remove().await;
    });
}

/// A file's backup holds every tenant, and others write meanwhile.
#[test]
fn x07_a_file_is_backed_up_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let location = Location::Sqlite(folder.path().join("memory.db"));
        let store = Store::open(&location).await.unwrap();
        let tenant = new_tenant();
        fill(&store.for_tenant(tenant.clone())).await;
        let writer = Store::open(&location).await.unwrap();
        let writing = tokio::spawn(async move {
            for _ in 0..5 {
                fill(&writer).await;
            }
        });
        let path = folder.path().join("backup.db");
        store.back_up(&path).await.unwrap();
        writing.await.unwrap();
        let backup = opened(&path).await;
        let held = backup.stats().await.unwrap().messages;
        assert_eq!(held % 700, 0, "whole imports, or nothing of them");
        let names = |store: Store| async move {
            let tenants = store.tenants().await.unwrap();
            let named = tenants
                .into_iter()
                .map(|one| (one.tenant.to_string(), one.messages));
            named.collect::<Vec<_>>()
        };
        assert!(names(backup).await.contains(&(tenant.to_string(), 700)));
        let all = names(store).await;
        assert_eq!(all, [("main".to_owned(), 3_500), (tenant.to_string(), 700)]);
    });
}

/// Row-level security hides tenants from whoever it binds, and the store says so.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_tenants_of_a_server_are_listed_for_its_owner_alone() {
    run(async {
        let database = Database::new().await;
        let location: Location = database.url.parse().unwrap();
        let owner = Store::open(&location).await.unwrap();
        for tenant in [new_tenant(), new_tenant()] {
            fill(&owner.for_tenant(tenant)).await;
        }
        let listed = owner.tenants().await.unwrap();
        assert_eq!(listed.len(), 2);
        assert!(
            listed
                .iter()
                .all(|one| (one.senders, one.conversations, one.messages) == (1, 7, 700))
        );
        let role = format!("role_{}", new_tenant().to_string().replace('-', "_"));
        let admin = superuser(&database.url).await;
        let make = format!("CREATE ROLE {role} LOGIN; GRANT kitbag_app TO {role}");
        admin.batch_execute(&make).await.unwrap();
        let (scheme, rest) = database.url.split_once("://").unwrap();
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        let bound: Location = format!("{scheme}://{role}@{host}").parse().unwrap();
        let bound = Store::open_existing(&bound).await.unwrap();
        let hidden = bound.tenants().await.unwrap_err();
        assert!(
            matches!(&hidden, StoreError::TenantsHidden { user } if *user == role),
            "{hidden}"
        );
        drop((owner, bound));
        let name = format!("REVOKE kitbag_app FROM {role}; DROP ROLE {role}");
        admin.batch_execute(&name).await.unwrap();
        drop(admin);
        database.remove().await;
    });
}
