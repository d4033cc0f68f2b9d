//! Other people's proxies, installed once into the target folder and started before the upstream that they ask.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::bench::report::Report;
use crate::command::{announce_and_run, program};
use crate::python::environment;

const LITELLM: &str = "1.106.2";
const PORTKEY: &str = "1.15.2";
/// LiteLLM needs half a minute on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);
/// LiteLLM refuses to start without a key of its own.
const KEY: &str = "sk-bench";

/// A proxy that runs until this is dropped.
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) address: String,
    /// The headers of its requests, between which `|` stands.
    pub(super) headers: String,
    process: Child,
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Starts those that can be had; the report says why one is not there.
pub(super) fn start(folder: &Path, upstream: u16, report: &mut Report) -> Vec<Peer> {
    let mut peers = Vec::new();
    for (name, peer) in [
        ("litellm", litellm(folder, upstream)),
        ("portkey", portkey(folder, upstream)),
    ] {
        match peer {
            Ok(peer) => peers.push(peer),
            Err(error) => report.say(name, &format!("{error:#}")),
        }
    }
    peers
}

fn litellm(folder: &Path, upstream: u16) -> Result<Peer> {
    let package = format!("litellm[proxy]=={LITELLM}");
    let python = environment(&folder.join("litellm"), &[&package])?;
    let config = folder.join("litellm.yaml");
    let model = format!(
        "model_list:\n- model_name: m\n  litellm_params:\n    model: openai/m\n    api_base: http://127.0.0.1:{upstream}/v1\n    api_key: none\n"
    );
    fs::write(&config, model)?;
    let port = free_port()?;
    let mut command = program(python.with_file_name("litellm"));
    command
        .arg("--config")
        .arg(&config)
        .args(["--host", "127.0.0.1", "--port", &port.to_string()])
        .env("LITELLM_MASTER_KEY", KEY)
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    let headers = format!("authorization: Bearer {KEY}");
    started("litellm", command, port, headers, folder)
}

fn portkey(folder: &Path, upstream: u16) -> Result<Peer> {
    let root = folder.join("portkey");
    let script = root.join("node_modules/@portkey-ai/gateway/build/start-server.js");
    if !script.exists() {
        fs::create_dir_all(&root)?;
        let mut npm = program("npm");
        npm.args([
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
        ]);
        npm.arg(&root);
        announce_and_run("portkey", npm.arg(format!("@portkey-ai/gateway@{PORTKEY}")))?;
    }
    let port = free_port()?;
    let mut command = program("node");
    command.arg(&script);
    command.args([&format!("--port={port}"), "--headless"]);
    let headers = format!(
        "authorization: Bearer none|x-portkey-provider: openai|x-portkey-custom-host: http://127.0.0.1:{upstream}/v1"
    );
    started("portkey", command, port, headers, folder)
}

/// Starts it, and waits until it takes connections.
fn started(
    name: &'static str,
    mut command: Command,
    port: u16,
    headers: String,
    folder: &Path,
) -> Result<Peer> {
    eprintln!("starting {name}");
    let log = File::create(folder.join(name).with_extension("log"))?;
    let process = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()?;
    let address = format!("127.0.0.1:{port}");
    let mut peer = Peer {
        name,
        address,
        headers,
        process,
    };
    let begun = Instant::now();
    while !listens(&peer.address) {
        if let Some(ended) = peer.process.try_wait()? {
            bail!("it ended ({ended}); target/bench/{name}.log says why");
        }
        if begun.elapsed() > PATIENCE {
            bail!("it does not listen");
        }
        thread::sleep(Duration::from_millis(200));
    }
    Ok(peer)
}

/// Tries a connection. On an address where nobody listens, a socket may connect to itself if the system gives it just
/// this port.
fn listens(address: &str) -> bool {
    TcpStream::connect(address).is_ok_and(|stream| {
        let ends = stream.local_addr().ok().zip(stream.peer_addr().ok());
        ends.is_some_and(|(own, peer)| own != peer)
    })
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
