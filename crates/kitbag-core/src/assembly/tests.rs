//! Tests of the assembly: every output as a snapshot, budgets, the ledger, determinism, epochs.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::band::Band;
use crate::chunk::{
    ChunkBand, ChunkType, ContextChunk, ContextPriority, Detail, Level, Relevance, Trust,
};
use crate::content::RawJson;
use crate::context::{Context, ContextEntry};
use crate::envelope::{TaskType, ToolDefinition, ending};
use crate::inject::{ContextMessage, ContextMessageTarget};
use crate::message::{Message, ToolCall};
use crate::role::Role;
use crate::tokens::Quarters;

fn file(source: &str, content: &str) -> ContextChunk {
    ContextChunk::new(ChunkType::File, source, content)
        .with_level(Level::new(Detail::Outline, format!("outline of {source}")))
        .with_level(Level::new(Detail::Line, source))
}

/// The draft for a form. Packs end in what to do with them.
fn draft_for(form: OutputForm) -> Draft {
    let mut draft = draft();
    if matches!(form, OutputForm::Pack | OutputForm::Xml) {
        let ending = ending(Some(TaskType::Debug), "");
        let ending = ContextMessage::suffix_system("ending", ending);
        draft.injected.insert(3, ending);
    }
    draft
}

/// A draft with something in every band.
fn draft() -> Draft {
    let mut draft = Draft::new("why does the redirect loop?");
    draft.model = Some("claude-sonnet-4-5".into());
    draft.identity = "You review web services.".into();
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
    assemble(&draft_for(form), chunks(), &settings, &Quarters, None).unwrap()
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

    [User]
    Tool result: fn login() {}

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

/// The blocks, one a line.
fn shape(blocks: &[Block]) -> String {
    let line = |block: &Block| {
        let said = match &block.body {
            BlockBody::Tool(tool) => format!("tool {}", tool.name),
            BlockBody::Text { role, text } => format!("{role} says {text:?}"),
            BlockBody::Message(message) => {
                let (text, calls) = (message.content.text(), message.calls().len());
                format!("message by {}, {calls} calls: {text:?}", message.role)
            }
            BlockBody::Chunk { source, level, .. } => format!("chunk {source}, {}", level.as_str()),
        };
        format!("{}: {said}", block.band.as_str())
    };
    blocks.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn x02_a_request_is_blocks_by_band() {
    insta::assert_snapshot!(shape(&assembled(OutputForm::OpenAi).blocks), @r###"
    tools: tool read
    tools: tool search
    identity: system says "You review web services."
    system: system says "Answer in English."
    session: chunk src/auth.rs, full
    session: chunk workspace, full
    session: chunk Cargo.toml, full
    session: system says "branch: main"
    conversation: user says "remember the staging host"
    history: message by user, 0 calls: "hello"
    history: message by assistant, 0 calls: "hi, what is broken?"
    volatile: chunk entity/ticket_1, full
    volatile: chunk fact/host, full
    current: message by user, 0 calls: "why does the redirect loop?"
    steps: message by assistant, 1 calls: "looking"
    steps: message by tool, 0 calls: "fn login() {}"
    suffix_system: system says "Cite lines."
    "###);
    insta::assert_snapshot!(shape(&assembled(OutputForm::Anthropic).blocks), @r###"
    tools: tool read
    tools: tool search
    identity: system says "You review web services."
    system: system says "Answer in English."
    session: chunk src/auth.rs, full
    session: chunk workspace, full
    session: chunk Cargo.toml, full
    session: system says "branch: main"
    conversation: user says "remember the staging host"
    history: message by user, 0 calls: "hello"
    history: message by assistant, 0 calls: "hi, what is broken?"
    volatile: chunk entity/ticket_1, full
    volatile: chunk fact/host, full
    current: message by user, 0 calls: "why does the redirect loop?"
    steps: message by assistant, 1 calls: "looking"
    steps: message by tool, 0 calls: "fn login() {}"
    suffix_system: user says "<system-reminder>Cite lines.</system-reminder>"
    "###);
    let plain = shape(&assembled(OutputForm::OpenAi).blocks);
    for form in [OutputForm::Responses, OutputForm::Payload] {
        assert_eq!(shape(&assembled(form).blocks), plain);
    }
}

#[test]
fn x02_counts_are_those_of_earlier_versions() {
    let plain = |form| {
        let mut plain = draft_for(form);
        plain.tools.clear();
        plain.steps.clear();
        plain
    };
    for (form, expected) in [
        (OutputForm::Pack, [178, 157]),
        (OutputForm::Markdown, [122, 102]),
        (OutputForm::Xml, [275, 242]),
        (OutputForm::Node, [139, 119]),
        (OutputForm::Anthropic, [192, 108]),
        (OutputForm::Payload, [144, 90]),
    ] {
        let settings = AssemblySettings::new(form, Tokens(2_000));
        let counted = [draft_for(form), plain(form)].map(|draft| {
            let assembly = assemble(&draft, chunks(), &settings, &Quarters, None);
            assembly.unwrap().tokens.0
        });
        assert_eq!(counted, expected, "{form:?}");
    }
    // Tools, calls and results count as for any other provider, the rest as before.
    let settings = AssemblySettings::new(OutputForm::OpenAi, Tokens(2_000));
    let openai = assemble(
        &plain(OutputForm::OpenAi),
        chunks(),
        &settings,
        &Quarters,
        None,
    )
    .unwrap();
    assert_eq!((openai.tokens.0, openai.estimated.0), (130, 43));
}

#[test]
fn t09_the_role_of_a_context_message_is_honoured_in_every_form() {
    let targets = [
        ContextMessageTarget::System,
        ContextMessageTarget::Session,
        ContextMessageTarget::Conversation,
        ContextMessageTarget::SuffixSystem,
    ];
    for target in targets {
        for role in [Role::User, Role::Assistant] {
            let mut draft = Draft::new("and now?");
            let said = ContextMessage::system("k", "noted").with_role(role);
            draft.injected = vec![said.with_target(target)];
            for form in OutputForm::ALL {
                let settings = AssemblySettings::new(form, Tokens(2_000));
                let assembly = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
                let (spoken, heading) = match role {
                    Role::User => ("user", "[User]\nnoted"),
                    _ => ("assistant", "[Assistant]\nnoted"),
                };
                let expected = match form {
                    OutputForm::Flat => heading.into(),
                    OutputForm::Xml => format!("<message role=\"{spoken}\">\nnoted"),
                    OutputForm::Pack | OutputForm::Markdown | OutputForm::Node => {
                        format!("- {spoken}: noted")
                    }
                    _ => format!("{spoken} says \"noted\""),
                };
                let shown = assembly.body.clone() + &shape(&assembly.blocks);
                assert!(shown.contains(&expected), "{form:?} {target:?}: {shown}");
            }
        }
    }
}

#[test]
fn c12_the_name_of_a_speaker_is_carried_in_every_form() {
    let picture = r#"{"role":"user","name":"Bo","content":[{"type":"image","source":{"type":"url","url":"u"}}]}"#;
    let mut draft = Draft::new("and now?");
    draft.history = vec![
        Message::user("hello").with_name("Ann Lee"),
        serde_json::from_str(picture).unwrap(),
    ];
    for form in OutputForm::ALL {
        let settings = AssemblySettings::new(form, Tokens(4_000));
        let assembly = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
        let blocks = serde_json::to_string(&assembly.blocks).unwrap();
        let shown = assembly.body.clone() + &blocks;
        let (ann, bo) = match form {
            OutputForm::Payload => ("\"name\":\"Ann Lee\"", "\"name\":\"Bo\""),
            OutputForm::OpenAi => ("Ann Lee: hello", "\"name\":\"Bo\""),
            OutputForm::Anthropic | OutputForm::Responses => ("Ann Lee: hello", "\"Bo:\""),
            _ => ("Ann Lee: hello", "Bo: (image)"),
        };
        assert!(
            shown.contains(ann) && shown.contains(bo),
            "{form:?}: {shown}"
        );
    }
}

#[test]
fn o13_tool_and_system_messages_are_never_the_models_words() {
    let mut draft = Draft::new("and now?");
    draft.history = vec![
        Message::new(Role::System, "Be kind."),
        Message::tool("c1", "42 degrees").with_name("weather"),
    ];
    for form in OutputForm::ALL {
        let settings = AssemblySettings::new(form, Tokens(4_000));
        let assembly = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
        let shown = assembly.body.clone() + &shape(&assembly.blocks);
        assert!(
            !shown.to_lowercase().contains("assistant"),
            "{form:?}: {shown}"
        );
        let expected: [&str; 2] = match form {
            OutputForm::Flat => [
                "[System]\nBe kind.",
                "[User]\nTool result: weather: 42 degrees",
            ],
            OutputForm::Xml => ["role=\"system\"", "role=\"tool\""],
            OutputForm::Pack | OutputForm::Markdown | OutputForm::Node => {
                ["- system: Be kind.", "- tool: weather: 42 degrees"]
            }
            OutputForm::Anthropic => [
                "by user, 0 calls: \"<system-reminder>Be kind.</system-reminder>\"",
                "by tool, 0 calls: \"42 degrees\"",
            ],
            _ => [
                "by system, 0 calls: \"Be kind.\"",
                "by tool, 0 calls: \"42 degrees\"",
            ],
        };
        for expected in expected {
            assert!(shown.contains(expected), "{form:?}: {shown}");
        }
    }
}

#[test]
fn x06_reasoning_is_carried_to_its_own_provider_only() {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"s=="}"#;
    let reasoning = r#"{"type":"reasoning","id":"r1","encrypted_content":"e"}"#;
    let mut draft = Draft::new("and now?");
    let json = format!(r#"{{"role":"assistant","content":[{thinking},{reasoning}]}}"#);
    draft.history = vec![serde_json::from_str(&json).unwrap()];
    for (form, expected) in [
        (OutputForm::Anthropic, [true, false]),
        (OutputForm::OpenAi, [false, false]),
        (OutputForm::Responses, [false, true]),
    ] {
        let settings = AssemblySettings::new(form, Tokens(4_000));
        let assembly = assemble(&draft, vec![], &settings, &Quarters, None).unwrap();
        let blocks = serde_json::to_string(&assembly.blocks).unwrap();
        let carried = [thinking, reasoning].map(|block| blocks.contains(block));
        assert_eq!(carried, expected, "{form:?}");
    }
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
fn p02_the_response_share_stays_free() {
    let budget = crate::budget::TokenBudget::default();
    let settings = AssemblySettings::new(OutputForm::Flat, budget.input());
    assert_eq!(settings.budget, Tokens(5_600));
    let many = (0..200)
        .map(|n| file(&format!("{n}.rs"), &"x".repeat(400)).into())
        .collect();
    let assembly = assemble(&draft(), many, &settings, &Quarters, None).unwrap();
    assert!(assembly.tokens <= budget.input());
    let used = |is_in: fn(Band) -> bool| -> Tokens {
        let bands = assembly.ledger.bands.iter();
        let bands = bands.filter(|used| is_in(used.band));
        bands.map(|used| used.tokens).sum()
    };
    let is_system = |band| {
        use Band::{Identity, SuffixSystem, System, Tools};
        matches!(band, Tools | Identity | System | SuffixSystem)
    };
    let is_request = |band| band == Band::Current;
    let is_context = |band| {
        use Band::{Conversation, History, Session, Steps, Volatile};
        matches!(band, Session | Conversation | History | Volatile | Steps)
    };
    assert!(used(is_system) < budget.system() && used(is_request) < budget.request());
    assert!(
        used(is_context) > budget.context(),
        "what the others leave flows to the context"
    );
    assert!(used(|_| true) >= assembly.tokens, "parts are rounded up");
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
            .blocks
    };
    assert_eq!(body(vec![one, other.clone()]), body(vec![other, two]));
}

#[test]
fn p02_a_budget_below_the_fixed_parts_names_the_largest_band() {
    let settings = AssemblySettings::new(OutputForm::Pack, Tokens(20));
    let draft = draft_for(OutputForm::Pack);
    let error = assemble(&draft, chunks(), &settings, &Quarters, None).unwrap_err();
    let AssembleError::FixedOverBudget {
        budget, largest, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((*budget, *largest), (Tokens(20), Band::SuffixSystem));
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
        let again = render(&draft(), &assembly.kept, &settings);
        assert_eq!(again.body, assembly.body);
        assert_eq!(again.blocks, assembly.blocks);
        assert_eq!(again.blocks.is_empty(), form.is_text());
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
        0..3usize,
        "[a-d]{1,2}",
    )
        .prop_map(
            |(full, outline, relevance, priority, kind, trust, source)| {
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
                    .with_trust([Trust::Untrusted, Trust::Remembered, Trust::User][trust])
                    .with_band(band)
            },
        )
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
        let context = Context::from_prompt_string(&assembly.body).unwrap();
        let history = context.history.iter().map(|entry| &entry.content);
        let spoken: Vec<&String> = history.chain([&context.current_message]).collect();
        prop_assert_eq!(spoken, [
            "remember the staging host", "hello", "hi, what is broken?",
            "looking\nCalled read with {\"path\":\"auth.rs\"}", "Tool result: fn login() {}",
            "why does the redirect loop?",
        ]);
    }
}
