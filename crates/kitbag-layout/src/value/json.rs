//! Writes values as JSON. Keys are texts, so unlike a serializer this cannot fail.

use std::fmt::{self, Display, Write as _};

use super::Value;

impl Display for Value {
    /// Writes JSON on one line, byte for byte as `serde_json` does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(is) => is.fmt(f),
            Self::Number(number) => number.write_json(f),
            Self::Text(text) => Quoted(text).fmt(f),
            Self::List(list) => {
                f.write_char('[')?;
                for (at, item) in list.iter().enumerate() {
                    separate(at, f)?;
                    item.fmt(f)?;
                }
                f.write_char(']')
            }
            Self::Map(map) => {
                f.write_char('{')?;
                for (at, (key, value)) in map.iter().enumerate() {
                    separate(at, f)?;
                    write!(f, "{}:{value}", Quoted(key))?;
                }
                f.write_char('}')
            }
        }
    }
}

fn separate(at: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match at {
        0 => Ok(()),
        _ => f.write_char(','),
    }
}

/// A text as a string of JSON.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for char in self.0.chars() {
            match char {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\u{8}' => f.write_str("\\b")?,
                '\u{c}' => f.write_str("\\f")?,
                control if control < ' ' => write!(f, "\\u{:04x}", u32::from(control))?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_written_as_serde_json_writes_it() {
        let controls: String = (0..=0xa0).filter_map(char::from_u32).collect();
        let value = Value::map([
            (
                "texts",
                Value::from(vec!["", "\"\\/", "é\u{2028}😀", &controls]),
            ),
            ("a \"key\"", Value::Null),
            ("is", true.into()),
            ("empty", Value::List(Vec::new())),
            ("nothing", Value::Map(super::super::Map::new())),
        ]);
        assert_eq!(value.to_string(), serde_json::to_string(&value).unwrap());
        for number in [
            1.5,
            -0.25,
            1e21,
            1.25e-7,
            0.1 + 0.2,
            1e300,
            f64::NAN,
            f64::INFINITY,
        ] {
            let value = Value::Number(number.into());
            assert_eq!(value.to_string(), serde_json::to_string(&value).unwrap());
        }
        for number in [0, u64::MAX] {
            let value = Value::from(number);
            assert_eq!(value.to_string(), serde_json::to_string(&value).unwrap());
        }
        for number in [-1, i64::MIN] {
            let value = Value::Number(number.into());
            assert_eq!(value.to_string(), number.to_string());
            assert_eq!(value.to_string(), serde_json::to_string(&value).unwrap());
        }
    }
}
