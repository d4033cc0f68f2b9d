//! The helper `formatConversation`: shows messages by a block or by a template.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;

use super::super::Template;
use super::super::error::{Halt, TemplateError, TemplateProblem};
use super::super::js::{Budget, Object, Shape, Val, text};
use super::super::render::{Arguments, Renderer, Site};

static BUILT_IN: LazyLock<Result<Template, TemplateError>> =
    LazyLock::new(|| Template::parse("conversation", include_str!("../conversation.hbs")));

impl<'a> Renderer<'a> {
    pub(super) fn format_conversation(
        &mut self,
        arguments: &Arguments<'a>,
        site: &Site<'_, 'a>,
    ) -> Result<Val<'a>, Halt> {
        let messages = arguments.first();
        if messages.items() == 0 {
            return Ok(String::new().into());
        }
        let context = conversation(messages, arguments.get(1), &mut self.budget)?;
        if let Some(block) = site.block {
            self.enter(block.program.as_ref(), site.scope, context, None)?;
            return Ok(Val::Undefined);
        }
        // The built-in template is valid; if it were not, that would be an error and no panic.
        let template = match (self.settings.conversation, &*BUILT_IN) {
            (Some(template), _) | (None, Ok(template)) => template,
            (None, Err(error)) => return Err(error.clone().into()),
        };
        Ok(self.render_detached(template, context)?.into())
    }
}

fn conversation<'a>(
    messages: Val<'a>,
    platform: Val<'a>,
    budget: &mut Budget,
) -> Result<Val<'a>, TemplateProblem> {
    let agents = agents(&messages, budget)?;
    let first = agents.first().cloned();
    let count = Val::count(messages.items());
    let fields = [
        ("messages", messages),
        ("platform", platform),
        ("messagesCount", count),
        ("agentIds", Val::List(agents.into())),
        (
            "primaryAgentId",
            first.unwrap_or_else(|| String::new().into()),
        ),
    ];
    let object = fields.map(|(key, value)| (Cow::Borrowed(key), value));
    Ok(Val::Object(Rc::new(Object::from(object))))
}

/// The agents that spoke, each once, in the order of their first message.
fn agents<'a>(messages: &Val<'a>, budget: &mut Budget) -> Result<Vec<Val<'a>>, TemplateProblem> {
    let mut seen = BTreeSet::new();
    let mut agents = Vec::new();
    for at in 0..messages.items() {
        budget.spend(1)?;
        let message = messages.item(at);
        let agent = message.get("metadata", budget)?.get("agent_id", budget)?;
        if !message.get("isAssistant", budget)?.is_truthy() || !agent.is_truthy() {
            continue;
        }
        let is_new = match agent.shape() {
            // As in a `Set` of JavaScript, in which two lists or objects are never the same.
            Shape::List | Shape::Object => true,
            shape => seen.insert((
                matches!(shape, Shape::Text(_)),
                text(&agent, budget)?.into_owned(),
            )),
        };
        if is_new {
            agents.push(agent);
        }
    }
    Ok(agents)
}
