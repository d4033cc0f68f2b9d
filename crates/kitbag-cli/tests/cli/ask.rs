//! `kitbag ask`: a message is answered, remembered, and never lost.

mod aimock;
pub(crate) mod billing;
pub(crate) mod claude_code;
#[cfg(target_os = "linux")]
mod ended;
mod faults;
mod found_file;
mod interrupted;
mod key;
mod killed;
mod long_conversation;
mod tls;
pub(crate) mod upstream;

use serde_json::Value;

use crate::run::{Folder, Output};
use upstream::{Reply, Upstream};

/// Stands in no output, error, log or file.
pub(crate) const KEY: &str = "sk-kitbag-test-0123456789abcdef";

/// Names the folder of the programs of other people.
pub(crate) const MODULES: &str = "KITBAG_TEST_NODE_MODULES";

const SCRIPT: &str = r#"{"when": "I live in", "text": "Noted.", "usage": {"input": 40, "output": 2}}
{"when": "break", "text": "This is as far as", "usage": {"input": 30, "output": 4}, "cut": true}
{"when": "fail", "error": "out of order"}
{"when": "raw", "raw": "data: {\"type\":\"ping\"}\n\ndata: <html>\n\n"}
{"when": "now?", "text": "Still here."}
{"when": "home?", "text": "In Porto.", "usage": {"input": 1200, "cache_read": 1024, "output": 3}}
{"text": "In Porto.", "usage": {"input": 1200, "cache_read": 1024, "output": 3}}
"#;

fn scripted() -> Folder {
    let folder = Folder::new();
    let config = "providers: {demo: {kind: script, answers: answers.jsonl}}\n";
    folder.write("kitbag.yaml", config);
    folder.write("answers.jsonl", SCRIPT);
    folder
}

fn ask(folder: &Folder, args: &[&str]) -> Output {
    let args = [&["--store", "sqlite:memory.db", "ask"], args].concat();
    folder.run_with(&[], &args)
}

fn history(folder: &Folder) -> String {
    let args = ["--store", "sqlite:memory.db", "memory", "history", "1.1"];
    folder.run(&args).success()
}

#[test]
fn o08_a_fact_told_in_a_first_ask_is_in_the_prompt_of_the_second() {
    let folder = scripted();
    let dry = ask(&folder, &["I live in Porto.", "--no-memory", "--dry-run"]).success();
    let first = ask(&folder, &["I live in Porto."]);
    let replay = ["--store", "sqlite:memory.db", "replay", "1.1.1"];
    let sent = folder.run(&replay).success();
    assert_eq!(
        sent.trim_end(),
        dry.trim_end(),
        "what a message states is not remembered from earlier"
    );
    assert_eq!(first.stderr, "40 tokens in, 2 out, 0.0 s, script\n");
    assert_eq!(first.success(), "Noted.\n");
    let second = ["Where is home?", "--conversation", "another"];
    let dry = ask(&folder, &[&second[..], &["--dry-run"]].concat()).success();
    let request: Value = serde_json::from_str(&dry).unwrap();
    let system = request["system"].to_string();
    assert!(system.contains("home: Porto"), "{dry}");
    let answer = ask(&folder, &second);
    assert!(
        answer
            .stderr
            .contains("1,200 tokens in, 1,024 cached, 3 out")
    );
    assert_eq!(answer.success(), "In Porto.\n");
    let replay = ["--store", "sqlite:memory.db", "replay", "1.2.1"];
    assert_eq!(folder.run(&replay).success().trim_end(), dry.trim_end());
}

#[test]
fn o08_a_provider_that_fails_loses_nothing() {
    let folder = scripted();
    let failed = ask(&folder, &["please fail"]).failure(1);
    assert!(failed.contains("out of order"), "{failed}");
    let cut = ask(&folder, &["please break"]);
    assert_eq!(
        (cut.code, cut.stdout.as_str()),
        (Some(1), "This is as far as\n")
    );
    assert!(cut.stderr.contains("30 tokens in, 4 out"), "{}", cut.stderr);
    assert!(
        cut.stderr.contains("error: the answer was cut off"),
        "{}",
        cut.stderr
    );
    let raw = ask(&folder, &["something raw"]).failure(1);
    assert!(raw.contains("an event is not JSON"), "{raw}");
    let kept = history(&folder);
    for said in [
        "please fail",
        "please break",
        "This is as far as",
        "something raw",
    ] {
        assert!(kept.contains(said), "{said}: {kept}");
    }
    assert_eq!(ask(&folder, &["and now?"]).success(), "Still here.\n");
}

#[test]
fn o08_json_and_no_memory() {
    let folder = scripted();
    let printed = ask(&folder, &["hello", "--json", "--no-memory"]).success();
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["text"], "In Porto.");
    assert_eq!(report["usage"]["cache_read"], 1024);
    assert_eq!(report["turn"], Value::Null);
    assert!(!folder.path().join("memory.db").exists());
}

#[test]
fn o08_the_cost_is_told_where_the_prices_are_known() {
    let folder = scripted();
    // 176 plain at $4 a million, 1,024 read at $0.20, 3 of the answer at $20.
    for (model, cost) in [
        ("claude-opus-5-5", "$0.0009"),
        ("claude-haiku-5-5", "<$0.0001"),
    ] {
        let told = ask(&folder, &["hello", "--model", &format!("demo/{model}")]).stderr;
        let line = format!("1,200 tokens in, 1,024 cached, 3 out, {cost}, ");
        assert!(
            told.starts_with(&line) && told.ends_with(&format!(" s, {model}\n")),
            "{told}"
        );
    }
    let json = |model: &str| -> Value {
        let printed = ask(&folder, &["hello", "--json", "--model", model]).success();
        serde_json::from_str(&printed).unwrap()
    };
    assert_eq!(json("demo/claude-opus-5-5")["cost_micros"], 969);
    for model in ["demo/claude-opus-9", "demo/kimi-k2", "demo/mine"] {
        let report = json(model);
        assert_eq!(report["usage"]["input"], 1_200, "{model}");
        assert_eq!(report.get("cost_micros"), None, "{model}: {report}");
    }
}

#[test]
fn o08_attachments_and_stdin_stand_in_the_message() {
    let folder = scripted();
    folder.write("log.txt", "line ```` one\n");
    let args = [
        "ask",
        "why?",
        "--attach",
        "log.txt",
        "--no-memory",
        "--dry-run",
    ];
    let dry = folder.run(&args).success();
    assert!(
        dry.contains(r"Attached, log.txt:\n`````\nline ```` one\n`````"),
        "{dry}"
    );
    let args = ["ask", "why?", "--no-memory", "--dry-run"];
    let dry = folder.run_with_stdin(&args, b"piped in\n").success();
    assert!(
        dry.contains(r"Attached, stdin:\n```\npiped in\n```"),
        "{dry}"
    );
}

#[test]
fn o07_without_a_key_one_message_says_what_to_set() {
    let folder = Folder::new();
    let mut command = folder.command(&["ask", "hello", "--store", "sqlite:memory.db"]);
    command
        .env_remove("ANTHROPIC_API_KEY")
        .env_remove("OPENAI_API_KEY");
    let error = crate::run::finish(command, Some(b"")).failure(1);
    assert_eq!(
        error,
        "error: no key for `anthropic`: ANTHROPIC_API_KEY is not set\nhint: set ANTHROPIC_API_KEY, or say under \
         `providers:` where the key is; `--dry-run` shows the request without one\n"
    );
    assert!(!folder.path().join("memory.db").exists());
}

#[test]
fn o07_a_file_that_was_merely_found_gets_no_key_and_sends_nothing() {
    let folder = Folder::new();
    for (entry, problem) in [
        (
            "base_url: 'http://127.0.0.1:9', key: {env: PATH}",
            "wants a key to be read",
        ),
        (
            "base_url: 'https://example.com'",
            "sends what is asked off this machine",
        ),
        (
            "headers: {x: {command: [touch, ran]}}",
            "wants a key to be read",
        ),
    ] {
        let config = format!("providers: {{evil: {{kind: openai, model: m, {entry}}}}}\n");
        folder.write("kitbag.yaml", config);
        let error = ask(&folder, &["hello"]).failure(1);
        assert!(error.contains(problem), "{error}");
    }
    assert!(!folder.path().join("ran").exists());
}

/// A folder whose provider is a server of the test's own.
fn served(upstream: &Upstream, kind: &str) -> Folder {
    served_at(&upstream.address(), kind)
}

fn served_at(address: &str, kind: &str) -> Folder {
    served_within(address, kind, "first_byte: 60s, idle: 60s")
}

/// The same with these timeouts.
fn served_within(address: &str, kind: &str, timeouts: &str) -> Folder {
    let folder = Folder::new();
    let config = format!(
        "providers:\n  local:\n    kind: {kind}\n    base_url: {address}\n    model: m\n    key: {{file: key}}\n    \
         headers: {{x-team: blue}}\n    timeouts: {{{timeouts}}}\n"
    );
    folder.write("served.yaml", config);
    folder.write("key", format!("{KEY}\n"));
    folder
}

fn ask_served(folder: &Folder, message: &str, more: &[&str]) -> Output {
    let args = ["--log", "trace", "ask", message, "--config", "served.yaml"];
    ask_raw(folder, &[&args[..], more].concat())
}

fn ask_raw(folder: &Folder, args: &[&str]) -> Output {
    let args = [&["--store", "sqlite:memory.db"], args].concat();
    folder.run_with(&[("NO_PROXY", "127.0.0.1")], &args)
}

#[test]
fn o07_each_dialect_sends_exactly_what_a_dry_run_shows() {
    for (kind, path, body) in [
        ("anthropic", "/v1/messages", upstream::ANTHROPIC),
        ("openai", "/chat/completions", upstream::CHAT),
        ("responses", "/responses", upstream::RESPONSES),
    ] {
        let upstream = Upstream::start(vec![Reply::stream(body)]);
        let folder = served(&upstream, kind);
        let dry = ask_served(&folder, "Where?", &["--no-memory", "--dry-run"]).success();
        assert_eq!(upstream.requests().len(), 0, "a dry run sends nothing");
        let answer = ask_served(&folder, "Where?", &[]);
        assert!(
            answer.stderr.contains("90 tokens in, 64 cached, 7 out"),
            "{}",
            answer.stderr
        );
        assert_eq!(answer.success(), "In Porto.\n");
        let request = &upstream.requests()[0];
        let (head, sent) = request.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with(&format!("POST {path} HTTP/1.1\r\n")),
            "{head}"
        );
        assert_eq!(sent, dry.trim_end(), "{kind}");
        assert!(head.contains("x-team: blue"), "{head}");
        let key = match kind {
            "anthropic" => format!("x-api-key: {KEY}"),
            _ => format!("authorization: Bearer {KEY}"),
        };
        assert!(head.contains(&key), "{head}");
    }
}

#[test]
fn o08_a_fact_told_in_a_first_run_is_sent_with_the_second() {
    let upstream = Upstream::answering(|_| Reply::stream(upstream::ANTHROPIC));
    let folder = served(&upstream, "anthropic");
    ask_served(&folder, "I live in Porto.", &[]).success();
    ask_served(&folder, "Where is home?", &["--conversation", "another"]).success();
    let [first, second] = &upstream.bodies()[..] else {
        panic!("two asks are two requests");
    };
    assert!(
        first.contains("I live in Porto.") && !first.contains("home: Porto"),
        "{first}"
    );
    assert!(second.contains("home: Porto"), "{second}");
    let replay = ["--store", "sqlite:memory.db", "replay", "1.2.1"];
    assert_eq!(folder.run(&replay).success().trim_end(), second);
}

#[test]
fn o07_an_answer_that_is_not_streamed_is_read_all_the_same() {
    let thinking =
        r#"{"type":"thinking","thinking":"Bees sting.","signature":"c2ln==","new_field":1.0}"#;
    let anthropic = format!(
        r#"{{"content":[{thinking},{{"type":"text","text":"In Porto."}}],"stop_reason":"end_turn","usage":{{"input_tokens":26,"cache_read_input_tokens":64,"output_tokens":7}}}}"#
    );
    let chat = r#"{"choices":[{"message":{"role":"assistant","content":"In Porto."},"finish_reason":"stop"}],
                   "usage":{"prompt_tokens":90,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}}"#;
    let responses = r#"{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"In Porto."}]}],
                        "usage":{"input_tokens":90,"output_tokens":7,"input_tokens_details":{"cached_tokens":64}}}"#;
    for (kind, body) in [
        ("anthropic", anthropic.as_str()),
        ("openai", chat),
        ("responses", responses),
    ] {
        let error = r#"{"error":{"message":"no such model"}}"#;
        let (cut, _) = body.split_at(body.len() / 2);
        // Parts that are no list.
        let (odd, odd_told) = match kind {
            "anthropic" => (r#"{"content":"In Porto."}"#, "no list of parts"),
            "responses" => (r#"{"output":[],"content":[]}"#, "no list of parts"),
            _ => (cut, "the answer cannot be read"),
        };
        let replies = [body, body, error, cut, odd];
        let upstream = Upstream::start(replies.into_iter().map(Reply::whole).collect());
        let folder = served(&upstream, kind);
        let told = ask_served(&folder, "Where?", &[]);
        assert!(
            told.stderr.contains("90 tokens in, 64 cached, 7 out"),
            "{told:?}"
        );
        assert_eq!(told.success(), "In Porto.\n");
        ask_served(&folder, "And when?", &[]).success();
        let again = &upstream.bodies()[1];
        assert_eq!(again.contains(thinking), kind == "anthropic", "{again}");
        let failed = ask_served(&folder, "Why?", &[]).failure(1);
        assert!(
            failed.contains("the provider broke off: no such model"),
            "{failed}"
        );
        let failed = ask_served(&folder, "Why?", &[]).failure(1);
        assert!(failed.contains("the answer cannot be read"), "{failed}");
        let failed = ask_served(&folder, "Why?", &[]).failure(1);
        assert!(failed.contains(odd_told), "{failed}");
    }
}

#[test]
fn o07_a_label_does_not_make_a_stream_of_an_object_nor_the_other_way() {
    let object = r#"{"content":[{"type":"text","text":"In Porto."}],"stop_reason":"end_turn"}"#;
    let replies = vec![
        Reply::whole(upstream::ANTHROPIC),
        Reply::whole(&format!("\n\n{}", upstream::ANTHROPIC)),
        Reply::stream(object),
        Reply::stream(&format!("\n {object}")),
    ];
    let asked = replies.len();
    let upstream = Upstream::start(replies);
    let folder = served(&upstream, "anthropic");
    for _ in 0..asked {
        assert_eq!(ask_served(&folder, "Where?", &[]).success(), "In Porto.\n");
    }
}

#[test]
fn o07_thinking_is_passed_back_unchanged() {
    let replies = vec![
        Reply::stream(upstream::ANTHROPIC),
        Reply::stream(upstream::ANTHROPIC),
    ];
    let upstream = Upstream::start(replies);
    let folder = served(&upstream, "anthropic");
    ask_served(&folder, "Where?", &[]).success();
    ask_served(&folder, "And when?", &[]).success();
    let block =
        r#"{"type":"thinking","thinking":"Bees sting.","signature":"c2ln==","new_field":1.0}"#;
    assert!(
        upstream.requests()[1].contains(block),
        "{}",
        upstream.requests()[1]
    );
}

/// What a dry run shows of a request to this model, with these further settings of its provider.
fn dry_run(kind: &str, model: &str, more: &str, args: &[&str]) -> Value {
    let folder = Folder::new();
    let config = format!(
        "providers:\n  local: {{kind: {kind}, base_url: 'http://127.0.0.1:9', key: {{file: key}}{more}}}\n"
    );
    folder.write("served.yaml", config);
    folder.write("key", KEY);
    let message = "Where are the bees? ".repeat(200);
    let model = format!("local/{model}");
    // A command makes the store, which a dry run does not.
    ask_served(&folder, "/facts", &["--model", &model]).success();
    let args = [&["--dry-run", "--model", &model], args].concat();
    let shown = ask_served(&folder, &message, &args).success();
    serde_json::from_str(&shown).unwrap()
}

#[test]
fn o07_an_answer_may_be_as_long_as_its_model_allows_and_longer_than_its_reasoning() {
    let most =
        |model: &str, more: &str| dry_run("anthropic", model, more, &[])["max_tokens"].clone();
    assert_eq!(most("claude-opus-5-5", ""), 32_000);
    assert_eq!(most("claude-3-5-haiku", ""), 8_192);
    assert_eq!(most("mine", ""), 4_096);
    let thinking = |tokens: u32, rest: &str| {
        format!(", request: {{thinking: {{budget_tokens: {tokens}}}{rest}}}")
    };
    let own = thinking(40_000, ", max_tokens: 50000");
    assert_eq!(most("claude-opus-5-5", &own), 50_000);
    let both = |model: &str, tokens: u32| {
        let request = dry_run("anthropic", model, &thinking(tokens, ""), &[]);
        let number = |place| request.pointer(place).and_then(Value::as_u64).unwrap();
        (number("/max_tokens"), number("/thinking/budget_tokens"))
    };
    assert_eq!(both("claude-opus-5-5", 20_000), (32_000, 20_000));
    assert_eq!(both("claude-opus-5-5", 31_999), (40_191, 31_999));
    assert_eq!(both("claude-opus-5-5", 40_000), (48_192, 40_000));
    assert_eq!(both("mine", 40_000), (48_192, 40_000));
    // As long as the model may write, with less reasoning.
    assert_eq!(both("claude-sonnet-4-5", 60_000), (64_000, 55_808));
}

#[test]
fn o07_responses_are_asked_for_their_reasoning_where_the_model_may_reason() {
    let include =
        |model: &str, more: &str| dry_run("responses", model, more, &[])["include"].clone();
    let encrypted = serde_json::json!(["reasoning.encrypted_content"]);
    assert_eq!(include("gpt-5.6", ""), encrypted);
    assert_eq!(include("mine", ""), encrypted);
    assert_eq!(include("gpt-4.1-mini", ""), Value::Null);
    let own = ", request: {include: []}";
    assert_eq!(include("gpt-5.6", own), serde_json::json!([]));
}

#[test]
fn t06_a_prompt_that_nobody_sends_again_has_no_cache_markers() {
    let request = |args: &[&str]| dry_run("anthropic", "claude-opus-5-5", "", args).to_string();
    assert!(request(&[]).contains("cache_control"));
    assert!(!request(&["--no-memory"]).contains("cache_control"));
    // The next step of the turn begins like this one.
    assert!(request(&["--no-memory", "--tools"]).contains("cache_control"));

    let upstream = Upstream::answering(|_| Reply::stream(upstream::ANTHROPIC));
    let folder = served(&upstream, "anthropic");
    let model = ["--model", "local/claude-opus-5-5"];
    let said = "My bees live in Porto, where they like the roof most of all. ".repeat(60);
    ask_served(&folder, &said, &model).success();
    let variables = [("KITBAG_CONFIG", "served.yaml"), ("NO_PROXY", "127.0.0.1")];
    let close = ["memory", "close", "--model=local/claude-opus-5-5", "1.1"];
    let close = [&["--store", "sqlite:memory.db"], &close[..]].concat();
    folder.run_with(&variables, &close).success();
    let [asked, learned @ ..] = &upstream.bodies()[..] else {
        panic!("nothing was asked");
    };
    assert!(asked.contains("cache_control") && !learned.is_empty());
    for request in learned {
        assert!(!request.contains("cache_control"), "{request}");
    }
}
