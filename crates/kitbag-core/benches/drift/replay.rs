//! Replays the drifting conversation, and compares it with a new choice each turn.

use kitbag_core::assembly::{Assembly, AssemblySettings, assemble};
use kitbag_core::tokens::Tokens;

use crate::conversation::{Quarters, Turn};

/// What a replay measured, on average over the turns.
pub(crate) struct Run {
    /// The share of each request's bytes that stand at the beginning of the next.
    pub(crate) reuse: f64,
    /// The worth of what was shown, as a share of what a new choice shows.
    pub(crate) worth: f64,
    /// The same, compared with a new choice of as many tokens as were used, appended ones included.
    pub(crate) worth_at_equal_tokens: f64,
    /// The number of new selections.
    pub(crate) renewals: usize,
    /// The tokens of the chunks in a request.
    pub(crate) chunk_tokens: f64,
    /// The price of a request in input tokens, written ones at 1.25 and read ones at 0.1.
    pub(crate) cost: f64,
}

/// How the selection of the turn before is used.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Selection {
    /// It is kept as long as that pays.
    Kept,
    /// No selection is kept: every turn makes a new one.
    Anew,
}

/// Replays the conversation.
pub(crate) fn replay(turns: &[Turn], settings: &AssemblySettings, selection: Selection) -> Run {
    let mut run = Run {
        reuse: 0.0,
        worth: 0.0,
        worth_at_equal_tokens: 0.0,
        renewals: 0,
        chunk_tokens: 0.0,
        cost: 0.0,
    };
    let mut previous: Option<Assembly> = None;
    for turn in turns {
        let build = |settings: &AssemblySettings, previous| {
            assemble(
                &turn.draft,
                turn.chunks.clone(),
                settings,
                &Quarters,
                previous,
            )
            .expect("the conversation fits")
        };
        let anew = build(settings, None);
        let assembly = match selection {
            Selection::Kept => build(settings, previous.as_ref().map(|previous| &previous.epoch)),
            Selection::Anew => anew.clone(),
        };
        let used = assembly.ledger.fit.used;
        let mut limited = settings.clone();
        limited.chunk_limit = Some(used);
        let equal = build(&limited, None);
        let worth = |assembly: &Assembly| assembly.ledger.fit.worth as f64;
        run.worth += worth(&assembly) / worth(&anew);
        run.worth_at_equal_tokens += worth(&assembly) / worth(&equal);
        run.renewals += usize::from(assembly.ledger.epoch.renewed.is_some());
        run.chunk_tokens += f64::from(used.0);

        let before = previous.as_ref().map(stream).unwrap_or_default();
        let pairs = before.bytes().zip(stream(&assembly).into_bytes());
        let shared = pairs.take_while(|(a, b)| a == b).count();
        if previous.is_some() {
            run.reuse += shared as f64 / before.len() as f64;
        }
        let read = Tokens(u32::try_from(shared / 4).expect("a small prompt"));
        let written = assembly.tokens.saturating_sub(read);
        run.cost += 1.25 * f64::from(written.0) + 0.1 * f64::from(read.0);
        previous = Some(assembly);
    }
    let count = turns.len() as f64;
    run.reuse /= count - 1.0;
    for sum in [
        &mut run.worth,
        &mut run.worth_at_equal_tokens,
        &mut run.chunk_tokens,
        &mut run.cost,
    ] {
        *sum /= count;
    }
    run
}

/// The texts as the provider's cache sees them, speakers included.
fn stream(assembly: &Assembly) -> String {
    let texts = assembly.segments.iter().map(|segment| {
        let role = segment.role.map(|role| format!("{role}\n"));
        role.unwrap_or_default() + &segment.text
    });
    texts.collect()
}
