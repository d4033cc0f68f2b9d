//! A prompt as the store keeps it, and made again from there, byte for byte as it was sent.

use indexmap::IndexMap;
use kitbag_core::content::RawJson;
use kitbag_store::{Replayed, RequestField, SentPrompt, Store, StoreError, TurnId};

use super::TurnPrompt;
use crate::wire::{Dialect, Laid, Request, object};

/// A prompt that was made again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReplayedPrompt {
    /// The bytes that were sent.
    pub body: String,
    /// The prompt behind them, and when it was sent.
    pub prompt: Replayed,
}

/// Makes a prompt of a turn again, the last one unless another is named, and compares it with what
/// was sent.
///
/// # Errors
/// [`StoreError::Replay`] when a text was forgotten, removed or altered, or when the prompt comes out
/// differently.
pub async fn replay(
    store: &Store,
    turn: TurnId,
    inference: Option<u32>,
) -> Result<ReplayedPrompt, StoreError> {
    let prompt = store.replay(turn, inference).await?;
    let laid = Laid {
        form: prompt.settings.form,
        draft: &prompt.draft,
        blocks: &prompt.blocks,
        breakpoints: &prompt.breakpoints,
        text: &prompt.body,
        // Only what was sent is made again, and no provider takes a form that tells problems.
        problems: &[],
    };
    let body = match &prompt.fields {
        Some(fields) => json_of(fields, laid.request().as_ref()),
        None if laid.form.is_text() => prompt.body.clone(),
        None => laid.json(),
    };
    prompt.check(&body)?;
    Ok(ReplayedPrompt { body, prompt })
}

impl TurnPrompt {
    /// The prompt as the store keeps it once the first byte of the answer has arrived.
    #[must_use]
    pub fn sent(&self) -> SentPrompt {
        self.sent_with(self.composed.body().into_owned())
    }

    /// The same where the request was changed before it was sent: `stream` was set, say. Replay gives
    /// that request byte for byte.
    #[must_use]
    pub fn sent_as(&self, request: &Request) -> SentPrompt {
        let sent = self.sent_with(request.body());
        // A text is all that was sent; the other fields of such a request are for its program.
        if request.dialect == Dialect::Flat {
            return sent;
        }
        match changed_fields(request, self.made_request().as_deref()) {
            Some(fields) => sent.with_fields(fields),
            None => sent,
        }
    }

    fn sent_with(&self, body: String) -> SentPrompt {
        let one = self.composed.clone();
        let sent = SentPrompt::new(one.draft, one.settings, one.assembly, body);
        let sent = sent.with_compaction(self.composed.compacted.clone());
        #[cfg(feature = "providers")]
        let sent = sent.with_told(self.told.clone());
        match &self.agent {
            Some(agent) => sent.with_key(agent.key.as_str()),
            None => sent,
        }
    }
}

/// The fields of a request that was sent, with the values that `made` does not have; none where it is
/// the same request.
fn changed_fields(sent: &Request, made: Option<&Request>) -> Option<Vec<RequestField>> {
    if made.is_some_and(|made| made.fields.iter().eq(&sent.fields)) {
        return None;
    }
    let field = |(name, json): (&String, &RawJson)| {
        let same = made.and_then(|made| made.fields.get(name));
        RequestField {
            name: name.clone(),
            json: (same != Some(json)).then(|| json.as_str().to_owned()),
        }
    };
    Some(sent.fields.iter().map(field).collect())
}

/// The JSON of the request that has these fields. A value that is missing or no JSON is left out: the
/// comparison with what was sent shows it.
fn json_of(fields: &[RequestField], made: Option<&Request>) -> String {
    let field = |field: &RequestField| {
        let json = match &field.json {
            Some(json) => RawJson::from_text(json.clone()).ok()?,
            None => made?.fields.get(&field.name)?.clone(),
        };
        Some((field.name.clone(), json))
    };
    let fields: IndexMap<String, RawJson> = fields.iter().filter_map(field).collect();
    object(&fields)
}
