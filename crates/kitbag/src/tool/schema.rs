//! The JSON schema of a type, as models and protocols take it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema, whole: no part of it stands elsewhere, since not every client follows references.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(fields) = schema.as_object_mut() {
        // The name of our type and its comment say nothing to a model.
        fields.remove("title");
        fields.remove("description");
        fields.entry("type").or_insert_with(|| "object".into());
        fields
            .entry("properties")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    make_portable(&mut schema);
    schema
}

/// Removes what not every client understands: the formats of Rust's numbers, such as `uint32`, and that a
/// field may be null, since one that may be missing says the same.
fn make_portable(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_number = fields
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"));
            if is_number {
                fields.remove("format");
            }
            if let Some(Value::Array(types)) = fields.get("type")
                && let [only, Value::String(null)] = types.as_slice()
                && null == "null"
            {
                let only = only.clone();
                fields.insert("type".to_owned(), only);
            }
            fields.values_mut().for_each(make_portable);
        }
        Value::Array(items) => items.iter_mut().for_each(make_portable),
        _ => {}
    }
}
