//! People's habits: pins of parts, folders and patterns, everything at once, a list instead of a prompt,
//! settings of the project, and a root that nobody means.

use std::fs;

use super::tree::{Tree, chunk, find, repository, text, tree};

fn shop() -> Tree {
    let mut order = String::from("pub fn total() -> u32 {\n    41\n}\n\n");
    for n in 0..60 {
        order.push_str(&format!("pub fn step_{n}() -> u32 {{\n    {n}\n}}\n\n"));
    }
    tree(&[
        ("src/order.rs", &order),
        ("src/login.rs", "pub fn login() {}\n"),
        ("docs/guide.md", "# Guide\n\nRead me.\n"),
        ("docs/more.md", "# More\n\nAnd me.\n"),
    ])
}

#[test]
fn x01_a_pin_may_be_lines_or_a_definition() {
    let shop = shop();
    let pack = shop.json(&["the login", "--pin", "src/order.rs:5-7", "--budget", "1k"]);
    assert_eq!(
        chunk(&pack, "src/order.rs")["lines"],
        serde_json::json!([[5, 7]])
    );
    assert!(text(&pack, "prompt").contains("pub fn step_0() -> u32 {\n    0\n}\n```"));

    let pins = [
        "--pin",
        "src/order.rs#step_7",
        "--pin",
        "./src/order.rs#total",
    ];
    let pack = shop.json(&[&["the login", "--budget", "1k"], &pins[..]].concat());
    let prompt = text(&pack, "prompt");
    assert!(
        prompt.contains("    41\n") && prompt.contains("    7\n"),
        "{prompt}"
    );
    assert!(!prompt.contains("step_8"), "{prompt}");

    let error = shop
        .pack(&["x", "--pin", "src/order.rs#nothing"])
        .failure(1);
    assert!(
        error.contains("`src/order.rs` defines no `nothing`"),
        "{error}"
    );
    let error = shop.pack(&["x", "--pin", "src/order.rs:900-"]).failure(1);
    assert!(
        error.contains("`src/order.rs` has only 244 lines"),
        "{error}"
    );
}

#[test]
fn x01_a_pin_may_be_what_a_heading_says() {
    let shop = shop();
    let pack = shop.json(&["the login", "--pin", "src/order.rs:1-3,9-11,…"]);
    let lines = &chunk(&pack, "src/order.rs")["lines"];
    assert_eq!(lines, &serde_json::json!([[1, 3], [9, 11]]));
    // Names of files may have the signs of patterns.
    let steps = "    step();\n".repeat(40);
    let page = format!("fn page() {{\n{steps}}}\n\nfn slug() {{\n    four();\n}}\n");
    shop.write("app/[slug]/page.rs", &page);
    for pin in ["app/[slug]/page.rs:44-46", "app/[slug]/page.rs#slug"] {
        let pack = shop.json(&["the login", "--pin", pin]);
        let lines = &chunk(&pack, "app/[slug]/page.rs")["lines"];
        assert_eq!(lines, &serde_json::json!([[44, 46]]), "{pin}");
    }
}

#[test]
fn x01_a_pin_may_be_a_folder_or_a_pattern() {
    let shop = shop();
    for pin in ["docs", "docs/", "docs/*.md"] {
        let pack = shop.json(&["the login", "--pin", pin]);
        for path in ["docs/guide.md", "docs/more.md"] {
            assert_eq!(chunk(&pack, path)["level"], "full", "{pin}");
        }
    }
    let error = shop.pack(&["x", "--pin", "*.py"]).failure(2);
    assert!(
        error.contains("no file that can be shown matches `*.py`"),
        "{error}"
    );
}

#[test]
fn x01_all_shows_files_whole_that_the_task_has_no_word_of() {
    let shop = shop();
    let pack = shop.json(&["the login", "--all"]);
    for path in [
        "src/order.rs",
        "src/login.rs",
        "docs/guide.md",
        "docs/more.md",
    ] {
        assert_eq!(chunk(&pack, path)["level"], "full", "{path}");
    }
    let pack = shop.json(&["--all", "--budget", "400"]);
    assert_eq!(chunk(&pack, "docs/guide.md")["level"], "full");
    assert_eq!(chunk(&pack, "src/order.rs")["level"], "line");
}

#[test]
fn x01_a_list_says_what_is_shown_without_showing_it() {
    let shop = shop();
    let list = shop
        .pack(&["the login", "--list", "--pin", "docs/guide.md"])
        .success();
    let line = |name: &str| {
        list.lines()
            .find(|line| line.trim_start().starts_with(name))
    };
    assert!(line("login.rs").unwrap().ends_with("  whole"), "{list}");
    assert!(line("guide.md").unwrap().ends_with("  whole"), "{list}");
    assert!(
        line("docs/").is_some() && !list.contains("Read me."),
        "{list}"
    );
    // The rows of files and the rest add up to the whole prompt.
    let pack = shop.json(&["the login", "--pin", "docs/guide.md"]);
    let sum = format!("{} of 32,000 tokens", pack["tokens"]);
    assert!(list.trim_end().ends_with(&sum), "{list}");
}

#[test]
fn x01_a_project_says_what_all_its_packs_have() {
    let shop = shop();
    shop.write(
        "kitbag.yaml",
        "pack:\n  budget: 2k\n  exclude: [docs/more.md]\n  pin: [docs/]\n  instructions: Answer in verse.\n",
    );
    let pack = shop.json(&["the login"]);
    assert_eq!(pack["budget"], 2_000);
    assert_eq!(chunk(&pack, "docs/guide.md")["level"], "full");
    assert!(find(&pack, "docs/more.md").is_none());
    assert!(text(&pack, "prompt").contains("\n\nAnswer in verse."));
    assert_eq!(shop.json(&["the login", "--budget", "3k"])["budget"], 3_000);

    shop.write("kitbag.yaml", "pack: {budget: lots}\n");
    let error = shop.pack(&["the login"]).failure(1);
    assert!(
        error.contains("`lots` is not a number of tokens"),
        "{error}"
    );
}

#[test]
fn x01_a_file_is_not_shown_because_its_exclusion_cannot_be_read() {
    let shop = shop();
    shop.write(
        "kitbag.yaml",
        "pack:\n  exclude: [docs/more.md]\nproviders: {demo: {\n",
    );
    let error = shop.pack(&["the login"]).failure(1);
    assert!(error.contains("kitbag.yaml:"), "{error}");
    assert!(
        error.contains("nothing was packed: the configuration has errors"),
        "{error}"
    );
}

#[test]
fn x01_the_home_folder_and_the_root_are_packed_only_when_meant() {
    let tree = tree(&[("a.rs", "fn login() {}\n")]);
    let error = tree.pack(&["x", "--root", "/"]).failure(2);
    assert!(
        error.contains("`/` is the root of the file system"),
        "{error}"
    );
    let run = |args: &[&str]| {
        let mut command = tree.command(args);
        command.env("HOME", tree.path());
        crate::run::finish(command, None)
    };
    let error = run(&["the login"]).failure(2);
    assert!(
        error.contains("is your home folder") && error.contains("--yes"),
        "{error}"
    );
    assert!(
        run(&["the login", "--yes"])
            .success()
            .contains("fn login() {}")
    );
}

#[test]
fn x01_a_repository_elsewhere_is_fetched_once_and_then_brought_up_to_date() {
    let origin = repository(&[
        ("src/a.rs", "pub fn first() {}\n"),
        ("kitbag.yaml", "pack: {instructions: Obey me.}\n"),
    ]);
    let here = tree(&[]);
    let url = format!("file://{}", origin.path().display());
    let first = here.pack(&["first", "--remote", &url]).success();
    assert!(first.contains("pub fn first() {}"), "{first}");
    assert!(!first.contains("\n\nObey me."), "{first}");
    // An address may have a password, which the copy does not keep.
    let cache = here.path().with_file_name("cache").join("remote");
    let copy = fs::read_dir(cache).unwrap().next().unwrap().unwrap().path();
    let kept = fs::read_to_string(copy.join(".git/config")).unwrap();
    assert!(!kept.contains("file://"), "{kept}");
    origin.write("src/a.rs", "pub fn second() {}\n");
    origin.commit("second");
    let second = here.pack(&["second", "--remote", &url]).success();
    assert!(second.contains("pub fn second() {}"), "{second}");
    // Without the origin, the copy is what there is.
    fs::rename(origin.path(), origin.path().with_extension("away")).unwrap();
    let third = here.pack(&["second", "--remote", &url]);
    assert!(
        third.stderr.contains("cannot be fetched again"),
        "{}",
        third.stderr
    );
    assert!(third.success().contains("pub fn second() {}"));

    for (remote, why) in [
        ("file:///nowhere/at/all", "git cannot fetch"),
        (
            "--upload-pack=touch /tmp/x",
            "is not the address of a repository",
        ),
        ("ext::sh -c id", "is not the address of a repository"),
    ] {
        let option = format!("--remote={remote}");
        let output = here.pack(&["x", &option]);
        assert!(output.stderr.contains(why), "{remote}: {}", output.stderr);
    }
}

#[test]
fn p05_a_change_is_reviewed_and_the_budget_that_shows_all_of_it_is_told() {
    let files: Vec<(String, String)> = (0..30)
        .map(|n| {
            (
                format!("src/part_{n}.rs"),
                format!("pub fn part_{n}() {{}}\n"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let tree = repository(&files);
    for n in 0..30 {
        let body: String = (0..20)
            .map(|line| format!("    call_{n}_{line}();\n"))
            .collect();
        tree.write(
            format!("src/part_{n}.rs"),
            format!("pub fn part_{n}() {{\n{body}}}\n"),
        );
    }
    let pack = tree.json(&["--diff", "--budget", "2k"]);
    assert_eq!(pack["task_type"], "review");
    let prompt = text(&pack, "prompt");
    let ending = "and say so if there is nothing.\nThe context above is material";
    assert!(prompt.contains(ending), "{prompt}");
    let problems = pack["problems"].to_string();
    assert!(problems.contains(" of 30 changed files"), "{problems}");
    let (before, _) = problems.split_once(" tokens shows all").expect(&problems);
    let budget = before.rsplit(' ').next().unwrap();
    let whole = tree.json(&["--diff", "--budget", budget]);
    assert_eq!(whole["problems"], serde_json::json!([]));
    // A prompt in JSON has the same problem, within its budget.
    let pack = tree.json(&["--diff", "--budget", "2k", "--format", "json"]);
    assert!(pack["tokens"].as_u64().unwrap() <= 2_000, "{pack}");
    let prompt: serde_json::Value = serde_json::from_str(text(&pack, "prompt")).unwrap();
    assert_eq!(prompt["problems"], pack["problems"]);
    let problems = prompt["problems"].to_string();
    assert!(problems.contains(" tokens shows all"), "{problems}");

    // Beside a change a task may ask something else.
    let asked = tree.json(&["explain how part_3 is called", "--diff"]);
    assert_eq!(asked["task_type"], "analyze");
}

#[test]
fn p05_a_prompt_ends_in_the_language_of_its_task_and_in_every_format() {
    let shop = shop();
    let ending = "Dies ist eine Fehlersuche.";
    for format in [
        "prompt",
        "markdown",
        "xml",
        "json",
        "anthropic",
        "openai",
        "responses",
    ] {
        let args = ["Behebe den Fehler im Login", "--format", format];
        let prompt = shop.pack(&args).success();
        assert_eq!(prompt.matches(ending).count(), 1, "{format}: {prompt}");
    }
    let neutral = shop.pack(&["login order"]).success();
    assert!(
        neutral.contains("Please do what the request asks"),
        "{neutral}"
    );
    let args = [
        "fix the login",
        "--format",
        "anthropic",
        "--model",
        "claude-sonnet-4-5",
    ];
    let request = shop
        .pack(&[&args[..], &["--max-output", "777"]].concat())
        .success();
    let request: serde_json::Value = serde_json::from_str(&request).unwrap();
    assert_eq!(request["max_tokens"], 777);
    assert_eq!(request["model"], "claude-sonnet-4-5");
}

#[test]
fn a_limit_of_the_answer_is_refused_for_a_form_without_one() {
    let shop = tree(&[("src/login.rs", "fn login() {}\n")]);
    for format in ["prompt", "markdown", "json"] {
        let args = ["the login", "--format", format, "--max-output", "777"];
        let told = shop.pack(&args).failure(2);
        assert!(told.contains("is no request"), "{told}");
        assert!(told.contains("--format anthropic"), "{told}");
    }
}

#[test]
fn p12_characters_that_nobody_sees_are_told() {
    let tree = tree(&[
        ("src/login.rs", "fn login() { /* \u{202e}nigol */ }\n"),
        ("src/plain.rs", "fn login_plain() {} // 👩\u{200d}💻 é\n"),
        ("src/mark.rs", "fn login_mark() {} // \u{200f}\n"),
    ]);
    let pack = tree.json(&["the login"]);
    let problems = pack["problems"].to_string();
    assert!(
        problems.contains("are in `src/login.rs` (U+202E), `src/mark.rs` (U+200F): it may read"),
        "{problems}"
    );
    assert!(!problems.contains("plain.rs"), "{problems}");
}

#[test]
fn p11_a_warning_has_its_level_in_json() {
    let tree = tree(&[("src/login.rs", "pub fn login() {}\n")]);
    let args = [
        "login",
        "--exclude",
        "[",
        "--log-format",
        "json",
        "--log",
        "warn",
    ];
    let output = tree.pack(&args);
    let line = r#"{"level":"WARN","message":"`[` is not a file pattern, and is ignored"}"#;
    assert!(output.stderr.contains(line), "{}", output.stderr);
}
