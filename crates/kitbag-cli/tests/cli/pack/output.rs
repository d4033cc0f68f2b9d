//! `-o`: the prompt in a file.

use std::fs;

use super::tree::{Tree, find, tree};

const TASK: &str = "fix the login";

fn shop() -> Tree {
    tree(&[
        ("src/login.rs", "pub fn login() {\n    redirect()\n}\n"),
        ("src/order.rs", "pub fn order() {}\n"),
    ])
}

#[test]
fn x01_the_prompt_goes_into_a_file() {
    let tree = shop();
    let printed = tree.pack(&[TASK]).success();
    let written = tree.write("../prompt.txt", "old");
    assert_eq!(tree.pack(&[TASK, "-o", "../prompt.txt"]).success(), "");
    assert_eq!(fs::read_to_string(&written).unwrap(), printed);
    tree.pack(&[TASK, "--json", "-o", "../prompt.txt"])
        .success();
    let json = fs::read_to_string(&written).unwrap();
    serde_json::from_str::<serde_json::Value>(&json).unwrap();
    assert_eq!(tree.pack(&[TASK, "-o", "-"]).success(), printed);
    assert!(!tree.path().join("-").exists());
}

#[test]
fn x01_a_file_that_cannot_be_written_is_named_as_it_was_given() {
    let tree = shop();
    for (file, why) in [("missing/prompt.txt", "No such file"), ("src", "directory")] {
        let error = tree.pack(&[TASK, "-o", file]).failure(1);
        let line = format!("error: cannot write `{file}`: ");
        assert!(error.starts_with(&line) && error.contains(why), "{error}");
        assert!(!error.contains(".tmp"), "{error}");
    }
}

#[test]
fn x01_what_is_written_is_not_packed_the_next_time() {
    let tree = shop();
    for name in ["prompt login.md", "src/[login]*.md"] {
        tree.pack(&[TASK, "-o", name]).success();
        let first = fs::read_to_string(tree.path().join(name)).unwrap();
        tree.pack(&[TASK, "-o", name]).success();
        let second = fs::read_to_string(tree.path().join(name)).unwrap();
        assert_eq!(first, second, "{name}");
        fs::remove_file(tree.path().join(name)).unwrap();
    }
    // Other files of such a name are packed.
    tree.write("src/l.md", "the login\n");
    tree.pack(&[TASK, "--json", "-o", "src/[login].md"])
        .success();
    let json = fs::read_to_string(tree.path().join("src/[login].md")).unwrap();
    assert!(find(&serde_json::from_str(&json).unwrap(), "src/l.md").is_some());
}

#[cfg(target_os = "linux")]
#[test]
fn x01_the_file_that_stdout_is_is_not_packed() {
    let tree = shop();
    let expected = tree.pack(&[TASK]).success();
    let file = tree.write("login.md", "the login of before\n");
    let mut command = tree.command(&[TASK]);
    let stdout = fs::OpenOptions::new().append(true).open(&file).unwrap();
    command.stdin(std::process::Stdio::null()).stdout(stdout);
    crate::run::finish(command, None).success();
    let written = fs::read_to_string(file).unwrap();
    assert_eq!(
        written.strip_prefix("the login of before\n"),
        Some(&*expected)
    );
}

#[cfg(unix)]
#[test]
fn x01_a_file_has_the_rights_that_it_had_or_that_a_new_one_has() {
    use std::os::unix::fs::PermissionsExt as _;

    let tree = shop();
    let mode = |path: &str| {
        let metadata = fs::metadata(tree.path().join(path)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    tree.write("../other.txt", "as any program creates it");
    tree.pack(&[TASK, "-o", "../prompt.txt"]).success();
    assert_eq!(mode("../prompt.txt"), mode("../other.txt"));
    fs::set_permissions(
        tree.path().join("../prompt.txt"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    tree.pack(&[TASK, "-o", "../prompt.txt"]).success();
    assert_eq!(mode("../prompt.txt"), 0o640);
}

#[cfg(unix)]
#[test]
fn x01_a_link_is_followed_and_stays() {
    use std::os::unix::fs::symlink;

    let tree = shop();
    let printed = tree.pack(&[TASK]).success();
    fs::create_dir(tree.path().join("../far")).unwrap();
    let link = tree.path().join("../prompt.txt");
    symlink("far/real.txt", &link).unwrap();
    for state in ["new", "existing"] {
        tree.pack(&[TASK, "-o", "../prompt.txt"]).success();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{state}");
        let real = fs::read_to_string(tree.path().join("../far/real.txt")).unwrap();
        assert_eq!(real, printed, "{state}");
    }
    symlink("turn", tree.path().join("../turn")).unwrap();
    let error = tree.pack(&[TASK, "-o", "../turn"]).failure(1);
    assert!(error.contains("cannot write `../turn`: "), "{error}");
}
