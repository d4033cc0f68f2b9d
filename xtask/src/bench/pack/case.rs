//! A code base, what is asked of it, and what was measured.

use std::path::PathBuf;

use anyhow::Result;

use super::super::report::{Report, at_least, at_most};
use super::measure::Runs;

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

pub(super) struct Task {
    pub(super) text: &'static str,
    pub(super) words: [&'static str; 6],
}

/// How many times ripgrep's time it may take, and how much memory.
pub(super) struct Limits {
    pub(super) cold: f64,
    pub(super) warm: f64,
    pub(super) megabytes: Option<f64>,
}

/// The runs of one case.
pub(super) struct Measured {
    pub(super) case: Case,
    pub(super) search: Runs,
    pub(super) cold: Runs,
    pub(super) search_then: Runs,
    pub(super) warm: Runs,
    /// The least part of the budget that a prompt used, in percent.
    pub(super) least_used: f64,
    pub(super) peers: Vec<Peer>,
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
        report.add(
            &format!("{name}, cold: times ripgrep"),
            self.cold.wall() / self.search.wall(),
            at_most(limits.cold),
        );
        report.add(
            &format!("{name}, warm: times ripgrep"),
            self.warm.wall() / self.search_then.wall(),
            at_most(limits.warm),
        );
        for (state, runs, search) in [
            ("cold", &self.cold, &self.search),
            ("warm", &self.warm, &self.search_then),
        ] {
            let what = format!("{name}, {state}: times ripgrep's CPU");
            report.note(&what, runs.cpu() / search.cpu());
        }
        for peer in &self.peers {
            let what = format!("{name}: CPU of {}, times ours", peer.name);
            match &peer.runs {
                Ok(runs) => {
                    report.add(&what, runs.cpu() / self.cold.cpu(), at_least(peer.at_least))
                }
                Err(error) => report.say(&what, &format!("not measured: {error:#}")),
            }
        }
        if let Some(limit) = limits.megabytes {
            let peak = self.cold.peak().max(self.warm.peak());
            report.add(&format!("{name}: peak memory, MB"), peak, at_most(limit));
        }
        report.add(
            &format!("{name}: least % of the budget used"),
            self.least_used,
            at_least(LEAST_USED),
        );
    }

    /// What the ratios were made of.
    pub(super) fn figures(&self, report: &mut Report) {
        let own = [
            ("ripgrep", &self.search),
            ("cold", &self.cold),
            ("ripgrep, the other task", &self.search_then),
            ("warm", &self.warm),
        ];
        let peers = self.peers.iter().filter_map(|peer| {
            let runs = peer.runs.as_ref().ok()?;
            Some((peer.name, runs))
        });
        for (what, runs) in own.into_iter().chain(peers) {
            let figures = format!(
                "{:7.2} s {:7.2} s CPU {:6.0} MB",
                runs.wall(),
                runs.cpu(),
                runs.peak()
            );
            report.say(&format!("{}, {what}", self.case.name), &figures);
        }
    }
}
