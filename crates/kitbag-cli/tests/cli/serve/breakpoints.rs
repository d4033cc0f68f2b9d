//! Cache breakpoints for clients of Anthropic's API that set none.

use serde_json::{Value, json};

use super::Server;
use super::memory::{ASKED, Proxy, SAID, block};
use crate::ask::billing::{Bill, BillingUpstream};
use crate::run::Folder;

#[test]
fn x06_a_conversation_whose_client_sets_no_breakpoint_is_cached() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    let said = |last: &[Value]| {
        let first = [
            json!({"role": "user", "content": ASKED}),
            json!({"role": "assistant", "content": "In Porto."}),
        ];
        let messages: Vec<&Value> = first.iter().chain(last).collect();
        json!({"model": "m", "system": "Be kind.", "messages": messages})
    };
    let first = json!({"model": "m", "system": "Be kind.", "messages": [{"role": "user", "content": ASKED}]});
    let (answer, arrived) = proxy.post("/v1/messages", &[], &first);
    assert!(block(&arrived).contains(SAID));
    assert_eq!(answer.header("x-kitbag-breakpoints"), None);
    assert!(
        !arrived.contains("cache_control"),
        "one request may be all: {arrived}"
    );
    let thanks = [json!({"role": "user", "content": "Thanks."})];
    let (answer, arrived) = proxy.post("/v1/messages", &[], &said(&thanks));
    assert_eq!(answer.header("x-kitbag-breakpoints"), Some("3"));
    let arrived: Value = serde_json::from_str(&arrived).unwrap();
    let mark = json!({"type": "ephemeral"});
    let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": mark});
    assert_eq!(arrived["system"], json!([marked("Be kind.")]));
    // Memory stands before the question, whose breakpoint is behind both.
    let question = &arrived["messages"][0]["content"];
    assert!(question[0]["text"].as_str().unwrap().contains(SAID));
    assert_eq!(question[0]["cache_control"], Value::Null);
    assert_eq!(question[1], marked(ASKED));
    assert_eq!(
        arrived["messages"][2]["content"],
        json!([marked("Thanks.")])
    );
    // A client that has breakpoints of its own keeps them, and one that wants no memory is not read.
    let own = [json!({"role": "user", "content": [
        {"type": "text", "text": "Bye.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]})];
    let (answer, arrived) = proxy.post("/v1/messages", &[], &said(&own));
    assert_eq!(arrived.matches("cache_control").count(), 1, "{arrived}");
    assert_eq!(answer.header("x-kitbag-breakpoints"), None);
    let off = [("x-kitbag-memory", "off")];
    let (_, arrived) = proxy.post("/v1/messages", &off, &said(&thanks));
    assert_eq!(arrived, said(&thanks).to_string());
    let settings = ", cache_breakpoints: false";
    let proxy = Proxy::with(settings);
    let (_, arrived) = proxy.post("/v1/messages", &[], &said(&thanks));
    assert_eq!(arrived, said(&thanks).to_string());
}

/// Twelve turns of a client that sets no breakpoint; what its input costs.
fn session(settings: &str) -> u64 {
    let billing = BillingUpstream::start(|_| "Noted.".to_owned());
    let folder = Folder::new();
    folder.write("own.yaml", format!("server: {{{settings}}}\n"));
    let upstream = billing.upstream.address();
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &upstream]);
    let mut messages = Vec::new();
    for turn in 0..12 {
        let words = format!("In turn {turn} nothing new is said. ").repeat(20);
        messages.push(json!({"role": "user", "content": words}));
        let body = json!({"model": "m", "stream": true, "system": "Be kind to all. ".repeat(400), "messages": messages});
        let answer = server.post("/v1/messages", &[], &body.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        messages.push(json!({"role": "assistant", "content": "Noted."}));
    }
    billing.bills().into_iter().map(Bill::cost).sum()
}

#[test]
fn x06_a_session_whose_client_sets_no_breakpoint_costs_less_than_half() {
    let [with, without] = ["memory: read", "memory: read, cache_breakpoints: false"].map(session);
    assert!(with * 2 < without, "{with} of {without}");
}
