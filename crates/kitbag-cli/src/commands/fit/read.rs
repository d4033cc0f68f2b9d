//! Reads the chunks or the request, with the line and the reason of errors.

use std::collections::BTreeMap;
use std::path::Path;

use kitbag::core::chunk::ContextChunk;
use kitbag::wire::Request;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::input;
use crate::output::say;

/// The input of a fit.
pub(super) enum Input {
    Chunks(Vec<ContextChunk>),
    Request(Request),
}

/// Reads the file at `path`, or stdin.
pub(super) fn input(path: &Path) -> Result<Input, Failure> {
    let (name, text) = input::read_data(path, "the chunks")?;
    // Chunks are an array and a request is an object: the first character decides which errors make sense.
    if !text.trim_start().starts_with('{') {
        return chunks(&name, &text).map(Input::Chunks);
    }
    Request::parse(&text).map(Input::Request).map_err(|error| {
        let what = format!("{name}:1: this is neither an array of chunks nor a request: {error}");
        Failure::new(what).hint(error.hint())
    })
}

fn chunks(name: &str, text: &str) -> Result<Vec<ContextChunk>, Failure> {
    let malformed = |line: usize, what: &str, error: &serde_json::Error| {
        let what = format!("{name}:{line}: {what}: {}", reason(error));
        Failure::new(what).hint("`kitbag fit --help` shows what a chunk looks like")
    };
    let items: Vec<&RawValue> = serde_json::from_str(text)
        .map_err(|error| malformed(error.line(), "not a JSON array of chunks", &error))?;
    let chunk = |(index, item): (usize, &&RawValue)| {
        let mut json = serde_json::Deserializer::from_str(item.get());
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let what = match error.path().to_string() {
                path if path == "." => format!("chunk {index}"),
                path => format!("chunk {index}: `{path}`"),
            };
            let error = error.into_inner();
            // An error about the chunk as a whole has line 0.
            let line = first_line(text, item.get()) + error.line().saturating_sub(1);
            malformed(line, &what, &error)
        })
    };
    // Before the errors, since an unknown field often is the misspelt one that is missing.
    say_unknown_fields(name, &items);
    items.iter().enumerate().map(chunk).collect()
}

/// The fields that a chunk may have.
const FIELDS: &str =
    "id content source chunk_type priority relevance band trust tokens levels metadata";

/// Names the fields that are ignored: a misspelt one would otherwise have no effect, silently.
fn say_unknown_fields(name: &str, items: &[&RawValue]) {
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for item in items {
        let fields: BTreeMap<String, IgnoredAny> =
            serde_json::from_str(item.get()).unwrap_or_default();
        let is_known = |field: &str| FIELDS.split(' ').any(|known| known == field);
        for field in fields.into_keys().filter(|field| !is_known(field)) {
            *unknown.entry(field).or_default() += 1;
        }
    }
    // Counted over all chunks: a program makes the same mistake in each of them.
    for (field, count) in unknown.iter().take(5) {
        say(format_args!(
            "note: {name}: the field `{field}` of {count} chunks is ignored"
        ));
    }
}

/// The parser's message without its place, which counts from the beginning of the chunk.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).unwrap_or(&message).to_owned()
}

/// The line of `text` on which `part`, a slice of it, begins; counted from 1.
fn first_line(text: &str, part: &str) -> usize {
    let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.bytes().take(offset);
    1 + before.filter(|&byte| byte == b'\n').count()
}
