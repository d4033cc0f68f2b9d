//! The loop of four nodes with a scripted model: what it does, and what it makes of answers that are no use.

use std::fs;
use std::future::pending;
use std::pin::pin;

use kitbag::Engine;
use kitbag::answer::{Answer, AnswerError, NodeLimits};
use kitbag::core::role::Role;
use kitbag::core::stored::ConversationContext;
use kitbag::core::tokens::Tokens;
use kitbag::engine::EngineBuilder;
use kitbag::provider::{ReplyEvent, ScriptProvider};
use kitbag::store::{ConversationId, Incoming, Location, Store};
use kitbag::tool::{Tool, ToolError, Tools};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    id: String,
}

/// Reads a recipe of a bakery.
struct Recipe;

impl Tool for Recipe {
    type Arguments = Wanted;
    type Output = Value;
    const NAME: &'static str = "recipe";
    const DESCRIPTION: &'static str = "Reads a recipe";

    async fn call(&self, wanted: Wanted) -> Result<Value, ToolError> {
        match wanted.id.as_str() {
            "row-8" => Ok(json!({"found": [], "count": 0})),
            "row-70" => Ok(json!({"name": "Spelt Bread"})),
            "row-7" => Ok(json!({"id": "row-7", "name": "Rye Bread", "flour": "rye"})),
            other => Err(ToolError::new(format_args!("there is no recipe `{other}`"))),
        }
    }

    fn text(output: &Value) -> String {
        output.to_string()
    }
}

struct Place {
    folder: TempDir,
    store: Store,
}

impl Place {
    fn run<F: Future<Output = ()>>(test: impl FnOnce(Self) -> F) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let location = Location::Sqlite(folder.path().join("memory.db"));
            let store = Store::open(&location).await.unwrap();
            test(Self { folder, store }).await;
        });
    }

    fn builder(&self, answers: &[Value]) -> EngineBuilder {
        let lines: Vec<String> = answers.iter().map(ToString::to_string).collect();
        let file = self.folder.path().join("answers.jsonl");
        fs::write(&file, lines.join("\n")).unwrap();
        Engine::builder()
            .store(self.store.clone())
            .tools(Tools::default().with(Recipe))
            .budget(Tokens(16_000))
            .nodes(NodeLimits::default())
            .provider(ScriptProvider::new("script", file))
    }

    fn engine(&self, answers: &[Value]) -> Engine {
        self.builder(answers).build().unwrap()
    }

    async fn layers(&self) -> ConversationContext {
        let id: ConversationId = "1.1".parse().unwrap();
        self.store.layers(id).await.unwrap()
    }
}

fn node(node: &str, text: Value) -> Value {
    let text = match text {
        Value::String(text) => text,
        json => json.to_string(),
    };
    json!({"when": [format!("the node `{node}`")], "text": text})
}

fn plan(steps: usize) -> Value {
    let step = json!({"type": "read", "subdomain": "recipes", "description": "read the rye bread"});
    let steps = vec![step; steps];
    node(
        "think",
        json!({"decision": "plan_direct", "goal": "Find the flour", "steps": steps}),
    )
}

fn call(name: &str, id: &str) -> Value {
    json!({"id": "a", "name": name, "arguments": {"id": id}})
}

fn acting(name: &str, id: &str, then: Value) -> Value {
    json!({
        "when": ["the node `act`"], "tool_calls": [call(name, id)],
        "then": [{"text": then.to_string()}],
    })
}

fn found() -> Value {
    let bread = json!({"id": "row-7", "type": "recipes", "label": "Rye Bread", "action": "read"});
    acting(
        "recipe",
        "row-7",
        json!({"summary": "it is made of rye", "entities": [bread]}),
    )
}

fn replying() -> Value {
    node("reply", json!("Rye."))
}

async fn ask(engine: &Engine, text: &str) -> Answer {
    Box::pin(engine.ask(Incoming::new("cli", "ann", text)))
        .await
        .unwrap()
}

/// The stages of the nodes.
fn told(answer: &Answer) -> Vec<String> {
    let nodes = ["understand", "think", "act", "reply"];
    let stages = answer.record.stages.iter();
    let stages = stages.filter(|stage| nodes.contains(&stage.stage.as_str()));
    stages
        .map(|stage| format!("{}: {}", stage.stage, stage.result))
        .collect()
}

fn problems(answer: &Answer) -> Vec<String> {
    let problems = answer.prompt.composed.assembly.ledger.problems.iter();
    problems.map(ToString::to_string).collect()
}

#[test]
fn a10_a_turn_goes_through_the_nodes_and_leaves_its_layers() {
    Place::run(async |place| {
        let engine = place.engine(&[plan(1), found(), replying()]);
        let mut shown = String::new();
        let mut show = |event: &ReplyEvent| {
            if let ReplyEvent::Text(text) = event {
                shown.push_str(text);
            }
        };
        let turn = engine
            .turn(Incoming::new("cli", "ann", "Which flour?"))
            .unwrap();
        let stop = pin!(pending());
        let answer = Box::pin(engine.answer(turn, &mut show, stop))
            .await
            .unwrap();
        // Nobody is shown what nodes tell each other.
        assert_eq!(shown, "Rye.");
        assert_eq!(answer.text(), "Rye.");
        insta::assert_snapshot!(told(&answer).join("\n"), @r"
        understand: no entities yet
        think: plan_direct, 1 step
        act: step 1 of 1, 1 call, 1 entity
        ");
        let inferences = answer.record.inferences.iter();
        let purposes: Vec<Option<&str>> = inferences.map(|one| one.purpose.as_deref()).collect();
        assert_eq!(purposes, [Some("think"), Some("act"), Some("act"), None]);
        assert_eq!(problems(&answer), Vec::<String>::new());

        let layers = place.layers().await;
        assert_eq!(layers.id_registry.ref_of("row-7"), Some("recipe_1"));
        let trace = layers.turn_summaries.last().unwrap();
        assert_eq!(trace.think_goal, "Find the flour");
        assert_eq!(trace.steps.len(), 1);
        assert_eq!(trace.steps[0].outcome, "it is made of rye");
        assert_eq!(trace.steps[0].entities_involved, ["recipe_1"]);
        assert_eq!(layers.recent_turns[0].user, "Which flour?");
        assert_eq!(layers.recent_turns[0].assistant_summary, "Rye.");
        // Each prompt is archived, and comes out again.
        let turn = answer.turn.unwrap();
        assert_eq!(turn.inferences, 4);
        for inference in 0..4 {
            let replayed = kitbag::engine::replay(&place.store, turn.id, Some(inference));
            replayed.await.unwrap();
        }
        // People see the message and the reply alone.
        let said = place
            .store
            .visible_messages("1.1".parse().unwrap(), 10)
            .await
            .unwrap();
        let roles: Vec<Role> = said.iter().map(|one| one.message.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant]);
    });
}

#[test]
fn a07_each_node_sees_its_view_and_writes_refs() {
    Place::run(async |place| {
        let first = place.engine(&[plan(1), found(), replying()]);
        ask(&first, "Which flour?").await;
        let kept = json!({"retain": [{"ref": "recipe_1", "reason": "it is baked today"}], "demote": ["cake_9"]});
        let again = acting("recipe", "recipe_1", json!({"summary": "rye it is"}));
        let second = place.engine(&[node("understand", kept), plan(1), again, replying()]);
        let answer = ask(&second, "Is it rye?").await;
        // The tool was called with the row, and the model wrote the ref.
        let steps = answer.steps.iter();
        let results: Vec<String> = steps
            .filter(|step| step.role == Role::Tool)
            .map(|step| step.content.text().into_owned())
            .collect();
        assert!(results[0].contains("Rye Bread"), "{results:?}");
        assert_eq!(
            problems(&answer),
            ["understand: no entity has the ref cake_9"]
        );
        let layers = place.layers().await;
        let log = &layers.understand_decision_log;
        assert_eq!((log[0].turn, log[0].action.as_str()), (2, "retain"));
        assert_eq!(log[0].reason, "it is baked today");
        let turn = answer.turn.unwrap().id;
        let mut seen = Vec::new();
        for inference in [0, 1, 2, 4] {
            let prompt = kitbag::engine::replay(&place.store, turn, Some(inference))
                .await
                .unwrap();
            let body: Value = serde_json::from_str(&prompt.body).unwrap();
            let texts = body["messages"][0]["content"].as_array().unwrap();
            let texts: Vec<&str> = texts
                .iter()
                .filter_map(|text| text["text"].as_str())
                .collect();
            seen.push(texts.join("\n~~~~\n"));
        }
        insta::assert_snapshot!(seen.join("\n\n==== next node ====\n\n"));
    });
}

#[test]
fn a10_an_answer_that_is_no_json_is_asked_for_once_more() {
    Place::run(async |place| {
        let wrong = node("think", json!("I would read the recipe."));
        let right = json!({"when": ["once more", "the node `think`"], "text": plan(1)["text"]});
        let answer = ask(
            &place.engine(&[right, wrong, found(), replying()]),
            "Flour?",
        )
        .await;
        assert_eq!(answer.text(), "Rye.");
        assert_eq!(problems(&answer), Vec::<String>::new());
        let inferences = answer.record.inferences.iter();
        let purposes: Vec<&str> = inferences
            .filter_map(|one| one.purpose.as_deref())
            .collect();
        assert_eq!(purposes, ["think", "think", "act", "act"]);
    });
}

#[test]
fn a10_answers_that_are_never_of_use_have_a_fall_back() {
    Place::run(async |place| {
        let engine = place.engine(&[
            node("think", json!("No plan.")),
            json!({
                "when": ["the node `act`"],
                "tool_calls": [call("recipe", "row-7"), call("oven", "x"), call("recipe", "row-9")],
                "then": [{"text": "It is rye."}],
            }),
            replying(),
        ]);
        let answer = ask(&engine, "Which flour?").await;
        assert_eq!(answer.text(), "Rye.");
        insta::assert_snapshot!(told(&answer).join("\n"), @r"
        understand: no entities yet
        think: its answer cannot be used: it has no JSON object
        act: step 1 of 1, 3 calls
        ");
        insta::assert_snapshot!(problems(&answer).join("\n"), @r"
        think: its answer cannot be used: it has no JSON object
        act: its answer cannot be used: it has no JSON object
        ");
        let results = answer.steps.iter().filter(|step| step.role == Role::Tool);
        let results: Vec<String> = results
            .map(|step| step.content.text().into_owned())
            .collect();
        insta::assert_snapshot!(results.join("\n"), @r#"
        {"flour":"rye","id":"row-7","name":"Rye Bread"}
        error: there is no tool `oven`; the tools are expand, recipe
        error: there is no recipe `row-9`
        "#);
        // The words are the outcome, and nothing was registered.
        let layers = place.layers().await;
        assert_eq!(layers.turn_summaries[0].steps[0].outcome, "It is rye.");
        assert_eq!(layers.id_registry.ref_of("row-7"), None);
    });
}

#[test]
fn a10_what_no_tool_gave_is_not_registered() {
    Place::run(async |place| {
        let made_up =
            json!({"id": "row-99", "type": "recipes", "label": "Cake", "action": "created"});
        let draft = json!({"type": "recipes", "label": "Spelt Bread", "action": "generated", "data": {"flour": "spelt"}});
        let acted = json!({"summary": "done", "entities": [made_up, draft]});
        let engine = place.engine(&[plan(1), acting("recipe", "row-7", acted), replying()]);
        let answer = ask(&engine, "Make one with spelt.").await;
        assert_eq!(
            problems(&answer),
            ["act: no tool gave `row-99`: it is not registered"]
        );
        let layers = place.layers().await;
        assert_eq!(layers.id_registry.ref_of("row-99"), None);
        let drafts = kitbag::core::entity::get_entity_context(&layers.id_registry, 2).generated;
        assert_eq!(drafts[0].reference, "gen_recipe_1");
        assert_eq!(drafts[0].data.as_ref().unwrap()["flour"], "spelt");
    });
}

#[test]
fn a10_what_a_model_asked_for_in_vain_is_not_registered() {
    Place::run(async |place| {
        let entity = |id: &str| json!({"id": id, "type": "recipes", "label": id, "action": "read"});
        for (asked, named, is_registered) in [
            // Nothing was found.
            ("row-8", "row-8", false),
            // The beginning of another id is none.
            ("row-70", "row-7", false),
            // What it gave need not say the id that was asked for.
            ("row-70", "row-70", true),
        ] {
            let acted = json!({"summary": "done", "entities": [entity(named)]});
            let nothing = node("understand", json!({}));
            let script = [nothing, plan(1), acting("recipe", asked, acted), replying()];
            let answer = ask(&place.engine(&script), "Which flour?").await;
            let told = format!("act: no tool gave `{named}`: it is not registered");
            assert_eq!(problems(&answer).contains(&told), !is_registered, "{named}");
            let layers = place.layers().await;
            assert_eq!(layers.id_registry.ref_of(named).is_some(), is_registered);
        }
    });
}

#[test]
fn a10_a_model_that_refuses_ends_in_a_reply_that_knows() {
    Place::run(async |place| {
        for refusing in ["think", "act"] {
            let refusal = json!({"when": [format!("the node `{refusing}`")], "text": "I cannot.", "stop": "refusal"});
            let engine = place.engine(&[refusal, plan(3), replying()]);
            let answer = ask(&engine, "Which flour?").await;
            assert_eq!(answer.text(), "Rye.");
            let told = problems(&answer);
            let expected = format!("{refusing}: its answer cannot be used: the model refused");
            assert_eq!(told, [expected]);
            let body = answer.request.body();
            assert!(body.contains("The turn could not be completed"), "{body}");
        }
        let blocked = place.layers().await.turn_summaries[1]
            .blocked_reason
            .clone();
        assert_eq!(blocked.as_deref(), Some("the model refused a step"));
    });
}

#[test]
fn a10_a_plan_of_twelve_steps_is_run_to_the_limit() {
    Place::run(async |place| {
        let answers = [plan(12), found(), replying()];
        let engine = place
            .builder(&answers)
            .nodes(NodeLimits::default().with_steps(3));
        let answer = ask(&engine.build().unwrap(), "Which flour?").await;
        assert_eq!(answer.text(), "Rye.");
        let told = "the limit of 3 steps of a plan is reached: 3 of 12 steps were run";
        assert_eq!(problems(&answer), [format!("act: {told}")]);
        let trace = &place.layers().await.turn_summaries[0];
        assert_eq!(trace.steps.len(), 3);
        assert_eq!(trace.blocked_reason.as_deref(), Some(told));
        assert!(answer.request.body().contains(told));
    });
}

#[test]
fn a10_a_proposal_and_a_question_wait_for_the_user() {
    Place::run(async |place| {
        for decision in ["propose", "clarify"] {
            let steps = json!([{"type": "write", "description": "delete every recipe"}]);
            let plan = json!({"decision": decision, "goal": "Empty the book", "steps": steps});
            let engine = place.engine(&[node("think", plan), node("reply", json!("Shall I?"))]);
            let answer = ask(&engine, "Clean up.").await;
            assert_eq!(answer.record.inferences.len(), 2);
            let pending = place.layers().await.pending_clarification.unwrap();
            assert_eq!(serde_json::to_value(&pending.kind).unwrap(), decision);
            assert_eq!(pending.context, "Empty the book");
            assert_eq!(pending.questions, [json!("Shall I?")]);
        }
    });
}

#[test]
fn a10_a_provider_that_fails_loses_nothing() {
    Place::run(async |place| {
        let failing = json!({"when": ["the node `reply`"], "error": "out of order"});
        let engine = place.engine(&[plan(1), found(), failing]);
        let incoming = Incoming::new("cli", "ann", "Which flour?");
        let failed = Box::pin(engine.ask(incoming)).await.unwrap_err();
        let AnswerError::Provider {
            came: Some(came), ..
        } = failed
        else {
            panic!("{failed}");
        };
        assert_eq!(came.text(), "");
        assert_eq!(came.steps.len(), 2);
        let layers = place.layers().await;
        assert_eq!(layers.id_registry.ref_of("row-7"), Some("recipe_1"));
        let blocked = layers.turn_summaries[0].blocked_reason.clone().unwrap();
        assert!(blocked.contains("out of order"), "{blocked}");
        // The next turn goes on from there.
        let nothing = node("understand", json!({}));
        let answer = ask(&place.engine(&[nothing, plan(0), replying()]), "And now?").await;
        assert_eq!(answer.text(), "Rye.");
    });
}

#[test]
fn a10_a_model_makes_the_summaries_of_a_turn_where_they_can_be_used() {
    Place::run(async |place| {
        let long =
            "Rye bread is baked from rye flour with a sourdough that is fed twice. ".repeat(12);
        let script = |summary: &str| {
            let condensed = json!({"when": "Condense the assistant's answer", "text": summary});
            [
                condensed,
                plan(0),
                node("understand", json!({})),
                node("reply", json!(long)),
            ]
        };
        let good = "Rye bread is baked from rye flour with a sourdough.";
        let engine = place.engine(&script(good));
        let answer = ask(&engine, "How is rye bread made?").await;
        let by_rules = place.layers().await.recent_turns[0]
            .assistant_summary
            .clone();
        assert_ne!(by_rules, good);
        let after = engine.after(&answer).await.unwrap();
        let lessons = Box::pin(engine.learn_after(after.clone())).await;
        assert_eq!(lessons.layers, 1);
        assert_eq!(
            lessons.inferences[0].purpose.as_deref(),
            Some("summary of an answer")
        );
        assert_eq!(place.layers().await.recent_turns[0].assistant_summary, good);
        // A conversation that has gone on keeps what it has.
        let again = Box::pin(engine.learn_after(after)).await;
        assert_eq!(again.layers, 0);
        // Nobody takes a summary of something else.
        let engine = place.engine(&script("Bananas are yellow."));
        let answer = ask(&engine, "And once more?").await;
        let after = engine.after(&answer).await.unwrap();
        let lessons = Box::pin(engine.learn_after(after)).await;
        assert_eq!(lessons.layers, 0);
        let turns = place.layers().await.recent_turns;
        assert_eq!(turns[0].assistant_summary, good);
        assert!(
            turns[1].assistant_summary.starts_with("Rye bread"),
            "{turns:?}"
        );
    });
}
