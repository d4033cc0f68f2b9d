//! The same conversations as with an assistant: one side's messages are ten times as long.
//!
//! The assistant's added text is made of sentences from other conversations, so the questions and
//! their evidence stay as they are. The same data give the same variant.

use anyhow::{Context, Result, bail};
use regex::Regex;

use super::conversation::{Conversation, Turn};

const TIMES: usize = 10;
const ASSISTANT: &str = "assistant";

/// In each conversation the second person who speaks becomes the assistant. Sentences that follow one
/// another in other conversations are put before and after each of the assistant's messages.
pub(super) fn lengthened(conversations: &[Conversation]) -> Result<Vec<Conversation>> {
    let sentence = Regex::new(r"(?s)\S.*?(?:[.!?]+(?:\s|$)|$)")?;
    // The letters of `kitbag`: any start will do, but it must stay the same.
    let mut dice = Dice(0x6b69_7462_6167);
    let mut variant = conversations.to_vec();
    for (number, conversation) in variant.iter_mut().enumerate() {
        let others = conversations.iter().enumerate();
        let others = others.filter(|(other, _)| *other != number);
        let foreign: Vec<&str> = others
            .flat_map(|(_, other)| other.turns.iter())
            .flat_map(|turn| sentence.find_iter(&turn.text))
            .map(|found| found.as_str().trim_end())
            .collect();
        if foreign.is_empty() {
            bail!("long messages are made from other conversations, and there is only one");
        }
        let assistant = second_speaker(&conversation.turns)
            .with_context(|| format!("only one person speaks in `{}`", conversation.name))?;
        for turn in &mut conversation.turns {
            let role = if turn.speaker == assistant {
                lengthen(turn, &foreign, &mut dice);
                ASSISTANT
            } else {
                "user"
            };
            turn.role = Some(role.to_owned());
        }
    }
    Ok(variant)
}

/// The mean lengths of both sides' messages, to be shown.
pub(super) fn lengths(conversations: &[Conversation]) -> String {
    let mean = |is_assistant: bool| {
        let turns = conversations.iter().flat_map(|talk| &talk.turns);
        let lengths: Vec<usize> = turns
            .filter(|turn| (turn.role.as_deref() == Some(ASSISTANT)) == is_assistant)
            .map(|turn| turn.text.chars().count())
            .collect();
        lengths.iter().sum::<usize>() / lengths.len().max(1)
    };
    let (assistant, user) = (mean(true), mean(false));
    format!("{assistant} characters on average, {user} of the user")
}

fn second_speaker(turns: &[Turn]) -> Option<String> {
    let first = turns.first()?;
    let second = turns.iter().find(|turn| turn.speaker != first.speaker)?;
    Some(second.speaker.clone())
}

/// The message stays whole, at a random place of the longer one. Only its text costs more: the rest
/// of what is shown of a turn is as it was.
fn lengthen(turn: &mut Turn, foreign: &[&str], dice: &mut Dice) {
    let added = (TIMES - 1) * turn.text.chars().count();
    let before = passage(foreign, dice.below(added + 1), dice);
    // A passage ends with a whole sentence, so it may be longer than was asked for.
    let rest = added.saturating_sub(before.chars().count());
    let after = passage(foreign, rest, dice);
    let parts = [before.as_str(), turn.text.as_str(), after.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join(" ");
    let count = |text: &str| bpe_openai::o200k_base().count(text) as u64;
    turn.tokens = (turn.tokens + count(&text)).saturating_sub(count(&turn.text));
    turn.text = text;
}

/// Sentences that follow one another, from a random one on, until the given length is reached.
fn passage(foreign: &[&str], characters: usize, dice: &mut Dice) -> String {
    let mut passage = String::new();
    let from = dice.below(foreign.len());
    for sentence in foreign.iter().cycle().skip(from) {
        if passage.chars().count() >= characters {
            break;
        }
        if !passage.is_empty() {
            passage.push(' ');
        }
        passage.push_str(sentence);
    }
    passage
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    /// A number below `limit`; 0 if `limit` is 0. The steps are those of SplitMix64.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let limit = limit.max(1) as u64;
        usize::try_from(mixed % limit).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(speaker: &str, text: &str) -> Turn {
        Turn {
            speaker: speaker.to_owned(),
            text: text.to_owned(),
            tokens: 7 + bpe_openai::o200k_base().count(text) as u64,
            ..Turn::default()
        }
    }

    fn talk(turns: &[Turn]) -> Conversation {
        Conversation {
            turns: turns.to_vec(),
            ..Conversation::default()
        }
    }

    fn talks() -> [Conversation; 2] {
        let sailing = [
            turn("Ada", "Did you sail last week?"),
            turn("Bob", "I did, from Kiel to Malmö in 9.5 hours!"),
            turn("Ada", "That is fast."),
            turn("Bob", "The wind was with us. We slept on the boat."),
        ];
        let cooking = [
            turn("Eve", "What do you cook? Tell me."),
            turn("Dan", "Soup... with 2.5 onions. Then bread."),
        ];
        [talk(&sailing), talk(&cooking)]
    }

    #[test]
    fn x04_the_second_speaker_becomes_a_wordy_assistant() {
        let talks = talks();
        let long = lengthened(&talks).unwrap();
        for (talk, long) in talks.iter().zip(&long) {
            let assistant = &talk.turns[1].speaker;
            for (turn, long) in talk.turns.iter().zip(&long.turns) {
                if turn.speaker == *assistant {
                    let role = Some("assistant".to_owned());
                    assert_eq!(long.role, role);
                    assert!(long.text.contains(&turn.text), "{}", long.text);
                    let times = long.text.len() as f64 / turn.text.len() as f64;
                    assert!((9.0..13.0).contains(&times), "{times}: {}", long.text);
                } else {
                    let role = Some("user".to_owned());
                    assert_eq!(
                        *long,
                        Turn {
                            role,
                            ..turn.clone()
                        }
                    );
                }
            }
        }
    }

    #[test]
    fn x04_what_is_added_are_sentences_of_other_conversations() {
        let talks = talks();
        let own = &talks[1].turns[1].text;
        let added = lengthened(&talks).unwrap()[1].turns[1]
            .text
            .replace(own, "");
        let mut left = added;
        for sentence in [
            "Did you sail last week?",
            "I did, from Kiel to Malmö in 9.5 hours!",
            "That is fast.",
            "The wind was with us.",
            "We slept on the boat.",
        ] {
            left = left.replace(sentence, "");
        }
        assert_eq!(left.trim(), "");
    }

    #[test]
    fn x04_the_longer_text_is_counted_anew() {
        for turn in lengthened(&talks())
            .unwrap()
            .iter()
            .flat_map(|talk| &talk.turns)
        {
            let text = bpe_openai::o200k_base().count(&turn.text) as u64;
            assert_eq!(turn.tokens, 7 + text);
        }
    }

    #[test]
    fn x04_the_same_data_give_the_same_variant() {
        let texts = |talks: Vec<Conversation>| -> Vec<Vec<Turn>> {
            talks.into_iter().map(|talk| talk.turns).collect()
        };
        let (once, again) = (lengthened(&talks()), lengthened(&talks()));
        assert_eq!(texts(once.unwrap()), texts(again.unwrap()));
    }

    #[test]
    fn x04_one_conversation_alone_cannot_be_lengthened() {
        let error = lengthened(&talks()[..1]).unwrap_err();
        assert!(error.to_string().contains("only one"), "{error}");
    }
}
