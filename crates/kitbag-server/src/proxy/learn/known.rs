//! The messages of a request that a conversation has already.
//!
//! They are found by their links, by neighbours that are the same, or by a common beginning. From there on what people
//! say counts: clients rewrite answers, such as without the reasoning in them, and send people's words unchanged.

use kitbag::core::role::Role;
use kitbag::secrets::redact;
use kitbag::store::StoredMessage;

use super::said::Said;
use crate::proxy::chain::Link;

/// The part of a request that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// Its messages, from the beginning of the request.
    pub(super) count: usize,
    /// The first message that a person said behind them, where the conversation went on with another one.
    pub(super) fork: Option<Link>,
}

/// The messages that a conversation and a request have in common, up to these places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Common {
    kept: usize,
    said: usize,
}

/// A speaker, and the words as they are compared.
type Line = (Role, String);

/// Compares the newest messages of a conversation with those of a request. `is_whole` says if there are no older ones.
/// Nothing if they have nothing in common.
pub(super) fn known(kept: &[StoredMessage], said: &[Said<'_>], is_whole: bool) -> Option<Known> {
    let linked = linked(kept, said);
    // The usual case: the request goes on from the last message that is kept. Comparing words would mask the secrets
    // of the whole conversation after each answer.
    if let Some(common) = linked
        && common.kept == kept.len()
    {
        return Some(Known {
            count: common.said,
            fork: None,
        });
    }
    let kept_lines: Vec<Line> = kept
        .iter()
        .map(|it| (it.message.role, compared(&it.text())))
        .collect();
    let said_lines: Vec<Line> = said
        .iter()
        .map(|it| (it.role, compared(it.words)))
        .collect();
    let (kept_lines, said_lines) = (&*kept_lines, &*said_lines);
    let neighbours = neighbours(kept_lines, said_lines);
    let anchors = [linked, neighbours].into_iter().flatten();
    let anchored = anchors.map(|anchor| followed(kept_lines, said_lines, anchor));
    let beginning = Common { kept: 0, said: 0 };
    let begun = is_whole.then(|| followed(kept_lines, said_lines, beginning));
    let begun = begun.filter(|common| {
        let shared = said_lines.iter().take(common.said);
        // Assistants may begin with anything.
        shared.into_iter().any(|(role, _)| *role == Role::User)
    });
    let common = anchored.chain(begun).max_by_key(|common| common.said)?;
    let goes_on = kept_lines.iter().skip(common.kept);
    let goes_on = goes_on.into_iter().any(|(role, _)| *role == Role::User);
    let next = said.iter().skip(common.said).find_map(Said::asked_link);
    Some(Known {
        count: common.said,
        fork: next.filter(|_| goes_on),
    })
}

/// The number of messages up to the last one that is kept by its link.
pub(super) fn by_reference(kept: &[StoredMessage], said: &[Said<'_>]) -> usize {
    linked(kept, said).map_or(0, |common| common.said)
}

fn linked(kept: &[StoredMessage], said: &[Said<'_>]) -> Option<Common> {
    let place = |reference: &str| {
        let is_it = |it: &StoredMessage| it.reference.as_deref() == Some(reference);
        kept.iter().rposition(is_it)
    };
    said.iter().enumerate().rev().find_map(|(index, one)| {
        Some(Common {
            kept: place(&one.reference(None))? + 1,
            said: index + 1,
        })
    })
}

/// The last messages of a request that stand in a conversation as neighbours. Single ones do not count: many people say
/// "thanks".
fn neighbours(kept: &[Line], said: &[Line]) -> Option<Common> {
    let alike = |end: usize, kept_end: usize| {
        let said = said.get(..end).unwrap_or_default().iter().rev();
        let kept = kept.get(..kept_end).unwrap_or_default().iter().rev();
        said.zip(kept)
            .take_while(|(one, other)| one == other)
            .count()
    };
    (2..=said.len()).rev().find_map(|end| {
        let places = (2..=kept.len()).map(|kept_end| (alike(end, kept_end), kept_end));
        let (_, kept) = places.max().filter(|(length, _)| *length >= 2)?;
        Some(Common { kept, said: end })
    })
}

/// Goes on from a place for as long as people say the same. Answers between that are the same, in whatever words.
fn followed(kept: &[Line], said: &[Line], from: Common) -> Common {
    let Common {
        kept: mut k,
        said: mut s,
    } = from;
    loop {
        match (kept.get(k), said.get(s)) {
            (Some((Role::User, one)), Some((Role::User, other))) if one == other => {
                (k, s) = (k + 1, s + 1);
            }
            (None, _) | (Some((Role::User, _)), None | Some((Role::User, _))) => break,
            // Each has its answers: the client leaves some out, or has some that nobody heard.
            (Some((Role::User, _)), Some(_)) => s += 1,
            (Some(_), Some((Role::User, _)) | None) => k += 1,
            (Some(_), Some(_)) => (k, s) = (k + 1, s + 1),
        }
    }
    Common { kept: k, said: s }
}

/// The words as they are compared: secrets are masked, as they are where they are kept, and white space differs.
fn compared(words: &str) -> String {
    let masked = redact(words, "").text;
    masked.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        let line = |word: &str| match word.strip_prefix("a:") {
            Some(answer) => (Role::Assistant, answer.to_owned()),
            None => (Role::User, word.to_owned()),
        };
        text.split_whitespace().map(line).collect()
    }

    /// The places up to which two conversations are the same.
    fn common(kept: &str, said: &str) -> (usize, usize) {
        let found = followed(&lines(kept), &lines(said), Common { kept: 0, said: 0 });
        (found.kept, found.said)
    }

    #[test]
    fn x06_what_people_say_tells_messages_apart_and_not_the_words_of_answers() {
        assert_eq!(common("one a:1 two a:2", "one a:1' two a:2' three"), (4, 4));
        assert_eq!(common("one a:1 a:2", "one a:1'"), (3, 2));
        assert_eq!(common("one a:1 two", "one a:1' a:1'' two"), (3, 4));
        assert_eq!(common("one a:1", "one a:1' a:2"), (2, 2));
        assert_eq!(common("one a:1 two a:2", "one a:1 other"), (2, 2));
        assert_eq!(common("go a:1 go a:2", "go a:1 go a:2 go"), (4, 4));
        assert_eq!(common("one", "two"), (0, 0));
        assert_eq!(common("one a:1 two a:2", "one"), (2, 1));
    }
}
