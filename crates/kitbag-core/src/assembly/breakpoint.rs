//! Placement of cache markers: at the ends of bands, by what they are expected to save.

use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::form::OutputForm;
use super::settings::{AssemblySettings, MarkerDialect};
use crate::band::Band;
use crate::tokens::Tokens;

/// The end of a band that a cached prefix reaches to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakpoint {
    pub band: Band,
    /// The tokens of the prompt up to there.
    pub tokens: Tokens,
}

/// Places at most as many breakpoints as the provider takes, none below the smallest prefix that is
/// cached.
///
/// `bands` are the tokens of each band, in order. The model behind it: between this request and
/// the next, each band changes with a probability of its own, and everything up to the last
/// breakpoint before the first change is read from the cache. Of all placements the one with the
/// greatest expected saving wins, among equals the one with fewer markers.
pub(super) fn place(
    bands: &[(Band, Tokens)],
    settings: &AssemblySettings,
    draft: &Draft,
) -> Vec<Breakpoint> {
    let cache = &settings.traits.cache;
    let (dialect, first) = match settings.form {
        OutputForm::Anthropic => (MarkerDialect::Anthropic, Band::Tools),
        // These take markers on parts of messages, and not all instructions are such.
        OutputForm::OpenAi => (MarkerDialect::OpenAi, Band::Identity),
        OutputForm::Responses => (MarkerDialect::OpenAi, Band::System),
        // A text has no markers, and of a payload the bands can be read.
        _ => return Vec::new(),
    };
    if cache.markers != Some(dialect) {
        return Vec::new();
    }
    // A provider counts the markers of a client with ours.
    let most = cache.max_breakpoints.saturating_sub(draft.client_markers());
    best_of(bands, first, cache.min_tokens, most)
}

/// Returns the best placement at the ends of bands from `first` on.
fn best_of(
    bands: &[(Band, Tokens)],
    first: Band,
    min_tokens: Tokens,
    most: usize,
) -> Vec<Breakpoint> {
    let mut candidates: Vec<(Breakpoint, u64)> = Vec::new();
    let mut tokens = Tokens::ZERO;
    let mut survival: u64 = 1_000_000;
    for &(band, count) in bands {
        tokens = tokens.saturating_add(count);
        if count == Tokens::ZERO {
            continue;
        }
        // A prefix survives only if every band in it does.
        survival = survival * (1_000_000 - change_ppm(band)) / 1_000_000;
        if band >= first && tokens >= min_tokens && survival > 0 {
            candidates.push((Breakpoint { band, tokens }, survival));
        }
    }
    // There are at most ten bands, so all 1,024 placements can be compared.
    let sets = (0_u32..1 << candidates.len()).filter(|set| set.count_ones() as usize <= most);
    let saving = |set: &u32| {
        (
            expected_saving(&candidates, *set),
            Reverse(set.count_ones()),
        )
    };
    let chosen = sets.max_by_key(saving).unwrap_or(0);
    (0..)
        .zip(&candidates)
        .filter(|&(bit, _)| chosen & (1 << bit) != 0)
        .map(|(_, &(breakpoint, _))| breakpoint)
        .collect()
}

/// Returns the tokens that are read from the cache on average, in millionths.
fn expected_saving(candidates: &[(Breakpoint, u64)], set: u32) -> u64 {
    let mut saving = 0;
    let mut shorter = 0;
    for (bit, (breakpoint, survival)) in (0..).zip(candidates) {
        if set & (1 << bit) != 0 {
            let tokens = u64::from(breakpoint.tokens.0);
            saving += survival * (tokens - shorter);
            shorter = tokens;
        }
    }
    saving
}

/// Returns the assumed probability that a band differs in the next request, in parts per million.
/// Bands up to the session change rarely, and the history only grows; what follows it is new each
/// turn.
const fn change_ppm(band: Band) -> u64 {
    match band {
        Band::Tools | Band::Identity => 5_000,
        Band::System => 50_000,
        Band::Session => 100_000,
        Band::Conversation => 50_000,
        Band::History => 10_000,
        Band::Volatile | Band::SuffixSystem => 1_000_000,
        Band::Current | Band::Steps => 20_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bands(counts: &[(Band, u32)]) -> Vec<(Band, Tokens)> {
        counts
            .iter()
            .map(|&(band, count)| (band, Tokens(count)))
            .collect()
    }

    fn placed(counts: &[(Band, u32)]) -> Vec<Band> {
        let breakpoints = best_of(&bands(counts), Band::Tools, Tokens(1_024), 4);
        breakpoints
            .iter()
            .map(|breakpoint| breakpoint.band)
            .collect()
    }

    #[test]
    fn t06_breakpoints_follow_the_bands() {
        let all = [
            (Band::Tools, 2_000),
            (Band::Identity, 1_500),
            (Band::System, 300),
            (Band::Session, 9_000),
            (Band::History, 6_000),
            (Band::Current, 200),
        ];
        assert_eq!(
            placed(&all),
            [Band::Identity, Band::Session, Band::History, Band::Current]
        );
    }

    #[test]
    fn t06_nothing_is_marked_behind_what_changes_each_turn() {
        let volatile = [
            (Band::Identity, 2_000),
            (Band::Volatile, 500),
            (Band::Current, 9_000),
        ];
        assert_eq!(placed(&volatile), [Band::Identity]);
    }

    #[test]
    fn t06_nothing_is_marked_below_the_smallest_prefix() {
        assert_eq!(placed(&[(Band::Identity, 1_023)]), []);
        assert_eq!(placed(&[(Band::Identity, 1_024)]), [Band::Identity]);
    }

    #[test]
    fn t06_never_more_than_the_provider_takes() {
        let all: Vec<(Band, u32)> = Band::ALL.iter().map(|&band| (band, 5_000)).collect();
        for most in 0..5 {
            let breakpoints = best_of(&bands(&all), Band::Tools, Tokens(1_024), most);
            assert_eq!(breakpoints.len(), most);
        }
    }
}
