//! `formatConversation`: shows messages, with a block or with a template of its own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;

use super::super::Template;
use super::super::ast::{Block, Call};
use super::super::error::TemplateError;
use super::super::js::{Budget, Object, Shape, Stop, Val, text};
use super::super::render::{Arguments, Renderer, Scope};

static BUILT_IN: LazyLock<Result<Template, TemplateError>> =
    LazyLock::new(|| Template::parse("conversation", include_str!("../conversation.hbs")));

impl<'a> Renderer<'a> {
    pub(super) fn format_conversation(
        &mut self,
        call: &'a Call,
        arguments: &Arguments<'a>,
        scope: &Scope<'a>,
        block: Option<&'a Block>,
    ) -> Result<Val<'a>, TemplateError> {
        let messages = arguments.first();
        if messages.items() == 0 {
            return Ok(String::new().into());
        }
        let context = conversation(messages, arguments.get(1), &mut self.budget)
            .map_err(|stop| self.stopped(stop, scope, call.at))?;
        if let Some(block) = block {
            self.enter(block.program.as_ref(), scope, context, None, call.at)?;
            return Ok(Val::Undefined);
        }
        let template = match (self.settings.conversation, &*BUILT_IN) {
            (Some(template), _) | (None, Ok(template)) => template,
            (None, Err(error)) => return Err(error.clone()),
        };
        let rendered = self.apart(template, context, scope, call.at)?;
        Ok(rendered.into())
    }
}

fn conversation<'a>(
    messages: Val<'a>,
    platform: Val<'a>,
    budget: &mut Budget,
) -> Result<Val<'a>, Stop> {
    let agents = agents(&messages, budget)?;
    let first = agents.first().cloned();
    let fields = [
        ("messagesCount", Val::count(messages.items())),
        ("agentIds", Val::List(agents.into())),
        (
            "primaryAgentId",
            first.unwrap_or_else(|| String::new().into()),
        ),
    ];
    let mut object = Object::from_iter([
        (Cow::Borrowed("messages"), messages),
        (Cow::Borrowed("platform"), platform),
    ]);
    object.extend(fields.map(|(key, value)| (Cow::Borrowed(key), value)));
    Ok(Val::Object(Rc::new(object)))
}

/// The agents that spoke, each once, in the order in which they first did.
fn agents<'a>(messages: &Val<'a>, budget: &mut Budget) -> Result<Vec<Val<'a>>, Stop> {
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
