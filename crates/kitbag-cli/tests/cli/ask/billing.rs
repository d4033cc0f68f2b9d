//! An upstream that bills as Anthropic does: a prefix of tools, system and messages is read from the
//! cache where an earlier request had marked its end.
//!
//! A token is four bytes. A marker itself, and a text that is written as a plain string, make no
//! difference to the prefix.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::upstream::{Reply, Upstream, body};

/// Entries below this many tokens are not made.
const MINIMUM: u64 = 1_024;

/// So many blocks before a marker are looked at for an entry, its own among them.
const LOOK_BACK: usize = 20;

/// A server that bills, and answers as it is told.
pub(crate) struct BillingUpstream {
    pub(crate) upstream: Upstream,
    bills: Arc<Mutex<Vec<Bill>>>,
}

impl BillingUpstream {
    /// Gives to each request the answer that `answer` makes of it.
    pub(crate) fn start(answer: impl Fn(&Value) -> String + Send + 'static) -> Self {
        let bills = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bills);
        let mut cache = Cache::default();
        let upstream = Upstream::answering(move |request| {
            let request: Value = serde_json::from_str(body(request)).unwrap();
            let bill = cache.charge(&request);
            kept.lock().unwrap().push(bill);
            Reply::stream(&stream(&answer(&request), bill))
        });
        Self { upstream, bills }
    }

    /// The bills of all requests, in their order.
    pub(crate) fn bills(&self) -> Vec<Bill> {
        self.bills.lock().unwrap().clone()
    }
}

/// The tokens of a request, as they are billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bill {
    /// Those that were neither read from the cache nor written into it.
    pub(crate) plain: u64,
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Bill {
    /// The cost in hundredths of a plain token.
    pub(crate) fn cost(self) -> u64 {
        self.plain * 100 + self.read * 10 + self.written * 125
    }

    fn usage(self) -> Value {
        json!({
            "input_tokens": self.plain, "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.written, "output_tokens": 1,
        })
    }
}

/// The prefixes that can be read.
#[derive(Default)]
pub(crate) struct Cache(BTreeSet<String>);

impl Cache {
    /// Bills a request, and makes the entries that it marks.
    pub(crate) fn charge(&mut self, request: &Value) -> Bill {
        let prefixes = prefixes(request);
        let total = prefixes.last().map_or(0, |prefix| prefix.tokens);
        let marked = || (0..prefixes.len()).filter(|&at| prefixes[at].is_marked);
        assert!(marked().count() <= 4, "a request has four markers at most");
        let read = marked().filter_map(|at| {
            let mut back = (0..=at).rev().take(LOOK_BACK);
            let entry = back.find(|&before| self.0.contains(&prefixes[before].hash))?;
            Some(prefixes[entry].tokens)
        });
        let read = read.max().unwrap_or(0);
        let made = || marked().filter(|&at| prefixes[at].tokens >= MINIMUM);
        let last = made().map(|at| prefixes[at].tokens).max().unwrap_or(0);
        let made: Vec<String> = made().map(|at| prefixes[at].hash.clone()).collect();
        self.0.extend(made);
        Bill {
            plain: total - last.max(read),
            read,
            written: last.saturating_sub(read),
        }
    }
}

/// A request up to the end of one of its blocks.
struct Prefix {
    hash: String,
    tokens: u64,
    is_marked: bool,
}

fn prefixes(request: &Value) -> Vec<Prefix> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(request["model"].as_str().unwrap().as_bytes());
    let mut tokens = 0;
    let blocks = blocks(request).into_iter();
    let prefix = |(place, mut block): (String, Value)| {
        let marker = block.as_object_mut().unwrap().remove("cache_control");
        let text = format!("{place}{block}\0");
        hasher.update(text.as_bytes());
        tokens += text.len().div_ceil(4) as u64;
        Prefix {
            hash: hasher.finalize().to_hex().to_string(),
            tokens,
            is_marked: marker.is_some(),
        }
    };
    blocks.map(prefix).collect()
}

/// The blocks of a request in the order in which they are cached, each with its place.
fn blocks(request: &Value) -> Vec<(String, Value)> {
    let mut blocks = Vec::new();
    let mut add = |place: &str, value: &Value| match value {
        Value::Null => {}
        Value::String(text) => {
            blocks.push((place.to_owned(), json!({ "type": "text", "text": text })));
        }
        Value::Array(parts) => {
            blocks.extend(parts.iter().map(|part| (place.to_owned(), part.clone())));
        }
        other => panic!("no content: {other}"),
    };
    add("tools", &request["tools"]);
    add("system", &request["system"]);
    for message in request["messages"].as_array().unwrap() {
        add(message["role"].as_str().unwrap(), &message["content"]);
    }
    blocks
}

/// An answer as it is streamed.
fn stream(text: &str, bill: Bill) -> String {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": bill.usage(),
    });
    let block = json!({ "type": "text", "text": "" });
    let delta = json!({ "type": "text_delta", "text": text });
    let end = json!({ "stop_reason": "end_turn", "stop_sequence": null });
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": end, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ];
    let named = |event: &Value| {
        let name = event["type"].as_str().unwrap();
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(named).collect()
}

#[test]
fn the_upstream_bills_by_prefixes_that_were_marked() {
    let text = |words: &str, count: usize| words.repeat(count);
    let marked = |text: &str| json!([{ "type": "text", "text": text, "cache_control": {} }]);
    let request = |system: Value, messages: &[Value]| json!({ "model": "m", "system": system, "messages": messages });
    let said = |role: &str, content: Value| json!({ "role": role, "content": content });
    let mut cache = Cache::default();
    let long = text("word ", 1_000);
    let first = cache.charge(&request(marked(&long), &[said("user", json!("hello"))]));
    assert_eq!((first.read, first.written > 1_024), (0, true));
    // The same beginning, marked or not, a string or a list.
    let next = request(json!(long), &[said("user", marked("hello"))]);
    let second = cache.charge(&next);
    assert_eq!(second.read, first.written);
    assert_eq!(cache.charge(&next).plain, 0);
    // Nothing is read behind a change, nor from more than twenty blocks back.
    let other = request(json!("Other."), &[said("user", marked("hello"))]);
    assert_eq!(cache.charge(&other).read, 0);
    let many: Vec<Value> = (0..30).map(|_| said("user", json!("again"))).collect();
    let mut many = [vec![said("user", json!("hello"))], many].concat();
    many.push(said("user", marked("now")));
    assert_eq!(cache.charge(&request(json!(long), &many)).read, 0);
    // Too short to be kept.
    let short = request(marked("Short."), &[said("user", json!("hello"))]);
    assert_eq!(cache.charge(&short).written, 0);
}
