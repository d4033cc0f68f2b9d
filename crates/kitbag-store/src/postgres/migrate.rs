//! Makes the tables, keeps tenants row_security in them, and brings older ones up to date.

use tokio_postgres::{Client, Transaction};

use super::error::failed;
use crate::error::{Result, StoreError};
use crate::schema;

/// Brings the schema up to date. Several nodes may try at once: one does it, the others wait.
pub(super) async fn migrate(client: &mut Client) -> Result<()> {
    if version(client).await? == schema::VERSION {
        return may_use(client).await;
    }
    let user = user(client).await?;
    let transaction = client.transaction().await.map_err(failed)?;
    upgrade(&transaction).await.map_err(|error| match error {
        StoreError::Rights { reason, .. } => StoreError::Rights {
            user,
            what: "make or change the tables",
            reason,
        },
        other => other,
    })?;
    transaction.commit().await.map_err(failed)?;
    // The upgrade may have been another user's: this one still has to be allowed to take the role.
    may_use(client).await
}

async fn upgrade(transaction: &Transaction<'_>) -> Result<()> {
    let run = async |sql: &str| transaction.batch_execute(sql).await.map_err(failed);
    // The number is arbitrary and must never change: all versions of Kitbag lock it. Held until the
    // transaction ends, so those who come later find the work done.
    run("SELECT pg_advisory_xact_lock(7738135589612483943)").await?;
    let found = version(transaction.client()).await?;
    if found == schema::VERSION {
        return Ok(());
    }
    run(PREPARE).await?;
    for step in schema::postgres_steps_after(found) {
        run(&step).await?;
    }
    // For every table and not only for new ones: a step may have made one, and repeating it is
    // harmless.
    for table in schema::tables() {
        run(&row_security(table.name)).await?;
    }
    run(AUDIT_IS_ONLY_ADDED_TO).await?;
    let version = schema::VERSION;
    run(&format!(
        "DELETE FROM version; INSERT INTO version VALUES ({version})"
    ))
    .await
}

/// The role that all work is done in: it owns nothing and bypasses no policy.
const PREPARE: &str = "
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'kitbag_app') THEN
        CREATE ROLE kitbag_app NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of the server has just made it
END $$;
DO $$ BEGIN
    -- Who makes a role may give it to others, but take it only when it was given.
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('GRANT kitbag_app TO %I', current_user);
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    NULL; -- another has given it, or it is told when it is taken
END $$;
CREATE SCHEMA IF NOT EXISTS kitbag;
SET LOCAL search_path TO kitbag;
CREATE TABLE IF NOT EXISTS version (number BIGINT NOT NULL);
GRANT USAGE ON SCHEMA kitbag TO kitbag_app;
GRANT SELECT ON version TO kitbag_app;
";

/// The statements that let a tenant alone see and write its rows. Without a tenant there are no
/// rows. `FORCE` binds the owner of the table too, which policies do not by themselves.
fn row_security(table: &str) -> String {
    let rights = match table {
        // An entry is not updated in place; it goes with its tenant alone.
        "audit" => "SELECT, INSERT, DELETE",
        _ => "SELECT, INSERT, UPDATE, DELETE",
    };
    format!(
        "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
         ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
         DROP POLICY IF EXISTS own_rows ON {table};
         CREATE POLICY own_rows ON {table}
             USING (tenant = current_setting('kitbag.tenant', true))
             WITH CHECK (tenant = current_setting('kitbag.tenant', true));
         GRANT {rights} ON {table} TO kitbag_app"
    )
}

/// The owner of the tables has all rights on them, and may not update an entry of the audit log in place either.
/// Deleting stays possible, since entries go with their tenant.
const AUDIT_IS_ONLY_ADDED_TO: &str = "
CREATE OR REPLACE FUNCTION audit_is_only_added_to() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'entries of the audit log cannot be changed';
END $$;
DROP TRIGGER IF EXISTS audit_is_only_added_to ON audit;
CREATE TRIGGER audit_is_only_added_to BEFORE UPDATE OR TRUNCATE ON audit
    EXECUTE FUNCTION audit_is_only_added_to();
";

/// The version of the tables, 0 if there are none.
pub(super) async fn version(client: &Client) -> Result<i64> {
    // Asked of the catalogue: a session may have cached an older meaning of the name.
    let exists = client
        .query_typed_one(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables \
             WHERE schemaname = 'kitbag' AND tablename = 'version')",
            &[],
        )
        .await
        .map_err(failed)?;
    if !exists.try_get::<_, bool>(0).map_err(failed)? {
        return Ok(0);
    }
    let found = client
        .query_typed_opt("SELECT number FROM kitbag.version", &[])
        .await
        .map_err(failed)?;
    let found = match found {
        Some(row) => row.try_get::<_, i64>(0).map_err(failed)?,
        None => 0,
    };
    if found > schema::VERSION {
        return Err(StoreError::Newer {
            found,
            known: schema::VERSION,
        });
    }
    Ok(found)
}

/// Checks that the connection may take the role, by taking it.
async fn may_use(client: &Client) -> Result<()> {
    let taken = client.batch_execute("BEGIN; SET LOCAL ROLE kitbag_app; ROLLBACK");
    let Err(error) = taken.await.map_err(failed) else {
        return Ok(());
    };
    // The failed statement left its transaction open, and the connection goes back to the pool.
    client.batch_execute("ROLLBACK").await.map_err(failed)?;
    let user = user(client).await?;
    Err(match error {
        StoreError::Rights { what, reason, .. } => StoreError::Rights { user, what, reason },
        other => other,
    })
}

async fn user(client: &Client) -> Result<String> {
    let row = client
        .query_typed_one("SELECT current_user::text", &[])
        .await
        .map_err(failed)?;
    row.try_get(0).map_err(failed)
}
