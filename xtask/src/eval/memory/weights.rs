//! The weights of recall by their names, and the values of them that a search tries.

use std::str::FromStr;

use anyhow::{Context, Error, Result, bail};
use kitbag_core::recall::RecallWeights;

/// One weight, and how to get at it.
pub(super) struct Weight {
    pub(super) name: &'static str,
    /// The values that a search tries, without the signal first. A weight that has none keeps its
    /// default: it brings little, or one set alone says something about it.
    pub(super) grid: &'static [f64],
    pub(super) of: fn(&mut RecallWeights) -> &mut f64,
}

// One list for names and fields, so no name can point at the field of another.
macro_rules! weights {
    ($($name:ident: $grid:expr,)*) => {
        &[$(Weight { name: stringify!($name), grid: &$grid, of: |weights| &mut weights.$name },)*]
    };
}

/// All weights that are single numbers.
pub(super) const WEIGHTS: &[Weight] = weights! {
    saturation: [],
    length_weight: [],
    spread: [0.0, 0.4],
    date_word: [],
    character: [],
    related: [0.0, 0.3],
    near: [],
    alike: [0.0, 0.5],
    asked: [0.6, 0.9],
    assistant_neighbour: [1.0, 0.3],
    conversation: [0.0, 300.0],
    day: [0.0, 1000.0],
    named: [0.0, 200.0, 400.0],
    attitude: [0.0, 500.0],
    question: [0.0, -100.0],
    reply: [],
    role: [0.0, 0.3, 0.6],
    length: [0.0, -100.0],
    recency: [],
    remembered: [],
    meaning: [],
};

/// A weight with another value, as in `role=0.4`.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    name: String,
    value: f64,
}

impl FromStr for Setting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, value) = text.split_once('=').context("expected NAME=VALUE")?;
        let value = value.parse().context("the value is not a number")?;
        if !WEIGHTS.iter().any(|weight| weight.name == name) {
            let names: Vec<&str> = WEIGHTS.iter().map(|weight| weight.name).collect();
            bail!(
                "no weight is named `{name}`; there are {}",
                names.join(", ")
            );
        }
        Ok(Self {
            name: name.to_owned(),
            value,
        })
    }
}

/// The usual weights, with some of them set.
pub(super) fn with(settings: &[Setting]) -> RecallWeights {
    let mut weights = RecallWeights::default();
    for setting in settings {
        for weight in WEIGHTS.iter().filter(|weight| weight.name == setting.name) {
            *(weight.of)(&mut weights) = setting.value;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x04_a_weight_is_set_by_its_name() {
        let weights = with(&["role=0.4".parse().unwrap()]);
        assert_eq!(weights.role, 0.4);
        assert_eq!(weights.day, RecallWeights::default().day);
        for wrong in ["role", "role=much", "roles=1"] {
            assert!(wrong.parse::<Setting>().is_err(), "{wrong}");
        }
    }
}
