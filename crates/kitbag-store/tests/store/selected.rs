//! Forgetting the messages that a filter admits.

use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::chunk::{ChunkType, ContextChunk};
use kitbag_core::role::Role;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    ExportFilter, Forget, Import, Learned, MessageFilter, NewFact, NewMessage, RecallRequest, Store,
};

use crate::on_both;
use crate::place::{new_tenant, second};
use crate::prompts::{begin, sent};

on_both! {
    x04_messages_are_forgotten_by_words_time_channel_and_sender
    x04_a_conversation_of_which_nothing_is_left_goes_too
    x03_prompts_that_held_forgotten_messages_cannot_be_rebuilt
    x04_nothing_remains_of_a_forgotten_tenant
}

/// Enough messages for several blocks, of two senders on two channels.
async fn fill(store: &Store) {
    let said = (0..2_400).map(|n| {
        let sender = ["ann", "bob"][usize::from(n % 2 == 1)];
        let channel = ["cli", "slack"][usize::from(n % 4 > 1)];
        let topic = ["apples", "pears", "plums"][(n % 3) as usize];
        let message = NewMessage::new(Role::User, format!("word{n} about {topic}"));
        let conversation = format!("c{}", n / 200);
        Import::new(channel, sender, Some(conversation), message.at(second(n)))
    });
    store.import(said.collect(), second(0)).await.unwrap();
}

async fn forget(
    store: &Store,
    sender: Option<&str>,
    channel: Option<&str>,
    messages: MessageFilter,
) -> u64 {
    let filter = ExportFilter::new(sender.map(Into::into), channel.map(Into::into)).among(messages);
    let gone = store
        .forget(Forget::Messages(filter.clone()))
        .await
        .unwrap();
    let left = store.export(&filter, None, 5_000).await.unwrap().0.len();
    assert_eq!(left, 0);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    gone.messages
}

async fn found(store: &Store, sender: &str, query: &str) -> usize {
    let request = RecallRequest::new(sender, query).limit(3_000);
    let hits = store.recall(&request).await.unwrap();
    let word = query.split(' ').next().unwrap();
    hits.iter()
        .filter(|hit| hit.message.text().contains(word))
        .count()
}

async fn x04_messages_are_forgotten_by_words_time_channel_and_sender(store: Store) {
    fill(&store).await;
    let all = MessageFilter::default;
    assert_eq!(found(&store, "ann", "plums").await, 400);
    assert_eq!(
        forget(&store, Some("ann"), None, all().with_words("Plums")).await,
        400
    );
    assert_eq!(found(&store, "ann", "plums").await, 0);
    assert_eq!(found(&store, "ann", "apples").await, 400);
    assert_eq!(found(&store, "bob", "plums").await, 400);
    // Two words that no message has together.
    assert_eq!(
        forget(&store, None, None, all().with_words("apples pears")).await,
        0
    );
    let early = all().until(second(1_200)).with_words("pears");
    assert_eq!(forget(&store, None, Some("slack"), early).await, 200);
    let between = all().since(second(600)).until(second(700));
    let before = store.stats().await.unwrap().messages;
    let gone = forget(&store, Some("bob"), None, between).await;
    assert_eq!(store.stats().await.unwrap().messages, before - gone);
    assert!(gone > 30, "{gone}");
}

async fn x04_a_conversation_of_which_nothing_is_left_goes_too(store: Store) {
    fill(&store).await;
    let before = store.stats().await.unwrap().conversations;
    let old = MessageFilter::default().until(second(300));
    let gone = store
        .forget(Forget::Messages(ExportFilter::default().among(old)))
        .await
        .unwrap();
    // Four scopes have each lost one conversation, and half of another.
    assert_eq!((gone.messages, gone.conversations), (300, 4));
    assert_eq!(store.stats().await.unwrap().conversations, before - 4);
    let facts = vec![NewFact::new("name", "Ann")];
    store.set_facts("ann", facts, second(0)).await.unwrap();
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x03_prompts_that_held_forgotten_messages_cannot_be_rebuilt(store: Store) {
    let mut turns = Vec::new();
    for (at, (text, chunk)) in [
        ("I sell my xylophone today.", None),
        (
            "What do I sell?",
            Some("You said: I sell my xylophone today."),
        ),
        ("And the weather?", Some("Rain, all day long.")),
    ]
    .into_iter()
    .enumerate()
    {
        let at = i64::try_from(at).unwrap();
        let lease = begin(&store, text, at).await;
        if let Some(chunk) = chunk {
            let draft = Draft::new(text);
            let settings = AssemblySettings::new(OutputForm::Flat, Tokens(4_000));
            let chunk = ContextChunk::new(ChunkType::Fact, format!("fact/n{at}"), chunk);
            let assembly =
                assemble(&draft, vec![chunk.into()], &settings, &Characters, None).unwrap();
            let prompt = sent(draft, settings, assembly);
            store.sent(&lease, prompt, second(at)).await.unwrap();
        }
        let learned = Learned::reply("I see.", second(at));
        store.learned(&lease, learned, second(at)).await.unwrap();
        turns.push(lease.turn);
    }
    let words = MessageFilter::default().with_words("xylophone");
    let gone = store
        .forget(Forget::Messages(ExportFilter::default().among(words)))
        .await
        .unwrap();
    assert_eq!((gone.messages, gone.prompts), (1, 1));
    let refused = store.replay(turns[1], None).await.unwrap_err().to_string();
    assert!(refused.contains("a message was forgotten"), "{refused}");
    store.replay(turns[2], None).await.unwrap();
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x04_nothing_remains_of_a_forgotten_tenant(store: Store) {
    let other = store.for_tenant(new_tenant());
    fill(&store).await;
    fill(&other).await;
    let gone = store.forget(Forget::Tenant).await.unwrap();
    assert_eq!(gone.messages, 2_400);
    assert_eq!(found(&store, "ann", "apples").await, 0);
    assert_eq!(store.stats().await.unwrap().conversations, 0);
    assert_eq!(other.stats().await.unwrap().messages, 2_400);
    fill(&store).await;
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}
