//! A prompt as a person may see it: internal messages reach the model alone.

use std::borrow::Cow;

use kitbag_core::assembly::{AssemblySettings, Breakpoint, Draft, Kept, render_for_people};

use super::Composed;
#[cfg(feature = "store")]
use super::ReplayedPrompt;
use crate::wire;

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
        let Self {
            draft,
            settings,
            assembly,
            ..
        } = self;
        masked(draft, &assembly.kept, settings, &assembly.breakpoints).unwrap_or_else(|| {
            BodyForPeople {
                text: self.body(),
                hidden: 0,
            }
        })
    }
}

#[cfg(feature = "store")]
impl ReplayedPrompt {
    /// The body to print for a person.
    #[must_use]
    pub fn body_for_people(&self) -> BodyForPeople<'_> {
        let prompt = &self.prompt;
        masked(
            &prompt.draft,
            &prompt.kept,
            &prompt.settings,
            &prompt.breakpoints,
        )
        .unwrap_or(BodyForPeople {
            text: Cow::Borrowed(&self.body),
            hidden: 0,
        })
    }
}

/// None where the prompt has no internal message.
fn masked(
    draft: &Draft,
    kept: &[Kept],
    settings: &AssemblySettings,
    breakpoints: &[Breakpoint],
) -> Option<BodyForPeople<'static>> {
    let people = render_for_people(draft, kept, settings)?;
    let rendered = people.rendered;
    Some(BodyForPeople {
        text: Cow::Owned(match settings.form.is_text() {
            true => rendered.body,
            false => wire::json(settings.form, &people.draft, &rendered.blocks, breakpoints),
        }),
        hidden: people.hidden,
    })
}
