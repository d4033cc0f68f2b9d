//! Fits a prompt whose form is JSON, so that what is printed stays within the budget.
//!
//! Texts are counted as they stand in JSON, with line ends and quotation marks escaped. The JSON
//! around them is seen only when it is printed: then each text costs its share of that, what is still
//! too much is taken off the budget, and the texts are fitted again.

use kitbag_core::assembly::{AssembleError, Assembly};
use kitbag_core::problem::Problem;
use kitbag_core::tokens::{Exactness, TokenCounter, Tokens};

use crate::engine::{Composed, Contribution, PromptRequest, tell, try_compose};

/// The most rounds. Each takes off twice as much as the one before; the second or third fits.
const ROUNDS: u32 = 16;

/// Composes the JSON within the budget of the request. Its tokens are those of all that is printed, also of
/// the `problems` that a finished prompt has.
pub(super) fn compose_json(
    request: &PromptRequest,
    contribution: &Contribution,
    counter: &dyn TokenCounter,
    problems: impl Fn(&Assembly) -> Vec<Problem>,
) -> Result<Composed, AssembleError> {
    let budget = request.settings.budget;
    let mut escaped = Escaped { counter, around: 0 };
    let mut within = request.clone();
    let mut round = 0;
    loop {
        let mut composed = try_compose(&within, vec![contribution.clone()], &escaped, None)
            .map_err(|error| of_whole(error, budget, within.settings.budget))?;
        let texts = composed.assembly.tokens;
        composed.assembly.ledger.fit.budget = budget;
        composed.assembly.tokens = counter.count(&composed.body());
        let found = problems(&composed.assembly);
        if !found.is_empty() {
            composed.assembly.ledger.problems.extend(found);
            composed.assembly.tokens = counter.count(&composed.body());
        }
        let assembly = &composed.assembly;
        let printed = assembly.tokens;
        let over = printed.saturating_sub(budget);
        if over == Tokens::ZERO {
            tell(&composed);
            return Ok(composed);
        }
        if round == ROUNDS {
            return Err(AssembleError::CountsDoNotAddUp {
                tokenizer: assembly.tokenizer.clone(),
                whole: printed,
                parts: texts,
                budget,
            });
        }
        // The first round shows the cost of the JSON itself; from then on it is a part of each text's price,
        // and only the remainder is taken off the budget.
        if round == 0 {
            let around = printed.saturating_sub(texts).0;
            let count = u32::try_from(assembly.kept.len()).unwrap_or(u32::MAX);
            escaped.around = around.checked_div(count).unwrap_or_default();
        } else {
            let off = over.0.saturating_mul(1 << round);
            within.settings.budget = within.settings.budget.saturating_sub(Tokens(off));
        }
        round += 1;
    }
}

/// The error of a round in terms of the whole budget: a round knows only the part left for texts.
fn of_whole(mut error: AssembleError, whole: Tokens, within: Tokens) -> AssembleError {
    if let AssembleError::FixedOverBudget { fixed, budget, .. } = &mut error {
        *fixed = fixed.saturating_add(whole.saturating_sub(within));
        *budget = whole;
    }
    error
}

/// Counts texts as they stand in JSON.
struct Escaped<'a> {
    counter: &'a dyn TokenCounter,
    /// The tokens of the JSON around a text.
    around: u32,
}

impl TokenCounter for Escaped<'_> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> Tokens {
        let around = Tokens(self.around);
        self.counter.count(&escape(text)).saturating_add(around)
    }

    fn count_all(&self, texts: &[&str]) -> Vec<Tokens> {
        let escaped: Vec<String> = texts.iter().map(|text| escape(text)).collect();
        let escaped: Vec<&str> = escaped.iter().map(String::as_str).collect();
        let around = Tokens(self.around);
        let counts = self.counter.count_all(&escaped).into_iter();
        counts.map(|count| count.saturating_add(around)).collect()
    }

    fn exactness(&self) -> Exactness {
        self.counter.exactness()
    }
}

/// The text between the quotation marks of a JSON string.
fn escape(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let end = quoted.len().saturating_sub(1);
    quoted.get(1..end).unwrap_or_default().to_owned()
}
