//! The security key of a prompt: the given one, or one that no text contains.

use kitbag_layout::{Agent, ChannelTurn, Documents, Map, SecurityKey, Value, given};

use super::{AgentError, AgentRequest};

/// The given key, or a new one that none of the texts contains.
pub(super) fn key(
    request: &AgentRequest,
    agent: &Agent,
    channel: &ChannelTurn,
    documents: &Documents,
    env: &Map,
) -> Result<SecurityKey, AgentError> {
    // Every text that a template may print: one that held the key could imitate the operator's wrapper.
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
    // From the system and not a seeded generator: who can guess the key can write a wrapper.
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
