//! What memory promises about speed, each beside the bare database in the same run.
//!
//! Prints one JSON object a line; `cargo xtask bench memory` runs it and knows the limits. Recall is for
//! one sender among 500. Times are of the processor, of this process or of the server's.

#![allow(
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark stops where it fails"
)]

mod bare_postgres;
mod bare_sqlite;
mod cpu;
mod ours;
mod talk;

use std::env;

use cpu::Cpu;
use serde_json::json;

/// How many queries are measured.
pub(crate) const QUERIES: usize = 60;

fn main() {
    // `cargo bench` adds an argument of its own.
    let arguments: Vec<String> = env::args().skip(1).filter(|one| one != "--bench").collect();
    let sizes = arguments.iter().filter_map(|one| one.parse().ok());
    let mut sizes: Vec<usize> = sizes.collect();
    if sizes.is_empty() {
        sizes = vec![10_000, 100_000];
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    for size in sizes {
        runtime.block_on(measure(size));
    }
    runtime.block_on(ours::concurrent());
}

async fn measure(size: usize) {
    let folder = tempfile::tempdir().unwrap();
    let questions = talk::questions(QUERIES);

    let file = folder.path().join("ours.db");
    let import = ours::import_sqlite(&file, size).await;
    let recall = ours::recall_sqlite(&file, &questions).await;
    let context = ours::context_sqlite(&file, &questions).await;
    let inserts = bare_sqlite::insert_again(&file, &folder.path().join("again.db"));
    let fts = bare_sqlite::search(&folder.path().join("fts.db"), size, &questions);
    let line = json!({
        "bench": "memory", "database": "sqlite", "messages": size,
        "import_per_second": size as f64 / import, "bare_inserts_per_second": size as f64 / inserts,
        "recall_ms": recall, "context_ms": context, "bare_query_ms": fts,
        "file_mb": std::fs::metadata(&file).unwrap().len() as f64 / 1e6,
    });
    println!("{line}");

    if let Ok(url) = env::var("KITBAG_TEST_POSTGRES") {
        let recall = ours::recall_postgres(&url, size, &questions).await;
        let bare = bare_postgres::search(&url, size, &questions).await;
        let line = json!({
            "bench": "memory", "database": "postgres", "messages": size,
            "recall_ms": recall, "bare_query_ms": bare,
        });
        println!("{line}");
    }
}

/// Milliseconds of processor time for each of `count` runs.
pub(crate) fn each(cpu: &Cpu, count: usize) -> f64 {
    cpu.seconds() * 1e3 / count as f64
}
