//! Counters in the text format of Prometheus. Labels are routes, statuses and kinds, which are few.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kitbag::core::record::Usage;

/// The counters of a server since it started.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    requests: BTreeMap<(String, u16), u64>,
    seconds: BTreeMap<String, Histogram>,
    tokens: BTreeMap<&'static str, u64>,
    events: BTreeMap<(Event, String), u64>,
}

/// A failure that no client sees: the metrics and the log report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// Memory was asked, and failed or was late.
    MemoryFailed,
    /// Something that was said is not kept.
    NotLearned,
    /// A provider could not be asked.
    UpstreamFailed,
}

impl Event {
    const ALL: [Self; 3] = [Self::MemoryFailed, Self::NotLearned, Self::UpstreamFailed];

    const fn metric(self) -> (&'static str, &'static str) {
        match self {
            Self::MemoryFailed => (
                "kitbag_memory_failures_total",
                "Requests that went on without memory, or without looking up their key.",
            ),
            Self::NotLearned => ("kitbag_not_learned_total", "Exchanges that are not kept."),
            Self::UpstreamFailed => (
                "kitbag_upstream_failures_total",
                "Requests that a provider did not answer; `left_alone` while it is not asked.",
            ),
        }
    }
}

#[derive(Debug, Default)]
struct Histogram {
    /// The requests within each bound, and all of them.
    within: [u64; BOUNDS.len()],
    count: u64,
    micros: u128,
}

/// Upper ends of the buckets, in milliseconds.
const BOUNDS: [u64; 9] = [1, 5, 10, 50, 100, 500, 1_000, 10_000, 60_000];

impl Metrics {
    /// Counts a request whose head was answered after so long.
    pub(super) fn count(&self, route: &str, status: u16, took: Duration) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts
            .requests
            .entry((route.to_owned(), status))
            .or_default() += 1;
        let histogram = counts.seconds.entry(route.to_owned()).or_default();
        for (within, bound) in histogram.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(took <= Duration::from_millis(bound));
        }
        histogram.count += 1;
        histogram.micros += took.as_micros();
    }

    /// Counts what a provider billed.
    pub(crate) fn count_usage(&self, usage: &Usage) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (kind, tokens) in [
            ("input", usage.input),
            ("output", usage.output),
            ("cache_read", usage.cache_read),
            ("cache_write", usage.cache_write),
        ] {
            *counts.tokens.entry(kind).or_default() += tokens;
        }
    }

    /// Counts a failure of some kind.
    pub(crate) fn note(&self, event: Event, kind: impl Into<String>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.events.entry((event, kind.into())).or_default() += 1;
    }

    /// The counters as Prometheus reads them.
    pub(crate) fn text(&self) -> String {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        // Writing to a string does not fail.
        let mut line = |line: std::fmt::Arguments<'_>| {
            let _ = writeln!(text, "{line}");
        };
        line(format_args!(
            "# HELP kitbag_requests_total Requests by route and status."
        ));
        line(format_args!("# TYPE kitbag_requests_total counter"));
        for ((route, status), count) in &counts.requests {
            line(format_args!(
                "kitbag_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}"
            ));
        }
        line(format_args!(
            "# HELP kitbag_request_seconds Time until the head of the answer."
        ));
        line(format_args!("# TYPE kitbag_request_seconds histogram"));
        for (route, histogram) in &counts.seconds {
            for (within, bound) in histogram.within.iter().zip(BOUNDS) {
                let (seconds, millis) = (bound / 1_000, bound % 1_000);
                line(format_args!(
                    "kitbag_request_seconds_bucket{{route=\"{route}\",le=\"{seconds}.{millis:03}\"}} {within}"
                ));
            }
            let Histogram { count, micros, .. } = histogram;
            line(format_args!(
                "kitbag_request_seconds_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}"
            ));
            let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
            line(format_args!(
                "kitbag_request_seconds_sum{{route=\"{route}\"}} {seconds}.{rest:06}"
            ));
            line(format_args!(
                "kitbag_request_seconds_count{{route=\"{route}\"}} {count}"
            ));
        }
        line(format_args!(
            "# HELP kitbag_tokens_total Tokens that providers billed."
        ));
        line(format_args!("# TYPE kitbag_tokens_total counter"));
        for (kind, count) in &counts.tokens {
            line(format_args!(
                "kitbag_tokens_total{{kind=\"{kind}\"}} {count}"
            ));
        }
        for event in Event::ALL {
            let (name, help) = event.metric();
            line(format_args!("# HELP {name} {help}"));
            line(format_args!("# TYPE {name} counter"));
            let of_event = counts.events.iter().filter(|((it, _), _)| *it == event);
            for ((_, kind), count) in of_event {
                line(format_args!("{name}{{kind=\"{kind}\"}} {count}"));
            }
        }
        text
    }
}
