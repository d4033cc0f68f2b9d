//! `cargo xtask bench serve`: what a proxy adds to a request, beside a proxy that does nothing and those of other people.

mod peers;

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::figures;
use super::report::{AtLeast, AtMost, Report};
use crate::command::{cargo, output_of};
use crate::metadata::Metadata;

/// What is measured.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Leave out LiteLLM and Portkey, which are downloaded into target/bench
    #[arg(long)]
    alone: bool,
}

#[derive(Deserialize)]
struct Measured {
    connections: usize,
    /// The time that the upstream takes for an answer.
    thinks_ms: u64,
    ways: BTreeMap<String, Way>,
}

#[derive(Deserialize)]
struct Way {
    median_us: f64,
    per_second: f64,
}

#[derive(Deserialize)]
struct Recalled {
    messages: usize,
    senders: usize,
    recall_us: f64,
    with_us: f64,
    direct_us: f64,
}

#[derive(Deserialize)]
struct Steady {
    memory: bool,
    requests: usize,
    megabytes: Vec<f64>,
}

/// The most time that Kitbag may add to a request, as a multiple of the time that a bare proxy adds.
const TIMES_BARE: f64 = 2.0;
/// The least requests per second over many connections, as a share of what the upstream takes directly.
const SHARE_OF_DIRECT: f64 = 0.7;
/// The most time that memory may add to a request, as a multiple of a bare recall.
const RECALLS: f64 = 2.0;
/// The most megabytes that the server may have resident.
const MEGABYTES: f64 = 100.0;
/// The most resident memory at the end, as a multiple of that after a fifth of the requests.
const GROWTH: f64 = 1.1;

pub(crate) fn serve(options: &Options) -> Result<()> {
    let folder = Metadata::load()?.target_directory.join("bench");
    fs::create_dir_all(&folder)?;
    // Other proxies have to know it before it is there.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut report = Report::default();
    let peers = match options.alone {
        true => Vec::new(),
        false => peers::start(&folder, port, &mut report),
    };
    let mut bench = cargo();
    bench
        .args(["bench", "--quiet", "--package", "kitbag-server"])
        .args(["--bench", "serve", "--", &port.to_string()]);
    for peer in &peers {
        bench.args([peer.name, &peer.address, &peer.headers]);
    }
    eprintln!("measuring requests of 40 KB, directly and through proxies");
    let lines = output_of(&mut bench)?;
    drop(peers);
    for one in figures::<Measured>("serve", &lines)? {
        add(&one, &mut report)?;
    }
    for one in figures::<Recalled>("serve-recall", &lines)? {
        add_recall(&one, &mut report);
    }
    for one in figures::<Steady>("serve-steady", &lines)? {
        add_steady(&one, &mut report);
    }
    report.show()
}

fn add(one: &Measured, report: &mut Report) -> Result<()> {
    let way = |name: &str| {
        let way = one.ways.get(name);
        way.with_context(|| format!("the bench `serve` gave no figures for `{name}`"))
    };
    let (connections, thinks) = (one.connections, one.thinks_ms);
    let name = |what: &str| format!("{connections} connections, {thinks} ms upstream: {what}");
    for (way, measured) in &one.ways {
        report.note(&name(&format!("{way}, µs a request")), measured.median_us);
        let what = name(&format!("{way}, requests a second"));
        report.note(&what, measured.per_second);
    }
    let (direct, ours) = (way("direct")?, way("ours")?);
    if connections == 1 {
        let added = |way: &Way| way.median_us - direct.median_us;
        let times = added(ours) / added(way("bare")?);
        let what = name("added time, times the bare proxy's");
        report.add(&what, times, AtMost(TIMES_BARE));
        return Ok(());
    }
    let share = |of: &Way| ours.per_second / of.per_second;
    report.note(
        &name("share of the bare proxy's requests"),
        share(way("bare")?),
    );
    let what = name("share of direct requests");
    match thinks {
        // The bare proxy itself is far below: client, proxy and upstream share the processors.
        0 => report.note(&what, share(direct)),
        _ => report.add(&what, share(direct), AtLeast(SHARE_OF_DIRECT)),
    }
    Ok(())
}

fn add_recall(one: &Recalled, report: &mut Report) {
    let Recalled {
        messages, senders, ..
    } = one;
    let name = |what: &str| format!("{messages} messages of {senders} senders: {what}");
    report.note(&name("a bare recall, µs"), one.recall_us);
    let added = one.with_us - one.direct_us;
    report.note(&name("added time, µs"), added);
    let what = name("the same, times the recall");
    report.add(&what, added / one.recall_us, AtMost(RECALLS));
}

fn add_steady(one: &Steady, report: &mut Report) {
    let memory = if one.memory { "with" } else { "without" };
    let name = |what: &str| format!("{} requests {memory} memory: {what}", one.requests);
    let last = one.megabytes.last().copied().unwrap_or(f64::NAN);
    let early = one.megabytes.get(1).copied().unwrap_or(f64::NAN);
    report.add(&name("MB at the end"), last, AtMost(MEGABYTES));
    report.add(
        &name("times that after a fifth of them"),
        last / early,
        AtMost(GROWTH),
    );
}
