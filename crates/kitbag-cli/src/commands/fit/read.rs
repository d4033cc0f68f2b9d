//! Reads the chunks or the request, and says where and why one cannot be used.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use kitbag::core::chunk::ContextChunk;
use kitbag::wire::Request;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::output::{grouped, say};

/// More than this is not read: as text it is far beyond what any model takes.
const MAX_BYTES: u64 = 64 << 20;

/// What is to be fitted.
pub(super) struct Input {
    name: String,
    text: String,
    /// The request, where it is one.
    pub(super) request: Option<Request>,
}

/// Reads the file at `path`, or stdin.
pub(super) fn input(path: &Path) -> Result<Input, Failure> {
    let name = if path == Path::new("-") {
        "stdin".into()
    } else {
        path.display().to_string()
    };
    let text = text(path, &name)?;
    let request = if text.trim_start().starts_with('{') {
        let request = Request::parse(&text).map_err(|error| {
            Failure::new(format_args!(
                "{name}:1: not a JSON array of chunks, and no request: {error}"
            ))
            .hint(error.hint())
        })?;
        Some(request)
    } else {
        None
    };
    Ok(Input {
        name,
        text,
        request,
    })
}

impl Input {
    /// The chunks.
    pub(super) fn chunks(&self) -> Result<Vec<ContextChunk>, Failure> {
        chunks(&self.name, &self.text)
    }
}

fn chunks(name: &str, text: &str) -> Result<Vec<ContextChunk>, Failure> {
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
        let (line, message) = (error.line(), reason(&error));
        Failure::new(format_args!(
            "{name}:{line}: not a JSON array of chunks: {message}"
        ))
        .hint("`kitbag fit --help` shows what a chunk looks like")
    })?;
    let chunk = |(index, item): (usize, &&RawValue)| {
        let mut json = serde_json::Deserializer::from_str(item.get());
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let field = match error.path().to_string() {
                path if path == "." => String::new(),
                path => format!("`{path}`: "),
            };
            let error = error.into_inner();
            // A chunk that is wrong as a whole has no line of its own.
            let line = first_line(text, item.get()) + error.line().saturating_sub(1);
            Failure::new(format_args!(
                "{name}:{line}: chunk {index}: {field}{}",
                reason(&error)
            ))
            .hint("`kitbag fit --help` shows what a chunk looks like")
        })
    };
    say_unknown_fields(name, &items);
    items.iter().enumerate().map(chunk).collect()
}

/// The fields that a chunk may have.
const FIELDS: [&str; 11] = [
    "id",
    "content",
    "source",
    "chunk_type",
    "priority",
    "relevance",
    "band",
    "trust",
    "tokens",
    "levels",
    "metadata",
];

/// Says which fields are ignored: one that is misspelt would otherwise pass unseen.
fn say_unknown_fields(name: &str, items: &[&RawValue]) {
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for item in items {
        let fields: BTreeMap<String, IgnoredAny> =
            serde_json::from_str(item.get()).unwrap_or_default();
        for field in fields
            .into_keys()
            .filter(|field| !FIELDS.contains(&field.as_str()))
        {
            *unknown.entry(field).or_default() += 1;
        }
    }
    for (field, count) in unknown.iter().take(5) {
        say(format_args!(
            "note: {name}: the field `{field}` of {count} chunks is ignored"
        ));
    }
}

fn text(path: &Path, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin()
            .lock()
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::new(format_args!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::new(format_args!(
            "{name} has more than {} bytes, the most that is read",
            grouped(MAX_BYTES)
        ))
        .hint("leave out chunks that cannot matter, or give large ones shorter levels"));
    }
    // Some editors begin a file with a mark that JSON does not know.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Failure::new(format_args!("{name} is not UTF-8 text at byte {offset}"))
            .hint("convert it to UTF-8")
    })
}

/// What is wrong, without the place in the part that was parsed.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message
        .strip_suffix(&place)
        .map_or_else(|| message.clone(), String::from)
}

/// The line of `text` on which `part`, a slice of it, begins; counted from 1.
fn first_line(text: &str, part: &str) -> usize {
    let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    1 + text
        .bytes()
        .take(offset)
        .filter(|&byte| byte == b'\n')
        .count()
}
