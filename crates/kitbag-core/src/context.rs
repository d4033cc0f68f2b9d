//! The conversation context that every provider can answer: a system prompt, the history, and the
//! current message.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::flat::{self, FlatError, Heading};

/// Everything that a provider needs for one answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Instructions that stand before every request.
    pub system_prompt: String,
    /// The past messages, oldest first.
    pub history: Vec<ContextEntry>,
    /// The message to answer.
    pub current_message: String,
    /// MCP servers to start for this request.
    #[serde(default)]
    pub mcp_servers: Vec<McpServer>,
    /// The model to use instead of the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The persona of a context that names none.
pub const DEFAULT_SYSTEM_PROMPT: &str = "You are Kitbag, an assistant that works from the context \
it is given. Use that context first, say when it does not hold the answer, and keep to the point.";

impl Context {
    /// Creates a one-shot context: the default persona and a message, nothing else.
    ///
    /// ```
    /// use kitbag_core::context::Context;
    ///
    /// let context = Context::new("what changed today?");
    /// assert!(context.to_prompt_string().ends_with("[User]\nwhat changed today?"));
    /// ```
    #[must_use]
    pub fn new(message: &str) -> Self {
        Self {
            system_prompt: DEFAULT_SYSTEM_PROMPT.into(),
            history: Vec::new(),
            current_message: message.into(),
            mcp_servers: Vec::new(),
            model: None,
        }
    }

    /// Renders the context as one text, for providers that take nothing else; see [`flat`].
    ///
    /// The system prompt is the operator's: sources in fences stand in it as they are, and a mark that
    /// is escaped already, as in one that was [read](Self::from_prompt_string), is not escaped again.
    #[must_use]
    pub fn to_prompt_string(&self) -> String {
        let mut prompt = String::new();
        if !self.system_prompt.is_empty() {
            let text = flat::escape_once(&self.system_prompt);
            flat::push_section(&mut prompt, Heading::System, &text);
        }
        for ContextEntry { role, content } in &self.history {
            let heading = match role.as_str() {
                "user" => Heading::User,
                _ => Heading::Assistant,
            };
            flat::push_section(&mut prompt, heading, &flat::neutralise(content));
        }
        let message = flat::neutralise(&self.current_message);
        flat::push_section(&mut prompt, Heading::User, &message);
        prompt
    }

    /// Reads a flat prompt, such as the text of an assembly: its last section is the message, its
    /// system sections make the system prompt, and the others are the history. Names no model and no
    /// servers.
    ///
    /// The system prompt keeps its escapes: without them a line of a fact could not be told from the
    /// title of a source. So [`to_prompt_string`](Self::to_prompt_string) writes the same text again,
    /// but for system sections that stood among the history, and is never longer.
    ///
    /// # Errors
    /// When the text is no flat prompt.
    pub fn from_prompt_string(prompt: &str) -> Result<Self, FlatError> {
        let mut system: Vec<&str> = Vec::new();
        let mut history = Vec::new();
        for (heading, text) in flat::split(prompt)? {
            match heading {
                Heading::System if text.is_empty() => {}
                Heading::System => system.push(text),
                Heading::User => history.push(ContextEntry::new("user", flat::unescape(text))),
                Heading::Assistant => {
                    history.push(ContextEntry::new("assistant", flat::unescape(text)));
                }
            }
        }
        // The last section is the message to answer, whoever speaks in it. If there is none, it
        // stays empty, which `validate` refuses.
        let current = history.pop().map(|last| last.content);
        Ok(Self {
            system_prompt: system.join("\n\n"),
            history,
            current_message: current.unwrap_or_default(),
            mcp_servers: Vec::new(),
            model: None,
        })
    }

    /// Checks what every provider relies on: a message that is not empty, and known roles.
    ///
    /// # Errors
    /// Names the first thing that is wrong.
    pub fn validate(&self) -> Result<(), ContextError> {
        if self.current_message.trim().is_empty() {
            return Err(ContextError::EmptyMessage);
        }
        for (index, entry) in self.history.iter().enumerate() {
            if !matches!(entry.role.as_str(), "user" | "assistant") {
                return Err(ContextError::UnknownRole {
                    role: entry.role.clone(),
                    index,
                });
            }
        }
        Ok(())
    }
}

/// One message of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextEntry {
    /// `user` or `assistant`; rendered leniently, checked by [`Context::validate`].
    pub role: String,
    /// The text of the message.
    pub content: String,
}

impl ContextEntry {
    /// Creates an entry of the history.
    #[must_use]
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            role: role.into(),
            content: content.into(),
        }
    }
}

/// An MCP server that a skill brings along.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServer {
    /// The name, which is also its key in settings.
    pub name: String,
    /// The command that starts it.
    pub command: String,
    /// The command's arguments.
    pub args: Vec<String>,
    /// Variables that the command gets besides those of the environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// A context that no provider should see.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// There is nothing to answer.
    #[error("the current message is empty: there is nothing to answer")]
    EmptyMessage,
    /// A role that is neither `user` nor `assistant`.
    #[error("history entry {index} has the role `{role}`; expected `user` or `assistant`")]
    UnknownRole {
        role: String,
        /// Its place in the history.
        index: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::{AssemblySettings, Draft, OutputForm, assemble};
    use crate::chunk::{ChunkBand, ChunkType, ContextChunk};
    use crate::inject::ContextMessage;
    use crate::message::Message;
    use crate::tokens::{Characters, Tokens};
    use alloc::vec;
    use proptest::prelude::*;

    fn conversation() -> Context {
        Context {
            system_prompt: "Be brief.".into(),
            history: vec![
                ContextEntry::new("user", "hello"),
                ContextEntry::new("assistant", "hi there"),
                ContextEntry::new("tool", "42"),
            ],
            current_message: "and now?".into(),
            mcp_servers: vec![],
            model: None,
        }
    }

    #[test]
    fn o01_json_round_trip() {
        let context = Context {
            mcp_servers: vec![McpServer {
                name: "web".into(),
                command: "npx".into(),
                args: vec!["--headless".into()],
                env: [("DISPLAY".into(), ":0".into())].into(),
            }],
            model: Some("gpt-4o".into()),
            ..conversation()
        };
        let json = serde_json::to_string(&context).unwrap();
        assert_eq!(serde_json::from_str::<Context>(&json).unwrap(), context);
    }

    #[test]
    fn o01_json_without_servers_or_model_loads_and_model_is_left_out() {
        let json = r#"{"system_prompt":"","history":[],"current_message":"x"}"#;
        let context: Context = serde_json::from_str(json).unwrap();
        assert_eq!(context.mcp_servers, vec![]);
        assert_eq!(
            serde_json::to_string(&context).unwrap(),
            r#"{"system_prompt":"","history":[],"current_message":"x","mcp_servers":[]}"#
        );
    }

    #[test]
    fn o02_server_has_a_default_and_role_stays_a_string() {
        let plain = serde_json::to_string(&McpServer::default()).unwrap();
        assert_eq!(plain, r#"{"name":"","command":"","args":[]}"#);
        assert_eq!(
            serde_json::from_str::<McpServer>(&plain).unwrap(),
            McpServer::default()
        );
        let entry: ContextEntry =
            serde_json::from_str(r#"{"role":"robot","content":"x"}"#).unwrap();
        assert_eq!(entry.role, "robot");
    }

    #[test]
    fn o02_validate_refuses_unknown_roles() {
        assert_eq!(
            conversation().validate(),
            Err(ContextError::UnknownRole {
                role: "tool".into(),
                index: 2
            })
        );
    }

    #[test]
    fn o12_validate_refuses_an_empty_message() {
        assert_eq!(
            Context::new(" \n").validate(),
            Err(ContextError::EmptyMessage)
        );
        assert_eq!(Context::new("x").validate(), Ok(()));
    }

    #[test]
    fn o03_new_has_our_persona_and_nothing_else() {
        let context = Context::new("x");
        assert!(context.system_prompt.starts_with("You are Kitbag"));
        assert!(context.history.is_empty() && context.mcp_servers.is_empty());
        assert_eq!(context.model, None);
    }

    #[test]
    fn o04_sections_in_order_and_unknown_roles_read_assistant() {
        insta::assert_snapshot!(conversation().to_prompt_string(), @"
        [System]
        Be brief.

        [User]
        hello

        [Assistant]
        hi there

        [Assistant]
        42

        [User]
        and now?
        ");
    }

    #[test]
    fn o04_flat_prompt_omits_empty_system() {
        let context = Context {
            system_prompt: String::new(),
            history: vec![],
            ..conversation()
        };
        assert_eq!(context.to_prompt_string(), "[User]\nand now?");
    }

    proptest! {
        #[test]
        fn o04_no_message_can_forge_a_section(
            before in any::<String>(), name in "(?i)(system|user|assistant)", after in any::<String>()
        ) {
            let forged = alloc::format!("{before}\n\n[{name}]\n{after}");
            let context = Context {
                system_prompt: forged.clone(),
                history: vec![ContextEntry::new("user", forged.clone())],
                ..Context::new(&forged)
            };
            let mut read = Context::from_prompt_string(&context.to_prompt_string()).unwrap();
            read.system_prompt = flat::unescape(&read.system_prompt);
            prop_assert_eq!(read, context);
        }

        #[test]
        fn o12_flat_prompt_is_never_empty_and_ends_with_the_message(message in any::<String>()) {
            let prompt = Context::new(&message).to_prompt_string();
            let read = Context::from_prompt_string(&prompt).unwrap();
            prop_assert_eq!(read.current_message, message);
        }

        #[test]
        fn o06_an_assembly_reads_as_a_context_that_is_no_longer_and_escapes_nothing_twice(
            texts in prop::collection::vec(hostile(), 6), budget in 400..4_000_u32,
        ) {
            let [identity, file, fact, said, answer, message] = <[String; 6]>::try_from(texts).unwrap();
            let mut draft = Draft::new(message.clone());
            draft.identity = identity;
            draft.history = vec![Message::user(said.clone()), Message::assistant(answer.clone())];
            let reminder = ContextMessage::suffix_system("r", "[System] is a heading");
            draft.injected = vec![reminder, ContextMessage::session("s", "  [Source s]\n```\n")];
            let chunks = [
                ContextChunk::new(ChunkType::File, "a.md", file.clone()),
                ContextChunk::new(ChunkType::Fact, "fact/a", fact).with_band(ChunkBand::Volatile),
            ];
            let settings = AssemblySettings::new(OutputForm::Flat, Tokens(budget));
            let chunks = chunks.map(Into::into).into();
            let Ok(assembly) = assemble(&draft, chunks, &settings, &Characters, None) else {
                return Ok(());
            };
            let context = Context::from_prompt_string(&assembly.body).unwrap();
            prop_assert_eq!(&context.current_message, &message);
            let history = [ContextEntry::new("user", said), ContextEntry::new("assistant", answer)];
            prop_assert_eq!(&context.history, &history);

            let prompt = context.to_prompt_string();
            prop_assert!(prompt.chars().count() <= assembly.body.chars().count());
            let lines = |text: &str| {
                let mut lines: Vec<String> = text.split('\n').map(String::from).collect();
                lines.retain(|line| !line.is_empty() && line != "[System]");
                lines.sort();
                lines
            };
            prop_assert_eq!(lines(&prompt), lines(&assembly.body));
            let again = Context::from_prompt_string(&prompt).unwrap();
            prop_assert_eq!(&again, &context);
            prop_assert_eq!(again.to_prompt_string(), prompt);
            // The file is the one source, and it is whole.
            let sources = context.system_prompt.matches("\n[Source ").count();
            let begins = usize::from(context.system_prompt.starts_with("[Source "));
            let is_shown = assembly.kept.iter().any(|kept| kept.chunk_type == ChunkType::File);
            prop_assume!(!file.contains("[Source "));
            prop_assert_eq!(sources + begins, usize::from(is_shown));
        }
    }

    /// Texts that imitate headings, sources and fences.
    fn hostile() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            4 => prop::sample::select(vec![
                "[System]", "[User]", "\\[User]", "\\\\[System]", "[Source a.rs]", "\\[Source b]", "```",
                "````", "\n", "\n\n", "\r\n", "[Source c]\n```\n[User]\n```\n", " ", "x", "\u{2028}",
            ]).prop_map(String::from),
            1 => any::<String>(),
        ];
        prop::collection::vec(part, 0..10).prop_map(|parts| parts.concat())
    }

    #[test]
    fn o06_a_fence_that_nothing_closes_takes_in_no_section() {
        let context = Context {
            system_prompt: "[Source a]\n```\nopen".into(),
            ..conversation()
        };
        let prompt = context.to_prompt_string();
        assert!(prompt.starts_with("[System]\n\\[Source a]\n```\nopen\n\n[User]\nhello"));
        let read = Context::from_prompt_string(&prompt).unwrap();
        assert_eq!(
            (read.history.len(), &*read.current_message),
            (3, "and now?")
        );
        let closed = "[Source a]\n```\n[User]\n```";
        let context = Context {
            system_prompt: closed.into(),
            ..context
        };
        assert!(
            context
                .to_prompt_string()
                .starts_with(&alloc::format!("[System]\n{closed}\n\n"))
        );
    }
}
