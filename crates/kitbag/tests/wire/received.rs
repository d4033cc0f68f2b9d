//! Requests that came in: what is not known stays, and what does not fit is told.

use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::wire::{Dialect, FittedRequest, Request};

fn settings(budget: u32) -> AssemblySettings {
    AssemblySettings::new(OutputForm::Anthropic, Tokens(budget))
}

/// A request as Claude Code sends it: odd fields everywhere, reasoning, a call and its result.
const ANTHROPIC: &str = concat!(
    r#"{"stream":true,"zeta":{"b":1.0,"a":1e3},"model":"claude-sonnet-4-5","max_tokens":1024,"#,
    r#""system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"#,
    r#""messages":[{"role":"user","content":"first question about bees and hives"},"#,
    r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s\u003d"},"#,
    r#"{"type":"tool_use","id":"t1","name":"read","input":{"z":1,"a":2}}]},"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"twelve hives"}]},"#,
    r#"{"role":"assistant","content":"There are twelve."},"#,
    r#"{"role":"user","odd":[12345678901234567890123],"content":[{"type":"text","text":"and now?","x":0.10}]},"#,
    r#"{"role":"system","content":"The clock is right."}],"#,
    r#""tools":[{"name":"read","input_schema":{"type":"object"},"defer_loading":true}],"temperature":0.20}"#,
);

/// A request of Codex.
const RESPONSES: &str = concat!(
    r#"{"model":"gpt-5.5","store":false,"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]},"#,
    r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a long story about bees"}],"id":"m1"},"#,
    r#"{"type":"reasoning","id":"rs_1","encrypted_content":"gA=="},"#,
    r#"{"type":"function_call","call_id":"c1","name":"shell","arguments":"{\"cmd\":\"ls\"}"},"#,
    r#"{"type":"function_call_output","call_id":"c1","output":"a.rs"},"#,
    r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One file."}],"phase":"final_answer"},"#,
    r#"{"role":"user","content":"thanks, and now?"}],"#,
    r#""prompt_cache_key":"k","include":["reasoning.encrypted_content"],"tools":[{"type":"web_search"}]}"#,
);

/// A request of a chat client.
const OPENAI: &str = concat!(
    r#"{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"a long story about bees","name":"ann"},"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}],"reasoning_content":"r"},"#,
    r#"{"role":"tool","tool_call_id":"c1","content":"a.rs"},{"role":"assistant","content":"One file."},"#,
    r#"{"role":"user","content":"thanks, and now?"}],"#,
    r#""model":"gpt-4o","seed":7,"tools":[{"type":"function","function":{"name":"ls","parameters":{}}}]}"#,
);

#[test]
fn x06_a_request_that_fits_comes_out_byte_for_byte() {
    for (json, dialect) in [
        (ANTHROPIC, Dialect::Anthropic),
        (OPENAI, Dialect::OpenAi),
        (RESPONSES, Dialect::Responses),
        (r#"{"model":"m","input":"hello"}"#, Dialect::Responses),
    ] {
        let request = Request::parse(json).unwrap();
        assert_eq!(request.dialect, dialect);
        assert_eq!(request.to_json(), json);
        let fitted = request.fit(&settings(10_000), &Characters).unwrap();
        assert_eq!(fitted.request.to_json(), json);
        assert_eq!(fitted.composed.assembly.ledger.problems, []);
    }
}

#[test]
fn x06_a_request_is_the_parts_of_a_turn() {
    for (json, identity) in [
        (ANTHROPIC, "Be brief."),
        (OPENAI, "Be brief."),
        (RESPONSES, "Be brief."),
    ] {
        let turn = Request::parse(json).unwrap().turn().unwrap();
        let parts = &turn.contribution.draft;
        assert_eq!(parts.identity.as_deref(), Some(identity));
        assert_eq!(parts.tools.len(), 1);
        assert!(turn.current.content.text().ends_with("and now?"));
        assert!(parts.history.len() >= 4, "{:?}", parts.history);
        let calls = parts.history.iter().flat_map(|one| one.calls());
        let is_chat = json == ANTHROPIC;
        assert_eq!(calls.count(), usize::from(!is_chat));
    }
    let turn = Request::parse(ANTHROPIC).unwrap().turn().unwrap();
    assert_eq!(
        turn.contribution.draft.steps.len(),
        1,
        "what follows the question"
    );
    assert_eq!(
        (turn.model.as_deref(), turn.max_output),
        (Some("claude-sonnet-4-5"), Some(1024))
    );
}

#[test]
fn x06_what_does_not_fit_is_left_out_oldest_first_and_told() {
    for (json, budget, told) in [
        (
            ANTHROPIC,
            300,
            r#"{"content":"- 4 earlier messages of this conversation are not shown"#,
        ),
        (
            OPENAI,
            200,
            r#"{"content":"- 4 earlier messages of this conversation are not shown"#,
        ),
        (
            RESPONSES,
            300,
            r#"{"content":"- 5 earlier messages of this conversation are not shown"#,
        ),
    ] {
        let request = Request::parse(json).unwrap();
        let FittedRequest {
            request: fitted,
            composed,
            ..
        } = request.fit(&settings(budget), &Characters).unwrap();
        assert!(composed.assembly.tokens <= Tokens(budget));
        let out = fitted.to_json();
        assert!(out.contains(told), "{out}");
        assert!(
            !out.contains(r#""a long story about bees""#) && !out.contains("tool_result"),
            "{out}"
        );
        assert_eq!(composed.assembly.ledger.problems.len(), 1);
        // Whatever else the request holds is as it was, in its place.
        let names = |request: &Request| request.fields.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&fitted), names(&request));
        for (name, value) in &request.fields {
            if !["messages", "input", "system"].contains(&name.as_str()) {
                assert_eq!(fitted.fields[name], *value);
            }
        }
        let last = request
            .fields
            .values()
            .find(|value| value.as_str().contains("and now?"));
        let (_, question) = last
            .unwrap()
            .as_str()
            .rsplit_once("\"role\":\"user\"")
            .unwrap();
        assert!(out.contains(question), "{out}");
    }
}

#[test]
fn x06_a_request_that_cannot_be_read_is_told_what_is_wrong() {
    for (json, expected) in [
        ("[]", "this is not a request in JSON"),
        ("{", "this is not a request in JSON"),
        ("{}", "neither `messages` nor `input`"),
        (r#"{"messages":[]}"#, "neither `messages` nor `input`"),
        (
            r#"{"messages":[{"role":"system","content":"x"}]}"#,
            "neither",
        ),
        (
            r#"{"messages":[{"role":"king","content":"x"}]}"#,
            "message 0 of the request: unknown role `king`",
        ),
        (
            r#"{"messages":[{"role":"user","content":"x"},7]}"#,
            "message 1 of the request",
        ),
        (
            r#"{"input":[{"content":"x"}]}"#,
            "message 0 of the request: it has neither",
        ),
    ] {
        let error = match Request::parse(json) {
            Ok(request) => request.turn().unwrap_err(),
            Err(error) => error,
        };
        assert!(error.to_string().contains(expected), "{json}: {error}");
        assert!(!error.hint().is_empty());
    }
    let request = Request::parse(r#"{"messages":[{"role":"user","content":"a long question"}]}"#);
    let error = request.unwrap().fit(&settings(5), &Characters).unwrap_err();
    assert!(error.to_string().contains("the budget is 5"), "{error}");
}
