//! The calls of one answer: approved one after the other, made side by side, each with a result.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use kitbag_core::content::RawJson;
use kitbag_core::entity::{RegistryError, SessionIdRegistry};
use kitbag_core::message::{Message, ToolCall};
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_layout::reserved::show_hidden;
use kitbag_store::ResultId;
use serde_json::{Value, json};

use super::AnswerError;
use super::exchange::Exchange;
use crate::engine::{Redaction, clean};
use crate::shorten::cut;
use crate::tool::{Approval, ToolError, Toolbox};

/// A call, and its arguments where they can be used.
pub(super) struct Call {
    /// As it stands in the prompt.
    pub(super) call: ToolCall,
    arguments: Result<Value, String>,
}

impl Call {
    /// Puts the ids of rows in the place of refs. One that has no row refuses the call.
    pub(super) fn resolve(&mut self, refs: &SessionIdRegistry) {
        let Ok(arguments) = &mut self.arguments else {
            return;
        };
        let translated = refs.row_ids_for_refs(arguments);
        // What merely looks like a ref may well be an id of the tool's.
        let mut wrong = translated.unresolved.iter();
        let wrong = wrong.find(|one| !matches!(one.error, RegistryError::UnknownRef { .. }));
        self.arguments = match wrong {
            Some(wrong) => Err(format!("{}; {}", wrong.error, wrong.error.hint())),
            None => Ok(translated.value),
        };
    }
}

/// The result of a call, as long as it is.
#[derive(Clone)]
pub(super) struct CallResult {
    /// The text, or what went wrong.
    pub(super) output: Result<String, String>,
    pub(super) time: Duration,
}

/// A result as it is recorded.
pub(super) struct Recorded {
    pub(super) text: String,
    pub(super) redacted: Vec<Redaction>,
}

/// More calls at once are not made.
const MOST_AT_ONCE: usize = 32;

/// The calls of an answer. An id that is missing or taken is replaced, and arguments that are no object
/// become one: providers refuse a request that has either.
pub(super) fn of_reply(calls: &[ToolCall], steps: &[Message]) -> Vec<Call> {
    let earlier = steps.iter().flat_map(Message::calls);
    let mut taken: BTreeSet<String> = earlier.map(|call| call.id.clone()).collect();
    let mut number = taken.len();
    let mut read = |call: &ToolCall| {
        let mut call = call.clone();
        // Some servers number calls from zero in each answer.
        while call.id.is_empty() || !taken.insert(call.id.clone()) {
            number += 1;
            call.id = format!("call_{number}");
        }
        let arguments = arguments(&call.arguments);
        if let Err(problem) = &arguments {
            let written = json!({ "unreadable": call.arguments.as_str(), "problem": problem });
            call.arguments = RawJson::from_value(&written).unwrap_or_default();
        }
        Call { call, arguments }
    };
    calls.iter().map(&mut read).collect()
}

/// The arguments as an object; a string of JSON is read, since some servers send that.
fn arguments(written: &RawJson) -> Result<Value, String> {
    let value = match written.parse_as::<String>() {
        Ok(text) => serde_json::from_str(&text),
        Err(_) => serde_json::from_str(written.as_str()),
    };
    match value {
        Ok(value @ (Value::Object(_) | Value::Null)) => Ok(value),
        Ok(_) => Err("the arguments are no JSON object".to_owned()),
        Err(error) => Err(format!("the arguments are no JSON: {error}")),
    }
}

impl Call {
    /// Keeps the call from being made.
    pub(super) fn refuse(&mut self, reason: &str) {
        self.arguments = Err(format!("not called: {reason}"));
    }
}

/// Makes the calls. What has not ended when the answer is stopped has a result that says so.
pub(super) async fn make(
    toolbox: &Toolbox,
    calls: &[Call],
    time: Duration,
    exchange: &mut Exchange<'_, '_>,
) -> (Vec<CallResult>, Result<(), AnswerError>) {
    // Set in advance, so that a turn which is stopped in the middle still has one result for each call.
    let stopped = CallResult::problem("the call was stopped before it had a result");
    let results = Mutex::new(vec![stopped; calls.len()]);
    let keep = |place: usize, result: CallResult| {
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = results.get_mut(place) {
            *slot = result;
        }
    };
    let work = async {
        // All are approved before the first is made: a person should not be asked while files change.
        let mut allowed = Vec::new();
        for (place, call) in calls.iter().enumerate() {
            match check(toolbox, place, call).await {
                Ok(arguments) => allowed.push((place, call, arguments)),
                Err(problem) => keep(place, CallResult::problem(problem)),
            }
        }
        let made = allowed
            .into_iter()
            .map(|(place, call, arguments)| async move {
                keep(place, one(toolbox, &call.call.name, arguments, time).await);
            });
        join_all(made).await;
    };
    let ended = exchange.attend(work).await.map(drop);
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    (results, ended)
}

/// The arguments of a call that may be made.
async fn check(toolbox: &Toolbox, place: usize, call: &Call) -> Result<Value, String> {
    if place >= MOST_AT_ONCE {
        return Err(format!(
            "not called: at most {MOST_AT_ONCE} calls are made at once"
        ));
    }
    let arguments = call.arguments.clone()?;
    let name = &call.call.name;
    // A tool that is not there says so itself when it is called.
    let Some(spec) = toolbox.tools.spec(name) else {
        return Ok(arguments);
    };
    match toolbox.decide(spec, arguments.clone()).await {
        Approval::Allow => Ok(arguments),
        Approval::Refuse(reason) => Err(format!("not called: {reason}")),
    }
}

/// Makes one call, within its time. A tool that panics has failed.
async fn one(toolbox: &Toolbox, name: &str, arguments: Value, time: Duration) -> CallResult {
    let begun = Instant::now();
    let called = AssertUnwindSafe(async { toolbox.tools.call(name, arguments).await });
    let called = tokio::time::timeout(time, called.catch_unwind()).await;
    let output = match called {
        Ok(Ok(output)) => output.map_err(|error: ToolError| error.to_string()),
        Ok(Err(_)) => {
            tracing::error!(event = "tool_panicked", tool = name);
            Err(format!("the tool `{name}` stopped with a bug"))
        }
        // The call goes on in the tool, whose effect cannot be undone; the result says what is known.
        Err(_) => Err(format!("no result within {} ms", time.as_millis())),
    };
    CallResult {
        output: output.map(|output| output.text),
        time: begun.elapsed(),
    }
}

impl CallResult {
    pub(super) fn problem(problem: impl Into<String>) -> Self {
        Self {
            output: Err(problem.into()),
            time: Duration::ZERO,
        }
    }

    /// The text to record, without secrets and with hidden characters shown.
    pub(super) fn cleaned(&self, tool: &str) -> Recorded {
        let text = match &self.output {
            Ok(text) => text.clone(),
            Err(problem) => format!("error: {problem}"),
        };
        let cleaned = clean(&text, tool);
        Recorded {
            text: show_hidden(&cleaned.text).into_owned(),
            redacted: cleaned.redacted,
        }
    }
}

impl Recorded {
    /// Cuts a text that is longer to its beginning and its end, with the handle of the whole, if it has one.
    pub(super) fn cut(
        &mut self,
        tool: &str,
        most: Tokens,
        handle: Option<&ResultId>,
        counter: &dyn TokenCounter,
    ) {
        let rest = match handle {
            Some(handle) => format!("the whole is `{handle}`, which `expand` reads"),
            None => format!("ask `{tool}` for a smaller part"),
        };
        let note = format!("\n[cut to {} tokens: {rest}]", most.0);
        // The note counts too, or the result would be longer than its limit.
        let room = most.saturating_sub(counter.count(&note));
        self.text = cut(&self.text, room, counter) + &note;
    }
}
