//! `kitbag doctor`: checks this machine, with advice for each problem.

mod agents;
mod checks;
mod servers;
mod settings;

use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::project::ProjectArgs;
use crate::store::{self, StoreArgs};

/// Checks the setup: what works, where each setting comes from, and how to fix problems
///
/// Checks configuration, skills, memory, providers and their keys (which are not printed), git, parsers, the
/// cache, MCP servers and the coding agents that use Kitbag. Changes nothing and sends nothing. Exits
/// with 1 if something is broken; a feature that is merely not set up gets a note.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag doctor")]
pub(crate) struct Args {
    #[command(flatten)]
    project: ProjectArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    // Opened without reporting: the problems are findings of their own.
    let project = args.project.open()?;
    let mut findings = checks::configuration(&project);
    findings.extend(checks::skills(&project));
    findings.push(store::run(checks::memory(place))?);
    findings.extend(checks::recall_model());
    findings.extend(checks::providers(&project));
    findings.push(checks::git());
    findings.push(checks::parsers());
    findings.push(checks::cache());
    findings.extend(servers::findings(&project));
    findings.extend(agents::findings());
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        settings: settings::all(&args.project, &project.config, place),
        findings,
    };
    match args.json {
        true => output::print_json(&report)?,
        false => output::print(&report.text())?,
    }
    let is_broken = |finding: &Finding| finding.state == State::Broken;
    match report.findings.iter().any(is_broken) {
        true => Err(Failure::reported()),
        false => Ok(()),
    }
}

#[derive(Serialize)]
struct Report {
    version: &'static str,
    findings: Vec<Finding>,
    settings: Vec<Setting>,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Works,
    /// It is not set up, or not as it could be.
    Note,
    Broken,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Note => "note",
            Self::Broken => "BROKEN",
        }
    }
}

/// The finding of a check.
#[derive(Serialize)]
struct Finding {
    topic: &'static str,
    state: State,
    told: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Finding {
    fn new(topic: &'static str, state: State, told: impl Into<String>) -> Self {
        Self {
            topic,
            state,
            told: told.into(),
            advice: None,
        }
    }

    fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// A setting with the source of its value.
#[derive(Serialize)]
struct Setting {
    name: &'static str,
    value: String,
    from: String,
}

impl Report {
    fn text(&self) -> String {
        let finding = |finding: &Finding| {
            let told = match &finding.advice {
                Some(advice) => format!("{}; {advice}", finding.told),
                None => finding.told.clone(),
            };
            let topic = finding.topic.to_owned();
            [finding.state.as_str().to_owned(), topic, one_line(&told)]
        };
        let setting = |setting: &Setting| {
            [
                setting.name.to_owned(),
                one_line(&setting.value),
                one_line(&setting.from),
            ]
        };
        let findings = output::grid(
            &["", "", "kitbag doctor"],
            self.findings.iter().map(finding),
        );
        let settings = output::grid(
            &["setting", "value", "from"],
            self.settings.iter().map(setting),
        );
        format!("kitbag {}\n\n{findings}\n{settings}", self.version)
    }
}
