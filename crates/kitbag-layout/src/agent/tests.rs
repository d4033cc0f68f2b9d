//! Agents as they are written, and what templates see of them.

use crate::config::{Config, DocumentSource};

use super::*;

fn one(text: &str) -> Agent {
    let indented: String = text.lines().map(|line| format!("    {line}\n")).collect();
    let (config, problems) = Config::read("kitbag.yaml", &format!("agents:\n  -\n{indented}"));
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(lines, [""; 0]);
    config.agents.into_iter().next().unwrap()
}

fn context(text: &str) -> String {
    serde_json::to_string_pretty(&one(text).to_context()).unwrap()
}

#[test]
fn a_whole_agent_is_seen_with_all_its_fields() {
    insta::assert_snapshot!(context(
        "id: ann\nname: Ann\nrole: reviewer\nteam: core\ndescription: Reads code\nprovider: [cli/a, api/b]\n\
         working_directory: ./src\ncapabilities: {read: true, write: false}\nspecialties: rust\n\
         options:\n  query:\n  execute:\n    cli/a: [--fast]\n\
         inline:\n  type: agent\n  model: large\n  prompt: Review.\n  temperature: 0.5\n  apiKey: k1\n\
         \x20 layout: {id: board, props: {token: shown}}\n  documents: [guide]\n\
         remote: {type: http, url: 'https://u:p@host/x?y=@z', agent_id: b, timeoutMs: 5, apiKey: k2, auth: {token: k3}}\n\
         env: {PORT: 80}\nlanguage: de\n"
    ), @r#"
    {
      "id": "ann",
      "name": "Ann",
      "role": "reviewer",
      "team": "core",
      "description": "Reads code",
      "workingDirectory": "./src",
      "capabilities": [
        "read"
      ],
      "specialties": [
        "rust"
      ],
      "provider": "cli/a, api/b",
      "providerList": [
        "cli/a",
        "api/b"
      ],
      "providerRaw": [
        "cli/a",
        "api/b"
      ],
      "inline": {
        "type": "agent",
        "model": "large",
        "prompt": "Review.",
        "temperature": 0.5,
        "layout": {
          "id": "board",
          "props": {
            "token": "shown"
          }
        },
        "documents": [
          "guide"
        ]
      },
      "model": "large",
      "options": {
        "execute": {
          "cli/a": [
            "--fast"
          ]
        }
      },
      "optionsByMode": {
        "execute": {
          "cli/a": [
            "--fast"
          ]
        }
      },
      "remote": {
        "type": "http",
        "url": "https://host/x?y=@z",
        "agentId": "b",
        "timeoutMs": 5
      },
      "documents": [
        "guide"
      ]
    }
    "#);
}

#[test]
fn missing_fields_are_absent() {
    insta::assert_snapshot!(context("id: bob\nprovider: cli/a\noptions: [-v]"), @r#"
    {
      "id": "bob",
      "name": "bob",
      "provider": "cli/a",
      "providerList": [
        "cli/a"
      ],
      "providerRaw": "cli/a",
      "inline": {},
      "options": [
        "-v"
      ],
      "optionsArray": [
        "-v"
      ]
    }
    "#);
    let agent = one("id: bob");
    assert_eq!(serde_json::to_string(&agent.metadata()).unwrap(), "{}");
    let agent = one("id: bob\ndescription: d\ncapabilities: [a]\nspecialties: [b, c]");
    assert_eq!(
        serde_json::to_string(&agent.metadata()).unwrap(),
        r#"{"specialties":["b","c"],"capabilities":["a"],"description":"d"}"#
    );
}

#[test]
fn shorthand_means_the_same_as_inline_and_counts_less() {
    let short = one("id: a\nprompt: p\nlayout: l\nmodel: m\nprovider: x\ndocuments: [d]");
    let long = one("id: a\ninline: {prompt: p, layout: l, model: m, provider: x, documents: [d]}");
    for agent in [&short, &long] {
        assert_eq!(agent.prompt.as_deref(), Some("p"));
        assert_eq!(agent.model.as_deref(), Some("m"));
        assert_eq!(agent.layout.as_ref().map(|l| l.id.as_str()), Some("l"));
        assert_eq!(agent.providers, ["x"]);
        assert_eq!(agent.documents, ["d"]);
    }
    let inline = |agent: &Agent, key| agent.to_context().get("inline")?.get(key).cloned();
    assert_eq!(inline(&short, "model"), inline(&long, "model"));
    assert_eq!(inline(&short, "prompt"), inline(&long, "prompt"));

    let both = one(
        "id: a\nprompt: p\nprovider: x\nlayout: l\ninline: {prompt: q, provider: y, layout: m}",
    );
    assert_eq!(both.prompt.as_deref(), Some("q"));
    assert_eq!(both.layout.unwrap().id, "m");
    assert_eq!(both.providers, ["x"]);
}

#[test]
fn both_spellings_and_both_places_of_the_system_prompt() {
    let agent =
        one("id: a\nsystemPrompt: outer\nworkingDirectory: w\ninline: {system_prompt: inner}");
    assert_eq!(agent.system_prompt.as_deref(), Some("outer"));
    assert_eq!(agent.inline_system_prompt.as_deref(), Some("inner"));
    assert_eq!(agent.working_directory.as_deref(), Some("w"));
    let agent = one("id: a\nsystem_prompt: |\n  outer");
    assert_eq!(agent.system_prompt.as_deref(), Some("outer\n"));
}

#[test]
fn options_are_those_of_the_mode_and_the_first_provider_that_has_some() {
    let agent = one("id: a\nprovider: [p, q]\noptions: {query: [-r], execute: {q: [-w], r: [-x]}}");
    assert_eq!(agent.options_for("query"), ["-r"]);
    assert_eq!(agent.options_for("execute"), ["-w"]);
    assert!(agent.options_for("other").is_empty());
    assert_eq!(one("id: a\noptions: [-v]").options_for("query"), ["-v"]);
}

#[test]
fn an_agent_may_bring_its_own_documents() {
    let agent = one("id: a\ninline: {documents: {notes: text, more: {path: m.md}}}");
    assert_eq!(agent.documents, ["notes", "more"]);
    assert_eq!(
        agent.own_documents["more"].source,
        DocumentSource::Path("m.md".to_owned())
    );
}

#[test]
fn unknown_keys_are_kept() {
    let agent = one("id: a\ntemperature: 1\nmcp: [x]");
    assert_eq!(
        serde_json::to_string(&agent.extra).unwrap(),
        r#"{"temperature":1,"mcp":["x"]}"#
    );
}

#[test]
fn every_problem_is_found_at_once() {
    let text = "agents:\n  - id: a b\n    name: [x]\n  - name: n\n  - text\n  - id: c\n    provider: 5\n    \
                layout: {props: []}\n    roel: x\n    capabilities: {a: 1}\n    options: {query: 3}\n    \
                inline: {layuot: x, prompt: 4}\n    env: [x]\n    remote: r\n  - id: c\n";
    let (config, problems) = Config::read("kitbag.yaml", text);
    assert_eq!(config.agents.len(), 1);
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    kitbag.yaml:2:9: agents[0].id: expected an id without blanks, got `a b`
    kitbag.yaml:3:11: agents[0].name: expected a text, got a list
    kitbag.yaml:4:5: agents[1]: an agent needs an `id`
    kitbag.yaml:5:5: agents[2]: expected a map, got a text
    kitbag.yaml:7:15: agents[3].provider: expected a text or a list of texts, got a number
    kitbag.yaml:8:13: agents[3].layout: a layout with props needs the `id` of the layout
    kitbag.yaml:8:21: agents[3].layout.props: expected a map, got a list
    kitbag.yaml:9:11: agents[3].roel: `roel` is not a known key and has no effect
    kitbag.yaml:10:23: agents[3].capabilities.a: expected true or false, got a number
    kitbag.yaml:11:22: agents[3].options.query: expected a text or a list of texts, got a number
    kitbag.yaml:12:22: agents[3].inline.layuot: `layuot` is not a known key and has no effect
    kitbag.yaml:12:33: agents[3].inline.prompt: expected a text, got a number
    kitbag.yaml:13:10: agents[3].env: expected a map, got a list
    kitbag.yaml:14:13: agents[3].remote: expected a map, got a text
    kitbag.yaml:15:5: agents[4]: the agent `c` of line 6 is there again on 15
    ");
}
