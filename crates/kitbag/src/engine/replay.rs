//! A past prompt, byte for byte as it was sent.

use kitbag_store::{Replayed, Store, StoreError, TurnId};

use crate::wire;

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
    let body = match prompt.settings.form.is_text() {
        true => prompt.body.clone(),
        false => wire::json(
            prompt.settings.form,
            &prompt.draft,
            &prompt.blocks,
            &prompt.breakpoints,
        ),
    };
    prompt.check(&body)?;
    Ok(ReplayedPrompt { body, prompt })
}
