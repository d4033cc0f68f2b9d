//! Looks at the workspace for a task, or for an overview where the task finds nothing.

use std::path::PathBuf;
use std::sync::Arc;

use kitbag_core::tokens::Tokens;
use kitbag_workspace::cache::{Cache, Limits};
use kitbag_workspace::query::Query;
use kitbag_workspace::relevance::RelevanceWeights;
use kitbag_workspace::survey::{Changed, Survey, SurveyOptions, survey};
use kitbag_workspace::workspace::Workspace;

use super::strategy::Strategy;
use super::{PackRequest, overview};
use crate::gather::{GatherError, pooled};

/// Parsing takes most of the time: so much of a candidate is parsed on average.
const BYTES_OF_A_CANDIDATE: u64 = 15_000;

/// A workspace, looked at.
pub(super) struct Looked {
    pub(super) survey: Survey,
    /// Whether there is no task, or no file has to do with it.
    pub(super) is_overview: bool,
}

/// Surveys the workspace.
pub(super) async fn look(
    request: &PackRequest,
    query: Query,
    workspace: &Arc<Workspace>,
    strategy: Strategy,
    changed: Vec<Changed>,
) -> Result<Looked, GatherError> {
    let mut options = SurveyOptions::default();
    options.changed = changed;
    options.weights = request.relevance.clone();
    options.about_tests = strategy.about_tests;
    options.candidates = candidates(request.budget);
    options.parsed_bytes = options.candidates as u64 * BYTES_OF_A_CANDIDATE;
    options.always.clone_from(&request.pins);
    let looking = Looking {
        query,
        options,
        workspace: Arc::clone(workspace),
        cache: request.cache_folder.clone(),
    };
    pooled(move || {
        let cache = Cache::open(looking.cache.clone(), Limits::default());
        if !looking.query.is_empty() {
            let survey = looking.for_task(&cache);
            if !survey.ranked.is_empty() {
                return Ok(Looked {
                    survey,
                    is_overview: false,
                });
            }
        }
        Ok(Looked {
            survey: looking.around(&cache),
            is_overview: true,
        })
    })
    .await
}

struct Looking {
    query: Query,
    options: SurveyOptions,
    workspace: Arc<Workspace>,
    cache: Option<PathBuf>,
}

impl Looking {
    fn for_task(&self, cache: &Cache) -> Survey {
        survey(&self.workspace, &self.query, &self.options, cache)
    }

    fn around(&self, cache: &Cache) -> Survey {
        let mut options = self.options.clone();
        options.weights = RelevanceWeights::overview();
        options.always.extend(overview::landmarks(&self.workspace));
        survey(&self.workspace, &Query::new(""), &options, cache)
    }
}

/// What is looked for. A trace that is attached points at code as one in the task does.
pub(super) async fn query(request: &PackRequest) -> Result<Query, GatherError> {
    let mut said = request.task.clone();
    if let Some(attached) = &request.attachment {
        said.push('\n');
        said.push_str(&attached.text);
    }
    pooled(move || Ok(Query::new(&said))).await
}

/// How many files are looked at closely. A file that is shown takes a few hundred tokens.
fn candidates(budget: Tokens) -> usize {
    usize::try_from(budget.0 / 400)
        .unwrap_or(usize::MAX)
        .clamp(60, 2_000)
}
