//! Removes the secrets from a prompt before it is archived.

use kitbag_core::assembly::{Assembly, render};
use kitbag_core::content::RawJson;

use super::SentPrompt;
use super::recipe::archived_json;
use crate::error::Result;
use crate::id::MessageId;
use crate::secrets::Secrets;

/// Returns the prompt to archive, and the number of secrets that are masked in it. The hash of a
/// prompt with a secret would let anybody test guesses, so the body becomes one without: the text
/// rendered from the masked draft, or the blocks of a request, whose JSON is made elsewhere.
pub(super) fn masked(mut prompt: SentPrompt, secrets: Secrets) -> Result<(SentPrompt, usize)> {
    let Some(mask) = secrets.mask() else {
        return Ok((prompt, 0));
    };
    // A key is random and may look like a secret, but without it the wrappers of the prompt's
    // queries would not match.
    let mut mask = mask.sparing(prompt.key.clone());
    let draft = &mut prompt.draft;
    // Messages from the store were masked when they came in. They hold the keys of earlier
    // wrappers, which must stay too.
    let is_stored = |id: &Option<String>| {
        let id = id.as_deref();
        id.is_some_and(|id| id.parse::<MessageId>().is_ok())
    };
    let history = draft.history.iter_mut();
    let history = history.filter(|message| !is_stored(&message.id));
    for message in history.chain([&mut draft.current]).chain(&mut draft.steps) {
        mask.message(message);
    }
    for field in prompt.fields.iter_mut().flatten() {
        let json = field.json.take().map(RawJson::from_text);
        field.json = json.and_then(Result::ok).map(|mut json| {
            mask.raw(&mut json);
            json.as_str().to_owned()
        });
    }
    if let Some(shown) = prompt.compaction.as_mut() {
        shown.compaction = secrets.masked_value(shown.compaction.clone());
    }
    if mask.masked > 0 {
        let Assembly { kept, .. } = &prompt.assembly;
        let rendered = render(&prompt.draft, kept, &prompt.settings);
        prompt.body = match prompt.settings.form.is_text() {
            true => rendered.body.clone(),
            false => archived_json(&rendered.blocks)?,
        };
        prompt.assembly.body = rendered.body;
        prompt.assembly.blocks = rendered.blocks;
    }
    Ok((prompt, mask.masked))
}
