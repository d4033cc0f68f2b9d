//! Likes and dislikes: the attitude of a text towards something, by its words alone.

use super::message_traits::MessageTraits;
use super::passages::word_count;
use crate::text::{Script, Token, WordTable, folded};

/// Words of many languages together, without accents, with the traits that they show. A list for
/// each language would be no surer, since a short message seldom shows its language.
static WORDS: WordTable<{ 1 << 10 }> = WordTable::EMPTY
    .with(
        include_str!("attitude/negation.txt"),
        MessageTraits::NEGATION.bits(),
    )
    .with(
        include_str!("attitude/dislike.txt"),
        MessageTraits::DISLIKE.bits(),
    )
    .with(
        include_str!("attitude/liking.txt"),
        MessageTraits::LIKING.bits(),
    );
/// In scripts without spaces these words stand inside a run.
const UNSPACED_NEGATION: [&str; 4] = ["不", "没", "ない", "않"];
const UNSPACED_DISLIKE: [&str; 4] = ["讨厌", "討厭", "嫌い", "싫"];
const UNSPACED_LIKING: [&str; 7] = ["喜欢", "喜歡", "最爱", "最愛", "好き", "좋아", "ชอบ"];
/// The most words of a text that has one attitude.
const LONGEST: usize = 30;

/// Returns the attitude of a text with these words: traits of negation, dislike and liking.
pub(super) fn attitude(text: &str, tokens: &[Token<'_>]) -> MessageTraits {
    let mut traits = MessageTraits::default();
    if tokens.iter().map(word_count).sum::<usize>() <= LONGEST {
        for token in tokens {
            traits = traits.with(attitude_of_word(text, token));
        }
    }
    traits
}

fn attitude_of_word(text: &str, token: &Token<'_>) -> MessageTraits {
    let mut traits = MessageTraits::default();
    if token.script == Script::Unspaced {
        for (words, shown) in [
            (UNSPACED_NEGATION.as_slice(), MessageTraits::NEGATION),
            (&UNSPACED_DISLIKE, MessageTraits::DISLIKE),
            (&UNSPACED_LIKING, MessageTraits::LIKING),
        ] {
            if words.iter().any(|word| token.word.contains(word)) {
                traits = traits.with(shown);
            }
        }
    } else {
        traits = MessageTraits::from_bits(WORDS.bits(&folded(&token.word)));
    }
    // The word of the token is without its "n't".
    let written = text.get(token.start..token.end).unwrap_or_default();
    let is_contracted = written.ends_with("n't") || written.ends_with("n’t");
    match is_contracted {
        true => traits.with(MessageTraits::NEGATION),
        false => traits,
    }
}

/// Tells whether a folded word denies something: `not`, `keine`, `isn't`.
pub(crate) fn denies(folded: &str) -> bool {
    let bits = MessageTraits::from_bits(WORDS.bits(folded));
    let mut unspaced = UNSPACED_NEGATION.iter();
    bits.has(MessageTraits::NEGATION)
        || folded.ends_with("n't")
        || unspaced.any(|part| folded.contains(part))
}

/// Compares the attitude of a message with that of the query: 1 if both like or dislike, -1 for the
/// opposite, 0 if either has no attitude.
pub(super) fn agreement(query: MessageTraits, message: MessageTraits) -> f64 {
    let denies = message.has(MessageTraits::NEGATION) || message.has(MessageTraits::DISLIKE);
    let likes = message.has(MessageTraits::LIKING);
    match (dislikes(query), query.has(MessageTraits::LIKING)) {
        (true, _) if denies => 1.0,
        // "What do I not like?" must not bring "I like jazz" first.
        (true, _) if likes => -1.0,
        (false, true) if dislikes(message) => -1.0,
        _ => 0.0,
    }
}

/// Tells whether a text says that something is not liked.
pub(super) fn dislikes(traits: MessageTraits) -> bool {
    let denied = MessageTraits::NEGATION.with(MessageTraits::LIKING);
    traits.has(MessageTraits::DISLIKE) || traits.has(denied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens;

    #[test]
    fn x04_likes_and_dislikes_are_told_apart() {
        let attitude = |text: &str| attitude(text, &tokens(text).collect::<Vec<Token<'_>>>());
        let (negation, liking) = (MessageTraits::NEGATION, MessageTraits::LIKING);
        for (expected, texts) in [
            (
                MessageTraits::DISLIKE,
                [
                    "I hate opera",
                    "Ich hasse Oper",
                    "Je déteste l'opéra",
                    "Odio la ópera",
                    "我讨厌歌剧",
                ],
            ),
            (
                liking,
                [
                    "I like jazz",
                    "Ich mag Jazz",
                    "J'adore le jazz",
                    "Me gusta el jazz",
                    "我喜欢爵士乐",
                ],
            ),
            (
                negation.with(liking),
                [
                    "I don't like opera",
                    "Ich mag keine Oper",
                    "Je n'aime pas l'opéra",
                    "No me gusta la ópera",
                    "我不喜欢歌剧",
                ],
            ),
            (
                negation,
                [
                    "I can’t stand opera",
                    "Ich gehe nie in die Oper",
                    "Je ne vais jamais à l'opéra",
                    "No voy a la ópera",
                    "我没去歌剧院",
                ],
            ),
        ] {
            for text in texts {
                assert_eq!(attitude(text), expected, "{text}");
            }
        }
        assert_eq!(attitude("I went to the opera"), MessageTraits::default());
    }
}
