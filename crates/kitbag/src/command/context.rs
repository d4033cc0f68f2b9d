//! `/context`: the window of the next prompt by part, its share in the provider's cache, and the sources
//! that were left out, with their price.

mod shown;

use kitbag_core::assembly::{Assembly, Reason};
use kitbag_core::band::Band;
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::{CommandCall, CommandError, CommandReply};
use crate::answer::expected;
use crate::engine::{Contribution, Engine, TurnPrompt};
use crate::tokens::ModelProfile;
use crate::words::grouped;

/// The placeholder for a message that was not written yet.
const NO_MESSAGE: &str = "…";

/// A prompt as a window of tokens.
struct ContextWindow {
    budget: Tokens,
    tokens: Tokens,
    /// Its parts that have any, in their order.
    parts: Vec<WindowPart>,
    cached: Cached,
    /// Pieces that were left out for want of room, the best first.
    left_out: Vec<LeftOut>,
    /// The number of pieces that no budget would bring in.
    unwanted: usize,
}

/// A part of a prompt.
struct WindowPart {
    band: Band,
    tokens: Tokens,
    /// Those of them that the provider should have cached.
    cached: Tokens,
}

/// The part of a prompt that its provider should have cached.
enum Cached {
    Tokens(u64),
    /// Nothing, for this reason.
    Nothing(String),
}

/// Something that was left out of a prompt for want of room.
struct LeftOut {
    source: String,
    /// The additional tokens with which it would enter.
    more: Tokens,
}

impl ContextWindow {
    fn of(assembly: &Assembly, cached: Cached, counter: &dyn TokenCounter) -> Self {
        let mut parts: Vec<WindowPart> = Vec::new();
        // The cache holds a prefix: its tokens are used up by the segments in their order.
        let mut left = match cached {
            Cached::Tokens(tokens) => u32::try_from(tokens).unwrap_or(u32::MAX),
            Cached::Nothing(_) => 0,
        };
        for segment in &assembly.segments {
            let tokens = counter.count(&segment.text);
            let tokens = tokens.saturating_add(Tokens(segment.overhead));
            let cached = Tokens(tokens.0.min(left));
            left -= cached.0;
            match parts.iter_mut().find(|part| part.band == segment.band) {
                Some(part) => {
                    part.tokens = part.tokens.saturating_add(tokens);
                    part.cached = part.cached.saturating_add(cached);
                }
                None => parts.push(WindowPart {
                    band: segment.band,
                    tokens,
                    cached,
                }),
            }
        }
        // A band may be split by others, so parts are first summed and then put into order.
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
            cached,
            // Out for another reason than room, so that a larger budget would not help.
            unwanted: out.count() - left_out.len(),
            left_out,
        }
    }
}

pub(super) async fn context(
    asked: CommandCall<'_>,
    others: &[Contribution],
) -> Result<CommandReply, CommandError> {
    let mut incoming = asked.incoming.clone();
    let message = match asked.rest {
        "" => NO_MESSAGE,
        message => message,
    };
    // A prompt needs a message. The placeholder costs a token and recalls nothing.
    incoming.message = message.into();
    let engine = asked.engine;
    let mut turn = engine.turn(incoming)?;
    turn.contributions = others.to_vec();
    // The real prompt, made as for an answer and not sent: the figures cannot differ from those of a turn.
    let prompt = engine.prompt(turn).await?;
    let counter = engine.calibrated_counter().await?;
    let cached = cached(engine, &prompt, counter.as_ref());
    let window = ContextWindow::of(&prompt.composed.assembly, cached, counter.as_ref());
    let mut text = window.to_string();
    if asked.rest.is_empty() {
        text.push_str(
            "\nthe next message adds its words and what is recalled for it:\n/context MESSAGE shows that",
        );
    }
    Ok(text.into())
}

fn cached(engine: &Engine, prompt: &TurnPrompt, counter: &dyn TokenCounter) -> Cached {
    let composed = &prompt.composed;
    let Some(reuse) = composed.assembly.reuse else {
        return Cached::Nothing("no request came before".to_owned());
    };
    let model = engine.model().map(ModelProfile::find);
    let model = model.and_then(Result::ok);
    let expected = expected(prompt, model, counter, (engine.clock)());
    let least = composed.settings.traits.cache.min_tokens;
    Cached::Nothing(match (expected.read, expected.miss) {
        (None, _) => "no cache of this model is known".to_owned(),
        // The reason matters only if nothing is cached.
        (Some(0), Some(miss)) => miss.to_string(),
        (Some(0), None) if reuse.shared == 0 => "the requests begin differently".to_owned(),
        (Some(0), None) => format!("the model caches no less than {} tokens", grouped(least.0)),
        (Some(tokens), _) => return Cached::Tokens(tokens),
    })
}
