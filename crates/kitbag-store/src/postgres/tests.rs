//! Statements on the connection of a pool that finds out by itself whether to prepare them. The public interface does
//! not show which way a statement was sent.

use std::sync::atomic::Ordering;

use super::*;

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

async fn open(statements: &str) -> Postgres {
    let server = std::env::var("KITBAG_TEST_POSTGRES").unwrap();
    let url = format!("{server}?pool_size=1&prepared={statements}");
    Postgres::open(&url, Opening::Make).await.unwrap()
}

/// Reads so often that a connection prepares its statements, if it ever does.
async fn read(postgres: &Postgres) {
    let tenant = Tenant::default();
    for round in 0..2 * USES {
        let count = postgres.read(&tenant, async |tx| {
            let sql = "SELECT count(*) FROM message WHERE tenant = $1";
            tx.query_row::<i64>(sql, ()).await
        });
        assert!(count.await.is_ok(), "{round}");
    }
}

/// The statements that the session of the only connection has prepared.
async fn prepared(postgres: &Postgres) -> i64 {
    let client = postgres.pool.get().await.unwrap();
    let sql = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%FROM message%'";
    let row = client.query_typed_one(sql, &[]).await.unwrap();
    row.get(0)
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_connection_of_its_own_prepares_its_statements() {
    run(async {
        for (statements, expected) in [("auto", 1), ("on", 1), ("off", 0)] {
            let postgres = open(statements).await;
            read(&postgres).await;
            assert_eq!(prepared(&postgres).await, expected, "{statements}");
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_prepared_statement_that_is_gone_is_no_error_and_ends_the_preparing() {
    run(async {
        let postgres = open("auto").await;
        read(&postgres).await;
        let client = postgres.pool.get().await.unwrap();
        client.batch_execute("DEALLOCATE ALL").await.unwrap();
        drop(client);
        read(&postgres).await;
        assert!(postgres.marks.met_pooler.load(Ordering::Relaxed));
        assert_eq!(prepared(&postgres).await, 0);
    });
}
