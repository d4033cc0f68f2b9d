//! A prompt of everything that the store remembers, as plainly as can be. The engine's own is tested
//! where the engine is.

use jiff::Timestamp;
use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::chunk::{ChunkType, ContextChunk};
use kitbag_core::rank::RankedChunk;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{Incoming, MemoryRequest, MessageId, SentPrompt, Store, StoredMessage};

use crate::prompts::sent;

pub(crate) async fn prompt(
    store: &Store,
    incoming: &Incoming,
    answering: Option<MessageId>,
    now: Timestamp,
) -> SentPrompt {
    let mut request = MemoryRequest::new(incoming.clone(), now);
    request.answering = answering;
    let memory = store.read_conversation(&request).await.unwrap();
    let (id, said, state) = (memory.id, memory.messages, memory.state);
    let shown = said.iter().map(|message| message.id).collect();
    let known = store.recollect(&request, id, shown).await;
    assert_eq!(known.problems, []);
    let mut draft = Draft::new(incoming.message.text());
    draft.current.id = answering.map(|id| id.to_string());
    draft.history = said.into_iter().map(StoredMessage::into_history).collect();
    let facts = known.facts.iter().map(|fact| {
        let text = format!("{}: {}", fact.key, fact.value);
        ContextChunk::new(ChunkType::Fact, format!("fact/{}", fact.key), text)
    });
    let recalled = known.recalled.iter().map(|hit| {
        let source = format!("message/{}", hit.message.id);
        ContextChunk::new(ChunkType::Turn, source, hit.text())
    });
    let chunks: Vec<RankedChunk> = facts.chain(recalled).map(Into::into).collect();
    let stands = |id: &_| chunks.iter().any(|ranked| ranked.chunk.id == *id);
    let kept = state.epoch.iter().flat_map(|epoch| &epoch.kept);
    let gone = kept
        .filter(|kept| !stands(&kept.id))
        .map(|kept| kept.id.clone());
    draft.retracted = gone.collect();
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(4_000));
    let epoch = state.epoch.as_ref();
    let assembly = assemble(&draft, chunks, &settings, &Characters, epoch).unwrap();
    sent(draft, settings, assembly)
}
