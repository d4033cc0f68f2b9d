//! The coding agents that use Kitbag in this folder.

use std::path::Path;

use clap::ValueEnum as _;

use super::{Finding, State};
use crate::commands::init::{AgentArg, SetUp};

const TOPIC: &str = "agents";

/// A finding for each agent that is set up, or a single one if none is.
pub(super) fn findings() -> Vec<Finding> {
    let mut findings: Vec<Finding> = AgentArg::value_variants()
        .iter()
        .filter_map(|agent| {
            let name = agent.to_possible_value()?.get_name().to_owned();
            match agent.set_up(Path::new(".")) {
                Ok(SetUp::Whole) => Some(Finding::new(
                    TOPIC,
                    State::Works,
                    format!("{name} is set up in this folder"),
                )),
                Ok(SetUp::InPart) => {
                    let told = format!("{name} is set up in part, or by another kitbag");
                    let advice = format!("`kitbag init --for {name}` shows what is missing");
                    Some(Finding::new(TOPIC, State::Note, told).advise(advice))
                }
                Ok(SetUp::No) => None,
                Err(failure) => Some(Finding::new(TOPIC, State::Broken, failure.message())),
            }
        })
        .collect();
    for agent in AgentArg::value_variants() {
        let Some(name) = agent.to_possible_value() else {
            continue;
        };
        let parts = agent.set_up_for_user().into_iter();
        findings.extend(parts.map(|part| {
            let (name, what, file) = (name.get_name(), part.what, part.file.display());
            let told = format!("{name} is set up for all folders: {what} in {file}");
            Finding::new(TOPIC, State::Works, told)
        }));
    }
    if findings.is_empty() {
        let told = "no coding agent uses Kitbag in this folder";
        let advice = "`kitbag init --for claude` (or codex, cursor, vscode) sets one up";
        findings.push(Finding::new(TOPIC, State::Note, told).advise(advice));
    }
    findings
}
