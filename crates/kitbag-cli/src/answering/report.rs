//! The tokens and the time that an answer took: a line for people, JSON for programs.

use kitbag::answer::Answer;
use kitbag::core::record::RouteRecord;
use kitbag::provider::StopReason;
use kitbag::report::AnswerReport;
use kitbag::tokens::dollars;

use crate::failure::Failure;
use crate::output::{self, counted, grouped, one_line};

/// Says on one line what the answer took.
pub(super) fn say(answer: &Answer) {
    let reply = &answer.reply;
    let mut parts = Vec::new();
    if let Some(usage) = answer.usage() {
        parts.push(format!("{} tokens in", grouped(usage.input)));
        if usage.cache_read > 0 {
            parts.push(format!("{} cached", grouped(usage.cache_read)));
        }
        parts.push(format!("{} out", grouped(usage.output)));
    }
    parts.extend(answer.cost_micros().map(dollars));
    let tenths = answer.waited.as_millis() / 100;
    parts.push(format!("{}.{} s", tenths / 10, tenths % 10));
    parts.extend(answer.request.model().map(|model| one_line(&model)));
    parts.extend(answer.record.route.as_ref().and_then(chosen_by));
    output::say(format_args!("{}", parts.join(", ")));
    say_cache(answer);
    match &reply.stop {
        None | Some(StopReason::End) => {}
        Some(StopReason::ToolUse) => {
            let calls = reply.tool_calls.len() as u64;
            let calls = counted(calls, "tool call", "tool calls");
            output::say(format_args!(
                "note: the model wants {calls}, and none was called"
            ));
        }
        Some(stop) => {
            let reason = one_line(stop.as_str());
            output::say(format_args!("note: the model ended with `{reason}`"));
        }
    }
}

/// Names the one who chose the model, unless it is the usual one.
fn chosen_by(route: &RouteRecord) -> Option<String> {
    route.model.as_ref()?;
    let name = route.name.as_deref().map(one_line).unwrap_or_default();
    let by = format!("chosen by {} {name}", route.by);
    Some(by.trim_end().to_owned())
}

/// Reports that much less was read from the cache than predicted, with the reason if it is known.
fn say_cache(answer: &Answer) {
    let Some(sent) = answer.record.inferences.last() else {
        return;
    };
    if let Some((read, expected)) = sent.cache_shortfall() {
        let (read, expected) = (grouped(read), grouped(expected));
        let miss = sent.cache_miss.map(|miss| format!(": {miss}"));
        let miss = miss.unwrap_or_default();
        output::say(format_args!(
            "note: {read} of {expected} expected from the cache{miss}"
        ));
    } else if let (Some(miss), Some(usage)) = (sent.cache_miss, sent.usage)
        && usage.cache_read * 2 < usage.input
    {
        output::say(format_args!("note: little came from the cache: {miss}"));
    }
}

/// Prints the answer as JSON.
pub(super) fn print_json(answer: &Answer) -> Result<(), Failure> {
    Ok(output::print_json(&AnswerReport::of(answer))?)
}
