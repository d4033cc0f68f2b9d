//! `--copy`, with programs that stand in for the desktop's.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::run::Folder;

/// A folder with chunks and with programs of these names.
fn folder(programs: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    let chunks = json!([{"content": "crème\n", "source": "a.txt", "chunk_type": "file", "priority": "HIGH"}]);
    folder.write("chunks.json", chunks.to_string());
    for (name, script) in programs {
        let path = folder.write(name, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

fn copy(folder: &Folder, desktop: (&str, &str)) -> crate::run::Output {
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let none = [
        ("DISPLAY", ""),
        ("WAYLAND_DISPLAY", ""),
        ("WSL_DISTRO_NAME", ""),
    ];
    let variables = [&none[..], &[("PATH", &path), desktop]].concat();
    let args = [
        "fit",
        "chunks.json",
        "--budget",
        "1k",
        "--format",
        "markdown",
        "--copy",
    ];
    folder.run_with(&variables, &args)
}

const KEEP: &str = "cat > copied; echo \"$0 $*\" > called";

#[test]
fn x01_the_prompt_goes_to_the_clipboard_and_not_to_stdout() {
    for (program, desktop, args) in [
        ("xclip", ("DISPLAY", ":0"), "-in -selection clipboard"),
        ("wl-copy", ("WAYLAND_DISPLAY", "wayland-0"), ""),
    ] {
        let folder = folder(&[(program, KEEP)]);
        assert_eq!(copy(&folder, desktop).success(), "");
        let copied = fs::read_to_string(folder.path().join("copied")).unwrap();
        assert_eq!(copied, "## a.txt\n```txt\ncrème\n```");
        let called = fs::read_to_string(folder.path().join("called")).unwrap();
        assert!(
            called
                .trim_end()
                .ends_with(format!("{program} {args}").trim_end()),
            "{called}"
        );
    }
}

#[test]
fn x01_the_next_program_is_tried_when_one_fails() {
    let folder = folder(&[("xclip", "exit 1"), ("xsel", KEEP)]);
    copy(&folder, ("DISPLAY", ":0")).success();
    assert!(folder.path().join("copied").exists());
}

#[test]
fn x01_no_clipboard_is_a_failure_that_says_what_was_tried() {
    let folder = folder(&[("xclip", "exit 3"), ("xsel", "exit 4")]);
    let error = copy(&folder, ("DISPLAY", ":0")).failure(1);
    for part in [
        "xclip: exit status: 3",
        "xsel: exit status: 4",
        "hint: install",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let error = copy(&folder, ("DISPLAY", "")).failure(1);
    assert!(
        error.contains("(the terminal: stderr is not one)"),
        "{error}"
    );
}
