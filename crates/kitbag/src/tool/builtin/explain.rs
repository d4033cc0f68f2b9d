//! The tool that says why a file is in a pack or not.

use kitbag_core::chunk::Detail;
use kitbag_core::rank::ScorePart;
use kitbag_core::tokens::Tokens;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

use super::ToolScope;
use crate::gather::blocking;
use crate::pack::explain::{Explanation, explain};
use crate::pack::{PackError, prepare};
use crate::tool::{Tool, ToolError};

pub(super) struct ExplainTool(pub(super) ToolScope);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The task, as for `pack`
    task: String,
    /// The path of the file, below the folder of the project
    path: String,
    /// The budget of the pack, 8000 tokens unless it is given
    budget: Option<u32>,
}

/// Why a file is in a pack or not, and what would change that.
#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The file
    source: String,
    /// Its place among the ranked files, from 1
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    /// How many files are ranked
    ranked: usize,
    /// Its score
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<i64>,
    /// What the score is made of
    parts: Vec<Part>,
    /// How it is shown: full, slice, outline, line or handle
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<Detail>,
    /// The lines that are shown
    lines: Vec<(u32, u32)>,
    /// The tokens that it takes
    #[schemars(with = "Option<u32>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Tokens>,
    /// Why it is not shown
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The sources that would leave or shrink if it had to be in whole
    displaced_by: Vec<String>,
    /// The smallest budget with which it is shown, or shown whole where it is shown in part
    #[schemars(with = "Option<u32>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    sufficient_budget: Option<Tokens>,
    /// Words that would bring it in, when added to the task
    words: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Part {
    name: String,
    value: i64,
}

impl Tool for ExplainTool {
    type Arguments = Arguments;
    type Output = Output;
    const NAME: &'static str = "explain";
    const DESCRIPTION: &'static str = "Says why a file is in the pack for a task or not: its score by part, and \
        which budget or words would bring it in.";

    async fn call(&self, asked: Arguments) -> Result<Output, ToolError> {
        let request = self.0.pack_request(&asked.task, asked.budget);
        let counter = self.0.counter.clone();
        let work = async move {
            let prepared = prepare(&request.survey).await?;
            let pack = prepared.pack(&request.options, &counter)?;
            Ok(explain(&asked.path, &request, &prepared, &pack, &counter).await)
        };
        let explained: Result<Explanation, PackError> = match Handle::try_current() {
            // It tries many budgets, for seconds in a large project, and would hold up whatever else this
            // thread serves.
            Ok(runtime) => {
                let aside = blocking(move || Ok(runtime.block_on(work)));
                aside.await.map_err(ToolError::new)?
            }
            Err(_) => work.await,
        };
        Ok(explained?.into())
    }
}

impl From<Explanation> for Output {
    fn from(told: Explanation) -> Self {
        let part = |part: ScorePart| Part {
            name: part.name.to_string(),
            value: part.value,
        };
        let shown = told.shown.as_ref();
        Self {
            level: shown.map(|shown| shown.level),
            lines: shown.map(|shown| shown.lines.clone()).unwrap_or_default(),
            tokens: shown.map(|shown| shown.tokens),
            source: told.source,
            rank: told.rank,
            ranked: told.ranked,
            score: told.score,
            parts: told.parts.into_iter().map(part).collect(),
            reason: told.reason,
            displaced_by: told.displaced_by,
            sufficient_budget: told.budget,
            words: told.words,
        }
    }
}
