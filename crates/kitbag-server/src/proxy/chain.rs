//! The chain of a conversation: each message named by the hash of all that was said up to it.
//!
//! Clients send their history again with every request, and rewrite it: a text as a list of parts one
//! time and as a string the next, cache markers here and there, old results of tools in short. So what counts is who
//! spoke, the words, and the ids of calls. Instructions and results of tools are no part of it, and neighbouring
//! messages of an assistant are one.

use blake3::Hasher;
use kitbag::core::role::Role;

use super::said::ClientMessage;

/// The hash of all that was said up to a message, that included.
pub(super) type Link = [u8; 32];

/// A message of the chain, or several neighbouring ones of the assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chained {
    pub(super) role: Role,
    /// The words; nothing where only tools were called or answered.
    pub(super) words: Option<String>,
    pub(super) link: Link,
    /// The place of the message in the request.
    pub(super) index: usize,
}

/// The chain that begins with a name: of the conversation, or of what else tells it from others.
pub(super) fn chain(seed: &str, messages: &[ClientMessage]) -> Vec<Chained> {
    let mut link = first_link(seed);
    let mut chained: Vec<Chained> = Vec::new();
    let mut spoken: Vec<Spoken> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::System {
            continue;
        }
        let words = message.words().filter(|_| message.role != Role::Tool);
        if words.is_none() && message.calls.is_empty() {
            continue;
        }
        match spoken.last_mut() {
            Some(last) if last.role == Role::Assistant && message.role == Role::Assistant => {
                last.add(words, &message.calls);
            }
            _ => spoken.push(Spoken::new(message.role, words, &message.calls, index)),
        }
    }
    for one in spoken {
        link = next(&link, &one);
        chained.push(Chained {
            role: one.role,
            words: one.words,
            link,
            index: one.index,
        });
    }
    chained
}

/// The chain's last link with an answer behind it.
pub(super) fn answered(chain: &[Chained], seed: &str, words: &str, calls: &[String]) -> Link {
    let words = Some(words.trim()).filter(|words| !words.is_empty());
    let before = chain
        .last()
        .map_or_else(|| first_link(seed), |last| last.link);
    let answer = Spoken::new(Role::Assistant, words.map(str::to_owned), calls, 0);
    next(&before, &answer)
}

struct Spoken {
    role: Role,
    words: Option<String>,
    calls: Vec<String>,
    index: usize,
}

impl Spoken {
    fn new(role: Role, words: Option<String>, calls: &[String], index: usize) -> Self {
        Self {
            role,
            words,
            calls: calls.to_vec(),
            index,
        }
    }

    fn add(&mut self, words: Option<String>, calls: &[String]) {
        self.words = match (self.words.take(), words) {
            (Some(first), Some(more)) => Some(format!("{first}\n\n{more}")),
            (first, more) => first.or(more),
        };
        self.calls.extend_from_slice(calls);
    }
}

/// The link before all messages.
pub(super) fn first_link(seed: &str) -> Link {
    *blake3::hash(seed.as_bytes()).as_bytes()
}

fn next(before: &Link, spoken: &Spoken) -> Link {
    let mut hasher = Hasher::new();
    hasher.update(before);
    let words = spoken.words.as_deref().unwrap_or_default();
    // White space is the first thing that clients change, and between the parts of an answer there is none.
    let words: String = words.split_whitespace().collect();
    let pieces = [spoken.role.as_str(), &words].into_iter();
    for piece in pieces.chain(spoken.calls.iter().map(String::as_str)) {
        hasher.update(&(piece.len() as u64).to_le_bytes());
        hasher.update(piece.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use kitbag::wire::Dialect;

    use super::super::said::ReadBody;
    use super::*;

    fn links(body: &str) -> Vec<Link> {
        let read = ReadBody::read(Dialect::Anthropic, body.as_bytes()).unwrap();
        let chained = chain("s", &read.messages);
        chained.into_iter().map(|one| one.link).collect()
    }

    #[test]
    fn x06_a_history_that_its_client_wrote_anew_is_the_same() {
        let first = links(
            r#"{"messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "<system-reminder>x</system-reminder>"},
                    {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]},
                {"role": "system", "content": "Be kind."}]}"#,
        );
        let second = links(
            r#"{"messages": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
                {"role": "user", "content": "Where?"}]}"#,
        );
        assert_eq!(first[..], second[..1]);
        let other = links(r#"{"messages": [{"role": "user", "content": "Ho"}]}"#);
        assert_ne!(first, other);
    }

    #[test]
    fn x06_a_result_of_a_tool_that_is_pruned_changes_nothing() {
        let with = |result: &str| {
            let body = format!(
                r#"{{"messages": [{{"role": "user", "content": "Look."}},
                {{"role": "assistant", "content": null, "tool_calls": [{{"id": "call_1"}}]}},
                {{"role": "tool", "tool_call_id": "call_1", "content": "{result}"}},
                {{"role": "user", "content": "And?"}}]}}"#
            );
            let read = ReadBody::read(Dialect::OpenAi, body.as_bytes()).unwrap();
            let chained = chain("s", &read.messages).into_iter();
            chained.map(|one| one.link).collect::<Vec<Link>>()
        };
        assert_eq!(with("a long log"), with("[cleared]"));
        assert_eq!(with("a long log").len(), 4);
    }

    #[test]
    fn x06_an_answer_is_the_same_link_when_it_comes_back() {
        let before = chain("s", &[]);
        let calls = ["toolu_1".to_owned()];
        let answer = answered(&before, "s", "Let me look.\n", &calls);
        let back = links(
            r#"{"messages": [{"role": "assistant", "content": [
                {"type": "thinking", "thinking": "", "signature": "c2ln"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}]}]}"#,
        );
        assert_eq!(back, [answer]);
    }
}
