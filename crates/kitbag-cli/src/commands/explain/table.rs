//! Every decision of a pack as a table.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::Value;

use crate::output::{grouped, one_line};

/// What is in the prompt, and the best of what is not.
pub(super) fn table(decided: &Value, excluded: usize) -> String {
    let mut text = String::new();
    if let Some(task) = decided
        .get("task")
        .and_then(Value::as_str)
        .filter(|task| !task.is_empty())
    {
        let _ = writeln!(text, "task: {}\n", shortened(&one_line(task), 100));
    }
    let _ = writeln!(
        text,
        "{}",
        grid(
            ["level", "tokens", "score", "source", "why"],
            rows_in(decided)
        )
    );
    let missing = in_all(decided, "chunks") - list(decided, "chunks").len();
    if missing > 0 {
        let missing = grouped(missing as u64);
        let _ = writeln!(
            text,
            "… {missing} more are not kept: name the task to see all"
        );
    }
    let out = rows_out(decided);
    let kept = out.len();
    let hidden = in_all(decided, "excluded") - kept.min(excluded);
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
    let number = |key: &str| decided.get(key).and_then(Value::as_u64).unwrap_or_default();
    let share = |key: &str| decided.get(key).and_then(Value::as_f64).unwrap_or_default() * 100.0;
    let _ = write!(
        text,
        "\n{} of {} tokens ({:.1} %), {:.2} % of the best possible worth, {} files ranked",
        grouped(number("tokens")),
        grouped(number("budget")),
        share("utilization"),
        share("bound"),
        grouped(in_all(decided, "ranked") as u64),
    );
    for problem in list(decided, "problems").iter().filter_map(Value::as_str) {
        let _ = write!(text, "\nproblem: {}", one_line(problem));
    }
    text
}

fn rows_in(decided: &Value) -> Vec<[String; 5]> {
    let row = |chunk: &Value| {
        let lines = lines(chunk);
        let level = field(chunk, "level");
        [
            if lines.is_empty() || level != "slice" {
                level
            } else {
                format!("{level} {lines}")
            },
            grouped(
                chunk
                    .get("tokens")
                    .and_then(Value::as_u64)
                    .unwrap_or_default(),
            ),
            chunk
                .get("score")
                .map(ToString::to_string)
                .unwrap_or_default(),
            shortened(&one_line(&field(chunk, "source")), 60),
            parts(chunk),
        ]
    };
    list(decided, "chunks").iter().map(row).collect()
}

/// The files that were considered come first, by their rank; then what was never looked at.
fn rows_out(decided: &Value) -> Vec<[String; 5]> {
    let ranked: std::collections::HashMap<String, &Value> = list(decided, "ranked")
        .iter()
        .map(|ranked| (field(ranked, "source"), ranked))
        .collect();
    let row = |excluded: &Value| {
        let source = field(excluded, "source");
        let score = ranked.get(&source).and_then(|ranked| ranked.get("score"));
        [
            String::new(),
            String::new(),
            score.map(ToString::to_string).unwrap_or_default(),
            shortened(&one_line(&source), 60),
            one_line(&field(excluded, "reason")),
        ]
    };
    list(decided, "excluded").iter().map(row).collect()
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

/// The parts of the score, the largest first.
pub(super) fn parts(of: &Value) -> String {
    let mut parts: Vec<(i64, String)> = list(of, "parts")
        .iter()
        .map(|part| {
            (
                part.get("value")
                    .and_then(Value::as_i64)
                    .unwrap_or_default(),
                field(part, "name"),
            )
        })
        .filter(|(_, name)| name != "base")
        .collect();
    parts.sort_by(|a, b| (b.0.abs(), &a.1).cmp(&(a.0.abs(), &b.1)));
    let parts: Vec<String> = parts
        .iter()
        .map(|(value, name)| format!("{name} {value:+}"))
        .collect();
    parts.join(", ")
}

/// The first ranges of lines that are shown.
fn lines(chunk: &Value) -> String {
    let ranges: Vec<String> = list(chunk, "lines")
        .iter()
        .map(|range| {
            let at = |index: usize| range.get(index).and_then(Value::as_u64).unwrap_or_default();
            format!("{}-{}", at(0), at(1))
        })
        .collect();
    match ranges.as_slice() {
        [] => String::new(),
        all if all.len() <= 2 => all.join(","),
        [first, rest @ ..] => format!("{first} +{}", rest.len()),
    }
}

/// How long a list was, of which not all may be kept.
fn in_all(decided: &Value, key: &str) -> usize {
    let all = decided.get("in_all").and_then(|all| all.get(key));
    let all = all.and_then(Value::as_u64).unwrap_or_default();
    let kept = list(decided, key).len();
    usize::try_from(all).unwrap_or_default().max(kept)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn field(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// A text that leaves room for other columns: its middle may be left out.
fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most / 3).collect();
    let end: String = text.chars().skip(length - (most - most / 3 - 1)).collect();
    format!("{start}…{end}")
}
