//! Project files, layers of them, and what is wrong with some.

use core::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::document::DocumentKind;
use crate::value::Value;
use crate::yaml::Node;

fn read(file: &str, text: &str) -> Config {
    let (config, problems) = Config::read(file, text);
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(lines, [""; 0]);
    config
}

fn problems(text: &str) -> String {
    let (_, problems) = Config::read("kitbag.yaml", text);
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_project_with_everything() {
    let config = read(
        "kitbag.yaml",
        "settings: {layout_default: board, language: de, layouts_dir: layouts, documents_root: docs, chat: {log: true}}\n\
         providers: [{id: p}]\nvars: {company: Acme}\nenv: {allow: [HOME, LANG]}\nskills: {paths: [./skills]}\n\
         layouts:\n  board: |\n    Hi\n  crewx/default: {template: mine}\n\
         documents:\n  guide: {path: guide.md, summary: How, type: markdown, render: true}\n  folder: {path: notes/}\n  \
         inline: |\n    # Text\n  long: {content: body, name: Long one}\n\
         agents:\n  - id: ann\n  - id: bob\n",
    );
    assert!(config.agent("bob").is_some() && config.agent("eve").is_none());
    let ids: Vec<_> = config.layouts.keys().collect();
    assert_eq!(ids, ["board", "crewx/default"]);
    let guide = &config.documents["guide"];
    assert_eq!(guide.source, DocumentSource::Path("guide.md".to_owned()));
    assert_eq!(guide.kind, DocumentKind::Template);
    assert_eq!(guide.summary.as_deref(), Some("How"));
    assert_eq!(
        config.documents["inline"].source,
        DocumentSource::Text("# Text\n".to_owned())
    );
    assert_eq!(config.documents["long"].name.as_deref(), Some("Long one"));
    assert_eq!(config.env_allow.unwrap(), ["HOME", "LANG"]);
    assert_eq!(config.settings.layouts_dirs, ["layouts"]);
    assert_eq!(config.settings.documents_root.as_deref(), Some("docs"));
    assert_eq!(
        serde_json::to_string(&(config.settings.extra, config.extra, config.vars)).unwrap(),
        r#"[{"chat":{"log":true}},{"providers":[{"id":"p"}]},{"company":"Acme"}]"#
    );
}

#[test]
fn an_unknown_layout_is_refused_unless_the_project_says_otherwise() {
    let of = |file: &str, text: &str| read(file, text).settings.on_unknown_layout();
    assert_eq!(of("kitbag.yaml", ""), OnUnknown::Refuse);
    assert_eq!(of("a/crewx.yaml", "agents: []"), OnUnknown::Fallback);
    let refuse = "settings: {unknown_layout: refuse}";
    let fallback = "settings: {unknown_layout: fallback}";
    assert_eq!(of("crewx.yaml", refuse), OnUnknown::Refuse);
    assert_eq!(of("kitbag.yaml", fallback), OnUnknown::Fallback);

    let merged = |user, file, project| {
        let merged = Config::merge(read("user.yaml", user), read(file, project));
        merged.settings.on_unknown_layout()
    };
    assert_eq!(merged(fallback, "kitbag.yaml", ""), OnUnknown::Fallback);
    assert_eq!(merged(fallback, "kitbag.yaml", refuse), OnUnknown::Refuse);
    assert_eq!(merged("", "crewx.yaml", ""), OnUnknown::Fallback);
}

#[test]
fn the_project_counts_more_than_its_user() {
    let user = read(
        "user.yaml",
        "agents: [{id: a, role: r, team: t}, {id: b}]\nvars: {x: 1, deep: {y: 1, z: 1}}\nenv: [HOME]\n\
         settings: {language: de, layouts_dir: mine}\nlayouts: {one: u, two: u}\ndocuments: {d: u, e: u}\n",
    );
    let project = read(
        "kitbag.yaml",
        "agents: [{id: c}, {id: a, role: s}]\nvars: {deep: {y: 2}}\nsettings: {layout_default: one}\n\
         layouts: {two: p}\ndocuments: {e: p}\n",
    );
    let config = Config::merge(user, project);
    let agents: Vec<_> = config
        .agents
        .iter()
        .map(|agent| {
            (
                agent.id.as_str(),
                agent.role.as_deref(),
                agent.team.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        agents,
        [("a", Some("s"), None), ("b", None, None), ("c", None, None)]
    );
    assert_eq!(
        serde_json::to_string(&config.vars).unwrap(),
        r#"{"x":1,"deep":{"y":2,"z":1}}"#
    );
    assert_eq!(config.env_allow.unwrap(), ["HOME"]);
    assert_eq!(config.settings.language.as_deref(), Some("de"));
    assert_eq!(config.settings.layout_default.as_deref(), Some("one"));
    assert_eq!(config.settings.layouts_dirs, ["mine"]);
    let template = |id: &str| config.layouts[id].template(None);
    assert_eq!((template("one"), template("two")), ("u", "p"));
    assert_eq!(
        config.documents["e"].source,
        DocumentSource::Text("p".to_owned())
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    insta::assert_snapshot!(problems("- a"), @"kitbag.yaml:1:1: expected a map, got a list");
    insta::assert_snapshot!(problems("a: ["), @"kitbag.yaml:1:4: unclosed bracket '['");
    insta::assert_snapshot!(
        problems(
            "agent: []\nagents: {}\nvars: []\nenv: {A: b}\nsettings: {unknown_layout: ignore, languag: de}\n\
             documents:\n  a: 1\n  b: {}\n  c: {path: 2}\n  d: {path: x, content: y}\n  e: {path: ' '}\n  f: {content: z, render: yes}\n\
             layouts: {a: ''}\n"
        ),
        @"
    kitbag.yaml:1:8: agent: `agent` is not a known key and has no effect
    kitbag.yaml:2:9: agents: expected a list of agents, got a map
    kitbag.yaml:3:7: vars: expected a map, got a list
    kitbag.yaml:4:6: env: expected a list of names, or a map with such a list under `allow`
    kitbag.yaml:5:28: settings.unknown_layout: expected `refuse` or `fallback`, got ignore
    kitbag.yaml:5:45: settings.languag: `languag` is not a known key and has no effect
    kitbag.yaml:7:6: documents.a: expected a text, or a map with `path` or `content`, got a number
    kitbag.yaml:8:6: documents.b: a document needs a `path` or a `content`
    kitbag.yaml:9:13: documents.c.path: expected a text, got a number
    kitbag.yaml:10:6: documents.d: the content counts, not the path `x`
    kitbag.yaml:11:6: documents.e: the path is empty
    kitbag.yaml:12:27: documents.f.render: expected true or false, got a text
    kitbag.yaml:13:14: layouts.a: the template is empty
    "
    );
}

#[test]
fn a11_a_node_is_defined_or_changed_with_no_code() {
    let config = read(
        "kitbag.yaml",
        "nodes:\n  critic:\n    entity: {generated: full_data}\n    conversation: {depth: 5, also: [pending]}\n    \
         reasoning: {past_steps: outcome, past_turns: 1}\n    additions: [user_expressed]\n  \
         think: {conversation: {recent_turns: 4}}\n  blank:\n",
    );
    let critic = serde_json::to_string(config.node("critic").unwrap()).unwrap();
    assert_eq!(
        critic,
        r#"{"name":"critic","entity":{"active":"hidden","generated":"full_data","retained":"hidden"},"conversation":{"depth":5,"also":["pending"],"recent_turns":2},"reasoning":{"past_steps":"outcome","past_turns":1,"current_steps":"hidden","curation":"hidden","phase":false},"additions":["user_expressed"]}"#
    );
    let builtin = View::builtin("think").unwrap();
    let think = config.node("think").unwrap();
    assert_eq!(think.conversation.recent_turns, 4);
    assert_eq!(
        (think.entity, &think.reasoning),
        (builtin.entity, &builtin.reasoning)
    );
    assert_eq!(config.node("act"), View::builtin("act"));
    assert!(config.node("blank").is_some() && config.node("nobody").is_none());

    let user = read("user.yaml", "nodes: {critic: {}, mine: {}}");
    let merged = Config::merge(user, config.clone());
    assert_eq!(merged.node("critic"), config.node("critic"));
    assert!(merged.node("mine").is_some());
}

#[test]
fn a11_all_problems_of_nodes_are_reported_with_their_lines() {
    let text = "nodes:\n  critic:\n    entity: {active: lables, retired: full}\n    conversation:\n      depth: 3\n      \
                recent_turns: -1\n    reasoning: [steps]\n    phase: true\n  act: all\n  reply:\n    additions: [joy]\n";
    insta::assert_snapshot!(problems(text), @r#"
    kitbag.yaml:3:22: nodes.critic.entity.active: unknown variant `lables`, expected one of `hidden`, `refs`, `labels`, `refs_and_labels`, `record`, `full_data`
    kitbag.yaml:3:39: nodes.critic.entity.retired: unknown field, expected one of active, generated, retained
    kitbag.yaml:5:14: nodes.critic.conversation.depth: unknown conversation depth `3`, expected 0, 2, 5 or full
    kitbag.yaml:6:21: nodes.critic.conversation.recent_turns: `-1` is not a number of turns
    kitbag.yaml:7:16: nodes.critic.reasoning: `["steps"]` is not a map of fields
    kitbag.yaml:8:12: nodes.critic.phase: unknown field, expected one of entity, conversation, reasoning, additions
    kitbag.yaml:9:8: nodes.act: expected a map, got a text
    kitbag.yaml:11:16: nodes.reply.additions: unknown variant `joy`, expected one of `do_not_reread`, `last_turn_line`, `user_expressed`, `previous_step_note`, `content_archive`, `older_steps`, `accomplished`
    "#);
    let (config, _) = Config::read("kitbag.yaml", text);
    assert!(
        ["critic", "act", "reply"]
            .iter()
            .all(|name| config.node(name).is_none())
    );
    insta::assert_snapshot!(problems("nodes: [think]"), @"kitbag.yaml:1:8: nodes: expected a map, got a list");
}

fn yaml_tree() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "agents",
        "layouts",
        "documents",
        "settings",
        "nodes",
        "channels",
        "senders",
        "entity",
        "depth",
        "env",
        "vars",
        "id",
        "inline",
        "layout",
        "props",
        "provider",
        "options",
        "query",
        "template",
        "propsSchema",
        "type",
        "shape",
        "itemType",
        "types",
        "pattern",
        "path",
        "en",
        "allow",
        "capabilities",
        "remote",
        "partials",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-9i64..9).prop_map(|n| Value::Number(n.into())),
        prop::sample::select(vec![
            "", "a", "b c", "string", "shape", "arrayOf", "(", "html"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(Value::map),
        ]
    })
}

proptest! {
    #[test]
    fn any_tree_is_read_and_every_problem_has_its_place(tree in yaml_tree()) {
        // JSON is YAML.
        let text = serde_json::to_string_pretty(&tree).unwrap();
        let node = Node::read("kitbag.yaml", &text).unwrap();
        prop_assert_eq!(node.to_value(), tree);
        let (_, of_config) = Config::read("kitbag.yaml", &text);
        let (_, of_layouts) = Layout::read("layout.yaml", &text);
        for problem in of_config.iter().chain(&of_layouts) {
            prop_assert!(problem.line > 0 && problem.column > 0, "{}", problem);
            prop_assert!(!problem.message.is_empty());
        }
    }
}

#[test]
fn x04_retention_is_read_and_merged() {
    let day = Duration::from_secs(24 * 60 * 60);
    let text = "memory:\n  retention: 1y\n  channels:\n    slack: {retention: 2w}\n";
    let (user, problems) = Config::read("kitbag.yaml", text);
    assert!(problems.is_empty());
    let (project, _) = Config::read("kitbag.yaml", "memory: {retention: 36h}");
    let merged = Config::merge(user, project).memory;
    assert_eq!(merged.retention_of("slack"), Some(14 * day));
    assert_eq!(merged.retention_of("cli"), Some(day + day / 2));
    for wrong in ["soon", "0d", "d", "90", "-1d", "99999999999999999999y"] {
        let text = format!("memory: {{retention: \"{wrong}\"}}");
        let (config, problems) = Config::read("kitbag.yaml", &text);
        assert_eq!(config.memory.retention_of("cli"), None, "{wrong}");
        let told = problems[0].to_string();
        assert!(
            told.contains("memory.retention: ") && told.contains("is not an age"),
            "{told}"
        );
    }
}

#[test]
fn providers_are_read_with_what_is_wrong_by_line() {
    let text = "providers:\n  main:\n    kind: anthropic\n    key: {command: [pass, show, api]}\n    \
                headers: {x-team: blue, x-token: {file: token}}\n    request: {top_k: 5}\n    \
                timeouts: {connect: 500ms, idle: 2m}\n    model: m\n  demo: {kind: script, answers: a.jsonl}\n";
    let config = read("kitbag.yaml", text);
    let main = &config.providers["main"];
    let command = ["pass", "show", "api"].map(String::from).to_vec();
    assert_eq!(main.key, Some(KeySource::Command(command)));
    assert_eq!(main.headers["x-team"], HeaderSource::Text("blue".into()));
    let token = KeySource::File("token".into());
    assert_eq!(main.headers["x-token"], HeaderSource::Secret(token));
    assert_eq!(main.timeouts.connect, Some(Duration::from_millis(500)));
    assert_eq!(main.timeouts.idle, Some(Duration::from_secs(120)));
    assert_eq!(config.providers["demo"].answers.as_deref(), Some("a.jsonl"));

    let wrong = "providers:\n  a: {kind: gemini}\n  b:\n    kind: openai\n    key: sk-hidden\n  c:\n    \
                 kind: openai\n    base_url: https://me:hidden@host/v1\n    timeouts: {idle: soon}\n  d: {kind: script}\n  e: {}\n";
    let (config, problems) = Config::read("kitbag.yaml", wrong);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    kitbag.yaml:2:13: providers.a.kind: expected `anthropic` or `openai` or `responses` or `claude-code` or `script`, got gemini
    kitbag.yaml:5:10: providers.b.key: a key does not belong into a configuration
    kitbag.yaml:8:15: providers.c.base_url: an address with a name or a password in it is not taken
    kitbag.yaml:9:22: providers.c.timeouts.idle: `soon` is not a time such as 30s, 500ms or 2m
    kitbag.yaml:10:6: providers.d: a script needs `answers`, the file that they are in
    kitbag.yaml:11:6: providers.e: a provider needs a `kind`
    ");
    assert!(!format!("{config:?}{problems:?}").contains("hidden"));
    assert_eq!(config.providers.keys().collect::<Vec<_>>(), ["b", "c"]);
}

#[test]
fn o05_a_file_can_only_restrict_the_senders_that_another_admits() {
    let user = "channels: {slack: {senders: [ann, bob]}, sms: {senders: []}}";
    let project = "channels: {slack: {senders: [bob, eve]}, sms: {}, mail: {senders: ann}}";
    let (user, project) = (read("user.yaml", user), read("kitbag.yaml", project));
    for merged in [
        Config::merge(user.clone(), project.clone()),
        Config::merge(project.clone(), user.clone()),
    ] {
        let admitted = |channel, sender| merged.channels.admit(channel, sender);
        assert!(admitted("slack", "bob") && admitted("mail", "ann") && admitted("cli", "eve"));
        for (channel, sender) in [
            ("slack", "ann"),
            ("slack", "eve"),
            ("slack", "Bob"),
            ("slack", ""),
            ("sms", "ann"),
            ("mail", "bob"),
        ] {
            assert!(!admitted(channel, sender), "{sender} on {channel}");
        }
    }
}

#[test]
fn o05_a_slip_in_a_restriction_opens_no_channel() {
    let wrong = "channels:\n  a: {senders: 7}\n  b: {sender: [ann]}\n  c: [ann]\n  d: {senders: }\n  \
                 e: {senders: [ann, 7]}\n  f: {}\n";
    insta::assert_snapshot!(problems(wrong), @"
    kitbag.yaml:2:16: channels.a.senders: expected a text or a list of texts, got a number
    kitbag.yaml:3:15: channels.b.sender: `sender` is not a known key and has no effect
    kitbag.yaml:4:6: channels.c: expected a map, got a list
    kitbag.yaml:5:14: channels.d.senders: expected a text or a list of texts, got nothing
    kitbag.yaml:6:22: channels.e.senders[1]: expected a text, got a number
    ");
    let (config, _) = Config::read("kitbag.yaml", wrong);
    for channel in ["a", "b", "c", "d"] {
        assert!(!config.channels.admit(channel, "ann"), "{channel}");
    }
    assert!(config.channels.admit("e", "ann") && config.channels.admit("f", "ann"));
    for broken in ["channels: [slack]", "channels: {slack: {", "- a list"] {
        let (config, _) = Config::read("kitbag.yaml", broken);
        assert!(!config.channels.admit("cli", "ann"), "{broken}");
        let merged = Config::merge(config, Config::default());
        assert!(merged.channels.is_unknown(), "{broken}");
    }
    assert!(read("kitbag.yaml", "").channels.admit("cli", "ann"));
}

#[test]
fn o07_a_file_that_was_merely_found_only_restricts_memory() {
    let memory = |user: &str, found: &str| {
        let user = read("user.yaml", &format!("memory: {user}"));
        let mut found = read("kitbag.yaml", &format!("memory: {found}"));
        found.found_in_folder(&user);
        Config::merge(user, found).memory
    };
    let loose = "{learning: model, facts: draw, secrets: keep}";
    let strict = "{learning: off, facts: off, secrets: mask}";
    for (user, found) in [
        (strict, loose),
        (loose, strict),
        (strict, "{learning: rules}"),
    ] {
        let merged = memory(user, found);
        assert_eq!(merged.learning, Some(Learning::Off), "{user} {found}");
        assert_eq!(merged.facts, Some(StatedFacts::Off), "{user} {found}");
        assert_eq!(merged.secrets, Some(StoredSecrets::Mask), "{user} {found}");
    }
    assert_eq!(memory("{}", loose).secrets, None);
    assert_eq!(memory(loose, "{}").secrets, Some(StoredSecrets::Keep));
    assert_eq!(
        memory("{}", "{learning: rules}").learning,
        Some(Learning::Rules)
    );
}

#[test]
fn x11_a_file_in_a_folder_only_restricts_hooks() {
    let hooks = |user: &str, found: &str| {
        let user = read("user.yaml", &format!("hooks: {user}"));
        let mut found = read("kitbag.yaml", &format!("hooks: {found}"));
        found.found_in_folder(&user);
        let hooks = Config::merge(user, found).hooks;
        (
            hooks.scope(),
            hooks.budget().0,
            hooks.time_limit().as_millis(),
        )
    };
    let (loose, strict) = (
        "{scope: user, budget: 5k, time_limit: 1m}",
        "{scope: off, budget: 50, time_limit: 10ms}",
    );
    assert_eq!(hooks("{}", "{}"), (HookScope::Project, 800, 2_000));
    assert_eq!(hooks("{}", loose), (HookScope::Project, 800, 2_000));
    assert_eq!(hooks(loose, "{}"), (HookScope::User, 5_000, 60_000));
    assert_eq!(hooks(loose, strict), (HookScope::Off, 50, 10));
    assert_eq!(hooks(strict, loose), (HookScope::Off, 50, 10));
    assert_eq!(
        problems("hooks: {scope: all, budget: none}"),
        "kitbag.yaml:1:16: hooks.scope: expected `project` or `user` or `off`, got all\n\
         kitbag.yaml:1:29: hooks.budget: `none` is not a number of tokens such as 800 or 1k"
    );
}
