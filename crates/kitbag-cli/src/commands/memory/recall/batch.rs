//! Many queries in one run: JSON lines in, JSON lines out, in their order and as they come.

use std::fmt::Display;
use std::io::{BufRead as _, Read as _};
use std::path::Path;

use kitbag::store::MessageTime;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Recall;
use super::found::Found;
use crate::commands::memory::source::Source;
use crate::failure::Failure;
use crate::output;

/// A longer line is no query.
const LONGEST_LINE: u64 = 1 << 20;

/// A question, and how it differs from the options.
#[derive(Default, Deserialize)]
pub(super) struct Query {
    pub(super) id: Option<Box<RawValue>>,
    pub(super) sender: Option<String>,
    pub(super) channel: Option<String>,
    pub(super) query: String,
    pub(super) now: Option<MessageTime>,
    pub(super) limit: Option<u32>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: Option<&'a RawValue>,
    #[serde(flatten)]
    found: Found,
}

/// Answers each line of a file.
pub(super) async fn run(file: &Path, recall: &Recall<'_>) -> Result<(), Failure> {
    let mut source = Source::open(file)?;
    let mut only = None;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let mut limited = source.by_ref().take(LONGEST_LINE);
        let read = limited.read_until(b'\n', &mut line);
        let unreadable = |error| Failure::new(format_args!("cannot read the queries: {error}"));
        if read.map_err(unreadable)? == 0 {
            break;
        }
        if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
            let most = LONGEST_LINE >> 10;
            return Err(wrong(number, format_args!("longer than {most} KiB")));
        }
        let mark = b"\xef\xbb\xbf";
        let text = line.strip_prefix(mark).unwrap_or(&line).trim_ascii();
        if text.is_empty() {
            continue;
        }
        let query = parse(text).map_err(|problem| wrong(number, problem))?;
        let found = recall.find(&query, &mut only).await?;
        output::print_json_line(&Answer {
            id: query.id.as_deref(),
            found,
        })?;
    }
    Ok(())
}

fn parse(line: &[u8]) -> Result<Query, String> {
    if !line.starts_with(b"{") {
        return Err("expected a JSON object".to_owned());
    }
    serde_json::from_slice(line).map_err(|error| {
        let told = error.to_string();
        let what = told.split(" at line ").next().unwrap_or_default();
        format!("{what} at column {}", error.column())
    })
}

fn wrong(line: u64, problem: impl Display) -> Failure {
    Failure::new(format_args!("line {line}: {problem}"))
        .hint("each line is a JSON object with `query`; those before it were answered")
}
