//! Packing a folder for a task.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use http::Method;
use kitbag::core::assembly::OutputForm;
use kitbag::pack::{Pack, PackError, PackRequest, prepare};
use kitbag::store::KeyScope;
use kitbag::tokens::{Counter, ModelProfile, Vocabulary};
use kitbag::workspace::git::Changes;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::task::JoinError;

use super::input::{Input, budget};
use super::{Endpoint, json};
use crate::App;
use crate::refusal::Refusal;

/// A task, and the folder to pack for it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PackInput {
    /// The task, in a sentence or as an issue with its log; empty for an overview
    #[serde(default)]
    task: String,
    /// The folder: one of the server's roots, or one below; the first root unless it is given
    root: Option<String>,
    /// The most tokens of the prompt, 32000 unless it is given
    budget: Option<u32>,
    /// The form of the prompt: pack, markdown, xml, flat, node, anthropic, openai, responses or json
    #[schemars(with = "Option<String>")]
    format: Option<OutputForm>,
    /// The model that the prompt is for, by which its tokens are counted
    model: Option<String>,
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
    /// Numbers the lines
    #[serde(default)]
    line_numbers: bool,
}

pub(super) fn endpoint() -> Endpoint {
    let route = "/api/v1/pack";
    Endpoint::new(
        Method::POST,
        route,
        KeyScope::Read,
        json::<Pack>(),
        post(pack),
    )
    .summary("The prompt for a task: the code that it needs, within the budget")
    .body::<PackInput>()
}

async fn pack(
    State(app): State<Arc<App>>,
    Input(asked): Input<PackInput>,
) -> Result<Response, Refusal> {
    let folder = app.packs.folder(asked.root.as_deref())?;
    let mut request = PackRequest::new(&folder, asked.task);
    if let Some(budget) = budget(asked.budget)? {
        request = request.with_budget(budget);
    }
    request.survey.include = asked.include;
    request
        .survey
        .exclude
        .clone_from(&app.project.config.pack.exclude);
    request.survey.exclude.extend(asked.exclude);
    request.survey.pins = asked.pins;
    request.survey.changes = asked.changed_since.map(|revision| match revision.as_str() {
        "HEAD" => Changes::Uncommitted,
        _ => Changes::Since(revision),
    });
    request.survey.resident = Some(app.packs.resident(&folder));
    request.options.line_numbers = asked.line_numbers;
    request.options.model.clone_from(&asked.model);
    if let Some(form) = asked.format {
        request.options.form = form;
    }
    let counter = counter(asked.model.as_deref())?;
    let packed = app.packs.in_turn(async move {
        let prepared = prepare(&request.survey).await?;
        // Fitting takes long enough to hold up whatever else this thread serves.
        let packed = tokio::task::spawn_blocking(move || prepared.pack(&request.options, &counter));
        match packed.await {
            Ok(packed) => packed.map_err(Refusal::from),
            Err(error) => Err(stopped(&error)),
        }
    });
    let packed = packed.await.map_err(|error| stopped(&error))?;
    Ok(Json(packed?).into_response())
}

fn stopped(error: &JoinError) -> Refusal {
    tracing::error!(event = "pack_panicked", %error);
    Refusal::bug("the pack stopped with a bug")
}

/// Counts tokens for a model; one that is not known is counted with the usual vocabulary.
pub(super) fn counter(model: Option<&str>) -> Result<Counter, Refusal> {
    let profile = model.and_then(|model| ModelProfile::find(model).ok());
    let counter = match profile {
        Some(profile) => Counter::for_profile(profile),
        None => Counter::for_vocabulary(Vocabulary::O200kBase),
    };
    counter.map_err(|error| Refusal::invalid(error.to_string()))
}

impl From<PackError> for Refusal {
    fn from(error: PackError) -> Self {
        Self::invalid(error.to_string()).hint_if(error.hint())
    }
}
