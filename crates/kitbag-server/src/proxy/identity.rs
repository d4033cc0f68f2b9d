//! Whose memory a request extends, and which conversation it belongs to.
//!
//! Kitbag's own headers count first, then what coding agents tell of themselves, then the fields of
//! the API. A conversation that nobody names is named by its first exchange.

use std::path::Path;

use http::HeaderMap;
use kitbag::core::role::Role;
use kitbag::hook::{CodingAgent, USER, project_sender};
use kitbag::layout::HookScope;
use serde_json::Value;

use super::chain::{Chained, Link};
use super::headers::own_text;
use super::said::ReadBody;

/// Who asks, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) channel: String,
    pub(super) sender: String,
    /// The name of the conversation, where something names it.
    pub(super) named: Option<String>,
    /// The beginning of the chain of its messages.
    pub(super) seed: String,
    pub(super) agent: Option<CodingAgent>,
}

/// The channel of clients that are nobody known.
const CHANNEL: &str = "proxy";

impl Identity {
    /// The identity of a request. `scope` says whether agents' sessions belong to their project.
    ///
    /// # Errors
    /// Names the header of ours that cannot be read. The request is somebody's, and nobody knows whose.
    pub(super) fn of(
        headers: &HeaderMap,
        body: &ReadBody,
        scope: HookScope,
    ) -> Result<Self, &'static str> {
        let text = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
        let given = |name: &str| text(name).filter(|text| !text.trim().is_empty());
        let claude = claude_session(headers, body);
        let codex = given("session-id").or_else(|| given("session_id"));
        // Other clients may use a header of this name for something else.
        let codex = codex.filter(|_| is_codex(headers));
        let agent = match (&claude, is_codex(headers)) {
            (Some(_), _) => Some(CodingAgent::ClaudeCode),
            (None, true) => Some(CodingAgent::Codex),
            (None, false) => None,
        };
        let folder = own_text(headers, "x-kitbag-project")?.or_else(|| match agent? {
            CodingAgent::ClaudeCode => claude_folder(body),
            _ => codex_folder(headers, body),
        });
        let of_folder = folder.map(|folder| match scope {
            HookScope::User => USER.to_owned(),
            _ => project_sender(Path::new(&folder)),
        });
        // The field holds the session of a coding agent, not a person.
        let of_client = body.user.clone().filter(|_| agent.is_none());
        let own = own_text(headers, "x-kitbag-sender")?;
        let sender = own.or(of_folder).or(of_client);
        let own = own_text(headers, "x-kitbag-conversation")?;
        let session = own.or(claude).or(codex);
        let named = session.or_else(|| body.conversation.clone());
        let channel = agent.map_or(CHANNEL, CodingAgent::channel);
        Ok(Self {
            channel: channel.to_owned(),
            sender: sender.unwrap_or_else(|| USER.to_owned()),
            seed: named.clone().or(body.seed.clone()).unwrap_or_default(),
            named,
            agent,
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
        let hex: String = link
            .iter()
            // Twelve bytes are enough that two conversations do not meet by chance.
            .take(12)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Some(format!("exchange-{hex}"))
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
        Path::new(folder).is_absolute().then(|| folder.to_owned())
    })
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
        Identity::of(&headers.collect(), &read, HookScope::Project).unwrap()
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
        let told = identity(&[], Dialect::Anthropic, &body("user"));
        assert_eq!(told.sender, USER);
        let own = [("x-kitbag-sender", "ann"), ("x-kitbag-conversation", "c")];
        let told = identity(&own, Dialect::Anthropic, &body("system"));
        assert_eq!((&*told.sender, told.named.as_deref()), ("ann", Some("c")));
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
