//! The summaries that are due at the end of a turn, by a model in the place of those by rules.

use std::time::Instant;

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::stored::ConversationContext;
use kitbag_core::summarize::{Compressed, Compression, is_grounded};
use kitbag_core::tokens::Tokens;
use kitbag_store::TurnId;

use super::Lessons;
use super::layers::ClosedLayers;
use super::model::Model;
use crate::engine::Engine;

impl Engine {
    /// Has a model make the summaries of a turn's end. Those that cannot be used stay as rules made them, and
    /// where the conversation has gone on all of them do.
    pub(super) async fn summarise_layers(
        &self,
        turn: TurnId,
        closed: &ClosedLayers,
        lessons: &mut Lessons,
    ) {
        let (Some(store), Some(model)) = (&self.store, Model::of(self, self.counter())) else {
            return;
        };
        let begun = Instant::now();
        let mut own = Lessons::default();
        let mut context = closed.end.context.clone();
        for compression in &closed.end.compressions {
            let made = one(&model, compression, &mut context, &mut own).await;
            own.layers += u32::from(made);
        }
        if own.layers > 0 {
            let before = closed.by_rules.clone();
            let replaced = store.replace_layers(turn.conversation(), before, context);
            if own.or_tell(replaced.await) == Some(false) {
                own.layers = 0;
                let message =
                    "the conversation continued meanwhile: its summaries stay as rules made them";
                let problem = Problem::new("learning", ProblemKind::Ignored, message);
                own.problems.push(problem);
            }
        }
        if model.is_scripted() {
            // A script was written for the conversation, and not for this.
            own.problems.clear();
        }
        if !own.is_empty() {
            let noted = store.add_to_record(turn, own.record(begun)).await;
            own.or_tell(noted);
        }
        lessons.layers += own.layers;
        lessons.inferences.extend(own.inferences);
        lessons.problems.extend(own.problems);
    }
}

/// Makes one summary, and tells whether a model did.
async fn one(
    model: &Model<'_>,
    compression: &Compression,
    context: &mut ConversationContext,
    lessons: &mut Lessons,
) -> bool {
    let counter = model.counter();
    let texts = compression.texts.iter().map(|said| said.text.as_str());
    let texts = texts.chain([compression.summary.as_str()]);
    let tokens: Tokens = texts.clone().map(|text| counter.count(text)).sum();
    // Rules keep next to all of what is this short.
    if tokens > compression.limit {
        let purpose = purpose(compression.what);
        let question = compression.prompt(counter);
        if let Some(summary) = model.ask(purpose, &question, lessons).await {
            let summary = summary.trim();
            let taken = match is_grounded(summary, texts) {
                true => compression
                    .apply(context, summary, counter)
                    .map_err(|error| error.to_string()),
                false => Err("it is not about what was said".to_owned()),
            };
            match taken {
                Ok(()) => return true,
                Err(problem) => {
                    let problem = format!("the model's {purpose} cannot be used: {problem}");
                    lessons.problems.push(Problem::failed("learning", problem));
                }
            }
        }
    }
    let by_rules = compression.extract(counter);
    // Where not even that fits, what it stands for stays.
    let _kept = compression.apply(context, &by_rules, counter);
    false
}

const fn purpose(what: Compressed) -> &'static str {
    match what {
        Compressed::Answer => "summary of an answer",
        Compressed::Reasoning => "summary of what was done",
        Compressed::Engagement => "summary of what is wanted",
        _ => "summary of older turns",
    }
}
