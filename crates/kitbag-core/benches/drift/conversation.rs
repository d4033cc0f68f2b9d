//! A conversation of 60 turns whose topics drift, and shift abruptly: what each turn could show.
//!
//! 120 documents of log-normal size, each about one topic and a little about another. The topics'
//! weights move a little each turn and altogether at three turns; every relevance carries noise; each
//! turn recalls facts that no other turn does. Deterministic: nothing here depends on the machine.

use kitbag_core::assembly::Draft;
use kitbag_core::chunk::{ChunkBand, ChunkType, ContextChunk, Detail, Level, Relevance};
use kitbag_core::message::Message;
use kitbag_core::rank::RankedChunk;
use kitbag_core::tokens::{TokenCounter, Tokens};

/// The number of turns.
pub(crate) const TURNS: usize = 60;
const DOCUMENTS: usize = 120;
const TOPICS: usize = 12;
/// The turns at which the conversation turns to something else.
const SHIFTS: [usize; 3] = [16, 33, 47];

/// One turn: what is said, and what could be shown.
pub(crate) struct Turn {
    pub(crate) draft: Draft,
    pub(crate) chunks: Vec<RankedChunk>,
}

/// The conversation.
pub(crate) fn conversation() -> Vec<Turn> {
    let mut random = Random(7);
    let documents: Vec<Document> = (0..DOCUMENTS)
        .map(|n| Document::new(n, &mut random))
        .collect();
    let mut weights = Weights::new(&mut random);
    let mut history: Vec<Message> = Vec::new();
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        if SHIFTS.contains(&turn) {
            weights = Weights::new(&mut random);
        }
        weights.drift(&mut random);
        let mut chunks: Vec<RankedChunk> = documents
            .iter()
            .map(|document| document.chunk(&weights.0, &mut random))
            .collect();
        chunks.extend((0..3).map(|n| recalled(turn, n, &mut random)));

        let mut draft = Draft::new(words(30, &mut random));
        draft.identity = words(300, &mut Random(1));
        draft.history.clone_from(&history);
        history.push(draft.current.clone());
        history.push(Message::assistant(words(220, &mut random)));
        turns.push(Turn { draft, chunks });
    }
    turns
}

/// How much each topic matters now.
struct Weights([f64; TOPICS]);

impl Weights {
    /// Two topics matter, the others hardly.
    fn new(random: &mut Random) -> Self {
        let mut weights = [0.0; TOPICS];
        for weight in &mut weights {
            *weight = 0.15 * random.uniform();
        }
        weights[random.below(TOPICS)] = 0.9;
        weights[random.below(TOPICS)] = 0.6;
        Self(weights)
    }

    /// Every weight takes a small step, and one topic gains on the others.
    fn drift(&mut self, random: &mut Random) {
        for weight in &mut self.0 {
            *weight = (*weight + 0.03 * random.normal()).clamp(0.0, 1.0);
        }
        let rising = random.below(TOPICS);
        self.0[rising] += 0.1 * (1.0 - self.0[rising]);
    }
}

/// Four bytes a token, rounded up.
pub(crate) struct Quarters;

impl TokenCounter for Quarters {
    fn name(&self) -> &str {
        "quarters"
    }

    fn count(&self, text: &str) -> Tokens {
        Tokens(u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX))
    }
}

struct Document {
    name: String,
    main: usize,
    side: usize,
    full: String,
    outline: String,
}

impl Document {
    fn new(number: usize, random: &mut Random) -> Self {
        let size = (6.0 + 0.8 * random.normal()).exp().clamp(60.0, 6_000.0);
        let length = size as usize;
        Self {
            name: format!("doc/{number:03}.md"),
            main: random.below(TOPICS),
            side: random.below(TOPICS),
            full: words(length, random),
            outline: words(length / 4 + 5, random),
        }
    }

    fn chunk(&self, weights: &[f64; TOPICS], random: &mut Random) -> RankedChunk {
        let about = weights[self.main] + 0.35 * weights[self.side];
        let likely = (0.9 * about * about + 0.01 * random.uniform()).clamp(0.0, 1.0);
        let ppm = (likely * 1e6) as u32;
        ContextChunk::new(ChunkType::Document, self.name.as_str(), self.full.as_str())
            .with_level(Level::new(Detail::Outline, self.outline.as_str()))
            .with_level(Level::new(Detail::Line, self.name.as_str()))
            .with_relevance(Relevance::from_ppm(ppm))
            .into()
    }
}

fn recalled(turn: usize, number: usize, random: &mut Random) -> RankedChunk {
    ContextChunk::new(
        ChunkType::Fact,
        format!("fact/{turn}.{number}"),
        words(25, random),
    )
    .with_band(ChunkBand::Volatile)
    .with_relevance(Relevance::from_ppm(400_000))
    .into()
}

fn words(count: usize, random: &mut Random) -> String {
    const SYLLABLES: [&str; 8] = ["ka", "ro", "mi", "ten", "sul", "ba", "ve", "lo"];
    let word = |random: &mut Random| {
        let parts = 1 + random.below(3);
        (0..parts)
            .map(|_| SYLLABLES[random.below(SYLLABLES.len())])
            .collect::<String>()
    };
    (0..count.max(1))
        .map(|_| word(random))
        .collect::<Vec<_>>()
        .join(" ")
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or(0) % limit
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (core::f64::consts::TAU * self.uniform()).cos()
    }
}
