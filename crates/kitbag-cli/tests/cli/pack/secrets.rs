//! Secrets never leave.

use super::tree::{chunk, repository, text, tree};

/// Made up for this test, in the form of a real one; in two parts, so that no scanner minds.
fn secret() -> String {
    format!("{}{}", "AKIA", "Z7QHX3MNPL5RT2WK")
}

fn login() -> String {
    format!(
        "def login():\n    key = \"{}\"\n    return connect(key)\n",
        secret()
    )
}

const TASK: &str = "fix the login";

#[test]
fn x01_secrets_are_replaced_in_every_form_and_told() {
    let tree = tree(&[("login.py", &login())]);
    for form in ["prompt", "markdown", "xml", "json", "anthropic", "openai"] {
        let output = tree.pack(&[TASK, "--format", form]);
        assert!(
            output.stderr.contains("note: login.py:2 holds a secret"),
            "{}",
            output.stderr
        );
        let printed = output.success();
        assert!(!printed.contains(&secret()), "{form}: {printed}");
        assert!(printed.contains("return connect(key)"), "{form}: {printed}");
    }
    let pack = tree.json(&[TASK]);
    assert!(!pack.to_string().contains(&secret()));
    let found = &pack["redacted"];
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(
        (&found[0]["source"], &found[0]["line"]),
        (&"login.py".into(), &2.into())
    );
    assert!(!found[0]["kind"].as_str().unwrap().is_empty());
    assert_eq!(
        chunk(&pack, "login.py")["lines"],
        serde_json::json!([[1, 3]])
    );
}

#[test]
fn x01_secrets_are_replaced_in_what_is_not_a_ranked_file_too() {
    let tree = repository(&[("login.py", "def login():\n    return 1\n")]);
    tree.write(
        "AGENTS.md",
        format!("Deploy with the key {} only.\n", secret()),
    );
    let pack = tree.json(&[TASK]);
    assert_eq!(chunk(&pack, "AGENTS.md")["chunk_type"], "instructions");
    assert!(
        !text(&pack, "prompt").contains(&secret()),
        "{}",
        pack["prompt"]
    );
    assert_eq!(
        pack["redacted"][0]["source"], "AGENTS.md",
        "{}",
        pack["redacted"]
    );

    tree.write("login.py", login());
    let pack = tree.json(&["--diff"]);
    assert!(
        !text(&pack, "prompt").contains(&secret()),
        "{}",
        pack["prompt"]
    );

    let log = format!("connecting with {}\n", secret());
    let output = tree.pack_piped(&[TASK], &log);
    assert!(
        output.stderr.contains("note: stdin:1 holds a secret"),
        "{}",
        output.stderr
    );
    assert!(!output.success().contains(&secret()));
}

#[test]
fn x01_nothing_that_is_kept_holds_a_secret() {
    let tree = tree(&[("login.py", &login())]);
    tree.pack(&[TASK]).success();
    let mut folders = vec![tree.path().join("../cache")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            let holds = bytes
                .windows(20)
                .any(|window| window == secret().as_bytes());
            assert!(!holds, "{}", path.display());
        }
    }
    assert!(files > 0);
}
