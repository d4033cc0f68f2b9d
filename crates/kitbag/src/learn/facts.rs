//! Facts about the sender, found by a model and held against what the sender said.
//!
//! The model sees the user's own sentences alone: no answers, no results of tools, and nothing that a
//! message quotes or hands over. What it finds is believed only with a quotation that stands in one of
//! these sentences and has the words of the value.

mod found;

use std::sync::LazyLock;

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::role::Role;
use kitbag_core::statement::{OwnSentence, Statements};
use kitbag_store::{Closing, Fact, MessageId, NewFact, StoredMessage};
use serde_json::json;

use super::Lessons;
use super::material::{PARTS, parts};
use super::model::Model;
use found::found;

/// The most facts of one part of a conversation.
const MOST: usize = 12;

static STATEMENTS: LazyLock<Statements> = LazyLock::new(Statements::new);

/// Finds facts in a conversation that do not hold on its channel yet; `known` are those that do.
pub(super) async fn find(
    model: &Model<'_>,
    closing: &Closing,
    known: &[Fact],
    lessons: &mut Lessons,
) -> Vec<NewFact> {
    let said = closing.messages.iter();
    let said = said.filter_map(|stored| UserMessage::of(stored, &closing.sender));
    let said: Vec<UserMessage> = said.collect();
    // Who only asks states nothing, and most single questions are just that.
    if said
        .iter()
        .all(|one| one.sentences.iter().all(|sentence| sentence.is_question))
    {
        return Vec::new();
    }
    let mut parts = parts(said, model.part(), |one| &mut one.text, model.counter());
    let older = parts.len().saturating_sub(PARTS);
    if parts.drain(..older).next().is_some() {
        let message = "facts were looked for in the latest part of a long conversation alone";
        let problem = Problem::new("learning", ProblemKind::Shortened, message);
        lessons.problems.push(problem);
    }
    let mut facts: Vec<NewFact> = Vec::new();
    for part in parts {
        let Some(answer) = model.ask("facts", &question(&part), lessons).await else {
            break;
        };
        match found(&answer, &part, known) {
            Ok(found) => {
                lessons.problems.extend(found.problem());
                for fact in found.kept {
                    facts.retain(|earlier| earlier.key != fact.key);
                    facts.push(fact);
                }
            }
            // A script that has no answer for this gives the one that it has for anything.
            Err(error) if model.is_scripted() && !error.is_data() => {
                tracing::debug!(event = "learn", purpose = "facts", %error);
                break;
            }
            Err(error) => {
                let problem = format!("the model's facts cannot be used: {error}");
                lessons.problems.push(Problem::failed("learning", problem));
                break;
            }
        }
    }
    facts
}

/// The words of the user in a message.
struct UserMessage {
    id: MessageId,
    /// The speaker, where it is another than the sender.
    speaker: Option<String>,
    /// The message as it was typed.
    whole: String,
    sentences: Vec<OwnSentence>,
    /// The sentences, as the model sees them.
    text: String,
}

impl UserMessage {
    fn of(stored: &StoredMessage, sender: &str) -> Option<Self> {
        let is_own = stored.message.role == Role::User && stored.message.is_for_user();
        if !is_own || !stored.recallable {
            return None;
        }
        let whole = stored.text().into_owned();
        let sentences = STATEMENTS.own_sentences(&whole);
        let shown = sentences.iter().map(|sentence| match sentence.is_question {
            true => format!("{}?", sentence.text),
            false => format!("{}.", sentence.text),
        });
        let shown: Vec<String> = shown.collect();
        let text = shown.join(" ");
        let speaker = stored.message.name.clone();
        let speaker = speaker.filter(|name| name.to_lowercase() != sender.to_lowercase());
        (!sentences.is_empty()).then_some(Self {
            id: stored.id,
            speaker,
            whole,
            sentences,
            text,
        })
    }

    /// The key of a fact without the name of its speaker, if that is who speaks here.
    fn key_of<'f>(&self, fact: &'f Fact) -> Option<&'f str> {
        match (&fact.speaker, &self.speaker) {
            (None, None) => Some(&fact.key),
            (Some(name), Some(speaker)) if name == speaker => {
                fact.key.strip_prefix(name)?.strip_prefix('/')
            }
            _ => None,
        }
    }
}

fn question(part: &[UserMessage]) -> String {
    let mut question = format!(
        "List lasting facts about the user that the user states in the record below: name, home, work, \
         family, health, habits, what they like and dislike, plans with a date.\n\
         - Only what the user says of themselves and is so now. No requests, questions, single tasks, \
         guesses, what others said, what is over, or what the user denies.\n\
         - At most {MOST}. An empty list is a good answer.\n\
         - `key`: one to three English words in small letters; where one of these fits: name, home, \
         hometown, origin, age, birthday, job, employer, school, studies, partner, diet, timezone.\n\
         - `quote`: the user's words that say it, copied from the message. `value`: words of the quote.\n\
         Answer with JSON alone, like this:\n\
         {{\"facts\": [{{\"key\": \"diet\", \"value\": \"vegan\", \"message\": 3, \"quote\": \"I am \
         vegan\"}}]}}\n\
         The record, one JSON object a line:\n"
    );
    for (index, said) in part.iter().enumerate() {
        let line = json!({ "message": index + 1, "user": said.text });
        question.push_str(&format!("{line}\n"));
    }
    question
}
