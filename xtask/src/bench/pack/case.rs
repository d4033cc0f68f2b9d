//! A code base, what is asked of it, and what was measured.

use std::path::PathBuf;

use anyhow::Result;

use super::super::report::{AtLeast, AtMost, Report};
use crate::bench::measure::Runs;

/// An answer that shows next to nothing would be no answer.
const LEAST_USED: f64 = 50.0;

/// A code base and what is asked of it.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) tree: PathBuf,
    /// With an empty cache.
    pub(super) asked: Task,
    /// With the cache that the first task left.
    pub(super) then: Task,
    pub(super) limits: Limits,
    /// Options for ripgrep, so that it searches the same files.
    pub(super) search: &'static [&'static str],
}

pub(in crate::bench) struct Task {
    pub(in crate::bench) text: &'static str,
    /// The words that ripgrep looks for.
    pub(in crate::bench) words: &'static str,
}

/// The limits: a multiple of ripgrep's time, and memory.
pub(super) struct Limits {
    pub(super) cold: f64,
    pub(super) warm: f64,
    pub(super) megabytes: Option<f64>,
}

/// The runs of one case.
pub(super) struct Measured {
    pub(super) case: Case,
    pub(super) cold: Side,
    pub(super) warm: Side,
    /// The least part of the budget that a prompt used, in percent.
    pub(super) least_used: f64,
    pub(super) peers: Vec<Peer>,
}

/// The runs for one task, ripgrep's and ours.
#[derive(Default)]
pub(super) struct Side {
    pub(super) search: Runs,
    pub(super) pack: Runs,
}

/// Another program that packs, and how many times our CPU it must at least take.
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) at_least: f64,
    pub(super) runs: Result<Runs>,
}

impl Measured {
    /// The ratios, most of them with their limits.
    pub(super) fn ratios(&self, report: &mut Report) {
        let Case { name, limits, .. } = &self.case;
        let sides = [
            ("cold", &self.cold, limits.cold),
            ("warm", &self.warm, limits.warm),
        ];
        for (state, Side { search, pack }, limit) in sides {
            let what = format!("{name}, {state}: times ripgrep");
            report.add(&what, pack.wall() / search.wall(), AtMost(limit));
        }
        for (state, Side { search, pack }, _) in sides {
            let what = format!("{name}, {state}: times ripgrep's CPU");
            report.note(&what, pack.cpu() / search.cpu());
        }
        let (cold, warm) = (&self.cold.pack, &self.warm.pack);
        for peer in &self.peers {
            let what = format!("{name}: CPU of {}, times ours", peer.name);
            match &peer.runs {
                Ok(runs) => report.add(&what, runs.cpu() / cold.cpu(), AtLeast(peer.at_least)),
                Err(error) => report.say(&what, &format!("not measured: {error:#}")),
            }
        }
        if let Some(limit) = limits.megabytes {
            let peak = cold.peak().max(warm.peak());
            report.add(&format!("{name}: peak memory, MB"), peak, AtMost(limit));
        }
        let what = format!("{name}: least % of the budget used");
        report.add(&what, self.least_used, AtLeast(LEAST_USED));
    }

    /// The times behind the ratios.
    pub(super) fn figures(&self, report: &mut Report) {
        let own = [
            ("ripgrep", &self.cold.search),
            ("cold", &self.cold.pack),
            ("ripgrep, the other task", &self.warm.search),
            ("warm", &self.warm.pack),
        ];
        let peers = self.peers.iter();
        let peers = peers.filter_map(|peer| Some((peer.name, peer.runs.as_ref().ok()?)));
        for (what, runs) in own.into_iter().chain(peers) {
            let (wall, cpu, peak) = (runs.wall(), runs.cpu(), runs.peak());
            let figures = format!("{wall:7.2} s {cpu:7.2} s CPU {peak:6.0} MB");
            report.say(&format!("{}, {what}", self.case.name), &figures);
        }
    }
}
