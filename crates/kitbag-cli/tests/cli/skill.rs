//! `kitbag skill`, `/skills` and `/skill`, and the reference validator of the format beside them.

use std::fs;
use std::process::Command;

use crate::mcp::clients::{PYTHON, given};
use crate::run::Folder;

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
