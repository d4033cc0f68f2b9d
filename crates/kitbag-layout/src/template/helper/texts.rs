//! Helpers that shorten texts or format numbers.

use super::super::error::Halt;
use super::super::js::{Budget, Shape, Val, text, utf16_length};
use super::super::render::Site;
use crate::value::Number;

/// The most characters that `JSON.stringify` indents by.
const MOST_INDENT: usize = 10;

/// The indentation of JSON as requested: a number of spaces, or the text itself.
pub(super) fn indent(value: &Val<'_>) -> String {
    match value.shape() {
        Shape::Number(number) => {
            let spaces = (0..MOST_INDENT).take_while(|at| (at + 1) as f64 <= number.as_f64());
            spaces.map(|_| ' ').collect()
        }
        Shape::Text(text) => text.chars().take(MOST_INDENT).collect(),
        _ => String::new(),
    }
}

/// The first `most` UTF-16 units of a text and the number of the others. No character is cut in
/// two.
pub(super) fn truncate<'a>(
    value: &Val<'a>,
    most: &Val<'a>,
    site: &Site<'_, 'a>,
    budget: &mut Budget,
) -> Result<Val<'a>, Halt> {
    let Shape::Number(most) = most.shape() else {
        return Err(site.refused("needs a number as its second argument"));
    };
    let most = most.as_f64();
    // Even for an empty value the second argument must be a number.
    if !value.is_truthy() {
        return Ok(String::new().into());
    }
    let text = text(value, budget)?;
    budget.spend_on(text.len())?;
    let length = utf16_length(&text);
    if length as f64 <= most {
        return Ok(text.into_owned().into());
    }
    let mut units = 0;
    let mut kept = String::new();
    for char in text.chars() {
        units += char.len_utf16();
        if units as f64 > most {
            // A character with two units would be cut in half.
            units -= char.len_utf16();
            break;
        }
        kept.push(char);
    }
    Ok(format!("{kept} (...+{} chars)", length - units).into())
}

/// A size in the largest unit up to GB that fits it; empty if the value is no size.
pub(super) fn file_size(value: &Val<'_>) -> String {
    let size = match value.shape() {
        Shape::Number(number) => Some(number.as_f64()),
        Shape::Text(digits) => digits.trim().parse().ok(),
        _ => None,
    };
    let Some(mut size) = size else {
        return String::new();
    };
    // A client's metadata may claim anything; an empty text is better than `NaN GB`.
    if !size.is_finite() || size < 0.0 {
        return String::new();
    }
    let mut unit = "B";
    for larger in ["KB", "MB", "GB"] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    // Rounded like `Math.round` in JavaScript: halves go up.
    let rounded = (size * 100.0 + 0.5).floor() / 100.0;
    format!("{} {unit}", Number::from(rounded))
}
