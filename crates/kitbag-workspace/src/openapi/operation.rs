//! One method of one path: its parameters and its responses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::schema::{self, name_of_ref};
use crate::json::{entries, is_true, items, text};
use crate::shown::{first_of, shown};

const METHODS: [&str; 8] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE",
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
    for (path, path_item) in entries(document, "/paths").chain(entries(document, "/webhooks")) {
        let path_item = resolved(document, path_item);
        for method in METHODS {
            let value = path_item.get(method.to_ascii_lowercase());
            if let Some(value) = value.filter(|value| value.is_object()) {
                operations.push(Operation {
                    method,
                    path,
                    path_item,
                    value,
                });
            }
        }
    }
    operations
}

/// The addresses at which the interface is served.
pub(super) fn servers(document: &Value) -> Vec<String> {
    let urls = items(document, "/servers").filter_map(|server| text(server, "/url"));
    let mut urls: Vec<String> = urls.take(3).map(str::to_owned).collect();
    if let Some(host) = text(document, "/host") {
        // Swagger 2 gives the address in three parts.
        let base = text(document, "/basePath").unwrap_or_default();
        let scheme = text(document, "/schemes/0").unwrap_or("https");
        urls.push(format!("{scheme}://{host}{base}"));
    }
    urls
}

impl Operation<'_> {
    /// Its method, its path and its purpose, as a line.
    pub(super) fn line(&self) -> String {
        let deprecated = match is_true(self.value, "/deprecated") {
            true => " (deprecated)",
            false => "",
        };
        let said = ["/summary", "/description"]
            .into_iter()
            .find_map(|key| text(self.value, key).and_then(first_sentence));
        let said = said.or_else(|| text(self.value, "/operationId").map(str::to_owned));
        let said = said.map_or(String::new(), |said| format!(": {said}"));
        format!("{} {}{deprecated}{said}\n", self.method, shown(self.path))
    }

    /// Its parameters and answers. The names of the schemas that it uses are added to `used`.
    pub(super) fn details(&self, document: &Value, used: &mut BTreeSet<String>) -> String {
        let mut parameters = Vec::new();
        for parameter in self.parameters(document) {
            if let Some(name) = name_of_ref(parameter) {
                parameters.push(shown(&name).into_owned());
                continue;
            }
            let place = text(parameter, "/in").unwrap_or("?");
            // In Swagger 2 the type stands in the parameter itself.
            let schema = parameter.get("schema").unwrap_or(parameter);
            schema::collect(schema, used);
            // A parameter of the path is always required, said or not.
            let is_required = is_true(parameter, "/required") || place == "path";
            let mark = if is_required { "*" } else { "" };
            let kind = schema::type_of(schema);
            let name = text(parameter, "/name").unwrap_or("?");
            parameters.push(match place {
                "body" => format!("body{mark}: {kind}"),
                place => format!("{} {}{mark}: {kind}", shown(place), shown(name)),
            });
        }
        if let Some(body) = self.value.get("requestBody") {
            let is_required = is_true(resolved(document, body), "/required");
            let mark = if is_required { "*" } else { "" };
            let kind = content(document, body, used);
            parameters.push(format!("body{mark}: {kind}"));
        }
        let answers = entries(self.value, "/responses").map(|(status, answer)| {
            let kind = content(document, answer, used);
            format!("{} {kind}", shown(status)).trim_end().to_owned()
        });
        let answers = first_of(answers, MAX_PARTS).join("; ");
        let parameters = first_of(parameters, MAX_PARTS).join("; ");
        [("", parameters), ("answers ", answers)]
            .into_iter()
            .filter(|(_, parts)| !parts.is_empty())
            .map(|(title, parts)| format!("  {title}{parts}\n"))
            .collect()
    }

    /// The parameters of the path and of the operation; where both have one it is the operation's.
    fn parameters<'d>(&'d self, document: &'d Value) -> Vec<&'d Value> {
        let mut parameters: Vec<&Value> = Vec::new();
        let key = |parameter: &'d Value| (parameter.get("name"), parameter.get("in"));
        let own = items(self.value, "/parameters");
        for parameter in own.chain(items(self.path_item, "/parameters")) {
            let parameter = resolved(document, parameter);
            if !parameters.iter().any(|known| key(known) == key(parameter)) {
                parameters.push(parameter);
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
    let kinds = || entries(value, "/content");
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

/// The target of a reference within the document; the reference itself if that is not found.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let mut current = value;
    // References may go in circles.
    for _ in 0..8 {
        let pointer = text(current, "/$ref").and_then(|target| target.strip_prefix('#'));
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
