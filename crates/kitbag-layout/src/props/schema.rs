//! Reading a schema from a file. Whatever is malformed is an error that names its key.

use regex::{Regex, RegexBuilder};

use super::{PropKind, PropSchema, PropsSchema};
use crate::nearest;
use crate::problem::Problems;
use crate::value::{Number, Value};
use crate::yaml::{Field, NodeKind};

/// How much memory a pattern may take: bounded repetitions can ask for any amount.
const MAX_PATTERN_BYTES: usize = 1 << 20;

const TYPES: &[&str] = &[
    "string",
    "number",
    "bool",
    "boolean",
    "array",
    "arrayOf",
    "object",
    "shape",
    "oneOfType",
    "func",
    "function",
    "node",
];

const KEYS: &[&str] = &[
    "type",
    "isRequired",
    "required",
    "defaultValue",
    "default",
    "oneOf",
    "min",
    "max",
    "minLength",
    "maxLength",
    "itemType",
    "itemOneOf",
    "shape",
    "types",
    "pattern",
    "description",
];

impl PropsSchema {
    /// Reads a map of names to schemas.
    pub(crate) fn read(field: &Field<'_>, problems: &mut Problems) -> Option<Self> {
        let props = field
            .map(problems)?
            .entries()
            .filter_map(|entry| {
                let prop = PropSchema::read(&entry, problems)?;
                Some((entry.name().to_owned(), prop))
            })
            .collect();
        Some(Self { props })
    }
}

impl PropSchema {
    fn read(field: &Field<'_>, problems: &mut Problems) -> Option<Self> {
        if let Some(name) = field.as_text() {
            let message = format!("expected a map, got the text `{name}`");
            problems.error_with_hint(field, message, format!("write `{{type: {name}}}`"));
            return None;
        }
        field.map(problems)?;
        problems.warn_of_misspelt_keys(field, KEYS);
        let mut prop = Self::any(match field.get("type") {
            Some(kind) => read_kind(&kind, problems)?,
            None => {
                problems.warning(field, "without a `type` any value is accepted");
                PropKind::Node
            }
        });
        prop.required = field
            .get_any(&["isRequired", "required"])
            .and_then(|f| f.bool(problems))
            .unwrap_or(false);
        prop.description = field.get("description").and_then(|d| d.text(problems));
        prop.one_of = field.get("oneOf").and_then(|f| read_values(&f, problems));
        prop.item_one_of = field
            .get("itemOneOf")
            .and_then(|f| read_values(&f, problems));
        prop.min = field.get("min").and_then(|f| read_number(&f, problems));
        prop.max = field.get("max").and_then(|f| read_number(&f, problems));
        prop.min_length = field
            .get("minLength")
            .and_then(|f| read_length(&f, problems));
        prop.max_length = field
            .get("maxLength")
            .and_then(|f| read_length(&f, problems));
        prop.pattern = field
            .get("pattern")
            .and_then(|f| read_pattern(&f, problems));
        prop.read_parts(field, problems)?;
        prop.refuse_contradictions(field, problems);
        if let Some(default) = field.get_any(&["defaultValue", "default"]) {
            prop.read_default(&default, problems);
        }
        Some(prop)
    }

    /// Reads the schemas inside this one.
    fn read_parts(&mut self, field: &Field<'_>, problems: &mut Problems) -> Option<()> {
        self.shape = match field.get("shape") {
            Some(shape) => Some(PropsSchema::read(&shape, problems)?),
            None => None,
        };
        if self.kind == PropKind::Shape && self.shape.is_none() {
            problems.error(field, "a shape needs the schemas of its entries in `shape`");
            return None;
        }
        if let Some(item) = field.get("itemType") {
            let mut item = read_type(&item, problems)?;
            // The entries of items may stand beside the type of the items.
            if item.kind == PropKind::Object && self.kind == PropKind::ArrayOf {
                item = match self.shape.take() {
                    Some(shape) => Self {
                        shape: Some(shape),
                        ..Self::any(PropKind::Shape)
                    },
                    None => item,
                };
            }
            self.item = Some(Box::new(item));
        }
        match field.get("types") {
            Some(types) if matches!(types.node.kind, NodeKind::List(_)) => {
                self.types = types
                    .items()
                    .filter_map(|item| read_type(&item, problems))
                    .collect();
            }
            Some(types) => types.refuse(problems, "a list of types")?,
            None => {}
        }
        if self.kind == PropKind::OneOfType && self.types.is_empty() {
            problems.error(field, "`oneOfType` needs a list of types in `types`");
            return None;
        }
        Some(())
    }

    fn refuse_contradictions(&self, field: &Field<'_>, problems: &mut Problems) {
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min.as_f64() > max.as_f64()
        {
            problems.error(field, format!("min {min} is above max {max}"));
        }
        if let (Some(min), Some(max)) = (self.min_length, self.max_length)
            && min > max
        {
            problems.error(field, format!("minLength {min} is above maxLength {max}"));
        }
    }

    fn read_default(&mut self, field: &Field<'_>, problems: &mut Problems) {
        let value = field.node.to_value();
        for error in self.errors_of(&value, "the default") {
            let message = format!("{} is not valid: {}", error.path, error.message);
            problems.warning(field, message);
        }
        self.default = Some(value);
    }
}

fn read_kind(field: &Field<'_>, problems: &mut Problems) -> Option<PropKind> {
    let name = field.text(problems)?;
    let kind = PropKind::from_name(&name);
    if kind.is_none() {
        let message = format!("`{name}` is not a type of props");
        let hint = match nearest::within_two(&name, TYPES) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the types are {}", TYPES.join(", ")),
        };
        problems.error_with_hint(field, message, hint);
    }
    kind
}

/// A type inside another: its name, which then says nothing of its parts, or a whole schema.
fn read_type(field: &Field<'_>, problems: &mut Problems) -> Option<PropSchema> {
    if field.is_map() {
        return PropSchema::read(field, problems);
    }
    Some(PropSchema::any(match read_kind(field, problems)? {
        PropKind::Shape => PropKind::Object,
        PropKind::ArrayOf => PropKind::Array,
        PropKind::OneOfType => PropKind::Node,
        kind => kind,
    }))
}

fn read_values(field: &Field<'_>, problems: &mut Problems) -> Option<Vec<Value>> {
    match field.node.to_value() {
        Value::List(values) if !values.is_empty() => Some(values),
        Value::List(_) => {
            problems.error(field, "expected a list of values, got an empty one");
            None
        }
        _ => field.refuse(problems, "a list of values"),
    }
}

fn read_number(field: &Field<'_>, problems: &mut Problems) -> Option<Number> {
    match field.node.kind {
        NodeKind::Number(number) if number.as_f64().is_finite() => Some(number),
        _ => field.refuse(problems, "a number"),
    }
}

fn read_length(field: &Field<'_>, problems: &mut Problems) -> Option<u64> {
    match field.node.kind {
        NodeKind::Number(number) if number.as_u64().is_some() => number.as_u64(),
        NodeKind::Number(number) => {
            problems.error(field, format!("expected a length, got {number}"));
            None
        }
        _ => field.refuse(problems, "a length"),
    }
}

fn read_pattern(field: &Field<'_>, problems: &mut Problems) -> Option<Regex> {
    let pattern = field.text(problems)?;
    let built = RegexBuilder::new(&pattern)
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .nest_limit(64)
        .build();
    match built {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let error = match error {
                regex::Error::CompiledTooBig(limit) => format!("it takes over {limit} bytes"),
                other => other.to_string(),
            };
            // The message ends with what is wrong, after a drawing of where.
            let reason = error.lines().last().unwrap_or_default();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            problems.error(field, format!("`{pattern}` is not a pattern: {reason}"));
            None
        }
    }
}
