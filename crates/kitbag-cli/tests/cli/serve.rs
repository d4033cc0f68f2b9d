//! `kitbag serve`: proxies that give memory to clients which know nothing of it.

mod access;
mod breakpoints;
mod bytes;
mod claude_code;
mod codex;
mod faults;
mod guard;
mod hostile;
mod learned;
mod llm;
mod load;
mod memory;
mod models;
mod outage;
mod reload;
mod sdks;
mod telemetry;
mod whose;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::run::{Folder, Output};

/// A server of its own, which ends with the test.
pub(crate) struct Server {
    child: Child,
    address: String,
    /// Everything that it has said.
    said: Arc<Said>,
    hears: Option<thread::JoinHandle<()>>,
}

/// The lines on stderr so far.
#[derive(Default)]
struct Said {
    lines: Mutex<String>,
    more: Condvar,
}

/// Nobody waits longer for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

impl Server {
    /// Serves with the memory in the folder.
    pub(crate) fn start(folder: &Folder, args: &[&str]) -> Self {
        Self::start_with(folder, &[], args)
    }

    /// The same with these variables in its environment.
    pub(crate) fn start_with(folder: &Folder, variables: &[(&str, &str)], args: &[&str]) -> Self {
        let has = |option| args.contains(&option);
        let mut given = vec!["serve"];
        if !has("--store") {
            given.extend(["--store", "sqlite:memory.db"]);
        }
        if !has("--bind") {
            given.extend(["--bind", "127.0.0.1:0"]);
        }
        given.extend(args);
        let mut command = folder.command(&given);
        command.envs(variables.iter().copied());
        Self::start_command(command)
    }

    /// One whose files may have no more than so many blocks of 512 bytes, as on a full disk.
    pub(crate) fn start_with_small_files(folder: &Folder, blocks: usize, args: &[&str]) -> Self {
        let own = [
            "serve",
            "--store",
            "sqlite:memory.db",
            "--bind",
            "127.0.0.1:0",
        ];
        let limited = folder.command(&[&own[..], args].concat());
        let mut command = Command::new("sh");
        // Without the signal a write fails as it does on a full disk.
        let limit = "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"";
        command
            .args(["-c", limit, "sh", &blocks.to_string()])
            .arg(limited.get_program())
            .args(limited.get_args())
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, value) in limited.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Self::start_command(command)
    }

    fn start_command(mut command: Command) -> Self {
        command.env("NO_PROXY", "127.0.0.1");
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut begun = String::new();
        while !begun.contains("kitbag serves") {
            assert_ne!(stderr.read_line(&mut begun).unwrap(), 0, "{begun}");
        }
        let (_, address) = begun.split_once("http://").unwrap();
        let (address, _) = address.split_once(',').unwrap();
        let address = address.to_owned();
        let said = Arc::new(Said::default());
        said.lines.lock().unwrap().push_str(&begun);
        let heard = Arc::clone(&said);
        let hears = thread::spawn(move || {
            for line in stderr.lines() {
                let line = line.unwrap();
                heard.lines.lock().unwrap().extend([line.as_str(), "\n"]);
                heard.more.notify_all();
            }
        });
        Self {
            child,
            address,
            said,
            hears: Some(hears),
        }
    }

    /// Waits until it has said something so many times.
    pub(crate) fn wait_until_said(&self, text: &str, times: usize) {
        let lines = self.said.lines.lock().unwrap();
        let is_missing = |lines: &mut String| lines.matches(text).count() < times;
        let waited = self
            .said
            .more
            .wait_timeout_while(lines, PATIENCE, is_missing);
        let (lines, waited) = waited.unwrap();
        assert!(!waited.timed_out(), "it did not say `{text}`: {lines}");
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends the bytes of a request, and returns all that comes back.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let mut bytes = Vec::new();
        let end = stream.read_to_end(&mut bytes);
        Answer::new(bytes, end.is_ok())
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(self.head("GET", path, &[], 0).as_bytes())
    }

    /// Posts JSON.
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let head = self.head("POST", path, headers, body.len());
        self.send(format!("{head}{body}").as_bytes())
    }

    pub(crate) fn head(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        length: usize,
    ) -> String {
        let own = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        let headers = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers: String = headers.collect();
        format!("{own}{headers}content-length: {length}\r\nconnection: close\r\n\r\n")
    }

    /// Asks it to end, and waits for that.
    pub(crate) fn stop(mut self) -> Output {
        self.terminate();
        let code = self.child.wait().unwrap().code();
        Output {
            code,
            stdout: String::new(),
            stderr: self.all_said(),
        }
    }

    fn all_said(&mut self) -> String {
        self.hears.take().unwrap().join().unwrap();
        std::mem::take(&mut *self.said.lines.lock().unwrap())
    }

    /// Ends it at once, wherever it is.
    pub(crate) fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    pub(crate) fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.child.id()).unwrap();
        let id = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// The body, without the lengths of its pieces.
    pub(crate) body: String,
    /// Set where it ended as an answer ends.
    pub(crate) is_whole: bool,
}

impl Answer {
    fn new(bytes: Vec<u8>, ended: bool) -> Self {
        let text = String::from_utf8(bytes).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        let mut answer = Self {
            status,
            head: head.to_ascii_lowercase(),
            body: rest.to_owned(),
            is_whole: ended,
        };
        if answer.head.contains("transfer-encoding: chunked") {
            (answer.body, answer.is_whole) = unchunked(rest);
        } else if let Some(length) = answer.header("content-length") {
            answer.is_whole &= length == rest.len().to_string();
        }
        answer
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(it, _)| *it == name).map(|(_, value)| value)
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// A body whose pieces have their lengths before them, and whether its last piece is there.
fn unchunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((length, behind)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return (body, true);
        }
        let Some(piece) = behind.get(..length) else {
            return (body + behind, false);
        };
        body.push_str(piece);
        rest = behind.get(length + 2..).unwrap_or_default();
    }
    (body, false)
}
