//! One method of one path: what it takes and what it gives.

use std::collections::BTreeSet;

use serde_json::Value;

use super::schema::{self, name_of_ref};
use super::text_at;
use crate::structure::shown;

const METHODS: [(&str, &str); 8] = [
    ("get", "GET"),
    ("post", "POST"),
    ("put", "PUT"),
    ("patch", "PATCH"),
    ("delete", "DELETE"),
    ("head", "HEAD"),
    ("options", "OPTIONS"),
    ("trace", "TRACE"),
];

/// More parameters or answers of one operation than this are left out.
const MAX_PARTS: usize = 40;

/// Longer summaries are cut.
const MAX_CHARS: usize = 140;

pub(super) struct Operation<'d> {
    pub(super) method: &'static str,
    pub(super) path: &'d str,
    path_item: &'d Value,
    value: &'d Value,
}

/// All operations, by path.
pub(super) fn all(document: &Value) -> Vec<Operation<'_>> {
    let mut operations = Vec::new();
    for section in ["paths", "webhooks"] {
        let items = document.get(section).and_then(Value::as_object);
        for (path, path_item) in items.into_iter().flatten() {
            let path_item = resolved(document, path_item);
            for (key, method) in METHODS {
                if let Some(value) = path_item.get(key).filter(|value| value.is_object()) {
                    operations.push(Operation {
                        method,
                        path,
                        path_item,
                        value,
                    });
                }
            }
        }
    }
    operations
}

/// Where the interface is served.
pub(super) fn servers(document: &Value) -> Vec<String> {
    let servers = document.get("servers").and_then(Value::as_array);
    let urls = servers.into_iter().flatten();
    let mut urls: Vec<String> = urls
        .filter_map(|server| text_at(server, "/url").map(str::to_owned))
        .take(3)
        .collect();
    if let Some(host) = text_at(document, "/host") {
        let base = text_at(document, "/basePath").unwrap_or_default();
        let scheme = text_at(document, "/schemes/0").unwrap_or("https");
        urls.push(format!("{scheme}://{host}{base}"));
    }
    urls
}

impl Operation<'_> {
    /// What it is and what it is for, as a line.
    pub(super) fn line(&self) -> String {
        let mut line = format!("{} {}", self.method, shown(self.path));
        if self.value.get("deprecated").and_then(Value::as_bool) == Some(true) {
            line.push_str(" (deprecated)");
        }
        let said = ["/summary", "/description"]
            .into_iter()
            .find_map(|key| text_at(self.value, key).and_then(first_sentence));
        let said = said.or_else(|| text_at(self.value, "/operationId").map(str::to_owned));
        if let Some(said) = said {
            line.push_str(": ");
            line.push_str(&said);
        }
        line.push('\n');
        line
    }

    /// What it takes and gives. The names of the schemas that it uses are added to `used`.
    pub(super) fn write_details(
        &self,
        document: &Value,
        text: &mut String,
        used: &mut BTreeSet<String>,
    ) {
        let mut parameters = Vec::new();
        for parameter in self.parameters(document) {
            if let Some(name) = name_of_ref(parameter) {
                parameters.push(shown(&name).into_owned());
                continue;
            }
            let place = text_at(parameter, "/in").unwrap_or("?");
            let schema = parameter.get("schema").unwrap_or(parameter);
            schema::collect(schema, used);
            let required = is_required(parameter) || place == "path";
            let mark = if required { "*" } else { "" };
            let kind = schema::type_of(schema);
            let name = text_at(parameter, "/name").unwrap_or("?");
            parameters.push(match place {
                "body" => format!("body{mark}: {kind}"),
                place => format!("{} {}{mark}: {kind}", shown(place), shown(name)),
            });
        }
        if let Some(body) = self.value.get("requestBody") {
            let required = is_required(resolved(document, body));
            let mark = if required { "*" } else { "" };
            let kind = content(document, body, used);
            parameters.push(format!("body{mark}: {kind}"));
        }
        write_parts(text, "", parameters);

        let answers = self.value.get("responses").and_then(Value::as_object);
        let answers = answers.into_iter().flatten();
        let answers = answers.map(|(status, answer)| {
            let kind = content(document, answer, used);
            format!("{} {kind}", shown(status)).trim_end().to_owned()
        });
        write_parts(text, "answers ", answers.collect());
    }

    /// The parameters of the path and of the operation; where both have one it is the operation's.
    fn parameters<'d>(&'d self, document: &'d Value) -> Vec<&'d Value> {
        let mut parameters: Vec<&Value> = Vec::new();
        for owner in [self.value, self.path_item] {
            let list = owner.get("parameters").and_then(Value::as_array);
            for parameter in list.into_iter().flatten() {
                let parameter = resolved(document, parameter);
                let key = |parameter: &Value| {
                    let (name, place) = (parameter.get("name"), parameter.get("in"));
                    (name.cloned(), place.cloned())
                };
                if !parameters.iter().any(|known| key(known) == key(parameter)) {
                    parameters.push(parameter);
                }
            }
        }
        parameters
    }
}

/// The type of a body or an answer: of its JSON if it has some, else of the first kind of content.
fn content(document: &Value, value: &Value, used: &mut BTreeSet<String>) -> String {
    let value = resolved(document, value);
    if let Some(name) = name_of_ref(value) {
        return shown(&name).into_owned();
    }
    let kinds = value.get("content").and_then(Value::as_object);
    let kinds = || kinds.into_iter().flatten();
    let json = kinds().find(|(kind, _)| kind.contains("json"));
    let content = json.or_else(|| kinds().next());
    let schema = content.and_then(|(_, content)| content.get("schema"));
    match (schema.or_else(|| value.get("schema")), content) {
        (Some(schema), _) => {
            schema::collect(schema, used);
            schema::type_of(schema)
        }
        (None, Some((kind, _))) => shown(kind).into_owned(),
        (None, None) => String::new(),
    }
}

fn write_parts(text: &mut String, title: &str, mut parts: Vec<String>) {
    if parts.is_empty() {
        return;
    }
    let more = parts.len().saturating_sub(MAX_PARTS);
    if more > 0 {
        parts.truncate(MAX_PARTS);
        parts.push(format!("… {more} more"));
    }
    text.push_str(&format!("  {title}{}\n", parts.join("; ")));
}

fn is_required(value: &Value) -> bool {
    value.get("required").and_then(Value::as_bool) == Some(true)
}

/// What a reference within the document refers to; the reference itself if that is not found.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let mut current = value;
    // References may go in circles.
    for _ in 0..8 {
        let pointer = text_at(current, "/$ref").and_then(|target| target.strip_prefix('#'));
        match pointer.and_then(|pointer| document.pointer(pointer)) {
            Some(target) => current = target,
            None => return current,
        }
    }
    current
}

/// The first sentence of a text, without its full stop.
fn first_sentence(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let sentence = line.split_once(". ").map_or(line, |(first, _)| first);
    let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
    let mut chars = sentence.chars();
    let mut kept: String = chars.by_ref().take(MAX_CHARS).collect();
    if chars.next().is_some() {
        kept.push('…');
    }
    Some(shown(&kept).into_owned())
}
