//! `/model` and `/agent`: who answers.

use kitbag_layout::config::RouteRule;

use super::{CommandCall, CommandError, CommandReply};
use crate::engine::Engine;

pub(super) fn model(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    if asked.rest.is_empty() {
        let routing = routing(asked.engine).map(|told| format!("\n{told}"));
        let routing = routing.unwrap_or_default();
        return Ok(format!("{}{routing}", answers(asked.engine)).into());
    }
    let engine = asked.engine.with_model(asked.rest)?;
    Ok(chosen(engine))
}

pub(super) fn agent(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    if asked.rest.is_empty() {
        return Ok(agents(asked.engine).into());
    }
    let id = asked.rest.strip_prefix('@').unwrap_or(asked.rest);
    let engine = asked.engine.with_agent(id)?;
    Ok(chosen(engine))
}

fn chosen(engine: Engine) -> CommandReply {
    CommandReply {
        text: format!("{} from here on", answers(&engine)),
        engine: Some(Box::new(engine)),
        ..CommandReply::default()
    }
}

/// Tells how the model of each message is chosen; none where it is not.
pub(super) fn routing(engine: &Engine) -> Option<String> {
    let routing = engine.routing.as_deref()?;
    let rule = |rule: &RouteRule| match &rule.name {
        Some(name) => format!("{} by rule {name}", rule.model),
        None => format!("{} by a rule", rule.model),
    };
    let mut ways: Vec<String> = routing.rules.iter().map(rule).collect();
    if let Some(classifier) = &routing.classifier {
        let classes = routing.classes.iter();
        let classes: Vec<String> = classes
            .map(|(name, class)| format!("{name} ({})", class.model))
            .collect();
        ways.push(format!(
            "{} names {}",
            classifier.model,
            classes.join(" or ")
        ));
    }
    Some(format!("each message may be routed: {}", ways.join(", ")))
}

/// Tells which model answers, as which agent.
pub(super) fn answers(engine: &Engine) -> String {
    let provider = engine.provider.as_ref().map(|provider| provider.name());
    let model = match (engine.model(), provider) {
        (Some(model), Some(provider)) => format!("{model} ({provider}) answers"),
        (Some(model), None) => format!("{model} answers"),
        (None, Some(provider)) => format!("{provider} answers"),
        (None, None) => "nobody answers".to_owned(),
    };
    match &engine.agent {
        Some(agent) => format!("{model} as {agent}"),
        None => model,
    }
}

fn agents(engine: &Engine) -> String {
    let agents = engine
        .project()
        .map(|project| project.config.agents.as_slice());
    let agents = agents.unwrap_or_default();
    if agents.is_empty() {
        return "there are no agents; a plain assistant answers".to_owned();
    }
    let lines = agents.iter().map(|agent| {
        let is_chosen = engine.agent.as_ref() == Some(&agent.id) || agents.len() == 1;
        let mark = if is_chosen { "*" } else { " " };
        let description = agent.description.as_deref().unwrap_or_default();
        format!("{mark} {}  {description}", agent.id)
            .trim_end()
            .to_owned()
    });
    lines.collect::<Vec<String>>().join("\n")
}
