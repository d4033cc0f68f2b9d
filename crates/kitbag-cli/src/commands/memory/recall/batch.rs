//! Many queries in one run: JSON lines in, JSON lines out, in their order and as they come.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{BufRead as _, Read as _};
use std::path::Path;

use kitbag::core::role::Role;
use kitbag::recall::RecallAnswer;
use kitbag::store::{ConversationKey, MessageFilter, MessageTime};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

use super::Recall;
use crate::commands::memory::filter::{parse_since, parse_until};
use crate::commands::memory::source;
use crate::failure::Failure;
use crate::output;

/// The longest line, in bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// A query, with the options that it replaces.
#[derive(Default, Deserialize)]
pub(super) struct Query {
    pub(super) id: Option<Box<RawValue>>,
    pub(super) sender: Option<String>,
    pub(super) channel: Option<String>,
    pub(super) query: String,
    pub(super) now: Option<MessageTime>,
    pub(super) limit: Option<u32>,
    #[serde(default, deserialize_with = "since")]
    since: Option<MessageTime>,
    #[serde(default, deserialize_with = "until")]
    until: Option<MessageTime>,
    role: Option<OneOrMore<Role>>,
    conversation: Option<OneOrMore<String>>,
    #[serde(rename = "where")]
    metadata: Option<BTreeMap<String, Field>>,
}

/// A value, or a list of them.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T: Clone> OneOrMore<T> {
    fn to_vec(&self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one.clone()],
            Self::More(more) => more.clone(),
        }
    }
}

/// A value of metadata as the filter compares it.
struct Field(String);

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(match serde_json::Value::deserialize(from)? {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }))
    }
}

fn since<'de, D: Deserializer<'de>>(from: D) -> Result<Option<MessageTime>, D::Error> {
    time(from, parse_since)
}

fn until<'de, D: Deserializer<'de>>(from: D) -> Result<Option<MessageTime>, D::Error> {
    time(from, parse_until)
}

fn time<'de, D: Deserializer<'de>>(
    from: D,
    parse: fn(&str) -> Result<MessageTime, String>,
) -> Result<Option<MessageTime>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let time = text.map(|text| parse(&text)).transpose();
    time.map_err(de::Error::custom)
}

impl Query {
    /// A query without options of its own.
    pub(super) fn new(query: &str) -> Self {
        Self {
            query: query.to_owned(),
            ..Self::default()
        }
    }

    /// The filter of the options, with the values that the line replaces.
    pub(super) fn filter(&self, mut filter: MessageFilter) -> MessageFilter {
        filter.since = self.since.or(filter.since);
        filter.until = self.until.or(filter.until);
        if let Some(roles) = &self.role {
            filter.roles = roles.to_vec();
        }
        if let Some(names) = &self.conversation {
            let names = names.to_vec();
            filter.conversations = names
                .iter()
                .map(|name| ConversationKey::from(name.as_str()))
                .collect();
        }
        if let Some(metadata) = &self.metadata {
            let fields = metadata.iter();
            filter.metadata = fields
                .map(|(key, value)| (key.clone(), value.0.clone()))
                .collect();
        }
        filter
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    id: Option<&'a RawValue>,
    #[serde(flatten)]
    found: RecallAnswer,
}

/// Answers each line of a file.
pub(super) async fn run(file: &Path, recall: &Recall<'_>) -> Result<(), Failure> {
    let mut source = source::open(file)?;
    // Looked up once: the only sender of a store does not change between two queries.
    let mut only = None;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        // Limited for each line, so that a file without line ends does not fill the memory.
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
        // Windows programs begin UTF-8 with this mark.
        let mark = b"\xef\xbb\xbf";
        let text = line.strip_prefix(mark).unwrap_or(&line).trim_ascii();
        if text.is_empty() {
            continue;
        }
        let query = parse(text).map_err(|problem| wrong(number, problem))?;
        let found = recall.find(&query, &mut only).await?;
        // Printed at once, so that a program can send the next query after reading an answer.
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
