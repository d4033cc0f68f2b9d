//! The checks, each of one part of the setup. They change nothing.

use std::fs;
use std::path::Path;

use kitbag::layout::FileProblem;
use kitbag::project::Project;
use kitbag::provider::{ProviderSummary, Providers};
use kitbag::workspace::cache::default_folder;
use kitbag::workspace::git::Repository;
use kitbag::workspace::language::Language;
use kitbag::workspace::syntax;

use super::{Finding, State};
use crate::failure::Failure;
use crate::model;
use crate::output::{counted, grouped};
use crate::store::StoreArgs;

/// The files of the configuration, with their problems.
pub(super) fn configuration(project: &Project) -> Vec<Finding> {
    const TOPIC: &str = "configuration";
    let problem = |problem: &FileProblem| {
        let state = match problem.is_error() {
            true => State::Broken,
            false => State::Note,
        };
        let finding = Finding::new(TOPIC, state, problem.to_string());
        match &problem.hint {
            Some(hint) => finding.advise(hint.clone()),
            None => finding,
        }
    };
    let mut findings: Vec<Finding> = project.problems.iter().map(problem).collect();
    let files = project.files.iter().map(|file| file.display().to_string());
    let files: Vec<String> = files.collect();
    // The files are listed as working only if nothing in them is broken.
    let is_broken = project.problems.iter().any(FileProblem::is_error);
    match files.is_empty() {
        true => findings.push(
            Finding::new(TOPIC, State::Note, "no kitbag.yaml; the defaults apply")
                .advise("`kitbag init` writes one with comments"),
        ),
        false if is_broken => {}
        false => findings.push(Finding::new(TOPIC, State::Works, files.join(", "))),
    }
    findings
}

/// The skills, with those that cannot be used.
pub(super) fn skills(project: &Project) -> Vec<Finding> {
    const TOPIC: &str = "skills";
    let skills = &project.skills;
    let broken = skills.problems.iter().filter(|problem| problem.is_error());
    let broken = broken.map(|problem| {
        let advice = "`kitbag skill check` lists all problems of skills";
        // A note, since a skill that cannot be read is left out and everything else works.
        Finding::new(TOPIC, State::Note, problem.to_string()).advise(advice)
    });
    let names = skills.skills.iter().map(|skill| skill.text.name.as_str());
    let names: Vec<&str> = names.collect();
    let all = match names.is_empty() {
        true => Finding::new(TOPIC, State::Note, "no skills"),
        false => Finding::new(TOPIC, State::Works, names.join(", ")),
    };
    broken.chain([all]).collect()
}

/// Opens memory and counts what it holds.
pub(super) async fn memory(place: &StoreArgs) -> Result<Finding, Failure> {
    const TOPIC: &str = "memory";
    let location = place.location()?;
    // One block for opening and reading: either error is a finding, and the other checks go on.
    let opened = async {
        match place.open_if_any().await? {
            Some(store) => Ok(Some(store.stats().await?)),
            None => Ok::<_, Failure>(None),
        }
    };
    Ok(match opened.await {
        Ok(Some(stats)) => {
            let messages = counted(stats.messages, "message", "messages");
            let senders = counted(stats.senders, "sender", "senders");
            let size = stats
                .file_bytes
                .map(|bytes| format!(", {} bytes", grouped(bytes)));
            let size = size.unwrap_or_default();
            let told = format!("{location}: {messages} of {senders}{size}");
            Finding::new(TOPIC, State::Works, told)
        }
        Ok(None) => Finding::new(TOPIC, State::Note, format!("{location} does not exist yet"))
            .advise("the first `kitbag ask`, `chat` or `memory import` creates it"),
        Err(failure) => Finding::new(TOPIC, State::Broken, failure.message()).advise(
            "`kitbag memory check` has details; `--store` or KITBAG_STORE names another store",
        ),
    })
}

/// The model that recall uses, if one was chosen.
pub(super) fn recall_model() -> Option<Finding> {
    const TOPIC: &str = "recall";
    let folder = match model::chosen() {
        Ok(folder) => folder?,
        Err(failure) => return Some(Finding::new(TOPIC, State::Broken, failure.message())),
    };
    Some(match model::open(&folder) {
        Ok(_) => Finding::new(
            TOPIC,
            State::Works,
            format!("model of {}", folder.display()),
        ),
        Err(failure) => Finding::new(TOPIC, State::Broken, failure.message()).advise(
            "`kitbag memory model use FOLDER` chooses another, `kitbag memory model off` uses none",
        ),
    })
}

/// The providers, with the state of their keys.
pub(super) fn providers(project: &Project) -> Vec<Finding> {
    const TOPIC: &str = "provider";
    let variable = |name: &str| std::env::var(name).ok();
    let all = Providers::new(&project.config, &project.root, &variable).summaries();
    // A built-in provider that takes no key, such as a local server, may not be running.
    let is_ready = |provider: &ProviderSummary| {
        let has_key = match &provider.key {
            // Unknown counts as ready: the key of a program is not read to find out.
            Some(key) => key.is_set != Some(false),
            None => provider.is_configured,
        };
        provider.refused.is_none() && has_key
    };
    let finding = |provider: &ProviderSummary| {
        let name = &provider.name;
        if let Some(refused) = &provider.refused {
            return Finding::new(TOPIC, State::Note, format!("{name}: {refused}"));
        }
        match &provider.key {
            None => Finding::new(TOPIC, State::Works, format!("{name} needs no key")),
            Some(key) if key.is_set == Some(false) => {
                let told = format!("{name} has no key");
                Finding::new(TOPIC, State::Note, told).advise(format!("set {}", key.place))
            }
            Some(key) => Finding::new(TOPIC, State::Works, format!("{name}: key in {}", key.place)),
        }
    };
    let mut findings: Vec<Finding> = all
        .iter()
        .filter(|provider| provider.is_configured || is_ready(provider))
        .map(finding)
        .collect();
    if !all.iter().any(is_ready) {
        let told = "no key is set and no provider configured";
        let advice = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or use a model of Ollama or Claude Code, which \
                      need no key; `kitbag models` lists all, and `--dry-run` needs no provider";
        findings.push(Finding::new(TOPIC, State::Note, told).advise(advice));
    }
    findings
}

pub(super) fn git() -> Finding {
    const TOPIC: &str = "git";
    match Repository::discover(Path::new(".")) {
        Ok(Some(_)) => Finding::new(TOPIC, State::Works, "this folder is in a repository"),
        Ok(None) => Finding::new(TOPIC, State::Note, "this folder is not in a repository")
            .advise("packs work without history"),
        Err(error) => {
            let finding = Finding::new(TOPIC, State::Broken, error.to_string());
            match error.hint() {
                Some(hint) => finding.advise(hint),
                None => finding,
            }
        }
    }
}

/// Parses a small program, and counts the languages that are known.
pub(super) fn parsers() -> Finding {
    const TOPIC: &str = "parsers";
    // A real parse: the grammars are part of the binary, and a damaged build shows here first.
    let parsed = syntax::parse(
        Language::Python,
        "import os\n\n\ndef bake(dough):\n    return dough\n",
    );
    let names: Vec<&str> = Language::NAMES.iter().map(|(_, name)| *name).collect();
    match parsed.units.iter().any(|unit| unit.name == "bake") {
        true => Finding::new(TOPIC, State::Works, names.join(", ")),
        false => Finding::new(TOPIC, State::Broken, "cannot parse a function of two lines")
            .advise("this build of Kitbag is damaged: install it again"),
    }
}

/// Writes to the cache.
pub(super) fn cache() -> Finding {
    const TOPIC: &str = "cache";
    let Some(folder) = default_folder() else {
        return Finding::new(TOPIC, State::Note, "this system has no cache folder")
            .advise("name one in KITBAG_CACHE_DIR");
    };
    let place = folder.display();
    if !folder.exists() {
        return Finding::new(TOPIC, State::Works, format!("{place}, empty"));
    }
    // A file without a name, so that a check that is interrupted leaves nothing behind.
    let written = tempfile::tempfile_in(&folder);
    let files = fs::read_dir(&folder).map_or(0, Iterator::count) as u64;
    match written {
        Ok(_) => {
            let files = counted(files, "entry", "entries");
            Finding::new(TOPIC, State::Works, format!("{place}, {files}"))
        }
        // A note only: packs work without a cache, slower.
        Err(error) => Finding::new(TOPIC, State::Note, format!("{place}: {error}"))
            .advise("each pack parses all files again; name another folder in KITBAG_CACHE_DIR"),
    }
}
