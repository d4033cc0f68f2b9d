//! A rule held against a turn, and the reason why it holds.

use kitbag_core::content::ContentBlock;
use kitbag_layout::config::RouteRule;

use crate::engine::{Engine, TurnRequest};
use crate::skill::Words;
use crate::words::grouped;

/// All that rules look at in a turn.
pub(super) struct RoutedMessage<'t> {
    text: String,
    words: Words,
    has_attachments: bool,
    agent: Option<&'t str>,
    channel: Option<&'t str>,
    offers_tools: bool,
}

impl<'t> RoutedMessage<'t> {
    pub(super) fn of(engine: &'t Engine, turn: &'t TurnRequest) -> Self {
        let content = &turn.prompt.current.content;
        let is_file = |block: &ContentBlock| {
            matches!(block, ContentBlock::Image(_) | ContentBlock::Document(_))
        };
        let text = content.text().into_owned();
        let agent = turn.agent.as_ref().and_then(|agent| agent.agent.as_deref());
        let channel = turn.memory.as_ref();
        Self {
            words: Words::of(&text),
            has_attachments: turn.attachments > 0 || content.to_blocks().iter().any(is_file),
            agent: agent.or(engine.agent.as_deref()),
            channel: channel.map(|memory| memory.incoming.channel.as_str()),
            offers_tools: !engine.toolbox.tools.is_empty(),
            text,
        }
    }

    /// The reason why a rule holds, if it does.
    pub(super) fn reason(&self, rule: &RouteRule) -> Option<String> {
        let mut reasons = Vec::new();
        if !rule.words.is_empty() {
            let mut words = rule.words.iter();
            let word = words.find(|word| self.words.have(&Words::of(word)))?;
            reasons.push(format!("the message has `{word}`"));
        }
        if let Some(pattern) = &rule.pattern {
            let pattern = Some(pattern).filter(|pattern| pattern.is_in(&self.text))?;
            reasons.push(format!("the message has `{}`", pattern.as_str()));
        }
        let length = self.text.chars().count() as u64;
        if let Some(least) = rule.longer_than {
            Some(()).filter(|()| length > least)?;
            reasons.push(format!("it has more than {} characters", grouped(least)));
        }
        if let Some(most) = rule.shorter_than {
            Some(()).filter(|()| length < most)?;
            reasons.push(format!("it has fewer than {} characters", grouped(most)));
        }
        let told = |is: bool, yes: &str, no: &str| if is { yes } else { no }.to_owned();
        if let Some(wanted) = rule.attachments {
            Some(()).filter(|()| wanted == self.has_attachments)?;
            reasons.push(told(wanted, "something is attached", "nothing is attached"));
        }
        if let Some(wanted) = rule.tools {
            Some(()).filter(|()| wanted == self.offers_tools)?;
            reasons.push(told(wanted, "tools are on offer", "no tools are on offer"));
        }
        for (what, names, name) in [
            ("agent", &rule.agents, self.agent),
            ("channel", &rule.channels, self.channel),
        ] {
            if !names.is_empty() {
                let name = name.filter(|name| names.iter().any(|one| one == name))?;
                reasons.push(format!("the {what} is {name}"));
            }
        }
        Some(match reasons.is_empty() {
            true => "it holds for every message".to_owned(),
            false => reasons.join(", "),
        })
    }
}
