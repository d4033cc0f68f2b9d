//! Turns with tools: the loop, its limits, and tools that misbehave.

use std::fs;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use kitbag::Engine;
use kitbag::answer::{Answer, AnswerError};
use kitbag::core::message::{Message, ToolCall};
use kitbag::core::role::Role;
use kitbag::core::tokens::{TokenCounter as _, Tokens};
use kitbag::engine::EngineBuilder;
use kitbag::provider::{Provider, ProviderFuture, ReplyEvent, ScriptProvider, StopReason};
use kitbag::store::{ConversationId, Incoming, Location, Store};
use kitbag::tool::{Approval, Effect, Tool, ToolError, ToolLimits, Tools};
use kitbag::wire::{Dialect, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::COUNTER;

thread_local! {
    /// Told when a tool hangs.
    static HANGS: Notify = const { Notify::const_new() };
}

#[derive(Deserialize, JsonSchema)]
struct Words {
    words: String,
}

/// Tools of the tests, each of which does what its name says.
macro_rules! tool {
    ($name:ident, $called:literal, $effect:expr, |$words:ident| $work:expr) => {
        struct $name;

        impl Tool for $name {
            type Arguments = Words;
            type Output = String;
            const NAME: &'static str = $called;
            const DESCRIPTION: &'static str = "A tool of a test";
            const EFFECT: Effect = $effect;

            async fn call(&self, asked: Words) -> Result<String, ToolError> {
                let $words = asked.words;
                $work
            }

            fn text(output: &String) -> String {
                output.clone()
            }
        }
    };
}

tool!(Echo, "echo", Effect::Reads, |words| Ok(words));
tool!(Write, "write", Effect::Writes, |words| Ok(format!(
    "wrote {words}"
)));
tool!(Fail, "fail", Effect::Reads, |words| Err(ToolError::new(
    words
)));
tool!(Panic, "panic", Effect::Reads, |words| panic!("{words}"));
tool!(Hang, "hang", Effect::Reads, |_words| {
    HANGS.with(Notify::notify_one);
    pending::<()>().await;
    Ok(String::new())
});
tool!(Flood, "flood", Effect::Reads, |words| Ok((0..100_000)
    .map(|line| format!("{words} {line}\n"))
    .collect()));

fn tools() -> Tools {
    let tools = Tools::default().with(Echo).with(Write).with(Fail);
    tools.with(Panic).with(Hang).with(Flood)
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
            let location = Location::Sqlite(folder.path().join("memory.db"));
            let store = Store::open(&location).await.unwrap();
            test(Self { folder, store }).await;
        });
    }

    fn scripted(&self, answers: &[Value]) -> EngineBuilder {
        let lines: Vec<String> = answers.iter().map(ToString::to_string).collect();
        let file = self.folder.path().join("answers.jsonl");
        fs::write(&file, lines.join("\n")).unwrap();
        let provider = ScriptProvider::new("script", file);
        let builder = Engine::builder().store(self.store.clone()).tools(tools());
        builder.budget(Tokens(8_000)).provider(provider)
    }

    async fn messages(&self) -> Vec<Message> {
        let id: ConversationId = "1.1".parse().unwrap();
        let stored = self.store.messages(id, 100).await.unwrap();
        stored.into_iter().map(|one| one.message).collect()
    }
}

async fn ask(engine: &Engine, text: &str) -> Answer {
    Box::pin(engine.ask(Incoming::new("cli", "ann", text)))
        .await
        .unwrap()
}

fn call(id: &str, name: &str, words: &str) -> Value {
    json!({"id": id, "name": name, "arguments": {"words": words}})
}

fn results(answer: &Answer) -> Vec<String> {
    let results = answer.steps.iter().filter(|step| step.role == Role::Tool);
    results
        .map(|step| step.content.text().into_owned())
        .collect()
}

#[test]
fn t08_calls_of_one_answer_are_made_and_stored_with_their_results() {
    Place::run(async |place| {
        let calls = [call("a", "echo", "rye"), call("b", "echo", "spelt")];
        let engine = place.scripted(&[json!({
            "text": "Let me see.", "tool_calls": calls, "usage": {"input": 40, "output": 9},
            "then": [{"text": "Rye and spelt.", "usage": {"input": 60, "output": 4}}],
        })]);
        let engine = engine.build().unwrap();
        let answer = ask(&engine, "Which flours?").await;
        assert_eq!(answer.text(), "Rye and spelt.");
        assert_eq!(results(&answer), ["rye", "spelt"]);
        assert_eq!(answer.usage().unwrap().input, 100);
        assert_eq!(answer.record.inferences.len(), 2);
        let stages = answer.record.stages.iter();
        let called = stages.filter(|stage| stage.stage == "tool");
        let called: Vec<&str> = called.map(|stage| stage.result.as_str()).collect();
        assert_eq!(called, ["echo: 2 tokens", "echo: 2 tokens"]);

        let kept = place.messages().await;
        let roles: Vec<Role> = kept.iter().map(|message| message.role).collect();
        use Role::{Assistant, Tool, User};
        assert_eq!(roles, [User, Assistant, Tool, Tool, Assistant]);
        assert_eq!(kept[1].calls().len(), 2);
        assert_eq!(kept[3].tool_call_id.as_deref(), Some("b"));
        // The words of the model are for people, what it read is not.
        let shown: Vec<bool> = kept.iter().map(Message::is_for_user).collect();
        assert_eq!(shown, [true, true, false, false, true]);
        let turn = answer.turn.unwrap();
        assert_eq!(turn.inferences, 2);
        for inference in [0, 1] {
            kitbag::engine::replay(&place.store, turn.id, Some(inference))
                .await
                .unwrap();
        }
    });
}

#[test]
fn t08_a_call_that_goes_wrong_has_a_result_that_says_so() {
    Place::run(async |place| {
        let calls = [
            call("", "fail", "no flour"),
            call("", "panic", "a bug"),
            call("x", "hang", "for ever"),
            call("x", "toast", "bread"),
            json!({"id": "y", "name": "echo", "arguments": "{\"words\": "}),
            json!({"id": "z", "name": "echo", "arguments": {"word": "rye"}}),
            call("w", "write", "a note"),
            call("e", "echo", "still here"),
        ];
        let engine = place.scripted(&[json!({
            "tool_calls": calls, "then": [{"text": "Sorry."}],
        })]);
        let mut limits = ToolLimits::default();
        limits.call_time = Duration::from_millis(20);
        let engine = engine.tool_limits(limits).build().unwrap();
        let answer = ask(&engine, "Go.").await;
        insta::assert_snapshot!(results(&answer).join("\n"), @r"
        error: no flour
        error: the tool `panic` stopped with a bug
        error: no result within 20 ms
        error: there is no tool `toast`; the tools are echo, expand, fail, flood, hang, panic, write
        error: the arguments are no JSON: EOF while parsing a value at line 1 column 10
        error: the arguments of `echo` cannot be used: missing field `words`
        error: not called: nobody is here to approve a tool that writes
        still here
        ");
        // Ids are unique, and each result names its call.
        let calls = answer.steps[0].calls().iter();
        let ids: Vec<&str> = calls.map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_1", "call_2", "x", "call_3", "y", "z", "w", "e"]);
        let named = answer.steps[1..]
            .iter()
            .map(|step| step.tool_call_id.as_deref());
        assert!(named.eq(ids.into_iter().map(Some)));
        // Providers refuse arguments that are no object.
        let request: Value = serde_json::from_str(&answer.request.body()).unwrap();
        let blocks = request["messages"][1]["content"].as_array().unwrap();
        assert!(
            blocks.iter().all(|block| block["input"].is_object()),
            "{request}"
        );
        assert_eq!(answer.text(), "Sorry.");
    });
}

#[test]
fn t08_a_limit_is_told_to_the_model_and_to_the_person() {
    let forever = json!({"tool_calls": [call("a", "echo", "again")]});
    let check = |limits: ToolLimits, told: &'static str, inferences: usize| {
        let answers = [forever.clone()];
        Place::run(async move |place| {
            let engine = place.scripted(&answers).tool_limits(limits);
            let answer = ask(&engine.build().unwrap(), "Go.").await;
            let last = results(&answer).pop().unwrap();
            let said = format!("error: not called: {told}; answer with what you have");
            assert_eq!(last, said);
            assert_eq!(answer.record.inferences.len(), inferences);
            let problems = &answer.prompt.composed.assembly.ledger.problems;
            let problems = problems.iter().map(ToString::to_string);
            let problem =
                format!("tools: {told}, and the model was told to answer with what it has");
            assert_eq!(problems.collect::<Vec<_>>(), [problem]);
        });
    };
    let limits = ToolLimits::default;
    check(limits(), "the limit of 12 steps is reached", 14);
    check(limits().with_steps(1), "the limit of 1 step is reached", 3);
    let no_time = limits().with_time(Duration::ZERO);
    check(no_time, "the limit of 0 seconds is reached", 2);
    let told = "the limit of 100 tokens for all prompts of a turn is reached";
    check(limits().with_tokens(100), told, 2);
}

#[test]
fn t08_steps_stay_within_the_budget_of_a_prompt() {
    Place::run(async |place| {
        let engine = place.scripted(&[json!({"tool_calls": [call("a", "flood", "line")]})]);
        let engine = engine.budget(Tokens(3_000)).build().unwrap();
        let answer = ask(&engine, "Go.").await;
        let assembly = &answer.prompt.composed.assembly;
        assert!(assembly.tokens <= Tokens(3_000), "{}", assembly.tokens);
        let last = results(&answer).pop().unwrap();
        assert!(
            last.contains("the limit of 3000 tokens for a prompt is reached"),
            "{last}"
        );
    });
}

#[test]
fn t08_a_long_result_is_cut_once_and_stays_so_in_the_next_turn() {
    Place::run(async |place| {
        let engine = place.scripted(&[
            json!({"when": "flood", "tool_calls": [call("a", "flood", "line")], "then": [{"text": "Wet."}]}),
            json!({"text": "Dry."}),
        ]);
        let engine = engine.build().unwrap();
        let first = ask(&engine, "A flood.").await;
        let cut = results(&first).pop().unwrap();
        assert!(cut.starts_with("line 0\n"), "{cut}");
        let rest = "the whole is `1.1.1/1`, which `expand` reads]";
        assert!(
            cut.contains(&format!("line 99999\n\n[cut to 2667 tokens: {rest}")),
            "{cut}"
        );
        assert!(COUNTER.count(&cut) <= Tokens(2_667));
        let second = ask(&engine, "And now?").await;
        let history = &second.prompt.composed.draft.history;
        let kept = history.iter().find(|message| message.role == Role::Tool);
        assert_eq!(kept.unwrap().content.text(), cut);
        // The next turn's prompt begins with all of the last one's.
        let reuse = second.prompt.composed.assembly.reuse.unwrap();
        assert_eq!(
            (reuse.shared, reuse.previous),
            (reuse.previous, reuse.previous)
        );
    });
}

#[test]
fn t08_tools_that_write_need_an_approval() {
    Place::run(async |place| {
        let calls = [call("a", "write", "rye"), call("b", "write", "salt")];
        let engine = place.scripted(&[json!({"tool_calls": calls, "then": [{"text": "Done."}]})]);
        let engine = engine.approve(async |request| match request.arguments["words"] == "rye" {
            true => Approval::Allow,
            false => Approval::Refuse("no salt".to_owned()),
        });
        let answer = ask(&engine.build().unwrap(), "Write.").await;
        assert_eq!(
            results(&answer),
            ["wrote rye", "error: not called: no salt"]
        );
    });
}

#[test]
fn t08_a_turn_that_is_stopped_keeps_what_happened() {
    Place::run(async |place| {
        let calls = [call("a", "echo", "rye"), call("b", "hang", "for ever")];
        let engine = place
            .scripted(&[json!({"tool_calls": calls})])
            .build()
            .unwrap();
        let turn = engine.turn(Incoming::new("cli", "ann", "Go.")).unwrap();
        let stop = std::future::poll_fn(|context| {
            HANGS.with(|hangs| pin!(hangs.notified()).poll(context))
        });
        let answered = Box::pin(engine.answer(turn, &mut |_| (), pin!(stop))).await;
        let Err(AnswerError::Stopped { came: Some(came) }) = answered else {
            panic!("{answered:?}");
        };
        let stopped = "error: the call was stopped before it had a result";
        assert_eq!(results(&came), ["rye", stopped]);
        let kept = place.messages().await;
        assert_eq!(kept.len(), 4, "{kept:?}");
        // The next turn goes on with it.
        let next = ask(
            &place.scripted(&[json!({"text": "Rye."})]).build().unwrap(),
            "And?",
        )
        .await;
        assert_eq!(next.prompt.composed.draft.history.len(), 4);
    });
}

#[test]
fn t08_secrets_in_results_are_replaced() {
    Place::run(async |place| {
        let secret = "token = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"";
        let calls = [call("a", "echo", secret)];
        let engine = place.scripted(&[json!({"tool_calls": calls, "then": [{"text": "Done."}]})]);
        let answer = ask(&engine.build().unwrap(), "Go.").await;
        let result = results(&answer).pop().unwrap();
        assert!(!result.contains("ghp_0123456789"), "{result}");
        assert_eq!(answer.prompt.composed.redacted[0].source, "echo");
    });
}

/// Calls `echo` so many times, then answers, and keeps the requests.
#[derive(Clone)]
struct Caller {
    dialect: Dialect,
    times: usize,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Provider for Caller {
    fn name(&self) -> &str {
        "caller"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a> {
        Box::pin(async {
            let mut bodies = self.bodies.lock().unwrap();
            bodies.push(request.body());
            let mut events = vec![ReplyEvent::Text(format!("Answer {}.", bodies.len()))];
            if bodies.len() <= self.times {
                let call = call("c", "echo", "rye").to_string();
                let call: ToolCall = serde_json::from_str(&call).unwrap();
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

#[test]
fn t08_each_request_begins_with_all_that_the_one_before_said() {
    for dialect in [Dialect::OpenAi, Dialect::Responses] {
        Place::run(async |place| {
            let provider = Caller {
                dialect,
                times: 3,
                bodies: Arc::default(),
            };
            let engine = Engine::builder().store(place.store.clone());
            let engine = engine.tools(tools()).provider(provider.clone());
            let engine = engine.model("gpt-4o").build().unwrap();
            ask(&engine, "I live in Porto. Which flour?").await;
            ask(&engine, "And where do I live?").await;
            let bodies = provider.bodies.lock().unwrap();
            assert_eq!(bodies.len(), 5);
            for pair in bodies.windows(2) {
                let said = pair[0].split("],\"tools\"").next().unwrap();
                assert!(pair[1].starts_with(said), "{said}\n{}", pair[1]);
            }
        });
    }
}

#[test]
fn t08_a_provider_of_flat_prompts_is_offered_no_tools() {
    Place::run(async |place| {
        let provider = Caller {
            dialect: Dialect::Flat,
            times: 0,
            bodies: Arc::default(),
        };
        let engine = Engine::builder().tools(tools()).provider(provider);
        let engine = engine.store(place.store.clone()).build().unwrap();
        let answer = ask(&engine, "Go.").await;
        let problem = answer.prompt.composed.assembly.ledger.problems[0].to_string();
        assert_eq!(
            problem,
            "tools: this provider takes no tools, so none are offered"
        );
    });
}
