//! The record of a prompt that was sent: its count, its bill, and how the two compare.

use jiff::Timestamp;
use kitbag_core::calibration::CountSample;
use kitbag_core::record::{InferenceRecord, Usage};
use kitbag_core::tokens::{Exactness, TokenCounter};

use super::cache;
use crate::engine::TurnPrompt;
use crate::provider::{Provider, Reply};
use crate::tokens::ModelProfile;
use crate::wire::{Dialect, Request};

/// The record of an answer to a request.
pub(super) fn inference(
    provider: &dyn Provider,
    prompt: &TurnPrompt,
    request: &Request,
    reply: &Reply,
    counter: &dyn TokenCounter,
    sent: Timestamp,
) -> InferenceRecord {
    let assembly = &prompt.composed.assembly;
    let mut inference = InferenceRecord::default();
    provider.name().clone_into(&mut inference.provider);
    inference.model = request.model();
    inference.counted = assembly.tokens.0;
    inference.usage = reply.usage;
    let model = inference.model.as_deref().map(ModelProfile::find);
    let model = model.and_then(Result::ok);
    let expected = cache::expected(prompt, model, counter, sent);
    inference.predicted_cache_read = expected.read;
    inference.cache_miss = expected.miss;
    inference.cost_micros = cost(&inference);
    if let (Some(model), Some(usage)) = (model, &reply.usage) {
        inference.sample = sample(prompt, request, model, usage);
    }
    tell(&inference);
    inference
}

/// The cost at list prices, or `None` if a price or the usage is not known.
pub(crate) fn cost(inference: &InferenceRecord) -> Option<u64> {
    let model = ModelProfile::find(inference.model.as_deref()?).ok()?;
    model.price.as_ref()?.cost(&inference.usage?)
}

/// A sample of the count against the bill, to calibrate by. A flat prompt is only a part of the
/// request that its program sends, and pictures and files are estimates of another kind: both give none.
fn sample(
    prompt: &TurnPrompt,
    request: &Request,
    model: &ModelProfile,
    usage: &Usage,
) -> Option<CountSample> {
    let assembly = &prompt.composed.assembly;
    // Up to a fifth of estimated pictures and files still leaves a usable sample.
    let is_text = assembly.estimated.0.saturating_mul(5) <= assembly.tokens.0;
    if request.dialect == Dialect::Flat || !is_text {
        return None;
    }
    let tokens = u64::from(assembly.tokens.0);
    let (tokenizer, counted) = match &assembly.exactness {
        Exactness::Estimated {
            base,
            factor_permille,
            ..
        } => {
            // Samples hold the count before any factor: the factor is what they calibrate.
            let base_count = tokens * 1_000 / u64::from((*factor_permille).max(1));
            (base.as_ref(), base_count)
        }
        _ => (assembly.tokenizer.as_str(), tokens),
    };
    // A caller's own counter says nothing about the vocabulary in the catalogue.
    if tokenizer != model.tokenizer {
        return None;
    }
    let usual = model.estimate.as_ref();
    let usual = usual.map_or(1_000, |estimate| estimate.factor_permille);
    CountSample::new(tokenizer, counted, usage.input, usual)
}

fn tell(inference: &InferenceRecord) {
    let usage = inference.usage.unwrap_or_default();
    tracing::debug!(
        event = "inference",
        provider = inference.provider,
        model = inference.model,
        counted = inference.counted,
        input = usage.input,
        cache_read = usage.cache_read,
        predicted_cache_read = inference.predicted_cache_read,
        cache_miss = inference.cache_miss.map(tracing::field::display),
        cache_write = usage.cache_write,
        output = usage.output,
        cost_micros = inference.cost_micros,
        billed = inference.usage.is_some(),
    );
}
