//! A request that was changed before it was sent is replayed as it was sent.

use jiff::{SignedDuration, Timestamp};
use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::record::TurnRecord;
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::engine::{PromptRequest, Sources, TurnPrompt, TurnRequest, replay, turn};
use kitbag::store::{Forget, Incoming, Lease, Location, MemoryRequest, Store, StoreError};
use kitbag::wire::Request;

use crate::FORMS;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const SAID: &str = "The hives of Ines stand in Porto.";

/// A turn whose prompt has been made and not been sent.
async fn begin(store: &Store, form: OutputForm, said: &str) -> (Lease, TurnPrompt) {
    let incoming = Incoming::new("cli", "ann", said).in_conversation(form.as_str());
    let accepted = store.accept(&incoming, NOW).await.unwrap();
    let length = SignedDuration::from_mins(5);
    let lease = store.begin(accepted.id, length, NOW).await.unwrap();
    let memory = MemoryRequest::new(incoming, NOW).answering(accepted.message);
    let settings = AssemblySettings::new(form, Tokens(8_000));
    let mut prompt = PromptRequest::new("", settings);
    prompt.model = Some("some-model".to_owned());
    let mut sources = Sources::default();
    sources.store = Some(store);
    let request = TurnRequest::new(memory, prompt);
    (lease, turn(sources, request, &Characters).await.unwrap())
}

fn on_store(test: impl AsyncFnOnce(Store)) {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(folder.path().join("memory.db"));
    pollster::block_on(async { test(Store::open(&location).await.unwrap()).await });
}

#[test]
fn x03_a_request_with_further_fields_is_replayed_byte_for_byte() {
    let changes: [fn(&mut Request); 5] = [
        |_| (),
        |request| request.set("stream", &true),
        |request| {
            request.set("model", &"another-model");
            request.set("temperature", &0.5);
        },
        |request| {
            request.set("metadata", &"first");
            request.fields.reverse();
        },
        |request| request.fields.clear(),
    ];
    on_store(async |store| {
        for form in FORMS {
            let (lease, prompt) = begin(&store, form, SAID).await;
            for (inference, change) in (0..).zip(changes) {
                let mut request = prompt.composed.request().unwrap();
                change(&mut request);
                let sent = prompt.sent_as(&request).inference(inference);
                store.sent(&lease, sent, NOW).await.unwrap();
                let replayed = replay(&store, lease.turn, Some(inference)).await.unwrap();
                assert_eq!(replayed.body, request.to_json(), "{form:?} {inference}");
                let is_changed = replayed.body != prompt.composed.body();
                assert_eq!(replayed.prompt.fields.is_some(), is_changed);
            }
            store
                .failed(&lease, "", TurnRecord::default(), NOW)
                .await
                .unwrap();
        }
    });
}

#[test]
fn x03_a_field_that_holds_a_forgotten_message_is_not_replayed() {
    on_store(async |store| {
        let (lease, _) = begin(&store, OutputForm::OpenAi, SAID).await;
        let message = store.turn(lease.turn).await.unwrap().message;
        store
            .failed(&lease, "", TurnRecord::default(), NOW)
            .await
            .unwrap();
        let (lease, prompt) = begin(&store, OutputForm::Anthropic, "Hello!").await;
        assert!(!prompt.composed.body().contains("Ines"));
        let mut request = prompt.composed.request().unwrap();
        request.set("metadata", &format!("Earlier: {SAID}"));
        store
            .sent(&lease, prompt.sent_as(&request), NOW)
            .await
            .unwrap();
        let gone = store.forget(Forget::Message(message)).await.unwrap();
        assert_eq!(gone.prompts, 1);
        let refused = replay(&store, lease.turn, None).await.unwrap_err();
        assert!(matches!(refused, StoreError::Replay { .. }), "{refused}");
    });
}

#[test]
fn a_request_is_not_taken_for_a_prompt_that_is_a_text() {
    on_store(async |store| {
        let (lease, request) = begin(&store, OutputForm::OpenAi, SAID).await;
        let request = request.composed.request().unwrap();
        store
            .failed(&lease, "", TurnRecord::default(), NOW)
            .await
            .unwrap();
        let (lease, flat) = begin(&store, OutputForm::Flat, SAID).await;
        let text = flat.composed.request().unwrap();
        assert_eq!(text.body(), flat.composed.body());
        let refused = store.sent(&lease, flat.sent_as(&request), NOW).await;
        assert!(
            matches!(refused, Err(StoreError::Turn { .. })),
            "{refused:?}"
        );
    });
}

#[test]
fn a_flat_request_is_replayed_as_its_text() {
    on_store(async |store| {
        let (lease, flat) = begin(&store, OutputForm::Flat, SAID).await;
        let mut request = flat.composed.request().unwrap();
        request.set("model", &"opus");
        let sent = flat.sent_as(&request);
        store.sent(&lease, sent, NOW).await.unwrap();
        let replayed = replay(&store, lease.turn, None).await.unwrap();
        assert_eq!(replayed.body, request.body());
        let turn = request.turn().unwrap();
        assert_eq!(turn.current.content.text(), SAID);
        assert_eq!(turn.model.as_deref(), Some("opus"));
    });
}
