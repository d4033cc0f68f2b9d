//! Requests of random JSON: nothing is lost, and nothing panics.

use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::wire::Request;
use proptest::prelude::*;
use serde_json::Value;

/// JSON as others write it: keys in any order, numbers in any spelling.
fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        prop::sample::select(vec!["1.0", "1e3", "-0", "0.10", "12345678901234567890123"])
            .prop_map(str::to_owned),
        "\\PC{0,12}".prop_map(|text| Value::from(text).to_string()),
        Just(r#""\u00e9\/""#.to_owned()),
    ];
    let key = prop::sample::select(vec![
        "role",
        "content",
        "type",
        "text",
        "name",
        "tool_calls",
        "id",
        "call_id",
        "input",
        "output",
        "arguments",
        "function",
        "source",
        "zeta",
        "cache_control",
        "tool_use_id",
    ]);
    let word = prop::sample::select(vec![
        "user",
        "assistant",
        "tool",
        "system",
        "developer",
        "text",
        "image",
        "tool_use",
        "tool_result",
        "thinking",
        "message",
        "function_call",
        "function_call_output",
        "reasoning",
        "input_text",
    ])
    .prop_map(|word| format!("\"{word}\""));
    prop_oneof![leaf, word].prop_recursive(4, 32, 5, move |inner| {
        let fields = prop::collection::vec((key.clone(), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            fields.prop_map(|fields| object(&fields)),
        ]
    })
}

/// An object, each name once.
fn object(fields: &[(impl AsRef<str>, String)]) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let fields = fields
        .iter()
        .filter(|(name, _)| seen.insert(name.as_ref().to_owned()))
        .map(|(name, value)| format!("{}:{value}", Value::from(name.as_ref())));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn any_fields() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = prop_oneof![
        prop::sample::select(vec![
            "model",
            "stream",
            "system",
            "tools",
            "instructions",
            "max_tokens",
            "metadata",
        ])
        .prop_map(str::to_owned),
        "[a-z_]{1,8}",
    ];
    prop::collection::vec((name, any_json()), 0..6)
}

/// A conversation whose messages have fields and blocks that nobody knows.
fn odd_messages() -> impl Strategy<Value = Vec<String>> {
    let odd = any_json();
    let message = (any::<bool>(), "\\PC{1,30}", odd).prop_map(|(is_user, text, odd)| {
        let role = if is_user { "user" } else { "assistant" };
        let text = Value::from(text);
        format!(r#"{{"zz":{odd},"role":"{role}","content":[{{"odd":{odd},"type":"text","text":{text}}}]}}"#)
    });
    prop::collection::vec(message, 1..12)
}

proptest! {
    #[test]
    fn x06_no_request_panics(mut fields in any_fields(), messages in any_json(), name in 0..3usize) {
        let name = ["messages", "input", "nothing"][name];
        fields.push((name.to_owned(), messages));
        let json = object(&fields);
        if let Ok(request) = Request::parse(&json) {
            prop_assert_eq!(request.to_json(), json.clone());
            let settings = AssemblySettings::new(OutputForm::OpenAi, Tokens(400));
            if let Ok(fitted) = request.fit(&settings, &Characters) {
                prop_assert!(fitted.composed.assembly.tokens <= Tokens(400));
                prop_assert!(serde_json::from_str::<Value>(&fitted.request.to_json()).is_ok());
            }
        }
    }

    #[test]
    fn x06_what_is_kept_of_a_request_is_kept_byte_for_byte(
        fields in any_fields(), messages in odd_messages(), budget in 100u32..2_000, name in 0..2usize,
    ) {
        let name = ["messages", "input"][name];
        let mut all: Vec<(String, String)> = fields
            .into_iter()
            .filter(|(name, _)| !["messages", "input", "system", "instructions", "tools"].contains(&name.as_str()))
            .collect();
        let mut messages = messages;
        messages.push(r#"{"role":"user","content":"and now?"}"#.to_owned());
        all.insert(all.len() / 2, (name.to_owned(), format!("[{}]", messages.join(","))));
        let json = object(&all);
        let request = Request::parse(&json).unwrap();
        let settings = AssemblySettings::new(OutputForm::OpenAi, Tokens(budget));
        let Ok(fitted) = request.fit(&settings, &Characters) else { return Ok(()) };
        let out = fitted.request;
        for (field, value) in &request.fields {
            if field != name && field != "system" {
                prop_assert_eq!(out.fields.get(field), Some(value));
            }
        }
        // The latest messages stand without a gap, as they were.
        let shown = out.fields[name].as_str();
        let kept = messages.iter().rev().take_while(|one| shown.contains(one.as_str())).count();
        let start = messages.len() - kept;
        prop_assert!(kept > 0, "{shown}");
        prop_assert!(shown.ends_with(&format!("{}]", messages[start..].join(","))), "{shown}");
        let left_out = messages.len() - kept;
        if left_out == 0 {
            prop_assert_eq!(out.to_json(), json);
        } else {
            prop_assert!(out.to_json().contains("not shown"), "{}", out.to_json());
        }
    }
}
