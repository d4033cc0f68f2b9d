//! The recipe of a prompt: draft, selection and layout, with texts by their hashes.

mod older;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use kitbag_core::assembly::{
    AssemblySettings, Block, Breakpoint, Draft, Kept, LayoutRevision, Ledger, Rendered, render,
    render_as_of,
};
use kitbag_core::message::Message;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{RequestField, SentPrompt};
use crate::error::{Result, StoreError};
use crate::value::{FromRow, Row, Value};

/// The BLAKE3 hash of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hash([u8; 32]);

impl Hash {
    pub(crate) fn of(text: &str) -> Self {
        Self(*blake3::hash(text.as_bytes()).as_bytes())
    }

    pub(super) fn of_blocks(blocks: &[Block]) -> Result<Self> {
        Ok(Self::of(&archived_json(blocks)?))
    }

    pub(crate) const fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn to_hex(self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }
}

impl From<Hash> for Value {
    fn from(hash: Hash) -> Self {
        Self::Blob(hash.0.to_vec())
    }
}

impl FromRow for Hash {
    fn from_row(row: &mut Row) -> Result<Self> {
        let bytes: Vec<u8> = row.read()?;
        let bytes = bytes
            .try_into()
            .map_err(|_| StoreError::damaged("prompt", "a hash has not 32 bytes"))?;
        Ok(Self(bytes))
    }
}

impl Serialize for Hash {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let hex = String::deserialize(from)?;
        let hash = blake3::Hash::from_hex(&hex).map_err(serde::de::Error::custom)?;
        Ok(Self(*hash.as_bytes()))
    }
}

/// The revision of rendering. Since 2 every form shows the roles and names of messages; since 3
/// there is one heading of remembered chunks in each place.
const REVISION: u32 = 3;

// Recipes of revision 1 were written before the field existed.
const fn first_revision() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The parts that a prompt is rendered from. `draft` and `kept` are without their texts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Recipe {
    #[serde(default = "first_revision")]
    revision: u32,
    /// The number of secrets that were sent and are masked here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) masked: usize,
    /// The hash of the blocks, for a form that is no text. It tells if the same blocks come out
    /// again; their JSON is made elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) blocks: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<FieldText>>,
    pub(super) settings: AssemblySettings,
    draft: Draft,
    identity: Hash,
    tools: Vec<Hash>,
    injected: Vec<Hash>,
    history: Vec<Hash>,
    current: Hash,
    steps: Vec<Hash>,
    kept: Vec<KeptText>,
    pub(super) breakpoints: Vec<Breakpoint>,
    pub(super) tokenizer: String,
    pub(super) ledger: Ledger,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptText {
    kept: Kept,
    text: Hash,
}

/// A [`RequestField`] whose value is kept as a text, since it may quote people like any other.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct FieldText {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Hash>,
}

/// Texts by their hashes.
pub(super) type Bodies = BTreeMap<Hash, String>;

/// The texts of a prompt, and the origins of each.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    pub(super) bodies: Bodies,
    pub(super) origins: BTreeSet<(Hash, String)>,
}

impl Texts {
    fn add(&mut self, text: String, origin: String) -> Hash {
        let hash = Hash::of(&text);
        self.bodies.insert(hash, text);
        self.origins.insert((hash, origin));
        hash
    }

    fn add_json<T: Serialize>(&mut self, value: &T, origin: String) -> Result<Hash> {
        Ok(self.add(archived_json(value)?, origin))
    }

    /// Moves the values out of a draft.
    fn take_all<T: Serialize>(
        &mut self,
        values: &mut Vec<T>,
        origin: impl Fn(&T) -> String,
    ) -> Result<Vec<Hash>> {
        let values = mem::take(values);
        let add = |value| self.add_json(value, origin(value));
        values.iter().map(add).collect()
    }
}

/// The origin of a message: its id in the store, if it has one.
fn message_origin(message: &Message) -> String {
    let id = message.id.as_ref();
    id.map(|id| format!("message/{id}")).unwrap_or_default()
}

impl Recipe {
    pub(super) fn new(prompt: &SentPrompt, masked: usize) -> Result<(Self, Texts)> {
        let (settings, assembly) = (&prompt.settings, &prompt.assembly);
        let mut texts = Texts::default();
        let mut bare = prompt.draft.clone();
        let none = String::new;
        let mut field = |field: &RequestField| FieldText {
            name: field.name.clone(),
            json: field.json.clone().map(|json| texts.add(json, none())),
        };
        let fields = prompt.fields.as_ref();
        let fields = fields.map(|fields| fields.iter().map(&mut field).collect());
        let recipe = Self {
            revision: REVISION,
            masked,
            blocks: match settings.form.is_text() {
                true => None,
                false => Some(Hash::of_blocks(&assembly.blocks)?),
            },
            fields,
            settings: settings.clone(),
            identity: texts.add(mem::take(&mut bare.identity), none()),
            tools: texts.take_all(&mut bare.tools, |_| none())?,
            injected: texts.take_all(&mut bare.injected, |one| format!("entry/{}", one.key))?,
            history: texts.take_all(&mut bare.history, message_origin)?,
            current: {
                let current = mem::replace(&mut bare.current, Message::user(""));
                texts.add_json(&current, message_origin(&current))?
            },
            steps: texts.take_all(&mut bare.steps, message_origin)?,
            kept: assembly
                .kept
                .iter()
                .cloned()
                .map(|mut kept| KeptText {
                    text: texts.add(mem::take(&mut kept.text), kept.source.clone()),
                    kept,
                })
                .collect(),
            draft: bare,
            breakpoints: assembly.breakpoints.clone(),
            tokenizer: assembly.tokenizer.clone(),
            ledger: assembly.ledger.clone(),
        };
        Ok((recipe, texts))
    }

    pub(super) fn to_json(&self) -> Result<String> {
        archived_json(self)
    }

    /// The hashes of all texts.
    pub(super) fn hashes(&self) -> BTreeSet<Hash> {
        let lists = [&self.tools, &self.injected, &self.history, &self.steps];
        let kept = self.kept.iter().map(|kept| kept.text);
        let fields = self.fields.iter().flatten().filter_map(|field| field.json);
        lists
            .into_iter()
            .flatten()
            .copied()
            .chain([self.identity, self.current])
            .chain(kept)
            .chain(fields)
            .collect()
    }

    /// The draft with its texts. An error says which text is missing or altered.
    pub(super) fn draft(&self, texts: &Bodies) -> Result<Draft, String> {
        let mut draft = self.draft.clone();
        draft.identity = text(texts, self.identity)?;
        draft.tools = parsed(texts, &self.tools)?;
        draft.injected = parsed(texts, &self.injected)?;
        draft.history = parsed(texts, &self.history)?;
        draft.current = parse(texts, self.current)?;
        draft.steps = parsed(texts, &self.steps)?;
        Ok(draft)
    }

    /// The chunks with their texts.
    pub(super) fn kept(&self, texts: &Bodies) -> Result<Vec<Kept>, String> {
        let whole = |one: &KeptText| {
            let mut kept = one.kept.clone();
            kept.text = text(texts, one.text)?;
            Ok(kept)
        };
        self.kept.iter().map(whole).collect()
    }

    /// The fields of the request with their values.
    pub(super) fn fields(&self, texts: &Bodies) -> Result<Option<Vec<RequestField>>, String> {
        let whole = |field: &FieldText| {
            Ok(RequestField {
                name: field.name.clone(),
                json: field.json.map(|hash| text(texts, hash)).transpose()?,
            })
        };
        let fields = self.fields.as_ref();
        let fields = fields.map(|fields| fields.iter().map(whole).collect());
        fields.transpose()
    }

    /// Renders the prompt as its revision did. A draft of revision 1 is rewritten to one that is
    /// shown the same way today.
    pub(super) fn render(&self, draft: &mut Draft, kept: &[Kept]) -> Rendered {
        let settings = &self.settings;
        match self.revision {
            1 => older::render(draft, kept, settings),
            2 => render_as_of(LayoutRevision::Second, draft, kept, settings),
            _ => render(draft, kept, settings),
        }
    }
}

/// A part of a prompt as JSON. An empty text in place of one that failed would be archived as the part.
pub(super) fn archived_json<T: Serialize + ?Sized>(part: &T) -> Result<String> {
    serde_json::to_string(part)
        .map_err(|error| StoreError::failed(format!("the prompt cannot be archived: {error}")))
}

fn text(texts: &Bodies, hash: Hash) -> Result<String, String> {
    let text = texts
        .get(&hash)
        .ok_or_else(|| format!("the text {} is gone", hash.to_hex()))?;
    if Hash::of(text) != hash {
        return Err(format!("the text {} was altered", hash.to_hex()));
    }
    Ok(text.clone())
}

fn parse<T: DeserializeOwned>(texts: &Bodies, hash: Hash) -> Result<T, String> {
    serde_json::from_str(&text(texts, hash)?)
        .map_err(|error| format!("the text {} is not readable: {error}", hash.to_hex()))
}

fn parsed<T: DeserializeOwned>(texts: &Bodies, hashes: &[Hash]) -> Result<Vec<T>, String> {
    hashes.iter().map(|hash| parse(texts, *hash)).collect()
}
