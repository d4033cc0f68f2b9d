//! Holding props against their schema.

use super::{Checked, PropError, PropKind, PropSchema, PropsMode, PropsSchema};
use crate::value::{Map, Value};

pub(super) fn check(
    schema: &PropsSchema,
    props: Option<&Value>,
    defaults: Option<&Value>,
    mode: PropsMode,
) -> Checked {
    let mut report = Report::new(mode);
    let base = merge(&schema.own_defaults(), report.map_of(defaults));
    let given = merge(&base, report.map_of(props));
    let props = if schema.is_empty() {
        given
    } else {
        schema.resolve(&given, &base, "props", &mut report)
    };
    Checked {
        props: Value::Map(props),
        errors: report.errors,
        warnings: report.warnings,
    }
}

/// Lays props over others, as defaults are laid beneath them.
#[must_use]
pub fn overlay(base: Option<&Value>, over: Option<&Value>) -> Option<Value> {
    match (base, over) {
        (Some(Value::Map(base)), Some(Value::Map(over))) => {
            Some(Value::Map(merge(base, Some(over))))
        }
        (base, over) => over.or(base).cloned(),
    }
}

/// Lays one map over another: maps are merged key by key, all else is replaced, and nothing
/// (`null`) leaves what is there.
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
    /// The defaults that props have themselves. Those inside a shape come later: an optional
    /// shape that is missing must not become one that lacks what it requires.
    fn own_defaults(&self) -> Map {
        self.props
            .iter()
            .filter_map(|(name, prop)| Some((name.clone(), prop.default.clone()?)))
            .collect()
    }

    fn defaults(&self) -> Map {
        self.props
            .iter()
            .filter_map(|(name, prop)| Some((name.clone(), prop.default()?)))
            .collect()
    }

    fn resolve(&self, given: &Map, base: &Map, path: &str, report: &mut Report) -> Map {
        for name in given.keys().filter(|name| !self.props.contains_key(*name)) {
            report.unknown(&format!("{path}.{name}"), name);
        }
        let mut props = Map::new();
        for (name, prop) in &self.props {
            let path = format!("{path}.{name}");
            let value = prop.resolve(given.get(name), base.get(name), &path, name, report);
            if let Some(value) = value {
                props.insert(name.clone(), value);
            }
        }
        props
    }
}

impl PropSchema {
    /// The default, or that of the entries of a shape.
    fn default(&self) -> Option<Value> {
        self.default.clone().or_else(|| {
            let defaults = self.shape.as_ref()?.defaults();
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
        match self.accept(given, base, path, report) {
            Ok(value) => Some(value),
            Err(message) => {
                if let Some(message) = message {
                    report.error(path, message);
                }
                base.filter(|base| *base != given)
                    .and_then(|base| self.accept_quietly(base, path))
                    .or_else(|| {
                        let default = self.default()?;
                        Some(self.accept_quietly(&default, path).unwrap_or(default))
                    })
            }
        }
    }

    /// The value with what its parts became, if all is well with it.
    fn accept_quietly(&self, value: &Value, path: &str) -> Option<Value> {
        let mut report = Report::new(PropsMode::Lenient);
        let value = self.accept(value, None, path, &mut report).ok()?;
        report.errors.is_empty().then_some(value)
    }

    /// What is wrong with a value.
    pub(super) fn errors_of(&self, value: &Value, path: &str) -> Vec<PropError> {
        let mut report = Report::new(PropsMode::Lenient);
        if let Err(Some(message)) = self.accept(value, None, path, &mut report) {
            report.error(path, message);
        }
        report.errors
    }

    /// The value with what its parts became, or what is wrong with it: nothing more to say where
    /// the parts have been reported one by one.
    fn accept(
        &self,
        value: &Value,
        base: Option<&Value>,
        path: &str,
        report: &mut Report,
    ) -> Result<Value, Option<String>> {
        match (self.kind, value) {
            (PropKind::String, Value::Text(text)) => {
                self.check_one_of(value)?;
                // JavaScript counts the units of UTF-16.
                self.check_length("String", text.encode_utf16().count())?;
                match &self.pattern {
                    Some(pattern) if !pattern.is_match(text) => {
                        Err(Some(format!("String does not match pattern {pattern}")))
                    }
                    _ => Ok(value.clone()),
                }
            }
            (PropKind::Number, Value::Number(number)) if !number.as_f64().is_nan() => {
                match (self.min, self.max) {
                    (Some(min), _) if number.as_f64() < min.as_f64() => {
                        return Err(Some(format!("Number must be >= {min}")));
                    }
                    (_, Some(max)) if number.as_f64() > max.as_f64() => {
                        return Err(Some(format!("Number must be <= {max}")));
                    }
                    _ => {}
                }
                self.check_one_of(value)
            }
            (PropKind::Bool, Value::Bool(_))
            | (PropKind::Object, Value::Map(_))
            | (PropKind::Node, _) => self.check_one_of(value),
            (PropKind::Array, Value::List(list)) => {
                self.check_length("Array", list.len())?;
                self.check_one_of(value)
            }
            (PropKind::ArrayOf, Value::List(list)) => {
                self.check_length("Array", list.len())?;
                self.accept_items(list, path, report)
            }
            (PropKind::Shape, Value::Map(given)) => {
                let (shape, empty) = (self.shape.clone().unwrap_or_default(), Map::new());
                let base = base.and_then(Value::as_map).unwrap_or(&empty);
                Ok(Value::Map(shape.resolve(given, base, path, report)))
            }
            (PropKind::OneOfType, _) => {
                let fits = |kind: &&Self| kind.errors_of(value, path).is_empty();
                match self.types.iter().find(fits) {
                    Some(_) => self.check_one_of(value),
                    None => {
                        let types: Vec<_> = self.types.iter().map(|t| t.kind.name()).collect();
                        let types = types.join(", ");
                        let message = format!("Value does not match any allowed type: {types}");
                        Err(Some(message))
                    }
                }
            }
            (kind, value) => {
                let (expected, got) = (expected(kind), value.kind());
                Err(Some(format!("Expected {expected}, got {got}")))
            }
        }
    }

    fn accept_items(
        &self,
        list: &[Value],
        path: &str,
        report: &mut Report,
    ) -> Result<Value, Option<String>> {
        let before = report.errors.len();
        let mut items = Vec::with_capacity(list.len());
        for (at, item) in list.iter().enumerate() {
            let path = format!("{path}.{at}");
            match &self.item {
                Some(schema) => match schema.accept(item, None, &path, report) {
                    Ok(item) => items.push(item),
                    Err(Some(message)) => report.error(&path, message),
                    Err(None) => {}
                },
                None => items.push(item.clone()),
            }
            if let Some(allowed) = &self.item_one_of
                && !allowed.contains(item)
            {
                let allowed = join(allowed);
                report.error(&path, format!("Array item must be one of: {allowed}"));
            }
        }
        if report.errors.len() == before {
            Ok(Value::List(items))
        } else {
            Err(None)
        }
    }

    fn check_one_of(&self, value: &Value) -> Result<Value, Option<String>> {
        match &self.one_of {
            Some(allowed) if !allowed.contains(value) => {
                Err(Some(format!("Expected one of: {}", join(allowed))))
            }
            _ => Ok(value.clone()),
        }
    }

    fn check_length(&self, what: &str, length: usize) -> Result<(), Option<String>> {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        match (self.min_length, self.max_length) {
            (Some(min), _) if length < min => Err(Some(format!("{what} length must be >= {min}"))),
            (_, Some(max)) if length > max => Err(Some(format!("{what} length must be <= {max}"))),
            _ => Ok(()),
        }
    }
}

/// What a type expects, in the words of JavaScript.
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
    let texts: Vec<_> = values
        .iter()
        .map(|value| match value {
            Value::Text(text) => text.clone(),
            other => serde_json::to_string(other).unwrap_or_default(),
        })
        .collect();
    texts.join(", ")
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

    /// The map of a layer of props. Anything else is an error, and nothing at all is fine.
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

    fn unknown(&mut self, path: &str, name: &str) {
        let error = PropError {
            path: path.to_owned(),
            message: format!("Unknown prop '{name}'"),
        };
        match self.mode {
            PropsMode::Strict => self.errors.push(error),
            PropsMode::Lenient => self.warnings.push(error),
        }
    }
}
