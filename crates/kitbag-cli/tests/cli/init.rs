//! `kitbag init --for`: Kitbag's part of other programs' configurations, in and out again.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::run::{Folder, Output};

fn init(folder: &Folder, args: &[&str]) -> Output {
    let kitbag = Path::new(env!("CARGO_BIN_EXE_kitbag")).parent().unwrap();
    let path = kitbag.to_str().unwrap();
    folder.run_with(&[("PATH", path)], &[&["init"], args].concat())
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn x11_each_agent_gets_its_own_files_and_loses_them_again() {
    for (agent, files) in [
        ("claude", &[".mcp.json", ".claude/settings.local.json"][..]),
        ("codex", &[".codex/config.toml"]),
        ("cursor", &[".cursor/mcp.json"]),
        ("vscode", &[".vscode/mcp.json"]),
    ] {
        let folder = Folder::new();
        let shown = init(&folder, &["--for", agent, "--yes"]).success();
        for file in files {
            assert!(shown.contains(&format!("+++ ./{file}\n")), "{shown}");
            assert!(read(&folder, file).contains("kitbag"), "{file}");
        }
        let again = init(&folder, &["--for", agent, "--yes"]);
        assert_eq!(again.stderr, "nothing to do: Kitbag is already set up\n");
        assert_eq!(again.success(), "");
        init(&folder, &["--for", agent, "--remove", "--yes"]).success();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        let again = init(&folder, &["--for", agent, "--remove", "--yes"]);
        assert_eq!(again.stderr, "nothing to do: Kitbag is not set up\n");
    }
}

#[test]
fn x11_what_is_in_the_files_stays_to_the_byte() {
    let folder = Folder::new();
    let settings = "{\n\t\"permissions\": { \"allow\": [\"Bash(ls)\"] },\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n\t\t]\n\t}\n}";
    let servers = "{\"mcpServers\": {\"x\": {\"command\": \"y\"}}}\n";
    fs::create_dir(folder.path().join(".claude")).unwrap();
    folder.write(".claude/settings.local.json", settings);
    folder.write(".mcp.json", servers);
    init(&folder, &["--for", "claude", "--yes"]).success();
    let json: Value = serde_json::from_str(&read(&folder, ".claude/settings.local.json")).unwrap();
    let commands: Vec<&str> = json["hooks"]["Stop"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["hooks"][0]["command"].as_str().unwrap())
        .collect();
    assert_eq!(commands, ["say done", "kitbag hook"]);
    assert_eq!(
        json["hooks"]["UserPromptSubmit"][0]["hooks"][0]["timeout"],
        5
    );
    assert_eq!(json["permissions"]["allow"][0], "Bash(ls)");
    let json: Value = serde_json::from_str(&read(&folder, ".mcp.json")).unwrap();
    assert_eq!(json["mcpServers"]["kitbag"]["args"][0], "mcp");
    init(&folder, &["--for", "claude", "--remove", "--yes"]).success();
    assert_eq!(read(&folder, ".claude/settings.local.json"), settings);
    assert_eq!(read(&folder, ".mcp.json"), servers);
}

#[test]
fn x11_line_ends_and_a_byte_order_mark_stay_as_they_are() {
    let folder = Folder::new();
    let servers =
        "\u{feff}{\r\n  \"mcpServers\": {\r\n    \"x\": {\"command\": \"y\"}\r\n  }\r\n}\r\n";
    folder.write(".mcp.json", servers);
    init(&folder, &["--for", "claude", "--yes"]).success();
    let with = read(&folder, ".mcp.json");
    assert!(with.starts_with("\u{feff}{\r\n"), "{with:?}");
    assert_eq!(
        with.matches('\n').count(),
        with.matches("\r\n").count(),
        "{with:?}"
    );
    assert!(with.contains("\"kitbag\""), "{with}");
    init(&folder, &["--for", "claude", "--remove", "--yes"]).success();
    assert_eq!(read(&folder, ".mcp.json"), servers);
    // Codex' file likewise.
    fs::create_dir(folder.path().join(".codex")).unwrap();
    let config = "model = \"gpt-5\"\r\n";
    folder.write(".codex/config.toml", config);
    init(&folder, &["--for", "codex", "--yes"]).success();
    let with = read(&folder, ".codex/config.toml");
    assert_eq!(
        with.matches('\n').count(),
        with.matches("\r\n").count(),
        "{with:?}"
    );
    init(&folder, &["--for", "codex", "--remove", "--yes"]).success();
    assert_eq!(read(&folder, ".codex/config.toml"), config);
}

#[test]
fn x11_a_file_that_was_there_before_is_never_removed() {
    for (agent, file, before) in [
        ("cursor", ".cursor/mcp.json", "{}\n"),
        ("cursor", ".cursor/mcp.json", ""),
        ("codex", ".codex/config.toml", ""),
    ] {
        let folder = Folder::new();
        fs::create_dir(folder.path().join(format!(".{agent}"))).unwrap();
        folder.write(file, before);
        init(&folder, &["--for", agent, "--yes"]).success();
        let again = init(&folder, &["--for", agent, "--yes"]);
        assert_eq!(again.stderr, "nothing to do: Kitbag is already set up\n");
        init(&folder, &["--for", agent, "--remove", "--yes"]).success();
        assert_eq!(read(&folder, file).replace("{}", "").trim(), "", "{agent}");
    }
}

#[test]
fn x11_an_entry_of_somebody_elses_is_told_and_keeps_its_environment() {
    let folder = Folder::new();
    let own = "{\"mcpServers\": {\"kitbag\": {\"command\": \"npx\", \"args\": [\"their-kitbag\"], \"env\": {\"TOKEN\": \"x\"}}}}\n";
    folder.write(".mcp.json", own);
    let kept = init(&folder, &["--for", "claude", "--remove", "--yes"]);
    assert_eq!(read(&folder, ".mcp.json"), own, "{kept:?}");
    let added = init(&folder, &["--for", "claude", "--yes"]);
    let told = ".mcp.json: your `kitbag` server with \"npx\" gets a new command and new arguments; the rest of \
                its entry stays";
    assert!(added.stderr.contains(told), "{}", added.stderr);
    let json: Value = serde_json::from_str(&read(&folder, ".mcp.json")).unwrap();
    let server = &json["mcpServers"]["kitbag"];
    assert_eq!(
        (&server["args"][0], &server["env"]["TOKEN"]),
        (&"mcp".into(), &"x".into())
    );
}

#[test]
fn x11_comments_stay_when_the_program_has_moved() {
    let folder = Folder::new();
    let servers = "{\n  // ours\n  \"mcpServers\": {\n    // the memory\n    \"kitbag\": {\n      \"command\": \"/old/kitbag\", // by hand\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n";
    let hooks = "{\n  // all of them\n  \"hooks\": {\n    \"Stop\": [\n      // the memory\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"/old/kitbag hook\", \"timeout\": 30}]} // one\n    ]\n  }\n}\n";
    fs::create_dir(folder.path().join(".claude")).unwrap();
    folder.write(".mcp.json", servers);
    folder.write(".claude/settings.local.json", hooks);
    init(&folder, &["--for", "claude", "--yes"]).success();
    assert_eq!(
        read(&folder, ".mcp.json"),
        servers.replace("/old/kitbag", "kitbag")
    );
    let written = read(&folder, ".claude/settings.local.json");
    assert!(
        written.contains("\"kitbag hook\"") && !written.contains("/old/"),
        "{written}"
    );
    init(&folder, &["--for", "claude", "--remove", "--yes"]).success();
    let left = read(&folder, ".mcp.json") + &read(&folder, ".claude/settings.local.json");
    for comment in ["// ours", "// the memory", "// all of them", "// one"] {
        assert!(left.contains(comment), "{comment}: {left}");
    }
}

#[test]
fn x11_nothing_is_written_before_somebody_agrees() {
    let folder = Folder::new();
    let output = init(&folder, &["--for", "vscode"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stdout.contains("+  \"servers\""), "{output:?}");
    assert!(output.stderr.contains("`--yes`"), "{output:?}");
    assert!(!folder.path().join(".vscode").exists());
    folder.write(".mcp.json", "{\"mcpServers\": [");
    let told = init(&folder, &["--for", "claude", "--yes"]).failure(1);
    assert!(told.contains(".mcp.json: it is not JSON"), "{told}");
    assert!(!folder.path().join(".claude").exists());
}
