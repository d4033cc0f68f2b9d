//! `kitbag mcp` as a client sees it: a process that answers JSON lines.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::bench::measure::Run;
use crate::command::output_of;

pub(super) struct Server {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    calls: u64,
}

/// Processor time and memory of a process since it began.
#[derive(Deserialize)]
struct Usage {
    /// Seconds of all threads, and of the children that ended.
    cpu: f64,
    /// The most that it ever had.
    megabytes: f64,
}

impl Server {
    /// Starts it on a tree, with an empty cache and an empty memory.
    pub(super) fn start(kitbag: &Path, folder: &Path, tree: &Path) -> Result<Self> {
        let folder = folder.join("warm");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let mut child = Command::new(kitbag)
            .args(["mcp", "--root"])
            .arg(tree)
            .env("KITBAG_CACHE_DIR", folder.join("cache"))
            .env("KITBAG_STORE", folder.join("memory.db"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("could not start `kitbag mcp`")?;
        let requests = child.stdin.take().context("a process without stdin")?;
        let answers = child.stdout.take().context("a process without stdout")?;
        let mut server = Self {
            child,
            requests,
            answers: BufReader::new(answers),
            calls: 0,
        };
        let client = json!({"name": "bench", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        server.ask("initialize", &hello)?;
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    /// Packs, and gives the prompt with what it took.
    pub(super) fn pack(&mut self, task: &str, budget: Option<u32>) -> Result<(Run, String)> {
        let before = self.usage()?;
        let start = Instant::now();
        let arguments = json!({"task": task, "budget": budget});
        let call = json!({"name": "pack", "arguments": arguments});
        let answer = self.ask("tools/call", &call)?;
        let wall = start.elapsed().as_secs_f64();
        let after = self.usage()?;
        let text = answer.pointer("/content/0/text").and_then(Value::as_str);
        let prompt = text.context("a pack without a text")?.to_owned();
        if answer.get("isError") == Some(&Value::Bool(true)) {
            bail!("the pack failed: {prompt}");
        }
        let run = Run {
            wall,
            cpu: after.cpu - before.cpu,
            megabytes: after.megabytes,
        };
        Ok((run, prompt))
    }

    /// Waits until it does nothing any more, and gives the seconds of CPU that it took meanwhile.
    pub(super) fn wait_until_idle(&self) -> Result<f64> {
        let first = self.usage()?.cpu;
        let mut before = first;
        loop {
            sleep(Duration::from_millis(50));
            let now = self.usage()?.cpu;
            // A millisecond of 50 is what its timers may take.
            if now - before < 1e-3 {
                return Ok(now - first);
            }
            before = now;
        }
    }

    /// Ends it as a client does that goes, and gives its peak memory in megabytes.
    pub(super) fn end(mut self) -> Result<f64> {
        let usage = self.usage()?;
        drop(self.requests);
        let status = self.child.wait()?;
        if !status.success() {
            bail!("`kitbag mcp` failed ({status})");
        }
        Ok(usage.megabytes)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.calls += 1;
        let id = self.calls;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line)? == 0 {
                bail!("`kitbag mcp` ended before it answered {method}");
            }
            let mut message: Value =
                serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))?;
            // Other messages are notifications.
            if message.get("id") == Some(&Value::from(id)) {
                let result = message.get_mut("result").map(Value::take);
                return result.with_context(|| format!("{method} failed: {line}"));
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.requests, "{message}").context("`kitbag mcp` reads no more")
    }

    fn usage(&self) -> Result<Usage> {
        let mut python = Command::new("python3");
        python.args(["-c", include_str!("usage.py")]);
        let figures = output_of(python.arg(self.child.id().to_string()))?;
        serde_json::from_str(&figures).with_context(|| format!("unexpected figures: {figures}"))
    }
}
