//! The MCP servers that `.mcp.json` and skills name. None is started.

use std::path::Path;

use kitbag::project::Project;
use kitbag_mcp::{ServerSummary, server_of_skill, servers_of};

use super::{Finding, State};

const TOPIC: &str = "mcp servers";
const FILE: &str = ".mcp.json";

pub(super) fn findings(project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    let variable = |name: &str| std::env::var(name).ok();
    if Path::new(FILE).exists() {
        match servers_of(Path::new(FILE), &variable) {
            Ok(servers) => findings.extend(servers.iter().map(|server| finding(server, FILE))),
            Err(error) => findings.push(
                Finding::new(TOPIC, State::Broken, error.to_string())
                    .advise("coding agents and `--mcp` read it; correct it or remove it"),
            ),
        }
    }
    for skill in &project.skills.skills {
        let of = format!("the skill {}", skill.text.name);
        // A skill that was merely found starts nothing, so that its programs need not be there.
        let servers = skill.servers.iter().filter(|_| skill.origin.is_trusted());
        findings.extend(servers.map(|server| finding(&server_of_skill(server), &of)));
    }
    if findings.is_empty() {
        let told = "none are configured";
        findings.push(Finding::new(TOPIC, State::Note, told));
    }
    findings
}

fn finding(server: &ServerSummary, of: &str) -> Finding {
    let (name, place) = (&server.name, &server.place);
    match &server.problem {
        None => Finding::new(TOPIC, State::Works, format!("{name} of {of}: {place}")),
        // A note, since a server that cannot be used is reported and left out when it is needed.
        Some(problem) if place.is_empty() => {
            Finding::new(TOPIC, State::Note, format!("{name} of {of}: {problem}"))
                .advise("`docs/tools.md` says how servers are named")
        }
        Some(problem) => {
            let told = format!("{name} of {of}: {place}: {problem}");
            Finding::new(TOPIC, State::Note, told).advise("install it, or write its whole path")
        }
    }
}
