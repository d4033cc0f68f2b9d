//! What memory promises about speed, each beside the bare database in the same run.
//!
//! Prints one JSON object a line; `cargo xtask bench memory` runs it and knows the limits. Each
//! size is measured with one sender who said everything, and with 500. Times are of the processor, of
//! this process or of the server's; imports have theirs by the clock, too.

#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark stops where it fails"
)]

mod bare_postgres;
mod bare_sqlite;
mod cpu;
mod export;
mod ours;
mod stopwatch;
mod talk;

use std::env;
use std::path::Path;
use std::process::Command;

use cpu::Cpu;
use ours::QUERIES;
use serde_json::json;
use talk::Talk;

fn main() {
    // `cargo bench` adds an argument of its own.
    let arguments: Vec<String> = env::args().skip(1).filter(|one| one != "--bench").collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    if let [command, file] = &arguments[..]
        && command == "check"
    {
        return runtime.block_on(ours::check_sqlite(Path::new(file)));
    }
    if let [command, file, megabytes] = &arguments[..]
        && command == "export"
    {
        return export::measure(Path::new(file), megabytes.parse().unwrap());
    }
    let sizes = arguments.iter().filter_map(|one| one.parse().ok());
    let mut sizes: Vec<usize> = sizes.collect();
    if sizes.is_empty() {
        sizes = vec![10_000, 100_000];
    }
    let on_server = |one: &String| one.strip_prefix("postgres=")?.parse().ok();
    let on_server = arguments.iter().find_map(on_server).unwrap_or(usize::MAX);
    for messages in sizes {
        for senders in [1, 500] {
            runtime.block_on(measure(Talk { messages, senders }, on_server));
        }
    }
    runtime.block_on(ours::concurrent());
}

/// Measures a size, on a server only if it has at most `on_server` messages.
async fn measure(talk: Talk, on_server: usize) {
    let folder = tempfile::tempdir().unwrap();
    let questions = talk.questions(QUERIES);
    let Talk { messages, senders } = talk;

    let file = folder.path().join("ours.db");
    let import = ours::import_sqlite(&file, talk).await;
    let recall = ours::recall_sqlite(&file, talk).await;
    let context = ours::context_sqlite(&file, &questions).await;
    let history = ours::history_sqlite(&file).await;
    let check = Command::new(env::current_exe().unwrap())
        .args(["check".as_ref(), file.as_os_str()])
        .output()
        .unwrap();
    let check = String::from_utf8(check.stdout).unwrap();
    let check: f64 = check.trim().parse().expect("the check fails");
    let inserts = bare_sqlite::insert_again(&file, &folder.path().join("again.db"));
    let fts_file = folder.path().join("fts.db");
    let fts = bare_sqlite::index(&fts_file, talk);
    let fts_query = bare_sqlite::search(&fts, &questions);
    let fts_import = fts.spent;
    drop(fts);
    let megabytes = |file| std::fs::metadata(file).unwrap().len() as f64 / 1e6;
    let line = json!({
        "bench": "memory", "database": "sqlite", "messages": messages, "senders": senders,
        "import_s": import.wall, "import_cpu_s": import.cpu,
        "bare_inserts_cpu_s": inserts,
        "bare_index_s": fts_import.wall, "bare_index_cpu_s": fts_import.cpu,
        "recall_ms": recall.known, "unknown_ms": recall.unknown, "bare_query_ms": fts_query,
        "context_ms": context, "history_ms": history, "check_mb": check / 1e6,
        "file_mb": megabytes(&file), "bare_file_mb": megabytes(&fts_file),
    });
    println!("{line}");

    if messages <= on_server
        && let Ok(url) = env::var("KITBAG_TEST_POSTGRES")
    {
        let (recall, history) = ours::postgres(&url, talk).await;
        let bare = bare_postgres::search(&url, talk, &questions).await;
        let line = json!({
            "bench": "memory", "database": "postgres", "messages": messages, "senders": senders,
            "recall_ms": recall.known, "unknown_ms": recall.unknown, "bare_query_ms": bare,
            "history_ms": history,
        });
        println!("{line}");
    }
}

/// Milliseconds of processor time for each of `count` runs.
pub(crate) fn each(cpu: &Cpu, count: usize) -> f64 {
    cpu.seconds() * 1e3 / count as f64
}
