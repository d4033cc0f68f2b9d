//! The summary of a pack on stderr.

use kitbag::core::assembly::Kept;
use kitbag::core::chunk::{ChunkType, Detail};
use kitbag::core::problem::Problem;
use kitbag::core::record::Usage;
use kitbag::engine::Redaction;
use kitbag::pack::{Pack, Prepared};
use kitbag::tokens::{ModelProfile, dollars};

use crate::flags;
use crate::output::{self, grouped, one_line, quoted};

/// The most lines of a kind; the others are counted, and `--json` has them all.
const MOST_LINES: usize = 5;

/// Prints the summary of a pack.
pub(super) fn say(pack: &Pack, prepared: &Prepared, model: Option<&str>) {
    say_problems(&pack.decisions.problems);
    if prepared.workspace().files().is_empty() {
        output::say("hint: name the folder of a project with `--root`, or a file with `--pin`");
    }
    say_redacted(&pack.decisions.redacted);
    let (tokens, budget) = (pack.decisions.tokens, pack.decisions.budget);
    let mut line = format!("{} of {} tokens", grouped(tokens.0), grouped(budget.0));
    let files = |detail: Detail| {
        let of = |kept: &&Kept| kept.chunk_type == ChunkType::File && kept.detail == detail;
        pack.assembly.kept.iter().filter(of).count()
    };
    let levels = [
        (Detail::Full, "whole"),
        (Detail::Slice, "in parts"),
        (Detail::Outline, "in outline"),
        (Detail::Line, "by name"),
    ];
    let shown: Vec<String> = levels
        .into_iter()
        .map(|(detail, name)| (files(detail), name))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{} {name}", grouped(count as u64)))
        .collect();
    if !shown.is_empty() {
        line.push_str(&format!(", files: {}", shown.join(", ")));
    }
    if let (Some(cues), Some(task_type)) = (&pack.decisions.inferred_from, pack.decisions.task_type)
    {
        line.push_str(&format!("; task type {}", task_type.as_str()));
        if !cues.is_empty() {
            line.push_str(&format!(" from {}", quoted(cues.iter().take(3))));
        }
    }
    // Only for a named model: without one nobody knows who will read the prompt.
    if let Some(price) = model.and_then(|model| price(pack, model)) {
        line.push_str(&format!("; {price} for the input"));
    }
    output::say(line);
}

/// Prints problems, with their remedies.
pub(crate) fn say_problems(problems: &[Problem]) {
    say_some(problems, "warning", |problem| {
        let said = one_line(&problem.to_string());
        match flags::remedy(problem) {
            Some(remedy) => format!("{said}\nhint: {}", one_line(remedy)),
            None => said,
        }
    });
}

/// Prints the secrets that were replaced.
pub(crate) fn say_redacted(redacted: &[Redaction]) {
    say_some(redacted, "note", |redaction| {
        let source = one_line(&redaction.source);
        let (line, kind) = (redaction.line, &redaction.kind);
        let more = match redaction.more {
            0 => String::new(),
            more => format!(", as were {more} more after it"),
        };
        format!("{source}:{line} holds a secret ({kind}), which was replaced{more}")
    });
}

/// Prints the first of a kind, and the number of the others.
fn say_some<T>(all: &[T], kind: &str, text: impl Fn(&T) -> String) {
    for one in all.iter().take(MOST_LINES) {
        output::say(format_args!("{kind}: {}", text(one)));
    }
    let more = all.len().saturating_sub(MOST_LINES);
    if more > 0 {
        let more = grouped(more as u64);
        output::say(format_args!(
            "{kind}: {more} more like these; `--json` lists all"
        ));
    }
}

/// The price of the prompt, if the catalogue knows one.
fn price(pack: &Pack, model: &str) -> Option<String> {
    let price = ModelProfile::find(model).ok()?.price.as_ref()?;
    let usage = Usage {
        input: u64::from(pack.decisions.tokens.0),
        ..Usage::default()
    };
    price.cost(&usage).map(dollars)
}
