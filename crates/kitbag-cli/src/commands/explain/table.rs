//! Every decision of a pack as a table.

use std::collections::HashMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use kitbag::core::chunk::Detail;
use kitbag::core::rank::ScorePart;
use kitbag::pack::{Decisions, PackedChunk};

use crate::flags;
use crate::output::{grouped, one_line};

/// How many of the largest folders and kinds are listed.
const MOST_SPENT: usize = 3;

/// How many words of the task are listed.
const MOST_WORDS: usize = 8;

/// What is in the prompt, and the best of what is not.
pub(super) fn table(decided: &Decisions, excluded: usize) -> String {
    let mut text = String::new();
    if !decided.task.is_empty() {
        let task = shortened(&one_line(&decided.task), 100);
        let _ = writeln!(text, "task: {task}\n");
    }
    let header = ["level", "tokens", "score", "source", "why"];
    let rows = decided.chunks.iter().map(row_in).collect();
    let _ = writeln!(text, "{}", grid(header, rows));
    let in_all = decided.in_all();
    let missing = in_all.chunks - decided.chunks.len();
    if missing > 0 {
        let missing = grouped(missing as u64);
        let _ = writeln!(
            text,
            "… {missing} more are not kept: name the task to see all"
        );
    }
    let out = rows_out(decided);
    let kept = out.len();
    let hidden = in_all.excluded - kept.min(excluded);
    if !out.is_empty() && excluded > 0 {
        let shown = out.into_iter().take(excluded).collect();
        let _ = writeln!(
            text,
            "\nnot in the prompt:\n{}",
            grid(["", "", "score", "source", "why"], shown)
        );
    }
    if hidden > 0 {
        let more = if kept > excluded {
            "`--excluded N` shows more"
        } else {
            "they are not kept: name the task to see all"
        };
        let _ = writeln!(text, "… {} more; {more}", grouped(hidden as u64));
    }
    let _ = write!(
        text,
        "\n{} of {} tokens ({:.1} %), {:.2} % of the best possible worth, {} files ranked",
        grouped(decided.tokens.0),
        grouped(decided.budget.0),
        decided.utilization * 100.0,
        decided.bound * 100.0,
        grouped(in_all.ranked as u64),
    );
    if let Some(spent) = spent(decided) {
        let _ = write!(text, "\n{spent}");
    }
    for understood in [understood(decided), words(decided)].into_iter().flatten() {
        let _ = write!(text, "\n{understood}");
    }
    for problem in &decided.problems {
        let _ = write!(text, "\nproblem: {}", one_line(&problem.to_string()));
        if let Some(remedy) = flags::remedy(problem) {
            let _ = write!(text, " ({})", one_line(remedy));
        }
    }
    text
}

/// What takes the budget, and how to take less.
fn spent(decided: &Decisions) -> Option<String> {
    let share = |tokens: u32| u64::from(tokens) * 100 / u64::from(decided.budget.0.max(1));
    let largest = decided.spent.iter().take(MOST_SPENT);
    let largest: Vec<String> = largest
        .map(|spent| format!("{} {} %", one_line(&spent.on), share(spent.tokens.0)))
        .collect();
    let first = decided.spent.iter().find(|spent| spent.on.ends_with('/'))?;
    Some(format!(
        "most tokens: {}; `--exclude {}` leaves a folder out, `--max-files N` looks at fewer files",
        largest.join(", "),
        one_line(&first.on)
    ))
}

/// The kind of task that was understood, and how to say otherwise.
fn understood(decided: &Decisions) -> Option<String> {
    let task_type = decided.task_type?.as_str();
    let from = match decided.inferred_from.as_deref()? {
        [] => "as no word of it says otherwise".to_owned(),
        cues => {
            let cues: Vec<String> = cues
                .iter()
                .map(|cue| format!("“{}”", one_line(cue)))
                .collect();
            format!("from {}", cues.join(", "))
        }
    };
    Some(format!(
        "taken for a task to {task_type}, {from}; `--task-type TYPE` says otherwise"
    ))
}

/// The words that were looked for, and those that are nowhere.
fn words(decided: &Decisions) -> Option<String> {
    let (found, missing): (Vec<_>, Vec<_>) = decided.words.iter().partition(|word| word.files > 0);
    let found: Vec<String> = found
        .iter()
        .take(MOST_WORDS)
        .map(|word| format!("{} ({})", one_line(&word.word), grouped(word.files as u64)))
        .collect();
    // Words that tell the type of a task need not be in the code.
    let cues = decided.inferred_from.as_deref().unwrap_or_default();
    let is_cue = |word: &str| cues.iter().any(|cue| cue.to_lowercase().contains(word));
    let missing: Vec<String> = missing
        .iter()
        .filter(|word| !is_cue(&word.word))
        .take(MOST_WORDS)
        .map(|word| format!("“{}”", one_line(&word.word)))
        .collect();
    let mut text = String::new();
    if !found.is_empty() {
        let _ = write!(text, "looked for, in how many files: {}", found.join(", "));
    }
    if !missing.is_empty() {
        let end = if found.is_empty() { "" } else { "\n" };
        let missing = missing.join(", ");
        let _ = write!(
            text,
            "{end}in no file: {missing}; say it with names that the code has"
        );
    }
    (!text.is_empty()).then_some(text)
}

fn row_in(chunk: &PackedChunk) -> [String; 5] {
    let level = chunk.level.as_str();
    [
        match chunk.level {
            Detail::Slice if !chunk.lines.is_empty() => format!("{level} {}", lines(chunk)),
            _ => level.to_owned(),
        },
        grouped(chunk.tokens.0),
        chunk.score.to_string(),
        shortened(&one_line(&chunk.source), 60),
        parts(&chunk.parts),
    ]
}

/// The files that were considered come first, by their rank; then what was never looked at.
fn rows_out(decided: &Decisions) -> Vec<[String; 5]> {
    let ranked = decided.ranked.iter();
    let scores: HashMap<&str, i64> = ranked
        .map(|ranked| (ranked.source.as_str(), ranked.score))
        .collect();
    let excluded = decided.excluded.iter();
    let rows = excluded.map(|excluded| {
        let score = scores.get(excluded.source.as_str());
        [
            String::new(),
            String::new(),
            score.map(ToString::to_string).unwrap_or_default(),
            shortened(&one_line(&excluded.source), 60),
            one_line(&excluded.reason),
        ]
    });
    rows.collect()
}

fn grid(header: [&str; 5], rows: Vec<[String; 5]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.add_rows(rows);
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    for column in [1, 2] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n")
}

/// The parts of the score, the largest first: they add up to it.
fn parts(of: &[ScorePart]) -> String {
    let mut parts: Vec<&ScorePart> = of.iter().collect();
    parts.sort_by(|a, b| (b.value.abs(), &a.name).cmp(&(a.value.abs(), &b.name)));
    let parts: Vec<String> = parts
        .iter()
        .map(|part| format!("{} {:+}", part.name, part.value))
        .collect();
    parts.join(", ")
}

/// The first ranges of lines that are shown.
fn lines(chunk: &PackedChunk) -> String {
    let ranges = chunk.lines.iter();
    let ranges: Vec<String> = ranges
        .map(|(first, last)| format!("{first}-{last}"))
        .collect();
    match ranges.as_slice() {
        all if all.len() <= 2 => all.join(","),
        [first, rest @ ..] => format!("{first} +{}", rest.len()),
        [] => String::new(),
    }
}

/// A text that leaves room for other columns: its middle may be left out.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most / 3).collect();
    let end: String = text.chars().skip(length - (most - most / 3 - 1)).collect();
    format!("{start}…{end}")
}
