//! The shapes of OTLP in JSON. Whole numbers of 64 bits are strings there.

use jiff::Timestamp;
use serde_json::{Value, json};

/// A value of an attribute.
pub(super) fn value(of: &Value) -> Value {
    match of {
        Value::Bool(is) => json!({ "boolValue": is }),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => json!({ "intValue": whole.to_string() }),
            None => json!({ "doubleValue": number }),
        },
        Value::String(text) => json!({ "stringValue": text }),
        Value::Array(values) => {
            let values: Vec<Value> = values.iter().map(value).collect();
            json!({ "arrayValue": { "values": values } })
        }
        other => json!({ "stringValue": other.to_string() }),
    }
}

/// Attributes with their names.
pub(super) fn attributes<'a>(of: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let attribute = |(key, of)| json!({ "key": key, "value": value(&of) });
    of.into_iter().map(attribute).collect()
}

/// Nanoseconds since 1970.
pub(super) fn time(at: Timestamp) -> String {
    at.as_nanosecond().max(0).to_string()
}

pub(super) fn spans(resource: &Value, spans: Vec<Value>) -> Value {
    let scoped = json!([{ "scope": scope(), "spans": spans }]);
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": scoped }] })
}

pub(super) fn metrics(resource: &Value, metrics: Vec<Value>) -> Value {
    let scoped = json!([{ "scope": scope(), "metrics": metrics }]);
    json!({ "resourceMetrics": [{ "resource": resource, "scopeMetrics": scoped }] })
}

fn scope() -> Value {
    json!({ "name": "kitbag", "version": env!("CARGO_PKG_VERSION") })
}
