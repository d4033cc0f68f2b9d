//! Checks props against their schema.

use super::{Checked, PropError, PropKind, PropSchema, PropsMode, PropsSchema};
use crate::value::{Map, Value};

/// Overlays props on others, as they are overlaid on defaults.
#[must_use]
pub fn overlay(base: Option<&Value>, over: Option<&Value>) -> Option<Value> {
    match (base, over) {
        (Some(Value::Map(base)), Some(Value::Map(over))) => {
            Some(Value::Map(merge(base, Some(over))))
        }
        (base, over) => over.or(base).cloned(),
    }
}

/// Overlays one map on another: maps are merged key by key, other values are replaced, and `null`
/// leaves the value below.
pub(crate) fn merge(base: &Map, over: Option<&Map>) -> Map {
    let mut merged = base.clone();
    for (key, value) in over.into_iter().flatten() {
        let value = match (base.get(key), value) {
            (Some(_), Value::Null) => continue,
            (Some(Value::Map(base)), Value::Map(over)) => Value::Map(merge(base, Some(over))),
            _ => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    merged
}

impl PropsSchema {
    /// Overlays `props` on `defaults`, and those on the defaults of the schema, and checks the
    /// result. An invalid value is replaced by its default.
    #[must_use]
    pub fn check(
        &self,
        props: Option<&Value>,
        defaults: Option<&Value>,
        mode: PropsMode,
    ) -> Checked {
        // All layers share one report, so that every mistake is reported.
        let mut report = Report::new(mode);
        // From the weakest to the strongest: the schema's defaults, the layout's, the agent's.
        let base = merge(&self.own_defaults(), report.map_of(defaults));
        let given = merge(&base, report.map_of(props));
        let props = if self.is_empty() {
            given
        } else {
            self.resolve(&given, &base, "props", &mut report)
        };
        Checked {
            props: Value::Map(props),
            errors: report.errors,
            warnings: report.warnings,
        }
    }

    /// The defaults of the props themselves. Those inside a shape are added later: an optional
    /// shape that is missing must not become one that lacks its required entries.
    fn own_defaults(&self) -> Map {
        self.defaults(|prop| prop.default.clone())
    }

    fn defaults(&self, default: impl Fn(&PropSchema) -> Option<Value>) -> Map {
        let props = self.props.iter();
        props
            .filter_map(|(name, prop)| Some((name.clone(), default(prop)?)))
            .collect()
    }

    fn resolve(&self, given: &Map, base: &Map, path: &str, report: &mut Report) -> Map {
        for name in given.keys().filter(|name| !self.props.contains_key(*name)) {
            report.unknown(format!("{path}.{name}"), name);
        }
        let resolved = self.props.iter().filter_map(|(name, prop)| {
            let path = format!("{path}.{name}");
            let value = prop.resolve(given.get(name), base.get(name), &path, name, report)?;
            Some((name.clone(), value))
        });
        resolved.collect()
    }
}

impl PropSchema {
    /// The default, or a map of the defaults inside a shape.
    fn default(&self) -> Option<Value> {
        self.default.clone().or_else(|| {
            let defaults = self.shape.as_ref()?.defaults(Self::default);
            (self.kind == PropKind::Shape && !defaults.is_empty()).then_some(Value::Map(defaults))
        })
    }

    fn resolve(
        &self,
        given: Option<&Value>,
        base: Option<&Value>,
        path: &str,
        name: &str,
        report: &mut Report,
    ) -> Option<Value> {
        let Some(given) = given.filter(|given| **given != Value::Null) else {
            let default = self.default();
            if self.required && default.is_none() {
                report.error(path, format!("Required prop '{name}' is missing"));
            }
            return default;
        };
        // First the value, then what lies beneath it, then the schema's default: the nearest valid
        // one wins.
        self.accept(given, base, path, report).or_else(|| {
            let base = base.filter(|base| *base != given);
            let accepted = base.and_then(|base| self.accept_quietly(base, path));
            accepted.or_else(|| {
                let default = self.default()?;
                Some(self.accept_quietly(&default, path).unwrap_or(default))
            })
        })
    }

    /// The value with its parts resolved, if it has no error.
    fn accept_quietly(&self, value: &Value, path: &str) -> Option<Value> {
        let mut report = Report::new(PropsMode::Lenient);
        let value = self.accept(value, None, path, &mut report)?;
        report.errors.is_empty().then_some(value)
    }

    /// The errors in a value.
    pub(super) fn errors_of(&self, value: &Value, path: &str) -> Vec<PropError> {
        let mut report = Report::new(PropsMode::Lenient);
        self.accept(value, None, path, &mut report);
        report.errors
    }

    /// The value with its parts resolved; none if it cannot be used, with the reason in the report.
    fn accept(
        &self,
        value: &Value,
        base: Option<&Value>,
        path: &str,
        report: &mut Report,
    ) -> Option<Value> {
        let refused = match (self.kind, value) {
            (PropKind::String, Value::Text(text)) => self
                .other_than_allowed(value)
                // As JavaScript counts, in which layouts in use were written: in units of UTF-16.
                .or_else(|| self.wrong_length("String", text.encode_utf16().count()))
                .or_else(|| {
                    let pattern = self.pattern.as_ref()?;
                    let message = format!("String does not match pattern {pattern}");
                    (!pattern.is_match(text)).then_some(message)
                }),
            (PropKind::Number, Value::Number(number)) if !number.as_f64().is_nan() => {
                match (self.min, self.max) {
                    (Some(min), _) if number.as_f64() < min.as_f64() => {
                        Some(format!("Number must be >= {min}"))
                    }
                    (_, Some(max)) if number.as_f64() > max.as_f64() => {
                        Some(format!("Number must be <= {max}"))
                    }
                    _ => self.other_than_allowed(value),
                }
            }
            (PropKind::Bool, Value::Bool(_))
            | (PropKind::Object, Value::Map(_))
            | (PropKind::Node, _) => self.other_than_allowed(value),
            (PropKind::Array, Value::List(list)) => self
                .wrong_length("Array", list.len())
                .or_else(|| self.other_than_allowed(value)),
            (PropKind::ArrayOf, Value::List(list)) => {
                match self.wrong_length("Array", list.len()) {
                    None => return self.accept_items(list, path, report),
                    refused => refused,
                }
            }
            (PropKind::Shape, Value::Map(given)) => {
                let (shape, empty) = (self.shape.clone().unwrap_or_default(), Map::new());
                let base = base.and_then(Value::as_map).unwrap_or(&empty);
                return Some(Value::Map(shape.resolve(given, base, path, report)));
            }
            (PropKind::OneOfType, _) => {
                // Errors of types that do not fit are dropped: any fitting type is enough.
                let fits = |kind: &Self| kind.errors_of(value, path).is_empty();
                if self.types.iter().any(fits) {
                    self.other_than_allowed(value)
                } else {
                    let types: Vec<_> = self.types.iter().map(|t| t.kind.name()).collect();
                    let types = types.join(", ");
                    Some(format!("Value does not match any allowed type: {types}"))
                }
            }
            (kind, value) => {
                let (expected, got) = (expected(kind), value.kind());
                Some(format!("Expected {expected}, got {got}"))
            }
        };
        match refused {
            None => Some(value.clone()),
            Some(message) => {
                report.error(path, message);
                None
            }
        }
    }

    fn accept_items(&self, list: &[Value], path: &str, report: &mut Report) -> Option<Value> {
        let before = report.errors.len();
        let mut items = Vec::with_capacity(list.len());
        for (at, item) in list.iter().enumerate() {
            let path = format!("{path}.{at}");
            items.extend(match &self.item {
                Some(schema) => schema.accept(item, None, &path, report),
                None => Some(item.clone()),
            });
            if let Some(allowed) = &self.item_one_of
                && !allowed.contains(item)
            {
                let allowed = join(allowed);
                report.error(&path, format!("Array item must be one of: {allowed}"));
            }
        }
        (report.errors.len() == before).then_some(Value::List(items))
    }

    /// The error that a value is not among the allowed ones.
    fn other_than_allowed(&self, value: &Value) -> Option<String> {
        let allowed = self.one_of.as_ref()?;
        (!allowed.contains(value)).then(|| format!("Expected one of: {}", join(allowed)))
    }

    /// The error that a text or a list is too short or too long.
    fn wrong_length(&self, what: &str, length: usize) -> Option<String> {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        match (self.min_length, self.max_length) {
            (Some(min), _) if length < min => Some(format!("{what} length must be >= {min}")),
            (_, Some(max)) if length > max => Some(format!("{what} length must be <= {max}")),
            _ => None,
        }
    }
}

/// The expected type, in the words of JavaScript.
fn expected(kind: PropKind) -> &'static str {
    match kind {
        PropKind::Bool => "boolean",
        PropKind::ArrayOf => "array",
        PropKind::Shape => "object",
        PropKind::Func => "function",
        PropKind::String
        | PropKind::Number
        | PropKind::Array
        | PropKind::Object
        | PropKind::OneOfType
        | PropKind::Node => kind.name(),
    }
}

fn join(values: &[Value]) -> String {
    let text = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    };
    values.iter().map(text).collect::<Vec<_>>().join(", ")
}

struct Report {
    mode: PropsMode,
    errors: Vec<PropError>,
    warnings: Vec<PropError>,
}

impl Report {
    fn new(mode: PropsMode) -> Self {
        Self {
            mode,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The map of a layer of props. Any other value is an error, except none at all.
    fn map_of<'a>(&mut self, layer: Option<&'a Value>) -> Option<&'a Map> {
        if let Some(other) = layer
            && !matches!(other, Value::Null | Value::Map(_))
        {
            self.error("props", format!("Expected object, got {}", other.kind()));
        }
        layer?.as_map()
    }

    fn error(&mut self, path: &str, message: String) {
        let path = path.to_owned();
        self.errors.push(PropError { path, message });
    }

    fn unknown(&mut self, path: String, name: &str) {
        let message = format!("Unknown prop '{name}'");
        match self.mode {
            PropsMode::Strict => self.errors.push(PropError { path, message }),
            PropsMode::Lenient => self.warnings.push(PropError { path, message }),
        }
    }
}
