//! The request of one prompt in each dialect, as it is sent.

use kitbag::core::assembly::{MarkerDialect, OutputForm};
use kitbag::core::content::{Content, ContentBlock, RawJson};
use kitbag::core::message::Message;
use kitbag::core::tokens::Characters;
use kitbag::engine::{Contribution, PromptRequest, compose};

use super::{FORMS, composed, everything, lines, settings};

#[test]
fn t06_an_anthropic_request() {
    let composed = composed(settings(OutputForm::Anthropic), everything());
    insta::assert_snapshot!(lines(&composed.body()), @r###"
    {"model":"some-model","max_tokens":4096,"system":[
      {"type":"text","text":"You review web services."},
      {"type":"text","text":"Answer in English."},
      {"type":"text","text":"## src/auth.rs\n```rs\nfn login() {}\n```\n\n"},
      {"type":"text","text":"branch: main"}],"tools":[
      {"description":"Reads a file.","input_schema":{"type":"object"},"name":"read"},
      {"description":"Searches.","input_schema":{"type":"object"},"name":"search"}],"messages":[
    {"role":"user","content":[
      {"type":"text","text":"remember the staging host"},
      {"type":"text","text":"<system-reminder>two files are open</system-reminder>"},
      {"type":"text","text":"ann: see this"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]},
    {"role":"assistant","content":[
      {"type":"text","text":"looking"},
      {"id":"c0","input":{"path":"a.rs"},"name":"read","type":"tool_use"}]},
    {"role":"user","content":[
      {"content":"fn a() {}","tool_use_id":"c0","type":"tool_result"}]},
    {"role":"assistant","content":[
      {"type":"text","text":"a loop, it seems","cache_control":{"type":"ephemeral"}}]},
    {"role":"user","content":[
      {"type":"text","text":"- staging runs behind a proxy\n"},
      {"type":"text","text":"why does the redirect loop?"}]},
    {"role":"assistant","content":[
      {"id":"c1","input":{"path":"auth.rs"},"name":"read","type":"tool_use"}]},
    {"role":"user","content":[
      {"content":"fn login() {}","tool_use_id":"c1","type":"tool_result"},
      {"type":"text","text":"<system-reminder>Cite lines.</system-reminder>"}]}]}
    "###);
}

#[test]
fn x02_an_openai_chat_request() {
    let composed = composed(settings(OutputForm::OpenAi), everything());
    insta::assert_snapshot!(lines(&composed.body()), @r###"
    {"model":"some-model","messages":[
    {"role":"system","content":"You review web services."},
    {"role":"system","content":"Answer in English."},
    {"role":"system","content":"## src/auth.rs\n```rs\nfn login() {}\n```\n\n"},
    {"role":"system","content":"branch: main"},
    {"role":"user","content":"remember the staging host"},
    {"role":"system","content":"<system-reminder>two files are open</system-reminder>"},
    {"role":"user","content":[
      {"text":"see this","type":"text"},
      {"image_url":{"url":"data:image/png;base64,aGk="},"type":"image_url"}],"name":"ann"},
    {"role":"assistant","content":"looking","tool_calls":[
      {"function":{"arguments":"{\"path\":\"a.rs\"}","name":"read"},"id":"c0","type":"function"}]},
    {"role":"tool","content":"fn a() {}","tool_call_id":"c0"},
    {"role":"assistant","content":"a loop, it seems"},
    {"role":"system","content":"- staging runs behind a proxy\n"},
    {"role":"user","content":"why does the redirect loop?"},
    {"role":"assistant","content":"","tool_calls":[
      {"function":{"arguments":"{\"path\":\"auth.rs\"}","name":"read"},"id":"c1","type":"function"}]},
    {"role":"tool","content":"fn login() {}","tool_call_id":"c1"},
    {"role":"system","content":"Cite lines."}],"tools":[
      {"function":{"description":"Reads a file.","name":"read","parameters":{"type":"object"}},"type":"function"},
      {"function":{"description":"Searches.","name":"search","parameters":{"type":"object"}},"type":"function"}]}
    "###);
}

#[test]
fn x02_an_openai_responses_request() {
    let composed = composed(settings(OutputForm::Responses), everything());
    insta::assert_snapshot!(lines(&composed.body()), @r###"
    {"model":"some-model","instructions":"You review web services.","input":[
    {"type":"message","role":"system","content":"Answer in English."},
    {"type":"message","role":"system","content":"## src/auth.rs\n```rs\nfn login() {}\n```\n\n"},
    {"type":"message","role":"system","content":"branch: main"},
    {"type":"message","role":"user","content":"remember the staging host"},
    {"type":"message","role":"system","content":"<system-reminder>two files are open</system-reminder>"},
    {"type":"message","role":"user","content":[
      {"text":"ann: see this","type":"input_text"},
      {"image_url":"data:image/png;base64,aGk=","type":"input_image"}]},
    {"type":"message","role":"assistant","content":"looking"},
    {"arguments":"{\"path\":\"a.rs\"}","call_id":"c0","name":"read","type":"function_call"},
    {"call_id":"c0","output":"fn a() {}","type":"function_call_output"},
    {"type":"message","role":"assistant","content":"a loop, it seems"},
    {"type":"message","role":"system","content":"- staging runs behind a proxy\n"},
    {"type":"message","role":"user","content":"why does the redirect loop?"},
    {"arguments":"{\"path\":\"auth.rs\"}","call_id":"c1","name":"read","type":"function_call"},
    {"call_id":"c1","output":"fn login() {}","type":"function_call_output"},
    {"type":"message","role":"system","content":"Cite lines."}],"tools":[
      {"description":"Reads a file.","name":"read","parameters":{"type":"object"},"type":"function"},
      {"description":"Searches.","name":"search","parameters":{"type":"object"},"type":"function"}]}
    "###);
}

#[test]
fn c08_the_payload_is_the_blocks_themselves() {
    let composed = composed(settings(OutputForm::Payload), everything());
    insta::assert_snapshot!(composed.body().replace(r#"{"band":"#, "\n{\"band\":"), @r###"
    {"version":"1.0","model":"some-model","parts":[
    {"band":"tools","tool":{"name":"read","description":"Reads a file.","input_schema":{"type":"object"}}},
    {"band":"tools","tool":{"name":"search","description":"Searches.","input_schema":{"type":"object"}}},
    {"band":"identity","text":{"role":"system","text":"You review web services."}},
    {"band":"system","text":{"role":"system","text":"Answer in English."}},
    {"band":"session","chunk":{"id":"file:src/auth.rs","source":"src/auth.rs","chunk_type":"file","level":"full","text":"## src/auth.rs\n```rs\nfn login() {}\n```\n\n"}},
    {"band":"session","text":{"role":"system","text":"branch: main"}},
    {"band":"conversation","text":{"role":"user","text":"remember the staging host"}},
    {"band":"conversation","text":{"role":"system","text":"<system-reminder>two files are open</system-reminder>"}},
    {"band":"history","message":{"role":"user","content":[{"type":"text","text":"see this"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}],"name":"ann"}},
    {"band":"history","message":{"role":"assistant","content":"looking","tool_calls":[{"id":"c0","name":"read","arguments":{"path":"a.rs"}}]}},
    {"band":"history","message":{"role":"tool","content":"fn a() {}","tool_call_id":"c0"}},
    {"band":"history","message":{"role":"assistant","content":"a loop, it seems"}},
    {"band":"volatile","chunk":{"id":"fact:fact/host","source":"fact/host","chunk_type":"fact","level":"full","text":"- staging runs behind a proxy\n"}},
    {"band":"current","message":{"role":"user","content":"why does the redirect loop?"}},
    {"band":"steps","message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"read","arguments":{"path":"auth.rs"}}]}},
    {"band":"steps","message":{"role":"tool","content":"fn login() {}","tool_call_id":"c1"}},
    {"band":"suffix_system","text":{"role":"system","text":"Cite lines."}}]}
    "###);
}

#[test]
fn t06_cache_markers_stand_at_the_ends_of_bands() {
    for form in FORMS {
        let mut settings = settings(form);
        settings.traits.cache.min_tokens = kitbag::core::tokens::Tokens(20);
        settings.traits.cache.max_breakpoints = 3;
        let mut marked = Vec::new();
        for markers in [
            None,
            Some(MarkerDialect::Anthropic),
            Some(MarkerDialect::OpenAi),
        ] {
            settings.traits.cache.markers = markers;
            let composed = composed(settings.clone(), everything());
            let body = composed.body();
            let count = body.matches("cache_control").count()
                + body
                    .matches(r#""prompt_cache_breakpoint":{"mode":"explicit"}"#)
                    .count();
            assert_eq!(
                count,
                composed.assembly.breakpoints.len(),
                "{form:?}: {body}"
            );
            marked.push(count);
        }
        let expected = match form {
            OutputForm::Anthropic => [0, 3, 0],
            _ => [0, 0, 3],
        };
        assert_eq!(marked, expected, "{form:?}");
    }
}

#[test]
fn x02_markers_of_an_openai_request() {
    let mut settings = settings(OutputForm::Responses);
    settings.traits.cache.markers = Some(MarkerDialect::OpenAi);
    settings.traits.cache.min_tokens = kitbag::core::tokens::Tokens(20);
    settings.traits.cache.max_breakpoints = 2;
    let composed = composed(settings, everything());
    let body = composed.body();
    let marker = r#""prompt_cache_breakpoint":{"mode":"explicit"}"#;
    let marked = lines(&body);
    let marked: Vec<&str> = marked
        .lines()
        .filter(|line| line.contains(marker))
        .collect();
    insta::assert_snapshot!(marked.join("\n"), @r###"
    {"prompt_cache_breakpoint":{"mode":"explicit"},"text":"Answer in English.","type":"input_text"}]},
    {"prompt_cache_breakpoint":{"mode":"explicit"},"text":"a loop, it seems","type":"output_text"}]},
    "###);
}

#[test]
fn x06_fields_are_added_to_a_request() {
    for form in FORMS {
        let composed = composed(settings(form), everything());
        let mut request = composed.request().unwrap();
        assert_eq!(request.to_json(), composed.body());
        request.set("stream", &true);
        request.set("temperature", &0.5);
        request.set("model", &"another");
        let json = request.to_json();
        assert!(json.starts_with(r#"{"model":"another","#), "{json}");
        assert!(
            json.ends_with(r#","stream":true,"temperature":0.5}"#),
            "{json}"
        );
    }
}

#[test]
fn t01_the_suffix_is_a_system_message_where_the_model_takes_one() {
    let mut settings = settings(OutputForm::Anthropic);
    settings.traits.mid_conversation_system = true;
    let body = composed(settings, everything()).body().into_owned();
    let last = r#"{"role":"system","content":[{"type":"text","text":"Cite lines."}]}]}"#;
    assert!(body.ends_with(last), "{body}");
}

#[test]
fn t09_a_context_message_by_the_user_is_a_message_of_the_user() {
    use kitbag::core::inject::ContextMessage;
    use kitbag::core::role::Role;
    let mut contribution = everything();
    let asked = ContextMessage::system("asked", "I use vim.").with_role(Role::User);
    contribution.draft.injected.push(asked);
    for (form, expected) in FORMS.into_iter().zip([
        r#"{"role":"user","content":[{"type":"text","text":"I use vim."}"#,
        r#"{"role":"user","content":"I use vim."}"#,
        r#"{"type":"message","role":"user","content":"I use vim."}"#,
    ]) {
        let body = composed(settings(form), contribution.clone())
            .body()
            .into_owned();
        assert!(body.contains(expected), "{body}");
    }
}

#[test]
fn o07_an_answer_that_ended_in_its_reasoning_is_not_sent_back_to_anthropic() {
    let thinking = r#"{"type":"thinking","thinking":"Hm.","signature":"s=="}"#;
    let thinking =
        || ContentBlock::from_raw(RawJson::from_text(thinking.to_owned()).unwrap()).unwrap();
    let mut all = Contribution::default();
    all.draft.history = vec![
        Message::user("first"),
        Message::assistant(Content::Blocks(vec![thinking()])),
        Message::user("second"),
        Message::assistant(Content::Blocks(vec![
            thinking(),
            ContentBlock::text("So."),
            thinking(),
        ])),
    ];
    let request = PromptRequest::new("third", settings(OutputForm::Anthropic));
    let composed = compose(&request, vec![all], &Characters, None).unwrap();
    let sent: serde_json::Value = serde_json::from_str(&composed.body()).unwrap();
    let kinds = sent["messages"].as_array().unwrap().iter().map(|message| {
        let parts = message["content"].as_array().unwrap().iter();
        let parts: Vec<&str> = parts.map(|part| part["type"].as_str().unwrap()).collect();
        (message["role"].as_str().unwrap(), parts)
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            ("user", vec!["text", "text"]),
            ("assistant", vec!["thinking", "text"]),
            ("user", vec!["text"]),
        ]
    );
}
