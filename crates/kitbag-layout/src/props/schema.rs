//! Reads a schema from a file. A malformed part is an error that names its key.

use regex::{Regex, RegexBuilder};

use super::{KINDS, PropKind, PropSchema, PropsSchema};
use crate::nearest;
use crate::value::{Number, Value};
use crate::yaml::{Field, NodeKind};

/// The most memory that a pattern may take. Bounded repetitions such as `(a{999}){999}` can ask for
/// any amount.
const MAX_PATTERN_BYTES: usize = 1 << 20;

impl PropsSchema {
    /// Reads a map of names to schemas.
    pub(crate) fn read(field: &Field<'_>) -> Option<Self> {
        let props = field.read_entries(PropSchema::read)?;
        Some(Self { props })
    }
}

impl PropSchema {
    fn read(field: &Field<'_>) -> Option<Self> {
        if let Some(name) = field.as_text() {
            let message = format!("expected a map, got the text `{name}`");
            return field.error_with_hint(message, format!("write `{{type: {name}}}`"));
        }
        field.map()?;
        let kind = match field.get("type") {
            Some(kind) => read_kind(&kind),
            None => {
                field.warning("without a `type` any value is accepted");
                Some(PropKind::Node)
            }
        };
        let required = field.get_any(&["isRequired", "required"]);
        let mut prop = Self {
            kind: kind.unwrap_or_default(),
            required: required.and_then(|it| it.bool()).unwrap_or_default(),
            description: field.read("description", Field::text),
            one_of: field.read("oneOf", read_values),
            item_one_of: field.read("itemOneOf", read_values),
            min: field.read("min", read_number),
            max: field.read("max", read_number),
            min_length: field.read("minLength", read_length),
            max_length: field.read("maxLength", read_length),
            pattern: field.read("pattern", read_pattern),
            ..Self::default()
        };
        let parts = kind.and_then(|_| prop.read_parts(field));
        let default = field.get_any(&["defaultValue", "default"]);
        // These keys are known even if an error kept them from being read.
        field.warn_of_misspelt_keys(&["shape", "itemType", "types"]);
        parts?;
        prop.refuse_contradictions(field);
        if let Some(default) = default {
            prop.read_default(&default);
        }
        Some(prop)
    }

    /// Reads the schemas inside this one.
    fn read_parts(&mut self, field: &Field<'_>) -> Option<()> {
        self.shape = match field.get("shape") {
            Some(shape) => Some(PropsSchema::read(&shape)?),
            None => None,
        };
        if self.kind == PropKind::Shape && self.shape.is_none() {
            return field.error("a shape needs the schemas of its entries in `shape`");
        }
        if let Some(item) = field.get("itemType") {
            let mut item = read_type(&item)?;
            // The entries of items may be next to the type of the items instead of inside it.
            if item.kind == PropKind::Object
                && self.kind == PropKind::ArrayOf
                && let Some(shape) = self.shape.take()
            {
                item = Self {
                    shape: Some(shape),
                    ..Self::any(PropKind::Shape)
                };
            }
            self.item = Some(Box::new(item));
        }
        match field.get("types") {
            Some(types) if types.is_list() => {
                self.types = types.items().filter_map(|it| read_type(&it)).collect();
            }
            Some(types) => types.refuse("a list of types")?,
            None => {}
        }
        if self.kind == PropKind::OneOfType && self.types.is_empty() {
            return field.error("`oneOfType` needs a list of types in `types`");
        }
        Some(())
    }

    fn refuse_contradictions(&self, field: &Field<'_>) {
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min.as_f64() > max.as_f64()
        {
            field.error::<()>(format!("min {min} is above max {max}"));
        }
        if let (Some(min), Some(max)) = (self.min_length, self.max_length)
            && min > max
        {
            field.error::<()>(format!("minLength {min} is above maxLength {max}"));
        }
    }

    fn read_default(&mut self, field: &Field<'_>) {
        let value = field.node.to_value();
        for error in self.errors_of(&value, "the default") {
            field.warning(format!("{} is not valid: {}", error.path, error.message));
        }
        self.default = Some(value);
    }
}

fn read_kind(field: &Field<'_>) -> Option<PropKind> {
    let name = field.text()?;
    let known = KINDS.iter().find(|(known, _)| *known == name);
    if let Some((_, kind)) = known {
        return Some(*kind);
    }
    let names = KINDS.map(|(name, _)| name);
    let hint = match nearest::within_two(&name, &names) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the types are {}", names.join(", ")),
    };
    field.error_with_hint(format!("`{name}` is not a type of props"), hint)
}

/// Reads a type inside another: its name alone, which says nothing about its parts, or a whole
/// schema.
fn read_type(field: &Field<'_>) -> Option<PropSchema> {
    if field.is_map() {
        return PropSchema::read(field);
    }
    Some(PropSchema::any(match read_kind(field)? {
        PropKind::Shape => PropKind::Object,
        PropKind::ArrayOf => PropKind::Array,
        PropKind::OneOfType => PropKind::Node,
        kind => kind,
    }))
}

fn read_values(field: &Field<'_>) -> Option<Vec<Value>> {
    match field.node.to_value() {
        Value::List(values) if !values.is_empty() => Some(values),
        Value::List(_) => field.error("expected a list of values, got an empty one"),
        _ => field.refuse("a list of values"),
    }
}

fn read_number(field: &Field<'_>) -> Option<Number> {
    match field.node.kind {
        NodeKind::Number(number) if number.as_f64().is_finite() => Some(number),
        _ => field.refuse("a number"),
    }
}

fn read_length(field: &Field<'_>) -> Option<u64> {
    match field.node.kind {
        NodeKind::Number(number) => match number.as_u64() {
            Some(length) => Some(length),
            None => field.error(format!("expected a length, got {number}")),
        },
        _ => field.refuse("a length"),
    }
}

fn read_pattern(field: &Field<'_>) -> Option<Regex> {
    let pattern = field.text()?;
    let built = RegexBuilder::new(&pattern)
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .nest_limit(64)
        .build();
    let error = match built {
        Ok(pattern) => return Some(pattern),
        Err(regex::Error::CompiledTooBig(limit)) => format!("it takes over {limit} bytes"),
        Err(other) => other.to_string(),
    };
    // The message ends with the reason, behind a drawing of the place.
    let reason = error.lines().last().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    field.error(format!("`{pattern}` is not a pattern: {reason}"))
}
