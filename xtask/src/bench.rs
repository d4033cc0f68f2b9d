//! `cargo xtask bench`: what is promised about speed, as ratios measured in one run.
//!
//! Every limit compares two things on the same machine in the same minute, or is far below what any
//! machine does, so that it holds anywhere. The figures are shown as a table.

mod corpus;
mod hook;
mod layout;
mod measure;
mod memory;
mod pack;
mod python;
mod report;
mod serve;
mod turn;
mod warm;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::command::{cargo, output_of};
use crate::metadata::Metadata;
use report::{AtLeast, AtMost, Report};

const TIMES_PYTHON: f64 = 4.0;
const WORST_MEGABYTES_PER_SECOND: f64 = 1.0;

/// The benchmarks.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Count tokens and fit chunks, compared with Python's tiktoken
    Core,
    /// Pack Django and the Linux kernel, compared with ripgrep, repomix and aider's map
    Pack(pack::Options),
    /// Import and recall messages, compared with the bare databases
    Memory(memory::Options),
    /// Render layouts, compared with Handlebars.js
    Layout,
    /// Answer messages, compared with a bare recall and a direct call to the same server
    Turn(turn::Options),
    /// Run hooks of coding agents, compared with the start of the program and bare recalls
    Hook(hook::Options),
    /// Send requests through `kitbag serve`, compared with a direct connection, a bare proxy, LiteLLM and Portkey
    Serve(serve::Options),
    /// Pack Django again in one process over MCP, compared with ripgrep
    Warm(warm::Options),
}

pub(crate) fn bench(bench: Bench) -> Result<()> {
    match bench {
        Bench::Core => core(),
        Bench::Pack(options) => pack::pack(&options),
        Bench::Memory(options) => memory::memory(&options),
        Bench::Layout => layout::layout(),
        Bench::Turn(options) => turn::turn(&options),
        Bench::Hook(options) => hook::hook(&options),
        Bench::Serve(options) => serve::serve(&options),
        Bench::Warm(options) => warm::warm(&options),
    }
}

/// Measures, shows the table, and fails when a limit is missed.
fn core() -> Result<()> {
    let metadata = Metadata::load()?;
    let folder = metadata.target_directory.join("bench");
    fs::create_dir_all(&folder)?;
    let mut report = Report::default();

    // Sources of the dependencies: real code that every machine with this repository has.
    let list = corpus::write_list(&metadata, &folder)?;
    let counted = against_python(&folder, &list, &mut report)?;
    worst_cases(&mut report)?;
    fitting(counted.sample_seconds, &mut report)?;
    drifting(&mut report)?;

    report.show()
}

/// The time and memory of counting files.
#[derive(Deserialize)]
struct CountingCost {
    bytes: f64,
    seconds: f64,
    sample_seconds: f64,
}

fn against_python(folder: &Path, list: &Path, report: &mut Report) -> Result<CountingCost> {
    let (ours, theirs) = (folder.join("counts"), folder.join("python-counts"));
    let vocabulary = folder.join("o200k_base.tiktoken");
    // Python gets the very table that is built in, so that both sides count with the same one.
    measure("kitbag", "count", &["vocabulary", text(&vocabulary)?])?;
    let python = python::count(folder, &vocabulary, list, &theirs)?;
    let lines = measure("kitbag", "count", &["files", text(list)?, text(&ours)?])?;
    let counted: CountingCost = one_figure("count", &lines)?;

    let what = "counting code, times as fast as Python's tiktoken";
    // A ratio, because seconds depend on the machine.
    let times = python.seconds / counted.seconds;
    report.add(what, times, AtLeast(TIMES_PYTHON));
    let megabytes = counted.bytes / 1e6;
    report.note("counting code, MB/s", megabytes / counted.seconds);
    let what = "the same with Python's tiktoken, MB/s";
    report.note(what, megabytes / python.seconds);
    let different = different_lines(&ours, &theirs)?;
    let what = "files that are counted differently";
    report.add(what, different, AtMost(0.0));
    Ok(counted)
}

fn different_lines(ours: &Path, theirs: &Path) -> Result<f64> {
    let (ours, theirs) = (fs::read_to_string(ours)?, fs::read_to_string(theirs)?);
    // `zip` below would compare the shorter list and call the rest equal.
    if ours.lines().count() != theirs.lines().count() {
        bail!("both sides must count the same files");
    }
    let different = ours.lines().zip(theirs.lines()).filter(|(a, b)| a != b);
    Ok(f64::from(u32::try_from(different.count())?))
}

#[derive(Deserialize)]
struct Worst {
    tokenizer: String,
    input: String,
    bytes: f64,
    seconds: f64,
}

fn worst_cases(report: &mut Report) -> Result<()> {
    let lines = measure("kitbag", "count", &["worst"])?;
    for worst in figures::<Worst>("worst", &lines)? {
        let what = format!("counting {} ({}), MB/s", worst.input, worst.tokenizer);
        let speed = worst.bytes / 1e6 / worst.seconds;
        report.add(&what, speed, AtLeast(WORST_MEGABYTES_PER_SECOND));
    }
    Ok(())
}

#[derive(Deserialize)]
struct Fitted {
    chunks: u32,
    seconds_max: f64,
    ratio_ppm: f64,
    used_permille: f64,
}

fn fitting(sample_seconds: f64, report: &mut Report) -> Result<()> {
    let lines = measure("kitbag-core", "fit", &[])?;
    let fitted = figures("fit", &lines)?;
    // Linear growth: a hundred times the chunks may take a hundred times as long.
    for (chunks, limit) in [(1_000, 1.0), (100_000, 100.0)] {
        let what = format!("fitting {chunks} chunks, times counting 200 KB of code");
        let times = slowest(&fitted, chunks)? / sample_seconds;
        report.add(&what, times, AtMost(limit));
    }
    for figure in &fitted {
        let chunks = figure.chunks;
        let what = format!("fitting {chunks} chunks, least % of the bound");
        // Small problems are solved to the end, so anything below the bound would be a mistake.
        let least = if chunks <= 40 { 100.0 } else { 99.5 };
        report.add(&what, figure.ratio_ppm / 1e4, AtLeast(least));
        let what = format!("fitting {chunks} chunks, least % of the budget used");
        report.add(&what, figure.used_permille / 10.0, AtLeast(97.0));
    }
    Ok(())
}

#[derive(Deserialize)]
struct Drifted {
    name: String,
    reuse: f64,
    worth: f64,
    worth_at_equal_tokens: f64,
}

/// The conversation that drifts, with the default patience.
fn drifting(report: &mut Report) -> Result<()> {
    let lines = measure("kitbag-core", "drift", &[])?;
    let drifted: Vec<Drifted> = figures("drift", &lines)?;
    // The bench tries several values; only the one that ships has a limit.
    let default = drifted.iter().find(|row| row.name == "patience 300");
    let row = default.context("the bench `drift` gave no figure for the default patience")?;
    let what = "bytes of a request that the next one reuses, %";
    report.add(what, row.reuse * 100.0, AtLeast(90.0));
    let what = "worth of what is shown, % of choosing anew with as many tokens";
    report.add(what, row.worth_at_equal_tokens * 100.0, AtLeast(99.0));
    report.note("the same within the same limit, %", row.worth * 100.0);
    Ok(())
}

/// The slowest of the figures for so many chunks: every one of them must keep the limit.
fn slowest(fitted: &[Fitted], chunks: u32) -> Result<f64> {
    let same = fitted.iter().filter(|figure| figure.chunks == chunks);
    same.map(|figure| figure.seconds_max)
        .reduce(f64::max)
        .with_context(|| format!("the bench `fit` gave no figure for {chunks} chunks"))
}

/// Runs a bench of a package and gives what it printed.
fn measure(package: &str, bench: &str, arguments: &[&str]) -> Result<String> {
    eprintln!("measuring {bench} {}", arguments.join(" "));
    let mut cargo = cargo();
    cargo.args(["bench", "--quiet", "--package", package]);
    output_of(cargo.args(["--bench", bench, "--"]).args(arguments))
}

/// The figure that a bench printed under this name; it may print other lines.
fn figures<T: DeserializeOwned>(bench: &str, lines: &str) -> Result<Vec<T>> {
    let mut figures = Vec::new();
    // Cargo and the bench print other lines, too.
    for line in lines.lines().filter(|line| line.starts_with('{')) {
        let object: Value =
            serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
        if object.get("bench").is_some_and(|name| name == bench) {
            let figure = serde_json::from_value(object);
            figures.push(figure.with_context(|| format!("unexpected figures: {line}"))?);
        }
    }
    Ok(figures)
}

/// The last of what a bench printed under this name.
fn one_figure<T: DeserializeOwned>(bench: &str, lines: &str) -> Result<T> {
    let last = figures(bench, lines)?.pop();
    last.with_context(|| format!("the bench `{bench}` printed no figures"))
}

fn text(path: &Path) -> Result<&str> {
    path.to_str()
        .with_context(|| format!("{} is not UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"warming up
{"bench":"fit","chunks":1000,"seconds_max":0.001,"ratio_ppm":1000000,"used_permille":999}
{"bench":"rank","files":3}
{"bench":"fit","chunks":1000,"seconds_max":0.002,"ratio_ppm":1000000,"used_permille":999}
"#;

    #[test]
    fn figures_are_found_by_the_name_of_their_bench() {
        let fitted: Vec<Fitted> = figures("fit", LINES).unwrap();
        assert_eq!(fitted.len(), 2);
        assert_eq!(slowest(&fitted, 1000).unwrap(), 0.002);
    }

    #[test]
    fn a_missing_figure_is_an_error() {
        let error = slowest(&[], 100_000).unwrap_err();
        assert!(error.to_string().contains("100000 chunks"), "{error}");
        assert!(figures::<Fitted>("rank", LINES).is_err());
    }
}
