//! The assembly as JSON: every text with its band, for programs that lay it out themselves.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::{Laid, Placed};
use crate::assembly::draft::Draft;
use crate::assembly::kept::Kept;
use crate::assembly::segment::Segment;
use crate::band::Band;
use crate::chunk::{ChunkId, ChunkType, Detail};
use crate::envelope::ToolDefinition;
use crate::message::Message;
use crate::role::Role;

pub(super) fn lay_out(draft: &Draft, chunks: &Placed<'_>) -> Laid {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for tool in draft.sorted_tools() {
        parts.push(Part::new(Band::Tools, Body::Tool(tool)));
    }
    for (band, text) in super::pack::instructions_before(draft) {
        parts.push(Part::new(
            band,
            Body::Text {
                role: Role::System,
                text,
            },
        ));
    }
    parts.extend(
        chunks
            .session()
            .map(|kept| Part::new(Band::Session, Body::chunk(kept))),
    );
    for band in [Band::Session, Band::Conversation] {
        for message in draft.injected(band) {
            let (role, text) = (message.role, message.content.as_str());
            parts.push(Part::new(band, Body::Text { role, text }));
        }
    }
    for (index, message) in draft.history.iter().enumerate() {
        parts.extend(
            chunks
                .before(index)
                .map(|kept| Part::new(Band::History, Body::chunk(kept))),
        );
        parts.push(Part::new(Band::History, Body::Message(message)));
    }
    for kept in chunks.before(draft.history.len()).chain(chunks.volatile()) {
        parts.push(Part::new(Band::Volatile, Body::chunk(kept)));
    }
    parts.push(Part::new(Band::Current, Body::Message(&draft.current)));
    parts.extend(
        draft
            .steps
            .iter()
            .map(|step| Part::new(Band::Steps, Body::Message(step))),
    );
    for message in draft.injected(Band::SuffixSystem) {
        let (role, text) = (message.role, message.content.as_str());
        parts.push(Part::new(Band::SuffixSystem, Body::Text { role, text }));
    }

    let segments = parts.iter().map(Part::segment).collect();
    let payload = Payload {
        version: "1.0",
        model: draft.model.as_deref(),
        parts,
    };
    Laid {
        segments,
        body: serde_json::to_string(&payload).unwrap_or_default(),
        problems: Vec::new(),
    }
}

#[derive(Serialize)]
struct Payload<'a> {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    band: Band,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Body<'a> {
    Tool(&'a ToolDefinition),
    Text {
        role: Role,
        text: &'a str,
    },
    Message(&'a Message),
    Chunk {
        id: &'a ChunkId,
        source: &'a str,
        chunk_type: &'a ChunkType,
        level: Detail,
        text: &'a str,
    },
}

impl<'a> Body<'a> {
    fn chunk(kept: &'a Kept) -> Self {
        Self::Chunk {
            id: &kept.id,
            source: &kept.source,
            chunk_type: &kept.chunk_type,
            level: kept.detail,
            text: &kept.text,
        }
    }
}

impl<'a> Part<'a> {
    const fn new(band: Band, body: Body<'a>) -> Self {
        Self { band, body }
    }

    /// What is counted: texts as they are, anything else as its JSON.
    fn segment(&self) -> Segment {
        let (role, text): (Option<Role>, String) = match &self.body {
            Body::Tool(tool) => (None, serde_json::to_string(tool).unwrap_or_default()),
            Body::Text { role, text } => (Some(*role), (*text).into()),
            Body::Message(message) => (
                Some(message.role),
                super::spoken::spoken(message).into_owned(),
            ),
            Body::Chunk { text, .. } => (None, (*text).into()),
        };
        Segment {
            band: self.band,
            role,
            text,
            overhead: 0,
        }
    }
}
