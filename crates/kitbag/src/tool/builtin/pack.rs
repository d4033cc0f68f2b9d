//! The tool that packs the project for a task.

use kitbag_core::chunk::Detail;
use kitbag_core::tokens::Tokens;
use kitbag_workspace::git::Changes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolScope;
use crate::gather::pooled;
use crate::pack::{Excluded, Pack, PackedChunk, prepare};
use crate::tool::{Tool, ToolError};

pub(super) struct PackTool(pub(super) ToolScope);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// What is to be done, in a sentence or as an issue with its log; empty for an overview
    #[serde(default)]
    task: String,
    /// The most tokens of the prompt, 8000 unless it is given, 100000 at most
    budget: Option<u32>,
    /// Only files that match one of these patterns, as in a .gitignore file
    #[serde(default)]
    include: Vec<String>,
    /// No file that matches one of these patterns
    #[serde(default)]
    exclude: Vec<String>,
    /// Paths of files that must be in
    #[serde(default)]
    pins: Vec<String>,
    /// Packs what was changed since this revision, for review; HEAD for what is not committed
    changed_since: Option<String>,
}

/// A prompt, and what it is made of.
#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The prompt
    prompt: String,
    /// The tokens that it has
    #[schemars(with = "u32")]
    tokens: Tokens,
    /// The most that it could have had
    #[schemars(with = "u32")]
    budget: Tokens,
    /// What is shown, and how much of it
    shown: Vec<PackedSource>,
    /// The best of what is not shown, and why
    left_out: Vec<LeftOut>,
    /// What did not go as asked
    problems: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct PackedSource {
    /// The path of a file, or the name of another source
    source: String,
    /// full, slice, outline, line or handle
    #[schemars(with = "String")]
    level: Detail,
    /// The first and the last line of each part
    lines: Vec<(u32, u32)>,
    /// The tokens that it takes
    #[schemars(with = "u32")]
    tokens: Tokens,
}

#[derive(Serialize, JsonSchema)]
struct LeftOut {
    source: String,
    reason: String,
}

/// The most sources that are listed as left out: further ones are hardly relevant.
const LEFT_OUT: usize = 20;

impl Tool for PackTool {
    type Arguments = Arguments;
    type Output = Output;
    const NAME: &'static str = "pack";
    const DESCRIPTION: &'static str = "Finds the code that a task needs in this project and puts it into one \
        prompt within a token budget: the most relevant files whole, in parts or in outline. Use it before \
        reading files one by one.";

    async fn call(&self, asked: Arguments) -> Result<Output, ToolError> {
        let mut request = self.0.pack_request(&asked.task, asked.budget);
        request.survey.include = asked.include;
        request.survey.exclude.extend(asked.exclude);
        request.survey.pins = asked.pins;
        request.survey.changes = asked.changed_since.map(|revision| match revision.as_str() {
            // Compared with the files on the disk, staged or not.
            "HEAD" => Changes::Uncommitted,
            _ => Changes::Since(revision),
        });
        let prepared = prepare(&request.survey).await?;
        let counter = self.0.counter.clone();
        // Fitting would block the other requests of this thread.
        let fitted = pooled(move || Ok(prepared.pack(&request.options, &counter)));
        let pack = fitted.await.map_err(ToolError::new)??;
        // On a thread of its own: it prepares the next pack while the agent reads this one.
        self.0.work_ahead();
        Ok(Output::of(&pack))
    }

    fn text(output: &Output) -> String {
        output.prompt.clone()
    }
}

impl Output {
    fn of(pack: &Pack) -> Self {
        let decisions = &pack.decisions;
        let shown = |chunk: &PackedChunk| PackedSource {
            source: chunk.source.clone(),
            level: chunk.level,
            lines: chunk.lines.clone(),
            tokens: chunk.tokens,
        };
        let left_out = |excluded: &Excluded| LeftOut {
            source: excluded.source.clone(),
            reason: excluded.reason.to_string(),
        };
        let excluded = decisions.excluded.iter().take(LEFT_OUT);
        Self {
            prompt: pack.prompt().to_owned(),
            tokens: decisions.tokens,
            budget: decisions.budget,
            shown: decisions.chunks.iter().map(shown).collect(),
            left_out: excluded.map(left_out).collect(),
            problems: decisions.problems.iter().map(ToString::to_string).collect(),
        }
    }
}
