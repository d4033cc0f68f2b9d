//! The length that a prompt should have for a model: within its window, below the first price step.

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::record::Usage;
use kitbag_core::tokens::Tokens;

use super::{ModelProfile, dollars};

/// The default budget of a prompt. Models get worse with the length of a prompt long before their
/// window ends.
const USUAL_BUDGET: Tokens = Tokens(32_000);

/// The most tokens of an answer that nobody has limited. Some models may write four times as much, which no
/// reader of an answer waits for.
const USUAL_ANSWER: u32 = 32_000;

/// The tokens that an answer may have at least, also if nothing is known about the model.
const LEAST_ANSWER: u32 = 4_096;

impl ModelProfile {
    /// The most tokens of the answer to a prompt of this length, for an API that wants a limit: as many as
    /// the model may write, at most 32,000, and no more than its window leaves, but 4,096 even if that is full.
    #[must_use]
    pub fn default_answer(model: Option<&Self>, prompt: Tokens) -> u32 {
        let Some(model) = model else {
            return LEAST_ANSWER;
        };
        let most = model.max_output.unwrap_or(LEAST_ANSWER).min(USUAL_ANSWER);
        model
            .room_for_answer(prompt)
            .map_or(most, |room| most.min(room))
    }

    /// The tokens that the window leaves to the answer to a prompt of this length, and at least 4,096: the length
    /// is an estimate, and the API has to tell that a prompt is too long.
    pub(crate) fn room_for_answer(&self, prompt: Tokens) -> Option<u32> {
        // An API refuses a request whose answer might not fit, so an estimate is taken at its highest.
        let error = self.estimate.as_ref().map_or(0, |one| one.error_permille);
        let longest = u64::from(prompt.0) * u64::from(1_000_u32.saturating_add(error)) / 1_000;
        let left = u64::from(self.window?).saturating_sub(longest);
        Some(u32::try_from(left).unwrap_or(u32::MAX).max(LEAST_ANSWER))
    }

    /// The default budget of a prompt: the least of 32,000 tokens, the room that the window leaves to
    /// the longest answer, and the first price step.
    #[must_use]
    pub fn default_budget(model: Option<&Self>) -> Tokens {
        let Some(model) = model else {
            return USUAL_BUDGET;
        };
        let steps = model.price.iter().flat_map(|price| &price.steps);
        let step = steps.map(|step| Tokens(step.above)).min();
        let limits = [model.most_input(), step].into_iter().flatten();
        limits.fold(USUAL_BUDGET, Tokens::min)
    }

    /// The tokens that remain for a request when the answer is as long as it may be.
    #[must_use]
    pub fn most_input(&self) -> Option<Tokens> {
        let answer = self.max_output.unwrap_or_default();
        Some(Tokens(self.window?.saturating_sub(answer)))
    }

    /// The limits that a prompt of this length exceeds: the window, or a price step, with its figure.
    pub(crate) fn passed_by(&self, tokens: Tokens) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Some(window) = self.window.filter(|window| tokens.0 > *window) {
            let name = self.name();
            let message =
                format!("the prompt has {tokens} tokens, and the window of {name} {window}");
            let hint = "choose a smaller budget, or a model with a larger window";
            let problem = Problem::new("model", ProblemKind::Failed, message);
            problems.push(problem.with_hint(hint));
        }
        problems.extend(self.crossing(tokens));
        problems
    }

    /// The cost of having crossed a price step.
    fn crossing(&self, tokens: Tokens) -> Option<Problem> {
        let price = self.price.as_ref()?;
        let step = price.step(u64::from(tokens.0))?;
        let cost = |input: u32| {
            let input = u64::from(input);
            let usage = Usage {
                input,
                ..Usage::default()
            };
            price.cost(&usage).map(dollars)
        };
        let message = format!(
            "the prompt has {tokens} tokens, and beyond {} all of them cost {} times as much: {} uncached, \
             where {} tokens cost {}",
            step.above,
            thousandths(step.input_permille),
            cost(tokens.0)?,
            step.above,
            cost(step.above)?,
        );
        let problem = Problem::new("model", ProblemKind::Costly, message);
        Some(problem.with_hint(format!("a budget of at most {} stays below it", step.above)))
    }
}

fn thousandths(permille: u32) -> String {
    let text = format!("{}.{:03}", permille / 1_000, permille % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(model: &str) -> u32 {
        ModelProfile::default_budget(ModelProfile::find(model).ok()).0
    }

    #[test]
    fn o07_a_default_budget_stays_within_the_window_and_below_a_step() {
        assert_eq!(budget("no-such-model"), 32_000);
        assert_eq!(budget("claude-opus-5-5"), 32_000);
        assert_eq!(budget("gpt-3.5-turbo"), 16_385 - 4_096);
        assert_eq!(budget("gpt-4"), 8_192 - 4_096);
        for model in ModelProfile::models() {
            let budget = ModelProfile::default_budget(Some(model));
            assert!(budget > Tokens::ZERO, "{}", model.name());
            assert_eq!(model.passed_by(budget), [], "{}", model.name());
            assert!(model.most_input().is_none_or(|most| budget <= most));
        }
    }

    #[test]
    fn o07_an_answer_may_be_as_long_as_the_model_and_its_window_allow() {
        let answer = |model: &str, prompt: u32| {
            ModelProfile::default_answer(ModelProfile::find(model).ok(), Tokens(prompt))
        };
        assert_eq!(answer("claude-opus-5-5", 30_000), 32_000);
        assert_eq!(answer("claude-3-5-haiku", 30_000), 8_192);
        assert_eq!(answer("no-such-model", 30_000), 4_096);
        // 150,000 tokens, which may be 172,500, of 200,000.
        assert_eq!(answer("claude-sonnet-4-5", 150_000), 27_500);
        assert_eq!(answer("claude-sonnet-4-5", 199_000), 4_096);
        let writing = ModelProfile::models().iter();
        for model in writing.filter(|model| model.max_output.is_some()) {
            let budget = ModelProfile::default_budget(Some(model));
            let answer = ModelProfile::default_answer(Some(model), budget);
            let all = u64::from(budget.0) + u64::from(answer);
            assert!(model.window.is_none_or(|window| all <= u64::from(window)));
        }
    }

    #[test]
    fn o07_crossing_a_step_is_told_with_its_price() {
        let haiku = ModelProfile::find("claude-haiku-5-5").unwrap();
        assert_eq!(haiku.passed_by(Tokens(100_000)), []);
        let passed = haiku.passed_by(Tokens(120_000));
        assert_eq!(
            passed[0].message,
            "the prompt has 120000 tokens, and beyond 100000 all of them cost 5 times as much: $0.0600 \
             uncached, where 100000 tokens cost $0.0100"
        );
        assert_eq!(passed[0].kind, ProblemKind::Costly);
    }

    #[test]
    fn o07_a_prompt_beyond_the_window_is_told() {
        let small = ModelProfile::find("gpt-4").unwrap();
        let passed = small.passed_by(Tokens(9_000));
        assert_eq!(
            passed[0].message,
            "the prompt has 9000 tokens, and the window of gpt-4 8192"
        );
    }
}
