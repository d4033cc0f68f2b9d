//! The prompt of an agent, from its files to what a model reads.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod channels;
mod hostile;
mod project;
mod turns;

use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::layout::prompt::Sources;
use kitbag::layout::{SecurityKey, Turn};
use kitbag::project::{Project, ProjectPlaces};
use kitbag::prompt::{Prompt, prompt};
use tempfile::TempDir;

/// A project in a folder of its own.
struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let fixture = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (name, text) in files {
            let path = fixture.folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        fixture
    }

    fn project(&self) -> Project {
        Project::open(&ProjectPlaces::new(self.folder.path()))
    }
}

fn key() -> SecurityKey {
    SecurityKey::from_bytes([0xab; 16])
}

/// The prompt of the project's agent `id`, as one text.
fn flat(project: &Project, id: &str, turn: &Turn) -> Prompt {
    within(project, id, turn, Tokens(100_000))
}

fn within(project: &Project, id: &str, turn: &Turn, budget: Tokens) -> Prompt {
    let agent = project.config.agent(id).unwrap();
    let found = project.layout(Some(agent), None).unwrap();
    let read = project.documents(Some(agent));
    let mut sources =
        Sources::new(agent, &read.documents, &project.partials).with_layout(found.layout);
    sources.conversation = project.conversation.as_ref();
    let settings = AssemblySettings::new(OutputForm::Flat, budget);
    prompt(&sources, turn, &settings, &Characters, None).unwrap()
}
