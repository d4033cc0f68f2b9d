//! Tests of the assembly: every output as a snapshot, budgets, the ledger, determinism, epochs.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::band::Band;
use crate::chunk::{ChunkBand, ChunkType, ContextPriority, Detail, Level, Relevance, Trust};
use crate::content::RawJson;
use crate::context::{Context, ContextEntry};
use crate::envelope::{TaskType, ToolDefinition};
use crate::flat;
use crate::inject::ContextMessage;
use crate::message::{Message, ToolCall};
use crate::tokens::Quarters;

fn file(source: &str, content: &str) -> ContextChunk {
    ContextChunk::new(ChunkType::File, source, content)
        .with_level(Level::new(Detail::Outline, format!("outline of {source}")))
        .with_level(Level::new(Detail::Line, source))
}

/// A draft with something in every band.
fn draft() -> Draft {
    let mut draft = Draft::new("why does the redirect loop?");
    draft.model = Some("claude-sonnet-4-5".into());
    draft.identity = "You review web services.".into();
    draft.task_type = Some(TaskType::Debug);
    draft.tools = vec![
        ToolDefinition::new("search", "Searches.", json!({"type": "object"})),
        ToolDefinition::new("read", "Reads a file.", json!({"type": "object"})),
    ];
    draft.injected = vec![
        ContextMessage::system("style", "Answer in English."),
        ContextMessage::session("git", "branch: main"),
        ContextMessage::conversation_user("remember the staging host"),
        ContextMessage::suffix_system("tail", "Cite lines."),
    ];
    draft.history = vec![
        Message::user("hello"),
        Message::assistant("hi, what is broken?"),
    ];
    draft.steps = vec![
        Message::assistant("looking").with_tool_calls(vec![ToolCall {
            id: "c1".into(),
            name: "read".into(),
            arguments: RawJson::from_text(r#"{"path":"auth.rs"}"#.into()).unwrap(),
        }]),
        Message::tool("c1", "fn login() {}"),
    ];
    draft
}

fn chunks() -> Vec<RankedChunk> {
    let tree = ContextChunk::new(ChunkType::Structure, "workspace", "src/\n  auth.rs");
    let dependencies = ContextChunk::new(ChunkType::Dependency, "Cargo.toml", "axum 0.8")
        .with_priority(ContextPriority::Low);
    let recalled = ContextChunk::new(ChunkType::Fact, "fact/host", "staging runs behind a proxy")
        .with_band(ChunkBand::Volatile);
    let entity = ContextChunk::new(
        ChunkType::Entity,
        "entity/ticket_1",
        "`ticket_1`: Login loop",
    )
    .with_band(ChunkBand::Volatile);
    let auth = file("src/auth.rs", "fn login() {\n    redirect();\n}\n")
        .with_priority(ContextPriority::High);
    [tree, dependencies, recalled, entity, auth]
        .map(RankedChunk::from)
        .into()
}

fn assembled(form: OutputForm) -> Assembly {
    let settings = AssemblySettings::new(form, Tokens(2_000));
    assemble(&draft(), chunks(), &settings, &Quarters, None).unwrap()
}

#[test]
fn x02_flat_output() {
    insta::assert_snapshot!(assembled(OutputForm::Flat).body, @r#"
    [System]
    Tool read: Reads a file.

    Tool search: Searches.

    You review web services.

    Answer in English.

    [Source src/auth.rs]
    ```rs
    fn login() {
        redirect();
    }
    ```

    [Source workspace]
    ```
    src/
      auth.rs
    ```

    [Source Cargo.toml]
    ```toml
    axum 0.8
    ```

    branch: main

    [User]
    remember the staging host

    [User]
    hello

    [Assistant]
    hi, what is broken?

    [System]
    - `ticket_1`: Login loop

    - staging runs behind a proxy

    [Assistant]
    looking
    Called read with {"path":"auth.rs"}

    [Assistant]
    fn login() {}

    [System]
    Cite lines.

    [User]
    why does the redirect loop?
    "#);
}

#[test]
fn p10_pack_output() {
    insta::assert_snapshot!(assembled(OutputForm::Pack).body, @r#"
    You review web services.

    Answer in English.

    Here is the context for your task:

    ## Project Structure
    ```
    src/
      auth.rs
    ```

    ## src/auth.rs
    ```rs
    fn login() {
        redirect();
    }
    ```

    ## Dependencies
    ```toml
    axum 0.8
    ```

    branch: main

    ## Conversation
    - user: remember the staging host
    - user: hello
    - assistant: hi, what is broken?
    - `ticket_1`: Login loop
    - staging runs behind a proxy
    ---
    ## Request
    why does the redirect loop?

    - assistant: looking
      Called read with {"path":"auth.rs"}
    - tool: fn login() {}
    As a debug task, please find the cause before the cure: name the lines above that are at fault and why, then give the smallest change that mends them and a test that fails without it.

    Cite lines.
    "#);
}

#[test]
fn p10_markdown_output() {
    insta::assert_snapshot!(assembled(OutputForm::Markdown).body, @r#"
    You review web services.

    Answer in English.

    ## Project Structure
    ```
    src/
      auth.rs
    ```

    ## src/auth.rs
    ```rs
    fn login() {
        redirect();
    }
    ```

    ## Dependencies
    ```toml
    axum 0.8
    ```

    branch: main

    ## Conversation
    - user: remember the staging host
    - user: hello
    - assistant: hi, what is broken?
    - `ticket_1`: Login loop
    - staging runs behind a proxy
    ---
    ## Request
    why does the redirect loop?

    - assistant: looking
      Called read with {"path":"auth.rs"}
    - tool: fn login() {}
    Cite lines.
    "#);
}

#[test]
fn p10_xml_output() {
    insta::assert_snapshot!(assembled(OutputForm::Xml).body, @r#"
    <system>
    You review web services.
    </system>
    <system>
    Answer in English.
    </system>
    <context>
    <structure>
    src/
      auth.rs
    </structure>
    <file path="src/auth.rs">
    fn login() {
        redirect();
    }
    </file>
    <chunk type="dependency" source="Cargo.toml">
    axum 0.8
    </chunk>
    <message role="system">
    branch: main
    </message>
    </context>
    <conversation>
    <message role="user">
    remember the staging host
    </message>
    <message role="user">
    hello
    </message>
    <message role="assistant">
    hi, what is broken?
    </message>
    </conversation>
    <chunk type="entity" source="entity/ticket_1">
    `ticket_1`: Login loop
    </chunk>
    <chunk type="fact" source="fact/host">
    staging runs behind a proxy
    </chunk>
    <request>
    why does the redirect loop?
    </request>
    <message role="assistant">
    looking
    Called read with {"path":"auth.rs"}
    </message>
    <message role="tool">
    fn login() {}
    </message>
    <instructions>
    As a debug task, please find the cause before the cure: name the lines above that are at fault and why, then give the smallest change that mends them and a test that fails without it.
    </instructions>
    <instructions>
    Cite lines.
    </instructions>
    "#);
}

#[test]
fn a08_node_output() {
    insta::assert_snapshot!(assembled(OutputForm::Node).body, @r#"
    You review web services.

    Answer in English.

    ## src/auth.rs
    ```rs
    fn login() {
        redirect();
    }
    ```

    ## Project Structure
    ```
    src/
      auth.rs
    ```

    ## Dependencies
    ```toml
    axum 0.8
    ```

    branch: main

    ## Entity Context
    - `ticket_1`: Login loop

    ## Conversation History
    - user: remember the staging host
    - user: hello
    - assistant: hi, what is broken?

    ## What Happened (Reasoning Trace)
    - staging runs behind a proxy
    - assistant: looking
      Called read with {"path":"auth.rs"}
    - tool: fn login() {}

    ---
    ## Your Task
    why does the redirect loop?

    Cite lines.
    "#);
}

#[test]
fn t06_anthropic_output() {
    let body: Value = serde_json::from_str(&assembled(OutputForm::Anthropic).body).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&body).unwrap(), @r###"
    {
      "max_tokens": 4096,
      "messages": [
        {
          "content": [
            {
              "text": "remember the staging host",
              "type": "text"
            },
            {
              "text": "hello",
              "type": "text"
            }
          ],
          "role": "user"
        },
        {
          "content": [
            {
              "text": "hi, what is broken?",
              "type": "text"
            }
          ],
          "role": "assistant"
        },
        {
          "content": [
            {
              "text": "- `ticket_1`: Login loop\n- staging runs behind a proxy\n",
              "type": "text"
            },
            {
              "text": "why does the redirect loop?",
              "type": "text"
            }
          ],
          "role": "user"
        },
        {
          "content": [
            {
              "text": "looking",
              "type": "text"
            },
            {
              "id": "c1",
              "input": {
                "path": "auth.rs"
              },
              "name": "read",
              "type": "tool_use"
            }
          ],
          "role": "assistant"
        },
        {
          "content": [
            {
              "content": "fn login() {}",
              "tool_use_id": "c1",
              "type": "tool_result"
            },
            {
              "text": "<system-reminder>Cite lines.</system-reminder>",
              "type": "text"
            }
          ],
          "role": "user"
        }
      ],
      "model": "claude-sonnet-4-5",
      "system": [
        {
          "text": "You review web services.",
          "type": "text"
        },
        {
          "text": "Answer in English.",
          "type": "text"
        },
        {
          "text": "## src/auth.rs\n```rs\nfn login() {\n    redirect();\n}\n```\n\n## Project Structure\n```\nsrc/\n  auth.rs\n```\n\n## Dependencies\n```toml\naxum 0.8\n```\n\n",
          "type": "text"
        },
        {
          "text": "branch: main",
          "type": "text"
        }
      ],
      "tools": [
        {
          "description": "Reads a file.",
          "input_schema": {
            "type": "object"
          },
          "name": "read"
        },
        {
          "description": "Searches.",
          "input_schema": {
            "type": "object"
          },
          "name": "search"
        }
      ]
    }
    "###);
}

#[test]
fn x02_openai_output() {
    let body: Value = serde_json::from_str(&assembled(OutputForm::OpenAi).body).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&body).unwrap(), @r###"
    {
      "messages": [
        {
          "content": "You review web services.",
          "role": "system"
        },
        {
          "content": "Answer in English.",
          "role": "system"
        },
        {
          "content": "## src/auth.rs\n```rs\nfn login() {\n    redirect();\n}\n```\n\n## Project Structure\n```\nsrc/\n  auth.rs\n```\n\n## Dependencies\n```toml\naxum 0.8\n```\n\n",
          "role": "system"
        },
        {
          "content": "branch: main",
          "role": "system"
        },
        {
          "content": "remember the staging host",
          "role": "user"
        },
        {
          "content": "hello",
          "role": "user"
        },
        {
          "content": "hi, what is broken?",
          "role": "assistant"
        },
        {
          "content": "- `ticket_1`: Login loop\n- staging runs behind a proxy\n",
          "role": "system"
        },
        {
          "content": "why does the redirect loop?",
          "role": "user"
        },
        {
          "content": "looking",
          "role": "assistant",
          "tool_calls": [
            {
              "function": {
                "arguments": "{\"path\":\"auth.rs\"}",
                "name": "read"
              },
              "id": "c1",
              "type": "function"
            }
          ]
        },
        {
          "content": "fn login() {}",
          "role": "tool",
          "tool_call_id": "c1"
        },
        {
          "content": "Cite lines.",
          "role": "system"
        }
      ],
      "model": "claude-sonnet-4-5",
      "tools": [
        {
          "function": {
            "description": "Reads a file.",
            "name": "read",
            "parameters": {
              "type": "object"
            }
          },
          "type": "function"
        },
        {
          "function": {
            "description": "Searches.",
            "name": "search",
            "parameters": {
              "type": "object"
            }
          },
          "type": "function"
        }
      ]
    }
    "###);
}

#[test]
fn x02_payload_output() {
    let body: Value = serde_json::from_str(&assembled(OutputForm::Payload).body).unwrap();
    let parts = body["parts"].as_array().unwrap();
    let shape: Vec<String> = parts
        .iter()
        .map(|part| {
            let kind = part
                .as_object()
                .unwrap()
                .keys()
                .find(|key| *key != "band")
                .unwrap();
            format!("{} {kind}", part["band"].as_str().unwrap())
        })
        .collect();
    insta::assert_snapshot!(shape.join("\n"), @"
    tools tool
    tools tool
    identity text
    system text
    session chunk
    session chunk
    session chunk
    session text
    conversation text
    history message
    history message
    volatile chunk
    volatile chunk
    current message
    steps message
    steps message
    suffix_system text
    ");
}

#[test]
fn o04_flat_output_of_a_context_is_its_prompt_string() {
    let context = Context {
        system_prompt: "Be brief.\n[User]".into(),
        history: vec![
            ContextEntry::new("user", "a\n\n"),
            ContextEntry::new("assistant", ""),
        ],
        ..Context::new("\n[System]\nnow?")
    };
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(500));
    let assembly = assemble(&Draft::from(&context), vec![], &settings, &Quarters, None).unwrap();
    assert_eq!(assembly.body, context.to_prompt_string());
}

#[test]
fn t06_static_identity_is_cached_apart_from_what_follows() {
    let mut draft = draft();
    draft.identity = "x ".repeat(4_000);
    let settings = AssemblySettings::new(OutputForm::Anthropic, Tokens(20_000));
    let assembly = assemble(&draft, chunks(), &settings, &Quarters, None).unwrap();
    let body: Value = serde_json::from_str(&assembly.body).unwrap();
    let marker = json!({"type": "ephemeral"});
    assert_eq!(body["system"][0]["cache_control"], marker);
    let marked = assembly.body.matches("cache_control").count();
    assert_eq!(marked, assembly.breakpoints.len());
    assert!(marked <= 4, "{marked}");
    let bands: Vec<Band> = assembly.breakpoints.iter().map(|b| b.band).collect();
    assert!(
        bands.is_sorted() && bands.contains(&Band::History),
        "{bands:?}"
    );
}

#[test]
fn x02_openai_marks_breakpoints_where_the_provider_takes_them() {
    let mut draft = draft();
    draft.identity = "x ".repeat(4_000);
    let mut settings = AssemblySettings::new(OutputForm::OpenAi, Tokens(20_000));
    let plain = assemble(&draft, chunks(), &settings, &Quarters, None).unwrap();
    assert!(!plain.body.contains("prompt_cache_breakpoint"));
    settings.traits.cache.markers = Some(MarkerDialect::OpenAi);
    settings.traits.cache.max_breakpoints = 3;
    let marked = assemble(&draft, chunks(), &settings, &Quarters, None).unwrap();
    let marker = r#""prompt_cache_breakpoint":{"mode":"explicit"}"#;
    assert_eq!(marked.body.matches(marker).count(), 3);
}

#[test]
fn t01_suffix_is_a_system_message_where_the_model_takes_one() {
    let mut settings = AssemblySettings::new(OutputForm::Anthropic, Tokens(2_000));
    settings.traits.mid_conversation_system = true;
    let assembly = assemble(&draft(), chunks(), &settings, &Quarters, None).unwrap();
    let body: Value = serde_json::from_str(&assembly.body).unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["role"], "system");
    assert_eq!(last["content"][0]["text"], "Cite lines.");
}

#[test]
fn x06_blocks_of_a_client_pass_through_untouched() {
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}"#;
    let thinking = r#"{"type":"thinking","thinking":"h\u00e9","signature":"s=="}"#;
    let odd = r#"{"zeta":1.0,"type":"brand_new","alpha":[1e3]}"#;
    let json = format!(r#"{{"role":"assistant","content":[{thinking},{odd}]}}"#);
    let mut draft = Draft::new("and?");
    draft.history = vec![
        serde_json::from_str(&format!(r#"{{"role":"user","content":[{image}]}}"#)).unwrap(),
        serde_json::from_str(&json).unwrap(),
    ];
    let mut settings = AssemblySettings::new(OutputForm::Anthropic, Tokens(10_000));
    let marked = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
    let with_marker = odd.replace("[1e3]}", r#"[1e3],"cache_control":{"type":"ephemeral"}}"#);
    assert!(marked.body.contains(&with_marker), "{}", marked.body);
    settings.traits.cache.max_breakpoints = 0;
    let assembly = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
    for block in [image, thinking, odd] {
        assert!(assembly.body.contains(block), "{}", assembly.body);
    }
    let settings = AssemblySettings::new(OutputForm::OpenAi, Tokens(10_000));
    let openai = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
    assert!(
        openai.body.contains("data:image/png;base64,aGk="),
        "{}",
        openai.body
    );
    assert!(
        !openai.body.contains("signature"),
        "reasoning is for its own provider"
    );
}

#[test]
fn x06_unknown_fields_and_markers_of_a_client_survive() {
    let mut draft = Draft::new("and?");
    let marked = r#"{"type":"text","text":"long","cache_control":{"type":"ephemeral"}}"#;
    draft.history = vec![
        serde_json::from_str(r#"{"role":"user","content":"hi","name":"ann"}"#).unwrap(),
        serde_json::from_str(&format!(r#"{{"role":"user","content":[{marked}]}}"#)).unwrap(),
    ];
    draft.identity = "x ".repeat(4_000);
    let body = |form| {
        let mut settings = AssemblySettings::new(form, Tokens(20_000));
        settings.traits.cache.max_breakpoints = 1;
        assemble(&draft, vec![], &settings, &Quarters, None)
            .unwrap()
            .body
    };
    let openai = body(OutputForm::OpenAi);
    assert!(
        openai.contains(r#""content":"hi","name":"ann""#),
        "{openai}"
    );
    assert!(
        !openai.contains("cache_control"),
        "another provider's marker"
    );
    let anthropic = body(OutputForm::Anthropic);
    assert!(anthropic.contains(marked));
    assert_eq!(
        anthropic.matches("cache_control").count(),
        1,
        "the client's marker was the last"
    );
}

#[test]
fn x03_an_assembly_survives_json() {
    for form in OutputForm::ALL {
        let assembly = assembled(form);
        let json = serde_json::to_string(&assembly).unwrap();
        assert_eq!(serde_json::from_str::<Assembly>(&json).unwrap(), assembly);
    }
}

#[test]
fn p02_the_response_share_stays_free() {
    let budget = crate::budget::TokenBudget::default();
    let settings = AssemblySettings::within(OutputForm::Flat, &budget);
    assert_eq!(settings.budget, Tokens(5_600));
    let many = (0..200)
        .map(|n| file(&format!("{n}.rs"), &"x".repeat(400)).into())
        .collect();
    let assembly = assemble(&draft(), many, &settings, &Quarters, None).unwrap();
    assert!(assembly.tokens <= budget.input());
    let [system, context, request] = assembly.ledger.shares(&budget);
    assert!(system.used < system.allotted && request.used < request.allotted);
    assert!(
        context.used > context.allotted,
        "what the others leave flows to the context"
    );
    let used: Tokens = [system, context, request]
        .map(|share| share.used)
        .into_iter()
        .sum();
    assert!(used >= assembly.tokens, "parts are rounded up");
}

#[test]
fn x02_tools_and_schemas_are_in_one_order_whatever_the_client_sends() {
    let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let one = ToolDefinition::new(
        "a",
        "",
        schema(r#"{"type":"object","properties":{"x":{},"y":{}}}"#),
    );
    let two = ToolDefinition::new(
        "a",
        "",
        schema(r#"{"properties":{"y":{},"x":{}},"type":"object"}"#),
    );
    let other = ToolDefinition::new("b", "", schema("{}"));
    let body = |tools: Vec<ToolDefinition>| {
        let mut draft = Draft::new("x");
        draft.tools = tools;
        let settings = AssemblySettings::new(OutputForm::OpenAi, Tokens(1_000));
        assemble(&draft, vec![], &settings, &Quarters, None)
            .unwrap()
            .body
    };
    assert_eq!(body(vec![one, other.clone()]), body(vec![other, two]));
}

#[test]
fn p02_a_budget_below_the_fixed_parts_names_the_largest_band() {
    let settings = AssemblySettings::new(OutputForm::Pack, Tokens(20));
    let error = assemble(&draft(), chunks(), &settings, &Quarters, None).unwrap_err();
    let AssembleError::FixedOverBudget {
        budget, largest, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((*budget, *largest), (Tokens(20), Band::Current));
    assert!(error.hint().contains("raise the budget"));
}

#[test]
fn x01_critical_chunks_that_do_not_fit_are_named() {
    let critical = ContextChunk::new(ChunkType::File, "big.rs", "x".repeat(4_000))
        .with_priority(ContextPriority::Critical);
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(100));
    let error = assemble(
        &Draft::new("x"),
        vec![critical.into()],
        &settings,
        &Quarters,
        None,
    )
    .unwrap_err();
    let AssembleError::CriticalOverBudget {
        needed, largest, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert!(*needed > Tokens(1_000));
    assert_eq!(largest.as_ref().unwrap().as_str(), "file:big.rs");
    assert!(error.to_string().contains("file:big.rs"));
}

#[test]
fn x01_a_top_hit_that_is_too_large_is_degraded_not_dropped() {
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(100));
    let large = file("big.rs", &"x".repeat(4_000)).with_priority(ContextPriority::High);
    let assembly = assemble(
        &Draft::new("x"),
        vec![large.into()],
        &settings,
        &Quarters,
        None,
    )
    .unwrap();
    assert_eq!(assembly.ledger.entries[0].level, Some(Detail::Outline));
}

#[test]
fn x01_chunks_below_the_floor_stay_out_although_there_is_room() {
    let noise = file("noise.rs", "x").with_relevance(Relevance::from_ppm(9_999));
    let critical = file("must.rs", "x")
        .with_relevance(Relevance::from_ppm(0))
        .with_priority(ContextPriority::Critical);
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(1_000));
    let chunks = vec![noise.into(), critical.into()];
    let assembly = assemble(&Draft::new("x"), chunks, &settings, &Quarters, None).unwrap();
    let [must, noise] = assembly.ledger.entries.as_slice() else {
        panic!("two chunks");
    };
    assert_eq!(must.reason, Reason::Critical);
    assert_eq!(
        noise.reason,
        Reason::BelowFloor {
            floor: Relevance::from_ppm(10_000)
        }
    );
}

#[test]
fn x01_what_is_left_goes_to_handles() {
    let big = ContextChunk::new(ChunkType::File, "big.rs", "x".repeat(4_000)).with_level(
        Level::new(Detail::Handle, "big.rs, 4,000 bytes: ask for it"),
    );
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(100));
    let assembly = assemble(
        &Draft::new("x"),
        vec![big.into()],
        &settings,
        &Quarters,
        None,
    )
    .unwrap();
    assert_eq!(assembly.ledger.entries[0].reason, Reason::Mentioned);
    assert!(assembly.body.contains("- big.rs, 4,000 bytes"));
}

#[test]
fn x03_the_price_of_an_exclusion_lets_it_in() {
    let chunk = |name: &str, bytes: usize| {
        RankedChunk::from(ContextChunk::new(ChunkType::File, name, "x".repeat(bytes)))
    };
    let chunks = || vec![chunk("a.rs", 400), chunk("b.rs", 1_200)];
    let mut settings = AssemblySettings::new(OutputForm::Flat, Tokens(160));
    let assembled = |settings: &AssemblySettings| {
        assemble(&Draft::new("x"), chunks(), settings, &Quarters, None).unwrap()
    };
    let before = assembled(&settings);
    let out = before
        .ledger
        .entries
        .iter()
        .find(|entry| entry.source == "b.rs")
        .unwrap();
    let Reason::NoRoom {
        level: Some(Detail::Full),
        more: Some(more),
    } = out.reason
    else {
        panic!("{:?}", out.reason);
    };
    settings.budget = Tokens(160 + more.0);
    let after = assembled(&settings);
    assert!(
        after
            .ledger
            .entries
            .iter()
            .all(|entry| entry.level == Some(Detail::Full))
    );
    assert_eq!(after.ledger.fit.ratio_ppm, 1_000_000);
    settings.budget = Tokens(160 + more.0 - 1);
    let just_below = assembled(&settings);
    assert!(
        just_below
            .ledger
            .entries
            .iter()
            .any(|entry| entry.level.is_none())
    );
}

#[test]
fn x03_duplicates_and_empty_chunks_have_their_line() {
    let chunks = vec![
        file("a.rs", "same").into(),
        file("a.rs", "same").into(),
        file("a.rs", "other").into(),
        ContextChunk::new(ChunkType::Fact, "fact/none", " ").into(),
    ];
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(1_000));
    let assembly = assemble(&Draft::new("x"), chunks, &settings, &Quarters, None).unwrap();
    let reasons: Vec<Reason> = assembly.ledger.entries.iter().map(|e| e.reason).collect();
    assert_eq!(
        reasons.iter().filter(|r| **r == Reason::Duplicate).count(),
        1
    );
    assert_eq!(reasons.iter().filter(|r| **r == Reason::Empty).count(), 1);
    assert!(assembly.body.contains("same") && assembly.body.contains("other"));
}

#[test]
fn x01_a_critical_chunk_stands_for_its_duplicates() {
    let critical = file("a.rs", "same")
        .with_priority(ContextPriority::Critical)
        .with_relevance(Relevance::from_ppm(0));
    let twin = file("a.rs", "same").with_relevance(Relevance::from_ppm(1));
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(1_000));
    for chunks in [[critical.clone(), twin.clone()], [twin, critical]] {
        let chunks = chunks.map(RankedChunk::from).into();
        let assembly = assemble(&Draft::new("x"), chunks, &settings, &Quarters, None).unwrap();
        assert_eq!(assembly.body.matches("same").count(), 1);
        assert_eq!(assembly.ledger.entries[0].reason, Reason::Critical);
        assert_eq!(assembly.ledger.entries[1].reason, Reason::Duplicate);
    }
}

#[test]
fn x01_a_critical_chunk_without_levels_is_an_error() {
    let mut chunk = file("a.rs", "x").with_priority(ContextPriority::Critical);
    chunk.levels.clear();
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(1_000));
    let error = assemble(
        &Draft::new("x"),
        vec![chunk.into()],
        &settings,
        &Quarters,
        None,
    );
    assert!(
        matches!(error, Err(AssembleError::CriticalWithoutLevels { .. })),
        "{error:?}"
    );
}

#[test]
fn o12_a_form_that_ends_in_a_message_needs_one() {
    for form in OutputForm::ALL {
        let settings = AssemblySettings::new(form, Tokens(1_000));
        let assembled = assemble(&Draft::new(" "), chunks(), &settings, &Quarters, None);
        assert_eq!(assembled.is_ok(), !form.needs_message(), "{form:?}");
    }
}

#[test]
fn x02_what_cannot_be_counted_is_an_estimate_and_everything_else_is_counted() {
    let counted = |block: &str| {
        let mut draft = Draft::new("and?");
        draft.history = vec![
            serde_json::from_str(&format!(r#"{{"role":"user","content":[{block}]}}"#)).unwrap(),
        ];
        let settings = AssemblySettings::new(OutputForm::Anthropic, Tokens(100_000));
        let assembly = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
        (assembly.tokens.0, assembly.estimated.0)
    };
    let long = "word ".repeat(10_000);
    let document = format!(r#"{{"type":"document","source":{{"type":"text","data":"{long}"}}}}"#);
    assert!(counted(&document).0 > 12_500, "a text document is text");
    let call = format!(
        r#"{{"type":"tool_use","id":"t","name":"n","input":{{"data":"{long}","url":"u"}}}}"#
    );
    assert!(counted(&call).0 > 12_500, "arguments are text");
    assert_eq!(counted(&call).1, 4, "one message around it");
    let image = format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}}"#,
        "A".repeat(50_000)
    );
    let (tokens, estimated) = counted(&image);
    assert_eq!(estimated, 1_604);
    assert!(tokens < 1_700, "{tokens}");
}

#[test]
fn x06_nothing_parts_a_tool_result_from_its_call() {
    let call = |id: &str| ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: RawJson::default(),
    };
    let mut draft = Draft::new("x");
    draft.history = vec![
        Message::user("go"),
        Message::assistant("").with_tool_calls(vec![call("c1")]),
    ];
    draft.current = Message::tool("c1", "done");
    let body = |form| -> Value {
        let settings = AssemblySettings::new(form, Tokens(2_000));
        let assembly = assemble(&draft, chunks(), &settings, &Quarters, None).unwrap();
        serde_json::from_str(&assembly.body).unwrap()
    };
    let anthropic = body(OutputForm::Anthropic);
    let last = anthropic["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"][0]["type"], "tool_result");
    assert_eq!(last["content"][1]["type"], "text");
    let openai = body(OutputForm::OpenAi);
    let messages = openai["messages"].as_array().unwrap();
    let call = messages
        .iter()
        .position(|m| m.get("tool_calls").is_some())
        .unwrap();
    assert_eq!(
        messages[call]["tool_calls"][0]["function"]["arguments"],
        "{}"
    );
    assert_eq!(messages[call + 1]["role"], "tool");
}

#[test]
fn x06_an_answer_without_content_is_still_an_answer() {
    let mut draft = Draft::new("x");
    draft.history = vec![Message::tool("c1", crate::content::Content::Null)];
    for (form, expected) in [
        (
            OutputForm::OpenAi,
            r#"{"role":"tool","content":"","tool_call_id":"c1"}"#,
        ),
        (OutputForm::Anthropic, r#""content":"","tool_use_id":"c1""#),
    ] {
        let settings = AssemblySettings::new(form, Tokens(2_000));
        let assembly = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
        assert!(assembly.body.contains(expected), "{}", assembly.body);
    }
}

#[test]
fn x06_what_a_form_cannot_carry_is_a_problem_in_the_ledger() {
    let pdf = r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA=="}}"#;
    let text = r#"{"type":"document","source":{"type":"text","data":"the terms"}}"#;
    let shot = r#"{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"bad"},
        {"type":"image","source":{"type":"url","url":"u.png"}}]}"#;
    let mut draft = Draft::new("x");
    let json = format!(r#"{{"role":"user","content":[{shot},{pdf},{text}]}}"#);
    draft.history = vec![serde_json::from_str(&json).unwrap()];
    let settings = AssemblySettings::new(OutputForm::OpenAi, Tokens(20_000));
    let assembly = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
    assert_eq!(assembly.ledger.problems.len(), 1);
    for kept in ["the terms", "Error: bad", "u.png"] {
        assert!(assembly.body.contains(kept), "{}", assembly.body);
    }
}

#[test]
fn x02_another_picture_is_another_request() {
    let draft = |data: &str| {
        let mut draft = Draft::new("x");
        let json = format!(
            r#"{{"role":"user","content":[{{"type":"image","source":{{"type":"base64","data":"{data}"}}}}]}}"#
        );
        draft.history = vec![serde_json::from_str(&json).unwrap()];
        draft
    };
    let settings = AssemblySettings::new(OutputForm::Anthropic, Tokens(20_000));
    let first = assemble(&draft("AAAA"), vec![], &settings, &Quarters, None).unwrap();
    let other = assemble(
        &draft("BBBB"),
        vec![],
        &settings,
        &Quarters,
        Some(&first.epoch),
    )
    .unwrap();
    assert_eq!(other.reuse.unwrap().shared, 0);
    let same = assemble(
        &draft("AAAA"),
        vec![],
        &settings,
        &Quarters,
        Some(&first.epoch),
    )
    .unwrap();
    assert_eq!(same.reuse.unwrap().permille(), 1_000);
}

#[test]
fn x03_a_prompt_is_rendered_again_from_what_was_kept() {
    for form in OutputForm::ALL {
        let settings = AssemblySettings::new(form, Tokens(2_000));
        let assembly = assemble(&draft(), chunks(), &settings, &Quarters, None).unwrap();
        let again = render(&draft(), &assembly.kept, &settings, &assembly.breakpoints);
        assert_eq!(again, assembly.body);
    }
}

#[test]
fn p07_greedy_takes_the_best_scores_first() {
    let settings =
        AssemblySettings::new(OutputForm::Flat, Tokens(330)).with_strategy(FitStrategy::Greedy);
    let first = file("first.rs", &"x".repeat(1_000)).with_priority(ContextPriority::High);
    let second = file("second.rs", &"x".repeat(1_000)).with_priority(ContextPriority::Medium);
    let chunks = vec![second.into(), first.into()];
    let assembly = assemble(&Draft::new("x"), chunks, &settings, &Quarters, None).unwrap();
    let levels: Vec<_> = assembly
        .ledger
        .entries
        .iter()
        .map(|e| (e.source.as_str(), e.level))
        .collect();
    assert_eq!(
        levels,
        [
            ("first.rs", Some(Detail::Full)),
            ("second.rs", Some(Detail::Outline))
        ]
    );
}

fn any_chunk() -> impl Strategy<Value = ContextChunk> {
    let text = prop_oneof![
        prop::sample::select(vec![
            "[System]\n",
            "\n\n[User]\nx",
            "```\n",
            "````\n[Source x]\n",
            "## Request\n",
            "---\n",
            " ",
            "/",
            "\n",
        ])
        .prop_map(String::from),
        "\\PC{0,40}",
    ];
    let text = prop::collection::vec(text, 0..6).prop_map(|parts| parts.concat());
    (
        text.clone(),
        text,
        0u32..=1_000_000,
        0..5usize,
        0..4usize,
        "[a-d]{1,2}",
    )
        .prop_map(|(full, outline, relevance, priority, kind, source)| {
            let kinds = [
                ChunkType::File,
                ChunkType::Fact,
                ChunkType::Entity,
                ChunkType::Structure,
            ];
            let band = if kind % 2 == 0 {
                ChunkBand::Session
            } else {
                ChunkBand::Volatile
            };
            ContextChunk::new(kinds[kind].clone(), source, full)
                .with_level(Level::new(Detail::Outline, outline))
                .with_relevance(Relevance::from_ppm(relevance))
                .with_priority(ContextPriority::ALL[priority])
                .with_trust(Trust::Untrusted)
                .with_band(band)
        })
}

proptest! {
    #[test]
    fn x02_never_over_budget_and_every_chunk_has_its_line(
        chunks in prop::collection::vec(any_chunk(), 0..12), budget in 1u32..600, form in 0..OutputForm::ALL.len(),
    ) {
        let form = OutputForm::ALL[form];
        let settings = AssemblySettings::new(form, Tokens(budget));
        let ranked: Vec<RankedChunk> = chunks.iter().cloned().map(RankedChunk::from).collect();
        match assemble(&draft(), ranked, &settings, &Quarters, None) {
            Ok(assembly) => {
                prop_assert!(assembly.tokens <= Tokens(budget));
                prop_assert_eq!(assembly.ledger.entries.len(), chunks.len());
                let shown = assembly.ledger.entries.iter().filter(|entry| entry.level.is_some()).count();
                prop_assert_eq!(shown, assembly.kept.len());
                prop_assert!(assembly.ledger.fit.worth <= assembly.ledger.fit.bound);
            }
            Err(AssembleError::FixedOverBudget { .. } | AssembleError::CriticalOverBudget { .. }) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn x02_the_order_of_the_chunks_does_not_matter(
        chunks in prop::collection::vec(any_chunk(), 0..10), turn in 0..10usize, form in 0..OutputForm::ALL.len(),
    ) {
        let settings = AssemblySettings::new(OutputForm::ALL[form], Tokens(400));
        let mut ranked: Vec<RankedChunk> = chunks.into_iter().map(RankedChunk::from).collect();
        // Twins that differ in nothing but what the order does not look at.
        if let Some(first) = ranked.first().cloned() {
            let mut twin = first.clone();
            twin.chunk.band = ChunkBand::Volatile;
            ranked.push(twin);
            let mut twin = first;
            twin.chunk.levels.truncate(1);
            ranked.push(twin);
        }
        let mut shuffled = ranked.clone();
        shuffled.reverse();
        let middle = turn.min(shuffled.len());
        shuffled.rotate_left(middle);
        let one = assemble(&draft(), ranked, &settings, &Quarters, None);
        let other = assemble(&draft(), shuffled, &settings, &Quarters, None);
        prop_assert_eq!(one, other);
    }

    #[test]
    fn o04_no_chunk_can_forge_a_section_of_the_flat_output(
        chunks in prop::collection::vec(any_chunk(), 0..8),
    ) {
        let settings = AssemblySettings::new(OutputForm::Flat, Tokens(4_000));
        let ranked: Vec<RankedChunk> = chunks.into_iter().map(RankedChunk::from).collect();
        let assembly = assemble(&draft(), ranked, &settings, &Quarters, None).unwrap();
        let sections = flat::parse(&assembly.body).unwrap();
        let spoken: Vec<&str> = sections.iter()
            .filter(|section| section.heading != flat::Heading::System)
            .map(|section| section.text.as_str())
            .collect();
        prop_assert_eq!(spoken, [
            "remember the staging host", "hello", "hi, what is broken?",
            "looking\nCalled read with {\"path\":\"auth.rs\"}", "fn login() {}",
            "why does the redirect loop?",
        ]);
    }
}

#[test]
fn baseline_counts() {
    extern crate std;
    for form in OutputForm::ALL {
        let a = assembled(form);
        std::eprintln!("BASE {} {} {}", form.as_str(), a.tokens.0, a.estimated.0);
        let mut d = draft();
        d.tools.clear();
        d.steps.clear();
        let settings = AssemblySettings::new(form, Tokens(2_000));
        let a = assemble(&d, chunks(), &settings, &Quarters, None).unwrap();
        std::eprintln!("PLAIN {} {} {}", form.as_str(), a.tokens.0, a.estimated.0);
    }
}
