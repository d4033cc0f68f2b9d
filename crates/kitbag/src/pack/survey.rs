//! The first stage: surveys the workspace for a task, or for an overview where the task finds nothing.

use std::path::PathBuf;
use std::sync::Arc;

use kitbag_core::tokens::Tokens;
use kitbag_workspace::cache::{Cache, MAX_BYTES};
use kitbag_workspace::query::Query;
use kitbag_workspace::relevance::RelevanceWeights;
use kitbag_workspace::survey::{self, Changed, Survey, SurveyOptions};
use kitbag_workspace::workspace::Workspace;

use super::strategy::Strategy;
use super::{SurveyRequest, overview};
use crate::gather::{GatherError, pooled};

/// A workspace, surveyed.
pub(super) struct Surveyed {
    pub(super) survey: Survey,
    /// Whether there is no task, or no file has to do with it.
    pub(super) is_overview: bool,
}

/// Surveys the workspace.
pub(super) async fn survey(
    request: &SurveyRequest,
    query: Query,
    workspace: &Arc<Workspace>,
    strategy: Strategy,
    changed: Vec<Changed>,
) -> Result<Surveyed, GatherError> {
    let mut options = SurveyOptions::default();
    options.changed = changed;
    options.weights = request.relevance.clone();
    options.about_tests = strategy.about_tests;
    options.companions = strategy.companions;
    options.candidates = match request.limits.max_files {
        Some(most) => most,
        None => candidates(request.budget),
    };
    options.always.clone_from(&request.pins);
    let work = Work {
        query,
        options,
        workspace: Arc::clone(workspace),
        cache: request.cache_folder.clone(),
    };
    pooled(move || {
        let cache = Cache::open(work.cache.clone(), MAX_BYTES);
        if !work.query.is_empty() {
            let survey = work.for_task(&cache);
            if !survey.ranked.is_empty() {
                return Ok(Surveyed {
                    survey,
                    is_overview: false,
                });
            }
        }
        Ok(Surveyed {
            survey: work.around(&cache),
            is_overview: true,
        })
    })
    .await
}

struct Work {
    query: Query,
    options: SurveyOptions,
    workspace: Arc<Workspace>,
    cache: Option<PathBuf>,
}

impl Work {
    fn for_task(&self, cache: &Cache) -> Survey {
        survey::survey(&self.workspace, &self.query, &self.options, cache)
    }

    fn around(&self, cache: &Cache) -> Survey {
        let mut options = self.options.clone();
        options.weights = RelevanceWeights::overview();
        options.always.extend(overview::landmarks(&self.workspace));
        survey::survey(&self.workspace, &Query::new(""), &options, cache)
    }
}

/// The query of a task. A trace that is attached points at code as one in the task does.
pub(super) async fn query(request: &SurveyRequest) -> Result<Query, GatherError> {
    let mut said = request.task.clone();
    if let Some(attached) = &request.attachment {
        said.push('\n');
        said.push_str(&attached.text);
    }
    pooled(move || Ok(Query::new(&said))).await
}

/// How many files are looked at closely: a file that is shown takes a few hundred tokens.
fn candidates(budget: Tokens) -> usize {
    usize::try_from(budget.0 / TOKENS_OF_A_CANDIDATE)
        .unwrap_or(usize::MAX)
        .clamp(FEWEST, MOST)
}

/// The least budget with which the file at this place of the ranking, from 0, is looked at closely;
/// none for one that never is.
#[must_use]
pub fn budget_to_look_at(place: usize) -> Option<Tokens> {
    let needed = u32::try_from(place).ok()?.checked_add(1)?;
    (place < MOST).then(|| match place < FEWEST {
        true => Tokens(1),
        false => Tokens(needed * TOKENS_OF_A_CANDIDATE),
    })
}

const TOKENS_OF_A_CANDIDATE: u32 = 400;
const FEWEST: usize = 60;
const MOST: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p13_a_file_is_looked_at_from_the_budget_that_is_told() {
        for place in [0, 59, 60, 100, 1_999] {
            let budget = budget_to_look_at(place).unwrap();
            assert!(candidates(budget) > place, "{place}: {budget}");
            let less = candidates(Tokens(budget.0 - 1));
            assert!(place < FEWEST || less <= place, "{place}: {budget}");
        }
        assert_eq!(budget_to_look_at(2_000), None);
    }
}
