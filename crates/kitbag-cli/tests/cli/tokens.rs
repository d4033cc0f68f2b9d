//! `kitbag tokens`.

use serde_json::Value;

use crate::run::Folder;

#[test]
fn x01_an_unknown_model_is_told_with_those_that_are_near() {
    let folder = Folder::new();
    folder.write("a.txt", "text");
    let hint = |model: &str| {
        let args = ["tokens", "a.txt", "--model", model];
        let error = folder.run(&args).failure(2);
        error.split_once("hint: ").unwrap().1.to_owned()
    };
    let mistral = hint("mistral-large");
    assert!(
        mistral.contains("mistral-nemo, mistral-small, mistral-medium-3"),
        "{mistral}"
    );
    assert!(hint("gpt-9-turbo").contains("gpt-5"));
    assert!(hint("gtp-4o").contains("gpt-4o"));
    assert!(hint("nothing-like-it").starts_with("name a tokenizer"));
}

#[test]
fn p02_tokens_of_stdin_is_a_number() {
    let folder = Folder::new();
    assert_eq!(
        folder.run_with_stdin(&["tokens"], b"hello world").success(),
        "2\n"
    );
    assert_eq!(
        folder
            .run_with_stdin(&["tokens", "-"], b"hello world")
            .success(),
        "2 -\n"
    );
    assert_eq!(folder.run_with_stdin(&["tokens"], b"").success(), "0\n");
}

#[test]
fn p02_tokens_of_files_with_their_total() {
    let folder = Folder::new();
    folder.write("a.txt", "hello world");
    folder.write("b.txt", "hello world\n".repeat(40));
    let output = folder.run(&["tokens", "a.txt", "b.txt", "--tokenizer", "cl100k_base"]);
    assert_eq!(output.success(), "  2 a.txt\n120 b.txt\n122 total\n");
}

#[test]
fn p02_tokens_as_json_says_whether_they_are_exact() {
    let folder = Folder::new();
    folder.write("a.txt", "hello world");
    let exact: Value =
        serde_json::from_str(&folder.run(&["tokens", "a.txt", "--json"]).success()).unwrap();
    assert_eq!(exact["tokenizer"], "o200k_base");
    assert_eq!(exact["exactness"]["kind"], "exact");
    assert_eq!(exact["files"][0]["tokens"], 2);
    assert_eq!(exact["files"][0]["bytes"], 11);
    assert_eq!(exact["total"], 2);
    let args = ["tokens", "a.txt", "--json", "--model", "claude-opus-4-8"];
    let estimate: Value = serde_json::from_str(&folder.run(&args).success()).unwrap();
    assert_eq!(estimate["exactness"]["kind"], "estimated");
    assert_eq!(estimate["total"], 3, "2 × 1.3, rounded up");
}

#[test]
fn p02_an_estimate_says_that_it_is_one() {
    let output = Folder::new().run_with_stdin(&["tokens", "--model", "gemini-2.5-pro"], b"hello");
    assert!(output.stderr.contains("estimates"), "{}", output.stderr);
    output.success();
}

#[test]
fn p02_one_bad_file_does_not_hide_the_others() {
    let folder = Folder::new();
    folder.write("good.txt", "hello world");
    folder.write("latin1.txt", b"caf\xe9 au lait");
    let output = folder.run(&["tokens", "good.txt", "latin1.txt", "missing.txt", "."]);
    assert_eq!(output.code, Some(1));
    assert_eq!(output.stdout, "2 good.txt\n");
    for named in [
        "latin1.txt: not UTF-8 text at byte 3",
        "missing.txt: ",
        ".: is a directory",
    ] {
        assert!(output.stderr.contains(named), "{}", output.stderr);
    }
}

#[test]
fn p02_unknown_models_and_tokenizers_are_usage_errors_with_a_hint() {
    let folder = Folder::new();
    let model = folder.run(&["tokens", "--model", "gtp-4o"]).failure(2);
    assert!(
        model.contains("`gtp-4o`") && model.contains("did you mean gpt-4o"),
        "{model}"
    );
    let tokenizer = folder.run(&["tokens", "--tokenizer", "o300k"]).failure(2);
    assert!(
        tokenizer.contains("`o300k`") && tokenizer.contains("o200k_base"),
        "{tokenizer}"
    );
    folder
        .run(&["tokens", "--model", "gpt-4o", "--tokenizer", "o200k_base"])
        .failure(2);
    folder.run(&["tokens", "--frobnicate"]).failure(2);
}

#[test]
fn p02_a_file_of_200_megabytes_is_counted() {
    let folder = Folder::new();
    folder.write("big.txt", "the quick brown fox\n".repeat(10_000_000));
    let output = folder.run(&["tokens", "big.txt", "--tokenizer", "cl100k_base"]);
    assert_eq!(output.success(), "50000000 big.txt\n");
}

#[test]
fn p02_names_of_files_cannot_steer_the_terminal_or_forge_a_line() {
    let folder = Folder::new();
    folder.write("z\n999999 total", "hello world");
    let printed = folder.run(&["tokens", "z\n999999 total"]).success();
    assert_eq!(printed, "2 z\\n999999 total\n");
    let error = folder.run(&["tokens", "--x\u{1b}[31m"]).failure(2);
    assert!(!error.contains('\u{1b}'), "{error:?}");
}
