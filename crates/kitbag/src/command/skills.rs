//! `/skills`: lists the skills, with the reason of those that are active in the conversation.

use kitbag_core::assembly::Epoch;
use kitbag_core::role::Role;
use kitbag_store::MemoryRequest;

use super::{CommandCall, CommandError, CommandReply};
use crate::skill::{Activation, Skill, is_standing, why};
use crate::words::beginning;

pub(super) async fn skills(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    asked.takes_nothing()?;
    let skills = asked.engine.project().map(|project| &project.skills);
    let Some(skills) = skills.filter(|skills| !skills.skills.is_empty()) else {
        return Ok("there are no skills".to_owned().into());
    };
    let said = said(asked).await?;
    let mut lines: Vec<String> = skills.skills.iter().map(|skill| said.line(skill)).collect();
    let problems = skills.problems.iter();
    // A skill with an error is missing from the list; the warning says why.
    lines.extend(problems.map(|problem| format!("warning: {problem}")));
    Ok(lines.join("\n").into())
}

/// A conversation as far as skills are concerned.
#[derive(Default)]
struct SkillConversation {
    epoch: Option<Epoch>,
    /// The messages of its user, the latest first.
    messages: Vec<String>,
}

async fn said(asked: CommandCall<'_>) -> Result<SkillConversation, CommandError> {
    let Some(store) = &asked.engine.store else {
        return Ok(SkillConversation::default());
    };
    let now = (asked.engine.clock)();
    let request = MemoryRequest::new(asked.incoming.clone(), now);
    let read = store.read_conversation(&request).await?;
    let users = read.messages.iter().rev();
    let users = users.filter(|stored| stored.message.role == Role::User);
    Ok(SkillConversation {
        epoch: read.state.epoch,
        messages: users.map(|stored| stored.text().into_owned()).collect(),
    })
}

impl SkillConversation {
    /// A skill, with the reason where it is active.
    fn line(&self, skill: &Skill) -> String {
        let text = &skill.text;
        let mut line = format!("{} ({})", text.name, skill.origin.as_str());
        if is_standing(skill, self.epoch.as_ref()) {
            let mut messages = self.messages.iter();
            let reason = messages.find_map(|message| why(skill, message));
            // The message that asked for it may be too old to have been read.
            let reason = reason.unwrap_or(Activation::Earlier);
            line.push_str(&format!(", active: {reason}"));
        }
        format!("{line}: {}", beginning(&text.description, 200))
    }
}
