//! `kitbag skill`, `/skills` and `/skill`, and the reference validator of the format beside them.

use std::fs;
use std::process::Command;

use crate::mcp::clients::{PYTHON, given};
use crate::run::Folder;
use crate::serve::Server;

const BAKING: &str = "---\nname: baking\ndescription: Bakes bread. Use it for doughs.\nlicense: MIT\nmetadata:\n  \
                      version: 1.0\n  kitbag-triggers: sourdough, rye bread\n---\n\n# Baking\n\nFeed the starter.\n";

/// A project with a skill, and with one that is broken.
fn bakery() -> Folder {
    let folder = Folder::new();
    for name in ["baking", "broken"] {
        fs::create_dir_all(folder.path().join(".agents/skills").join(name)).unwrap();
    }
    folder.write(".agents/skills/baking/SKILL.md", BAKING);
    let servers = r#"{"mcpServers": {"oven": {"command": "oven"}}}"#;
    folder.write(".agents/skills/baking/.mcp.json", servers);
    folder.write(".agents/skills/broken/SKILL.md", "---\nname: broken\n---\n");
    folder
}

#[test]
fn o10_skills_are_listed_shown_and_checked() {
    let folder = bakery();
    let list = folder.run(&["skill", "list"]);
    let told = "error: .agents/skills/broken/SKILL.md:1:1: description: a skill needs a `description` that is not empty\n";
    assert_eq!(list.stderr, told);
    insta::assert_snapshot!(list.success(), @r"
    skill   from     triggers              servers  description
    baking  project  sourdough, rye bread  oven     Bakes bread. Use it for doughs.
    ");
    insta::assert_snapshot!(folder.run(&["skill", "show", "baking"]).success(), @r"
    skill     baking
    about     Bakes bread. Use it for doughs.
    file      .agents/skills/baking/SKILL.md
    from      the project: it starts no servers unless you allow its folder
    triggers  sourdough, rye bread
    servers   oven
    licence   MIT

    # Baking

    Feed the starter.
    ");
    let shown = folder.run(&["skill", "show", "baking", "--json"]).success();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["metadata"]["version"], "1.0");
    assert_eq!(shown["servers"][0], "oven");
    let missing = folder.run(&["skill", "show", "backing"]).failure(1);
    assert_eq!(
        missing,
        "error: there is no skill `backing`\nhint: the skills are baking\n"
    );
    let check = folder.run(&["skill", "check"]);
    assert_eq!(
        (check.code, check.stdout.as_str()),
        (Some(1), "1 skill can be used; 1 problem\n")
    );
    let one = folder
        .run(&["skill", "check", ".agents/skills/baking", "--json"])
        .success();
    assert_eq!(
        one.split_whitespace().collect::<String>(),
        r#"{"skills":["baking"],"problems":[]}"#
    );
}

#[test]
fn o10_a_chat_tells_which_skills_are_active_and_why() {
    let folder = bakery();
    folder.write("answers.jsonl", "{\"text\": \"Fine.\"}\n");
    folder.write(
        "kitbag.yaml",
        "providers: {demo: {kind: script, answers: answers.jsonl}}\n",
    );
    let typed = "/skills\nMy sourdough is flat.\nAnd now?\n/skills\n/skill\n";
    let args = ["--store", "sqlite:memory.db", "chat"];
    let output = folder.run_with_stdin(&args, typed.as_bytes());
    insta::assert_snapshot!(output.stdout, @r"
    baking (project): Bakes bread. Use it for doughs.
    warning: .agents/skills/broken/SKILL.md:1:1: description: a skill needs a `description` that is not empty
    Fine.
    Fine.
    baking (project), active: the message has `sourdough`: Bakes bread. Use it for doughs.
    warning: .agents/skills/broken/SKILL.md:1:1: description: a skill needs a `description` that is not empty
    ");
    assert!(
        output
            .stderr
            .contains("`/skill` needs the name of a skill and a message"),
        "{}",
        output.stderr
    );
}

#[test]
fn o10_claude_code_gets_the_servers_of_an_allowed_skill_as_mcp_json() {
    let folder = bakery();
    // The program tells what it was given.
    let script = r#"
for argument in "$@"; do
  case "$argument" in
    --allowedTools=*) tools=$argument ;;
    *kitbag-mcp-*) config=$(tr -d '"{}' < "$argument") ;;
  esac
done
printf '{"type":"result","subtype":"success","is_error":true,"result":"%s %s"}\n' "$tools" "$config"
"#;
    folder.write("fake.sh", script);
    let run = |allow: &str| {
        let config =
            format!("providers: {{cc: {{kind: claude-code, command: [sh, fake.sh]}}}}\n{allow}");
        folder.write("cc.yaml", config);
        let args = [
            "--store",
            "sqlite:memory.db",
            "ask",
            "a sourdough",
            "--config",
            "cc.yaml",
        ];
        folder.run(&args).failure(1)
    };
    let told = run("");
    assert!(!told.contains("--allowedTools"), "{told}");
    assert!(
        told.contains("the MCP servers of the skill `baking` are not started"),
        "{told}"
    );
    let told = run("skills: {allow: [.agents/skills/baking]}\n");
    assert!(
        told.contains("--allowedTools=mcp__oven mcpServers:oven:args:[],command:oven"),
        "{told}"
    );
    assert!(!told.contains("are not started"), "{told}");
}

/// A bakery whose skill is the user's own, with a model that answers from a script.
fn allowed_bakery(answers: &str) -> Folder {
    let folder = bakery();
    folder.write("answers.jsonl", answers);
    folder.write(
        "own.yaml",
        "settings: {model: demo}\nskills: {allow: [.agents/skills/baking]}\nproviders:\n  demo: {kind: script, answers: answers.jsonl}\n",
    );
    let server = "touch started\nexit 1\n";
    folder.write("oven.sh", server);
    let servers = r#"{"mcpServers": {"oven": {"command": "sh", "args": ["oven.sh"]}}}"#;
    folder.write(".agents/skills/baking/.mcp.json", servers);
    folder
}

#[test]
fn o10_a_dry_run_starts_no_server_of_a_skill_and_says_so() {
    let folder = allowed_bakery("{\"text\": \"Fine.\"}\n");
    let ask = [
        "--store",
        "sqlite:memory.db",
        "ask",
        "a sourdough",
        "--config",
        "own.yaml",
    ];
    let dry = folder.run(&[&ask[..], &["--no-memory", "--dry-run"]].concat());
    let told = "mcp server `oven`: it is not started, and its tools are missing: a dry run starts no programs";
    assert!(dry.stderr.contains(told), "{}", dry.stderr);
    dry.success();
    assert!(!folder.path().join("started").exists());
    folder.run(&ask).success();
    assert!(folder.path().join("started").exists());
}

#[test]
fn o10_a_server_says_that_it_starts_no_server_of_a_skill() {
    let folder = allowed_bakery("{\"text\": \"Fine.\"}\n");
    let server = Server::start(
        &folder,
        &["--config", "own.yaml", "--upstream", "http://127.0.0.1:9"],
    );
    let body = serde_json::json!({"message": "a sourdough", "sender": "ann"}).to_string();
    let json = ("content-type", "application/json");
    let answer = server.post("/api/v1/ask", &[json], &body).json();
    let said = "mcp server `oven`: it is not started, and its tools are missing";
    assert!(answer["problems"].to_string().contains(said), "{answer}");
    assert!(!folder.path().join("started").exists());
}

#[test]
fn o10_a_model_reads_a_skill_and_the_files_of_its_folder_and_no_others() {
    let call = |id: &str, arguments: serde_json::Value| serde_json::json!([{"id": id, "name": "skill", "arguments": arguments}]);
    let answer = serde_json::json!({
        "tool_calls": call("a", serde_json::json!({})),
        "then": [
            {"tool_calls": call("b", serde_json::json!({"name": "baking"}))},
            {"tool_calls": call("c", serde_json::json!({"name": "baking", "file": "references/ovens.md:2-2"}))},
            {"tool_calls": call("d", serde_json::json!({"name": "baking", "file": "../../../kitbag.yaml"}))},
            {"tool_calls": call("e", serde_json::json!({"name": "baking", "file": "link.md"}))},
            {"tool_calls": call("f", serde_json::json!({"name": "backing"}))},
            {"tool_calls": call("g", serde_json::json!({"name": "baking", "file": "references/key.pem:2-"}))},
            {"text": "Done."},
        ],
    });
    let folder = bakery();
    folder.write("answers.jsonl", format!("{answer}\n"));
    folder.write(
        "kitbag.yaml",
        "providers: {demo: {kind: script, answers: answers.jsonl}}\n",
    );
    let skill = folder.path().join(".agents/skills/baking");
    fs::create_dir(skill.join("references")).unwrap();
    fs::write(
        skill.join("references/ovens.md"),
        "# Ovens\nPreheat to 250.\n",
    )
    .unwrap();
    let line = "MIIEpAIBAAKCAQEA7bqX1mZ0c2l4ZmFrZWtleW5vdHJlYWxhdGFsbDEyMzQ1Njc4";
    let key =
        format!("-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}\n-----END RSA PRIVATE KEY-----\n");
    fs::write(skill.join("references/key.pem"), key).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("kitbag.yaml"), skill.join("link.md")).unwrap();
    let asked = [
        "--store",
        "sqlite:memory.db",
        "ask",
        "Hello",
        "--tools",
        "--json",
    ];
    let report = folder.run(&asked).success();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let result = |at: usize| report["steps"][at * 2 + 1]["content"].as_str().unwrap();
    assert_eq!(result(0), "- baking: Bakes bread. Use it for doughs.\n");
    assert!(!result(6).contains("MIIEpAIBAAKCAQEA7"), "{}", result(6));
    assert!(
        result(1).contains("comes from the project's folder"),
        "{}",
        result(1)
    );
    assert!(
        result(1).ends_with("# Baking\n\nFeed the starter."),
        "{}",
        result(1)
    );
    assert!(
        result(2).ends_with("\n\nPreheat to 250.\n"),
        "{}",
        result(2)
    );
    for at in [3, 4] {
        assert!(
            result(at).starts_with("error: ") && result(at).contains("leads out"),
            "{}",
            result(at)
        );
    }
    assert!(
        result(5).contains("there is no skill `backing`"),
        "{}",
        result(5)
    );
}

/// Skills in folders of these names, good and bad.
const CASES: [(&str, &str); 22] = [
    ("baking", BAKING),
    ("minimal", "---\nname: minimal\ndescription: d\n---\n"),
    (
        "pdf-2",
        "---\nname: pdf-2\ndescription: d\ncompatibility: Requires git\nallowed-tools: Bash(git:*) Read\n---\nx",
    ),
    (
        "quoted",
        "---\nname: \"quoted\"\ndescription: >-\n  folded\n  text\n---\nx",
    ),
    (
        "brot-für-alle",
        "---\nname: brot-für-alle\ndescription: Brot\n---\n",
    ),
    ("面包", "---\nname: 面包\ndescription: 烤面包\n---\n"),
    ("123", "---\nname: 123\ndescription: 1.0\n---\n"),
    (
        "windows",
        "---\r\nname: windows\r\ndescription: d\r\n---\r\nx\r\n",
    ),
    ("other", "---\nname: another\ndescription: d\n---\n"),
    ("Upper", "---\nname: Upper\ndescription: d\n---\n"),
    ("-dash", "---\nname: -dash\ndescription: d\n---\n"),
    ("dash-", "---\nname: dash-\ndescription: d\n---\n"),
    (
        "two--dashes",
        "---\nname: two--dashes\ndescription: d\n---\n",
    ),
    (
        "under_score",
        "---\nname: under_score\ndescription: d\n---\n",
    ),
    ("no-name", "---\ndescription: d\n---\n"),
    (
        "empty-description",
        "---\nname: empty-description\ndescription:\n---\n",
    ),
    (
        "extra",
        "---\nname: extra\ndescription: d\ntriggers: x\n---\n",
    ),
    (
        "brackets",
        "---\nname: brackets\ndescription: d\nmetadata: {a: b}\n---\n",
    ),
    (
        "twice",
        "---\nname: twice\nname: twice\ndescription: d\n---\n",
    ),
    ("open", "---\nname: open\ndescription: d\n"),
    ("no-header", "# Title\n"),
    ("list", "---\n- a\n---\n"),
];

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn o10_the_reference_validator_agrees_on_good_and_bad_skills() {
    let folder = Folder::new();
    let python = given(PYTHON, "python");
    let long = |name: &str, description: usize, compatibility: usize| {
        let (a, b) = ("é".repeat(description), "c".repeat(compatibility));
        format!("---\nname: {name}\ndescription: {a}\ncompatibility: {b}\n---\n")
    };
    let (fits, passes) = ("n".repeat(64), "n".repeat(65));
    let mut cases: Vec<(String, String)> =
        CASES.map(|(name, text)| (name.into(), text.into())).into();
    cases.push((fits.clone(), long(&fits, 1024, 500)));
    cases.push((passes.clone(), long(&passes, 1, 1)));
    cases.push(("talks".into(), long("talks", 1025, 1)));
    cases.push(("needs".into(), long("needs", 1, 501)));
    let mut good = 0;
    for (name, text) in &cases {
        fs::create_dir(folder.path().join(name)).unwrap();
        folder.write(&format!("{name}/SKILL.md"), text);
        let ours = folder.run(&["skill", "check", &format!("./{name}"), "--json"]);
        let mut theirs = Command::new(&python);
        theirs.args(["-m", "skills_ref.cli", "validate", &format!("./{name}")]);
        let theirs = theirs.current_dir(folder.path()).output().unwrap();
        assert_eq!(
            ours.code,
            theirs.status.code(),
            "{name}: {ours:?} {theirs:?}"
        );
        good += usize::from(ours.code == Some(0));
        if ours.code == Some(0) {
            let mut read = Command::new(&python);
            read.args([
                "-m",
                "skills_ref.cli",
                "read-properties",
                &format!("./{name}"),
            ]);
            let read = read.current_dir(folder.path()).output().unwrap();
            let read: serde_json::Value = serde_json::from_slice(&read.stdout).unwrap();
            fs::create_dir_all(folder.path().join(".agents/skills")).unwrap();
            let (from, to) = (
                folder.path().join(name),
                folder.path().join(".agents/skills").join(name),
            );
            fs::rename(from, to).unwrap();
            let shown = folder.run(&["skill", "show", name, "--json"]).success();
            let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
            for (field, value) in read.as_object().unwrap() {
                assert_eq!(&shown[field], value, "{name}: {field}");
            }
        }
    }
    assert_eq!((good, cases.len()), (9, 26));
}

#[cfg(unix)]
#[test]
fn o10_servers_of_an_active_skill_serve_any_model_while_it_is_trusted() {
    let folder = bakery();
    let servers = r#"{"mcpServers": {
        "oven": {"command": "sh", "args": ["${SKILL_DIR}/server.sh"], "env": {"SAID": "hot"}},
        "gone": {"command": "/nowhere/oven"}}}"#;
    folder.write(".agents/skills/baking/.mcp.json", servers);
    let server = include_str!("../../../kitbag-mcp/tests/server.sh");
    // Each start leaves a line.
    let counted = format!("echo started >> \"$HOME/starts\"\n{server}");
    folder.write(".agents/skills/baking/server.sh", counted);
    let call = r#"[{"id": "a", "name": "mcp__oven__say_it", "arguments": {}}]"#;
    let die = r#"[{"id": "b", "name": "mcp__oven__die", "arguments": {}}]"#;
    folder.write(
        "answers.jsonl",
        format!(
            "{{\"when\": \"sourdough\", \"tool_calls\": {call}, \"then\": [{{\"text\": \"It is hot.\"}}]}}\n\
             {{\"when\": \"still\", \"tool_calls\": {die}, \"then\": [{{\"text\": \"Yes.\"}}]}}\n\
             {{\"text\": \"Hello.\"}}\n"
        ),
    );
    let config = "providers: {demo: {kind: script, answers: answers.jsonl}}\n";
    folder.write("kitbag.yaml", config);
    fs::create_dir_all(folder.path().join(".home")).unwrap();
    let chat = |folder: &Folder, store: &str| {
        let args = ["--store", store, "chat"];
        let typed = "Hello\nIs the sourdough ready?\nAnd still?\n/skill baking\n";
        folder.run_with_stdin(&args, typed.as_bytes())
    };
    // A skill that was merely found starts nothing, which is told once.
    let found = chat(&folder, "sqlite:found.db");
    let told = found
        .stderr
        .matches("of the skill `baking` are not started")
        .count();
    assert_eq!(told, 1, "{}", found.stderr);
    assert!(
        !found.stderr.contains("say_it: 2 tokens"),
        "{}",
        found.stderr
    );
    assert!(!folder.path().join(".home/starts").exists());

    fs::create_dir_all(folder.path().join(".config/kitbag")).unwrap();
    let allowed = folder.path().join(".agents");
    let allowed = format!("skills: {{allow: ['{}']}}\n", allowed.display());
    folder.write(".config/kitbag/kitbag.yaml", allowed);
    let trusted = chat(&folder, "sqlite:memory.db");
    let lines: Vec<&str> = trusted.stderr.lines().collect();
    let has = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!(has("mcp__oven__say_it: 2 tokens"), 1, "{lines:?}");
    assert_eq!(
        has("mcp server `gone`: `/nowhere/oven` cannot be started"),
        1,
        "{lines:?}"
    );
    // What writes needs an approval, as with `--mcp`.
    assert_eq!(
        has("`--allow-tools mcp__oven__die` allows it"),
        1,
        "{lines:?}"
    );
    assert_eq!(
        has("needs a message behind the name: `/skill baking …`"),
        1,
        "{lines:?}"
    );
    assert_eq!(trusted.stdout, "Hello.\nIt is hot.\nYes.\n");
    let starts = fs::read_to_string(folder.path().join(".home/starts")).unwrap();
    assert_eq!(starts, "started\n");
    let turn = ["--store", "sqlite:memory.db", "memory", "history", "1.1.2"];
    let record = folder.run(&turn).success();
    assert!(
        record.contains("baking: the message has `sourdough`; 7 tools"),
        "{record}"
    );
}
