//! The content of a message: one text, or a list of blocks that passes through byte for byte.
//!
//! A block that is more than plain text keeps the JSON it arrived as, so that fields and block
//! types unknown here survive unchanged. Blocks are recognised, never rewritten.

mod raw;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use raw::{RawJson, RawJsonError};

/// The content of a message. A JSON string stays a string and an array stays an array.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// One text.
    Text(String),
    /// Blocks, in order.
    Blocks(Vec<ContentBlock>),
    /// Nothing: JSON's `null`, or no field at all.
    #[default]
    Null,
}

impl Content {
    /// Returns the texts of all text blocks, joined by newlines.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Null => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Blocks(blocks) => {
                let texts: Vec<&str> = blocks.iter().filter_map(ContentBlock::as_text).collect();
                match texts.as_slice() {
                    [] => Cow::Borrowed(""),
                    // The usual message has one text, which needs no copy.
                    [only] => Cow::Borrowed(only),
                    all => Cow::Owned(all.join("\n")),
                }
            }
        }
    }

    /// Returns the content as blocks: one text becomes one text block.
    #[must_use]
    pub fn to_blocks(&self) -> Vec<ContentBlock> {
        match self {
            Self::Text(text) => alloc::vec![ContentBlock::text(text.as_str())],
            Self::Blocks(blocks) => blocks.clone(),
            Self::Null => Vec::new(),
        }
    }

    /// Returns the blocks, if it is a list of them.
    pub(crate) fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(_) | Self::Null => &[],
        }
    }

    /// Tells whether it holds nothing but white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Text(text) => text.trim().is_empty(),
            Self::Blocks(blocks) => blocks
                .iter()
                .all(|block| block.as_text().is_some_and(|text| text.trim().is_empty())),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_string())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// One block of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text; `raw` holds the block as it arrived when it carried more than its text.
    Text {
        text: String,
        /// The whole block, if it had further fields.
        raw: Option<RawJson>,
    },
    /// A picture.
    Image(RawJson),
    /// A document.
    Document(RawJson),
    /// The model's reasoning, signed or redacted by its provider.
    Thinking(RawJson),
    /// A call of a tool.
    ToolUse {
        /// The id that the result refers to.
        id: String,
        /// The tool.
        name: String,
        /// The whole block.
        raw: RawJson,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        tool_use_id: String,
        /// The whole block.
        raw: RawJson,
    },
    /// A block of a type that is not known here.
    Opaque(RawJson),
}

impl ContentBlock {
    /// A plain text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            raw: None,
        }
    }

    /// Reads a block from its JSON, which it keeps unless it is plain text.
    ///
    /// # Errors
    /// When the JSON is not an object with a string `type`.
    pub fn from_raw(raw: RawJson) -> Result<Self, RawJsonError> {
        let Kind { r#type } = raw.parse_as()?;
        // A known type whose fields have another shape is passed through like an unknown one.
        Ok(match r#type.as_str() {
            "text" if let Ok(TextFields { text, rest }) = raw.parse_as() => Self::Text {
                text,
                // `type` is always there. Anything more has to reach the provider.
                raw: (rest.len() > 1).then_some(raw),
            },
            "image" => Self::Image(raw),
            "document" => Self::Document(raw),
            "thinking" | "redacted_thinking" => Self::Thinking(raw),
            "tool_use" if let Ok(ToolUseFields { id, name }) = raw.parse_as() => {
                Self::ToolUse { id, name, raw }
            }
            "tool_result" if let Ok(ToolResultFields { tool_use_id }) = raw.parse_as() => {
                Self::ToolResult { tool_use_id, raw }
            }
            _ => Self::Opaque(raw),
        })
    }

    /// Returns the text of a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Returns the block's JSON, if it is kept as such.
    #[must_use]
    pub fn as_raw(&self) -> Option<&RawJson> {
        match self {
            Self::Text { raw, .. } => raw.as_ref(),
            Self::Image(raw)
            | Self::Document(raw)
            | Self::Thinking(raw)
            | Self::Opaque(raw)
            | Self::ToolUse { raw, .. }
            | Self::ToolResult { raw, .. } => Some(raw),
        }
    }
}

#[derive(Deserialize)]
struct Kind {
    r#type: String,
}

#[derive(Deserialize)]
struct TextFields {
    text: String,
    /// Everything but the text, `type` included.
    #[serde(flatten)]
    rest: BTreeMap<String, de::IgnoredAny>,
}

#[derive(Deserialize)]
struct ToolUseFields {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct ToolResultFields {
    tool_use_id: String,
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Plain<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        let r#type = "text";
        // Only a text block can lack its JSON, so the default is never written.
        let text = self.as_text().unwrap_or_default();
        match self.as_raw() {
            Some(raw) => raw.serialize(serializer),
            None => Plain { r#type, text }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_raw(RawJson::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of content blocks")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content::from(text))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Content, E> {
                Ok(Content::Null)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Content, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Content::Blocks)
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn round_trip(json: &str) -> Content {
        let content: Content = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&content).unwrap(), json);
        content
    }

    #[test]
    fn t05_one_text_is_a_plain_string() {
        assert_eq!(round_trip(r#""hello""#), Content::from("hello"));
    }

    #[test]
    fn x06_blocks_pass_through_byte_for_byte() {
        let json = concat!(
            r#"[{"type":"text","text":"look"},"#,
            r#"{"type":"text","text":"cached","cache_control":{"type":"ephemeral"}},"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},"#,
            r#"{"type":"thinking","thinking":"h\u00e9","signature":"s=="},"#,
            r#"{"type":"tool_use","id":"t1","name":"read","input":{"z":1.0,"a":1e3}},"#,
            r#"{"type":"tool_result","tool_use_id":"t1","content":[],"is_error":false},"#,
            r#"{"zeta":1,"type":"brand_new","alpha":[12345678901234567890123]}]"#,
        );
        let Content::Blocks(blocks) = round_trip(json) else {
            panic!("blocks expected");
        };
        assert_eq!(blocks[0], ContentBlock::text("look"));
        assert_eq!(blocks[1].as_text(), Some("cached"));
        assert!(
            matches!(&blocks[4], ContentBlock::ToolUse { id, name, .. } if id == "t1" && name == "read")
        );
        assert!(
            matches!(&blocks[5], ContentBlock::ToolResult { tool_use_id, .. } if tool_use_id == "t1")
        );
        assert!(matches!(blocks[6], ContentBlock::Opaque(_)));
    }

    #[test]
    fn t05_no_content_is_null() {
        let content = round_trip("null");
        assert_eq!(content, Content::Null);
        assert!(content.is_blank());
        assert_eq!(round_trip("[]"), Content::Blocks(vec![]));
    }

    #[test]
    fn t05_a_block_without_a_type_is_refused() {
        let error = serde_json::from_str::<Content>(r#"[{"text":"x"}]"#).unwrap_err();
        assert!(error.to_string().contains("type"), "{error}");
        assert!(serde_json::from_str::<Content>("3").is_err());
    }

    #[test]
    fn t05_texts_of_several_blocks_join_by_line() {
        let content = Content::Blocks(vec![ContentBlock::text("a"), ContentBlock::text("b")]);
        assert_eq!(content.text(), "a\nb");
    }
}
