//! Compares values by JavaScript's rules.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Budget, Shape, Val, text};
use crate::template::error::TemplateProblem;
use crate::template::scan::is_space;

/// The longest list, in items, that is written as a text to compare it with another kind of value.
const LONGEST_AS_TEXT: usize = 1024;

/// Compares like `===`, except that lists and objects with the same content are the same.
pub(in super::super) fn is_same(
    one: &Val<'_>,
    two: &Val<'_>,
    budget: &mut Budget,
) -> Result<bool, TemplateProblem> {
    is_same_within(one, two, budget, 0)
}

fn is_same_within(
    one: &Val<'_>,
    two: &Val<'_>,
    budget: &mut Budget,
    depth: usize,
) -> Result<bool, TemplateProblem> {
    // Values may nest deeper than the stack allows.
    budget.spend_within(depth)?;
    Ok(match (one.shape(), two.shape()) {
        (Shape::Text(one), Shape::Text(two)) => {
            if one.len() != two.len() {
                return Ok(false);
            }
            budget.spend_on(one.len())?;
            one == two
        }
        // Saves comparing a large value with itself.
        (Shape::List | Shape::Object, _) if is_identical(one, two) => true,
        (Shape::List, Shape::List) => {
            if one.items() != two.items() {
                return Ok(false);
            }
            for at in 0..one.items() {
                if !is_same_within(&one.item(at), &two.item(at), budget, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Shape::Object, Shape::Object) => {
            let (one, other) = (one.entries(budget)?, two.entries(budget)?);
            if one.len() != other.len() {
                return Ok(false);
            }
            for (key, value) in &one {
                // By key: the order of keys does not matter.
                let counterpart = two.get(key, budget)?;
                if !is_same_within(value, &counterpart, budget, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (one, two) => one == two,
    })
}

/// Returns true if both are the very same list or object.
fn is_identical(one: &Val<'_>, two: &Val<'_>) -> bool {
    match (one, two) {
        (Val::Given(one), Val::Given(two)) => std::ptr::eq(*one, *two),
        (Val::List(one), Val::List(two)) => Rc::ptr_eq(one, two),
        (Val::Object(one), Val::Object(two)) => Rc::ptr_eq(one, two),
        (Val::NoContext, Val::NoContext) => true,
        _ => false,
    }
}

/// Compares like `==`, which decides if a block has another context than the one around it.
pub(in super::super) fn is_loosely_equal(
    one: &Val<'_>,
    two: &Val<'_>,
    budget: &mut Budget,
) -> Result<bool, TemplateProblem> {
    use Shape::{Bool, List, Null, Number, Object, Text, Undefined};
    Ok(match (one.shape(), two.shape()) {
        (Undefined | Null, Undefined | Null) => true,
        (Undefined | Null, _) | (_, Undefined | Null) => false,
        (List | Object, List | Object) => is_identical(one, two),
        (Text(one), Text(two)) => {
            budget.spend_on(one.len().min(two.len()))?;
            one == two
        }
        (List | Object, other @ (Text(_) | Number(_) | Bool(_))) => {
            equals_as_text(one, other, budget)?
        }
        (other @ (Text(_) | Number(_) | Bool(_)), List | Object) => {
            equals_as_text(two, other, budget)?
        }
        (one, two) => number(one, budget)? == number(two, budget)?,
    })
}

/// Returns true if a list or an object, written as a text, equals a value that is neither.
fn equals_as_text(
    object: &Val<'_>,
    other: Shape<'_>,
    budget: &mut Budget,
) -> Result<bool, TemplateProblem> {
    // A list of several items is no number, and no text without a comma, so most lists need not be
    // written out.
    let is_long = object.items() > LONGEST_AS_TEXT;
    let has_comma = object.items() > 1;
    if is_long || (has_comma && !matches!(other, Shape::Text(text) if text.contains(','))) {
        return Ok(false);
    }
    let written = text(object, budget)?;
    Ok(match other {
        Shape::Text(other) => written == other,
        other => number(Shape::Text(&written), budget)? == number(other, budget)?,
    })
}

/// Orders texts by their UTF-16 units and other values as numbers. Values that are no numbers have
/// no order.
pub(in super::super) fn order(
    one: &Val<'_>,
    two: &Val<'_>,
    budget: &mut Budget,
) -> Result<Option<Ordering>, TemplateProblem> {
    // Kept in variables, since the shapes below borrow from them.
    let (written_one, written_two) = (primitive(one, budget)?, primitive(two, budget)?);
    let one = written_one.as_deref().map_or(one.shape(), Shape::Text);
    let two = written_two.as_deref().map_or(two.shape(), Shape::Text);
    if let (Shape::Text(one), Shape::Text(two)) = (one, two) {
        budget.spend_on(one.len().min(two.len()))?;
        return Ok(Some(one.encode_utf16().cmp(two.encode_utf16())));
    }
    Ok(number(one, budget)?.partial_cmp(&number(two, budget)?))
}

/// The text by which a list or an object is compared.
fn primitive(value: &Val<'_>, budget: &mut Budget) -> Result<Option<String>, TemplateProblem> {
    Ok(match value.shape() {
        Shape::List | Shape::Object => Some(text(value, budget)?.into_owned()),
        _ => None,
    })
}

fn number(shape: Shape<'_>, budget: &mut Budget) -> Result<f64, TemplateProblem> {
    Ok(match shape {
        Shape::Undefined | Shape::List | Shape::Object => f64::NAN,
        Shape::Null => 0.0,
        Shape::Bool(is) => f64::from(u8::from(is)),
        Shape::Number(number) => number.as_f64(),
        Shape::Text(text) => {
            budget.spend_on(text.len())?;
            text_as_number(text.trim_matches(is_space))
        }
    })
}

fn text_as_number(text: &str) -> f64 {
    let radix = |digits: &str, radix: u32| {
        let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
        if !is_number {
            return f64::NAN;
        }
        digits.chars().fold(0.0, |number, digit| {
            number * f64::from(radix) + f64::from(digit.to_digit(radix).unwrap_or_default())
        })
    };
    match text.get(..2) {
        Some("0x" | "0X") => return radix(text.get(2..).unwrap_or_default(), 16),
        Some("0o" | "0O") => return radix(text.get(2..).unwrap_or_default(), 8),
        Some("0b" | "0B") => return radix(text.get(2..).unwrap_or_default(), 2),
        _ => {}
    }
    match text {
        "" => 0.0,
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        // Rust parses more words than JavaScript, such as `inf` and `nan`; all of them have letters
        // other than `e`.
        _ if text.contains(|char: char| char.is_alphabetic() && !matches!(char, 'e' | 'E')) => {
            f64::NAN
        }
        _ => text.parse().unwrap_or(f64::NAN),
    }
}
