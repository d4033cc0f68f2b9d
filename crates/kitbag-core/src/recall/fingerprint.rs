//! Recognises messages that say the same in nearly the same words.

/// A sketch of a message's terms in their order. Two sketches agree in most places when the messages
/// share most pairs of neighbouring terms; messages with different numbers never count as the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

/// The number of places of the sketch, with four bits each; the rest of the 64 bits is for numbers.
const PLACES: u32 = 12;
const BITS: u32 = 4;
/// The least number of places that agree in near-duplicates.
const AGREEING: u32 = 11;

impl Fingerprint {
    /// Returns the fingerprint as a number, for a store.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns the fingerprint that a store kept.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Tells whether two messages say nearly the same. A message without words is like no other.
    #[must_use]
    pub(super) fn is_like(self, other: Self) -> bool {
        if self.0 == 0 || self.numbers() != other.numbers() {
            return false;
        }
        let agreeing = (0..PLACES)
            .filter(|&place| self.place(place) == other.place(place))
            .count();
        agreeing >= AGREEING as usize
    }

    const fn place(self, place: u32) -> u64 {
        (self.0 >> (place * BITS)) & 0xf
    }

    const fn numbers(self) -> u64 {
        self.0 >> (PLACES * BITS)
    }
}

/// A fingerprint in the making, from a message's terms in their order.
pub(super) struct Sketch {
    least: [u64; PLACES as usize],
    numbers: u64,
    /// The hash of the term before; none before the first.
    before: Option<u64>,
}

impl Default for Sketch {
    fn default() -> Self {
        Self {
            least: [u64::MAX; PLACES as usize],
            numbers: 0,
            before: None,
        }
    }
}

impl Sketch {
    /// Adds the next term.
    pub(super) fn add(&mut self, term: &str) {
        let alone = hash(term.as_bytes(), SEED);
        let pair = hash(term.as_bytes(), self.before.unwrap_or(SEED));
        // A min-hash: each place keeps the least of its hashes, which two messages share about as
        // often as they share pairs of terms.
        for (place, least) in (1u64..).zip(&mut self.least) {
            *least = (*least).min(mixed(pair ^ place.wrapping_mul(STEP)));
        }
        // "at 5" and "at 6" are nearly the same words and not the same message.
        if term.starts_with(|c: char| c.is_ascii_digit()) {
            self.numbers = self.numbers.wrapping_mul(31).wrapping_add(alone);
        }
        self.before = Some(alone);
    }

    /// Returns the fingerprint of the terms that were added.
    pub(super) fn finish(self) -> Fingerprint {
        if self.before.is_none() {
            return Fingerprint(0);
        }
        // Never zero, which stands for a message without words.
        let mut bits = (mixed(self.numbers) | 1) & 0xffff;
        for least in self.least {
            bits = (bits << BITS) | (mixed(least) & 0xf);
        }
        Fingerprint(bits)
    }
}

// The offset of FNV-1a, and the increment of SplitMix64.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// FNV-1a, which is the same everywhere and fast on short words.
fn hash(bytes: &[u8], seed: u64) -> u64 {
    bytes.iter().fold(seed, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Spreads every bit over all others, as SplitMix64 does.
const fn mixed(mut bits: u64) -> u64 {
    bits ^= bits >> 30;
    bits = bits.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits ^= bits >> 27;
    bits = bits.wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
