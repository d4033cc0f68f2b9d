//! The tokens that a provider should read from its cache, and the reason if they are not all of the last
//! request.

use jiff::Timestamp;
use kitbag_core::assembly::{Assembly, Reuse, Segment};
use kitbag_core::band::Band;
use kitbag_core::record::CacheMiss;
use kitbag_core::tokens::{TokenCounter, Tokens};

use crate::engine::TurnPrompt;
use crate::tokens::ModelProfile;

/// The block of automatic caches: a cached prefix ends at a multiple of this many tokens.
const BLOCK: u64 = 128;

/// The tokens that should come from the cache.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    /// None where there is nothing to compare with, or where the cache is not known.
    pub(crate) read: Option<u64>,
    pub(crate) miss: Option<CacheMiss>,
}

impl Expected {
    const fn nothing(miss: CacheMiss) -> Self {
        Self {
            read: Some(0),
            miss: Some(miss),
        }
    }
}

/// Predicts from the last request of the conversation, where its cached prefixes ended, and how long ago
/// it was sent.
pub(crate) fn expected(
    prompt: &TurnPrompt,
    model: Option<&ModelProfile>,
    counter: &dyn TokenCounter,
    sent: Timestamp,
) -> Expected {
    if model.is_none_or(|model| model.cache.is_none()) {
        return Expected::default();
    }
    let composed = &prompt.composed;
    let assembly = &composed.assembly;
    let cache = &composed.settings.traits.cache;
    // Reading at full price means no cache, and a program that takes a flat text sends more than that.
    let is_cached = cache.read_permille < 1_000 && !assembly.form.is_text();
    let Some(reuse) = assembly.reuse.filter(|_| is_cached) else {
        return Expected::default();
    };
    if !reuse.is_same_model {
        return Expected::nothing(CacheMiss::ModelChanged);
    }
    let idle = prompt.previous_at.map(|before| sent.duration_since(before));
    let idle = idle.map(|idle| idle.as_secs());
    if let (Some(idle), Some(life)) = (idle, cache.life_seconds)
        && idle > i64::from(life)
    {
        return Expected::nothing(CacheMiss::Expired);
    }
    // With markers only a marked prefix is cached; without them, any prefix in whole blocks.
    let read = match cache.markers {
        Some(_) => tokens_up_to(assembly, reuse.marked, counter),
        None => tokens_up_to(assembly, reuse.shared, counter) / BLOCK * BLOCK,
    };
    let is_long_enough = read >= u64::from(cache.min_tokens.0);
    Expected {
        // Providers do not cache a shorter prefix at all.
        read: Some(if is_long_enough { read } else { 0 }),
        miss: miss(&assembly.segments, reuse),
    }
}

/// The tokens of the first bytes of a prompt, as a share of its own count.
fn tokens_up_to(assembly: &Assembly, bytes: usize, counter: &dyn TokenCounter) -> u64 {
    let (mut end, mut before, mut all) = (0, 0, 0);
    // Each segment is counted once: this is time in which the answer is not kept yet.
    for segment in &assembly.segments {
        let overhead = Tokens(segment.overhead);
        let tokens = counter.count(&segment.text).saturating_add(overhead).0;
        end += segment.text.len();
        all += u64::from(tokens);
        if end <= bytes {
            before += u64::from(tokens);
        }
    }
    // The segments do not add up to the prompt's own count, so their share of it is taken.
    let read = u64::from(assembly.tokens.0).saturating_mul(before);
    read.checked_div(all).unwrap_or_default()
}

/// The reason why two requests differ where they do. After the history each turn is new anyway.
fn miss(segments: &[Segment], reuse: Reuse) -> Option<CacheMiss> {
    if reuse.shared >= reuse.previous {
        return None;
    }
    let mut end = 0;
    let changed = segments.iter().find(|segment| {
        end += segment.text.len();
        end > reuse.shared
    });
    match changed?.band {
        Band::Tools => Some(CacheMiss::ToolsChanged),
        Band::Identity | Band::System => Some(CacheMiss::InstructionsChanged),
        Band::Session | Band::Conversation => Some(CacheMiss::SelectionRenewed),
        Band::History => Some(CacheMiss::HistoryChanged),
        Band::Volatile | Band::SuffixSystem | Band::Current | Band::Steps => None,
    }
}
