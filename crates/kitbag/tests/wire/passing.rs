//! What passes through, and what is translated on its way to another provider.

use kitbag::core::assembly::{AssemblySettings, MarkerDialect, OutputForm};
use kitbag::core::content::Content;
use kitbag::core::message::Message;
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::engine::{Contribution, PromptRequest, compose};
use serde_json::Value;

use super::{FORMS, body, call, composed, everything, message, settings};

#[test]
fn x06_blocks_of_a_client_pass_through_untouched() {
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}"#;
    let thinking = r#"{"type":"thinking","thinking":"h\u00e9","signature":"s=="}"#;
    let odd = r#"{"zeta":1.0,"type":"brand_new","alpha":[1e3]}"#;
    let history = vec![
        message(&format!(r#"{{"role":"user","content":[{image}]}}"#)),
        message(&format!(
            r#"{{"role":"assistant","content":[{thinking},{odd}]}}"#
        )),
    ];
    let anthropic = body(OutputForm::Anthropic, history.clone());
    for block in [image, thinking, odd] {
        assert!(anthropic.contains(block), "{anthropic}");
    }
    for form in [OutputForm::OpenAi, OutputForm::Responses] {
        let other = body(form, history.clone());
        assert!(other.contains("data:image/png;base64,aGk="), "{other}");
        assert!(other.contains(odd), "{other}");
        assert!(
            !other.contains("signature"),
            "reasoning is for its own provider"
        );
    }
    // A marker is added at the end of a block, whose bytes stay.
    let mut contribution = Contribution::default();
    contribution.draft.history = history;
    let mut settings = settings(OutputForm::Anthropic);
    settings.traits.cache.min_tokens = Tokens(1);
    let marked = composed(settings, contribution).body().into_owned();
    let with_marker = odd.replace("[1e3]}", r#"[1e3],"cache_control":{"type":"ephemeral"}}"#);
    assert!(marked.contains(&with_marker), "{marked}");
}

#[test]
fn x06_reasoning_of_the_responses_api_passes_as_an_item() {
    let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA=="}"#;
    let json = format!(
        r#"{{"role":"assistant","content":[{{"type":"text","text":"a"}},{reasoning},{{"type":"text","text":"b"}}]}}"#
    );
    let responses = body(
        OutputForm::Responses,
        vec![Message::user("hi"), message(&json)],
    );
    let part = |text: &str| {
        format!(
            r#"{{"type":"message","role":"assistant","content":[{{"text":"{text}","type":"output_text"}}]}}"#
        )
    };
    let items = format!("{},{reasoning},{}", part("a"), part("b"));
    assert!(responses.contains(&items), "{responses}");
    for form in [OutputForm::Anthropic, OutputForm::OpenAi] {
        let other = body(form, vec![Message::user("hi"), message(&json)]);
        assert!(!other.contains("encrypted_content"), "{other}");
    }
}

#[test]
fn x06_unknown_fields_and_markers_of_a_client_survive() {
    let marked = r#"{"type":"text","text":"long","cache_control":{"type":"ephemeral"}}"#;
    let history = vec![
        message(r#"{"role":"user","content":"hi","name":"ann","zz":[1.0]}"#),
        message(&format!(r#"{{"role":"user","content":[{marked}]}}"#)),
    ];
    let openai = body(OutputForm::OpenAi, history.clone());
    let fields = r#""content":"hi","name":"ann","zz":[1.0]"#;
    assert!(openai.contains(fields), "{openai}");
    assert!(
        !openai.contains("cache_control"),
        "another provider's marker"
    );
    let mut contribution = Contribution::default();
    contribution.draft.history = history;
    contribution.draft.identity = Some("x ".repeat(4_000));
    let mut settings = settings(OutputForm::Anthropic);
    settings.traits.cache.max_breakpoints = 1;
    let anthropic = composed(settings, contribution).body().into_owned();
    assert!(anthropic.contains(marked));
    let markers = anthropic.matches("cache_control").count();
    assert_eq!(markers, 1, "the client's marker was the last");
}

#[test]
fn x06_nothing_parts_a_tool_result_from_its_call() {
    let mut contribution = everything();
    contribution.draft.steps.clear();
    contribution.draft.history = vec![
        Message::user("go"),
        Message::assistant("").with_tool_calls(vec![call("c1", "null")]),
    ];
    let request = |form| -> Value {
        let mut request = PromptRequest::new("", settings(form));
        request.current = Message::tool("c1", "done");
        let composed = compose(&request, vec![contribution.clone()], &Characters, None).unwrap();
        serde_json::from_str(&composed.body()).unwrap()
    };
    let anthropic = request(OutputForm::Anthropic);
    let last = anthropic["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"][0]["type"], "tool_result");
    assert_eq!(last["content"][1]["type"], "text");
    let openai = request(OutputForm::OpenAi);
    let messages = openai["messages"].as_array().unwrap();
    let is_call = |message: &Value| message.get("tool_calls").is_some();
    let at = messages.iter().position(is_call).unwrap();
    assert_eq!(messages[at]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(messages[at + 1]["role"], "tool");
    let responses = request(OutputForm::Responses);
    let items = responses["input"].as_array().unwrap();
    let is_call = |item: &Value| item["type"] == "function_call";
    let at = items.iter().position(is_call).unwrap();
    assert_eq!(items[at]["arguments"], "{}");
    assert_eq!(items[at + 1]["type"], "function_call_output");
}

#[test]
fn x06_an_answer_without_content_is_still_an_answer() {
    for (form, expected) in FORMS.into_iter().zip([
        r#"{"content":"","tool_use_id":"c1","type":"tool_result"}"#,
        r#"{"role":"tool","content":"","tool_call_id":"c1"}"#,
        r#"{"call_id":"c1","output":"","type":"function_call_output"}"#,
    ]) {
        let history = vec![
            Message::user("go"),
            Message::assistant(Content::Null).with_tool_calls(vec![call("c1", "{}")]),
            Message::tool("c1", Content::Null),
        ];
        let body = body(form, history);
        assert!(body.contains(expected), "{body}");
    }
}

#[test]
fn x06_what_a_form_cannot_carry_is_a_problem_in_the_ledger() {
    let pdf = r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA=="}}"#;
    let text = r#"{"type":"document","source":{"type":"text","data":"the terms"}}"#;
    let shot = r#"{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"bad"},
        {"type":"image","source":{"type":"url","url":"u.png"}}]}"#;
    for (form, problems) in FORMS.into_iter().zip([0, 1, 0]) {
        let mut contribution = Contribution::default();
        contribution.draft.history = vec![
            Message::user("go"),
            message(
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"shot","input":{}}]}"#,
            ),
            message(&format!(
                r#"{{"role":"user","content":[{shot},{pdf},{text}]}}"#
            )),
        ];
        let composed = composed(settings(form), contribution);
        assert_eq!(
            composed.assembly.ledger.problems.len(),
            problems,
            "{form:?}"
        );
        let body = composed.body();
        for kept in ["the terms", "bad", "u.png"] {
            assert!(body.contains(kept), "{body}");
        }
        let has_file = body.contains("data:application/pdf;base64,AA==");
        assert_eq!(has_file, form == OutputForm::Responses, "{body}");
    }
}

#[test]
fn t06_an_identity_that_lasts_is_cached_apart_from_what_follows() {
    let mut contribution = everything();
    contribution.draft.identity = Some("x ".repeat(4_000));
    let settings = AssemblySettings::new(OutputForm::Anthropic, Tokens(100_000));
    let body = composed(settings.clone(), contribution.clone())
        .body()
        .into_owned();
    let json: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(json["system"][0]["cache_control"]["type"], "ephemeral");
    let mut openai = settings;
    openai.form = OutputForm::OpenAi;
    openai.traits.cache.markers = Some(MarkerDialect::OpenAi);
    let body = composed(openai, contribution).body().into_owned();
    let json: Value = serde_json::from_str(&body).unwrap();
    let first = &json["messages"][0]["content"][0];
    assert_eq!(first["prompt_cache_breakpoint"]["mode"], "explicit");
}
