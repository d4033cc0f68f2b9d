//! Structured logs on stderr: each decision as an event with its figures.
//!
//! They are for examining decisions, so nothing is logged unless an option asks for it. A server is the exception: its
//! warnings are logged, because nobody watches its screen. Messages for the user are printed, not logged.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::set_global_default;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{fmt, registry};

use crate::failure::Failure;
use crate::output::{self, printable, printable_json};

/// Level and form of the log.
#[derive(clap::Args)]
#[command(next_help_heading = "Logs")]
pub(crate) struct LogArgs {
    /// Log events at this level and above to stderr [default: off, or debug with --log-format]
    /// [env: KITBAG_LOG]
    #[arg(long, global = true, value_name = "LEVEL", value_parser = level_parser())]
    log: Option<LevelFilter>,
    /// Log each event as a line of text or of JSON; with JSON, everything on stderr is lines of JSON
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

fn level_parser() -> impl TypedValueParser<Value = LevelFilter> {
    let levels = ["off", "error", "warn", "info", "debug", "trace"];
    PossibleValuesParser::new(levels).try_map(|level| level.parse::<LevelFilter>())
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl LogArgs {
    /// Starts logging, at the usual level unless another is said.
    pub(crate) fn start(&self, usual: LevelFilter) -> Result<(), Failure> {
        if self.log_format == Some(LogFormat::Json) {
            // Before the first message, so that every line on stderr is JSON.
            output::speak_json();
        }
        let level = self.level(usual)?;
        if level == LevelFilter::OFF {
            return Ok(());
        }
        // Only events of Kitbag's own crates.
        let events = registry().with(Targets::new().with_target("kitbag", level));
        let lines = fmt::layer().with_ansi(false).with_writer(|| Stderr);
        let set = match self.log_format {
            Some(LogFormat::Json) => {
                let lines = lines.json().flatten_event(true).with_current_span(false);
                set_global_default(events.with(lines.with_span_list(false)))
            }
            Some(LogFormat::Text) | None => set_global_default(events.with(lines)),
        };
        set.map_err(|error| Failure::new(format_args!("cannot log: {error}")))
    }

    fn level(&self, usual: LevelFilter) -> Result<LevelFilter, Failure> {
        let set = env::var_os("KITBAG_LOG").filter(|name| !name.is_empty());
        match (self.log, set) {
            (Some(level), _) => Ok(level),
            (None, Some(name)) => name.to_string_lossy().parse().map_err(|_| {
                let name = name.to_string_lossy();
                Failure::usage(format_args!("KITBAG_LOG is `{name}`, which is not a level"))
                    .hint("the levels are off, error, warn, info, debug and trace")
            }),
            (None, None) if self.log_format.is_some() => Ok(LevelFilter::DEBUG),
            (None, None) => Ok(usual),
        }
    }
}

/// Tells whether arguments that could not be parsed ask for JSON: the reader of stderr then expects
/// the error as JSON too.
pub(crate) fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    // After `--` everything is a value, such as a task with these words in it.
    let mut arguments = arguments.take_while(|argument| argument != "--");
    let mut asks = false;
    while let Some(argument) = arguments.next() {
        if argument == "--log-format" {
            asks = arguments.next().is_some_and(|format| format == "json");
        } else if argument == "--log-format=json" {
            asks = true;
        }
    }
    asks
}

/// The writer of log lines, which shares stderr with messages and the progress line.
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        output::say_line(&match output::speaks_json() {
            true => printable_json(text),
            false => printable(text),
        });
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
