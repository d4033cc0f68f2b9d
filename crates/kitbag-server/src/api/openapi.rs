//! The description of the endpoints as OpenAPI 3.1, made of the table that the routes are made of.

use std::sync::LazyLock;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{Answer, Endpoint, SchemaOf, endpoints, schema_of};
use crate::refusal::ErrorReport;

/// The document, which is made once: anybody may ask for it.
pub(super) fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(make);
    &DOCUMENT
}

fn make() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for endpoint in endpoints() {
        let method = endpoint.method.as_str().to_lowercase();
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(method, operation(&endpoint, &mut generator));
        }
    }
    // After all operations: each may add definitions.
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Kitbag",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A context engine for LLM agents: packs, prompts and memory",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        // A server without keys needs none.
        "security": [{"key": []}, {}],
    })
}

fn operation(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut schema = |of: SchemaOf| of(generator).to_value();
    let mut parameters = Vec::new();
    if endpoint.path.contains("{id}") {
        let kind = json!({"type": "string"});
        parameters.push(json!({"name": "id", "in": "path", "required": true, "schema": kind}));
    }
    if let Some(query) = endpoint.query {
        parameters.extend(query_parameters(query));
    }
    let answer = match &endpoint.answer {
        Answer::Json(of) => json!({"application/json": {"schema": schema(*of)}}),
        Answer::JsonOrEvents(of) => json!({
            "application/json": {"schema": schema(*of)},
            "text/event-stream": {"schema": {"type": "string"}},
        }),
        Answer::Lines => json!({"application/x-ndjson": {"schema": {"type": "string"}}}),
        Answer::Text => json!({"text/plain": {"schema": {"type": "string"}}}),
        Answer::Prompt => json!({
            "text/plain": {"schema": {"type": "string"}},
            "application/json": {"schema": {}},
        }),
    };
    let error = schema(schema_of::<ErrorReport<'static>>);
    let error = json!({"application/json": {"schema": error}});
    let mut operation = json!({
        "summary": endpoint.summary,
        "description": format!("Needs a key with the scope `{}`, or `admin`.", endpoint.scope),
        "operationId": operation_id(endpoint),
        "responses": {
            "200": {"description": "The answer", "content": answer},
            "default": {"description": "A refusal", "content": error},
        },
    });
    if let Some(fields) = operation.as_object_mut() {
        if !parameters.is_empty() {
            fields.insert("parameters".to_owned(), parameters.into());
        }
        if let Some(body) = endpoint.body {
            let content = json!({"application/json": {"schema": schema(body)}});
            let body = json!({"required": true, "content": content});
            fields.insert("requestBody".to_owned(), body);
        }
    }
    operation
}

/// The fields of a query's type, each a parameter.
fn query_parameters(query: SchemaOf) -> Vec<Value> {
    let mut settings = SchemaSettings::draft2020_12();
    // Parameters cannot refer to a definition of the whole query.
    settings.inline_subschemas = true;
    let mut generator = settings.into_generator();
    let schema = query(&mut generator).to_value();
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let fields = schema.get("properties").and_then(Value::as_object);
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.as_object().cloned().unwrap_or_default();
        // A parameter is left out and never null.
        if let Some(Value::Array(types)) = schema.get("type")
            && let Some(kind) = types.first().cloned()
        {
            schema.insert("type".to_owned(), kind);
        }
        let description = schema.remove("description");
        json!({
            "name": name,
            "in": "query",
            "required": is_required(name),
            "description": description,
            "schema": schema,
        })
    };
    fields.into_iter().flatten().map(parameter).collect()
}

/// A name such as `get_turns_replay`.
fn operation_id(endpoint: &Endpoint) -> String {
    let path = endpoint.path.trim_start_matches("/api/v1");
    let words = path
        .split('/')
        .filter(|word| !word.is_empty() && *word != "{id}");
    let words: Vec<&str> = words.collect();
    let by_id = if path.ends_with("{id}") { "_by_id" } else { "" };
    let method = endpoint.method.as_str().to_lowercase();
    format!("{method}_{}{by_id}", words.join("_"))
}
