//! Numbers that print like JavaScript's.

use std::fmt;

use serde::Serialize;

/// A number: exact for integers of 64 bits, otherwise in double precision.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Number(Kind);

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
enum Kind {
    Unsigned(u64),
    Negative(i64),
    Float(f64),
}

impl Number {
    /// The nearest number in double precision.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest is what is asked for"
    )]
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Kind::Unsigned(number) => number as f64,
            Kind::Negative(number) => number as f64,
            Kind::Float(number) => number,
        }
    }

    /// The number as an index or a length, if it is an integer from 0.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self.0 {
            Kind::Unsigned(number) => Some(number),
            Kind::Negative(_) | Kind::Float(_) => None,
        }
    }

    /// Writes the number as JSON, which has no infinite numbers: they are `null`.
    pub(super) fn write_json(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Unsigned(number) => fmt::Display::fmt(&number, f),
            Kind::Negative(number) => fmt::Display::fmt(&number, f),
            Kind::Float(number) => match serde_json::Number::from_f64(number) {
                Some(number) => fmt::Display::fmt(&number, f),
                None => f.write_str("null"),
            },
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Kind::Unsigned(one), Kind::Unsigned(two)) => one == two,
            (Kind::Negative(one), Kind::Negative(two)) => one == two,
            // An integer and a fraction can only be compared as JavaScript does, in double
            // precision.
            _ => self.as_f64() == other.as_f64(),
        }
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self(Kind::Unsigned(number))
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        match u64::try_from(number) {
            Ok(number) => Self(Kind::Unsigned(number)),
            Err(_) => Self(Kind::Negative(number)),
        }
    }
}

impl From<f64> for Number {
    /// Converts an integral value (`2.0`) to the integer, since JavaScript knows no difference.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only where the value is whole and within the exact range"
    )]
    fn from(number: f64) -> Self {
        // Up to 2^53 every integer has a double of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.fract() == 0.0 && number.abs() <= EXACT {
            Self::from(number as i64)
        } else {
            Self(Kind::Float(number))
        }
    }
}

impl fmt::Display for Number {
    /// Writes integers with all digits, and other numbers like JavaScript: the shortest digits that
    /// read back, with an exponent below 1e-6 and from 1e21 on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Unsigned(number) => number.fmt(f),
            Kind::Negative(number) => number.fmt(f),
            Kind::Float(number) if number.is_nan() => f.write_str("NaN"),
            Kind::Float(number) if number.is_infinite() => f.write_str(if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            }),
            Kind::Float(number) => {
                let size = number.abs();
                if size != 0.0 && !(1e-6..1e21).contains(&size) {
                    let scientific = format!("{number:e}");
                    f.write_str(&match scientific.split_once("e-") {
                        Some(_) => scientific,
                        None => scientific.replacen('e', "e+", 1),
                    })
                } else {
                    number.fmt(f)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_does() {
        for (number, text) in [
            (1.0, "1"),
            (-0.5, "-0.5"),
            (0.1, "0.1"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (1e-7, "1e-7"),
            (1.25e-6, "0.00000125"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(Number::from(number).to_string(), text);
        }
        assert_eq!(Number::from(u64::MAX).to_string(), "18446744073709551615");
    }
}
