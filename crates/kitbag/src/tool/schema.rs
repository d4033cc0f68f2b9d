//! The JSON schema of a type, as models and protocols take it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema, whole: no part of it stands elsewhere, since not every client follows references.
pub(super) fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        // The name of our type and its comment say nothing to a model.
        fields.remove("title");
        fields.remove("description");
        fields.entry("type").or_insert_with(|| "object".into());
        fields.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    without_formats(&mut schema);
    schema
}

/// Removes the formats of Rust's numbers, such as `uint32`, which no standard knows.
fn without_formats(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_number = fields
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"));
            if is_number {
                fields.remove("format");
            }
            fields.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}
