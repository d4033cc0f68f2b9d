//! Tools on offer: their definitions in the prompt, and the room that is left for what they bring.

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::super::{Contribution, Sources, TurnError, TurnPrompt, TurnRequest, turn};
use super::Engine;
use crate::wire::Dialect;

/// Tools that a prompt offers.
pub(super) struct Offered {
    /// The tokens that are kept free for steps.
    room: Tokens,
}

impl Engine {
    /// Adds the definitions of the tools to a turn; none where there are no tools, or where the form of
    /// the prompt carries no calls, which is a problem.
    pub(super) fn offer_tools(&self, request: &mut TurnRequest) -> Option<Offered> {
        if self.toolbox.tools.is_empty() {
            return None;
        }
        let mut contribution = Contribution::default();
        let dialect = Dialect::of(request.prompt.settings.form);
        let carries = dialect.is_some_and(|dialect| dialect != Dialect::Flat);
        if carries {
            let specs = self.toolbox.tools.specs().into_iter();
            contribution.draft.tools = specs.map(|spec| spec.definition).collect();
        } else {
            let message = "this provider takes no tools, so that none is offered";
            let problem = Problem::new("tools", ProblemKind::NotCarried, message);
            let hint = "a model over HTTP or from a script can call tools";
            contribution.problems.push(problem.with_hint(hint));
        }
        request.contributions.push(contribution);
        carries.then_some(Offered {
            room: Tokens(request.prompt.settings.budget.0 / 3),
        })
    }
}

impl Offered {
    pub(super) const fn room(&self) -> Tokens {
        self.room
    }

    /// The prompt of a turn that leaves room for steps, or none where it needs the whole budget itself.
    pub(super) async fn prompt(
        &self,
        sources: Sources<'_>,
        request: TurnRequest,
        counter: &(dyn TokenCounter + Sync),
    ) -> Result<TurnPrompt, TurnError> {
        let mut smaller = request.clone();
        let budget = &mut smaller.prompt.settings.budget;
        *budget = budget.saturating_sub(self.room);
        match Box::pin(turn(sources, smaller, counter)).await {
            Ok(mut prompt) => {
                prompt.room_for_steps = self.room;
                Ok(prompt)
            }
            Err(TurnError::Assemble(_)) => Box::pin(turn(sources, request, counter)).await,
            Err(error) => Err(error),
        }
    }
}
