//! The first stage: surveys the workspace for a task, or for an overview where the task finds nothing.

use std::sync::Arc;

use kitbag_core::tokens::Tokens;
use kitbag_workspace::cache::{Cache, MAX_BYTES};
use kitbag_workspace::query::Query;
use kitbag_workspace::relevance::RelevanceWeights;
use kitbag_workspace::survey::{self, Changed, Survey, SurveyOptions};
use kitbag_workspace::workspace::Workspace;

use super::pins::Pins;
use super::strategy::Strategy;
use super::{SurveyRequest, overview};
use crate::gather::{GatherError, pooled};

/// Surveys the workspace. Tells also whether the survey is an overview: there is no task, or no file
/// has to do with it.
pub(super) async fn survey(
    request: &SurveyRequest,
    query: Query,
    workspace: &Arc<Workspace>,
    strategy: Strategy,
    changed: Vec<Changed>,
    pins: &Pins,
) -> Result<(Survey, bool), GatherError> {
    let mut options = SurveyOptions::default();
    options.changed = changed;
    options.weights = request.relevance.clone();
    options.about_tests = strategy.about_tests;
    options.companions = strategy.companions;
    let most = request.limits.max_files;
    options.candidates = most.unwrap_or_else(|| candidates(request.budget));
    options.always = pins.paths().map(str::to_owned).collect();
    if request.is_all {
        let files = workspace.files().iter();
        options.always.extend(files.map(|file| file.path.clone()));
    }
    let (workspace, cache_folder) = (Arc::clone(workspace), request.cache_folder.clone());
    let resident = request.resident.clone();
    pooled(move || {
        // Written when it is dropped, or here where it stays.
        let cache = match resident {
            Some(resident) => resident.cache(cache_folder),
            None => Arc::new(Cache::open(cache_folder, MAX_BYTES)),
        };
        let surveyed = look(&workspace, &query, options, &cache);
        cache.flush();
        Ok(surveyed)
    })
    .await
}

/// Surveys for the task, or for an overview where no file has to do with it.
fn look(
    workspace: &Workspace,
    query: &Query,
    mut options: SurveyOptions,
    cache: &Cache,
) -> (Survey, bool) {
    if !query.is_empty() {
        let survey = survey::survey(workspace, query, &options, cache);
        if !survey.ranked.is_empty() {
            return (survey, false);
        }
    }
    options.weights = RelevanceWeights::overview();
    options.always.extend(overview::landmarks(workspace));
    let survey = survey::survey(workspace, &Query::new(""), &options, cache);
    (survey, true)
}

/// The query of a task. A trace that is attached points at code as one in the task does.
pub(super) async fn query(request: &SurveyRequest) -> Result<Query, GatherError> {
    let task = request.task.clone();
    let attached = request
        .attachment
        .as_ref()
        .map(|attached| attached.text.clone());
    pooled(move || Ok(Query::with_attachment(&task, &attached.unwrap_or_default()))).await
}

/// The query of a text that is no task, such as the code that a change touches.
pub(super) async fn query_of(text: String) -> Result<Query, GatherError> {
    pooled(move || Ok(Query::new(&text))).await
}

/// The number of files to parse: a file that is shown takes a few hundred tokens.
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
