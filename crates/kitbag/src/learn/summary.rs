//! A summary by a model.

use kitbag_core::problem::Problem;
use kitbag_core::summarize::{Utterance, extract, is_grounded};
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::Lessons;
use super::material::{PARTS, line, parts, summary_line};
use super::model::Model;

/// Summarises what was said, taking in the summary so far, in at most `limit` tokens. None where the
/// model gave nothing that can be used.
pub(super) async fn summarise(
    model: &Model<'_>,
    purpose: &'static str,
    so_far: &str,
    said: Vec<Utterance>,
    limit: Tokens,
    lessons: &mut Lessons,
) -> Option<String> {
    let counter = model.counter();
    let mut parts = parts(said, model.part(), |one| &mut one.text, counter);
    let mut so_far = so_far.to_owned();
    let older = parts.len().saturating_sub(PARTS);
    let older: Vec<Utterance> = parts.drain(..older).flatten().collect();
    if !older.is_empty() {
        let mut texts = Utterance::of_summary(&so_far);
        texts.extend(older);
        so_far = extract(&texts, &[], limit, counter);
    }
    for part in parts {
        let question = question(&so_far, &part, limit);
        let summary = model.ask(purpose, &question, lessons).await?;
        let summary = summary.trim();
        if let Err(problem) = check(summary, &so_far, &part, limit, counter) {
            let problem = format!("the model's {purpose} cannot be used: {problem}");
            lessons.problems.push(Problem::failed("learning", problem));
            return None;
        }
        so_far = summary.to_owned();
    }
    Some(so_far).filter(|summary| !summary.is_empty())
}

fn question(so_far: &str, part: &[Utterance], limit: Tokens) -> String {
    // A token is more than half of a word in most languages; the rest is for those in which it is not.
    let words = limit.0 / 2;
    let mut question = format!(
        "Summarise the conversation in the record below in at most {words} words and in its own language.\n\
         - Keep names, numbers, dates, decisions and open questions.\n\
         - Keep what the user wants and does not want in the user's own words.\n\
         - What was only proposed or asked was not done: say so.\n\
         - Add nothing that is not there.\n\
         The record, one JSON object a line:\n"
    );
    if !so_far.is_empty() {
        question.push_str(&summary_line(so_far));
    }
    question.extend(part.iter().map(line));
    question
}

/// Checks that a text is a summary of what was said.
fn check(
    summary: &str,
    so_far: &str,
    part: &[Utterance],
    limit: Tokens,
    counter: &dyn TokenCounter,
) -> Result<(), String> {
    let tokens = counter.count(summary);
    let said = part.iter().map(|one| one.text.as_str());
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if summary.is_empty() {
        Err("it is empty".to_owned())
    } else if tokens > limit {
        Err(format!("it has {tokens} tokens but may have {limit}"))
    } else if summary.contains(is_odd) {
        Err("it has control characters".to_owned())
    } else if !is_grounded(summary, said.chain([so_far])) {
        Err("it is not about what was said".to_owned())
    } else {
        Ok(())
    }
}
