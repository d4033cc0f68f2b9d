//! Drives the program: imports a conversation into a new store and asks all its questions at once.

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tempfile::TempDir;

use super::conversation::{Conversation, Turn};

const CHANNEL: &str = "eval";
/// The number of turns to ask for in a ranking.
const LIMIT: &str = "200";

/// The program, and the arguments that it gets beyond the usual ones.
pub(super) struct Program<'a> {
    path: PathBuf,
    recall_arguments: Vec<&'a str>,
    /// Stands for the user's own configuration, which may have a model.
    configuration: TempDir,
}

/// Seconds that the program ran, over all conversations.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub(super) struct Times {
    pub(super) import_s: f64,
    pub(super) recall_s: f64,
}

/// A message that was recalled.
#[derive(Debug, Deserialize)]
pub(super) struct Hit {
    #[serde(rename = "ref")]
    pub(super) turn: String,
    /// The later message by which it no longer holds.
    pub(super) outdated_by: Option<serde_json::Value>,
}

/// The turns that were recalled, best first, by the ids of the questions.
pub(super) type Answers = BTreeMap<String, Vec<String>>;

impl<'a> Program<'a> {
    /// The program with a model, if one is given.
    pub(super) fn new(
        path: PathBuf,
        recall_arguments: Vec<&'a str>,
        model: Option<&Path>,
    ) -> Result<Self> {
        let program = Self {
            path,
            recall_arguments,
            configuration: tempfile::tempdir()?,
        };
        if let Some(model) = model {
            let model = model.to_str().context("the model's folder is not UTF-8")?;
            // Chosen as a user would choose it, so that the whole way is evaluated.
            program.run("", &["memory", "model", "use", model], "")?;
        }
        Ok(program)
    }

    pub(super) fn answers(
        &self,
        conversation: &Conversation,
        times: &mut Times,
    ) -> Result<Answers> {
        // A new store each time: recall must not see another conversation.
        let folder = tempfile::tempdir()?;
        let store = store_in(&folder);
        let turns = conversation.turns.iter();
        let turns = lines(turns.map(|turn| import_line(&conversation.name, turn)));
        let start = Instant::now();
        self.run(&store, &["memory", "import", "-"], &turns)?;
        // The start of the program counts, as it does for a user.
        times.import_s += start.elapsed().as_secs_f64();

        let questions = lines(question_lines(conversation));
        let mut recall = vec!["memory", "recall", "--batch", "-"];
        recall.extend(["--limit", LIMIT, "--json"]);
        recall.extend(&self.recall_arguments);
        let start = Instant::now();
        let printed = self.run(&store, &recall, &questions)?;
        times.recall_s += start.elapsed().as_secs_f64();
        let answers: BTreeMap<String, Vec<Hit>> = read_answers(&printed)?;
        let turns = |(id, hits): (String, Vec<Hit>)| {
            let turns = hits.into_iter().map(|hit| hit.turn);
            (id, turns.collect())
        };
        Ok(answers.into_iter().map(turns).collect())
    }

    /// Imports lines into a new store and recalls ten messages for each of the questions.
    pub(super) fn recall(&self, told: &str, asked: &str) -> Result<BTreeMap<String, Vec<Hit>>> {
        let folder = tempfile::tempdir()?;
        let store = store_in(&folder);
        self.run(&store, &["memory", "import", "-"], told)?;
        let printed = self.run(
            &store,
            &["memory", "recall", "--batch", "-", "--json"],
            asked,
        )?;
        read_answers(&printed)
    }

    /// Returns its output. The input is a file, so that neither side waits for the other.
    fn run(&self, store: &str, arguments: &[&str], input: &str) -> Result<String> {
        // Through a pipe the program could block on its output while we still write its input.
        let mut stdin = tempfile::tempfile()?;
        stdin.write_all(input.as_bytes())?;
        stdin.rewind()?;
        let output = Command::new(&self.path)
            // A model that the developer has chosen must not change the figures.
            .env("XDG_CONFIG_HOME", self.configuration.path())
            .args(["--store", store])
            .args(arguments)
            .stdin(Stdio::from(stdin))
            .output()
            .with_context(|| format!("could not start {}", self.path.display()))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let (arguments, status) = (arguments.join(" "), output.status);
            bail!("`{arguments}` failed ({status}): {}", stderr.trim());
        }
        String::from_utf8(output.stdout).context("the program printed no UTF-8")
    }
}

fn store_in(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("memory.db").display())
}

/// JSON values, each on a line.
pub(super) fn lines(values: impl Iterator<Item = serde_json::Value>) -> String {
    let lines: Vec<String> = values.map(|value| value.to_string()).collect();
    lines.join("\n")
}

fn import_line(conversation: &str, turn: &Turn) -> serde_json::Value {
    json!({
        "channel": CHANNEL,
        "sender": conversation,
        "conversation": format!("{conversation}/{}", turn.session),
        "ref": turn.id,
        "at": turn.at,
        "role": turn.role.as_deref().unwrap_or("user"),
        "speaker": turn.speaker,
        "text": turn.shown_text(),
    })
}

fn question_lines(conversation: &Conversation) -> impl Iterator<Item = serde_json::Value> {
    conversation.questions.iter().map(|question| {
        json!({
            "id": question.id,
            "channel": CHANNEL,
            "sender": conversation.name,
            "query": question.question,
            // Questions say “last week”, which means a day of the conversation's own time.
            "now": conversation.now,
        })
    })
}

/// An answer a line. Whatever Unicode calls the end of a line ends one, as it does for many readers
/// of such lines: a program that prints one inside a text is found out.
fn read_answers(printed: &str) -> Result<BTreeMap<String, Vec<Hit>>> {
    #[derive(Deserialize)]
    struct Answer {
        id: String,
        ranked: Vec<Hit>,
    }
    let ends = [
        '\n', '\r', '\x0b', '\x0c', '\x1c', '\x1d', '\x1e', '\u{85}', '\u{2028}', '\u{2029}',
    ];
    let mut answers = BTreeMap::new();
    for line in printed.split(ends).filter(|line| !line.is_empty()) {
        let answer: Answer =
            serde_json::from_str(line).with_context(|| format!("unexpected answer: {line}"))?;
        answers.insert(answer.id, answer.ranked);
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::memory::conversation::Label;

    #[test]
    fn x04_a_turn_is_imported_with_its_picture_and_sitting() {
        let turn = Turn {
            id: "D2:1".to_owned(),
            session: Label::Number(2),
            speaker: "Ada".to_owned(),
            text: "Look!".to_owned(),
            caption: Some("a red kite".to_owned()),
            ..Turn::default()
        };
        let line = import_line("talk", &turn);
        assert_eq!(line["text"], "Look! (shares a red kite)");
        assert_eq!(line["conversation"], "talk/2");
        assert_eq!(line["sender"], "talk");
        assert_eq!(line["role"], "user");
        assert!(line["at"].is_null());

        let caption = Some(String::new());
        let line = import_line("talk", &Turn { caption, ..turn });
        assert_eq!(line["text"], "Look!");
    }

    #[test]
    fn x04_answers_are_lines_and_the_last_one_to_a_question_counts() {
        let printed = "{\"id\":\"a\",\"ranked\":[]}\n\n{\"id\":\"a\",\"ranked\":[{\"ref\":\"D1:2\",\"score\":3}]}\n";
        let answers = read_answers(printed).unwrap();
        assert_eq!(answers["a"][0].turn, "D1:2");
        let broken = "{\"id\":\"a\u{2028}\",\"ranked\":[]}";
        assert!(read_answers(broken).is_err());
    }
}
