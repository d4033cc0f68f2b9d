//! Completions and manual pages.

use std::path::Path;
use std::process::Command;

use crate::run::Folder;

#[test]
fn x03_every_shell_gets_a_script() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&["completions", shell]).success();
        assert!(
            script.contains("completions") && script.contains("budget"),
            "{shell}"
        );
    }
    let error = folder.run(&["completions", "tcsh"]).failure(2);
    assert!(error.contains("tcsh") && error.contains("bash"), "{error}");
}

#[test]
fn x03_bash_completes_commands_and_options() {
    let binary = Path::new(env!("CARGO_BIN_EXE_kitbag")).parent().unwrap();
    let script = r#"
        source <(kitbag completions bash)
        complete -p kitbag >&2
        suggest() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kitbag kitbag "${!#}" x; echo "${COMPREPLY[@]}"; }
        suggest kitbag fi
        suggest kitbag fit --budg
    "#;
    let output = Command::new("bash")
        .args(["--norc", "-c", script])
        .env("PATH", format!("{}:/usr/bin:/bin", binary.display()))
        .output()
        .unwrap();
    let (stdout, stderr) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    assert_eq!(
        String::from_utf8(stdout).unwrap(),
        "fit\n--budget\n",
        "{stderr}"
    );
    assert!(
        stderr.starts_with("complete ") && stderr.lines().count() == 1,
        "{stderr}"
    );
}

#[test]
fn x03_the_manual_page_is_one() {
    let folder = Folder::new();
    let page = folder.run(&["man"]).success();
    assert!(page.contains(".TH kitbag 1"), "{page}");
    assert!(page.contains("kitbag\\-fit(1)"), "{page}");
    folder.write("kitbag.1", &page);
    check_format(&folder, "kitbag.1");
}

#[test]
fn x03_each_command_has_its_page() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["man", "--dir", "share/man1"]).success(), "");
    for page in [
        "kitbag.1",
        "kitbag-fit.1",
        "kitbag-tokens.1",
        "kitbag-man.1",
    ] {
        check_format(&folder, &format!("share/man1/{page}"));
    }
    folder.write("file", "");
    let error = folder.run(&["man", "--dir", "file"]).failure(1);
    assert!(
        error.contains("cannot write manual pages to file"),
        "{error}"
    );
}

/// Formats a page with all warnings on, where there is a program for it.
fn check_format(folder: &Folder, page: &str) {
    let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
    assert!(text.contains("\n.SH NAME\n"), "{text}");
    let formatted = Command::new("groff")
        .args(["-man", "-Tutf8", "-Kutf8", "-ww", page])
        .current_dir(folder.path())
        .output();
    if let Ok(formatted) = formatted {
        let warnings = String::from_utf8_lossy(&formatted.stderr);
        assert!(
            formatted.status.success() && warnings.is_empty(),
            "{page}: {warnings}"
        );
    }
}
