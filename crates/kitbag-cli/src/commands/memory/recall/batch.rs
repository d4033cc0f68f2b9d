//! Many queries in one run: JSON lines in, JSON lines out, in their order and as they come.

use std::fmt::Display;
use std::io::{BufRead as _, Read as _};
use std::path::Path;

use kitbag::store::MessageTime;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Recall;
use super::found::Found;
use crate::commands::memory::sender::named_or_only;
use crate::commands::memory::source::Source;
use crate::failure::Failure;
use crate::output;

/// A longer line is no query.
const LONGEST_LINE: u64 = 1 << 20;

#[derive(Deserialize)]
struct Query {
    id: Option<Box<RawValue>>,
    sender: Option<String>,
    channel: Option<String>,
    query: String,
    now: Option<MessageTime>,
    limit: Option<u32>,
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
        let found = find(&query, recall, &mut only).await?;
        output::print_json_line(&Answer {
            id: query.id.as_deref(),
            found,
        })?;
    }
    Ok(())
}

/// What one query finds. The only sender of the store is looked up once.
async fn find(
    query: &Query,
    recall: &Recall<'_>,
    only: &mut Option<String>,
) -> Result<Found, Failure> {
    let args = recall.args;
    let sender = match query.sender.as_ref().or(args.sender.as_ref()) {
        Some(sender) => sender.clone(),
        None => match only {
            Some(only) => only.clone(),
            None => only
                .insert(named_or_only(&recall.store, None).await?)
                .clone(),
        },
    };
    let channel = query.channel.as_ref().or(args.channel.as_ref()).cloned();
    let limit = query.limit.unwrap_or(args.limit);
    let now = query.now.or(args.now);
    recall.find(sender, channel, &query.query, now, limit).await
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
