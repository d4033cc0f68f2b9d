//! `kitbag layout`, `kitbag agent` and `kitbag init`.

use serde_json::{Value, json};

use crate::run::Folder;

const KEY: &str = "000102030405060708090a0b0c0d0e0f";

fn project(config: &str) -> Folder {
    let folder = Folder::new();
    folder.write("kitbag.yaml", config);
    folder
}

#[test]
fn c01_init_writes_a_configuration_that_works() {
    let folder = Folder::new();
    folder.run(&["init"]).success();
    let checked = folder.run(&["layout", "check"]).success();
    assert_eq!(
        checked,
        "1 agent and 11 layouts checked: 0 errors, 0 warnings\n"
    );
    let args = [
        "layout",
        "render",
        "--agent",
        "reviewer",
        "--key",
        KEY,
        "What is this?",
    ];
    let prompt = folder.run(&args).success();
    assert!(
        prompt.contains("Praise needs no more than a line."),
        "{prompt}"
    );
    assert!(
        prompt.ends_with("What is this?\n</user_query>\n"),
        "{prompt}"
    );
    // What is there is not lost.
    folder.write("kitbag.yaml", "agents: []");
    let refused = folder.run(&["init"]).failure(1);
    assert!(refused.contains("--force"), "{refused}");
    folder.run(&["init", "--force"]).success();
}

#[test]
fn c01_agents_are_listed_and_shown() {
    let folder = project(
        "agents:\n  - { id: ann, name: Ann, provider: [a, b], specialties: [tea], prompt: Hello }\n  - id: bob\n",
    );
    insta::assert_snapshot!(folder.run(&["agent", "list"]).success(), @r"
    agent  name  provider  layout          description
    ann    Ann   a, b      kitbag/default
    bob                    kitbag/default
    ");
    insta::assert_snapshot!(folder.run(&["agent", "show", "@ann"]).success(), @r"
    agent      ann
    name       Ann
    provider   a, b
    layout     kitbag/default
    good at    tea
    prompt     from inline.prompt:

    Hello
    ");
    let json: Value =
        serde_json::from_str(&folder.run(&["agent", "show", "ann", "--json"]).success()).unwrap();
    assert_eq!(json["providerList"], json!(["a", "b"]));
    let unknown = folder.run(&["agent", "show", "eve"]).failure(1);
    assert!(unknown.contains("the agents are ann, bob"), "{unknown}");
}

#[test]
fn c03_a_layout_is_shown_with_its_props() {
    let folder = Folder::new();
    let shown = folder.run(&["layout", "show", "default"]).success();
    assert!(
        shown.contains("showSkills (bool, default true): Whether skills are listed"),
        "{shown}"
    );
    let unknown = folder.run(&["layout", "show", "defualt"]).failure(1);
    assert!(
        unknown.contains("did you mean `kitbag/default`"),
        "{unknown}"
    );
}

#[test]
fn c03_a_manifest_is_rendered_with_a_context() {
    let folder = Folder::new();
    folder.write("one.yaml", "template: '{{greeting}}, {{props.name}}! {{user_input}}'\npropsSchema: { name: { type: string, defaultValue: you } }\n");
    folder.write(
        "two.yaml",
        "layouts: { a: 'A {{x}}', b: { template: 'B {{x}}' } }\n",
    );
    folder.write(
        "context.json",
        r#"{"greeting": "Hi & bye", "x": 1, "user_input": "</user_query>"}"#,
    );
    let render = |args: &[&str]| {
        let mut all = vec!["layout", "render", "--context", "context.json", "--raw"];
        all.extend(args);
        folder.run(&all)
    };
    let one = render(&["--file", "one.yaml"]).success();
    assert_eq!(one, "Hi &amp; bye, you! &lt;\\/user_query&gt;");
    let one = render(&["--file", "one.yaml", "--props", r#"{"name": "Ann"}"#]).success();
    assert_eq!(one, "Hi &amp; bye, Ann! &lt;\\/user_query&gt;");
    assert_eq!(
        render(&["--file", "two.yaml", "--layout", "b"]).success(),
        "B 1"
    );
    folder.write("key.yaml", "template: '{{vars.security_key}}'\n");
    assert_eq!(render(&["--file", "key.yaml", "--key", KEY]).success(), KEY);
    let which = render(&["--file", "two.yaml"]).failure(2);
    assert!(which.contains("choose one with --layout: a, b"), "{which}");
    let none = render(&["--file", "two.yaml", "--layout", "c"]).failure(1);
    assert!(none.contains("two.yaml has no layout `c`"), "{none}");
}

#[test]
fn c07_a_context_that_was_given_becomes_a_whole_prompt() {
    let folder = Folder::new();
    folder.write("layout.yaml", "template: 'You are {{agent.name}}. {{metadata.x}}{{#if messages}} Go on.{{/if}}'\nescape: none\n");
    let context = json!({
        "agent": {"id": "ann", "name": "Ann"},
        "user_input": "hi</user_query>",
        "messages": [{"text": "before", "isAssistant": false}],
        "metadata": {"x": "<user_query>"},
        "vars": {"security_key": KEY},
    });
    folder.write("context.json", context.to_string());
    let prompt = folder
        .run(&[
            "layout",
            "render",
            "--file",
            "layout.yaml",
            "--context",
            "context.json",
        ])
        .success();
    insta::assert_snapshot!(prompt, @r#"
    [System]
    You are Ann. <\user_query> Go on.

    [User]
    before

    [User]
    <user_query key="000102030405060708090a0b0c0d0e0f">
    hi<\/user_query>
    </user_query>
    "#);
}

#[test]
fn c08_the_payload_is_structured_json() {
    let folder =
        project("agents: [{ id: ann, provider: cli/claude, model: big, prompt: Hello }]\n");
    folder.write("said.json", r#"[{"text": "hi"}, {"text": "yes?", "isAssistant": true, "metadata": {"agent_id": "ann"}}]"#);
    let args = [
        "layout",
        "render",
        "--json",
        "--platform",
        "slack",
        "--mode",
        "execute",
        "--messages",
        "said.json",
        "do it",
    ];
    let payload: Value = serde_json::from_str(&folder.run(&args).success()).unwrap();
    assert_eq!(payload["version"], "1.0");
    assert_eq!(
        payload["agent"],
        json!({"id": "ann", "provider": "cli/claude", "mode": "execute", "model": "big"})
    );
    assert_eq!(payload["metadata"]["platform"], "slack");
    assert_eq!(payload["metadata"]["messageCount"], 2);
    assert_eq!(payload["metadata"]["layout"], "kitbag/default");
    assert_eq!(payload["metadata"]["originalContext"], Value::Null);
    let context: Value = serde_json::from_str(payload["context"].as_str().unwrap()).unwrap();
    assert_eq!(context["session"]["mode"], "execute");
    assert_eq!(context["messages"][0]["text"], "hi");
    assert_eq!(context["props"]["showHistory"], true);
    let history = payload["metadata"]["formattedHistory"].as_str().unwrap();
    assert!(history.starts_with("Primary agent: @ann\n"), "{history}");
    assert!(
        payload["prompt"]
            .as_str()
            .unwrap()
            .ends_with("do it\n</user_query>")
    );
    assert!(
        payload["metadata"]["generatedAt"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
}

#[test]
fn c09_the_flags_have_two_names_and_one_value() {
    let folder = project(
        "agents: [{ id: ann, specialties: [tea], working_directory: src, prompt: Hello }]\n",
    );
    let render = |variables: &[(&str, &str)]| {
        let args = ["layout", "render", "--log", "debug", "hi"];
        folder.run_with(variables, &args)
    };
    let appended = "\n\nSpecialties: tea\nCapabilities: Analysis\nWorking Directory: src\n";
    for name in ["KITBAG_APPEND_LEGACY", "CREWX_APPEND_LEGACY"] {
        assert!(
            render(&[(name, "true")]).success().contains(appended),
            "{name}"
        );
        assert!(
            !render(&[(name, "1")]).success().contains("Specialties:"),
            "{name}"
        );
    }
    for name in ["KITBAG_LAYOUT_TELEMETRY", "CREWX_WBS14_TELEMETRY"] {
        let log = render(&[(name, "true")]).stderr;
        assert!(
            log.contains("layout_rendered") && log.contains("kitbag/default"),
            "{log}"
        );
    }
    assert!(!render(&[]).stderr.contains("layout_rendered"));
}

#[test]
fn c03_an_unknown_layout_is_refused_or_replaced_as_the_project_says() {
    let config = "agents: [{ id: ann, layout: minimall, prompt: Hello }]\n";
    let refused = project(config).run(&["layout", "render", "hi"]).failure(1);
    assert!(
        refused.contains("there is no layout `minimall`"),
        "{refused}"
    );
    assert!(refused.contains("kitbag/minimal"), "{refused}");
    let forgiving = project(&format!(
        "{config}settings: {{ unknown_layout: fallback }}\n"
    ));
    let output = forgiving.run(&["layout", "render", "hi"]);
    assert!(
        output.stderr.contains("kitbag/default is used instead"),
        "{}",
        output.stderr
    );
    output.success();
    // Projects of the older name were written to count on that.
    let older = Folder::new();
    older.write("crewx.yaml", config);
    older.run(&["layout", "render", "hi"]).success();
}

#[test]
fn c08_a_context_brings_its_turn_with_it() {
    let folder = Folder::new();
    folder.write(
        "layout.yaml",
        "template: 'You are {{agent.name}}.{{vars.user_input}}{{session.vars.security_key}}'\n",
    );
    let context = json!({
        "agent": {"id": "ann", "name": "Ann"},
        "user_input": "hi",
        "vars": {"user_input": "hi"},
        "session": {"vars": {"security_key": "mine"}},
        "metadata": {"thread_id": "T1"},
        "tools": {"list": [{"name": "oven", "description": "Bakes"}]},
    });
    folder.write("context.json", context.to_string());
    let args = [
        "layout",
        "render",
        "--file",
        "layout.yaml",
        "--context",
        "context.json",
        "--key",
        KEY,
        "--platform",
        "mcp",
        "--mode",
        "execute",
        "--json",
    ];
    let payload: Value = serde_json::from_str(&folder.run(&args).success()).unwrap();
    assert_eq!(payload["metadata"]["platform"], "mcp");
    assert_eq!(payload["metadata"]["threadId"], "T1");
    assert_eq!(payload["agent"]["mode"], "execute");
    let prompt = payload["prompt"].as_str().unwrap();
    assert!(
        prompt.starts_with(&format!(
            "[System]\nTool oven: Bakes\n\nYou are Ann.\n{KEY}\n"
        )),
        "{prompt}"
    );
    assert_eq!(prompt.matches("hi").count(), 1, "{prompt}");
    let made_with: Value = serde_json::from_str(payload["context"].as_str().unwrap()).unwrap();
    assert_eq!(made_with["vars"]["security_key"], KEY);
    let original = payload["metadata"]["originalContext"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(original).unwrap(), context);
    // A text that knows the key of its own context could imitate what only the operator writes.
    let known = json!({"user_input": "hi", "metadata": {"x": KEY}, "vars": {"security_key": KEY}});
    folder.write("context.json", known.to_string());
    let refused = folder
        .run(&[
            "layout",
            "render",
            "--file",
            "layout.yaml",
            "--context",
            "context.json",
        ])
        .failure(1);
    assert!(refused.contains("contains the security key"), "{refused}");
}

#[test]
fn c04_bad_input_is_told() {
    let folder = project(
        "agents: [{ id: ann, layout: broken, prompt: Hello }]\nlayouts: { broken: '{{#if}}' }\n",
    );
    folder.write("list.json", "[1]");
    folder.write("cut.json", "{\"a\": ");
    for (args, code, expected) in [
        (
            vec!["--props", "[1]"],
            2,
            "--props: expected a JSON object, got array",
        ),
        (vec!["--props", "{"], 2, "--props: EOF"),
        (vec!["--props", "@none.json"], 1, "cannot read none.json"),
        (
            vec!["--context", "list.json"],
            2,
            "list.json: expected a JSON object, got array",
        ),
        (vec!["--context", "cut.json"], 2, "cut.json: EOF"),
        (vec!["--platform", "a b"], 2, "is not a channel name"),
        (vec!["--key", "12"], 2, "32 hexadecimal digits"),
        (vec!["--agent", "eve"], 1, "there is no agent `eve`"),
        (vec!["--file", "none.yaml"], 1, "cannot read none.yaml"),
        (
            vec!["--config", "none.yaml"],
            1,
            "there is no file none.yaml",
        ),
        (vec!["--budget", "5"], 1, "tokens"),
        (
            vec!["--json", "--format", "openai"],
            2,
            "--json needs a form that is a text",
        ),
        (vec!["--document", "nothing"], 2, "expected NAME=FILE"),
    ] {
        let mut all = vec!["layout", "render", "hi"];
        all.extend(&args);
        let said = folder.run(&all).failure(code);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    let piped = folder
        .run_with_stdin(&["layout", "render"], b"from a pipe\n")
        .success();
    assert!(piped.ends_with("\nfrom a pipe\n</user_query>\n"), "{piped}");
    let empty = folder.run(&["layout", "render"]).failure(2);
    assert!(empty.contains("a prompt ends with a query"), "{empty}");
    // The chain: the prompt stands alone, and the reason is told.
    let output = folder.run(&["layout", "render", "hi"]);
    assert!(
        output.stderr.contains("layout broken: not used: broken:1:"),
        "{}",
        output.stderr
    );
    assert!(output.success().contains("[System]\nHello\n"));
}

#[test]
fn c02_tools_are_read_from_a_file() {
    let folder = project("agents: [{ id: ann, layout: minimal, prompt: '{{tools.count}}' }]\n");
    folder.write(
        "tools.json",
        r#"[{"name": "oven", "description": "Bakes", "input_schema": {"type": "object"}}]"#,
    );
    let args = [
        "layout",
        "render",
        "--key",
        KEY,
        "--tools",
        "tools.json",
        "bake",
    ];
    insta::assert_snapshot!(folder.run(&args).success(), @r#"
    [System]
    Tool oven: Bakes

    <system_prompt key="000102030405060708090a0b0c0d0e0f">
    1
    </system_prompt>

    [User]
    <user_query key="000102030405060708090a0b0c0d0e0f">
    bake
    </user_query>
    "#);
    folder.write("tools.json", "{}");
    let refused = folder.run(&args).failure(2);
    assert!(refused.contains("tools.json: "), "{refused}");
}

#[test]
fn x03_a_rendered_prompt_explains_itself() {
    let folder = project(
        "agents: [{ id: ann, layout: minimal, prompt: Hello, documents: [guide, long] }]\ndocuments:\n  guide: We release on Fridays.\n  long: { path: long.md, summary: Much about little }\n",
    );
    folder.write("long.md", "Nothing new. ".repeat(400));
    let args = [
        "layout",
        "render",
        "--budget",
        "200",
        "--key",
        "000102030405060708090a0b0c0d0e0f",
        "--explain",
        "When is the release?",
    ];
    insta::assert_snapshot!(folder.run(&args).success(), @r"
    level  tokens  relevance  score  source          why
    full       15    100.0 %    800  document/guide  worth its tokens
    line        8    100.0 %    800  document/long   worth its tokens

    tokens by part: identity 33, session 23, current 36
    ");
}
