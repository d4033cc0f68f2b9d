//! A prompt as a person may see it: internal messages reach the model alone.

use std::borrow::Cow;

use kitbag_core::assembly::{AssemblySettings, Breakpoint, Draft, Kept, render_for_people};
use kitbag_core::problem::Problem;

use super::Composed;
#[cfg(feature = "store")]
use kitbag_store::Replayed;

#[cfg(feature = "store")]
use super::ReplayedPrompt;
use crate::wire::Laid;

/// The body of a prompt with a line in the place of each internal message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyForPeople<'a> {
    /// The text, or the JSON of a form that is no text.
    pub text: Cow<'a, str>,
    /// The number of messages that are not shown.
    pub hidden: usize,
}

impl Composed {
    /// The body to print for a person.
    #[must_use]
    pub fn body_for_people(&self) -> BodyForPeople<'_> {
        let (kept, breakpoints) = (&self.assembly.kept, &self.assembly.breakpoints);
        let problems = &self.assembly.ledger.problems;
        masked(
            &self.draft,
            kept,
            &self.settings,
            breakpoints,
            problems,
            || self.body(),
        )
    }
}

#[cfg(feature = "store")]
impl ReplayedPrompt {
    /// The body to print for a person.
    #[must_use]
    pub fn body_for_people(&self) -> BodyForPeople<'_> {
        let Replayed {
            draft,
            kept,
            settings,
            breakpoints,
            ..
        } = &self.prompt;
        let body = || Cow::Borrowed(self.body.as_str());
        masked(draft, kept, settings, breakpoints, &[], body)
    }
}

/// The body itself where the prompt has no internal message.
fn masked<'a>(
    draft: &Draft,
    kept: &[Kept],
    settings: &AssemblySettings,
    breakpoints: &[Breakpoint],
    problems: &[Problem],
    body: impl FnOnce() -> Cow<'a, str>,
) -> BodyForPeople<'a> {
    // The usual case keeps the bytes that were sent; rendering again could only repeat them.
    let Some(people) = render_for_people(draft, kept, settings) else {
        let text = body();
        return BodyForPeople { text, hidden: 0 };
    };
    let laid = Laid {
        form: settings.form,
        draft: &people.draft,
        blocks: &people.rendered.blocks,
        breakpoints,
        text: &people.rendered.body,
        problems,
    };
    BodyForPeople {
        text: Cow::Owned(match settings.form.is_text() {
            true => people.rendered.body.clone(),
            false => laid.json(),
        }),
        hidden: people.hidden,
    }
}
