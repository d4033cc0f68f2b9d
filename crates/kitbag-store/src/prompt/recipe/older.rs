//! Rewrites drafts of revision 1 so that today's forms show them the same way. At that time some
//! forms gave every context message the operator's voice, the flat form showed results of tools as
//! the model's words, and the name of a speaker was a field like any other.

use kitbag_core::assembly::{
    AssemblySettings, Draft, Kept, LayoutRevision, OutputForm, Rendered, render_as_of,
};
use kitbag_core::inject::ContextMessageTarget;
use kitbag_core::message::Message;
use kitbag_core::role::Role;

/// Renders a prompt of revision 1. The draft becomes one that is shown the same way today.
pub(super) fn render(draft: &mut Draft, kept: &[Kept], settings: &AssemblySettings) -> Rendered {
    adapt(draft, settings.form);
    render_as_of(LayoutRevision::First, draft, kept, settings)
}

fn adapt(draft: &mut Draft, form: OutputForm) {
    for message in &mut draft.injected {
        let had_role = match message.target {
            ContextMessageTarget::System => false,
            ContextMessageTarget::Session => matches!(
                form,
                OutputForm::OpenAi | OutputForm::Xml | OutputForm::Payload
            ),
            ContextMessageTarget::Conversation => true,
            ContextMessageTarget::SuffixSystem => form == OutputForm::Payload,
        };
        if !had_role {
            message.role = Role::System;
        }
        if form == OutputForm::Flat && message.role == Role::Tool {
            message.role = Role::Assistant;
        }
    }
    for message in messages(draft) {
        if form == OutputForm::Flat && message.role == Role::Tool {
            message.role = Role::Assistant;
        }
        if let Some(name) = message.name.take() {
            message.extra.insert("name".to_owned(), name.into());
        }
    }
}

fn messages(draft: &mut Draft) -> impl Iterator<Item = &mut Message> {
    let said = draft.history.iter_mut().chain([&mut draft.current]);
    said.chain(&mut draft.steps)
}
