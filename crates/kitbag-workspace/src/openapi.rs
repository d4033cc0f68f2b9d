//! Descriptions of HTTP interfaces, as text at several sizes.
//!
//! OpenAPI 3 and Swagger 2, in JSON or YAML. A schema is shown where it is defined and named where it
//! is used, so that a schema which holds itself is no trouble. Files that a description refers to are
//! not read, and nothing is validated: what is odd is shown as well as it can be.

mod operation;
mod schema;

use std::collections::BTreeSet;

use serde_json::Value;

use self::operation::Operation;
use crate::json::text;
use crate::shown::{counted, ever_shorter, shown};
use crate::yaml;

/// A longer description is not read.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// More operations than this are only counted.
const MAX_OPERATIONS: usize = 400;

/// More schemas than this are only counted.
const MAX_SCHEMAS: usize = 200;

/// A description that cannot be summarised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenApiError {
    /// The text is neither JSON nor YAML.
    #[error("neither JSON nor YAML: {reason}")]
    Syntax {
        /// The error of the parser.
        reason: String,
    },
    /// The text describes something else.
    #[error("no OpenAPI description: it has neither `openapi` nor `swagger` at its top")]
    Other,
    /// The text is too long.
    #[error("{bytes} bytes are too many for an OpenAPI description")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
}

/// Summarises the description of an HTTP interface, the most detailed text first and each shorter than
/// the one before: operations with parameters and answers, and the fields of their schemas; the same
/// without the fields; operations with summaries; paths with their methods.
///
/// # Errors
/// When the text is too long, or describes something else.
///
/// ```
/// use kitbag_workspace::openapi::summarize;
///
/// let text = "
/// openapi: 3.0.3
/// info: { title: Shop, version: '1.2' }
/// paths:
///   /orders/{id}:
///     get:
///       summary: Finds an order.
///       parameters:
///         - { name: id, in: path, required: true, schema: { type: integer } }
///       responses: { '200': { description: found } }
/// ";
/// let levels = summarize(text).unwrap();
/// assert_eq!(
///     levels[0],
///     "Shop 1.2\nGET /orders/{id}: Finds an order\n  path id*: integer\n  answers 200\n"
/// );
/// assert_eq!(levels.last().unwrap(), "Shop 1.2\nGET /orders/{id}\n");
/// ```
pub fn summarize(description: &str) -> Result<Vec<String>, OpenApiError> {
    if description.len() > MAX_BYTES {
        let bytes = description.len();
        return Err(OpenApiError::TooLong { bytes });
    }
    let document = parse(description).map_err(|reason| OpenApiError::Syntax { reason })?;
    // Both are a version; an object under such a key belongs to another format.
    let has = |key: &str| document.get(key).is_some_and(|value| !value.is_object());
    if !has("openapi") && !has("swagger") {
        return Err(OpenApiError::Other);
    }
    let operations = operation::all(&document);

    let title = text(&document, "/info/title").unwrap_or("Untitled");
    let version = text(&document, "/info/version").unwrap_or_default();
    let head = format!("{} {}", shown(title), shown(version));
    let head = format!("{}\n", head.trim_end());
    let mut used = BTreeSet::new();
    // Before the schemas: it gathers the names of those that operations use.
    let details = detailed(&document, &operations, &mut used);
    Ok(ever_shorter([
        format!("{head}{details}{}", schemas(&document, used)),
        format!("{head}{details}"),
        format!(
            "{head}{}",
            listed(&operations, "operation", MAX_OPERATIONS, Operation::line)
        ),
        format!("{head}{}", paths(&operations)),
    ]))
}

fn parse(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        // YAML may begin with a brace too.
        return serde_json::from_str(text)
            .or_else(|error| yaml::from_str(text).map_err(|_| error.to_string()));
    }
    yaml::from_str(text)
}

/// Operations with all they take and give. The names of the schemas that they use go to `used`.
fn detailed(document: &Value, operations: &[Operation<'_>], used: &mut BTreeSet<String>) -> String {
    let places = operation::servers(document).into_iter();
    let places: String = places
        .map(|place| format!("at {}\n", shown(&place)))
        .collect();
    let operations = listed(operations, "operation", MAX_OPERATIONS, |operation| {
        operation.line() + &operation.details(document, used)
    });
    places + &operations
}

/// The fields of the schemas that are used.
fn schemas(document: &Value, used: BTreeSet<String>) -> String {
    let defined: Vec<_> = schema::reachable(document, used).into_iter().collect();
    listed(&defined, "schema", MAX_SCHEMAS, |(name, schema)| {
        schema::definition(name, schema)
    })
}

/// A line for each path, with its methods.
fn paths(operations: &[Operation<'_>]) -> String {
    let mut text = String::new();
    let mut left = operations.len();
    for group in operations.chunk_by(|a, b| a.path == b.path) {
        if operations.len() - left >= MAX_OPERATIONS {
            break;
        }
        left -= group.len();
        let methods: Vec<&str> = group.iter().map(|operation| operation.method).collect();
        let path = group.first().map_or("", |operation| operation.path);
        text.push_str(&format!("{} {}\n", methods.join(" "), shown(path)));
    }
    text + &more(left, "operation")
}

/// The texts of the first things of a list, and how many more there are.
fn listed<T>(list: &[T], noun: &str, most: usize, text: impl FnMut(&T) -> String) -> String {
    let texts: String = list.iter().take(most).map(text).collect();
    texts + &more(list.len().saturating_sub(most), noun)
}

fn more(count: usize, noun: &str) -> String {
    match count {
        0 => String::new(),
        more => format!("… {}\n", counted(more, &format!("more {noun}"))),
    }
}

#[cfg(test)]
mod tests;
