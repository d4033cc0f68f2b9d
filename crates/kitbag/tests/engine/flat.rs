//! A flat prompt as the context that a provider takes: in real tokens it is never the larger one.

use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::chunk::{ChunkBand, ChunkType, ContextChunk};
use kitbag::core::context::Context;
use kitbag::core::inject::ContextMessage;
use kitbag::core::message::Message;
use kitbag::core::tokens::{TokenCounter as _, Tokens};
use kitbag::engine::{Contribution, PromptRequest, compose};
use proptest::prelude::*;

use crate::COUNTER;

/// Texts that imitate headings, sources and fences, and begin and end in odd ways.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(vec![
            "[System]", "[User]", "\\[User]", "[Source a.rs]", "\\[Source b]", "```", "````", "\n", "\n\n",
            "\r\n", "[Source c]\n```\n[User]\n```\n", " ", "  x", "/", "the quick brown fox", "\u{2028}", "é",
        ]).prop_map(String::from),
        1 => any::<String>(),
    ];
    prop::collection::vec(part, 0..10).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn o06_a_context_has_no_more_tokens_than_the_assembly_it_was_read_from(
        texts in prop::collection::vec(text(), 8), budget in 100..2_000_u32,
    ) {
        let [identity, file, fact, recalled, said, answer, reminder, message] =
            <[String; 8]>::try_from(texts).unwrap();
        let mut contribution = Contribution::default();
        contribution.draft.identity = Some(identity);
        contribution.draft.history = vec![Message::user(said), Message::assistant(answer)];
        contribution.draft.injected = vec![
            ContextMessage::suffix_system("reminder", &reminder),
            ContextMessage::session("session", reminder),
        ];
        contribution.add(ContextChunk::new(ChunkType::File, "a.md", file));
        contribution.add(ContextChunk::new(ChunkType::Fact, "fact/a", fact));
        let recalled = ContextChunk::new(ChunkType::Turn, "message/9.9.9", recalled);
        contribution.add(recalled.with_band(ChunkBand::Volatile));
        let settings = AssemblySettings::new(OutputForm::Flat, Tokens(budget));
        let request = PromptRequest::new(message, settings);
        let Ok(composed) = compose(&request, vec![contribution], &*COUNTER, None) else {
            return Ok(());
        };
        let body = &composed.assembly.body;
        let context = Context::from_prompt_string(body).unwrap();
        let prompt = context.to_prompt_string();
        prop_assert!(COUNTER.count(&prompt) <= COUNTER.count(body), "{body:?}\n{prompt:?}");
        prop_assert!(COUNTER.count(&prompt) <= Tokens(budget));
        prop_assert_eq!(Context::from_prompt_string(&prompt).unwrap(), context);
    }
}
