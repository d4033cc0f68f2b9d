//! The help of every command, as snapshots to be read line by line. Its examples are options that exist.

use crate::run::Folder;

/// The names below a heading of the help, whose lines are `  name  what it does`.
fn commands_in(help: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_list = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            is_list = line == "Commands:";
            continue;
        }
        // A description that goes on has a deeper indent.
        let name = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '));
        let name = name.and_then(|rest| rest.split(' ').next());
        names.extend(
            name.filter(|name| is_list && *name != "help")
                .map(str::to_owned),
        );
    }
    names
}

/// The help of a command and of all below it.
fn help_of(folder: &Folder, path: &[&str]) -> String {
    let help = folder.run(&[path, &["--help"]].concat()).success();
    assert!(help.contains("\nExample"), "{path:?} has no example");
    let mut text = format!("$ kitbag {} --help\n{help}", path.join(" "));
    for name in commands_in(&help) {
        let path = [path, &[name.as_str()]].concat();
        text.push_str(&format!("\n{}", help_of(folder, &path)));
    }
    text
}

const COMMANDS: [&str; 24] = [
    "pack",
    "explain",
    "expand",
    "context",
    "fit",
    "checkpoint",
    "ask",
    "chat",
    "memory",
    "remind",
    "replay",
    "init",
    "mcp",
    "hook",
    "serve",
    "key",
    "agent",
    "layout",
    "skill",
    "models",
    "doctor",
    "tokens",
    "completions",
    "man",
];

#[test]
fn x03_help_lists_the_commands_in_groups() {
    let help = Folder::new().run(&["--help"]).success();
    for name in COMMANDS {
        assert!(help.contains(&format!("\n  {name} ")), "{name}\n{help}");
    }
    insta::assert_snapshot!("help", help);
}

#[test]
fn x03_every_command_has_help() {
    let folder = Folder::new();
    for name in COMMANDS {
        let help = help_of(&folder, &[name]);
        // The folder of the cache is that of the test.
        let is_wide = |line: &&str| line.chars().count() > 160 && !line.contains("[possible");
        assert_eq!(help.lines().find(is_wide), None, "{name}");
        insta::assert_snapshot!(format!("help_{name}"), help);
    }
}

/// An option that does not exist is refused before `--help` is reached.
#[test]
fn x03_the_examples_of_help_use_options_that_exist() {
    let folder = Folder::new();
    let mut ran = 0;
    for name in COMMANDS {
        let help = help_of(&folder, &[name]);
        for line in help.lines().filter(|line| !line.starts_with('$')) {
            let Some(example) = line.strip_prefix("Example: ").or(line.strip_prefix("  ")) else {
                continue;
            };
            let mut parts = example.split(" | ");
            let Some(command) = parts.find_map(|part| part.strip_prefix("kitbag ")) else {
                continue;
            };
            let command = command.split(" > ").next().unwrap();
            let words = shell_words(command);
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            words.push("--help");
            folder.run(&words).success();
            ran += 1;
        }
    }
    assert!(ran > 50, "{ran}");
}

/// The words of a command as a shell splits them, as far as the examples need it.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => words.push(String::new()),
            (c, _) => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn x03_commands_without_memory_offer_no_store() {
    let folder = Folder::new();
    for name in ["pack", "fit", "tokens", "layout", "man"] {
        let help = help_of(&folder, &[name]);
        assert!(!help.contains("--store"), "{name}: {help}");
    }
    for name in ["model", "migrate"] {
        let help = help_of(&folder, &["memory", name]);
        assert!(!help.contains("--store"), "{name}: {help}");
    }
    for name in ["memory", "ask", "replay"] {
        let help = help_of(&folder, &[name]);
        assert!(help.contains("--store"), "{name}: {help}");
    }
    // An alias may set the store for all commands.
    folder.write("a.txt", "one two");
    let args = ["--store", "sqlite:memory.db", "tokens", "a.txt"];
    folder.run(&args).success();
}
