//! OpenTelemetry: a collector is told of each call of a model, and of what was said only where that is asked for.

use serde_json::Value;

use super::Server;
use crate::ask::upstream::{ANTHROPIC, CHAT, Reply, Upstream};
use crate::run::Folder;

const CHAT_PATH: &str = "/v1/chat/completions";
const ASKED: &str = r#"{"model":"m-1","stream":true,"temperature":0.5,"max_tokens":9,
    "messages":[{"role":"user","content":"Where are the bees? My token is ghp_0123456789abcdefghijklmnopqrstuvwxyz"}]}"#;

/// A collector, and a server that tells it of requests to an upstream.
struct Told {
    collector: Upstream,
    server: Server,
    _upstream: Upstream,
    _folder: Folder,
}

impl Told {
    fn start(variables: &[(&str, &str)]) -> Self {
        let collector = Upstream::answering(|_| Reply::whole("{}"));
        let upstream = Upstream::answering(|request| match request {
            _ if request.contains("limited") => Reply::status(429, "", "{}"),
            _ if request.starts_with("POST /v1/messages") => Reply::stream(ANTHROPIC),
            _ => Reply::stream(CHAT),
        });
        let folder = Folder::new();
        let endpoint = collector.address();
        let own = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=sk-collector"),
        ];
        let variables = [&own, variables].concat();
        let address = upstream.address();
        let args = ["--log", "debug", "--upstream", &address];
        let server = Server::start_with(&folder, &variables, &args);
        Self {
            collector,
            server,
            _upstream: upstream,
            _folder: folder,
        }
    }

    /// All that the collector was told when the server has stopped: spans and metrics.
    fn stop(self) -> [Vec<Value>; 2] {
        let stopped = self.server.stop();
        assert_eq!(stopped.code, Some(0));
        assert!(
            !stopped.stderr.contains("sk-collector"),
            "{}",
            stopped.stderr
        );
        let requests = self.collector.requests();
        for request in &requests {
            assert!(
                request.contains("x-collector-key: sk-collector\r\n"),
                "{request}"
            );
            assert!(
                request.contains("content-type: application/json\r\n"),
                "{request}"
            );
        }
        let of = |path: &str, pointer: &str| {
            let begin = format!("POST /v1/{path} ");
            let posted = requests.iter().filter(|it| it.starts_with(&begin));
            let bodies = posted.map(|it| it.split_once("\r\n\r\n").unwrap().1);
            let bodies = bodies.map(|it| serde_json::from_str::<Value>(it).unwrap());
            bodies
                .flat_map(|body| body.pointer(pointer).unwrap().as_array().unwrap().clone())
                .collect()
        };
        [
            of("traces", "/resourceSpans/0/scopeSpans/0/spans"),
            of("metrics", "/resourceMetrics/0/scopeMetrics/0/metrics"),
        ]
    }
}

/// The attribute of a span or of a point, as text.
fn attribute(of: &Value, name: &str) -> Option<String> {
    let all = of["attributes"].as_array().unwrap();
    let found = all.iter().find(|it| it["key"] == name)?;
    let (_, value) = found["value"].as_object().unwrap().iter().next().unwrap();
    Some(
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned),
    )
}

#[test]
fn x06_a_collector_is_told_of_calls_and_not_of_what_was_said() {
    let told = Told::start(&[]);
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let headers = [("traceparent", parent), ("x-kitbag-conversation", "garden")];
    assert_eq!(told.server.post(CHAT_PATH, &headers, ASKED).status, 200);
    assert_eq!(told.server.post("/v1/messages", &[], ASKED).status, 200);
    let limited = ASKED.replace("m-1", "limited");
    assert_eq!(told.server.post(CHAT_PATH, &[], &limited).status, 429);
    let unsampled = [("traceparent", &*parent.replace("-01", "-00"))];
    told.server.post(CHAT_PATH, &unsampled, ASKED);
    let [spans, metrics] = told.stop();
    assert_eq!(spans.len(), 3, "{spans:?}");
    let chat = &spans[0];
    assert_eq!(
        (&chat["name"], &chat["kind"]),
        (&"chat m-1".into(), &3.into())
    );
    assert_eq!(chat["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(chat["parentSpanId"], "00f067aa0ba902b7");
    assert_eq!(chat["spanId"].as_str().unwrap().len(), 16);
    let time = |name: &str| chat[name].as_str().unwrap().parse::<u64>().unwrap();
    assert!(time("startTimeUnixNano") < time("endTimeUnixNano"));
    for (name, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "m-1"),
        ("gen_ai.request.max_tokens", "9"),
        ("gen_ai.request.temperature", "0.5"),
        ("gen_ai.request.stream", "true"),
        ("gen_ai.conversation.id", "garden"),
        ("gen_ai.usage.input_tokens", "90"),
        ("gen_ai.usage.output_tokens", "7"),
        ("gen_ai.usage.cache_read.input_tokens", "64"),
        ("server.address", "127.0.0.1"),
    ] {
        assert_eq!(
            attribute(chat, name).as_deref(),
            Some(value),
            "{name}: {chat}"
        );
    }
    assert!(
        chat.to_string()
            .contains("gen_ai.response.time_to_first_chunk")
    );
    // Cached tokens are among those of the input, unlike in Anthropic's own count.
    let anthropic = &spans[1];
    assert_eq!(
        attribute(anthropic, "gen_ai.provider.name").unwrap(),
        "anthropic"
    );
    assert_eq!(
        attribute(anthropic, "gen_ai.usage.input_tokens").unwrap(),
        "90"
    );
    let limited = &spans[2];
    assert_eq!(limited["status"]["code"], 2);
    assert_eq!(attribute(limited, "error.type").unwrap(), "429");
    let all = format!("{spans:?}{metrics:?}");
    assert!(!all.contains("bees") && !all.contains("Porto"), "{all}");
    let metric = |name: &str| {
        let found = metrics.iter().find(|metric| metric["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {metrics:?}"))["histogram"]["dataPoints"].clone()
    };
    let tokens = metric("gen_ai.client.token.usage");
    let input = tokens.as_array().unwrap().iter().find(|point| {
        attribute(point, "gen_ai.token.type").unwrap() == "input"
            && attribute(point, "gen_ai.provider.name").unwrap() == "openai"
    });
    // A call without a trace is measured all the same.
    assert_eq!(
        (&input.unwrap()["count"], &input.unwrap()["sum"]),
        (&"2".into(), &180.0.into())
    );
    let took = metric("gen_ai.client.operation.duration");
    assert_eq!(took.as_array().unwrap().len(), 3, "{took}");
}

#[test]
fn x06_what_was_said_is_told_where_that_is_asked_for_and_without_secrets() {
    let told = Told::start(&[("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")]);
    assert_eq!(told.server.post(CHAT_PATH, &[], ASKED).status, 200);
    let [spans, _] = told.stop();
    let input = attribute(&spans[0], "gen_ai.input.messages").unwrap();
    let input: Value = serde_json::from_str(&input).unwrap();
    assert_eq!(input[0]["role"], "user");
    let text = input[0]["parts"][0]["content"].as_str().unwrap();
    assert!(text.starts_with("Where are the bees?"), "{text}");
    assert!(!text.contains("0123456789"), "{text}");
    let output = attribute(&spans[0], "gen_ai.output.messages").unwrap();
    assert!(output.contains("In Porto."), "{output}");
}

#[test]
fn x06_a_collector_that_is_gone_holds_nothing_up() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let upstream = Upstream::answering(|_| Reply::stream(CHAT));
    let folder = Folder::new();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())];
    let args = ["--log", "warn", "--upstream", &upstream.address()];
    let server = Server::start_with(&folder, &variables, &args);
    assert_eq!(server.post(CHAT_PATH, &[], ASKED).body, CHAT);
    let stopped = server.stop();
    assert_eq!(stopped.code, Some(0));
    assert!(
        stopped.stderr.contains("telemetry_lost"),
        "{}",
        stopped.stderr
    );
    let wrong = [("OTEL_EXPORTER_OTLP_ENDPOINT", "nowhere at all")];
    let refused = folder
        .run_with(&wrong, &["serve", "--no-memory"])
        .failure(1);
    assert!(refused.contains("OTEL_EXPORTER_OTLP_ENDPOINT"), "{refused}");
}
