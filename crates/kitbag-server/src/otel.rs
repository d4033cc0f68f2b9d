//! OpenTelemetry: a span for each call of a model, and its metrics, by the conventions for generative AI.
//!
//! They are written as OTLP in JSON, over the client that requests to providers use. The texts of messages are sent only where
//! the environment asks for it, and then without secrets. Nothing waits for a collector: what it does not take is lost.

mod call;
mod export;
mod json;
mod metrics;
mod settings;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

pub(crate) use call::Call;
use call::Span;
use export::Target;
use metrics::Metrics;
pub use settings::TelemetryError;

/// Tells a collector of the calls of models.
#[derive(Debug)]
pub struct Telemetry {
    spans: Option<Target>,
    metrics: Option<Target>,
    /// The attributes of this server.
    resource: Value,
    /// Set if the texts of messages are sent.
    tells_content: bool,
    /// Spans wait for so long, so that they are sent together.
    delay: Duration,
    /// Metrics are sent as often.
    interval: Duration,
    began: Timestamp,
    queue: Mutex<VecDeque<Span>>,
    filled: Notify,
    measured: Mutex<Metrics>,
}

/// More spans are not kept for a collector that takes none.
const MOST: usize = 2_048;
/// This many spans are sent without waiting for the interval.
const MANY: usize = 512;
/// A server that stops waits no longer for its collector.
const LAST: Duration = Duration::from_secs(5);

impl Telemetry {
    /// Sends what there is, again and again.
    pub(crate) async fn run(&self) {
        let mut measured = Instant::now();
        loop {
            // Either way it sends: a full queue only ends the wait earlier.
            drop(timeout(self.delay, self.filled.notified()).await);
            self.send_spans().await;
            if measured.elapsed() >= self.interval {
                measured = Instant::now();
                self.send_metrics().await;
            }
        }
    }

    /// Sends what is left.
    pub(crate) async fn finish(&self) {
        let all = async {
            self.send_spans().await;
            self.send_metrics().await;
        };
        // A collector that hangs must not keep the server from stopping.
        if timeout(LAST, all).await.is_err() {
            tracing::warn!(event = "telemetry_late");
        }
    }

    fn add(&self, span: Span) {
        // Before sampling: metrics count every call.
        lock(&self.measured).count(&span);
        if self.spans.is_none() || !span.is_sampled {
            return;
        }
        let mut queue = lock(&self.queue);
        if queue.len() == MOST {
            // The oldest: what happens now matters more to whoever looks.
            queue.pop_front();
        }
        queue.push_back(span);
        if queue.len() >= MANY {
            self.filled.notify_one();
        }
    }

    async fn send_spans(&self) {
        // Taken out before sending, so that no call waits for the collector.
        let spans: Vec<Span> = lock(&self.queue).drain(..).collect();
        if let Some(target) = &self.spans
            && !spans.is_empty()
        {
            let spans = spans.iter().map(Span::json).collect();
            target.send(json::spans(&self.resource, spans)).await;
        }
    }

    async fn send_metrics(&self) {
        let Some(target) = &self.metrics else {
            return;
        };
        let metrics = lock(&self.measured).json(self.began, Timestamp::now());
        if !metrics.is_empty() {
            target.send(json::metrics(&self.resource, metrics)).await;
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
