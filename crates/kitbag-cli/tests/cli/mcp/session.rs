//! A client that speaks the protocol by hand, one JSON object a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use crate::run::{Folder, Output};

/// A server, after its client has introduced itself.
pub(super) struct Session {
    child: Option<Child>,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    asked: u64,
}

impl Session {
    pub(super) fn start(folder: &Folder, args: &[&str]) -> Self {
        Self::of_client(folder, "test", args)
    }

    /// The same for a client of this name.
    pub(super) fn of_client(folder: &Folder, client: &str, args: &[&str]) -> Self {
        let mut session = Self::without_beginning(folder, args);
        let client = json!({ "name": client, "version": "1" });
        let introduced = session.ask(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        );
        assert_eq!(introduced["serverInfo"]["name"], "kitbag");
        session
            .write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        session
    }

    /// A server whose client has said nothing yet.
    pub(super) fn without_beginning(folder: &Folder, args: &[&str]) -> Self {
        let args = [&["--store", "sqlite:memory.db", "mcp"], args].concat();
        let mut child = folder.command(&args).spawn().unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take().map(BufReader::new),
            child: Some(child),
            asked: 0,
        }
    }

    /// Calls a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// The result of a request that must have one.
    #[track_caller]
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].take()
    }

    /// The error of a request that must fail.
    #[track_caller]
    pub(super) fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer.get("error").is_some(), "{method}: {answer}");
        answer["error"].take()
    }

    fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let stdout = self.stdout.as_mut().unwrap();
        loop {
            let mut line = String::new();
            assert!(
                stdout.read_line(&mut line).unwrap() > 0,
                "the server has gone"
            );
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// The next message that answers no request.
    pub(super) fn unasked(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request without waiting for its answer.
    pub(super) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.write(&request.to_string());
        self.asked
    }

    pub(super) fn write(&mut self, line: &str) {
        writeln!(self.stdin.as_ref().unwrap(), "{line}").unwrap();
    }

    /// Leaves, and waits for the server to go.
    pub(super) fn end(mut self) -> Output {
        self.leave().unwrap()
    }

    fn leave(&mut self) -> Option<Output> {
        drop((self.stdin.take(), self.stdout.take()));
        let output = self.child.take()?.wait_with_output().unwrap();
        Some(Output {
            code: output.status.code(),
            stdout: String::new(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.leave();
    }
}
