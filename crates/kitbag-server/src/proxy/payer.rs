//! Charges a request to a key: the tokens that the provider bills, or an estimate if it reports none.

use std::sync::Arc;

use kitbag::core::tokens::{TokenCounter as _, Tokens};
use kitbag::hook::ByteEstimate;
use kitbag::provider::Reply;

use super::endpoint::Endpoint;
use crate::App;
use crate::access::Caller;

/// The caller of a request, who is billed once.
pub(super) struct Payer {
    app: Arc<App>,
    caller: Caller,
    /// The tokens of the request and of as much of the answer as nobody reads.
    estimate: Option<Estimate>,
}

struct Estimate {
    tokens: u64,
    endpoint: Endpoint,
}

impl Payer {
    pub(super) fn new(app: &Arc<App>, caller: Caller) -> Self {
        Self {
            app: Arc::clone(app),
            caller,
            estimate: None,
        }
    }

    /// Returns whether the tokens are counted against a limit.
    pub(super) fn is_limited(&self) -> bool {
        let key = self.caller.key.as_deref();
        key.is_some_and(|key| key.tokens_per_minute.is_some())
    }

    /// Estimates a request that is billed, for a provider that does not say how much.
    pub(super) fn estimate_request(&mut self, body: &[u8], endpoint: Endpoint) {
        if self.is_limited() {
            let tokens = estimate(body);
            self.estimate = Some(Estimate { tokens, endpoint });
        }
    }

    /// Estimates a piece of an answer that nobody reads. Numbers are no tokens.
    pub(super) fn add_unread(&mut self, bytes: &[u8]) {
        let estimated = self.estimate.as_mut();
        if let Some(it) = estimated.filter(|it| it.endpoint != Endpoint::Numbers) {
            it.tokens = it.tokens.saturating_add(estimate(bytes));
        }
    }

    /// Bills the answer, as far as it came.
    pub(super) fn pay(self, reply: &Reply) {
        match (&reply.usage, self.estimate) {
            (Some(usage), _) => self.caller.spend(&self.app, usage),
            (None, Some(Estimate { tokens, .. })) => {
                let calls = reply.tool_calls.iter();
                let called = calls.map(|call| estimate(call.arguments.as_str().as_bytes()));
                let said = [reply.text().as_bytes(), reply.thinking.as_bytes()].map(estimate);
                let said: u64 = said.into_iter().chain(called).sum();
                let tokens = tokens.saturating_add(said);
                self.caller.spend_estimate(&self.app, tokens);
            }
            (None, None) => {}
        }
    }
}

fn estimate(bytes: &[u8]) -> u64 {
    let Tokens(tokens) = ByteEstimate.count(&String::from_utf8_lossy(bytes));
    tokens.into()
}
