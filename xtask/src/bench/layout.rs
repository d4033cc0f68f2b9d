//! `cargo xtask bench layout`: rendering layouts, against Handlebars.js.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use serde::Deserialize;

use super::report::{AtMost, Report};
use super::{measure, one_figure, text};
use crate::command::{output_of, program, root};
use crate::metadata::Metadata;
use crate::statistics::median;
use crate::{npm, release};

/// The limit of a warm rendering, as a multiple of Handlebars.js.
const TIMES_HANDLEBARS: f64 = 4.0;
/// Starts of each process.
const STARTS: usize = 21;

#[derive(Deserialize)]
struct Ours {
    render_us: f64,
    whole_us: f64,
    bytes: f64,
}

#[derive(Deserialize)]
struct Theirs {
    render_us: f64,
}

pub(crate) fn layout() -> Result<()> {
    let target = Metadata::load()?.target_directory;
    let folder = target.join("bench/layout");
    fs::create_dir_all(&folder)?;
    let modules = npm::folder()?;
    let node = |what: &str| {
        let mut node = program("node");
        node.arg(root().join("xtask/src/bench/layout.js"))
            .arg(what)
            .arg(&folder)
            .env("NODE_MODULES", &modules);
        node
    };
    // Writes the files that the other side renders too.
    measure("kitbag-layout", "layout", &["write", text(&folder)?])?;
    let lines = measure("kitbag-layout", "layout", &["warm", text(&folder)?])?;
    let ours: Ours = one_figure("warm", &lines)?;
    let theirs: Theirs = serde_json::from_str(&output_of(&mut node("warm"))?)?;

    let mut report = Report::default();
    report.note("rendered text, KB", ours.bytes / 1e3);
    report.note("a warm rendering, ms", ours.render_us / 1e3);
    report.note("the same with Handlebars.js, ms", theirs.render_us / 1e3);
    let what = "with its context made and neutralised, ms";
    report.note(what, ours.whole_us / 1e3);
    let what = "a warm rendering, times Handlebars.js";
    let times = ours.render_us / theirs.render_us;
    report.add(what, times, AtMost(TIMES_HANDLEBARS));
    // A fast rendering of another text would prove nothing.
    let differs = fs::read(folder.join("ours.txt"))? != fs::read(folder.join("theirs.txt"))?;
    report.add("texts that differ", u8::from(differs).into(), AtMost(0.0));

    let kitbag = release::build(&target)?;
    let (first, node_first) = first(&kitbag, &folder, || node("first"))?;
    report.note("a first rendering in a new process, ms", first * 1e3);
    report.note("the same with node, ms", node_first * 1e3);
    let what = "a first rendering, times node";
    report.add(what, first / node_first, AtMost(1.0));
    report.show()
}

/// Times the first rendering with the start of its process, ours and node's in turns.
fn first(kitbag: &Path, folder: &Path, node: impl Fn() -> Command) -> Result<(f64, f64)> {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let mut ours = program(kitbag);
        ours.args(["layout", "render", "--layout", "kitbag/default", "--raw"]);
        ours.arg("--context").arg(folder.join("context.json"));
        times.0.push(seconds(&mut ours)?);
        // In turns, so both meet the same state of the machine.
        times.1.push(seconds(&mut node())?);
    }
    let middle = |times: Vec<f64>| median(times.into_iter()).unwrap_or(f64::NAN);
    Ok((middle(times.0), middle(times.1)))
}

fn seconds(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    output_of(command)?;
    Ok(start.elapsed().as_secs_f64())
}
