//! Writes values as JSON, like JavaScript does.

use super::{Budget, Shape, Val};
use crate::template::error::TemplateProblem;
use crate::value::Quoted;

/// The value as JSON, on one line or indented; none for undefined.
pub(in super::super) fn json(
    value: &Val<'_>,
    indent: &str,
    budget: &mut Budget,
) -> Result<Option<String>, TemplateProblem> {
    if let Shape::Undefined = value.shape() {
        return Ok(None);
    }
    let mut writer = Writer {
        json: String::new(),
        indent,
        budget,
    };
    writer.value(value, 0)?;
    Ok(Some(writer.json))
}

struct Writer<'b> {
    json: String,
    indent: &'b str,
    budget: &'b mut Budget,
}

impl Writer<'_> {
    fn value(&mut self, value: &Val<'_>, depth: usize) -> Result<(), TemplateProblem> {
        self.budget.spend_within(depth)?;
        match value.shape() {
            Shape::Undefined | Shape::Null => self.json.push_str("null"),
            Shape::Bool(is) => self.json.push_str(if is { "true" } else { "false" }),
            Shape::Number(number) if !number.as_f64().is_finite() => self.json.push_str("null"),
            Shape::Number(number) => self.json.push_str(&number.to_string()),
            Shape::Text(text) => self.text(text)?,
            Shape::List => {
                self.json.push('[');
                for at in 0..value.items() {
                    self.separate(at, depth + 1);
                    self.value(&value.item(at), depth + 1)?;
                }
                self.close(value.items(), depth, ']');
            }
            Shape::Object => {
                self.json.push('{');
                let mut entries = value.entries(self.budget)?;
                // As `JSON.stringify` does; in a list undefined becomes `null` instead.
                entries.retain(|(_, value)| !matches!(value.shape(), Shape::Undefined));
                for (at, (key, value)) in entries.iter().enumerate() {
                    self.separate(at, depth + 1);
                    self.text(key)?;
                    self.json
                        .push_str(if self.indent.is_empty() { ":" } else { ": " });
                    self.value(value, depth + 1)?;
                }
                self.close(entries.len(), depth, '}');
            }
        }
        Ok(())
    }

    fn separate(&mut self, at: usize, depth: usize) {
        if at > 0 {
            self.json.push(',');
        }
        self.line(depth);
    }

    fn close(&mut self, length: usize, depth: usize, sign: char) {
        if length > 0 {
            self.line(depth);
        }
        self.json.push(sign);
    }

    fn line(&mut self, depth: usize) {
        if !self.indent.is_empty() {
            self.json.push('\n');
            self.json.extend(std::iter::repeat_n(self.indent, depth));
        }
    }

    fn text(&mut self, text: &str) -> Result<(), TemplateProblem> {
        self.budget.spend_on(text.len())?;
        self.json.push_str(&Quoted(text).to_string());
        Ok(())
    }
}
