//! The part of a prompt that skills bring: their list, and the texts of those that are active.

use kitbag_core::assembly::{Epoch, Kept};
use kitbag_core::chunk::{ChunkBand, ChunkId, ChunkType, ContextChunk, ContextPriority, Trust};
use kitbag_core::inject::ContextMessage;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::rank::RankedChunk;
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_layout::nearest::within_two;
use kitbag_layout::reserved::neutralise;

use super::active::Message;
use super::catalogue::catalogue;
use super::{Activation, ActiveSkill, Skill, Skills};
use crate::engine::{Contribution, clean};

/// The key of the list of skills among context messages.
const LIST: &str = "kitbag.skills";

/// The list of skills takes at most one eighth of a prompt.
const SHARE: u32 = 8;

/// The active skills of a turn, and what they bring.
#[derive(Default)]
pub(crate) struct SkillPart {
    pub(crate) contribution: Contribution,
    pub(crate) active: Vec<ActiveSkill>,
}

/// Finds the skills that this message or an earlier one of the conversation asks for, and puts them where
/// the provider's cache keeps them: the list before everything that may change, each text right before
/// the message that asked for it.
pub(crate) fn skill_part(
    skills: &Skills,
    message: &str,
    epoch: Option<&Epoch>,
    prompt: Tokens,
    counter: &dyn TokenCounter,
) -> SkillPart {
    let mut part = SkillPart::default();
    part.tell_problems(skills);
    let budget = Tokens(skills.budget.min(prompt.0 / SHARE));
    match catalogue(skills, budget, counter) {
        Some(list) => part.add_list(&list),
        None if skills.skills.is_empty() => {}
        None => {
            let message = format!("{} tokens are too few for the list of skills", budget.0);
            part.tell(Problem::new("skills", ProblemKind::LeftOut, message));
        }
    }
    let message = Message::of(message);
    for skill in &skills.skills {
        let asked = Activation::of(skill, &message);
        let earlier = || is_standing(skill, epoch).then_some(Activation::Earlier);
        if let Some(activation) = asked.or_else(earlier) {
            part.activate(skill, activation);
        }
    }
    if let Some(name) = message.named.filter(|name| skills.get(name).is_none()) {
        part.tell(unknown(name, skills));
    }
    // The text of a removed skill must leave the conversation, although that costs the cached prefix.
    part.contribution.draft.retracted = retracted(skills, epoch);
    part
}

/// Tells whether the latest prompt of a conversation holds the text of a skill.
pub(crate) fn is_standing(skill: &Skill, epoch: Option<&Epoch>) -> bool {
    standing(epoch).any(|kept| kept.source == skill.location)
}

/// The reason why a message asks for a skill, if it does.
#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) fn why(skill: &Skill, message: &str) -> Option<Activation> {
    Activation::of(skill, &Message::of(message))
}

fn kind() -> ChunkType {
    ChunkType::Other("skill".to_owned())
}

fn standing(epoch: Option<&Epoch>) -> impl Iterator<Item = &Kept> {
    let kept = epoch.into_iter().flat_map(|epoch| &epoch.kept);
    kept.filter(|kept| kept.chunk_type == kind())
}

/// Skills whose text is in the conversation and that are now removed or disabled.
fn retracted(skills: &Skills, epoch: Option<&Epoch>) -> Vec<ChunkId> {
    let is_known = |kept: &Kept| {
        let mut locations = skills.skills.iter().map(|skill| &skill.location);
        locations.any(|location| *location == kept.source)
    };
    let gone = standing(epoch).filter(|kept| !is_known(kept));
    gone.map(|kept| kept.id.clone()).collect()
}

fn unknown(name: &str, skills: &Skills) -> Problem {
    let known: Vec<&str> = skills
        .skills
        .iter()
        .map(|skill| skill.text.name.as_str())
        .collect();
    let message = format!("there is no skill `{name}`");
    let problem = Problem::new("skills", ProblemKind::NotFound, message);
    match within_two(name, &known) {
        Some(near) => problem.with_hint(format!("did you mean `{near}`?")),
        None => problem.with_hint("`/skills` lists all"),
    }
}

impl SkillPart {
    fn tell(&mut self, problem: Problem) {
        self.contribution.problems.push(problem);
    }

    /// Reports skills that cannot be used. Mere deviations from the format are left to `kitbag skill check`.
    fn tell_problems(&mut self, skills: &Skills) {
        for problem in skills.problems.iter().filter(|problem| problem.is_error()) {
            let mut told = Problem::failed("skills", problem);
            told.hint.clone_from(&problem.hint);
            self.tell(told);
        }
    }

    fn add_list(&mut self, list: &str) {
        let cleaned = clean(list, "skills");
        self.contribution.redacted.extend(cleaned.redacted);
        let message = ContextMessage::system(LIST, cleaned.text);
        self.contribution.draft.injected.push(message);
    }

    fn activate(&mut self, skill: &Skill, activation: Activation) {
        let name = &skill.text.name;
        tracing::debug!(event = "skill_active", name, because = activation.as_str());
        if !skill.text.body.is_empty() {
            self.contribution.add(text(skill, &activation));
        }
        let is_trusted = skill.origin.is_trusted();
        if !is_trusted && !skill.servers.is_empty() {
            let message = format!(
                "the MCP servers of the skill `{name}` are not started: the project's folder brought it"
            );
            let hint = format!(
                "if you trust it, allow its folder in your own configuration: `skills: {{allow: [{}]}}`",
                skill.folder.display()
            );
            let problem = Problem::new("skills", ProblemKind::Ignored, message);
            self.tell(problem.with_hint(hint));
        }
        self.active.push(ActiveSkill {
            name: name.clone(),
            activation,
            servers: match is_trusted {
                true => skill.servers.clone(),
                // The server is a program: starting it would run whatever the author of the folder wrote.
                false => Vec::new(),
            },
        });
    }
}

/// The text of an active skill, with the reason as a part of its score, which the ledger shows.
fn text(skill: &Skill, activation: &Activation) -> RankedChunk {
    let body = &skill.text.body;
    let (trust, body) = match skill.origin.is_trusted() {
        true => (Trust::User, body.as_str().into()),
        // A project's skill is shown, but must not be able to imitate the operator.
        false => (Trust::Untrusted, neutralise(body)),
    };
    let chunk = ContextChunk::new(kind(), skill.location.as_str(), body)
        .with_priority(ContextPriority::High)
        .with_trust(trust)
        .with_band(ChunkBand::Appended);
    let mut ranked = RankedChunk::from(chunk);
    let reason = format!("skill {}: {activation}", skill.text.name);
    ranked.score = std::mem::take(&mut ranked.score).plus(reason, ASKED_FOR);
    ranked
}

/// The score of being asked for, equal to the weight of a file that a task names.
const ASKED_FOR: i64 = 300;
