//! The key of a prompt: the one that is given, or one that no text contains.

use kitbag_layout::{Agent, ChannelTurn, Documents, Map, SecurityKey, Value, given};

use super::{AgentError, AgentRequest};

/// The key that was given, or one that stands in none of the texts.
pub(super) fn key(
    request: &AgentRequest,
    agent: &Agent,
    channel: &ChannelTurn,
    documents: &Documents,
    env: &Map,
) -> Result<SecurityKey, AgentError> {
    let mut texts = channel.texts();
    for (name, document) in documents {
        texts.extend([name.as_str(), document.content.as_str()]);
        texts.extend(document.summary.as_deref());
    }
    let choice = agent.layout.as_ref();
    let props = choice.and_then(|layout| layout.props.as_ref());
    for props in [props, request.props.as_ref()].into_iter().flatten() {
        props.collect_texts(&mut texts);
    }
    texts.extend(env.values().filter_map(Value::as_text));
    if let Some(context) = &request.context {
        texts.extend(given::texts(context));
    }
    match &request.key {
        Some(key) if key.occurs_in(texts.iter().copied()) => Err(AgentError::KeyKnown),
        Some(key) => Ok(key.clone()),
        None => SecurityKey::draw(random, texts.iter().copied()).map_err(|error| {
            AgentError::NoRandomness {
                reason: error.to_string(),
            }
        }),
    }
}

fn random() -> Result<[u8; 16], getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
