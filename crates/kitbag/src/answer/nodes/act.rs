//! Act: the steps of a plan one after the other, each with tools, and what they leave.

use std::time::Instant;

use kitbag_core::assembly::AssembleError;
use kitbag_core::reasoning::StepSummary;
use serde_json::{Value, json};

use super::answers::{Acted, Planned, PlannedStep};
use super::ask::Answered;
use super::register::register;
use super::{LONGEST, Node, Nodes, REFUSED, instructions, tell};
use crate::answer::AnswerError;
use crate::answer::exchange::Exchange;
use crate::answer::rounds::{MadeCall, Rounds};
use crate::engine::TurnError;
use crate::words::{beginning, counted};

/// The continuation after a step.
enum After {
    Next,
    End,
}

impl Nodes {
    /// Executes a plan as far as the limits go.
    pub(super) async fn act(
        &mut self,
        plan: Planned,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        let planned = plan.steps.len();
        let most = usize::try_from(self.limits.steps).unwrap_or(usize::MAX);
        let mut done = 0;
        for (place, step) in plan.steps.iter().enumerate() {
            let limit = match place < most {
                true => rounds.limit_of_turn(),
                false => {
                    let steps = counted(self.limits.steps.into(), "step", "steps");
                    Some(format!("the limit of {steps} of a plan is reached"))
                }
            };
            if let Some(limit) = limit {
                let reason = format!("{limit}: {done} of {planned} steps were run");
                self.tell_problem(Node::Act, reason.clone());
                self.block(&reason);
                break;
            }
            let begun = Instant::now();
            let number = place + 1;
            let ran = self.step(step, (number, planned), rounds, exchange).await?;
            let (told, after) = ran;
            done += 1;
            let told = format!("step {number} of {planned}, {told}");
            tell(exchange, Node::Act, told, begun);
            if matches!(after, After::End) {
                break;
            }
        }
        if done > 0 && self.state.this_turn.summary.blocked_reason.is_none() {
            let goal = match plan.goal.as_str() {
                "" => "the plan",
                goal => goal,
            };
            let done = format!("{goal}: {done} of {planned} steps are done");
            self.state.this_turn.accomplished = Some(done);
        }
        Ok(())
    }

    async fn step(
        &mut self,
        step: &PlannedStep,
        place: (usize, usize),
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(String, After), AnswerError> {
        rounds.made_calls.clear();
        let asked = instructions::act(step, place);
        let answer = loop {
            let read = self
                .read::<Acted>(Node::Act, asked.clone(), rounds, exchange)
                .await;
            match read {
                // What was called already is not called again: there is no room for its result.
                Err(AnswerError::Turn(TurnError::Assemble(error)))
                    if is_for_room(&error) && !rounds.made_calls.is_empty() =>
                {
                    let text = "the tools were called, but no room was left to continue".to_owned();
                    break Answered::Unreadable(text, error.to_string());
                }
                // Results of earlier steps are in the prompt as long as there is room for them.
                Err(AnswerError::Turn(TurnError::Assemble(error)))
                    if is_for_room(&error) && self.leave_out_a_result() => {}
                other => break other?,
            }
        };
        let calls = std::mem::take(&mut rounds.made_calls);
        let number = u32::try_from(place.0).unwrap_or(u32::MAX);
        let (acted, after) = match answer {
            Answered::Read(acted) => {
                let after = self.consequence(&acted);
                (acted, after)
            }
            // Its words are the outcome, and nothing is registered.
            Answered::Unreadable(text, problem) => {
                self.fall_back(Node::Act, &problem);
                let summary = text;
                (
                    Acted {
                        summary,
                        ..Acted::default()
                    },
                    After::Next,
                )
            }
            Answered::Refused => {
                self.fall_back(Node::Act, REFUSED);
                self.block("the model refused a step");
                let summary = REFUSED.to_owned();
                (
                    Acted {
                        summary,
                        ..Acted::default()
                    },
                    After::End,
                )
            }
        };
        let registry = &mut self.state.conversation.id_registry;
        let (refs, data, problems) = register(registry, &acted.entities, &calls, number);
        for problem in problems {
            self.tell_problem(Node::Act, problem);
        }
        let outcome = beginning(&acted.summary, LONGEST);
        let mut summary = StepSummary::new(
            number,
            &step.kind,
            &step.subdomain,
            &step.description,
            Some(&outcome),
            refs.len(),
        );
        if let Some(note) = acted.note.filter(|note| !note.trim().is_empty()) {
            summary = summary.with_note(beginning(&note, LONGEST));
        }
        let told = match refs.len() {
            0 => counted(calls.len() as u64, "call", "calls"),
            many => format!(
                "{}, {}",
                counted(calls.len() as u64, "call", "calls"),
                counted(many as u64, "entity", "entities")
            ),
        };
        let result = result_of(&calls, acted.result, data);
        self.state.finish_step(summary.with_entities(refs), result);
        Ok((told, after))
    }

    /// Takes over what a step says about those that follow.
    fn consequence(&mut self, acted: &Acted) -> After {
        let said = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        if let Some(reason) = said(&acted.blocked) {
            self.block(&reason);
            return After::End;
        }
        if let Some(question) = said(&acted.ask_user) {
            let summary = &mut self.state.this_turn.summary;
            "ask_user".clone_into(&mut summary.think_decision);
            let question = beginning(&question, LONGEST);
            self.for_reply.push(instructions::question(&question));
            return After::End;
        }
        After::Next
    }

    /// Leaves out the longest result of this turn's steps; false where none is left.
    fn leave_out_a_result(&mut self) -> bool {
        let results = self.state.this_turn.results.values_mut();
        let longest = results.max_by_key(|result| result.to_string().len());
        let left_out = json!("(left out: no room)");
        match longest {
            Some(result) if *result != left_out && !result.is_null() => {
                *result = left_out;
                true
            }
            _ => false,
        }
    }
}

const fn is_for_room(error: &AssembleError) -> bool {
    !matches!(error, AssembleError::EmptyMessage { .. })
}

/// The whole result of a step: the results of its tools, else its own words; and the entities that it keeps.
fn result_of(calls: &[MadeCall], own: Option<Value>, entities: Vec<Value>) -> Value {
    let mut results: Vec<Value> = calls.iter().map(MadeCall::result).collect();
    let result = match (results.len(), own) {
        (0, own) => own.unwrap_or_default(),
        (_, Some(own)) => json!({"tools": results, "own": own}),
        (1, None) => results.pop().unwrap_or_default(),
        (_, None) => Value::Array(results),
    };
    match (entities.is_empty(), result) {
        (true, result) => result,
        (false, Value::Null) => Value::Array(entities),
        (false, result) => json!({"result": result, "entities": entities}),
    }
}
