//! Commands that are ended from outside while MCP servers run for them.

use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::json;

use super::interrupted::command;
use super::served;
use super::upstream::{Reply, Upstream};
use crate::run::Folder;

/// Nobody waits longer for a process to start, or to be gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that ends neither with its input nor when it is asked to, and has started another program.
const STUBBORN: &str =
    "trap '' HUP TERM INT\nsleep 600 &\necho $! >child\necho $$ >server\nsh $1\nwait\n";

struct Running {
    upstream: Upstream,
    folder: Folder,
    child: Child,
}

impl Running {
    /// Starts a command with a server that speaks, or one that never says anything.
    fn start(args: &[&str], script: &str) -> Self {
        let upstream = Upstream::answering(|_| Reply::Silent(String::new()));
        let folder = served(&upstream, "anthropic");
        folder.write("stubborn.sh", STUBBORN);
        folder.write(
            "server.sh",
            include_str!("../../../../kitbag-mcp/tests/server.sh"),
        );
        folder.write("silent.sh", "sleep 600");
        let server = json!({"command": "sh", "args": ["stubborn.sh", script]});
        let servers = json!({"mcpServers": {"stubborn": server}});
        folder.write(".mcp.json", servers.to_string());
        let child = command(&folder, args).spawn().unwrap();
        Self {
            upstream,
            folder,
            child,
        }
    }

    /// The process that the server has named in a file.
    fn process(&self, name: &str) -> String {
        let file = self.folder.path().join(name);
        let begun = Instant::now();
        loop {
            match fs::read_to_string(&file) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => assert!(begun.elapsed() < PATIENCE, "no server has started"),
            }
            std::thread::yield_now();
        }
    }

    /// Sends a signal, and returns the exit code, if it ends with one.
    fn end(mut self, signal: &str) -> Option<i32> {
        let servers = [self.process("server"), self.process("child")];
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
        let ended = self.child.wait().unwrap();
        let begun = Instant::now();
        for server in servers {
            while is_running(&server) {
                assert!(begun.elapsed() < PATIENCE, "{signal}: {server} still runs");
                std::thread::yield_now();
            }
        }
        ended.code()
    }
}

/// A process that has ended may stay in the list until somebody asks how.
fn is_running(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|state| !state.starts_with('Z'))
}

#[test]
fn t08_servers_end_with_a_command_however_that_ends() {
    for (signal, code) in [
        ("-INT", Some(130)),
        ("-HUP", Some(129)),
        ("-TERM", Some(143)),
        ("-KILL", None),
    ] {
        // While the server starts, and while the model answers.
        let starting = Running::start(&["ask", "--mcp", "Where are the bees?"], "silent.sh");
        assert_eq!(starting.end(signal), code, "{signal}");
        let mut chat = Running::start(&["chat", "--mcp"], "server.sh");
        let mut stdin = chat.child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, b"Where are the bees?\n").unwrap();
        while chat.upstream.requests().is_empty() {
            assert_eq!(chat.child.try_wait().unwrap(), None, "it ended by itself");
            std::thread::yield_now();
        }
        // Ctrl-C ends the answer, and the end of its input the chat.
        if signal == "-INT" {
            drop(stdin);
            assert_eq!(chat.end(signal), Some(0));
        } else {
            assert_eq!(chat.end(signal), code, "{signal}");
            drop(stdin);
        }
    }
}
