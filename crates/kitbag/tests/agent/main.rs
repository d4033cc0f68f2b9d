//! The prompt of an agent, from its files to what a model reads, through the engine.

#![cfg(feature = "layouts")]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod channels;
mod hostile;
mod project;
#[cfg(feature = "sqlite")]
mod remembered;
mod shown;
mod turns;

use kitbag::core::assembly::{Assembly, AssemblySettings, OutputForm};
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::engine::{AgentRequest, PromptRequest, Sources, TurnError, TurnRequest, turn};
use kitbag::layout::prompt::SystemPrompt;
use kitbag::layout::{ChannelTurn, SecurityKey};
use kitbag::project::{Project, ProjectPlaces};
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

/// A prompt, and the system prompt in it.
struct Made {
    system: SystemPrompt,
    assembly: Assembly,
    /// The text, or the request as JSON.
    body: String,
}

/// The prompt of the project's agent `id`, as one text.
fn flat(project: &Project, id: &str, channel: &ChannelTurn) -> Made {
    within(project, id, channel, Tokens(100_000))
}

fn within(project: &Project, id: &str, channel: &ChannelTurn, budget: Tokens) -> Made {
    make(project, &request(id, channel), OutputForm::Flat, budget).unwrap()
}

fn request(id: &str, channel: &ChannelTurn) -> AgentRequest {
    AgentRequest::new(channel.clone()).to(id).with_key(key())
}

/// Goes through the engine, as every channel does.
fn make(
    project: &Project,
    request: &AgentRequest,
    form: OutputForm,
    budget: Tokens,
) -> Result<Made, TurnError> {
    let prompt = PromptRequest::new("", AssemblySettings::new(form, budget));
    let mut sources = Sources::default();
    let variable = |name: &str| Some(format!("value of {name}"));
    sources.project = Some(project);
    sources.variable = &variable;
    let mut turn_request = TurnRequest::without_memory(prompt);
    turn_request.agent = Some(request.clone());
    let made = pollster::block_on(turn(sources, turn_request, &Characters))?;
    Ok(Made {
        body: made.composed.body().into_owned(),
        system: made.agent.unwrap().system,
        assembly: made.composed.assembly,
    })
}
