//! Reads YAML into a tree, within limits.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{
    Budget, DuplicateKeyPolicy, NonFiniteFloatPolicy, Options, Spanned, UserMessageFormatter,
};

use super::{Entries, Node, NodeKind};
use crate::problem::FileProblem;

/// The longest text that is read. A prompt of that size fits no model.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The most events that aliases may repeat. People rarely use aliases, but attackers do.
const MAX_REPLAYED: usize = 100_000;

/// The deepest nesting of values. Each level takes several calls of the reader, and so stack.
const MAX_DEPTH: usize = 32;

impl Node {
    /// Reads a text of one document. If a key is repeated, its last value counts.
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, FileProblem> {
        if text.len() > MAX_BYTES {
            let message = format!("{} bytes are more than {MAX_BYTES}", text.len());
            return Err(FileProblem::error(file, message).at(1, 1));
        }
        let mut budget = Budget::default();
        budget.max_depth = MAX_DEPTH;
        let mut options = Options::default();
        options.budget = Some(budget);
        options.alias_limits.max_total_replayed_events = MAX_REPLAYED;
        options.duplicate_keys = DuplicateKeyPolicy::LastWins;
        // `.inf` and `.nan` are valid YAML; readers that need a number refuse them.
        options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
        // `yes` and `on` are texts, as in YAML 1.2 and in JavaScript's readers.
        options.strict_booleans = true;
        options.with_snippet = false;
        serde_saphyr::from_str_with_options(text, options).map_err(|error| problem(file, &error))
    }
}

/// Rewrites an error of the reader, which is addressed to programmers, for the author of the file.
fn problem(file: &str, error: &serde_saphyr::Error) -> FileProblem {
    use serde_saphyr::Error;

    let message = match error {
        Error::MultipleDocuments { .. } => "expected one document, got several".to_owned(),
        Error::NullIntoString { .. } => "expected a key, got nothing".to_owned(),
        Error::Unexpected { .. } => "expected a text as the key".to_owned(),
        _ => error.render_with_formatter(&UserMessageFormatter),
    };
    let Some(location) = error.location() else {
        return FileProblem::error(file, message);
    };
    let (line, column) = (location.line(), location.column());
    // The place is shown in front of the message already.
    let place = format!(" at line {line}, column {column}");
    let message = message.strip_suffix(&place).unwrap_or(&message);
    FileProblem::error(file, message).at(line, column)
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, defined, .. } = Spanned::<NodeKind>::deserialize(deserializer)?;
        Ok(Self {
            kind: value,
            line: defined.line(),
            column: defined.column(),
        })
    }
}

impl<'de> Deserialize<'de> for NodeKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = NodeKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<NodeKind, E> {
        Ok(NodeKind::Null)
    }

    fn visit_bool<E>(self, is: bool) -> Result<NodeKind, E> {
        Ok(NodeKind::Bool(is))
    }

    fn visit_i64<E>(self, number: i64) -> Result<NodeKind, E> {
        Ok(NodeKind::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<NodeKind, E> {
        Ok(NodeKind::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<NodeKind, E> {
        Ok(NodeKind::Number(number.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<NodeKind, E> {
        Ok(NodeKind::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<NodeKind, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(NodeKind::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeKind, A::Error> {
        let mut entries = Entries::default();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = map.next_value()?;
            // The reader passes every one of them on, so that repeated keys can be reported.
            if entries.nodes.insert(key.value.clone(), value).is_some() {
                entries.repeated.push((key.value, key.defined));
            }
        }
        Ok(NodeKind::Map(entries))
    }
}
