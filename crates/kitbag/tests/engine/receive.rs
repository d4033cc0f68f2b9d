//! A message through every stage: typing is signalled to a channel, and to nobody who is refused.

use std::future::pending;
use std::pin::pin;

use kitbag::Engine;
use kitbag::answer::AnswerError;
use kitbag::project::{Project, ProjectPlaces};
use kitbag::provider::{ReplyEvent, ScriptProvider};
use kitbag::receive::Response;
use kitbag::store::{Incoming, Location, Store};

/// Runs a test with an engine whose project admits one sender on one channel.
fn on_engine<F: Future<Output = ()>>(test: impl FnOnce(Engine) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("kitbag.yaml", "channels: {slack: {senders: [ann]}}\n");
    write("answers.jsonl", "{\"text\": \"Fine.\"}\n");
    let location = Location::Sqlite(folder.path().join("memory.db"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let provider = ScriptProvider::new("demo", folder.path().join("answers.jsonl"));
        let engine = Engine::builder()
            .store(Store::open(&location).await.unwrap())
            .project(Project::open(&ProjectPlaces::new(folder.path())))
            .provider(provider);
        test(engine.build().unwrap()).await;
    });
}

async fn respond(
    engine: &Engine,
    sender: &str,
    message: &str,
) -> (Result<Response, AnswerError>, Vec<ReplyEvent>) {
    let mut shown = Vec::new();
    let turn = engine
        .turn(Incoming::new("slack", sender, message))
        .unwrap();
    let mut show = |event: &ReplyEvent| shown.push(event.clone());
    let response = engine.respond(turn, &mut show, pin!(pending())).await;
    (response, shown)
}

#[test]
fn o05_typing_is_signalled_before_the_first_words() {
    on_engine(async |engine| {
        let (response, shown) = respond(&engine, "ann", "hello").await;
        let Ok(Response::Answer(answer)) = response else {
            panic!("{response:?}");
        };
        assert_eq!(answer.text(), "Fine.");
        assert_eq!(
            shown[..3],
            [
                ReplyEvent::Typing,
                ReplyEvent::Accepted,
                ReplyEvent::Text("Fine.".into())
            ]
        );
    });
}

#[test]
fn o05_commands_and_refusals_signal_nothing_and_store_no_message() {
    on_engine(async |engine| {
        let (response, shown) = respond(&engine, "ann", "/status").await;
        let Ok(Response::Command(reply)) = response else {
            panic!("{response:?}");
        };
        assert!(reply.text.starts_with("a new conversation begins"));
        assert_eq!(shown, []);
        let (response, shown) = respond(&engine, "eve", "hello").await;
        let Err(AnswerError::Refused(refused)) = response else {
            panic!("{response:?}");
        };
        assert_eq!((&*refused.sender, &*refused.channel), ("eve", "slack"));
        assert_eq!(shown, []);
        // Whoever asks the model directly comes by the same door.
        let direct = engine.ask(Incoming::new("slack", "eve", "hello")).await;
        assert!(matches!(direct, Err(AnswerError::Refused(_))));
        let store = engine.store().unwrap();
        assert_eq!(store.stats().await.unwrap().messages, 0);
        assert_eq!(store.refusals(9).await.unwrap().len(), 2);
    });
}

#[test]
fn o05_a_command_that_is_asked_of_the_model_is_a_message() {
    on_engine(async |engine| {
        let answer = engine.ask(Incoming::new("slack", "ann", "/help")).await;
        assert_eq!(answer.unwrap().text(), "Fine.");
    });
}

#[test]
fn o05_nobody_ends_the_conversation_of_a_sender_who_is_not_admitted() {
    on_engine(async |engine| {
        let store = engine.store().unwrap();
        // From before the channel was restricted.
        let mut incoming = Incoming::new("slack", "eve", "hello");
        store
            .accept(&incoming, jiff::Timestamp::now())
            .await
            .unwrap();
        let ended = engine.end_conversation(&mut incoming).await;
        assert!(matches!(ended, Err(AnswerError::Refused(_))), "{ended:?}");
        let conversations = store.conversations("slack", "eve", 9).await.unwrap();
        assert_eq!(conversations[0].closed, None);
        assert_eq!(store.refusals(9).await.unwrap().len(), 1);
    });
}
