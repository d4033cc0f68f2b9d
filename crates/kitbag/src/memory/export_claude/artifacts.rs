//! Artifacts and files that Claude made in a conversation: tags in older texts, calls of tools in later
//! ones.

use serde_json::Value;

use crate::memory::export::documents::{Change, Documents, Origin, Written};
use crate::memory::export::{named, text};
use crate::memory::import::ImportTally;

const BEGIN: &str = "<antArtifact";
const END: &str = "</antArtifact>";

/// Applies a call of a tool to the documents. Returns false if it makes or changes none.
pub(super) fn use_tool(
    block: &Value,
    origin: &Origin<'_>,
    documents: &mut Documents,
    tally: &mut ImportTally,
) -> bool {
    let Some(input) = block.get("input") else {
        return false;
    };
    let name = text(block, "name").unwrap_or_default();
    let command = text(input, "command").unwrap_or_default();
    let (id, whole) = match (name, command) {
        ("artifacts", _) => (text(input, "id"), text(input, "content")),
        // Created files have no id: the path is one.
        ("create_file", _) | ("str_replace_based_edit_tool", "create") => {
            (text(input, "path"), text(input, "file_text"))
        }
        ("str_replace", _) | ("str_replace_based_edit_tool", "str_replace") => {
            (text(input, "path"), None)
        }
        _ => return false,
    };
    // An empty `old_str` replaces nothing: such a call writes the whole document.
    let change = text(input, "old_str").filter(|old| !old.is_empty());
    if let Some(old) = change.filter(|_| command != "create" && command != "rewrite") {
        let new = text(input, "new_str").unwrap_or_default();
        documents.change(id, &[Change::Text { old, new }], origin, tally);
        return true;
    }
    let Some(text_of_document) = whole else {
        return false;
    };
    let written = Written {
        id,
        title: text(input, "title"),
        text: text_of_document,
    };
    documents.write(written, origin, tally);
    true
}

/// The text with the name of each artifact in its place.
pub(super) fn take_out(
    said: &str,
    origin: &Origin<'_>,
    documents: &mut Documents,
    tally: &mut ImportTally,
) -> String {
    let mut plain = String::with_capacity(said.len());
    let mut rest = said;
    while let Some((before, from)) = rest.split_once(BEGIN) {
        // An artifact without an end was cut off with its message, and stays text.
        let Some((artifact, after)) = from.split_once(END) else {
            break;
        };
        plain.push_str(before);
        let (attributes, content) = artifact.split_once('>').unwrap_or((artifact, ""));
        let (id, title) = (
            attribute(attributes, "identifier"),
            attribute(attributes, "title"),
        );
        plain.push_str(&named("document", title.or(id).unwrap_or("untitled")));
        let written = Written {
            id,
            title,
            // The tags stand on lines of their own, which are no part of the document.
            text: content.trim_matches('\n'),
        };
        documents.write(written, origin, tally);
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// The value of an attribute of a tag.
fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let (_, from) = attributes.split_once(&format!(" {name}=\""))?;
    let (value, _) = from.split_once('"')?;
    Some(value).filter(|value| !value.trim().is_empty())
}
