//! Ends of an answer that are nobody's fault: it is stopped before it was asked for, the provider never
//! begins, or somebody else takes the turn over.

use std::future::{pending, ready};
use std::pin::pin;

use futures_util::stream;
use jiff::{SignedDuration, Timestamp};
use kitbag::Engine;
use kitbag::answer::AnswerError;
use kitbag::provider::{Provider, ProviderFuture, ReplyEvent, ScriptProvider};
use kitbag::store::{Incoming, Location, Store, StoreError};
use kitbag::wire::{Dialect, Request};

/// Runs a test with a runtime, in a folder with a store and a script whose provider is out of order.
fn on_folder<F: Future<Output = ()>>(test: impl FnOnce(Store, ScriptProvider, Location) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let answers = folder.path().join("answers.jsonl");
    std::fs::write(&answers, "{\"error\": \"out of order\"}\n").unwrap();
    let location = Location::Sqlite(folder.path().join("memory.db"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(Box::pin(async {
        let store = Store::open(&location).await.unwrap();
        let script = ScriptProvider::new("demo", answers);
        Box::pin(test(store, script, location.clone())).await;
    }));
}

fn says(text: &str) -> Incoming {
    Incoming::new("cli", "ann", text)
}

#[test]
fn o08_a_stop_is_heard_while_another_turn_is_waited_for() {
    on_folder(async |store, script, _| {
        let first = store.accept(&says("first"), Timestamp::now()).await;
        let minute = SignedDuration::from_mins(1);
        let lease = store.begin(first.unwrap().id, minute, Timestamp::now());
        lease.await.unwrap();
        let engine = Engine::builder().store(store.clone()).provider(script);
        let engine = engine.build().unwrap();
        let turn = engine.turn(says("second")).unwrap();
        let answer = engine.answer(turn, &mut |_| (), pin!(ready(()))).await;
        assert!(
            matches!(answer, Err(AnswerError::Stopped { came: None })),
            "{answer:?}"
        );
        let kept = store.messages("1.1".parse().unwrap(), 10).await.unwrap();
        let kept: Vec<_> = kept.iter().map(|stored| stored.text()).collect();
        assert_eq!(kept, ["first", "second"]);
    });
}

#[test]
fn o07_nothing_is_recorded_as_sent_that_no_provider_took() {
    on_folder(async |store, script, _| {
        let engine = Engine::builder().store(store).provider(script);
        let answer = engine.build().unwrap().ask(says("hello")).await;
        let Err(AnswerError::Provider {
            came: Some(came), ..
        }) = answer
        else {
            panic!("{answer:?}");
        };
        assert_eq!(came.record.inferences, []);
        assert_eq!(came.turn.unwrap().record.inferences, []);
    });
}

/// Answers, and lets another process take the turn over before it does.
struct TakenOver(Store);

impl Provider for TakenOver {
    fn name(&self) -> &str {
        "slow"
    }

    fn dialect(&self) -> Dialect {
        Dialect::OpenAi
    }

    fn stream<'a>(&'a self, _request: &'a Request) -> ProviderFuture<'a> {
        Box::pin(async {
            let open = self.0.unfinished_turns("1.1".parse().unwrap()).await;
            let later = Timestamp::now() + SignedDuration::from_hours(1);
            let minute = SignedDuration::from_mins(1);
            let taken = self.0.begin(open.unwrap()[0].id, minute, later);
            taken.await.unwrap();
            let events = [ReplyEvent::Text("Paid for.".into()), ReplyEvent::Done];
            Ok(Box::pin(stream::iter(events.map(Ok))) as _)
        })
    }
}

#[test]
fn o07_an_answer_that_cannot_be_kept_is_handed_out_with_the_error() {
    on_folder(async |store, _, location| {
        let other = Store::open(&location).await.unwrap();
        let engine = Engine::builder().store(store).provider(TakenOver(other));
        let engine = engine.build().unwrap();
        let turn = engine.turn(says("hello")).unwrap();
        let answer = engine.answer(turn, &mut |_| (), pin!(pending())).await;
        let Err(AnswerError::Store {
            error: StoreError::LeaseLost { .. },
            came: Some(came),
        }) = answer
        else {
            panic!("{answer:?}");
        };
        assert_eq!(came.text(), "Paid for.");
        assert!(came.turn.is_none());
    });
}
