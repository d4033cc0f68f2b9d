//! Turns the message of a commit into the words of a task.

use anyhow::Result;
use regex::Regex;

/// Shorter messages ask for nothing that could be found.
const FEWEST_WORDS: usize = 9;

/// Commits that change nothing a person would ask for.
const CHORES: &str = concat!(
    r"(?i)^\W*(\w+(\([^)]*\))?!?:\s*)?(releas|bump|version|v?\d+\.\d+|prepar|merg|revert|backport|upgrad",
    r"|doc|typo|changelog|chore|ci\b|build\b|deps?\b|lint|style\b|tests?\b|test:|updates? dep)",
    // Programs that keep a repository in order sign with their names.
    r"|(?i)\bpre-commit\b|\bauto(update|fixes)\b|\bauto fixes\b|^\W*(un)?suppress|^\W*add(s|ed)? (\w+ )?tests?\b",
    r"|(?i)^\W*(docs?|chore|ci|build|deps|style|tests?|refactor|release)(\([^)]*\))?!?:",
    r"|(?i)\b(refactor\w*|renam\w+|reformat\w*|formatting|whitespace|typos?|spelling|changelog|cleanup|clean up|docstrings?)\b",
);

/// Lines below a message that are for machines.
const TRAILER: &str = r"(?im)^\s*([a-z-]+-by|change-id|fix(es|ed)?|close[sd]?|resolve[sd]?|refs?|see|see also|bug|issue|pr-url|cherry.picked|git-svn-id)\s*:.*$|^\(cherry picked from .*$";

/// In the order in which they are taken away.
const GIVEN_AWAY: [&str; 6] = [
    // Links.
    r"https?://\S+",
    // Numbers of issues, with the words around them.
    r"(?i)\(?(\b(fix(es|ed)?|close[sd]?|resolve[sd]?|refs?)\s*)?(\b[\w.-]+/[\w.-]+)?(#|\bgh-)\d+\)?",
    // Ids of commits.
    r"\b[0-9a-f]*[0-9][0-9a-f]{6,39}\b",
    // File names and paths.
    r"[\w.@+-]*(/[\w.@+-]+)+/?",
    r"\b[\w-]+\.(pyx?|pyi|rs|go|java|cc?|h|cpp|hpp|cxx|hh|jsx?|mjs|cjs|tsx?|vue|php|rb|json|ya?ml|toml|md|rst|txt)\b",
    // What is left of brackets.
    r"\(\s*\)|\[\s*\]",
];

/// The scope that a title opens with, and the type: `parser: `, `feat(parser)!: `, `[parser] `.
const SCOPE: &str = r"^\s*(\[[^\]]+\]\s*|[\w.,*/+-]+(\([^)]*\))?!?:\s+)+";

/// The parts to remove from messages, and the messages that are no tasks.
pub(super) struct Messages {
    chores: Regex,
    trailer: Regex,
    given_away: Vec<Regex>,
    scope: Regex,
}

impl Messages {
    pub(super) fn new() -> Result<Self> {
        let given_away = GIVEN_AWAY.iter().map(|pattern| Regex::new(pattern));
        Ok(Self {
            chores: Regex::new(CHORES)?,
            trailer: Regex::new(TRAILER)?,
            given_away: given_away.collect::<Result<_, _>>()?,
            scope: Regex::new(SCOPE)?,
        })
    }

    /// The task that a message makes; none for a chore, or if too few words are left.
    pub(super) fn task(&self, message: &str) -> Option<String> {
        let title = message.trim().lines().next()?;
        if self.chores.is_match(title) {
            return None;
        }
        let mut text = self.trailer.replace_all(message.trim(), "").into_owned();
        for given_away in &self.given_away {
            text = given_away.replace_all(&text, "").into_owned();
        }
        let text = self.scope.replace(&text, "");
        let lines = text.lines().map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.join(" ")
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let text = text.trim().trim_start_matches("-- ").to_owned();
        let words = text.split_whitespace();
        let words = words.filter(|word| word.contains(|c: char| c.is_alphabetic()));
        (words.count() >= FEWEST_WORDS).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(message: &str) -> Option<String> {
        Messages::new().unwrap().task(message)
    }

    #[test]
    fn what_gives_the_answer_away_is_taken_away() {
        let message = "feat(parser): let src/parse.rs and lexer.go read 1a2b3c4d numbers (#123)\n\n\
            As asked in https://host/x/issues/1 and some/name#4, an empty list is a list.\n\n\
            Co-authored-by: A <a@example.com>\nFixes: 12";
        insta(message, "let and lexer read numbers");
        let numbered = "Show the last line of a text once, and not twice (#12) (fixes gh-34)";
        assert_eq!(
            task(numbered).unwrap(),
            "Show the last line of a text once, and not twice"
        );
        let fixed =
            "Fixed #35042 -- Fixed a crash of lists that are ordered by two of their columns.";
        assert_eq!(
            task(fixed).unwrap(),
            "Fixed a crash of lists that are ordered by two of their columns."
        );
    }

    /// The title that is left, but for file names.
    fn insta(message: &str, title: &str) {
        let task = task(message).unwrap();
        let first = task.lines().next().unwrap();
        assert_eq!(first, title.replace("lexer ", ""));
        assert!(task.ends_with("and , an empty list is a list."), "{task}");
    }

    #[test]
    fn chores_and_short_messages_are_no_tasks() {
        for message in [
            "fix the parser",
            "Release 1.2.3 of the project with all that was done since the last one",
            "chore(deps): the new release of a library that we use in many of our files",
            "docs: how the parser reads a number at the end of a line of text",
            "Rename the parser of numbers so that it says what it reads in a line",
            "refactor the reader of numbers into a function of its own for all lines",
            "[pre-commit.ci] auto fixes from the hooks that run before each of our commits",
            "Added a test of numbers at the end of a line that confirms the issue",
            "Bump actions/checkout from 3 to 4 in all of the workflows that we have here",
        ] {
            assert_eq!(task(message), None, "{message}");
        }
        let fix = "Prevent the parser from reading a number twice when a line has two";
        assert!(task(fix).is_some());
    }
}
