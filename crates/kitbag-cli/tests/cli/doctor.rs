//! `kitbag doctor`: what works, what does not, and where settings came from.

use serde_json::Value;

use crate::run::{Folder, Output};

const KEY: &str = "sk-ant-0123456789abcdef";

fn doctor(folder: &Folder, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let home = folder.path().join("home");
    let home = home.to_str().unwrap();
    let mut all = vec![
        ("HOME", home),
        ("XDG_DATA_HOME", home),
        ("XDG_CACHE_HOME", home),
        ("ANTHROPIC_API_KEY", ""),
        ("OPENAI_API_KEY", ""),
        ("KITBAG_CACHE_DIR", ""),
    ];
    all.extend_from_slice(variables);
    folder.run_with(&all, &[&["doctor"], args].concat())
}

/// The findings about one thing: how it is, and what is told.
fn told(json: &Value, topic: &str) -> Vec<(String, String)> {
    let findings = json["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["topic"] == topic)
        .map(|finding| {
            let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
            (
                text("state"),
                format!("{}; {}", text("told"), text("advice")),
            )
        })
        .collect()
}

fn origin<'a>(json: &'a Value, setting: &str) -> (&'a str, &'a str) {
    let mut settings = json["settings"].as_array().unwrap().iter();
    let found = settings.find(|one| one["name"] == setting).unwrap();
    (
        found["value"].as_str().unwrap(),
        found["from"].as_str().unwrap(),
    )
}

#[test]
fn a_new_machine_is_told_what_is_not_set_up_and_nothing_is_broken() {
    let folder = Folder::new();
    let output = doctor(&folder, &["--json"], &[]);
    let json: Value = serde_json::from_str(&output.success()).unwrap();
    for (topic, state, advice) in [
        ("configuration", "note", "`kitbag init` writes one"),
        ("memory", "note", "the first `kitbag ask`"),
        (
            "provider",
            "note",
            "set ANTHROPIC_API_KEY or OPENAI_API_KEY",
        ),
        ("git", "note", "not in a repository"),
        ("parsers", "works", "rust"),
        ("cache", "works", "empty"),
        ("mcp servers", "note", "none are configured"),
        ("agents", "note", "`kitbag init --for claude`"),
    ] {
        let found = told(&json, topic);
        let is_there = |(how, text): &(String, String)| how == state && text.contains(advice);
        assert!(found.iter().any(is_there), "{topic}: {found:?}");
    }
    assert!(
        !folder.path().join("home/kitbag").exists(),
        "nothing is made"
    );
}

#[test]
fn a_key_is_told_by_its_place_and_never_printed() {
    let folder = Folder::new();
    for args in [&[][..], &["--json"]] {
        let output = doctor(&folder, args, &[("ANTHROPIC_API_KEY", KEY)]);
        let printed = format!("{output:?}");
        assert!(
            printed.contains("anthropic: key in ANTHROPIC_API_KEY"),
            "{printed}"
        );
        assert!(!printed.contains(KEY));
    }
}

#[test]
fn an_agent_is_told_as_set_up_only_with_all_of_it() {
    let folder = Folder::new();
    folder.run(&["init", "--for", "claude", "--yes"]).success();
    let agents = || {
        let json: Value = serde_json::from_str(&doctor(&folder, &["--json"], &[]).stdout).unwrap();
        told(&json, "agents")
    };
    let found = agents();
    assert!(
        found[0].0 == "works" && found[0].1.contains("claude is set up"),
        "{found:?}"
    );
    std::fs::remove_file(folder.path().join(".claude/settings.local.json")).unwrap();
    let found = agents();
    assert!(
        found[0].0 == "note" && found[0].1.contains("in part"),
        "{found:?}"
    );
}

#[test]
fn an_agent_of_the_user_is_told_with_its_file() {
    let folder = Folder::new();
    let home = folder.path().join("home");
    for name in [".claude", ".codex", ".cursor"] {
        std::fs::create_dir_all(home.join(name)).unwrap();
    }
    let server = r#"{"command": "kitbag", "args": ["mcp"]}"#;
    let servers = format!(r#"{{"numStartups": 3, "mcpServers": {{"kitbag": {server}}}}}"#);
    folder.write("home/.claude.json", servers);
    let hooks = r#"{"hooks": {"Stop": [{"hooks": [{"command": "'/opt/a b/kitbag' hook"}]}]}}"#;
    folder.write("home/.claude/settings.json", hooks);
    let codex = "[mcp_servers.kitbag]\ncommand = \"kitbag\"\n";
    folder.write("home/.codex/config.toml", codex);
    folder.write("home/.cursor/mcp.json", r#"{"mcpServers": {"other": {}}}"#);
    let output = doctor(
        &folder,
        &["--json"],
        &[("CLAUDE_CONFIG_DIR", ""), ("CODEX_HOME", "")],
    );
    let found = told(&serde_json::from_str(&output.success()).unwrap(), "agents");
    for told in [
        "claude is set up for all folders: MCP server in ",
        "claude is set up for all folders: hooks in ",
        "codex is set up for all folders: MCP server in ",
    ] {
        assert!(
            found
                .iter()
                .any(|(how, text)| how == "works" && text.starts_with(told)),
            "{found:?}"
        );
    }
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn servers_are_told_without_starting_one() {
    let folder = Folder::new();
    let servers = r#"{"mcpServers": {
        "shell": {"command": "sh", "args": ["-c", "touch started"]},
        "gone": {"command": "no-such-program"},
        "unset": {"command": "sh", "env": {"A": "${NO_SUCH_VARIABLE}"}},
        "far": {"url": "https://tickets.example.com/mcp?key=${TICKETS}", "headers": {"a": "${TICKETS}"}}}}"#;
    folder.write(".mcp.json", servers);
    let skill = folder.path().join("home/.agents/skills/baking");
    std::fs::create_dir_all(&skill).unwrap();
    let head = "---\nname: baking\ndescription: Bakes.\n---\n";
    std::fs::write(skill.join("SKILL.md"), head).unwrap();
    let oven = r#"{"mcpServers": {"oven": {"command": "${SKILL_DIR}/oven"}}}"#;
    std::fs::write(skill.join(".mcp.json"), oven).unwrap();
    let output = doctor(&folder, &["--json"], &[("TICKETS", "sesame")]).success();
    let found = told(&serde_json::from_str(&output).unwrap(), "mcp servers");
    for (server, state, part) in [
        ("shell of .mcp.json: sh", "works", ""),
        (
            "gone of .mcp.json: no-such-program",
            "note",
            "in any folder of PATH",
        ),
        (
            "unset of .mcp.json",
            "note",
            "`NO_SUCH_VARIABLE` is not set",
        ),
        ("far of .mcp.json: tickets.example.com", "works", ""),
        ("oven of the skill baking", "note", "no such program"),
    ] {
        let is_there = |(how, text): &(String, String)| {
            how == state && text.starts_with(server) && text.contains(part)
        };
        assert!(found.iter().any(is_there), "{server}: {found:?}");
    }
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(!output.contains("sesame"), "{output}");
    assert!(!folder.path().join("started").exists());
    folder.write(".mcp.json", "{");
    let broken = doctor(&folder, &[], &[]);
    assert_eq!(broken.code, Some(1), "{broken:?}");
    assert!(broken.stdout.contains(".mcp.json"), "{broken:?}");
}

#[test]
fn what_is_broken_is_told_with_what_to_do_and_fails() {
    let folder = Folder::new();
    folder.write("kitbag.yaml", "agents:\n  - name: [\n");
    folder.write("memory.db", "this is no database, and it never was one");
    let output = doctor(
        &folder,
        &["--json"],
        &[("KITBAG_STORE", "sqlite:memory.db")],
    );
    assert_eq!(output.code, Some(1), "{output:?}");
    let json: Value = serde_json::from_str(&output.stdout).unwrap();
    for (topic, part) in [("configuration", "kitbag.yaml:"), ("memory", "memory.db")] {
        let found = told(&json, topic);
        let is_there = |(how, text): &(String, String)| how == "broken" && text.contains(part);
        assert!(found.iter().any(is_there), "{topic}: {found:?}");
    }
    let text = doctor(&folder, &[], &[("KITBAG_STORE", "sqlite:memory.db")]).stdout;
    assert!(text.contains("BROKEN"), "{text}");
}

#[test]
fn each_setting_is_told_with_the_place_that_it_came_from() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join(".config/kitbag")).unwrap();
    folder.write(
        ".config/kitbag/kitbag.yaml",
        "memory: {learning: rules}\nsettings: {language: de}\nhooks: {budget: 1k}\nskills: {disabled: [old-skill]}\n\
         pack: {budget: 16k, pin: [src/lib.rs]}\nchannels: {slack: {senders: [ann, bob]}}\n\
         server: {bind: '127.0.0.1:7007', memory_time_limit: 1s}\n",
    );
    folder.write("kitbag.yaml", "settings: {language: pt}\n");
    let variables = [
        ("KITBAG_STORE", "sqlite:elsewhere.db"),
        ("KITBAG_MODEL", "demo/one"),
    ];
    let output = doctor(&folder, &["--json", "--tenant", "ann"], &variables);
    let json: Value = serde_json::from_str(&output.stdout).unwrap();
    let (value, from) = origin(&json, "memory.learning");
    assert!(
        value == "rules" && from.ends_with(".config/kitbag/kitbag.yaml"),
        "{from}"
    );
    let (value, from) = origin(&json, "settings.language");
    assert!(
        value == "pt" && from.ends_with("kitbag.yaml") && !from.contains(".config"),
        "{from}"
    );
    assert_eq!(
        origin(&json, "store"),
        ("sqlite:elsewhere.db", "KITBAG_STORE")
    );
    assert_eq!(origin(&json, "tenant"), ("ann", "--tenant"));
    assert_eq!(origin(&json, "memory.secrets"), ("mask", "default"));
    assert_eq!(origin(&json, "hooks.time_limit"), ("2s", "default"));
    for (name, value) in [
        ("hooks.budget", "1,000 tokens"),
        ("skills.disabled", "old-skill"),
        ("pack.budget", "16,000 tokens"),
        ("pack.pin", "src/lib.rs"),
        ("channels", "slack: ann bob"),
        ("server.bind", "127.0.0.1:7007"),
        ("server.memory_time_limit", "1s"),
    ] {
        let (found, from) = origin(&json, name);
        assert!(
            found == value && from.ends_with(".config/kitbag/kitbag.yaml"),
            "{name}: {found} {from}"
        );
    }
    assert_eq!(
        origin(&json, "model of `ask` and `chat`"),
        ("demo/one", "KITBAG_MODEL")
    );
}
