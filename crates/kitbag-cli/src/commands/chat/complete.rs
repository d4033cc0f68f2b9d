//! Completes commands on the tab key.

use kitbag::command::COMMANDS;
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper, Result};

/// The completer of commands.
pub(super) struct Commands;

impl Completer for Commands {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> Result<(usize, Vec<String>)> {
        let typed = line.get(..at).unwrap_or_default();
        Ok((0, candidates(typed)))
    }
}

/// The commands that begin with the typed text.
fn candidates(typed: &str) -> Vec<String> {
    let known = COMMANDS.iter().map(|spec| format!("/{}", spec.name));
    let is_begun = |name: &String| typed.starts_with('/') && name.starts_with(typed);
    known.filter(is_begun).map(|name| name + " ").collect()
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}
impl Validator for Commands {}
impl Helper for Commands {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o08_commands_are_completed_from_their_first_letters() {
        assert_eq!(candidates("/fo"), ["/forget "]);
        assert_eq!(candidates("/he"), ["/help "]);
        assert_eq!(candidates("/q"), ["/quit "]);
        assert_eq!(candidates("/").len(), COMMANDS.len());
        assert!(candidates("what /he").is_empty() && candidates("").is_empty());
    }
}
