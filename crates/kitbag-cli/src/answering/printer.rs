//! An answer on the screen while it comes.

use std::env;
use std::io::{self, IsTerminal as _};

use kitbag::provider::ReplyEvent;

use super::markdown::Markdown;
use crate::failure::Failure;
use crate::output::{self, counted, grouped, one_line, printable};
use crate::progress::Progress;

const WAITING: &str = "waiting for the model";

/// Prints the pieces of an answer as they come.
pub(super) struct AnswerPrinter {
    manner: Manner,
    /// AnswerPrinter from the signal that an answer is being made until its first words.
    progress: Option<Progress>,
    is_amid_line: bool,
    error: Option<io::Error>,
}

/// The way in which pieces are printed.
enum Manner {
    /// Not at all.
    Quiet,
    /// As they are, to a file or a pipe.
    Exact,
    /// To a terminal that shows no styles.
    Plain,
    /// To a terminal.
    Styled(Markdown),
}

impl AnswerPrinter {
    pub(super) fn new(is_quiet: bool) -> Self {
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let manner = match (is_quiet, io::stdout().is_terminal()) {
            (true, _) => Manner::Quiet,
            (_, false) => Manner::Exact,
            (_, true) if is_set("NO_COLOR") || is_dumb => Manner::Plain,
            (_, true) => Manner::Styled(Markdown::default()),
        };
        Self {
            manner,
            progress: None,
            is_amid_line: false,
            error: None,
        }
    }

    pub(super) fn show(&mut self, event: &ReplyEvent) {
        match event {
            ReplyEvent::Typing => self.progress = Some(Progress::start(WAITING)),
            ReplyEvent::Queued => {
                self.progress = None;
                output::say("waiting for another answer of this conversation");
                self.progress = Some(Progress::start(WAITING));
            }
            ReplyEvent::Text(text) if !text.is_empty() => self.print(text),
            // A person may be asked about it, on a line of its own.
            ReplyEvent::ToolCall(_) => {
                self.progress = None;
                if self.is_amid_line {
                    self.print("\n");
                }
            }
            ReplyEvent::Called {
                tool,
                tokens,
                time,
                problem,
            } => {
                let tool = one_line(tool);
                output::say(match problem {
                    Some(problem) => format!("{tool}: {}", one_line(problem)),
                    None => {
                        let tokens = counted(tokens.0.into(), "token", "tokens");
                        format!(
                            "{tool}: {tokens}, {} ms",
                            grouped(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
                        )
                    }
                });
            }
            ReplyEvent::Node { node, told, time } => {
                self.progress = None;
                let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                let told = one_line(told);
                output::say(format_args!("{node}: {told}, {} ms", grouped(millis)));
            }
            _ => {}
        }
    }

    fn print(&mut self, text: &str) {
        let shown = match &mut self.manner {
            Manner::Quiet => return,
            Manner::Exact => text.to_owned(),
            Manner::Plain => printable(text).into_owned(),
            Manner::Styled(markdown) => markdown.push(&printable(text)),
        };
        self.progress = None;
        self.is_amid_line = !text.ends_with('\n');
        if self.error.is_none() {
            self.error = output::print_piece(&shown).err();
        }
    }

    /// Ends the last line.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        self.progress = None;
        if let Some(error) = self.error {
            return Err(error.into());
        }
        let mut rest = match &mut self.manner {
            Manner::Styled(markdown) => markdown.end(),
            _ => String::new(),
        };
        if self.is_amid_line {
            rest.push('\n');
        }
        match rest.is_empty() {
            true => Ok(()),
            false => Ok(output::print_piece(&rest)?),
        }
    }
}
