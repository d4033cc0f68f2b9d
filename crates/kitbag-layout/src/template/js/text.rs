//! Converts values to texts, and texts to letters.

use std::borrow::Cow;

use super::{Budget, Shape, Val};
use crate::template::error::TemplateProblem;

/// The value as a text: items of a list are joined by commas, objects are `[object Object]`.
pub(in super::super) fn text<'v>(
    value: &'v Val<'_>,
    budget: &mut Budget,
) -> Result<Cow<'v, str>, TemplateProblem> {
    Ok(match value.shape() {
        Shape::Undefined => Cow::Borrowed("undefined"),
        Shape::Null => Cow::Borrowed("null"),
        Shape::Bool(true) => Cow::Borrowed("true"),
        Shape::Bool(false) => Cow::Borrowed("false"),
        Shape::Number(number) => Cow::Owned(number.to_string()),
        Shape::Text(text) => Cow::Borrowed(text),
        Shape::Object => Cow::Borrowed("[object Object]"),
        Shape::List => {
            let mut joined = String::new();
            join(value, &mut joined, budget, 0)?;
            Cow::Owned(joined)
        }
    })
}

fn join(
    list: &Val<'_>,
    joined: &mut String,
    budget: &mut Budget,
    depth: usize,
) -> Result<(), TemplateProblem> {
    budget.spend_within(depth)?;
    for at in 0..list.items() {
        if at > 0 {
            joined.push(',');
        }
        let item = list.item(at);
        match item.shape() {
            // Both are empty in a list of JavaScript, though alone they are words.
            Shape::Undefined | Shape::Null => budget.spend(1)?,
            Shape::List => join(&item, joined, budget, depth + 1)?,
            _ => {
                let item = text(&item, budget)?;
                budget.spend_on(item.len())?;
                joined.push_str(&item);
            }
        }
    }
    Ok(())
}

/// The length of a text in JavaScript, in UTF-16 units.
pub(in super::super) fn utf16_length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The UTF-16 units of a text. Half of a character with two units is shown as a replacement
/// character.
pub(super) fn letters(text: &str) -> impl Iterator<Item = String> {
    text.encode_utf16()
        .map(|unit| String::from_utf16_lossy(&[unit]))
}
