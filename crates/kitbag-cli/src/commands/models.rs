//! `kitbag models`: lists the catalogue of models, and the providers.

mod details;
mod tables;

use std::env;

use kitbag::core::calibration::Calibration;
use kitbag::provider::{ProviderSummary, Providers};
use kitbag::tokens::ModelProfile;
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::project::ListArgs;
use crate::store::{self, StoreArgs};

/// Lists models with their windows, prices, caches and tokenizers
///
/// Prices are list prices in US dollars for a million tokens; `-` means that no figure is published. With
/// the exact name of a model, prints everything known about it: price steps, sources, and the state of its
/// provider's key.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag models
  kitbag models claude
  kitbag models claude-opus-4-8")]
pub(crate) struct Args {
    /// A model, a part of its name, or a provider
    name: Option<String>,
    #[command(flatten)]
    list: ListArgs,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let asked = args.name.as_deref().map(str::trim).unwrap_or_default();
    let found = ModelMatches::of(asked)?;
    let project = args.list.project.open_and_tell()?;
    let variable = |name: &str| env::var(name).ok();
    let providers = Providers::new(&project.config, &project.root, &variable).summaries();
    if args.list.json {
        let models = match found {
            ModelMatches::One(model) => vec![model],
            ModelMatches::Several(models) => models,
        };
        return Ok(output::print_json(&Report { models, providers })?);
    }
    let told = match found {
        ModelMatches::One(model) => {
            let bills = store::run(bills(asked, place)).unwrap_or_else(|failure| {
                // The catalogue needs no memory: a store that fails only costs the figures of bills.
                failure.warn("past bills are not shown");
                None
            });
            let told = details::of(asked, model, &providers, bills.as_ref());
            format!("{told}\n\n{}", tables::providers(&providers))
        }
        // Providers are part of the whole list, and would be noise below a search.
        ModelMatches::Several(models) if asked.is_empty() => {
            let told = tables::models(&models);
            format!("{told}\n\n{}", tables::providers(&providers))
        }
        ModelMatches::Several(models) => tables::models(&models),
    };
    Ok(output::print(&told)?)
}

/// The bills of the model's latest answers against our counts, if any are stored.
async fn bills(asked: &str, place: &StoreArgs) -> Result<Option<Calibration>, Failure> {
    let Some(store) = place.open_if_any().await? else {
        return Ok(None);
    };
    // Bills are stored under the name in the request, without the provider's.
    let sent = asked.split_once('/').map(|(_, model)| model);
    for name in [Some(asked), sent].into_iter().flatten() {
        if let Some(bills) = store.calibration(name).await? {
            return Ok(Some(bills));
        }
    }
    Ok(None)
}

/// The output of `--json`.
#[derive(Serialize)]
struct Report {
    models: Vec<&'static ModelProfile>,
    providers: Vec<ProviderSummary>,
}

enum ModelMatches {
    One(&'static ModelProfile),
    Several(Vec<&'static ModelProfile>),
}

impl ModelMatches {
    /// The model of that name; or else those whose names contain it or whose provider it is; or else the
    /// model or the family of a longer name.
    fn of(asked: &str) -> Result<Self, Failure> {
        let written = asked.to_lowercase();
        let models = ModelProfile::models();
        // An exact name comes first: `gpt-4o` is also a part of `gpt-4o-mini`.
        if let Some(exact) = models.iter().find(|model| model.name() == written) {
            return Ok(Self::One(exact));
        }
        let matches = |model: &&ModelProfile| {
            model.name().contains(&written) || model.provider.as_ref() == Some(&written)
        };
        let matching: Vec<&ModelProfile> = models.iter().filter(matches).collect();
        if !matching.is_empty() {
            return Ok(Self::Several(matching));
        }
        ModelProfile::find(asked).map(Self::One).map_err(|error| {
            let hint = match error.similar.as_slice() {
                [] => "`kitbag models` lists all models".to_owned(),
                similar => format!("did you mean {}?", similar.join(", ")),
            };
            Failure::new(output::one_line(&error.to_string())).hint(hint)
        })
    }
}
