//! One question to a model: instructions and a message, without history, memory, agent or tools.

use std::time::Duration;

use kitbag_core::assembly::AssemblySettings;
use kitbag_core::record::InferenceRecord;
use kitbag_core::tokens::TokenCounter;

use crate::answer::cost;
use crate::engine::{Contribution, Engine, PromptRequest, compose};
use crate::provider::complete::receive;
use crate::provider::{Provider, Reply, StopReason};
use crate::wire::Request;

/// A model that is asked one question at a time.
#[derive(Clone, Copy)]
pub(crate) struct OneShot<'e> {
    /// The engine, whose budget and traits apply.
    pub(crate) engine: &'e Engine,
    pub(crate) provider: &'e dyn Provider,
    /// The model that the provider is asked for; without it, the provider's own.
    pub(crate) model: Option<&'e str>,
    pub(crate) counter: &'e dyn TokenCounter,
}

/// A question.
#[derive(Clone, Copy)]
pub(crate) struct Question<'q> {
    /// The purpose that its record names.
    pub(crate) purpose: &'static str,
    pub(crate) instructions: &'q str,
    pub(crate) text: &'q str,
    /// The longest that the answer may take.
    pub(crate) limit: Duration,
}

/// The answer to a question, and its cost where it was sent.
pub(crate) struct Answered {
    pub(crate) answer: Result<String, String>,
    pub(crate) inference: Option<InferenceRecord>,
}

impl OneShot<'_> {
    pub(crate) async fn ask(self, question: Question<'_>) -> Answered {
        let ready = self.provider.check().map_err(|error| error.to_string());
        let (request, counted) = match ready.and_then(|()| self.request(question)) {
            Ok(request) => request,
            Err(problem) => {
                return Answered {
                    answer: Err(problem),
                    inference: None,
                };
            }
        };
        let mut inference = InferenceRecord::default();
        inference.purpose = Some(question.purpose.to_owned());
        self.provider.name().clone_into(&mut inference.provider);
        inference.model = request.model();
        inference.counted = counted;
        let mut reply = Reply::default();
        let received = receive(self.provider, &request, &mut reply);
        let received = tokio::time::timeout(question.limit, received).await;
        inference.usage = reply.usage;
        inference.cost_micros = cost(&inference);
        let answer = match (received, &reply.stop) {
            (Err(_), _) => {
                let seconds = question.limit.as_secs_f32();
                Err(format!("it did not come within {seconds} s"))
            }
            (Ok(Err(error)), _) => Err(error.to_string()),
            (Ok(Ok(())), None | Some(StopReason::End)) => Ok(reply.text()),
            (Ok(Ok(())), Some(other)) => Err(format!("it ended with `{}`", other.as_str())),
        };
        Answered {
            answer,
            inference: Some(inference),
        }
    }

    fn request(self, question: Question<'_>) -> Result<(Request, u32), String> {
        let engine = self.engine;
        let form = self.provider.dialect().form();
        let settings = AssemblySettings::new(form, engine.budget);
        let mut settings = settings.with_traits(engine.traits.clone());
        // Nobody asks the same again, and a marker would only make the prompt cost more.
        settings.traits.cache.max_breakpoints = 0;
        let mut prompt = PromptRequest::new(question.text, settings);
        prompt.model = self.model.map(str::to_owned);
        let mut instructions = Contribution::default();
        instructions.draft.identity = Some(question.instructions.to_owned());
        let composed = compose(&prompt, vec![instructions], self.counter, None);
        let composed = composed.map_err(|error| error.to_string())?;
        let request = composed.request();
        let request = request.ok_or_else(|| "the provider takes no request".to_owned())?;
        let request = self.provider.prepared(request);
        Ok((request, composed.assembly.tokens.0))
    }
}
