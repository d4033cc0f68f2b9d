//! The measurements of one task: a line of JSON.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::instance::Instance;

/// The measures of one task; after an error they count as nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) repo: String,
    pub(super) language: String,
    pub(super) kind: String,
    /// True if the task's text names a file that the fix changed.
    pub(super) named: bool,
    pub(super) budgets: BTreeMap<u64, ShownShares>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rank: Option<Ranks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// Shares of the fix that a prompt shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ShownShares {
    pub(super) tokens: usize,
    pub(super) over: bool,
    /// The share of the changed files.
    pub(super) files: f64,
    /// The share of the changed lines.
    pub(super) lines: f64,
    /// Seconds, with everything that the machine did besides.
    pub(super) time: f64,
}

/// Places of the changed files among the ranked source files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Ranks {
    /// One divided by the first one's place.
    pub(super) mrr: f64,
    pub(super) hit1: f64,
    pub(super) hit5: f64,
    pub(super) hit10: f64,
    /// The share of them that is among the first ten.
    pub(super) r10: f64,
}

impl Record {
    pub(super) fn new(instance: &Instance) -> Self {
        Self {
            id: instance.id.clone(),
            repo: instance.repo.clone(),
            language: instance.language.clone(),
            kind: instance.kind.clone(),
            named: instance.named,
            ..Self::default()
        }
    }
}

/// The records of a file, or its tasks, one a line.
pub(super) fn read<T: DeserializeOwned>(file: &Path, what: &str) -> Result<Vec<T>> {
    let shown = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("could not read {shown}"))?;
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            let read = serde_json::from_str(line);
            read.with_context(|| format!("{shown}:{} is no {what}", index + 1))
        })
        .collect()
}
