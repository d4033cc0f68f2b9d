//! Keys of clients: shown once, found by their hash, of one tenant, revoked and expired; and the audit log.

use jiff::Timestamp;
use kitbag_store::{
    Action, Existing, ExportFilter, Forget, Incoming, KEY_RANDOMNESS, Key, KeyScope, KeyScopes,
    KeySecret, Location, NewKey, Store,
};

use crate::on_both;
use crate::place::{Database, run, second, superuser};

on_both! {
    x07_a_key_opens_its_own_tenant
    x07_altered_keys_open_nothing
    x07_revoked_and_expired_keys_open_nothing
    x07_keys_are_listed_without_their_secrets
    x07_forgetting_a_tenant_ends_its_keys
    x07_the_audit_log_says_who_did_what
    x07_a_change_and_its_entry_are_kept_together
}

/// A key of the store's tenant, for tests that need a row in each table.
pub(crate) async fn create_key(store: &Store) -> Key {
    create(store, &secret(store, 1), None).await
}

fn secret(store: &Store, seed: u8) -> KeySecret {
    let mut random = [0; KEY_RANDOMNESS];
    for (place, byte) in (0_u8..).zip(&mut random) {
        *byte = place.wrapping_mul(31).wrapping_add(seed.wrapping_mul(67));
    }
    KeySecret::new(store.tenant().clone(), random)
}

async fn create(store: &Store, secret: &KeySecret, expires: Option<Timestamp>) -> Key {
    let scopes = [KeyScope::Read, KeyScope::Proxy].into_iter().collect();
    let mut new = NewKey::new("laptop", scopes);
    new.expires = expires;
    new.requests_per_minute = Some(60);
    store.create_key(new, secret, second(0)).await.unwrap()
}

async fn opens(store: &Store, shown: &str, at: i64) -> bool {
    let found = store.authenticate(shown, second(at)).await.unwrap();
    found.is_some()
}

async fn x07_a_key_opens_its_own_tenant(store: Store) {
    let secret = secret(&store, 1);
    let made = create(&store, &secret, None).await;
    let other = store.for_tenant("other".parse().unwrap());
    let found = other
        .authenticate(secret.expose(), second(1))
        .await
        .unwrap();
    let (of, key) = found.unwrap();
    assert_eq!(of.tenant(), store.tenant());
    assert_eq!(key, made);
    assert!(key.scopes.allow(KeyScope::Proxy) && !key.scopes.allow(KeyScope::Write));
    assert!(KeyScopes::all().allow(KeyScope::Write));
    assert!(store.has_keys().await.unwrap() && !other.has_keys().await.unwrap());
    let refused = other.create_key(NewKey::new("x", KeyScopes::all()), &secret, second(1));
    assert!(refused.await.is_err());
    assert!(store.has_tenant().await.unwrap());
}

async fn x07_altered_keys_open_nothing(store: Store) {
    let secret = secret(&store, 2);
    create(&store, &secret, None).await;
    let shown = secret.expose();
    assert!(opens(&store, shown, 1).await);
    let last = if shown.ends_with('0') { "1" } else { "0" };
    let (beginning, _) = shown.split_at(shown.len() - 1);
    let digits = shown.rsplit_once('_').unwrap().1;
    for wrong in [
        String::new(),
        "kitbag_".to_owned(),
        format!("{beginning}{last}"),
        beginning.to_owned(),
        format!("{shown}0"),
        shown.to_uppercase(),
        format!(" {shown}"),
        format!("kitbag_other_{digits}"),
        format!("kitbag_*_{digits}"),
        format!("kitbag_' OR 1=1 --_{digits}"),
    ] {
        assert!(!opens(&store, &wrong, 1).await, "{wrong:?}");
    }
}

async fn x07_revoked_and_expired_keys_open_nothing(store: Store) {
    let (first, other) = (secret(&store, 3), secret(&store, 4));
    let key = create(&store, &first, None).await;
    create(&store, &other, Some(second(10))).await;
    assert!(opens(&store, other.expose(), 9).await && !opens(&store, other.expose(), 10).await);
    let revoked = store.revoke_key(&key.id, second(5)).await.unwrap();
    assert_eq!(revoked.revoked, Some(second(5)));
    let again = store.revoke_key(&key.id, second(6)).await.unwrap();
    assert_eq!(again.revoked, Some(second(5)));
    assert!(!opens(&store, first.expose(), 6).await);
    let error = store.revoke_key("00000000", second(6)).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no key `00000000`");
    assert!(store.revoke_key("a\0b", second(6)).await.is_err());
}

async fn x07_keys_are_listed_without_their_secrets(store: Store) {
    let secret = secret(&store, 5);
    let key = create(&store, &secret, None).await;
    let listed = store.keys().await.unwrap();
    assert_eq!(listed, [key]);
    let digits = secret.expose().rsplit_once('_').unwrap().1.to_owned();
    let shown = format!("{} {secret:?}", serde_json::to_string(&listed).unwrap());
    assert!(shown.contains(&listed[0].id) && !shown.contains(digits.split_at(8).1));
    assert_eq!(store.stats().await.unwrap().keys, 1);
}

async fn x07_forgetting_a_tenant_ends_its_keys(store: Store) {
    let secret = secret(&store, 6);
    create(&store, &secret, None).await;
    store.forget(Forget::Tenant).await.unwrap();
    assert!(!opens(&store, secret.expose(), 1).await);
    assert!(store.audit_log(None, 10).await.unwrap().is_empty());
    assert!(!store.has_tenant().await.unwrap());
}

async fn x07_the_audit_log_says_who_did_what(store: Store) {
    let secret = secret(&store, 7);
    let key = create(&store, &secret, None).await;
    let by = Some(key.id.as_str());
    let forget = store.audit(by, Action::Forget, Some("7.12#3"), second(2));
    forget.await.unwrap();
    store.revoke_key(&key.id, second(3)).await.unwrap();
    let all = store.audit_log(None, 10).await.unwrap();
    let told: Vec<_> = all
        .iter()
        .map(|entry| (entry.id, &*entry.action, entry.actor.as_deref()))
        .collect();
    let expected = [
        (3, "revoke_key", None),
        (2, "forget", by),
        (1, "create_key", None),
    ];
    assert_eq!(told, expected);
    let own = store.audit_log(by, 10).await.unwrap();
    assert_eq!((own.len(), own[0].subject.as_deref()), (1, Some("7.12#3")));
    let other = store.for_tenant("other".parse().unwrap());
    assert!(other.audit_log(None, 10).await.unwrap().is_empty());
}

async fn x07_a_change_and_its_entry_are_kept_together(store: Store) {
    let entries = async || store.audit_log(None, 10).await.unwrap().len();
    let noted = store.audited(Some("3f9a1c20"), Action::Forget, None, second(1));
    let missing = noted.forget(Forget::Message("1.1#1".parse().unwrap()));
    assert!(missing.await.is_err());
    noted.facts("ann", 10).await.unwrap();
    assert_eq!(entries().await, 0, "nothing was changed");
    for text in ["The bees are in Porto.", "The wasps are not."] {
        let incoming = Incoming::new("http", "ann", text);
        noted.accept(&incoming, second(2)).await.unwrap();
    }
    assert_eq!(entries().await, 1, "of several changes the first has it");
    let noted = store.audited(None, Action::Forget, None, second(3));
    let own = ExportFilter::new(Some("ann".to_owned()), None);
    noted.forget(Forget::Messages(own)).await.unwrap();
    assert_eq!(entries().await, 2);
}

#[test]
fn x07_no_key_lies_in_the_file_and_a_backup_brings_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    let backup = folder.path().join("backup.db");
    run(async {
        let location = Location::Sqlite(file.clone());
        let store = Store::open(&location).await.unwrap();
        let secret = secret(&store, 8);
        let mut new = NewKey::new("laptop", KeyScopes::all());
        // Whoever pastes the key as its own name has told it nobody.
        new.name = format!("my {}", secret.expose());
        let key = store.create_key(new, &secret, second(0)).await.unwrap();
        assert!(!key.name.contains(secret.expose()), "{}", key.name);
        store.back_up(&backup).await.unwrap();
        store.forget(Forget::Tenant).await.unwrap();
        store.restore(&backup, Existing::Refuse).await.unwrap();
        assert!(opens(&store, secret.expose(), 1).await);
        let digits = secret.expose().rsplit_once('_').unwrap().1.to_owned();
        drop(store);
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes
                .windows(64)
                .any(|window| window == &digits.as_bytes()[8..]);
            assert!(!found, "{}", path.display());
        }
    });
}

const REWRITE: &str = "UPDATE audit SET action = 'ask'";

#[test]
fn x07_nobody_changes_an_entry_of_the_audit_log_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    run(async {
        let store = Store::open(&Location::Sqlite(file.clone())).await.unwrap();
        let noted = store.audit(None, Action::Export, None, second(1));
        noted.await.unwrap();
    });
    let raw = rusqlite::Connection::open(&file).unwrap();
    let refused = raw.execute(REWRITE, []).unwrap_err();
    assert!(
        refused.to_string().contains("cannot be changed"),
        "{refused}"
    );
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_nobody_changes_an_entry_of_the_audit_log_on_a_server() {
    run(async {
        let database = Database::new().await;
        let store = Store::open(&database.url.parse().unwrap()).await.unwrap();
        let noted = store.audit(None, Action::Export, None, second(1));
        noted.await.unwrap();
        let raw = superuser(&database.url).await;
        for sql in [REWRITE, "TRUNCATE audit"] {
            let sql = format!("SET search_path TO kitbag; {sql}");
            let refused = raw.batch_execute(&sql).await.unwrap_err();
            let told = refused.as_db_error().unwrap().message().to_owned();
            assert!(told.contains("cannot be changed"), "{told}");
        }
        drop((raw, store));
        database.remove().await;
    });
}
