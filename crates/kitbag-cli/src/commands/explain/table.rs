//! Every decision of a pack as a table.

use std::collections::HashMap;

use kitbag::core::chunk::Detail;
use kitbag::pack::{Decisions, PackedChunk};

use crate::flags;
use crate::output::{aligned, grouped, largest_first, one_line, quoted, ranges, shortened};

/// The number of the largest folders and kinds to list.
const MOST_SPENT: usize = 3;

/// The number of words of the task to list.
const MOST_WORDS: usize = 8;

/// The chunks in the prompt, and the best of the others.
pub(super) fn table(decided: &Decisions, excluded: usize) -> String {
    let mut lines = Vec::new();
    if !decided.task.is_empty() {
        let task = shortened(&one_line(&decided.task), 100);
        lines.push(format!("task: {task}\n"));
    }
    let header = ["level", "tokens", "score", "source", "why"];
    lines.push(aligned(&header, &[1, 2], decided.chunks.iter().map(row_in)));
    // A remembered pack keeps only the first entries of each list, but all of the counts.
    let in_all = decided.in_all();
    let missing = in_all.chunks - decided.chunks.len();
    if missing > 0 {
        let missing = grouped(missing as u64);
        lines.push(format!("… {missing} more; give the task again to see all"));
    }
    let kept = decided.excluded.len();
    if kept > 0 && excluded > 0 {
        let header = ["", "", "score", "source", "why"];
        let rows = aligned(&header, &[1, 2], rows_out(decided).take(excluded));
        lines.push(format!("\nnot in the prompt:\n{rows}"));
    }
    let hidden = in_all.excluded - kept.min(excluded);
    if hidden > 0 {
        let more = match kept > excluded {
            true => "`--excluded N` shows more",
            false => "give the task again to see all",
        };
        lines.push(format!("… {} more; {more}", grouped(hidden as u64)));
    }
    lines.push(format!(
        "\n{} of {} tokens ({:.1} %), {:.2} % of the best possible worth, {} files ranked",
        grouped(decided.tokens.0),
        grouped(decided.budget.0),
        decided.utilization * 100.0,
        decided.bound * 100.0,
        grouped(in_all.ranked as u64),
    ));
    lines.extend(spent(decided));
    lines.extend(understood(decided));
    lines.extend(words(decided));
    for problem in &decided.problems {
        let remedy = flags::remedy(problem).map(|remedy| format!(" ({})", one_line(remedy)));
        let problem = one_line(&problem.to_string());
        lines.push(format!("problem: {problem}{}", remedy.unwrap_or_default()));
    }
    lines.join("\n")
}

/// The folders and kinds that take most of the budget, and how to take less.
fn spent(decided: &Decisions) -> Option<String> {
    let share = |tokens: u32| u64::from(tokens) * 100 / u64::from(decided.budget.0.max(1));
    let largest = decided.spent.iter().take(MOST_SPENT);
    let largest: Vec<String> = largest
        .map(|spent| format!("{} {} %", one_line(&spent.on), share(spent.tokens.0)))
        .collect();
    // Only a folder can be excluded with one option.
    let first = decided.spent.iter().find(|spent| spent.on.ends_with('/'))?;
    Some(format!(
        "most tokens: {}; `--exclude {}` leaves a folder out, `--max-files N` limits the files",
        largest.join(", "),
        one_line(&first.on)
    ))
}

/// The kind of task that was understood, and how to say otherwise.
fn understood(decided: &Decisions) -> Option<String> {
    let task_type = decided.task_type?.as_str();
    let from = match decided.inferred_from.as_deref()? {
        [] => "as no word says otherwise".to_owned(),
        cues => format!("from {}", quoted(cues.iter())),
    };
    Some(format!(
        "task type {task_type}, {from}; `--task-type TYPE` changes it"
    ))
}

/// The words that were looked for, and those that are nowhere.
fn words(decided: &Decisions) -> Vec<String> {
    // Words that no file has are apart: they are what a person can change.
    let (found, missing): (Vec<_>, Vec<_>) = decided.words.iter().partition(|word| word.files > 0);
    let found = found.iter().take(MOST_WORDS);
    let found: Vec<String> = found
        .map(|word| format!("{} ({})", one_line(&word.word), grouped(word.files as u64)))
        .collect();
    // Words that tell the type of a task need not be in the code.
    let cues = decided.inferred_from.as_deref().unwrap_or_default();
    let is_cue = |word: &str| cues.iter().any(|cue| cue.to_lowercase().contains(word));
    let missing = missing.iter().map(|word| &word.word);
    let missing = quoted(missing.filter(|word| !is_cue(word)).take(MOST_WORDS));
    let mut lines = Vec::new();
    if !found.is_empty() {
        let found = found.join(", ");
        lines.push(format!(
            "words of the task, with the number of files: {found}"
        ));
    }
    if !missing.is_empty() {
        lines.push(format!(
            "in no file: {missing}; use names from the code instead"
        ));
    }
    lines
}

fn row_in(chunk: &PackedChunk) -> [String; 5] {
    let level = chunk.level.as_str();
    let parts = chunk.parts.iter();
    [
        match chunk.level {
            Detail::Slice if !chunk.lines.is_empty() => format!("{level} {}", first_lines(chunk)),
            _ => level.to_owned(),
        },
        grouped(chunk.tokens.0),
        chunk.score.to_string(),
        shortened(&one_line(&chunk.source), 60),
        largest_first(parts.map(|part| (&*part.name, part.value))),
    ]
}

/// The files that were considered come first, by their rank; then what was never looked at.
fn rows_out(decided: &Decisions) -> impl Iterator<Item = [String; 5]> {
    let ranked = decided.ranked.iter();
    let scores: HashMap<&str, i64> = ranked
        .map(|ranked| (ranked.source.as_str(), ranked.score))
        .collect();
    decided.excluded.iter().map(move |excluded| {
        let score = scores.get(excluded.source.as_str());
        [
            String::new(),
            String::new(),
            score.map(ToString::to_string).unwrap_or_default(),
            shortened(&one_line(&excluded.source), 60),
            one_line(&excluded.reason),
        ]
    })
}

/// The first ranges of lines that are shown.
fn first_lines(chunk: &PackedChunk) -> String {
    match ranges(&chunk.lines).as_slice() {
        [first, rest @ ..] if rest.len() > 1 => format!("{first} +{}", rest.len()),
        all => all.join(","),
    }
}
