//! Learning after an answer: beside what follows, and waited for at the end.

use std::future::Future;
use std::time::Duration;

use kitbag::Engine;
use kitbag::learn::{AfterTurn, Lessons};
use kitbag::store::ConversationId;
use kitbag::tokens::dollars;
use tokio::task::JoinHandle;

use crate::commands::pack::summary::say_problems;
use crate::interrupt::{interrupted, unless_interrupted};
use crate::output::{self, counted, grouped, one_line};

/// The longest that a command stays for what it still learns.
const PATIENCE: Duration = Duration::from_secs(30);

/// Learns beside a chat, one thing after the other.
#[derive(Default)]
pub(crate) struct Learner {
    task: Option<JoinHandle<Vec<Lessons>>>,
}

impl Learner {
    /// Learns after a turn.
    pub(crate) fn after(&mut self, engine: &Engine, after: AfterTurn) {
        let engine = engine.clone();
        self.begin(async move { engine.learn_after(after).await });
    }

    /// Learns from a conversation that was closed.
    pub(crate) fn from(&mut self, engine: &Engine, closed: ConversationId) {
        let engine = engine.clone();
        self.begin(async move { engine.learn_from(closed).await });
    }

    fn begin(&mut self, work: impl Future<Output = Lessons> + Send + 'static) {
        let before = self.task.take();
        self.task = Some(tokio::spawn(async move {
            let mut all = match before {
                Some(before) => before.await.unwrap_or_default(),
                None => Vec::new(),
            };
            all.push(work.await);
            all
        }));
    }

    /// Says what was learned, if that is done.
    pub(crate) async fn say(&mut self) {
        if let Some(done) = self.task.take_if(|task| task.is_finished()) {
            done.await.unwrap_or_default().iter().for_each(say);
        }
    }

    /// Waits for what is still being learned, not for long, and not against the will of a person who
    /// presses Ctrl-C.
    pub(crate) async fn finish(mut self) {
        if let Some(mut task) = self.task.take() {
            let all = unless_impatient(&mut task).await;
            task.abort();
            all.and_then(Result::ok).iter().flatten().for_each(say);
        }
    }
}

/// Learns where nothing follows.
pub(crate) async fn learn(work: impl Future<Output = Lessons>) {
    if let Some(lessons) = unless_impatient(work).await {
        say(&lessons);
    }
}

async fn unless_impatient<T>(work: impl Future<Output = T>) -> Option<T> {
    let first = unless_interrupted(work, interrupted());
    tokio::time::timeout(PATIENCE, first).await.ok().flatten()
}

/// Says on one line what was learned and what it cost.
pub(crate) fn say(lessons: &Lessons) {
    let mut parts = Vec::new();
    if lessons.summary.is_some() {
        parts.push(match lessons.closed {
            Some(id) => format!("a summary of conversation {id}"),
            None => "a summary".to_owned(),
        });
    }
    if !lessons.facts.is_empty() {
        let keys = lessons.facts.iter().map(|fact| fact.key.as_str());
        let keys: Vec<&str> = keys.collect();
        let count = counted(lessons.facts.len() as u64, "fact", "facts");
        parts.push(format!("{count} ({})", one_line(&keys.join(", "))));
    }
    let told = lessons.compacted.map(u64::from);
    parts
        .extend(told.map(|told| format!("{} told in short", counted(told, "message", "messages"))));
    let usages = lessons.inferences.iter().filter_map(|one| one.usage);
    let (input, output) = usages.fold((0, 0), |(input, output), usage| {
        (input + usage.input, output + usage.output)
    });
    if input > 0 {
        parts.push(format!(
            "{} tokens in, {} out",
            grouped(input),
            grouped(output)
        ));
    }
    parts.extend(lessons.cost_micros().map(dollars));
    if !parts.is_empty() {
        output::say(format_args!("learned: {}", parts.join(", ")));
    }
    say_problems(&lessons.problems);
}
