//! What PostgreSQL itself refuses, whatever statement is sent to it: here statements are sent beside
//! the store, as a fault in the store would send them.

use kitbag_core::calibration::CountSample;
use kitbag_core::inject::{ContextMessage, EntryAction};
use kitbag_core::record::InferenceRecord;
use kitbag_core::role::Role;
use kitbag_store::{
    ExtensionChange, Forget, Import, Incoming, KeptFor, Learned, NewFact, NewMessage, NewSummary,
    Store, SummaryMaker, Tenant,
};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::keys::create_key;
use crate::place::{self, Database, in_database, new_tenant, run, second, superuser};
use crate::work::prompt_for;

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_every_table_keeps_tenants_apart() {
    run(async {
        drop(Store::open(&place::postgres()).await.unwrap());
        let server = superuser(&place::postgres_url()).await;
        let open = "SELECT count(*) FROM pg_class WHERE relnamespace = 'kitbag'::regnamespace \
             AND relkind NOT IN ('i') AND relname <> 'version' \
             AND NOT (relkind = 'r' AND relrowsecurity AND relforcerowsecurity)";
        assert_eq!(number(&server, open).await, 0);
        assert!(tables(&server).await.len() >= 21);
        let mighty = "SELECT count(*) FROM pg_roles WHERE rolname = 'kitbag_app' \
             AND (rolsuper OR rolbypassrls OR rolcanlogin OR rolcreaterole OR rolcreatedb \
             OR oid IN (SELECT relowner FROM pg_class) \
             OR oid IN (SELECT member FROM pg_auth_members))";
        assert_eq!(number(&server, mighty).await, 0);
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_query_that_forgets_the_tenant_sees_nothing() {
    run(async {
        let store = Store::open(&place::postgres()).await.unwrap();
        let (ours, theirs) = (new_tenant(), new_tenant());
        fill(&store.for_tenant(ours.clone())).await;
        fill(&store.for_tenant(theirs.clone())).await;
        let server = superuser(&place::postgres_url()).await;
        take_role(&server).await;
        for table in tables(&server).await {
            let all = format!("SELECT count(*) FROM kitbag.{table}");
            become_tenant(&server, "").await;
            assert_eq!(number(&server, &all).await, 0, "{table} without a tenant");
            become_tenant(&server, ours.as_str()).await;
            assert!(number(&server, &all).await > 0, "{table} has rows of ours");
            let others = format!("{all} WHERE tenant <> '{ours}'");
            assert_eq!(number(&server, &others).await, 0, "{table} of others");
            cannot_write(&server, &table, &theirs).await;
        }
        let store = store.for_tenant(theirs);
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        assert_eq!(store.stats().await.unwrap().messages, 602);
    });
}

/// As our tenant: their rows can be neither made, nor changed, nor removed.
async fn cannot_write(server: &Client, table: &str, theirs: &Tenant) {
    let columns = "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns \
         WHERE table_schema = 'kitbag' AND column_name <> 'tenant' AND table_name = $1";
    let columns: String = server.query_one(columns, &[&table]).await.unwrap().get(0);
    for refused in [
        format!(
            "INSERT INTO kitbag.{table} (tenant, {columns}) \
             SELECT '{theirs}', {columns} FROM kitbag.{table} LIMIT 1"
        ),
        format!("UPDATE kitbag.{table} SET tenant = '{theirs}'"),
        format!("TRUNCATE kitbag.{table}"),
        format!("ALTER TABLE kitbag.{table} DISABLE ROW LEVEL SECURITY"),
        format!("DROP TABLE kitbag.{table}"),
    ] {
        let error = server.batch_execute(&refused).await.unwrap_err();
        let code = error.code();
        assert_eq!(code, Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{refused}");
    }
    let delete = format!("DELETE FROM kitbag.{table} WHERE tenant = '{theirs}'");
    assert_eq!(server.execute(&delete, &[]).await.unwrap(), 0, "{delete}");
    let update = format!("UPDATE kitbag.{table} SET tenant = tenant WHERE tenant = '{theirs}'");
    let updated = server.execute(&update, &[]).await;
    if table == "audit" {
        // Entries are only ever added, also those of our own tenant.
        let error = updated.unwrap_err();
        assert_eq!(error.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE));
    } else {
        assert_eq!(updated.unwrap(), 0, "{update}");
    }
}

/// Not even whoever owns the tables sees their rows; a superuser does, which is why the store takes
/// the role without rights first.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_the_owner_of_the_tables_is_bound() {
    run(async {
        let server = superuser(&place::postgres_url()).await;
        drop(Store::open(&place::postgres()).await.unwrap());
        let database = Database::new().await;
        let (_, name) = database.url.rsplit_once('/').unwrap();
        let make = format!(
            "CREATE ROLE owner_{name} LOGIN; GRANT kitbag_app TO owner_{name}; \
             ALTER DATABASE {name} OWNER TO owner_{name}"
        );
        server.batch_execute(&make).await.unwrap();
        let url = database
            .url
            .replace("//postgres@", &format!("//owner_{name}@"));
        let tenant = new_tenant();
        let store = Store::open(&url.parse().unwrap()).await.unwrap();
        fill(&store.for_tenant(tenant.clone())).await;
        drop(store);
        let owner = superuser(&url).await;
        for table in tables(&owner).await {
            let owned = format!(
                "SELECT count(*) FROM pg_class WHERE oid = 'kitbag.{table}'::regclass \
                 AND relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)"
            );
            assert_eq!(number(&owner, &owned).await, 1);
            let all = format!("SELECT count(*) FROM kitbag.{table}");
            become_tenant(&owner, "").await;
            assert_eq!(number(&owner, &all).await, 0, "{table}");
            become_tenant(&owner, tenant.as_str()).await;
            assert!(number(&owner, &all).await > 0, "{table}");
        }
        drop(owner);
        database.remove().await;
        let remove = format!(
            "DROP ROLE owner_{name}",
            name = url.rsplit_once('/').unwrap().1
        );
        server.batch_execute(&remove).await.unwrap();
    });
}

/// Behind a pooler that gives one connection to one client after the other.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_connection_that_a_tenant_used_shows_nothing_to_the_next() {
    run(async {
        let database = Database::new().await;
        let (_, name) = database.url.rsplit_once('/').unwrap();
        let pooled = in_database(&place::address("KITBAG_TEST_PGBOUNCER"), name);
        let store = Store::open(&pooled.parse().unwrap()).await.unwrap();
        let mut tenants = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let store = store.for_tenant(new_tenant());
            tenants.spawn(async move { fill(&store).await });
        }
        tenants.join_all().await;
        let used = format!(
            "SELECT array_agg(pid) FROM pg_stat_activity \
             WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        );
        let server = superuser(&database.url).await;
        let used: Vec<i32> = server.query_one(&used, &[]).await.unwrap().get(0);

        let client = superuser(&pooled).await;
        let left = "SELECT pg_backend_pid(), coalesce(current_setting('kitbag.tenant', true), ''), \
             current_user::text, current_setting('search_path')";
        let row = client.query_typed_one(left, &[]).await.unwrap();
        assert!(used.contains(&row.get(0)), "the connection was used before");
        let left: [String; 3] = [row.get(1), row.get(2), row.get(3)];
        assert_eq!(left, ["", "postgres", "\"$user\", public"]);
        for table in tables(&server).await {
            let look = format!(
                "BEGIN; SET LOCAL ROLE kitbag_app; SELECT count(*) FROM kitbag.{table}; COMMIT"
            );
            let messages = client.simple_query(&look).await.unwrap();
            let counts: Vec<&str> = messages
                .iter()
                .filter_map(|message| match message {
                    tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
                    _ => None,
                })
                .collect();
            assert_eq!(counts, ["0"], "{table}");
        }
        drop((client, server, store));
        database.remove().await;
    });
}

/// Gives a tenant rows in every table.
async fn fill(store: &Store) {
    let message = |number: i64| {
        let message = NewMessage::new(Role::User, format!("note {number} on boats"));
        Import::new("cli", "ann", None, message.at(second(0)))
    };
    store
        .import((0..600).map(message).collect(), second(0))
        .await
        .unwrap();
    let first = "1.1#1".parse().unwrap();
    let edited = store.edit_message(first, "a note on ships", second(0));
    assert!(edited.await.unwrap());
    let bob = Import::new("cli", "bob", None, NewMessage::new(Role::User, "hello"));
    store.import(vec![bob], second(0)).await.unwrap();
    store.forget(Forget::Sender("bob".into())).await.unwrap();
    let incoming = Incoming::new("cli", "ann", "and now?").with_idempotency_key("k");
    let turn = store.accept(&incoming, second(1)).await.unwrap();
    let conversation = turn.id.conversation();
    let entry = EntryAction::Upsert {
        message: ContextMessage::system("k", "a note"),
    };
    store
        .change_entries(conversation, vec![entry])
        .await
        .unwrap();
    let minute = jiff::SignedDuration::from_mins(1);
    let lease = store.begin(turn.id, minute, second(1)).await.unwrap();
    let prompt = prompt_for(store, &turn).await.unwrap();
    store.sent(&lease, prompt, second(2)).await.unwrap();
    let mut learned = Learned::reply("now it rains", second(3));
    learned.facts.push(NewFact::new("weather", "rain"));
    let mut inference = InferenceRecord::default();
    inference.model = Some("claude-sonnet-4-5".into());
    inference.sample = CountSample::new("o200k_base", 1_000, 1_200, 1_300);
    learned.record.inferences.push(inference);
    let kept = serde_json::json!(1);
    let kept = ExtensionChange::new(KeptFor::Tenant, "e", "k", Some(kept));
    learned.extensions.push(kept);
    store.learned(&lease, learned, second(3)).await.unwrap();
    store
        .add_summary(
            conversation,
            NewSummary::new((1, 3), "boats, and rain", SummaryMaker::Rules),
            second(4),
        )
        .await
        .unwrap();
    let place = ("proxy", "ann");
    let times = (second(5), second(5));
    let splice = store.splice(place, [7; 32], "Remembered.".to_owned(), times);
    splice.await.unwrap();
    let refused = store.refuse("slack", "mallory", "not among the senders", second(5));
    refused.await.unwrap();
    // The audit log's entry of the key comes with it.
    create_key(store).await;
}

async fn take_role(client: &Client) {
    client.batch_execute("SET ROLE kitbag_app").await.unwrap();
}

async fn become_tenant(client: &Client, tenant: &str) {
    let set = format!("SET kitbag.tenant TO '{tenant}'");
    client.batch_execute(&set).await.unwrap();
}

async fn number(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// All tables of the schema but the one with the version, which is nobody's.
async fn tables(client: &Client) -> Vec<String> {
    let sql = "SELECT relname::text FROM pg_class WHERE relnamespace = 'kitbag'::regnamespace \
         AND relkind = 'r' AND relname <> 'version' ORDER BY relname";
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}
