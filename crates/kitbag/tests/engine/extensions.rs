//! Extensions: the eight phases of a run, what they change, what they keep, and those that misbehave.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use kitbag::Engine;
use kitbag::answer::{Answer, AnswerError, NodeLimits};
use kitbag::core::inject::ContextMessage;
use kitbag::core::message::ToolCall;
use kitbag::engine::EngineBuilder;
use kitbag::extension::{EndedCall, Extension, ExtensionError, Run, RunEnd, StateScope};
use kitbag::provider::{Provider, ProviderFuture, Reply, ReplyEvent, ScriptProvider, StopReason};
use kitbag::store::{ConversationId, ExtensionState, Forget, Incoming, Store};
use kitbag::tool::{Tool, ToolError, Tools};
use kitbag::wire::{Dialect, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

type Told = Result<(), ExtensionError>;

#[derive(Deserialize, JsonSchema)]
struct Words {
    words: String,
}

struct Echo;

impl Tool for Echo {
    type Arguments = Words;
    type Output = String;
    const NAME: &'static str = "echo";
    const DESCRIPTION: &'static str = "Says the same";

    async fn call(&self, asked: Words) -> Result<String, ToolError> {
        Ok(asked.words)
    }

    fn text(output: &String) -> String {
        output.clone()
    }
}

/// An extension of one phase, made of a closure.
macro_rules! at {
    ($name:ident, $phase:ident ( $run:ident $(, $seen:ident : $type:ty)* ) $work:block) => {
        struct $name;

        impl Extension for $name {
            fn name(&self) -> &str {
                stringify!($name)
            }

            async fn $phase(&self, $run: &mut Run $(, $seen: $type)*) -> Told {
                $work
                Ok(())
            }
        }
    };
}

struct Place {
    folder: TempDir,
    store: Store,
}

impl Place {
    fn run<F: Future<Output = ()>>(test: impl FnOnce(Self) -> F) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let location = kitbag::store::Location::Sqlite(folder.path().join("memory.db"));
            let store = Store::open(&location).await.unwrap();
            test(Self { folder, store }).await;
        });
    }

    fn scripted(&self, answers: &[Value]) -> EngineBuilder {
        let lines: Vec<String> = answers.iter().map(ToString::to_string).collect();
        let file = self.folder.path().join("answers.jsonl");
        fs::write(&file, lines.join("\n")).unwrap();
        let builder = Engine::builder().store(self.store.clone());
        let builder = builder.tools(Tools::default().with(Echo));
        builder.provider(ScriptProvider::new("script", file))
    }

    async fn kept(&self) -> ExtensionState {
        let id: ConversationId = "1.1".parse().unwrap();
        self.store.extension_state(id).await.unwrap()
    }
}

fn hello() -> Value {
    json!({"text": "Hello."})
}

fn calls_once() -> Value {
    let call = json!({"id": "a", "name": "echo", "arguments": {"words": "rye"}});
    json!({"tool_calls": [call], "then": [{"text": "Rye."}]})
}

async fn ask(engine: &Engine, text: &str) -> Result<Answer, AnswerError> {
    Box::pin(engine.ask(Incoming::new("cli", "ann", text))).await
}

fn problems(answer: &Answer) -> Vec<String> {
    let problems = &answer.prompt.composed.assembly.ledger.problems;
    problems.iter().map(ToString::to_string).collect()
}

/// Writes down each phase that it enters.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, run: &Run, phase: impl Into<String>) -> Told {
        let line = format!("{} {}", run.step(), phase.into());
        self.0.lock().unwrap().push(line);
        Ok(())
    }
}

impl Extension for Diary {
    fn name(&self) -> &str {
        "diary"
    }

    async fn run_start(&self, run: &mut Run) -> Told {
        let (message, sender) = (run.message(), run.sender().unwrap());
        let told = format!(
            "run start of {}: {sender} on {}: {message}",
            run.turn().unwrap(),
            run.channel().unwrap()
        );
        self.note(run, told)
    }

    async fn step_start(&self, run: &mut Run) -> Told {
        self.note(run, "step start")
    }

    async fn before_inference(&self, run: &mut Run) -> Told {
        self.note(run, "before inference")
    }

    async fn after_inference(&self, run: &mut Run, reply: &Reply) -> Told {
        let calls = reply.tool_calls.len();
        self.note(
            run,
            format!("after inference: {calls} calls, `{}`", reply.text()),
        )
    }

    async fn before_tool(&self, run: &mut Run, call: &ToolCall) -> Told {
        self.note(run, format!("before {}", call.name))
    }

    async fn after_tool(&self, run: &mut Run, call: &EndedCall) -> Told {
        self.note(run, format!("after {}: {:?}", call.call.name, call.result))
    }

    async fn step_end(&self, run: &mut Run) -> Told {
        self.note(run, "step end")
    }

    async fn run_end(&self, run: &mut Run, end: &RunEnd) -> Told {
        self.note(run, format!("run end: {end:?}"))
    }
}

#[test]
fn t07_a_run_has_eight_phases() {
    Place::run(async |place| {
        let diary = Diary::default();
        let engine = place.scripted(&[calls_once()]).extension(diary.clone());
        ask(&engine.build().unwrap(), "Which flour?").await.unwrap();
        insta::assert_snapshot!(diary.0.lock().unwrap().join("\n"), @r#"
        0 run start of 1.1.1: ann on cli: Which flour?
        0 step start
        0 before inference
        0 after inference: 1 calls, ``
        0 before echo
        0 after echo: Ok("rye")
        0 step end
        1 step start
        1 before inference
        1 after inference: 0 calls, `Rye.`
        1 step end
        1 run end: Answered
        "#);
    });
}

at!(Greet, run_start(run) {
    run.inject(ContextMessage::session("greet", "Greet in rhyme.").with_cooldown_turns(1));
    run.inject(ContextMessage::suffix_system("late", "Be brief."));
});

#[test]
fn t07_what_is_injected_first_stands_at_its_target_and_cools_down() {
    Place::run(async |place| {
        let engine = place.scripted(&[hello()]).extension(Greet).build().unwrap();
        let mut held = Vec::new();
        for _ in 0..3 {
            let answer = ask(&engine, "Hi.").await.unwrap();
            let body = answer.request.body();
            assert!(body.find("Hi.") < body.find("Be brief."), "{body}");
            held.push(body.contains("Greet in rhyme."));
        }
        assert_eq!(held, [true, false, true]);
    });
}

/// Calls `echo` so many times, then answers, and keeps the requests.
#[derive(Clone)]
struct Caller {
    times: usize,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Provider for Caller {
    fn name(&self) -> &str {
        "caller"
    }

    fn dialect(&self) -> Dialect {
        Dialect::OpenAi
    }

    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a> {
        Box::pin(async {
            let mut bodies = self.bodies.lock().unwrap();
            bodies.push(request.body());
            let mut events = vec![ReplyEvent::Text(format!("Answer {}.", bodies.len()))];
            if bodies.len() <= self.times {
                let call = json!({"id": "c", "name": "echo", "arguments": {"words": "rye"}});
                let call: ToolCall = serde_json::from_value(call).unwrap();
                events.extend([
                    ReplyEvent::ToolCall(call),
                    ReplyEvent::Stop(StopReason::ToolUse),
                ]);
            }
            events.push(ReplyEvent::Done);
            Ok(Box::pin(stream::iter(events.into_iter().map(Ok))) as _)
        })
    }
}

at!(Remind, after_tool(run, call: &EndedCall) {
    let text = format!("{} has ended.", call.call.name);
    run.inject(ContextMessage::system("system", format!("{text} (system)")));
    run.inject(ContextMessage::conversation_internal_system(format!("{text} (conversation)")));
    run.inject(ContextMessage::session("rare", "Rare.").with_cooldown_turns(5));
    run.set_parameter("temperature", 0.5)?;
    run.exclude_tool("nothing");
});

#[test]
fn t07_what_is_injected_later_lets_the_prompt_only_grow() {
    Place::run(async |place| {
        let provider = Caller {
            times: 3,
            bodies: Arc::default(),
        };
        let engine = Engine::builder().store(place.store.clone()).model("gpt-4o");
        let engine = engine.tools(Tools::default().with(Echo)).extension(Remind);
        let engine = engine.provider(provider.clone()).build().unwrap();
        let answer = ask(&engine, "Which flour?").await.unwrap();
        let turn = answer.turn.unwrap();
        for inference in 0..4 {
            let sent = provider.bodies.lock().unwrap()[inference as usize].clone();
            let made = kitbag::engine::replay(&place.store, turn.id, Some(inference)).await;
            assert_eq!(made.unwrap().body, sent);
        }
        ask(&engine, "And now?").await.unwrap();
        let bodies = provider.bodies.lock().unwrap().clone();
        for pair in bodies[..4].windows(2) {
            let said = pair[0].split("],\"tools\"").next().unwrap();
            assert!(pair[1].starts_with(said), "{said}\n{}", pair[1]);
        }
        let count = |body: &str, text: &str| body.matches(text).count();
        let last = &bodies[3];
        assert_eq!(count(last, "echo has ended. (system)"), 3);
        assert_eq!(count(last, "Rare."), 1, "it cools down");
        assert!(last.contains(r#""temperature":0.5"#) && !bodies[0].contains("temperature"));
        // What belongs to the conversation is kept, the rest leaves with its turn.
        let next = &bodies[4];
        assert_eq!(count(next, "echo has ended. (conversation)"), 3);
        assert_eq!(count(next, "echo has ended. (system)"), 0);
        let visible = place
            .store
            .visible_messages("1.1".parse().unwrap(), 99)
            .await
            .unwrap();
        assert!(visible.iter().all(|one| !one.text().contains("has ended")));
    });
}

at!(Count, run_start(run) {
    for scope in [StateScope::Run, StateScope::Conversation, StateScope::Tenant] {
        let count: u32 = run.get(scope, "count")?.unwrap_or(0);
        run.set(scope, "count", &(count + 1))?;
    }
    let said = run.message().to_owned();
    run.set(StateScope::Tenant, "said", &said)?;
});

#[test]
fn t08_state_is_kept_with_the_turn_and_an_aborted_turn_leaves_none() {
    Place::run(async |place| {
        let answers = [
            json!({"when": "break", "text": "As far as", "cut": true}),
            json!({"when": "fail", "error": "out of order"}),
            hello(),
        ];
        let engine = place.scripted(&answers).extension(Count).build().unwrap();
        let count = async |scope: &str| {
            let kept = place.kept().await;
            let values = match scope {
                "conversation" => kept.conversation,
                _ => kept.tenant,
            };
            values.get("Count").map(|values| values["count"].clone())
        };
        ask(&engine, "fail").await.unwrap_err();
        assert_eq!(count("conversation").await, None);
        ask(&engine, "break off").await.unwrap_err();
        assert_eq!(count("tenant").await, None);
        for turns in 1..3 {
            ask(&engine, "My boat is the Marigold.").await.unwrap();
            assert_eq!(count("conversation").await, Some(json!(turns)));
        }
        // Another conversation begins its own, and goes on with the tenant's.
        let other = Incoming::new("cli", "bob", "Hello there, harbour.").in_conversation("b");
        Box::pin(engine.ask(other)).await.unwrap();
        assert_eq!(count("tenant").await, Some(json!(3)));
        assert_eq!(place.store.check().await.unwrap(), [""; 0]);
    });
}

#[test]
fn t08_what_is_forgotten_is_gone_from_state_and_a_copy_has_it() {
    Place::run(async |place| {
        let engine = place.scripted(&[hello()]).extension(Count).build().unwrap();
        ask(&engine, "My boat is the Marigold.").await.unwrap();
        let other = tempfile::tempdir().unwrap();
        let location = kitbag::store::Location::Sqlite(other.path().join("copy.db"));
        let copy = Store::open(&location).await.unwrap();
        place.store.copy_to(&copy).await.unwrap();
        let id: ConversationId = "1.1".parse().unwrap();
        assert_eq!(copy.extension_state(id).await.unwrap(), place.kept().await);
        // The value that quotes the message goes with it, the counters stay.
        let message = "1.1#1".parse().unwrap();
        place.store.forget(Forget::Message(message)).await.unwrap();
        let kept = place.kept().await;
        assert_eq!(kept.tenant["Count"].keys().collect::<Vec<_>>(), ["count"]);
        assert_eq!(kept.conversation["Count"]["count"], 1);
        place
            .store
            .forget(Forget::Sender("ann".into()))
            .await
            .unwrap();
        let answer = ask(&engine, "Who am I?").await.unwrap();
        let id = answer.turn.unwrap().id.conversation();
        let kept = place.store.extension_state(id).await.unwrap();
        assert_eq!(kept.tenant["Count"]["count"], 1, "it began anew");
    });
}

at!(Panics, run_start(run) {
    run.set(StateScope::Conversation, "x", "y")?;
    assert!(run.message().is_empty(), "a bug of this extension");
});
at!(Fails, run_start(run) {
    run.inject(ContextMessage::session("lost", "Lost."));
    Err::<(), _>(ExtensionError::new("no harbour"))?;
});
at!(Blocks, before_inference(_run) {
    std::thread::sleep(Duration::from_secs(600));
});
at!(Hangs, run_start(_run) {
    std::future::pending::<()>().await;
});

#[test]
fn t07_an_extension_that_fails_is_told_and_the_turn_goes_on() {
    Place::run(async |place| {
        let engine = place.scripted(&[hello()]);
        let engine = engine.extension(Panics).extension(Fails).extension(Count);
        let answer = ask(&engine.build().unwrap(), "Hi.").await.unwrap();
        assert_eq!(answer.text(), "Hello.");
        assert!(!answer.request.body().contains("Lost."));
        insta::assert_snapshot!(problems(&answer).join("\n"), @"
        extension Panics: it stopped with a bug, and is left out of this turn at run start
        extension Fails: it failed: no harbour at run start
        ");
        let kept = place.kept().await;
        assert_eq!(kept.conversation.keys().collect::<Vec<_>>(), ["Count"]);
    });
}

// Apart from the test above: printing a panic's backtrace alone takes longer than this limit.
#[test]
fn t07_an_extension_that_takes_too_long_is_told_and_the_turn_goes_on() {
    Place::run(async |place| {
        let engine = place
            .scripted(&[hello()])
            .extension_time(Duration::from_millis(50));
        let engine = engine.extension(Blocks).extension(Hangs);
        let answer = ask(&engine.build().unwrap(), "Hi.").await.unwrap();
        assert_eq!(answer.text(), "Hello.");
        insta::assert_snapshot!(problems(&answer).join("\n"), @"
        extension Hangs: it took longer than 50 ms, and is left out of this turn at run start
        extension Blocks: it took longer than 50 ms, and is left out of this turn at before inference
        ");
    });
}

at!(NoEcho, before_inference(run) {
    if run.step() == 0 {
        run.only_tools(["other"]);
    }
});
at!(Refuse, before_tool(run, call: &ToolCall) {
    run.refuse(format!("{} is closed on Sundays", call.name));
});
at!(Stop, after_tool(run, _call: &EndedCall) {
    run.set(StateScope::Conversation, "stopped", &true)?;
    run.stop("enough for today");
});
at!(StopFirst, run_start(run) {
    run.stop("closed");
});

#[test]
fn t07_tools_are_left_out_and_calls_refused() {
    Place::run(async |place| {
        let without = place.scripted(&[calls_once()]).extension(NoEcho);
        let answer = ask(&without.build().unwrap(), "Go.").await.unwrap();
        assert!(answer.prompt.composed.draft.tools.is_empty());
        let refusing = place.scripted(&[calls_once()]).extension(Refuse);
        let answer = ask(&refusing.build().unwrap(), "Go.").await.unwrap();
        assert_eq!(
            answer.steps[1].content.text(),
            "error: not called: echo is closed on Sundays"
        );
    });
}

#[test]
fn t07_a_run_that_is_stopped_keeps_what_came() {
    Place::run(async |place| {
        let engine = place
            .scripted(&[calls_once()])
            .extension(Stop)
            .build()
            .unwrap();
        let ended = ask(&engine, "Go.").await.unwrap_err();
        assert_eq!(
            ended.to_string(),
            "the extension `Stop` ended the turn: enough for today"
        );
        let AnswerError::Ended {
            came: Some(came), ..
        } = ended
        else {
            panic!("{ended:?}");
        };
        assert_eq!(came.steps[1].content.text(), "rye");
        assert_eq!(place.kept().await.conversation["Stop"]["stopped"], true);
        let engine = place
            .scripted(&[hello()])
            .extension(StopFirst)
            .build()
            .unwrap();
        let ended = ask(&engine, "Go.").await.unwrap_err();
        assert!(
            matches!(ended, AnswerError::Ended { came: None, .. }),
            "{ended:?}"
        );
    });
}

/// Says the beginning of an answer, and no more.
struct Endless;

impl Provider for Endless {
    fn name(&self) -> &str {
        "endless"
    }

    fn dialect(&self) -> Dialect {
        Dialect::OpenAi
    }

    fn stream<'a>(&'a self, _: &'a Request) -> ProviderFuture<'a> {
        let begun = stream::iter([Ok(ReplyEvent::Text("Well, ".into()))]);
        Box::pin(async { Ok(Box::pin(begun.chain(stream::pending())) as _) })
    }
}

#[test]
fn t07_a_turn_that_is_stopped_tells_its_extensions_and_keeps_what_came() {
    Place::run(async |place| {
        let diary = Diary::default();
        let engine = Engine::builder()
            .store(place.store.clone())
            .provider(Endless);
        let engine = engine.extension(diary.clone()).model("gpt-4o");
        let engine = engine.build().unwrap();
        let (begun, stopped) = tokio::sync::oneshot::channel();
        let mut begun = Some(begun);
        let mut show = |event: &ReplyEvent| {
            if matches!(event, ReplyEvent::Text(_)) {
                begun.take().unwrap().send(()).unwrap();
            }
        };
        // As the command line stops an answer: a future that may not be polled once it has completed.
        let stop = std::pin::pin!(async { drop(stopped.await) });
        let turn = engine.turn(Incoming::new("cli", "ann", "Go.")).unwrap();
        let ended = Box::pin(engine.answer(turn, &mut show, stop)).await;
        let Err(AnswerError::Stopped { came: Some(came) }) = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(came.text(), "Well, ");
        let diary = diary.0.lock().unwrap().clone();
        assert!(
            diary.last().unwrap().contains("run end: Failed"),
            "{diary:?}"
        );
        let unfinished = place.store.unfinished_turns("1.1".parse().unwrap()).await;
        assert_eq!(unfinished.unwrap(), []);
    });
}

at!(Upgrade, run_start(run) {
    run.set_model("script-2")?;
});
at!(TooLate, after_inference(run, _reply: &Reply) {
    run.set_parameter("messages", json!([]))?;
});

#[test]
fn t07_the_model_is_changed_and_the_record_says_by_whom() {
    Place::run(async |place| {
        let engine = place
            .scripted(&[hello()])
            .extension(Upgrade)
            .extension(TooLate);
        let answer = ask(&engine.build().unwrap(), "Hi.").await.unwrap();
        assert_eq!(answer.request.model().as_deref(), Some("script-2"));
        let route = answer.record.route.as_ref().unwrap().to_string();
        assert_eq!(
            route,
            "script-2 (extension Upgrade: it asked for the model)"
        );
        assert_eq!(
            problems(&answer),
            [
                "extension TooLate: it failed: `messages` is no parameter: the engine makes it at after inference"
            ]
        );
        let stages = answer.record.stages.iter();
        let told = stages.filter(|stage| stage.stage == "extension");
        let told: Vec<&str> = told.map(|stage| stage.result.as_str()).collect();
        assert_eq!(told[0], "Upgrade, run start: asks script-2");
    });
}

at!(Note, after_inference(run, _reply: &Reply) {
    if run.message() == "First." {
        run.inject(ContextMessage::session("note", "Ask about the boat.").with_consume_after_emit(true));
    }
});

#[test]
fn t04_a_message_that_no_request_follows_waits_for_the_next_turn_and_is_consumed() {
    Place::run(async |place| {
        let engine = place.scripted(&[hello()]).extension(Note).build().unwrap();
        let mut held = Vec::new();
        for text in ["First.", "Second.", "Third."] {
            let answer = ask(&engine, text).await.unwrap();
            held.push(answer.request.body().contains("Ask about the boat."));
        }
        assert_eq!(held, [false, true, false]);
    });
}

fn node(node: &str, text: impl ToString) -> Value {
    json!({"when": [format!("the node `{node}`")], "text": text.to_string()})
}

fn nodes() -> [Value; 3] {
    let step = json!({"type": "read", "description": "read the flour"});
    let plan = json!({"goal": "Find the flour", "steps": [step, step]});
    let acted = json!({"summary": "it is rye"});
    [
        node("think", plan),
        node("act", acted),
        node("reply", "Rye."),
    ]
}

at!(Warm, run_start(run) {
    run.set_parameter("temperature", 0.5)?;
});
at!(AfterThink, after_inference(run, reply: &Reply) {
    if reply.text().contains("Find the flour") {
        run.inject(ContextMessage::suffix_system("hint", "The flour is in the shed."));
    }
});
at!(PanicsLate, after_inference(run, _reply: &Reply) {
    assert!(run.step() < 1, "a bug of this extension");
});
at!(StopsActing, after_inference(run, reply: &Reply) {
    if reply.text().contains("it is rye") {
        run.stop("enough for today");
    }
});

#[test]
fn t07_in_the_loop_extensions_take_part_in_each_request() {
    Place::run(async |place| {
        let diary = Diary::default();
        let engine = place.scripted(&nodes()).nodes(NodeLimits::default());
        let engine = engine.extension(diary.clone()).extension(Warm);
        let engine = engine.extension(AfterThink).extension(PanicsLate);
        let engine = engine.build().unwrap();
        let answer = ask(&engine, "Which flour?").await.unwrap();
        assert_eq!(answer.text(), "Rye.");
        let diary = diary.0.lock().unwrap().clone();
        let count = |phase: &str| diary.iter().filter(|line| line.contains(phase)).count();
        for phase in [
            "step start",
            "before inference",
            "after inference",
            "step end",
        ] {
            assert_eq!(count(phase), 4, "{phase}: {diary:?}");
        }
        let turn = answer.turn.as_ref().unwrap().id;
        let mut held = Vec::new();
        for inference in 0..4 {
            let sent = kitbag::engine::replay(&place.store, turn, Some(inference)).await;
            let body = sent.unwrap().body;
            assert!(body.contains(r#""temperature":0.5"#), "{inference}: {body}");
            held.push(body.contains("The flour is in the shed."));
        }
        assert_eq!(held, [false, true, false, false]);
        let told = "extension PanicsLate: it stopped with a bug, and is left out of this turn at after inference";
        assert_eq!(problems(&answer), [told]);
    });
}

#[test]
fn t07_in_the_loop_a_run_that_is_stopped_asks_no_further_node() {
    Place::run(async |place| {
        let engine = place.scripted(&nodes()).nodes(NodeLimits::default());
        let engine = engine.extension(StopsActing).build().unwrap();
        let ended = ask(&engine, "Which flour?").await.unwrap_err();
        let AnswerError::Ended {
            came: Some(came), ..
        } = ended
        else {
            panic!("{ended:?}");
        };
        assert_eq!(came.record.inferences.len(), 2);
        assert_eq!(came.text(), "", "the words of a node are no answer");
    });
}
