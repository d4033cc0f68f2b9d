//! Models and providers in columns.

use kitbag::provider::{KeySummary, ProviderSummary};
use kitbag::tokens::ModelProfile;

use crate::output::{aligned, grouped, one_line, shortened};

const UNKNOWN: &str = "-";

pub(super) fn models(models: &[&ModelProfile]) -> String {
    let header = [
        "model", "provider", "window", "answer", "in $", "out $", "cached $", "min", "counts",
    ];
    let row = |model: &&ModelProfile| {
        let price = model.price.as_ref();
        let prices = [
            price.map(|price| price.input),
            price.and_then(|price| price.output),
            price.and_then(|price| price.cache_read),
        ];
        let [input, output, cached] = prices.map(|price| or_unknown(price.map(amount)));
        // A table of facts shows no assumption; the details of a model do.
        let cache = model.cache.as_ref().filter(|_| !model.is_cache_min_assumed);
        let counts = model.estimate.as_ref().map(|estimate| {
            let percent = estimate.error_permille / 10;
            format!("± {percent} %")
        });
        [
            model.name().into_owned(),
            or_unknown(model.provider.clone()),
            or_unknown(model.window.map(grouped)),
            or_unknown(model.max_output.map(grouped)),
            input,
            output,
            cached,
            or_unknown(cache.map(|cache| grouped(cache.min_tokens.0))),
            counts.unwrap_or_else(|| "exact".to_owned()),
        ]
    };
    aligned(&header, &[2, 3, 4, 5, 6, 7], models.iter().map(row))
}

pub(super) fn providers(providers: &[ProviderSummary]) -> String {
    let header = ["provider", "API", "host", "model", "key"];
    let row = |provider: &ProviderSummary| {
        let key = match (&provider.refused, &provider.key) {
            (Some(_), _) => "refused: not your own file".to_owned(),
            (None, Some(key)) => key_state(key, 27),
            (None, None) if provider.kind == "claude-code" => "its own login".to_owned(),
            (None, None) => "none".to_owned(),
        };
        let cell = |text: &Option<String>, most| {
            or_unknown(text.as_ref().map(|text| shortened(&one_line(text), most)))
        };
        [
            shortened(&one_line(&provider.name), 12),
            provider.kind.to_owned(),
            cell(&provider.host, 19),
            cell(&provider.model, 17),
            key,
        ]
    };
    aligned(&header, &[], providers.iter().map(row))
}

/// The place of a key, and its state.
pub(super) fn key_state(key: &KeySummary, most: usize) -> String {
    let state = match key.is_set {
        Some(true) => ", set",
        Some(false) => ", not set",
        None => "",
    };
    let place = shortened(&one_line(&key.place), most.saturating_sub(state.len()));
    format!("{place}{state}")
}

/// A price in dollars, with at least two decimals.
pub(super) fn amount(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
    let decimals = format!("{rest:06}");
    let decimals = decimals.trim_end_matches('0');
    format!("{whole}.{decimals:0<2}")
}

fn or_unknown(text: Option<String>) -> String {
    text.unwrap_or_else(|| UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o07_prices_have_two_decimals_or_as_many_as_they_take() {
        for (micros, told) in [
            (0, "0.00"),
            (3_625, "0.003625"),
            (150_000, "0.15"),
            (2_500_000, "2.50"),
            (600_000_000, "600.00"),
        ] {
            assert_eq!(amount(micros), told);
        }
    }
}
