//! Assemblies counted by real vocabularies: never over budget, and sums that are exact.

#![allow(clippy::indexing_slicing, reason = "helpers of tests are test code")]

use kitbag::core::assembly::{AssembleError, AssemblySettings, Draft, OutputForm, assemble};
use kitbag::core::chunk::{
    ChunkBand, ChunkType, ContextChunk, ContextPriority, Detail, Level, Relevance,
};
use kitbag::core::message::Message;
use kitbag::core::rank::RankedChunk;
use kitbag::core::tokens::{TokenCounter, Tokens};
use kitbag::tokens::{Counter, Vocabulary};
use proptest::prelude::*;

/// What tends to merge with its neighbours, and anything else.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "\n",
            "\n\n",
            " ",
            "\t",
            "/",
            "//",
            ".\n/",
            "\r\n",
            "```",
            "</file>",
            "<chunk-1>",
            "fn main() {}\n",
            "don't",
            "你好",
            "é",
            "\u{3000}",
            "[System]\n",
            "## Request\n",
            "    indented",
            "1234567",
            "😀",
        ])
        .prop_map(String::from),
        "\\PC{0,30}",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

fn chunk() -> impl Strategy<Value = RankedChunk> {
    (
        text(),
        text(),
        20_000u32..1_000_000,
        0..4usize,
        0..3usize,
        "[a-z/ ]{1,6}",
    )
        .prop_map(|(full, outline, relevance, priority, kind, source)| {
            let kind = [ChunkType::File, ChunkType::Fact, ChunkType::Structure][kind].clone();
            let band = if kind == ChunkType::Fact {
                ChunkBand::Volatile
            } else {
                ChunkBand::Session
            };
            ContextChunk::new(kind, source, full)
                .with_level(Level::new(Detail::Outline, outline))
                .with_relevance(Relevance::from_ppm(relevance))
                .with_priority(ContextPriority::ALL[priority])
                .with_band(band)
                .into()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn p02_no_prompt_exceeds_its_budget_for_any_vocabulary(
        chunks in prop::collection::vec(chunk(), 0..8),
        (identity, said, request) in (text(), text(), text()),
        budget in 20u32..400,
        form in 0..OutputForm::ALL.len(),
    ) {
        let mut draft = Draft::new(request);
        draft.identity = identity;
        draft.history = vec![Message::user(said.as_str()), Message::assistant(said)];
        let form = OutputForm::ALL[form];
        let settings = AssemblySettings::new(form, Tokens(budget));
        for vocabulary in Vocabulary::available() {
            let counter = Counter::for_vocabulary(vocabulary).unwrap();
            match assemble(&draft, chunks.clone(), &settings, &counter, None) {
                Ok(assembly) => {
                    prop_assert!(assembly.tokens <= Tokens(budget));
                    let parts: Tokens = assembly.segments.iter()
                        .map(|segment| counter.count(&segment.text).saturating_add(Tokens(segment.overhead)))
                        .sum();
                    prop_assert_eq!(parts, assembly.tokens, "{} {:?}", vocabulary, form);
                    if form.is_text() {
                        prop_assert_eq!(counter.count(&assembly.body), assembly.tokens);
                    }
                }
                Err(AssembleError::FixedOverBudget { .. } | AssembleError::EmptyMessage { .. }) => {}
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}
