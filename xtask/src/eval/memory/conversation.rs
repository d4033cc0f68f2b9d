//! The data: conversations of several sittings, and questions with the turns that hold the answers.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Conversation {
    pub(super) name: String,
    /// The time at which the questions are asked.
    pub(super) now: Option<String>,
    pub(super) turns: Vec<Turn>,
    pub(super) questions: Vec<Question>,
}

/// One message.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Turn {
    pub(super) id: String,
    /// The sitting that it belongs to.
    pub(super) session: Label,
    pub(super) at: Option<String>,
    pub(super) role: Option<String>,
    pub(super) speaker: String,
    pub(super) text: String,
    /// Description of a picture that was sent along.
    pub(super) caption: Option<String>,
    /// Tokens of the turn in a prompt, its speaker and date included.
    pub(super) tokens: u64,
}

impl Turn {
    /// The text as it is imported, with the picture's description behind it.
    pub(super) fn shown_text(&self) -> Cow<'_, str> {
        match self.caption.as_deref() {
            Some(caption) if !caption.is_empty() => {
                format!("{} (shares {caption})", self.text).into()
            }
            _ => self.text.as_str().into(),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) question: String,
    pub(super) category: Label,
    /// The turns that hold the answer.
    pub(super) evidence: Vec<String>,
}

/// A number or a word.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
// Some data sets number their sittings and categories, others name them.
#[serde(untagged)]
pub(super) enum Label {
    Number(i64),
    Word(String),
}

impl Default for Label {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

pub(super) fn read(file: &Path) -> Result<Vec<Conversation>> {
    #[derive(Deserialize)]
    struct ConversationFile {
        conversations: Vec<Conversation>,
    }
    let shown = file.display();
    let json = fs::read_to_string(file).with_context(|| format!("could not read {shown}"))?;
    let data: ConversationFile =
        serde_json::from_str(&json).with_context(|| format!("unexpected data in {shown}"))?;
    Ok(data.conversations)
}
