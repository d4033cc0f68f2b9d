//! The program of Claude Code as a provider: it reads a flat prompt on stdin and answers in lines.
//!
//! The program gets nothing but the prompt. A few words on reading a flat prompt replace its own system
//! prompt: the `[System]` section is in the text already, where a dry run shows it and replay finds it.
//! Settings, memory files and MCP servers of its user are left out, and names such as `@file` in the
//! text are not followed: a recalled message must not bring a file along. The program has its own login
//! and retries requests by itself.

mod child;
mod lines;

use std::collections::VecDeque;
use std::env;
use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use futures_util::stream;
use indexmap::IndexMap;
use kitbag_core::content::RawJson;
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::process::Command;
use tokio::time::timeout;

use super::key::scrubbed;
use super::{
    Key, Provider, ProviderError, ProviderFuture, ReplyEvent, ReplyStream, Secret, Stage, Timeouts,
};
use crate::wire::{Dialect, Request};
use child::Child;
use lines::LineDecoder;

/// Replaces the program's own system prompt, which is made for editing code in a terminal.
const SYSTEM_PROMPT: &str = "Everything you need is in one message of sections, each under a line \
that reads [System], [User] or [Assistant]. The [System] sections are your instructions. The others \
are the conversation, oldest first. Answer the last [User] section, without a heading.";

/// The default program.
const PROGRAM: &str = "claude";

/// The settings of Claude Code.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClaudeCodeSettings {
    /// Its name in errors and logs.
    pub name: String,
    /// The program and its first arguments; `claude` where it is empty.
    pub command: Vec<String>,
    /// The model of requests that name none; without it, the program's own.
    pub model: Option<String>,
    /// The tools of its own that it may use. It has no others.
    pub tools: Vec<String>,
    /// MCP servers, as `mcpServers` of a `.mcp.json` has them. All of their tools may be used.
    pub mcp_servers: IndexMap<String, RawJson>,
    /// The address of the API, where it is another than the program's own.
    pub base_url: Option<String>,
    /// The key of the API, where the program is to use that and not its login.
    pub key: Option<Key>,
    /// Values that are masked wherever the program prints them.
    pub hidden: Vec<Secret>,
    /// The times after which it is given up. There is no connection to wait for.
    pub timeouts: Timeouts,
}

impl ClaudeCodeSettings {
    /// The program `claude` with its own login, without tools.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            command: Vec::new(),
            model: None,
            tools: Vec::new(),
            mcp_servers: IndexMap::new(),
            base_url: None,
            key: None,
            hidden: Vec::new(),
            timeouts: Timeouts::default(),
        }
    }
}

/// Claude Code's program as a provider.
///
/// ```
/// use kitbag::provider::{ClaudeCode, ClaudeCodeSettings, Provider};
///
/// let mut settings = ClaudeCodeSettings::new("claude-code");
/// settings.command = vec!["/nowhere/claude".into()];
/// let error = ClaudeCode::new(settings).check().unwrap_err();
/// assert!(error.to_string().contains("/nowhere/claude"));
/// ```
#[derive(Debug)]
pub struct ClaudeCode {
    settings: ClaudeCodeSettings,
    /// The key, once it was read.
    key: OnceLock<Option<Secret>>,
}

impl ClaudeCode {
    /// A provider. Runs nothing, and reads no key before it is needed.
    #[must_use]
    pub fn new(settings: ClaudeCodeSettings) -> Self {
        let key = OnceLock::new();
        Self { settings, key }
    }

    fn program(&self) -> &str {
        self.settings
            .command
            .first()
            .map_or(PROGRAM, String::as_str)
    }

    fn key(&self) -> Result<Option<&Secret>, ProviderError> {
        if self.key.get().is_none() {
            let key = self.settings.key.as_ref();
            let key = key.map(|key| key.read(&self.settings.name)).transpose()?;
            // An error means that another thread has read the same key meanwhile.
            let _ = self.key.set(key);
        }
        Ok(self.key.get().and_then(Option::as_ref))
    }

    /// The program with its arguments, and the file that they name.
    fn command(
        &self,
        request: &Request,
    ) -> Result<(Command, Option<NamedTempFile>), ProviderError> {
        let settings = &self.settings;
        let mut command = Command::new(self.program());
        command.args(settings.command.iter().skip(1));
        command
            .args(["-p", "--output-format", "stream-json", "--verbose"])
            .args(["--include-partial-messages", "--no-session-persistence"])
            // No settings, and no servers but ours, so that the program sees nothing but the prompt.
            .args(["--strict-mcp-config", "--setting-sources="])
            .args(["--system-prompt", SYSTEM_PROMPT])
            .arg(format!("--tools={}", settings.tools.join(",")));
        if let Some(model) = request.model() {
            command.args(["--model", &model]);
        }
        let mut servers = settings.mcp_servers.clone();
        for server in request.mcp_servers() {
            let mut entry = json!({ "command": server.command, "args": server.args });
            if let (false, Some(entry)) = (server.env.is_empty(), entry.as_object_mut()) {
                entry.insert("env".to_owned(), json!(server.env));
            }
            let entry = RawJson::from_value(&entry).map_err(|error| self.wrong(error))?;
            // The configuration of the user wins over a server of the same name in the request.
            servers.entry(server.name).or_insert(entry);
        }
        let tools = settings.tools.iter().cloned();
        let allowed: Vec<String> = tools
            .chain(servers.keys().map(|name| pattern(name)))
            .collect();
        if !allowed.is_empty() {
            command.arg(format!("--allowedTools={}", allowed.join(",")));
        }
        // In a file, because every user of the machine can read the arguments of a program.
        let file = match servers.is_empty() {
            true => None,
            false => Some(written(&servers).map_err(|error| self.wrong(error))?),
        };
        if let Some(file) = &file {
            command.arg("--mcp-config").arg(file.path());
        }
        command
            // `@file` in a recalled message must not read a file.
            .env("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1")
            .env("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            // Claude Code sets this variable for Kitbag when it runs it, and might refuse to run inside itself.
            .env_remove("CLAUDECODE");
        if let Some(address) = &settings.base_url {
            command.env("ANTHROPIC_BASE_URL", address);
        }
        if let Some(key) = self.key()? {
            command.env("ANTHROPIC_API_KEY", key.expose());
        }
        Ok((command, file))
    }

    fn wrong(&self, error: impl ToString) -> ProviderError {
        ProviderError::Setting {
            provider: self.settings.name.clone(),
            problem: error.to_string(),
        }
    }

    /// Runs the program, and waits for the first piece of its answer.
    async fn ask(&self, request: &Request) -> Result<ReplyStream, ProviderError> {
        let (command, file) = self.command(request)?;
        let mut secrets = self.settings.hidden.clone();
        // The program may print its key, in an error of the API for example.
        secrets.extend(self.key()?.cloned());
        let program = self.program().to_owned();
        let child = Child::start(command, request.body().into_bytes());
        let child = child.map_err(|error| no_program(&program, &error))?;
        let timeouts = self.settings.timeouts;
        let mut answer = Answer {
            child,
            decoder: LineDecoder::new(&program),
            events: VecDeque::new(),
            is_over: false,
            timeouts,
            program,
            secrets,
            _servers: file,
        };
        let first = async {
            while answer.events.is_empty() {
                answer.read().await;
            }
        };
        // The time includes the start of the program.
        if timeout(timeouts.first_byte, first).await.is_err() {
            return Err(answer.late(Stage::FirstByte));
        }
        // An answer that begins with an error has no content, so the whole request fails.
        if let Some(Err(error)) = answer.events.front() {
            return Err(error.clone());
        }
        Ok(Box::pin(stream::unfold(answer, async |mut answer| {
            let next = answer.next().await?;
            Some((next, answer))
        })))
    }
}

impl Provider for ClaudeCode {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn dialect(&self) -> Dialect {
        Dialect::Flat
    }

    fn model(&self) -> Option<&str> {
        self.settings.model.as_deref()
    }

    fn check(&self) -> Result<(), ProviderError> {
        self.key()?;
        match program_exists(self.program()) {
            true => Ok(()),
            false => Err(no_program(self.program(), &"it was not found")),
        }
    }

    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a> {
        Box::pin(self.ask(request))
    }
}

/// An answer that is being read. Dropping it kills the program and all that it started.
struct Answer {
    child: Child,
    decoder: LineDecoder,
    events: VecDeque<Result<ReplyEvent, ProviderError>>,
    is_over: bool,
    timeouts: Timeouts,
    program: String,
    secrets: Vec<Secret>,
    /// The file of servers, which is deleted when the answer is dropped.
    _servers: Option<NamedTempFile>,
}

impl Answer {
    async fn next(&mut self) -> Option<Result<ReplyEvent, ProviderError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                self.is_over |= matches!(event, Err(_) | Ok(ReplyEvent::Done));
                return Some(event);
            }
            if self.is_over {
                self.child.end().await;
                return None;
            }
            if timeout(self.timeouts.idle, self.read()).await.is_err() {
                self.is_over = true;
                return Some(Err(self.late(Stage::Idle)));
            }
        }
    }

    /// Reads the next line.
    async fn read(&mut self) {
        match self.child.line().await {
            Ok(Some(line)) => {
                let line = scrubbed(&self.secrets, line);
                self.events.extend(self.decoder.read(&line));
            }
            Ok(None) => {
                let told = scrubbed(&self.secrets, self.child.end().await);
                // An answer that was complete has ended the loop before: the end of the output here means a failure.
                self.events.push_back(Err(self.decoder.ended(&told)));
            }
            Err(problem) => {
                let problem = problem.to_string();
                self.events
                    .push_back(Err(ProviderError::Malformed { problem }));
            }
        }
    }

    fn late(&self, stage: Stage) -> ProviderError {
        ProviderError::Timeout {
            address: self.program.clone(),
            stage,
            after: match stage {
                Stage::Idle => self.timeouts.idle,
                Stage::Connect | Stage::FirstByte => self.timeouts.first_byte,
            },
        }
    }
}

/// The name that Claude Code gives to all tools of a server together.
fn pattern(server: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || c == '-' {
        true => c,
        false => '_',
    };
    format!("mcp__{}", server.chars().map(plain).collect::<String>())
}

fn written(servers: &IndexMap<String, RawJson>) -> std::io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix("kitbag-mcp-")
        .suffix(".json")
        .tempfile()?;
    let json = json!({ "mcpServers": servers });
    file.write_all(json.to_string().as_bytes())?;
    Ok(file)
}

fn no_program(program: &str, problem: &dyn ToString) -> ProviderError {
    ProviderError::NoProgram {
        program: program.to_owned(),
        problem: problem.to_string(),
    }
}

/// Tells whether a program of this name exists. It is checked before a turn, so that nothing is stored
/// for a program that is missing.
fn program_exists(program: &str) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        // A path is not searched for in `PATH`, as in a shell.
        return path.is_file();
    }
    // Searched here: starting the program only to see that it exists would take much longer.
    let folders = env::var_os("PATH").unwrap_or_default();
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&folders).any(|folder| folder.join(&name).is_file())
}
