//! The phase of a conversation and the user's wishes, by rules and without a model.
//!
//! Phase, the first that holds:
//!
//! | phase | when |
//! |---|---|
//! | `confirming` | a plan waits for approval, the turn wrote or made something, or the user said yes |
//! | `narrowing` | the user was asked something, the turn analysed, or the user said what is wanted, what is not, or what was decided |
//! | `exploring` | else |
//!
//! Wishes are in the user's own words, clause by clause: `wants: quick meals; does not want:
//! mushrooms`. The cues are English and whole words, so that "now" and "note" exclude nothing, nor
//! do "no problem", "not sure" or "why not". In other languages only questions are recognised.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::sentences::{is_fence, is_question, parts, sentences};
use crate::conversation::PendingKind;
use crate::reasoning::TurnExecutionSummary;
use crate::text::{is_listed, runs};

/// The most characters of the user's wishes.
const EXPRESSED: usize = 200;

/// Returns the phase of the conversation after a turn.
pub(super) fn phase(
    turn: &TurnExecutionSummary,
    pending: Option<&PendingKind>,
    user: &str,
) -> &'static str {
    let did = |kinds: &[&str]| {
        let mut steps = turn.steps.iter();
        steps.any(|step| kinds.contains(&step.step_type.as_str()))
    };
    let wishes = wishes(user);
    let said = |what: Wish| wishes.iter().any(|(wish, _)| *wish == what);
    // The rows of the table above, in their order.
    if pending == Some(&PendingKind::Propose) || did(&["write", "generate"]) || said(Wish::Yes) {
        return "confirming";
    }
    let narrows = [
        Wish::Wants,
        Wish::DoesNotWant,
        Wish::Prefers,
        Wish::Decided,
        Wish::No,
    ];
    if pending.is_some() || did(&["analyze"]) || narrows.into_iter().any(said) {
        return "narrowing";
    }
    "exploring"
}

/// Returns the user's wishes; empty if no rule applies.
pub(super) fn expressed(user: &str) -> String {
    let mut told = String::new();
    for (wish, words) in wishes(user) {
        // Half of the room for one wish, so that there is some for another.
        let words = parts(&words, EXPRESSED / 2).into_iter().next();
        let item = match words.filter(|words| !words.is_empty()) {
            Some(words) => format!("{}: {words}", wish.label()),
            None => wish.label().to_owned(),
        };
        let apart = if told.is_empty() { "" } else { "; " };
        let length = told.chars().count() + apart.len() + item.chars().count();
        if length <= EXPRESSED && !told.contains(&item) {
            told.push_str(apart);
            told.push_str(&item);
        }
    }
    told
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Yes,
    No,
    DoesNotWant,
    Prefers,
    Decided,
    Wants,
    Asked,
}

impl Wish {
    fn label(self) -> &'static str {
        match self {
            Self::Yes => "confirmed",
            Self::No => "declined",
            Self::DoesNotWant => "does not want",
            Self::Prefers => "prefers",
            Self::Decided => "decided",
            Self::Wants => "wants",
            Self::Asked => "asked",
        }
    }
}

/// The words behind a cue are its object. The first list that matches a clause decides.
#[rustfmt::skip]
const CUES: [(Wish, &[&str]); 4] = [
    (Wish::DoesNotWant, &[
        "do not want", "don't want", "dont want", "do not like", "don't like", "dont like",
        "don't need", "do not need", "don't use", "do not use", "never use", "without", "avoid",
        "exclude", "except", "except for", "hate", "allergic to", "can't stand", "can't eat",
        "cannot eat", "can't have", "nothing with", "no more", "no", "but not", "and not",
    ]),
    (Wish::Prefers, &[
        "prefer", "would rather", "i'd rather", "we'd rather", "my favorite is", "my favourite is",
    ]),
    (Wish::Decided, &[
        "let's", "lets", "go with", "go for", "i'll take", "i will take", "decided on", "decided to",
        "we decided", "i decided", "settle on", "from now on",
    ]),
    (Wish::Wants, &[
        "i want", "we want", "i need", "we need", "i'd like", "i would like", "we'd like",
        "we would like", "looking for", "i wish", "give me", "find me", "must be", "must have",
        "has to be",
    ]),
];

/// Words behind "no" and "not" that keep these from excluding anything.
const NO_OBJECT: &str = "bad doubt idea just longer matter need one only problem problems question \
                         rush sure thank thanks way wonder worries yet";

fn wishes(user: &str) -> Vec<(Wish, String)> {
    let mut found = Vec::new();
    if let Some(answer) = plain_answer(user) {
        found.push((answer, String::new()));
    }
    for sentence in sentences(user).into_iter().filter(|text| !is_fence(text)) {
        let asks = is_question(sentence);
        let before = found.len();
        // "Could you …?" is a wish in the form of a question.
        if !asks || is_request(sentence) {
            found.extend(clauses(sentence).into_iter().filter_map(wish_of));
        }
        if asks && found.len() == before {
            let question: Vec<&str> = sentence.split_whitespace().collect();
            found.push((Wish::Asked, question.join(" ")));
        }
    }
    found
}

fn wish_of(clause: &str) -> Option<(Wish, String)> {
    let words = words(clause);
    CUES.into_iter().find_map(|(wish, cues)| {
        let rest = after_cue(clause, &words, cues)?;
        let object = without_courtesy(rest);
        (!object.is_empty()).then(|| (wish, object.to_owned()))
    })
}

/// Returns the text behind the first cue in a clause; of two cues at the same word the longer
/// counts.
fn after_cue<'a>(clause: &'a str, words: &[PlacedWord], cues: &[&str]) -> Option<&'a str> {
    (0..words.len()).find_map(|start| {
        let here = words.get(start..)?;
        let mut cues: Vec<&&str> = cues.iter().filter(|cue| begins_with(here, cue)).collect();
        cues.sort_by_key(|cue| cue.len());
        let cue = cues.pop()?;
        let length = cue.split(' ').count();
        let next = here.get(length)?;
        let is_no = cue.ends_with("no") || cue.ends_with("not");
        if is_no && is_listed(NO_OBJECT, &next.word) {
            return None;
        }
        // "No. 5" is a number, and "no" inside "yes and no" has nothing behind it.
        if is_no && clause.get(here.get(length - 1)?.end..)?.starts_with('.') {
            return None;
        }
        clause.get(next.start..)
    })
}

fn begins_with(words: &[PlacedWord], cue: &str) -> bool {
    let mut words = words.iter().map(|placed| placed.word.as_str());
    cue.split(' ').all(|part| words.next() == Some(part))
}

/// Recognises yes or no, if the message begins with nothing else.
fn plain_answer(user: &str) -> Option<Wish> {
    const YES: &str = "absolutely agreed ahead correct do go good it ok okay perfect sounds sure \
                       yeah yep yes yup";
    const NO: &str = "cancel nah no nope not stop";
    const COURTESY: &str = "now please thank thanks that you";
    let first = sentences(user).into_iter().next()?;
    if first.ends_with(['?', '？']) {
        return None;
    }
    let first = first.split([',', ';', ':', '—', '–']).next()?;
    let words: Vec<String> = words(first).into_iter().map(|placed| placed.word).collect();
    let opens = words.first()?.as_str();
    let only = |list: &str| {
        let mut words = words.iter();
        words.all(|word| is_listed(list, word) || is_listed(COURTESY, word))
    };
    // "It" and "good" open sentences that confirm nothing.
    if only(YES) && is_listed(YES, opens) && !["it", "good"].contains(&opens) {
        Some(Wish::Yes)
    } else if only(NO) && is_listed(NO, opens) {
        Some(Wish::No)
    } else {
        None
    }
}

fn is_request(sentence: &str) -> bool {
    let mut words = words(sentence).into_iter().map(|placed| placed.word);
    let [first, second] = [(); 2].map(|()| words.next().unwrap_or_default());
    match first.as_str() {
        "please" => true,
        "can" | "could" => ["you", "we"].contains(&second.as_str()),
        "would" | "will" => second == "you",
        _ => false,
    }
}

/// Returns the parts of a sentence between commas and similar marks, and before "but".
fn clauses(sentence: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for clause in sentence.split([',', ';', '—', '–', '(', ')', '\n']) {
        let mut rest = clause;
        while let Some((before, after)) = rest.split_once(" but ") {
            found.push(before);
            // With its "but", so that "but not" is still seen.
            rest = rest.get(before.len() + 1..).unwrap_or(after);
        }
        found.push(rest);
    }
    found
}

fn without_courtesy(text: &str) -> &str {
    let mut text = text.trim();
    // Again after each cut, since courtesies and marks follow each other.
    loop {
        let shorter = text.trim_end_matches(|char: char| {
            char.is_whitespace() || matches!(char, '.' | '!' | '?' | ',' | '"')
        });
        let lower = shorter.to_ascii_lowercase();
        let mut courtesy = [" please", " thanks", " though"].into_iter();
        let courtesy = courtesy
            .find(|end| lower.ends_with(end))
            .unwrap_or_default();
        let kept = shorter.len() - courtesy.len();
        let kept = shorter.get(..kept).unwrap_or(shorter);
        if kept.len() == text.len() {
            return text;
        }
        text = kept;
    }
}

/// A word of a text in lower case, with its place.
struct PlacedWord {
    word: String,
    start: usize,
    end: usize,
}

fn words(text: &str) -> Vec<PlacedWord> {
    let is_inside = |char: char| char.is_alphanumeric() || matches!(char, '\'' | '’' | '_' | '-');
    let placed = |(start, word): (usize, &str)| PlacedWord {
        word: word.to_lowercase().replace('’', "'"),
        start,
        end: start + word.len(),
    };
    runs(text, is_inside).map(placed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reasoning::StepSummary;
    use proptest::prelude::*;

    #[test]
    fn a10_the_user_is_quoted() {
        for (user, told) in [
            (
                "I want something quick but no mushrooms, please!",
                "wants: something quick; does not want: mushrooms",
            ),
            (
                "Could you find soups without cream?",
                "does not want: cream",
            ),
            (
                "I don’t want to cook on Fridays.",
                "does not want: to cook on Fridays",
            ),
            ("I'm allergic to Brazil nuts", "does not want: Brazil nuts"),
            (
                "We'd rather eat at home. Let's go with Lemon Soup.",
                "prefers: eat at home; decided: go with Lemon Soup",
            ),
            ("yes please, go ahead", "confirmed"),
            ("OK", "confirmed"),
            ("No thanks", "declined"),
            ("No, I want the other one", "declined; wants: the other one"),
            ("What is in the soup?", "asked: What is in the soup?"),
            ("何がありますか？", "asked: 何がありますか？"),
            ("please note the time now", ""),
            ("I know nothing of it, no problem", ""),
            ("I am not sure", ""),
            ("Room No. 5 is mine", ""),
            ("Why not", ""),
            ("```\nif no fish\n```", ""),
            ("", ""),
        ] {
            assert_eq!(expressed(user), told, "{user}");
        }
    }

    #[test]
    fn a10_the_phase_follows_from_what_was_done_and_said() {
        let mut turn = TurnExecutionSummary::new(1);
        assert_eq!(phase(&turn, None, "what can I cook?"), "exploring");
        assert_eq!(phase(&turn, None, "I want soup"), "narrowing");
        assert_eq!(phase(&turn, None, "yes, do it"), "confirming");
        assert_eq!(phase(&turn, Some(&PendingKind::Clarify), "hm"), "narrowing");
        assert_eq!(
            phase(&turn, Some(&PendingKind::Propose), "hm"),
            "confirming"
        );
        for (kind, expected) in [
            ("read", "exploring"),
            ("analyze", "narrowing"),
            ("write", "confirming"),
        ] {
            turn.steps = [StepSummary::new(1, kind, "", "", None, 1)].into();
            assert_eq!(phase(&turn, None, "hm"), expected);
        }
    }

    proptest! {
        #[test]
        fn a10_what_is_told_is_bounded(user in any::<String>(), more in "([a-zé’']{1,6}[ ,.!?\n]|no |but |i want ){0,60}") {
            for user in [user, more] {
                prop_assert!(expressed(&user).chars().count() <= EXPRESSED);
            }
        }
    }
}
