//! Reading a project: configuration, layouts and documents, and everything that is wrong with them.

use kitbag::core::assembly::OutputForm;
use kitbag::core::tokens::Tokens;
use kitbag::layout::{ChannelTurn, FileProblem, PastMessage};
use kitbag::project::{Project, ProjectPlaces};

use super::{Fixture, flat, make, request, within};

fn messages(problems: &[FileProblem]) -> Vec<String> {
    problems.iter().map(FileProblem::to_string).collect()
}

#[test]
fn c06_the_chain_has_five_steps() {
    let agent = |fields: &str| format!("agents:\n  - id: ann\n    layout: none\n{fields}");
    let layouts = "layouts:\n  none: '{{#if}}'\n";
    for (fields, expected) in [
        (
            "    inline: { prompt: one, system_prompt: two }\n    systemPrompt: three\n    description: four\n",
            "one",
        ),
        (
            "    inline: { prompt: '', system_prompt: two }\n    systemPrompt: three\n    description: four\n",
            "two",
        ),
        ("    systemPrompt: three\n    description: four\n", "three"),
        ("    description: four\n", "four"),
        ("", "You are an expert ann."),
    ] {
        let config = agent(fields) + layouts;
        let fixture = Fixture::new(&[("kitbag.yaml", &config)]);
        let made = flat(&fixture.project(), "ann", &ChannelTurn::new("hi"));
        assert_eq!(made.system.text, expected);
        let reason = made.system.problems[0].to_string();
        assert!(reason.starts_with("layout none: not used: "), "{reason}");
    }
}

#[test]
fn c05_documents_are_included_in_fallback_prompts_too() {
    let fixture = Fixture::new(&[
        (
            "kitbag.yaml",
            "
agents:
  - id: ann
    layout: broken
    prompt: 'Rules: {{{documents.house-rules.content}}}, {{documents.guide.toc}}, {{documents.guide.summary}}'
layouts: { broken: '{{nothing 1}}' }
documents:
  house-rules: be kind
  guide: { path: docs/guide.md, summary: How we work }
",
        ),
        ("docs/guide.md", "# Guide\n\nText.\n"),
    ]);
    let made = flat(&fixture.project(), "ann", &ChannelTurn::new("hi"));
    assert_eq!(made.system.text, "Rules: be kind, - Guide, How we work");
}

#[test]
fn c05_a_document_that_includes_itself_is_told() {
    let fixture = Fixture::new(&[(
        "kitbag.yaml",
        "
agents: [{ id: ann, prompt: 'See {{documents.a.content}}' }]
documents:
  a: { content: '{{documents.b.content}}', render: true }
  b: { content: '{{documents.a.content}}', render: true }
",
    )]);
    let project = fixture.project();
    let problems = messages(&project.check());
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("document `a` includes itself: a → b → a")),
        "{problems:#?}"
    );
}

#[test]
fn c05_the_manual_is_built_in() {
    let fixture = Fixture::new(&[(
        "kitbag.yaml",
        "agents: [{ id: ann, layout: kitbag/minimal, prompt: '{{documents.kitbag_manual.toc}}' }]\n",
    )]);
    let made = flat(&fixture.project(), "ann", &ChannelTurn::new("hi"));
    assert!(
        made.system.text.contains("- Agents, layouts and documents"),
        "{}",
        made.system.text
    );
    assert!(made.system.problems.is_empty());
}

#[test]
fn c05_documents_that_include_each_other_for_ever_are_refused() {
    let mut config =
        String::from("agents: [{ id: ann, prompt: '{{documents.d0.content}}' }]\ndocuments:\n");
    for number in 0..5_000 {
        let next = number + 1;
        config += &format!(
            "  d{number}: {{ content: '{{{{documents.d{next}.content}}}}', render: true }}\n"
        );
    }
    let fixture = Fixture::new(&[("kitbag.yaml", &config)]);
    let made = flat(&fixture.project(), "ann", &ChannelTurn::new("hi"));
    let note = made.system.problems[0].to_string();
    assert!(
        note.contains("is included over more than 32 others"),
        "{note}"
    );
}

#[test]
fn c05_documents_that_are_templates_are_rendered_once() {
    let fixture = Fixture::new(&[(
        "kitbag.yaml",
        "
agents: [{ id: ann, name: Ann, prompt: '{{documents.a.content}}' }]
documents:
  a: { content: '{{agent.name}}: {{documents.b.content}}', render: true }
  b: 'plain {{agent.name}}'
",
    )]);
    let made = flat(&fixture.project(), "ann", &ChannelTurn::new("hi"));
    assert!(
        made.system.text.contains("Ann: plain {{agent.name}}"),
        "{}",
        made.system.text
    );
}

#[test]
fn c01_every_problem_is_told_with_its_place() {
    let fixture = Fixture::new(&[
        (
            "kitbag.yaml",
            "\
agents:
  - id: ann
    role: 7
    layout: defualt
  - id: bob
    layout: { id: toned, props: { tone: loud } }
    documents: [missing]
documents:
  out: { path: ../secret.md }
  gone: { path: gone.md }
layouts:
  toned:
    strict: true
    propsSchema: { tone: { type: string, oneOf: [dry] }, x: { type: colour } }
    template: '{{#if a}}'
",
        ),
        (
            ".kitbag/layouts/bad.yaml",
            "template: |\n  fine\n  {{> nowhere}}\n",
        ),
    ]);
    let problems = messages(&fixture.project().check());
    insta::assert_snapshot!(problems.join("\n"), @r"
    kitbag.yaml:3:11: agents[0].role: expected a text, got a number
    kitbag.yaml:14:69: layouts.toned.propsSchema.x.type: `colour` is not a type of props
    .kitbag/layouts/bad.yaml:2: crewx/bad (default): there is no partial `nowhere`
    kitbag.yaml:15: toned (default): found the end where `{{/if}}` was expected
    kitbag.yaml:9: documents.out: `../secret.md` leads out of the documents' root: `..` is not allowed
    kitbag.yaml:10: documents.gone: cannot read `gone.md`: No such file or directory (os error 2)
    kitbag.yaml:4: agents.ann.layout: there is no layout `defualt`
    kitbag.yaml:5: agents.bob.documents: there is no document `missing`
    kitbag.yaml:5: agents.bob: layout toned: not used: toned:1:10: found the end where `{{/if}}` was expected
    ");
}

#[test]
fn c01_the_project_stands_over_the_user() {
    let fixture = Fixture::new(&[
        ("kitbag.yaml", "agents: [{ id: ann, prompt: project }]\n"),
        (
            "home/kitbag.yaml",
            "agents: [{ id: ann, prompt: user }, { id: bob, prompt: user }]\nlayouts: { mine: 'x' }\n",
        ),
        ("sub/folder/file", ""),
    ]);
    let places = ProjectPlaces::new(fixture.folder.path().join("sub/folder"))
        .with_user_config(Some(fixture.folder.path().join("home/kitbag.yaml")));
    let project = Project::open(&places);
    assert_eq!(messages(&project.problems), [""; 0]);
    let prompt = |id| project.config.agent(id).unwrap().prompt.as_deref();
    assert_eq!(
        (prompt("ann"), prompt("bob")),
        (Some("project"), Some("user"))
    );
    assert!(project.layout(None, Some("mine")).is_ok());
}

#[test]
fn c11_the_environment_is_seen_by_permission_only() {
    let fixture = Fixture::new(&[(
        "kitbag.yaml",
        "agents: [{ id: ann, prompt: '{{env.SHOWN}}|{{env.HIDDEN}}' }]\nenv: { allow: [SHOWN] }\n",
    )]);
    let project = fixture.project();
    let made = flat(&project, "ann", &ChannelTurn::new("hi"));
    assert!(
        made.system.text.contains("value of SHOWN|\n"),
        "{}",
        made.system.text
    );
}

#[test]
fn x01_documents_and_old_messages_give_way_to_a_budget() {
    let long = "## Part\n\nA sentence that says nothing new. ".repeat(200);
    let fixture = Fixture::new(&[
        (
            "kitbag.yaml",
            "agents: [{ id: ann, layout: kitbag/minimal, prompt: Be brief., documents: [guide] }]\ndocuments: { guide: { path: guide.md, summary: About parts } }\n",
        ),
        ("guide.md", &long),
    ]);
    let project = fixture.project();
    let mut turn = ChannelTurn::new("And now?");
    turn.messages = (0..60)
        .map(|number| match number % 2 {
            0 => PastMessage::user(format!(
                "Question {number}? We decided on plan {number}. Some more words follow here."
            )),
            _ => PastMessage::assistant(format!(
                "Answer {number}. It takes {number} days. And so on, and so forth."
            )),
        })
        .collect();
    let made = within(&project, "ann", &turn, Tokens(3_000));
    let prompt = &made.assembly.body;
    assert!(prompt.chars().count() <= 3_000);
    assert!(prompt.contains("Answer 59."), "{prompt}");
    assert!(!prompt.contains(&long), "{prompt}");
    assert!(
        made.assembly
            .ledger
            .entries
            .iter()
            .any(|entry| entry.source == "document/guide")
    );
    assert!(
        made.assembly
            .ledger
            .entries
            .iter()
            .any(|entry| entry.source == "history/earlier")
    );
}

#[test]
fn c03_a_prop_that_nobody_knows_is_told_and_costs_nothing() {
    let fixture = Fixture::new(&[(
        "crewx.yaml",
        "agents: [{ id: ann, prompt: Hello, layout: { id: crewx/default, props: { showManual: false } } }]\n",
    )]);
    let project = fixture.project();
    let made = flat(&project, "ann", &ChannelTurn::new("hi"));
    assert!(
        made.system.text.starts_with("<system_prompt key="),
        "{}",
        made.system.text
    );
    assert_eq!(
        made.system.problems[0].to_string(),
        "layout kitbag/default: props.showManual: Unknown prop 'showManual'"
    );
    assert!(!project.check().iter().any(FileProblem::is_error));
}

#[test]
fn c03_every_prop_that_is_wrong_is_told() {
    let fixture = Fixture::new(&[(
        "kitbag.yaml",
        "
agents: [{ id: ann, layout: { id: mine, props: { a: 1, b: 1, c: kept } } }]
layouts:
  mine:
    propsSchema: { a: { type: string, default: x }, b: { type: string }, c: { type: string } }
    template: '{{props.a}} {{props.b}} {{props.c}}'
",
    )]);
    let made = flat(&fixture.project(), "ann", &ChannelTurn::new("hi"));
    assert_eq!(made.system.text, "x  kept");
    let problems = made.system.problems.iter();
    let problems: Vec<String> = problems.map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "layout mine: props.a: Expected string, got number",
            "layout mine: props.b: Expected string, got number",
        ]
    );
}

#[test]
fn c03_a_projects_own_default_is_the_default() {
    let layouts = "layouts: { crewx/default: 'MINE {{{agent.inline.prompt}}}' }\n";
    for choice in ["", ", layout: default", ", layout: crewx/default"] {
        let config = format!("agents: [{{ id: ann, prompt: Hello{choice} }}]\n{layouts}");
        let fixture = Fixture::new(&[("crewx.yaml", &config)]);
        let made = flat(&fixture.project(), "ann", &ChannelTurn::new("hi"));
        assert_eq!(made.system.text, "MINE Hello");
    }
}

#[test]
fn c05_a_document_that_is_asked_for_may_be_missing() {
    let config = |prompt: &str| format!("agents: [{{ id: ann, prompt: '{prompt}' }}]\n");
    let guarded = config("{{#if documents.a.content}}{{{documents.a.content}}}{{/if}}");
    let fixture = Fixture::new(&[("kitbag.yaml", &guarded)]);
    assert_eq!(messages(&fixture.project().check()), [""; 0]);
    let fixture = Fixture::new(&[("kitbag.yaml", &config("{{{documents.a.content}}}"))]);
    let problems = messages(&fixture.project().check());
    assert!(
        problems[0].ends_with("document `a` is not known"),
        "{problems:?}"
    );
    // One that cannot be read is told once.
    let unreadable = config("{{{documents.a.content}}}") + "documents: { a: { path: gone.md } }\n";
    let fixture = Fixture::new(&[("kitbag.yaml", &unreadable)]);
    assert_eq!(fixture.project().check().len(), 1);
}

#[test]
fn c01_a_malformed_layout_is_an_error_for_that_agent_and_no_other() {
    let fixture = Fixture::new(&[(
        "kitbag.yaml",
        "agents:\n  - { id: ann, layout: [1], prompt: Hello }\n  - { id: bob, prompt: Hello }\n  - { id: eve, layout: { id: minimal, props: 7 }, prompt: Hello }\n",
    )]);
    let project = fixture.project();
    let problems = messages(&project.check());
    insta::assert_snapshot!(problems.join("\n"), @r"
    kitbag.yaml:2:24: agents[0].layout: expected the id of a layout, or a map with `id` and `props`, got a list
    kitbag.yaml:4:46: agents[2].layout.props: expected a map, got a number
    ");
    let refused = |id| {
        let request = request(id, &ChannelTurn::new("hi"));
        let made = make(&project, &request, OutputForm::Flat, Tokens(10_000));
        made.map(|_| ()).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused("ann"), @"kitbag.yaml:2:24: agents[0].layout: expected the id of a layout, or a map with `id` and `props`, got a list");
    assert!(
        refused("eve").starts_with("kitbag.yaml:4:"),
        "{}",
        refused("eve")
    );
    let bob = flat(&project, "bob", &ChannelTurn::new("hi"));
    assert!(bob.assembly.body.contains("Hello"));
}
