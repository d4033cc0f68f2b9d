//! PostgreSQL alone: text search with a filter for the sender.

use tokio_postgres::{Client, NoTls};

use crate::cpu::Cpu;
use crate::talk::{Question, Talk};

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Lets the server count its rows, as it does by itself after a while.
pub(crate) async fn analyze(url: &str) {
    connect(url).await.batch_execute("ANALYZE").await.unwrap();
}

/// The processor time of the server's processes.
pub(crate) struct ServerCpu(Vec<Cpu>);

impl ServerCpu {
    /// Seconds since.
    pub(crate) async fn since(&self) -> f64 {
        self.0.iter().map(Cpu::seconds).sum()
    }
}

/// From now on, of all connections of stores.
pub(crate) async fn server_cpu(url: &str) -> ServerCpu {
    let client = connect(url).await;
    let rows = client
        .query(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'kitbag'",
            &[],
        )
        .await
        .unwrap();
    ServerCpu(
        rows.iter()
            .map(|row| Cpu::of(row.get::<_, i32>(0).to_string()))
            .collect(),
    )
}

/// Milliseconds for a query, ours and the server's together.
pub(crate) async fn search(url: &str, talk: Talk, questions: &[Question]) -> f64 {
    let client = connect(url).await;
    client
        .batch_execute("DROP TABLE IF EXISTS said; CREATE TABLE said (id BIGINT, sender TEXT, body TEXT, words TSVECTOR)")
        .await
        .unwrap();
    let mut batch = Vec::new();
    for (number, (sender, text)) in talk.said().enumerate() {
        batch.push(format!(
            "({number}, 'u{sender}', '{text}', to_tsvector('english', '{text}'))"
        ));
        if batch.len() == 1_000 || number + 1 == talk.messages {
            let sql = format!("INSERT INTO said VALUES {}", batch.join(", "));
            client.batch_execute(&sql).await.unwrap();
            batch.clear();
        }
    }
    client
        .batch_execute("CREATE INDEX ON said USING gin (words); CREATE INDEX ON said (sender); ANALYZE said; SET jit = off; SET max_parallel_workers_per_gather = 0")
        .await
        .unwrap();
    let pid = client
        .query_one("SELECT pg_backend_pid()", &[])
        .await
        .unwrap()
        .get::<_, i32>(0);
    let statement = client
        .prepare("SELECT id FROM said, to_tsquery('english', $2) query WHERE sender = $1 AND words @@ query ORDER BY ts_rank(words, query) DESC LIMIT 50")
        .await
        .unwrap();
    let run = async || {
        for (sender, question) in questions {
            let words = question.replace(' ', " | ");
            client
                .query(&statement, &[&format!("u{sender}"), &words])
                .await
                .unwrap();
        }
    };
    run().await;
    let (ours, server) = (Cpu::of_self(), Cpu::of(pid.to_string()));
    run().await;
    (ours.seconds() + server.seconds()) * 1e3 / questions.len() as f64
}
