//! The memory of a server in a process of its own, over a hundred thousand requests.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use kitbag::store::{Location, Store};

use crate::load::{self, Target};
use crate::ours;

/// The first argument of the process that serves.
pub(crate) const CHILD: &str = "serve";

const REQUESTS: usize = 100_000;
const CONNECTIONS: usize = 16;
const STEPS: usize = 10;

/// Serves until its parent ends it. The arguments are the upstream, and where its memory is.
pub(crate) async fn serve(arguments: &[String]) {
    let store = match arguments.get(1) {
        Some(file) => Some(Store::open(&Location::Sqlite(file.into())).await.unwrap()),
        None => None,
    };
    let address = ours::start(arguments[0].parse().unwrap(), store).await;
    println!("{address}");
    std::io::stdout().flush().unwrap();
    std::future::pending().await
}

pub(crate) async fn measure(upstream: SocketAddr, memory: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([CHILD, &upstream.to_string()]);
    if memory {
        command.arg(folder.path().join("memory.db"));
    }
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut address).unwrap();
    // Conversations come again, as they do when they go on.
    let questions = (0..1_000).map(|number| format!("Where are the bees of {number}?"));
    let target = Target::new(address.trim().parse().unwrap(), REQUESTS / STEPS)
        .with_questions(questions.collect());
    let mut megabytes = Vec::new();
    for _ in 0..STEPS {
        load::run(&target, CONNECTIONS).await;
        megabytes.push(resident(child.id()));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let line = serde_json::json!({
        "bench": "serve-steady", "memory": memory, "requests": REQUESTS, "megabytes": megabytes,
    });
    println!("{line}");
}

/// What a process has in memory.
fn resident(process: u32) -> f64 {
    let status = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status"));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap() / 1e3
}
