//! Which instructions apply to which targets, in which order, once.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// The paths and contents of the instructions for `targets` in a project of these files.
fn found<'f>(files: &[(&'f str, &str)], targets: &[&str]) -> Vec<(&'f str, String)> {
    let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
    let paths: Vec<&str> = texts.keys().copied().collect();
    let read = |path: &str| texts.get(path).map(|text| (*text).to_owned());
    let name = |path: String| files.iter().find(|(known, _)| *known == path).unwrap().0;
    instructions(&paths, targets, &read)
        .into_iter()
        .map(|Instruction { path, content }| (name(path), content))
        .collect()
}

fn paths<'f>(files: &[(&'f str, &str)], targets: &[&str]) -> Vec<&'f str> {
    found(files, targets)
        .into_iter()
        .map(|(path, _)| path)
        .collect()
}

#[test]
fn p04_instructions_go_from_the_root_to_the_target() {
    let files = [
        ("AGENTS.md", "root"),
        (".github/copilot-instructions.md", "copilot"),
        (".cursorrules", "cursor"),
        ("CONTRIBUTING.md", "people"),
        ("web/AGENTS.md", "web"),
        ("web/GEMINI.md", "web for gemini"),
        ("web/admin/CLAUDE.md", "admin"),
        ("api/AGENTS.md", "api"),
        ("website/AGENTS.md", "another folder"),
    ];
    let root = [
        "AGENTS.md",
        ".github/copilot-instructions.md",
        ".cursorrules",
    ];
    assert_eq!(paths(&files, &[]), root);
    assert_eq!(paths(&files, &["README.md"]), root);
    assert_eq!(
        paths(&files, &["web/admin/page.ts", "web/index.ts"])[3..],
        ["web/AGENTS.md", "web/GEMINI.md", "web/admin/CLAUDE.md"]
    );
    assert_eq!(paths(&files, &["api"])[3..], ["api/AGENTS.md"]);
}

#[test]
fn the_same_text_stands_once() {
    let files = [
        ("AGENTS.md", "Run the tests.\n"),
        ("CLAUDE.md", "Run  the tests.\r\n"),
        ("GEMINI.md", "Run no tests."),
    ];
    assert_eq!(paths(&files, &[]), ["AGENTS.md", "GEMINI.md"]);
}

#[test]
fn a_pointer_gives_way_to_what_it_points_to() {
    for pointer in [
        "@AGENTS.md",
        "AGENTS.md",
        "# Claude\n\nSee [AGENTS.md](./AGENTS.md) for all instructions.\n",
        "<!-- shared -->\nPlease read `AGENTS.md`.",
    ] {
        let files = [("AGENTS.md", "Run the tests."), ("CLAUDE.md", pointer)];
        assert_eq!(paths(&files, &[]), ["AGENTS.md"], "{pointer}");
    }
    for no_pointer in [
        "See AGENTS.md and never touch generated files.",
        "@AGENTS.md\nAnswer in French.",
        "Read AGENTS.md, then docs/style.md.",
        "See MISSING.md",
    ] {
        let files = [("AGENTS.md", "Run the tests."), ("CLAUDE.md", no_pointer)];
        assert_eq!(
            paths(&files, &[]),
            ["AGENTS.md", "CLAUDE.md"],
            "{no_pointer}"
        );
    }
}

#[test]
fn pointers_lead_elsewhere_but_not_outside_or_in_circles() {
    let files = [
        ("CLAUDE.md", "@docs/agents.md"),
        ("docs/agents.md", "Run the tests."),
        ("web/AGENTS.md", "@../CLAUDE.md"),
        ("api/AGENTS.md", "@CLAUDE.md"),
        ("api/CLAUDE.md", "@AGENTS.md"),
        ("GEMINI.md", "@../../secret.md"),
    ];
    assert_eq!(
        found(&files, &["web/a.ts", "api/b.ts"]),
        [
            ("docs/agents.md", "Run the tests.".to_owned()),
            ("GEMINI.md", "@../../secret.md".to_owned()),
        ]
    );
}

#[test]
fn rules_say_which_files_they_are_for() {
    let files = [
        (
            ".cursor/rules/all.mdc",
            "---\ndescription: x\nalwaysApply: true\n---\n\nAll.\n",
        ),
        (
            ".cursor/rules/asked.mdc",
            "---\ndescription: only when asked\nglobs:\nalwaysApply: false\n---\nAsked.",
        ),
        (".cursor/rules/plain.mdc", "Plain."),
        (
            ".cursor/rules/ts.mdc",
            "---\nglobs: *.ts, src/**/*.{js,jsx}\n---\nScripts.",
        ),
        (
            ".github/instructions/go.instructions.md",
            "---\napplyTo: \"**/*.go\"\n---\nGo.",
        ),
        (
            "web/.cursor/rules/css.mdc",
            "---\nglobs:\n  - styles/*.css\n---\nStyles.",
        ),
    ];
    let always = [".cursor/rules/all.mdc", ".cursor/rules/plain.mdc"];
    assert_eq!(paths(&files, &[]), always);
    assert_eq!(found(&files, &[])[0].1, "All.\n");
    assert_eq!(paths(&files, &["lib/a.ts"])[2..], [".cursor/rules/ts.mdc"]);
    assert_eq!(
        paths(&files, &["src/x/a.jsx"])[2..],
        [".cursor/rules/ts.mdc"]
    );
    assert_eq!(
        paths(&files, &["cmd/main.go"])[0],
        ".github/instructions/go.instructions.md"
    );
    assert_eq!(
        paths(&files, &["web/styles/a.css"])[2..],
        ["web/.cursor/rules/css.mdc"]
    );
    assert_eq!(paths(&files, &["styles/a.css"]), always);
}

#[test]
fn long_texts_are_cut_at_a_line_and_say_so() {
    let line = "A rule that goes on for a while.\n";
    let long = line.repeat(1_000);
    let files = [("AGENTS.md", long.as_str()), ("CLAUDE.md", long.as_str())];
    assert_eq!(paths(&files, &[]), ["AGENTS.md"]);
    let cut = found(&files, &[]).remove(0).1;
    assert!(cut.len() <= FILE_BYTES, "{}", cut.len());
    let shown = cut.lines().count() - 1;
    assert!(cut.ends_with(&format!("while.\n… ({} more lines)\n", 1_000 - shown)));
}

#[test]
fn when_all_are_too_long_the_root_and_the_first_target_stay() {
    let long = |name: &str| format!("{name}\n").repeat(20 * 1024 / name.len());
    let texts = ["root", "first", "second", "third"].map(long);
    let files = [
        ("AGENTS.md", texts[0].as_str()),
        ("a/AGENTS.md", texts[3].as_str()),
        ("b/AGENTS.md", texts[2].as_str()),
        ("c/AGENTS.md", texts[1].as_str()),
    ];
    let found = found(&files, &["c/x", "b/x", "a/x"]);
    assert_eq!(found.len(), 4);
    assert!(found[0].1.starts_with("root\nroot"));
    assert!(found[1].1.len() < 100 && found[1].1.contains("more lines"));
    assert!(found[3].1.starts_with("first\nfirst"));
    let total: usize = found.iter().map(|(_, content)| content.len()).sum();
    assert!(total <= TOTAL_BYTES + NOTE_BYTES * files.len());
}

#[test]
fn what_cannot_be_read_or_is_empty_is_left_out() {
    let read = |path: &str| (path == "CLAUDE.md").then(|| " \n".to_owned());
    assert_eq!(instructions(&["AGENTS.md", "CLAUDE.md"], &[], &read), []);
}

proptest! {
    #[test]
    fn any_text_is_taken(text in "(---\n|globs: |- |[{,}*]|@AGENTS.md|\\PC|\n){0,20}", target in "[a-c/.]{0,8}") {
        let paths = ["AGENTS.md", ".cursor/rules/x.mdc", "a/CLAUDE.md"];
        let read = |_: &str| Some(text.clone());
        let found = instructions(&paths, &[&target], &read);
        prop_assert!(found.len() <= 3);
    }
}
