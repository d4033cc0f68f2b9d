//! `/context`: the window of the next prompt by part, what the previous request shares with it, and what
//! was left out at which price.

mod shown;

use kitbag_core::assembly::{Assembly, Reason};
use kitbag_core::band::Band;
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::{Asked, CommandError, CommandReply};
use crate::engine::Contribution;

/// Stands for a message that is not there yet.
const NO_MESSAGE: &str = "…";

/// A prompt as a window of tokens.
struct ContextWindow {
    budget: Tokens,
    tokens: Tokens,
    /// Its parts that have any, in their order.
    parts: Vec<WindowPart>,
    /// Whether there was a previous request, which this one may share a beginning with.
    continues: bool,
    /// What was left out for want of room, the best first.
    left_out: Vec<LeftOut>,
    /// The number of pieces that no budget would bring in.
    unwanted: usize,
}

/// A part of a prompt.
struct WindowPart {
    band: Band,
    tokens: Tokens,
    /// Those of them that the previous request begins with too, so that a provider may have them cached.
    shared: Tokens,
}

/// Something that was left out of a prompt for want of room.
struct LeftOut {
    source: String,
    /// With so many more tokens it would enter.
    more: Tokens,
}

impl ContextWindow {
    fn of(assembly: &Assembly, counter: &dyn TokenCounter) -> Self {
        let mut parts: Vec<WindowPart> = Vec::new();
        let continues = assembly.reuse.is_some();
        // Both requests begin with these bytes, which are whole texts.
        let mut shared_bytes = assembly.reuse.map_or(0, |reuse| reuse.shared);
        for segment in &assembly.segments {
            let tokens = counter.count(&segment.text);
            let tokens = tokens.saturating_add(Tokens(segment.overhead));
            let left = shared_bytes.checked_sub(segment.text.len());
            shared_bytes = left.unwrap_or(0);
            let shared = match continues && left.is_some() {
                true => tokens,
                false => Tokens::ZERO,
            };
            match parts.iter_mut().find(|part| part.band == segment.band) {
                Some(part) => {
                    part.tokens = part.tokens.saturating_add(tokens);
                    part.shared = part.shared.saturating_add(shared);
                }
                None => parts.push(WindowPart {
                    band: segment.band,
                    tokens,
                    shared,
                }),
            }
        }
        parts.retain(|part| part.tokens > Tokens::ZERO);
        parts.sort_by_key(|part| part.band);
        let ledger = &assembly.ledger;
        let out = ledger.entries.iter().filter(|entry| entry.level.is_none());
        let left_out = out.clone().filter_map(|entry| match entry.reason {
            Reason::NoRoom { more, .. } => Some(LeftOut {
                source: entry.source.clone(),
                more: more?,
            }),
            _ => None,
        });
        let left_out: Vec<LeftOut> = left_out.collect();
        Self {
            budget: ledger.fit.budget,
            tokens: assembly.tokens,
            parts,
            continues,
            unwanted: out.count() - left_out.len(),
            left_out,
        }
    }
}

pub(super) async fn context(
    asked: Asked<'_>,
    others: &[Contribution],
) -> Result<CommandReply, CommandError> {
    let mut incoming = asked.incoming.clone();
    let message = match asked.rest {
        "" => NO_MESSAGE,
        message => message,
    };
    incoming.message = message.into();
    let engine = asked.engine;
    let mut turn = engine.turn(incoming)?;
    turn.contributions = others.to_vec();
    let prompt = engine.prompt(turn).await?;
    let window = ContextWindow::of(&prompt.composed.assembly, engine.counter());
    let mut text = window.to_string();
    if asked.rest.is_empty() {
        text.push_str(
            "\nthe next message adds its words and what is recalled for it:\n/context MESSAGE shows that",
        );
    }
    Ok(text.into())
}
