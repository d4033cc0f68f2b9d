//! `cargo xtask bench hook`: the cost of a hook of a coding agent, compared with the start of the program
//! and with bare recalls among as many messages of one project.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

use super::measure::{Runs, run};
use super::report::{AtMost, Report};
use crate::command::output_of;
use crate::metadata::Metadata;
use crate::release;

/// The size of the measurement.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Messages of the project
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// Rounds
    #[arg(long, value_name = "N", default_value_t = 15)]
    rounds: usize,
    /// The program [default: the release build of this project]
    #[arg(long, value_name = "PATH")]
    kitbag: Option<PathBuf>,
}

/// The limit of a hook's time without the start of the program, as a multiple of a bare recall.
const TIMES_RECALL: f64 = 3.0;
/// The queries for one process: so many that its start does not count.
const QUERIES: usize = 50;
const PROJECT: &str = "/project";

pub(crate) fn hook(options: &Options) -> Result<()> {
    let target = Metadata::load()?.target_directory;
    let kitbag = release::given_or_built(options.kitbag.as_ref(), &target)?;
    let folder = tempfile::tempdir()?;
    let bench = HookBench {
        kitbag,
        folder: folder.path().to_owned(),
    };
    eprintln!("importing {} messages", options.messages);
    bench.import(options.messages)?;

    let mut start = Runs::default();
    let mut queries = [Runs::default(), Runs::default()];
    let mut hooks = EVENTS.map(|_| Runs::default());
    for round in 0..=options.rounds {
        let started = bench.run(&["--version"], None)?;
        let one = bench.recalls(1)?;
        let many = bench.recalls(QUERIES + 1)?;
        for (name, runs) in EVENTS.iter().zip(&mut hooks) {
            let hooked = bench.hook(name, round)?;
            if round > 0 {
                runs.add(hooked);
            }
        }
        // The first round brings the files into memory.
        if round > 0 {
            start.add(started);
            let [few, more] = &mut queries;
            few.add(one);
            more.add(many);
        }
    }
    let [few, more] = &queries;
    // The start of the process and the opening of the store are in both, and cancel out.
    let recall = (more.cpu() - few.cpu()) / QUERIES as f64;
    let mut report = Report::default();
    report.note("the start of the program, CPU ms", start.cpu() * 1e3);
    report.note("a bare recall, CPU ms", recall * 1e3);
    for (name, runs) in EVENTS.iter().zip(&hooks) {
        report.note(&format!("{name}, CPU ms"), runs.cpu() * 1e3);
        let what = format!("{name} without the start, times the recall");
        let times = (runs.cpu() - start.cpu()) / recall;
        report.add(&what, times, AtMost(TIMES_RECALL));
    }
    report.show()
}

const EVENTS: [&str; 3] = ["UserPromptSubmit", "SessionStart", "Stop"];

struct HookBench {
    kitbag: PathBuf,
    folder: PathBuf,
}

impl HookBench {
    /// Runs the program with its input from a file. Something is printed, also by a hook that says nothing.
    fn run(&self, args: &[&str], stdin: Option<&Path>) -> Result<super::measure::Run> {
        let mut shell = Command::new("sh");
        let script = "echo; exec \"$0\" \"$@\" < \"$STDIN\"";
        shell.args(["-c", script]).arg(&self.kitbag).args(args);
        shell.env("STDIN", stdin.unwrap_or(Path::new("/dev/null")));
        shell.env("KITBAG_STORE", self.folder.join("memory.db"));
        shell.env("KITBAG_CACHE_DIR", self.folder.join("cache"));
        run(&shell, &self.folder.join("out"))
    }

    fn import(&self, messages: usize) -> Result<()> {
        let file = self.folder.join("messages.jsonl");
        let mut lines = String::new();
        for number in 0..messages {
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            let line = json!({
                "channel": "claude-code", "sender": PROJECT, "conversation": format!("s{}", number / 40),
                "role": role, "text": sentence(number), "ref": number.to_string(),
            });
            writeln!(lines, "{line}")?;
        }
        fs::write(&file, lines)?;
        let mut import = Command::new(&self.kitbag);
        import.env("KITBAG_STORE", self.folder.join("memory.db"));
        output_of(import.args(["memory", "import"]).arg(&file)).map(drop)
    }

    /// Answers this many queries in one process.
    fn recalls(&self, queries: usize) -> Result<super::measure::Run> {
        let file = self.folder.join(format!("{queries}.jsonl"));
        let mut lines = String::new();
        for number in 0..queries {
            let query = json!({"sender": PROJECT, "query": question(number), "limit": 24});
            writeln!(lines, "{query}")?;
        }
        fs::write(&file, lines)?;
        self.run(
            &["memory", "recall", "--batch", &file.to_string_lossy()],
            None,
        )
    }

    fn hook(&self, name: &str, round: usize) -> Result<super::measure::Run> {
        let transcript = self.folder.join("session.jsonl");
        let line = |number: usize, role: &str, text: String| -> Value {
            json!({
                "type": role, "uuid": format!("{round}-{number}"),
                "parentUuid": (number > 0).then(|| format!("{round}-{}", number - 1)),
                "message": {"role": role, "content": text},
            })
        };
        // The round is in every id, so each hook finds messages that are new to it.
        let said = [
            line(0, "user", question(round)),
            line(1, "assistant", sentence(round)),
        ];
        fs::write(&transcript, said.map(|line| format!("{line}\n")).concat())?;
        let event = json!({
            "session_id": format!("bench-{round}"), "hook_event_name": name, "cwd": PROJECT,
            "transcript_path": transcript, "prompt": question(round), "source": "startup",
        });
        let file = self.folder.join("event.json");
        fs::write(&file, event.to_string())?;
        self.run(&["hook"], Some(&file))
    }
}

const SUBJECTS: [&str; 12] = [
    "login", "payment", "search", "invoice", "report", "import", "export", "calendar", "profile",
    "billing", "upload", "session",
];
const PARTS: [&str; 10] = [
    "handler",
    "table",
    "migration",
    "test",
    "endpoint",
    "queue",
    "cache",
    "form",
    "parser",
    "worker",
];
const VERBS: [&str; 10] = [
    "rename", "split", "fix", "deploy", "revert", "profile", "document", "review", "simplify",
    "measure",
];

/// A made sentence, each another one, with words of which some are rare.
fn sentence(number: usize) -> String {
    let word = |list: &[&'static str], salt: usize| {
        // A multiplier after Knuth, which spreads numbers that follow one another.
        let place = number.wrapping_mul(2_654_435_761).wrapping_add(salt * 97) >> (salt + 3);
        one_of(list, place)
    };
    format!(
        "Let us {} the {} {} before ticket {} and keep the {} {} of module m{} as it is.",
        word(&VERBS, 1),
        word(&SUBJECTS, 2),
        word(&PARTS, 3),
        number,
        word(&SUBJECTS, 4),
        word(&PARTS, 5),
        number % 997,
    )
}

fn question(number: usize) -> String {
    format!(
        "Why did we {} the {} {} of module m{}?",
        one_of(&VERBS, number),
        one_of(&SUBJECTS, number),
        one_of(&PARTS, number),
        number % 997,
    )
}

fn one_of(list: &[&'static str], number: usize) -> &'static str {
    list.get(number % list.len()).copied().unwrap_or_default()
}
