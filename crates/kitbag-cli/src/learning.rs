//! Learning after an answer, in the background of a chat, with a limited wait at its end.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kitbag::Engine;
use kitbag::learn::{AfterTurn, Lessons};
use kitbag::store::ConversationId;
use kitbag::tokens::dollars;
use tokio::task::{JoinError, JoinHandle};

use crate::commands::pack::summary::say_problems;
use crate::interrupt::{interrupted, unless};
use crate::output::{self, counted, grouped, one_line};

/// The longest wait for unfinished learning.
const PATIENCE: Duration = Duration::from_secs(30);

/// Learns during a chat, one task after the other.
#[derive(Default)]
pub(crate) struct Learner {
    task: Option<JoinHandle<()>>,
    /// The lessons that were not reported yet.
    learned: Arc<Mutex<Vec<Lessons>>>,
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
        // Each task waits for the one before it, so that lessons are learned in order.
        let (before, learned) = (self.task.take(), Arc::clone(&self.learned));
        self.task = Some(tokio::spawn(async move {
            if let Some(before) = before {
                say_if_broken(before.await);
            }
            let lessons = work.await;
            let mut learned = learned.lock().unwrap_or_else(PoisonError::into_inner);
            learned.push(lessons);
        }));
    }

    /// Reports the lessons so far.
    pub(crate) fn say(&self) {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        learned.drain(..).for_each(|lessons| say(&lessons));
    }

    /// Waits for unfinished learning, until the limit or a signal.
    pub(crate) async fn finish(mut self) {
        let Some(mut task) = self.task.take() else {
            return;
        };
        let ended = unless_impatient(&mut task).await;
        // Dropping the handle would only detach the task, which would go on asking the model.
        task.abort();
        // Lessons of tasks that ended in time are reported also if the last one was stopped.
        self.say();
        match ended {
            Some(ended) => say_if_broken(ended),
            None => say_stopped(),
        }
    }
}

/// Learns at the end of a command.
pub(crate) async fn learn(work: impl Future<Output = Lessons>) {
    match unless_impatient(work).await {
        Some(lessons) => say(&lessons),
        None => say_stopped(),
    }
}

fn say_stopped() {
    output::say(
        "warning: learning was stopped before its end; all messages are stored\n\
         hint: `kitbag memory close --model CONVERSATION` learns from a conversation later",
    );
}

fn say_if_broken(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        output::say(format_args!("warning: learning failed: {error}"));
    }
}

async fn unless_impatient<T>(work: impl Future<Output = T>) -> Option<T> {
    let first = unless(work, interrupted());
    tokio::time::timeout(PATIENCE, first).await.ok()?.ok()
}

/// Reports lessons and their cost on one line.
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
    let summarised = lessons.compacted.map(u64::from);
    parts.extend(summarised.map(|count| {
        let messages = counted(count, "message", "messages");
        format!("{messages} summarised")
    }));
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
