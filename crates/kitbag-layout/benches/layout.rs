//! Renders the default layout, with the pieces that show a whole turn behind it, with 200 messages and
//! 20 documents, again and again.
//!
//! `cargo bench --bench layout -- write FOLDER` writes what another engine needs to do the same;
//! `-- warm FOLDER` renders what was written there, and says what one rendering took.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first failure, and prints its figures"
)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use kitbag_layout::builtin::{DEFAULT_LAYOUT, layouts, partials};
use kitbag_layout::layout::ParsedLayout;
use kitbag_layout::layouts::OnUnknown;
use kitbag_layout::prompt::{Sources, system_prompt};
use kitbag_layout::{
    Agent, ChannelTurn, Document, Documents, Layout, PastMessage, SecurityKey, Value, builtin,
};

const MESSAGES: usize = 200;
const DOCUMENTS: usize = 20;
const ROUNDS: usize = 400;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(Path::new)
    };
    if let Some(folder) = after("write") {
        write(folder);
    } else if let Some(folder) = after("warm") {
        warm(folder);
    }
}

/// Writes the context, the template and its pieces.
fn write(folder: &Path) {
    let layout = layout();
    let pieces = builtin::partial_sources().map(|(name, text)| (name, Value::from(text)));
    let given = Value::map([
        ("template", Value::from(layout.template(None))),
        ("partials", Value::map(pieces)),
        (
            "conversation",
            Value::from(include_str!("../src/template/conversation.hbs")),
        ),
    ]);
    fs::write(
        folder.join("template.json"),
        serde_json::to_string(&given).unwrap(),
    )
    .unwrap();
    fs::write(
        folder.join("context.json"),
        serde_json::to_string(&context()).unwrap(),
    )
    .unwrap();
}

fn warm(folder: &Path) {
    let context: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("context.json")).unwrap()).unwrap();
    let layout = layout();
    let parsed = ParsedLayout::new(&layout, None, &partials()).unwrap();
    let mut text = String::new();
    let render = median(|| text = parsed.render(&context, None).unwrap());
    fs::write(folder.join("ours.txt"), &text).unwrap();

    let (agent, documents, turn) = turn();
    let pieces = partials();
    let key = SecurityKey::from_bytes([0x11; 16]);
    let sources = Sources::new(&agent, &documents, &pieces, &key).with_layout(&layout);
    let whole = median(|| text = system_prompt(&sources, &turn).text);
    println!(
        r#"{{"bench":"warm","render_us":{render},"whole_us":{whole},"bytes":{}}}"#,
        text.len()
    );
}

/// The default layout, and all that a turn brings.
fn layout() -> Layout {
    let layouts = layouts();
    let found = layouts.find(DEFAULT_LAYOUT, OnUnknown::Refuse).unwrap();
    let mut layout = found.layout.clone();
    for text in layout.templates.values_mut() {
        for piece in ["tools", "documents", "history", "query"] {
            text.source.push_str(&format!("{{{{> kitbag/{piece}}}}}\n"));
        }
    }
    layout
}

/// The median of many rounds, in microseconds.
fn median(mut round: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The context as a caller would bring it whole.
fn context() -> Value {
    let message = |number: usize| {
        let metadata = match number % 2 {
            0 => Value::map([(
                "slack",
                Value::map([("username", "ann"), ("user_id", "U1")].map(|(k, v)| (k, v.into()))),
            )]),
            _ => Value::map([("agent_id", Value::from("reviewer"))]),
        };
        Value::map([
            ("text", said(number).into()),
            ("isAssistant", (number % 2 == 1).into()),
            ("metadata", metadata),
        ])
    };
    let documents = (0..DOCUMENTS).map(|number| {
        let name = format!("doc-{number}");
        let fields = Value::map([
            ("name", name.as_str().into()),
            ("content", written(number).into()),
        ]);
        (name, fields)
    });
    let agent = Value::map(
        [
            ("id", "reviewer"),
            ("name", "Reviewer"),
            ("role", "reviewer"),
        ]
        .map(|(k, v)| (k, v.into())),
    );
    Value::map([
        ("user_input", Value::from("What changed?")),
        ("agent", agent),
        (
            "agentMetadata",
            Value::map([
                ("specialties", Value::from(vec!["review", "tests"])),
                ("capabilities", Value::from(vec!["analysis"])),
            ]),
        ),
        ("mode", "query".into()),
        ("platform", "slack".into()),
        (
            "messages",
            Value::List((0..MESSAGES).map(message).collect()),
        ),
        (
            "tools",
            Value::map([("count", Value::from(0)), ("list", Value::List(Vec::new()))]),
        ),
        (
            "vars",
            Value::map([(
                "security_key",
                Value::from("00112233445566778899aabbccddeeff"),
            )]),
        ),
        ("skills", Value::List(Vec::new())),
        ("documents", Value::map(documents)),
        (
            "layout",
            Value::map([("system_prompt", Value::from("You review changes."))]),
        ),
        (
            "props",
            Value::map(
                ["showProfile", "showSkills", "showHistory"].map(|name| (name, true.into())),
            ),
        ),
    ])
}

/// The same as an agent and a turn.
fn turn() -> (Agent, Documents, ChannelTurn) {
    let mut agent = Agent::new("reviewer");
    agent.specialties = vec!["review".to_owned(), "tests".to_owned()];
    agent.capabilities = vec!["analysis".to_owned()];
    agent.documents = (0..DOCUMENTS)
        .map(|number| format!("doc-{number}"))
        .collect();
    let documents = (0..DOCUMENTS)
        .map(|number| {
            (
                format!("doc-{number}"),
                Document::new(written(number), "bench"),
            )
        })
        .collect();
    let mut turn = ChannelTurn::new("What changed?");
    turn.messages = (0..MESSAGES)
        .map(|number| match number % 2 {
            0 => PastMessage::user(said(number)),
            _ => PastMessage::assistant(said(number)),
        })
        .collect();
    (agent, documents, turn)
}

/// A message of one to eight lines.
fn said(number: usize) -> String {
    let line = "The parser reads `a < b && c > d` as a comparison, see src/parse.rs:120.";
    (0..=number % 8)
        .map(|_| line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// A document of about 4 KB.
fn written(number: usize) -> String {
    let section = |part: usize| {
        format!(
            "## Part {part}\n\nDocument {number} says <b>what</b> \"part\" {part} is about & why it matters.\n\n"
        )
    };
    (0..40).map(section).collect()
}
