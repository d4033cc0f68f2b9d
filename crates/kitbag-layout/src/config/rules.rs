//! Rules: a text that the model gets after a tool has returned a certain result.
//!
//! Nothing is matched here but names and patterns; when a rule holds is for the engine to see.

use kitbag_core::inject::{ContextMessage, ContextMessageTarget};

use super::pattern::{NamePattern, Pattern};
use crate::yaml::Field;

/// Tells the model something after certain results of tools.
///
/// ```
/// use kitbag_layout::Config;
///
/// let text = "rules:\n  - name: unknown\n    after: {tool: recall, output: 'no messages'}\n    inject: Say that nothing is known.\n";
/// let (config, problems) = Config::read("kitbag.yaml", text);
/// assert!(config.rules[0].tool.is_of("recall"));
/// assert_eq!(config.rules[0].message.key, "unknown");
/// assert_eq!(problems, []);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ContextRule {
    /// The tools after which it may hold.
    pub tool: NamePattern,
    /// A pattern that must stand in the result.
    pub output: Option<Pattern>,
    /// The end that the call must have had.
    pub status: CallStatus,
    /// The message, whose key is the rule's name.
    pub message: ContextMessage,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallStatus {
    /// Any.
    #[default]
    Any,
    /// There is a result.
    Success,
    /// The tool failed, or was not called.
    Error,
}

impl ContextRule {
    /// Returns true if it holds after a call. The text is the result, or the reason why there is none.
    #[must_use]
    pub fn holds(&self, tool: &str, result: Result<&str, &str>) -> bool {
        let is_status = match self.status {
            CallStatus::Any => true,
            CallStatus::Success => result.is_ok(),
            CallStatus::Error => result.is_err(),
        };
        let (Ok(text) | Err(text)) = result;
        // A closure, since a pattern over a long result is the expensive part.
        let has_output = || self.output.as_ref().is_none_or(|output| output.is_in(text));
        is_status && self.tool.is_of(tool) && has_output()
    }

    /// Reads a list of rules. Their names must differ, since they count the cooldowns.
    pub(super) fn read_list(field: &Field<'_>) -> Option<Vec<Self>> {
        if !field.is_list() {
            return field.refuse("a list");
        }
        let mut rules: Vec<Self> = Vec::new();
        for item in field.items() {
            let Some(rule) = Self::read(&item) else {
                continue;
            };
            let key = &rule.message.key;
            // The first stays: the second would take over its cooldown.
            if rules.iter().any(|other| other.message.key == *key) {
                let _: Option<()> = item.error(format!("there are two rules `{key}`"));
                continue;
            }
            rules.push(rule);
        }
        Some(rules)
    }

    fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        // A rule with a condition that cannot be read would hold too often, so it is dropped as a whole.
        let before = field.problems.count();
        let targets = [
            ("system", ContextMessageTarget::System),
            ("session", ContextMessageTarget::Session),
            ("conversation", ContextMessageTarget::Conversation),
            ("suffix_system", ContextMessageTarget::SuffixSystem),
        ];
        let name = field.read("name", Field::id);
        let after = field.get("after");
        let inject = field.get("inject");
        let target = field.read("target", |target| target.word(&targets));
        let cooldown = field.read("cooldown", Field::whole_number);
        field.warn_of_misspelt_keys(&[]);
        let (Some(name), Some(after), Some(inject)) = (name, after, inject) else {
            return field.error("a rule needs a `name`, `after` and `inject`");
        };
        let text = inject.text()?;
        if text.trim().is_empty() {
            return inject.error("a rule needs a text to tell");
        }
        let (tool, output, status) = read_after(&after)?;
        let cooldown = u32::try_from(cooldown.unwrap_or_default()).unwrap_or(u32::MAX);
        let message = ContextMessage::new(name, text)
            // At the end, where it costs no provider's cache.
            .with_target(target.unwrap_or(ContextMessageTarget::SuffixSystem))
            .with_cooldown_turns(cooldown);
        match field.problems.error_since(before) {
            Some(_) => None,
            None => Some(Self {
                tool,
                output,
                status,
                message,
            }),
        }
    }
}

fn read_after(field: &Field<'_>) -> Option<(NamePattern, Option<Pattern>, CallStatus)> {
    field.map()?;
    let statuses = [
        ("any", CallStatus::Any),
        ("success", CallStatus::Success),
        ("error", CallStatus::Error),
    ];
    let tool = field.get("tool");
    let output = field.read("output", Pattern::read);
    let status = field.read("status", |status| status.word(&statuses));
    field.warn_of_misspelt_keys(&[]);
    match tool {
        Some(tool) => Some((
            NamePattern::new(tool.id()?),
            output,
            status.unwrap_or_default(),
        )),
        None => field.error_with_hint(
            "`after` needs a `tool`",
            "name a tool, such as recall, or several, such as mcp__github__*; `*` is any tool",
        ),
    }
}
