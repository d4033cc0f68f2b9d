//! The metrics of calls: their tokens, the time that they took, and the time until they began to answer.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::call::Span;
use super::json::{attributes, time};

/// Histograms since the server started.
#[derive(Debug, Default)]
pub(super) struct Metrics(BTreeMap<(Metric, Labels), Histogram>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Metric {
    Tokens,
    Duration,
    FirstChunk,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    provider: &'static str,
    model: String,
    kind: Option<&'static str>,
    error: Option<String>,
}

#[derive(Debug)]
struct Histogram {
    /// The values up to each bound, and those above all.
    counts: Vec<u64>,
    sum: f64,
}

/// Clients name models as they like; beyond this many histograms, further names are counted as one.
const MOST: usize = 1_000;

/// As the conventions advise.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
const SECONDS: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

impl Metrics {
    /// Counts a call that has ended.
    pub(super) fn count(&mut self, span: &Span) {
        let labels = |kind, error| Labels {
            provider: span.provider,
            model: span.model.clone().unwrap_or_default(),
            kind,
            error,
        };
        // Failed calls count too, under their error: else a provider that is down would look fast.
        let took = labels(None, span.error.clone());
        self.add(Metric::Duration, took, span.took.as_secs_f64());
        if let Some(first) = span.first_chunk {
            self.add(Metric::FirstChunk, labels(None, None), first.as_secs_f64());
        }
        if let Some(usage) = &span.usage {
            // The conventions know only these two; tokens from the cache are part of the input.
            for (kind, tokens) in [("input", usage.input), ("output", usage.output)] {
                #[expect(clippy::cast_precision_loss, reason = "a sum of a histogram")]
                self.add(Metric::Tokens, labels(Some(kind), None), tokens as f64);
            }
        }
    }

    fn add(&mut self, metric: Metric, mut labels: Labels, value: f64) {
        if self.0.len() >= MOST && !self.0.contains_key(&(metric, labels.clone())) {
            // The name that the conventions have for the rest.
            "_OTHER".clone_into(&mut labels.model);
        }
        let bounds = metric.bounds();
        let histogram = self.0.entry((metric, labels));
        let histogram = histogram.or_insert_with(|| Histogram {
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        });
        let at = bounds.iter().position(|bound| value <= *bound);
        if let Some(count) = histogram.counts.get_mut(at.unwrap_or(bounds.len())) {
            *count += 1;
        }
        histogram.sum += value;
    }

    /// All metrics that have a value, as sums since the server started.
    pub(super) fn json(&self, began: Timestamp, now: Timestamp) -> Vec<Value> {
        let metrics = [Metric::Tokens, Metric::Duration, Metric::FirstChunk];
        let metric = |metric: Metric| {
            let points = self.0.iter().filter(|((of, _), _)| *of == metric);
            let points: Vec<Value> = points
                .map(|((_, labels), histogram)| histogram.json(metric, labels, (began, now)))
                .collect();
            let (name, unit) = metric.name_and_unit();
            // 2 is CUMULATIVE: a collector that misses one report loses nothing.
            let histogram = json!({ "aggregationTemporality": 2, "dataPoints": points });
            (!points.is_empty())
                .then(|| json!({ "name": name, "unit": unit, "histogram": histogram }))
        };
        metrics.into_iter().filter_map(metric).collect()
    }
}

impl Metric {
    const fn bounds(self) -> &'static [f64] {
        match self {
            Self::Tokens => &TOKENS,
            Self::Duration | Self::FirstChunk => &SECONDS,
        }
    }

    const fn name_and_unit(self) -> (&'static str, &'static str) {
        match self {
            Self::Tokens => ("gen_ai.client.token.usage", "{token}"),
            Self::Duration => ("gen_ai.client.operation.duration", "s"),
            Self::FirstChunk => ("gen_ai.client.operation.time_to_first_chunk", "s"),
        }
    }
}

impl Histogram {
    fn json(&self, metric: Metric, labels: &Labels, (began, now): (Timestamp, Timestamp)) -> Value {
        let mut told: Vec<(&str, Value)> = vec![
            ("gen_ai.operation.name", "chat".into()),
            ("gen_ai.provider.name", labels.provider.into()),
            ("gen_ai.request.model", labels.model.as_str().into()),
        ];
        told.extend(labels.kind.map(|kind| ("gen_ai.token.type", kind.into())));
        let error = labels.error.as_deref();
        told.extend(error.map(|error| ("error.type", error.into())));
        let counts: Vec<String> = self.counts.iter().map(u64::to_string).collect();
        let count: u64 = self.counts.iter().sum();
        json!({
            "attributes": attributes(told), "startTimeUnixNano": time(began), "timeUnixNano": time(now),
            // OTLP writes 64-bit integers as texts in JSON.
            "count": count.to_string(), "sum": self.sum, "bucketCounts": counts,
            "explicitBounds": metric.bounds(),
        })
    }
}
