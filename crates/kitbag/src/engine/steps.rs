//! The next prompt of a turn: the previous one with tool steps appended.

use kitbag_core::assembly::AssembleError;
use kitbag_core::message::Message;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::{Composed, assemble_again, tell};
use crate::tokens::ModelProfile;

impl Composed {
    /// The same prompt with these steps, within a budget. Nothing is chosen: all that stands before the
    /// steps stays as it is, and so do the decisions about it in the ledger.
    ///
    /// # Errors
    /// When the steps do not fit.
    pub(crate) fn with_steps(
        &self,
        steps: &[Message],
        budget: Tokens,
        counter: &dyn TokenCounter,
    ) -> Result<Self, AssembleError> {
        let mut next = self.clone();
        next.draft.steps = steps.to_vec();
        next.settings.budget = budget;
        // Nothing before the steps may change, or the provider would read all of it again at full price.
        let assembled = assemble_again(&next, counter, &self.assembly.epoch)?;
        next.draft.max_output = next.fitting_answer(assembled.tokens);
        let ledger = std::mem::replace(&mut next.assembly, assembled).ledger;
        let told = &mut next.assembly.ledger;
        if next.assembly.kept == self.assembly.kept {
            // The first prompt of the turn knows the candidates; assembling again sees only what was kept.
            told.entries = ledger.entries;
            told.fit = ledger.fit;
        } else {
            let message =
                "what was chosen for this turn is left out, since the steps need its room";
            let problem = Problem::new("tools", ProblemKind::LeftOut, message);
            told.problems.push(problem);
        }
        told.problems.extend(ledger.problems);
        tell(&next);
        Ok(next)
    }

    /// The limit of the answer, within the room that a longer prompt leaves to it.
    fn fitting_answer(&self, prompt: Tokens) -> Option<u32> {
        let most = self.draft.max_output?;
        let model = self.draft.model.as_deref();
        let model = model.and_then(|name| ModelProfile::find(name).ok());
        let room = model.and_then(|model| model.room_for_answer(prompt));
        Some(room.map_or(most, |room| most.min(room)))
    }
}
