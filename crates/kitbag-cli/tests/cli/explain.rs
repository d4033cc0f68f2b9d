//! `kitbag explain`.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::pack::tree::{Tree, repository, tree};

const TASK: &str = "fix the login redirect";

fn shop() -> Tree {
    tree(&[
        ("src/login.rs", "pub fn login() {\n    redirect()\n}\n"),
        ("src/order.rs", "pub fn order_of_customer() {}\n"),
        ("node_modules/login/index.js", "exports.login = 1\n"),
        ("login.png", "login"),
    ])
}

/// What is told of a path, as JSON.
#[track_caller]
fn told(tree: &Tree, args: &[&str]) -> Value {
    let output = tree.run(&[&["explain"], args, &["--json"]].concat());
    serde_json::from_str(&output.success()).unwrap()
}

#[test]
fn p13_a_path_is_told_of_whatever_the_task_comes_from() {
    let tree = repository(&[("src/login.rs", "pub fn login() {}\n")]);
    tree.write("src/login.rs", "pub fn login() {\n    redirect()\n}\n");
    tree.git(&["add", "--all"]);
    tree.write("../task.txt", TASK);
    let path = "src/login.rs";
    for args in [
        &[TASK, path][..],
        &["--task-file", "../task.txt", path],
        &["--diff", path],
        &["is it safe?", path, "--diff"],
        &["--staged", path],
    ] {
        assert_eq!(told(&tree, args)["shown"]["level"], "full", "{args:?}");
    }
    // A sentence is a task.
    let table = told(&tree, &["is it safe?", "--diff"]);
    assert!(table["chunks"].is_array(), "{table:#}");
    let args = ["explain", TASK, path, "--task-file", "../task.txt"];
    let error = tree.run(&args).failure(2);
    assert!(
        error.contains("give only the path as an argument"),
        "{error}"
    );
}

#[test]
fn x01_a_path_that_is_no_file_is_a_usage_error() {
    let tree = shop();
    tree.write("../outside.rs", "");
    for (path, why) in [
        (
            "src/gone.rs",
            "there is no file `src/gone.rs` below the root `.`",
        ),
        ("../outside.rs", "`../outside.rs` is outside the root `.`"),
        ("src", "`src` is a folder"),
    ] {
        let error = tree.run(&["explain", TASK, path]).failure(2);
        assert!(error.contains(why) && error.contains("hint: "), "{error}");
    }
    // What is no file may be part of the prompt.
    tree.git(&["init", "--quiet"]);
    tree.commit("first");
    let log = tree.run(&["explain", "why does the login crash?", "git log"]);
    assert!(log.success().starts_with("git log is in the prompt"));
}

#[test]
fn p13_what_was_not_looked_at_has_no_budget() {
    let tree = shop();
    let said = |path: &str| tree.run(&["explain", TASK, path]).success();
    let vendored = said("node_modules/login/index.js");
    assert!(
        vendored.contains("the folder `node_modules` is left out: code of other projects"),
        "{vendored}"
    );
    assert!(vendored.contains("--pin node_modules/login/index.js"));
    let picture = said("login.png");
    assert!(
        picture.contains("no text") && !picture.contains("--pin"),
        "{picture}"
    );
    for said in [vendored, picture] {
        assert!(
            !said.contains("budget") && !said.contains("would"),
            "{said}"
        );
    }
    let order = said("src/order.rs");
    let in_task = "a task that mentions `src/order.rs` would show it";
    if order.contains("is not in the prompt") {
        assert!(order.contains(in_task), "{order}");
    }
}

/// Many files about the task, and one that has no room.
fn crowded() -> Tree {
    let tree = tree(&[]);
    for n in 0..30 {
        let mut code = String::new();
        for m in 0..20 {
            let _ = write!(code, "pub fn login_{n}_{m}() {{\n    redirect({m})\n}}\n\n");
        }
        tree.write(format!("src/login_{n}.rs"), code);
    }
    tree.write(
        "src/other.rs",
        "pub fn other_thing() {\n    login_1_1()\n}\n",
    );
    tree
}

#[test]
fn p13_the_budget_that_is_told_brings_it_in_and_nothing_contradicts_it() {
    let tree = crowded();
    let args = [TASK, "--budget", "600"];
    let pack = tree.json(&args);
    let excluded = pack["excluded"].as_array().unwrap();
    let no_room = |excluded: &&Value| excluded["reason"].as_str().unwrap().contains("no room");
    let path = excluded.iter().rfind(no_room).unwrap()["source"]
        .as_str()
        .unwrap();
    let told = told(&tree, &[&args[..], &[path]].concat());
    assert_eq!(told["reason"], "no room: what is shown is worth more");
    let budget = told["budget"].to_string();
    let pack = tree.json(&[TASK, "--budget", &budget]);
    assert!(crate::pack::tree::find(&pack, path).is_some());
    let said = tree.run(&[&["explain"], &args[..], &[path]].concat());
    let said = said.success();
    let tokens = said.lines().filter(|line| line.contains("tokens"));
    assert_eq!(tokens.count(), 1, "{said}");
}

#[test]
fn p13_a_trial_that_fails_does_not_cost_the_answer() {
    let tree = tree(&[
        ("src/login.rs", "pub fn login() {}\n"),
        ("src/other.rs", "pub fn other_thing() {}\n"),
    ]);
    let packs = |task: &str, budget: &u32| {
        let output = tree.pack(&[task, "--budget", &budget.to_string()]);
        output.code == Some(0)
    };
    // There is room for the task, and none for one word more.
    let budget = (80..140).find(|budget| packs("login", budget)).unwrap();
    assert!(!packs("login\nsrc/other.rs", &budget));
    let budget = budget.to_string();
    let args = ["explain", "login", "src/other.rs", "--budget", &budget];
    let said = tree.run(&args).success();
    assert!(
        said.starts_with("src/other.rs is not in the prompt: "),
        "{said}"
    );
}

#[test]
fn p13_the_last_pack_is_told_with_its_true_numbers() {
    let tree = tree(&[]);
    for n in 0..1_003 {
        tree.write(format!("src/login_{n}.rs"), "pub fn login() {}\n");
    }
    for n in 0..250 {
        tree.write(format!("locks/{n}.lock"), "");
    }
    tree.pack(&[TASK, "--budget", "1k"]).success();
    let said = tree.run(&["explain"]).success();
    assert!(said.contains("1,003 files ranked"), "{said}");
    let table = said.strip_prefix(&format!("task: {TASK}\n\n")).unwrap();
    assert_eq!(
        tree.run(&["explain", TASK, "--budget", "1k"]).success(),
        table
    );
    let all = tree.run(&["explain", "--excluded", "5000"]).success();
    assert!(
        all.contains("more; give the task again to see all"),
        "{all}"
    );
}

#[test]
fn p13_a_file_alone_is_told_for_the_task_of_the_last_pack() {
    let tree = tree(&[]);
    tree.write("src/login.rs", "pub fn login() {}\n");
    let failed = tree.run(&["explain", "src/login.rs"]).failure(1);
    assert!(failed.contains("there is no earlier pack"), "{failed}");
    tree.pack(&[TASK, "--budget", "1k"]).success();
    let output = tree.run(&["explain", "src/login.rs", "--budget", "1k"]);
    assert!(output.stderr.contains(TASK), "{output:?}");
    let expected = tree.run(&["explain", TASK, "src/login.rs", "--budget", "1k"]);
    assert_eq!(output.success(), expected.success());
}

#[test]
fn x01_only_so_many_last_packs_are_kept() {
    let tree = tree(&[]);
    let last = tree.path().join("../cache/last");
    fs::create_dir_all(&last).unwrap();
    for n in 0..50 {
        fs::write(last.join(format!("{n}.json")), "{}").unwrap();
    }
    fs::write(last.join(".tmpLeft"), "half").unwrap();
    let task = "login ".repeat(5_000);
    tree.write("src/login.rs", "pub fn login() {}\n");
    tree.pack(&[&task]).success();
    assert_eq!(fs::read_dir(&last).unwrap().count(), 32);
    let said = tree.run(&["explain"]).success();
    assert!(said.starts_with("task: login login"), "{said}");
    let sizes = fs::read_dir(&last)
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len());
    assert!(sizes.max().unwrap() < 10_000);
}

#[test]
fn p13_the_budget_is_told_with_which_a_file_far_down_is_looked_at() {
    let tree = tree(&[]);
    for n in 0..90 {
        let text = format!("pub fn login_{n}() {{ redirect({n}) }}\n").repeat(90 - n);
        tree.write(format!("src/login_{n:02}.rs"), &text);
    }
    let json =
        |args: &[&str]| -> Value { serde_json::from_str(&tree.run(args).success()).unwrap() };
    let task = "fix the login redirect";
    let far = json(&["explain", task, "--json", "--budget", "2k"])["ranked"][75]["source"].clone();
    let far = far.as_str().unwrap();
    let told = json(&["explain", task, far, "--json", "--budget", "2k"]);
    assert_eq!(told["rank"], 76);
    let budget = told["budget"].as_u64().unwrap();
    assert!(budget >= 76 * 400, "{budget}");
    let pack = json(&["pack", task, "--json", "--budget", &budget.to_string()]);
    let chunks = pack["chunks"].as_array().unwrap();
    assert!(chunks.iter().any(|chunk| chunk["source"] == far), "{pack}");
}

#[test]
fn p13_scores_add_up_and_are_the_same_in_both_views() {
    let function = |n: u32| format!("pub fn login_{n}() {{\n    redirect({n})\n}}\n\n");
    let long: String = (0..200).map(function).collect();
    let tree = tree(&[
        ("src/login.rs", &long),
        ("src/redirect.rs", "pub fn redirect(n: u32) {}\n"),
        ("tests/login.rs", "fn login() {}\n"),
        ("docs/login.md", "# The login\n"),
    ]);
    let table = told(&tree, &[TASK, "--budget", "900"]);
    let ranked = table["ranked"].as_array().unwrap();
    assert_eq!(ranked.len(), 4);
    for file in ranked {
        let parts = file["parts"].as_array().unwrap();
        let sum: i64 = parts
            .iter()
            .map(|part| part["value"].as_i64().unwrap())
            .sum();
        assert_eq!(file["score"], sum, "{file:#}");
        assert_eq!(parts[0]["name"], "base", "{file:#}");
        let path = file["source"].as_str().unwrap();
        let alone = told(&tree, &[TASK, path, "--budget", "900"]);
        assert_eq!(
            (&alone["score"], &alone["parts"]),
            (&file["score"], &file["parts"])
        );
    }
    for chunk in table["chunks"].as_array().unwrap() {
        let same = ranked.iter().find(|file| file["source"] == chunk["source"]);
        assert!(
            same.is_none_or(|file| file["score"] == chunk["score"]),
            "{chunk:#}"
        );
    }
}

#[test]
fn p13_each_of_the_four_symptoms_has_an_answer() {
    let function = |n: u32| format!("pub fn login_{n}() {{\n    redirect({n})\n}}\n\n");
    let long: String = (0..200).map(function).collect();
    let tree = tree(&[
        ("src/login.rs", &long),
        ("src/order.rs", "pub fn order_of_customer() {}\n"),
    ]);
    let explain = |args: &[&str]| {
        let all = [&["explain"], args, &["--budget", "900"]].concat();
        tree.run(&all).success()
    };
    let missing = explain(&[TASK, "src/order.rs"]);
    for answer in [
        "is not in the prompt: it has no word of the task",
        "a task that mentions `src/order.rs` would show it",
        "`--pin src/order.rs` always shows it",
    ] {
        assert!(missing.contains(answer), "{answer}: {missing}");
    }
    let truncated = explain(&[TASK, "src/login.rs"]);
    assert!(truncated.contains("is in the prompt: slice"), "{truncated}");
    assert!(
        truncated.contains(" tokens would show it whole"),
        "{truncated}"
    );
    assert!(
        truncated.contains("`--exclude src/login.rs` leaves it out"),
        "{truncated}"
    );
    let table = explain(&["fix the login of the frobnicator"]);
    for answer in [
        "most tokens: src/ ",
        "`--max-files N` limits the files",
        "task type debug, from “fix”; `--task-type TYPE` changes it",
        "words of the task, with the number of files: login (1)",
        "in no file: “frobnicator”; use names from the code instead",
    ] {
        assert!(table.contains(answer), "{answer}: {table}");
    }
}

#[test]
fn p13_a_mistyped_path_is_an_error_that_names_the_nearest_one() {
    let tree = tree(&[("src/login.rs", "pub fn login() {}\n")]);
    tree.pack(&["login"]).success();
    let error = tree.run(&["explain", "src/logni.rs"]).failure(2);
    assert!(error.contains("did you mean `src/login.rs`?"), "{error}");
}
