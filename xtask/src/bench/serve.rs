//! `cargo xtask bench serve`: what a proxy adds to a request, beside a proxy that does nothing.

use anyhow::Result;
use serde::Deserialize;

use super::figures;
use super::report::{AtLeast, AtMost, Report};
use crate::command::{cargo, output_of};

#[derive(Deserialize)]
struct Measured {
    connections: usize,
    direct: Way,
    bare: Way,
    ours: Way,
    memory: Way,
}

#[derive(Deserialize)]
struct Way {
    median_us: f64,
    per_second: f64,
}

/// The limit of the time that we add, as a multiple of what a bare proxy adds.
const TIMES_BARE: f64 = 2.0;
/// Over many connections we take this share of the requests that the upstream takes directly.
const SHARE_OF_DIRECT: f64 = 0.7;

pub(crate) fn serve() -> Result<()> {
    let mut bench = cargo();
    bench.args([
        "bench",
        "--quiet",
        "--package",
        "kitbag-server",
        "--bench",
        "serve",
    ]);
    eprintln!("measuring requests of 40 KB, directly and through proxies");
    let lines = output_of(&mut bench)?;
    let mut report = Report::default();
    for one in figures::<Measured>("serve", &lines)? {
        add(&one, &mut report);
    }
    report.show()
}

fn add(one: &Measured, report: &mut Report) {
    let ways = [
        ("direct", &one.direct),
        ("bare proxy", &one.bare),
        ("without memory", &one.ours),
        ("with memory", &one.memory),
    ];
    let name = |what: &str| format!("{} connections: {what}", one.connections);
    for (way, measured) in ways {
        report.note(&name(&format!("{way}, µs a request")), measured.median_us);
        report.note(
            &name(&format!("{way}, requests a second")),
            measured.per_second,
        );
    }
    match one.connections {
        1 => {
            let added = |way: &Way| way.median_us - one.direct.median_us;
            let times = added(&one.ours) / added(&one.bare);
            report.add(
                &name("added time, times the bare proxy's"),
                times,
                AtMost(TIMES_BARE),
            );
        }
        _ => {
            let share = one.ours.per_second / one.direct.per_second;
            report.add(
                &name("share of direct requests"),
                share,
                AtLeast(SHARE_OF_DIRECT),
            );
        }
    }
}
