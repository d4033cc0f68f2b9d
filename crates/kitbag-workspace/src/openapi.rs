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
use crate::structure::shown;
use crate::yaml;

/// A longer description is not read.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// More operations than this are only counted.
const MAX_OPERATIONS: usize = 400;

/// More schemas than this are only counted.
const MAX_SCHEMAS: usize = 200;

/// What an interface offers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The name of the interface.
    pub title: String,
    /// Its version; empty if it has none.
    pub version: String,
    /// The texts, the most detailed first and each shorter than the one before: operations with
    /// parameters and answers, and the fields of their schemas; the same without the fields;
    /// operations with summaries; paths with their methods.
    pub levels: Vec<String>,
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenApiError {
    /// The text is neither JSON nor YAML.
    #[error("neither JSON nor YAML: {reason}")]
    Syntax {
        /// What was wrong with it.
        reason: String,
    },
    /// The text describes something else.
    #[error("no OpenAPI description: it has neither `openapi` nor `swagger` at its top")]
    Other,
    /// The text is too long.
    #[error("{bytes} bytes are too many for an OpenAPI description")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

/// Summarises the description of an HTTP interface.
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
/// let summary = summarize(text).unwrap();
/// assert_eq!(summary.title, "Shop");
/// assert_eq!(
///     summary.levels[0],
///     "Shop 1.2\nGET /orders/{id}: Finds an order\n  path id*: integer\n  answers 200\n"
/// );
/// assert_eq!(summary.levels.last().unwrap(), "Shop 1.2\nGET /orders/{id}\n");
/// ```
pub fn summarize(text: &str) -> Result<Summary, OpenApiError> {
    if text.len() > MAX_BYTES {
        return Err(OpenApiError::TooLong { bytes: text.len() });
    }
    let document = parse(text).map_err(|reason| OpenApiError::Syntax { reason })?;
    let has = |key: &str| document.get(key).is_some_and(|value| !value.is_object());
    if !has("openapi") && !has("swagger") {
        return Err(OpenApiError::Other);
    }
    let operations = operation::all(&document);

    let title = text_at(&document, "/info/title").unwrap_or("Untitled");
    let version = text_at(&document, "/info/version").unwrap_or_default();
    let head = format!("{} {}", shown(title), shown(version));
    let head = format!("{}\n", head.trim_end());
    let mut used = BTreeSet::new();
    let details = detailed(&document, &operations, &mut used);
    let texts = [
        format!("{head}{details}{}", schemas(&document, used)),
        format!("{head}{details}"),
        format!("{head}{}", summaries(&operations)),
        format!("{head}{}", paths(&operations)),
    ];
    let mut levels: Vec<String> = Vec::new();
    for text in texts {
        let shorter = levels.last().is_none_or(|last| text.len() < last.len());
        levels.extend(shorter.then_some(text));
    }
    Ok(Summary {
        title: title.to_owned(),
        version: version.to_owned(),
        levels,
    })
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
    let mut text = String::new();
    for place in operation::servers(document) {
        text.push_str(&format!("at {}\n", shown(&place)));
    }
    for operation in operations.iter().take(MAX_OPERATIONS) {
        text.push_str(&operation.line());
        operation.write_details(document, &mut text, used);
    }
    text.push_str(&more(operations.len(), MAX_OPERATIONS, "operation"));
    text
}

/// The fields of the schemas that are used.
fn schemas(document: &Value, used: BTreeSet<String>) -> String {
    let mut text = String::new();
    let defined = schema::reachable(document, used);
    for (name, schema) in defined.iter().take(MAX_SCHEMAS) {
        text.push_str(&schema::definition(name, schema));
    }
    text.push_str(&more(defined.len(), MAX_SCHEMAS, "schema"));
    text
}

fn summaries(operations: &[Operation<'_>]) -> String {
    let mut text: String = operations
        .iter()
        .take(MAX_OPERATIONS)
        .map(Operation::line)
        .collect();
    text.push_str(&more(operations.len(), MAX_OPERATIONS, "operation"));
    text
}

/// A line for each path, with its methods.
fn paths(operations: &[Operation<'_>]) -> String {
    let mut text = String::new();
    let mut shown_so_far = 0;
    for group in operations.chunk_by(|a, b| a.path == b.path) {
        if shown_so_far >= MAX_OPERATIONS {
            break;
        }
        shown_so_far += group.len();
        let methods: Vec<&str> = group.iter().map(|operation| operation.method).collect();
        let path = group.first().map_or("", |operation| operation.path);
        text.push_str(&format!("{} {}\n", methods.join(" "), shown(path)));
    }
    text.push_str(&more(operations.len(), shown_so_far, "operation"));
    text
}

fn more(count: usize, shown: usize, what: &str) -> String {
    match count.saturating_sub(shown) {
        0 => String::new(),
        1 => format!("… 1 more {what}\n"),
        more => format!("… {more} more {what}s\n"),
    }
}

/// The string at a JSON pointer.
fn text_at<'d>(value: &'d Value, pointer: &str) -> Option<&'d str> {
    value.pointer(pointer)?.as_str()
}

#[cfg(test)]
mod tests;
