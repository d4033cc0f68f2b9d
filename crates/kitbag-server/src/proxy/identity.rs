//! The sender and the conversation of a request.
//!
//! Kitbag's own headers count first, then what coding agents tell of themselves, then the fields of
//! the API. A conversation that nobody names is named by its first exchange, and one that goes another way
//! than one that is kept, by the message where it does.

use std::path::Path;

use http::HeaderMap;
use kitbag::core::role::Role;
use kitbag::hook::{CodingAgent, USER, project_sender, remote_project_sender};
use kitbag::layout::HookScope;
use serde_json::Value;

use super::chain::{Chained, Link};
use super::headers::own_text;
use super::said::ReadBody;

/// The sender and the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) channel: String,
    pub(super) sender: String,
    /// The name of the conversation, where something names it.
    pub(super) named: Option<String>,
    /// The beginning of the chain of its messages.
    pub(super) seed: String,
    pub(super) agent: Option<CodingAgent>,
    /// The way in which its provider keeps the conversation; nothing where the client sends it with each request.
    pub(super) kept_by_provider: Option<KeptBy>,
}

/// The name that a provider has for what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptBy {
    /// That of the conversation, the same in each request.
    Conversation,
    /// That of the answer before, which is another one in each request.
    PreviousAnswer,
}

/// The channel of clients that are nobody known.
const CHANNEL: &str = "proxy";

impl Identity {
    /// The identity of a request. `scope` says whether agents' sessions belong to their project, `is_local` whether
    /// its client is on this machine for certain, so that its folders are those of this machine.
    ///
    /// # Errors
    /// Names the header of ours that cannot be read, or what else is missing. The request is somebody's, and nobody
    /// knows whose.
    pub(super) fn of(
        headers: &HeaderMap,
        body: &ReadBody,
        scope: HookScope,
        is_local: bool,
    ) -> Result<Self, &'static str> {
        let text = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
        let given = |name: &str| text(name).filter(|text| !text.trim().is_empty());
        let claude = claude_session(headers, body);
        let codex = given("session-id").or_else(|| given("session_id"));
        // Other clients may use a header of this name for something else.
        let codex = codex.filter(|_| is_codex(headers));
        let agent = agent(headers, body);
        let folder = own_text(headers, "x-kitbag-project")?.or_else(|| match agent? {
            CodingAgent::ClaudeCode => claude_folder(body),
            _ => codex_folder(headers, body),
        });
        let of_folder = folder.map(|folder| match scope {
            HookScope::User => USER.to_owned(),
            _ if is_local && Path::new(&folder).is_absolute() => project_sender(Path::new(&folder)),
            _ => remote_project_sender(&folder),
        });
        // The field holds the session of a coding agent, not a person.
        let of_client = body.user.clone().filter(|_| agent.is_none());
        let own = own_text(headers, "x-kitbag-sender")?;
        let sender = match own.or(of_folder).or(of_client) {
            Some(sender) => sender,
            // All projects of all agents would share one memory.
            None if agent.is_some() && scope != HookScope::User => {
                return Err("folder of the agent");
            }
            None => USER.to_owned(),
        };
        let own = own_text(headers, "x-kitbag-conversation")?;
        let session = own.or(claude).or(codex);
        let named = session.or_else(|| body.conversation.clone());
        let channel = agent.map_or(CHANNEL, CodingAgent::channel);
        // The same words behind another answer are another message.
        let seeds = [
            named.as_ref().or(body.seed.as_ref()),
            body.previous.as_ref(),
        ];
        let seeds: Vec<&str> = seeds.into_iter().flatten().map(String::as_str).collect();
        Ok(Self {
            channel: channel.to_owned(),
            sender,
            seed: seeds.join("\n"),
            named,
            agent,
            kept_by_provider: match (&body.previous, &body.conversation) {
                (Some(_), _) => Some(KeptBy::PreviousAnswer),
                (None, Some(_)) => Some(KeptBy::Conversation),
                (None, None) => None,
            },
        })
    }

    /// The name of the conversation: the one that it was given, or one that is made of its first exchange,
    /// whose end an answer may be. Nothing before there is one.
    pub(super) fn conversation(&self, chain: &[Chained], answer: Option<Link>) -> Option<String> {
        if let Some(named) = &self.named {
            return Some(named.clone());
        }
        let first = chain.iter().find(|one| one.role == Role::Assistant);
        let link = first.map(|one| one.link).or(answer)?;
        Some(name_of(&link))
    }
}

/// The name of a conversation that begins with a link of a chain.
pub(super) fn name_of(link: &Link) -> String {
    let hex: String = link
        .iter()
        // Twelve bytes are enough that two conversations do not meet by chance.
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("exchange-{hex}")
}

/// The coding agent that sends a request.
pub(super) fn agent(headers: &HeaderMap, body: &ReadBody) -> Option<CodingAgent> {
    match claude_session(headers, body) {
        Some(_) => Some(CodingAgent::ClaudeCode),
        None => is_codex(headers).then_some(CodingAgent::Codex),
    }
}

fn claude_session(headers: &HeaderMap, body: &ReadBody) -> Option<String> {
    if let Some(session) = headers.get("x-claude-code-session-id") {
        return session.to_str().ok().map(str::to_owned);
    }
    // Older releases say it in the metadata alone.
    let told: Value = serde_json::from_str(body.user.as_deref()?).ok()?;
    told.get("session_id")?.as_str().map(str::to_owned)
}

/// The folder that Claude Code tells the model in its instructions. What others say of folders is no part
/// of them.
fn claude_folder(body: &ReadBody) -> Option<String> {
    let instructing = body.messages.iter().filter(|it| it.role == Role::System);
    let texts = instructing.flat_map(|message| &message.texts);
    let mut texts = body.system.iter().chain(texts);
    texts.find_map(|text| {
        // Releases differ in the first letter.
        let (_, behind) = text.split_once("orking directory: ")?;
        let folder = behind.lines().next()?.trim();
        is_absolute(folder).then(|| folder.to_owned())
    })
}

/// Returns true for a whole path of whatever system the client runs on.
fn is_absolute(folder: &str) -> bool {
    let mut chars = folder.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('/'), ..) | (Some('\\'), Some('\\'), Some(_)) => true,
        (Some(drive), Some(':'), Some('\\' | '/')) => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

fn is_codex(headers: &HeaderMap) -> bool {
    let origin = headers.get("originator").and_then(|it| it.to_str().ok());
    headers.contains_key("x-codex-turn-metadata")
        || origin.is_some_and(|origin| origin.starts_with("codex"))
}

/// The folder that Codex names: in the metadata of the turn, or to the model, in a message of its own.
fn codex_folder(headers: &HeaderMap, body: &ReadBody) -> Option<String> {
    let told = headers.get("x-codex-turn-metadata");
    let told: Option<Value> = told.and_then(|it| serde_json::from_str(it.to_str().ok()?).ok());
    let named = told.and_then(|told| {
        let cwd = told.get("cwd").and_then(Value::as_str).map(str::to_owned);
        let workspaces = told.get("workspaces").and_then(Value::as_object);
        cwd.or_else(|| workspaces?.keys().next().cloned())
    });
    named.or_else(|| {
        let texts = body.messages.iter().flat_map(|message| &message.texts);
        let mut own = texts.filter(|text| text.trim_start().starts_with("<environment_context>"));
        let (_, behind) = own.next()?.split_once("<cwd>")?;
        Some(behind.split_once("</cwd>")?.0.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use kitbag::wire::Dialect;

    use super::super::chain::chain;
    use super::*;

    fn identity(headers: &[(&'static str, &str)], dialect: Dialect, body: &str) -> Identity {
        let read = ReadBody::read(dialect, body.as_bytes()).unwrap();
        let headers = headers.iter().map(|(name, value)| {
            let name = name.parse::<http::HeaderName>().unwrap();
            (name, value.parse().unwrap())
        });
        Identity::of(&headers.collect(), &read, HookScope::Project, true).unwrap()
    }

    #[test]
    fn x06_codex_tells_its_session_and_its_folder() {
        let body = r#"{"input": [
            {"type": "message", "role": "developer", "content": []},
            {"type": "message", "role": "user", "content": [{"type": "input_text",
                "text": "<environment_context>\n<cwd>/srv/there</cwd>\n</environment_context>"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]}"#;
        let folder = r#"{"workspaces": {"/srv/app": {}}}"#;
        let headers = [("x-codex-turn-metadata", folder), ("session-id", "s-1")];
        let told = identity(&headers, Dialect::Responses, body);
        assert_eq!((&*told.channel, &*told.sender), ("codex", "/srv/app"));
        assert_eq!(told.named.as_deref(), Some("s-1"));
        let told = identity(&[("originator", "codex_exec")], Dialect::Responses, body);
        assert_eq!((&*told.channel, &*told.sender), ("codex", "/srv/there"));
    }

    #[test]
    fn x06_only_instructions_tell_the_folder_of_claude_code() {
        let body = |role: &str| {
            format!(
                r#"{{"metadata": {{"user_id": "{{\"session_id\": \"s-2\"}}"}}, "messages": [
                {{"role": "{role}", "content": " - Primary working directory: /srv/app\nmore"}}]}}"#
            )
        };
        let told = identity(&[], Dialect::Anthropic, &body("system"));
        assert_eq!((&*told.channel, &*told.sender), ("claude-code", "/srv/app"));
        assert_eq!(told.named.as_deref(), Some("s-2"));
        let read = ReadBody::read(Dialect::Anthropic, body("user").as_bytes()).unwrap();
        let nobody = |scope| Identity::of(&HeaderMap::new(), &read, scope, true);
        assert_eq!(nobody(HookScope::Project), Err("folder of the agent"));
        assert_eq!(nobody(HookScope::User).unwrap().sender, USER);
        let own = [("x-kitbag-sender", "ann"), ("x-kitbag-conversation", "c")];
        let told = identity(&own, Dialect::Anthropic, &body("system"));
        assert_eq!((&*told.sender, told.named.as_deref()), ("ann", Some("c")));
    }

    #[test]
    fn x06_a_folder_of_another_machine_is_a_name() {
        let sender = |folder: &str, is_local: bool| {
            let folder = folder.replace('\\', "\\\\");
            let body = format!(
                r#"{{"system": " - Primary working directory: {folder}\n", "messages": []}}"#
            );
            let body = ReadBody::read(Dialect::Anthropic, body.as_bytes()).unwrap();
            let session = [("x-claude-code-session-id", "s")];
            let session = session.map(|(name, value)| {
                let name: http::HeaderName = name.parse().unwrap();
                (name, value.parse().unwrap())
            });
            let headers: HeaderMap = session.into_iter().collect();
            let told = Identity::of(&headers, &body, HookScope::Project, is_local);
            told.map(|told| told.sender)
        };
        for is_local in [true, false] {
            for folder in [r"C:\code\one", "d:/code/two", r"\\server\share"] {
                assert_eq!(sender(folder, is_local), Ok(folder.to_owned()));
            }
            assert!(sender("shop", is_local).is_err());
        }
        // A symbolic link of this machine means nothing on the client's.
        let temporary = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(temporary.path()).unwrap();
        let inside = real.join("src");
        std::fs::create_dir_all(real.join(".git")).unwrap();
        std::fs::create_dir_all(&inside).unwrap();
        let (real, inside) = (real.to_str().unwrap(), inside.to_str().unwrap());
        assert_eq!(sender(inside, true).as_deref(), Ok(real));
        assert_eq!(sender(inside, false).as_deref(), Ok(inside));
    }

    #[test]
    fn x06_a_conversation_that_nobody_names_is_named_by_its_first_exchange() {
        let name = |body: &str| {
            let told = identity(&[], Dialect::OpenAi, body);
            let read = ReadBody::read(Dialect::OpenAi, body.as_bytes()).unwrap();
            told.conversation(&chain(&told.seed, &read.messages), None)
        };
        let hi = r#"{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}"#;
        assert_eq!(
            name(r#"{"messages": [{"role": "user", "content": "Hi"}]}"#),
            None
        );
        let first = name(&format!("{{\"messages\": [{hi}]}}"));
        let more = r#"{"role": "user", "content": "Where?"}"#;
        assert_eq!(name(&format!("{{\"messages\": [{hi}, {more}]}}")), first);
        let other = format!("{{\"prompt_cache_key\": \"k\", \"messages\": [{hi}]}}");
        assert!(first.is_some() && name(&other) != first);
    }
}
