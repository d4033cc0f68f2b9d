//! Recall from end to end, with a store made of maps.

use alloc::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::role::Role;

/// Messages with their conversation, as a store would keep them.
#[derive(Default)]
struct Memory {
    messages: Vec<(MessageFacts, Analysis)>,
}

impl Memory {
    fn of(texts: &[&str]) -> Self {
        let mut memory = Self::default();
        for text in texts {
            memory.say(0, Role::User, text);
        }
        memory
    }

    fn say(&mut self, conversation: u32, role: Role, text: &str) -> &mut MessageFacts {
        let analysis = analyse(text);
        let of_same = |(facts, _): &&(MessageFacts, Analysis)| facts.conversation == conversation;
        let before = self
            .messages
            .iter()
            .rev()
            .find(of_same)
            .map(|(facts, _)| facts);
        let message = before.map_or(0, |facts| facts.message + 1);
        let mut facts = MessageFacts::new(conversation, message);
        facts.previous = before.map(|facts| facts.traits);
        facts.role = role;
        facts.traits = analysis.traits;
        facts.words = analysis.words();
        facts.fingerprint = analysis.fingerprint;
        facts.arrival = self.messages.len() as u64;
        self.messages.push((facts, analysis));
        &mut self.messages.last_mut().unwrap().0
    }

    fn evidence(&self, query: &Query) -> Evidence {
        let mut index: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        let mut evidence = Evidence::default();
        for (facts, analysis) in &self.messages {
            for (passage, terms) in (0..).zip(&analysis.passages) {
                evidence.passages += 1;
                evidence.conversations = evidence
                    .conversations
                    .max(u64::from(facts.conversation) + 1);
                evidence.words += u64::from(terms.words);
                let place = Place {
                    conversation: facts.conversation,
                    message: facts.message,
                    passage,
                };
                let words = terms.words.try_into().unwrap();
                for (term, count) in terms.terms.clone() {
                    let posting = Posting {
                        place,
                        count,
                        words,
                    };
                    index.entry(term).or_default().push(posting);
                }
            }
            let is_named = |at: Timestamp| {
                let day = at.to_zoned(TimeZone::UTC).date();
                let holds = |range: &DayRange| range.first <= day && day <= range.told_until();
                query.days().iter().any(holds)
            };
            if facts.at.is_some_and(is_named) {
                evidence.dated.push((facts.conversation, facts.message));
            }
        }
        let is_wanted = |term: &String| {
            query.terms().any(|wanted| wanted == term)
                || query.prefixes().any(|prefix| term.starts_with(prefix))
        };
        evidence.postings = index
            .into_iter()
            .filter(|(term, _)| is_wanted(term))
            .collect();
        evidence
    }

    fn ask(&self, text: &str) -> Vec<Hit> {
        let query = Query::new(text, "2024-05-15T12:00:00Z".parse().ok());
        self.ranked(&query, &self.evidence(&query))
    }

    fn ranked(&self, query: &Query, evidence: &Evidence) -> Vec<Hit> {
        let weights = RecallWeights::default();
        let found = candidates(query, evidence, &weights, 100);
        let facts: Vec<MessageFacts> = self
            .messages
            .iter()
            .map(|(facts, _)| facts.clone())
            .collect();
        rank(query, found, &facts, &weights)
    }

    /// The message that ranks first.
    fn first(&self, text: &str) -> Option<u32> {
        self.ask(text).first().map(|hit| hit.message)
    }
}

#[test]
fn x04_words_are_found_in_any_form() {
    let memory = Memory::of(&[
        "The weather is fine today.",
        "I went hiking with the children near two lakes.",
        "My sister works as a nurse in Lisbon.",
    ]);
    assert_eq!(
        memory.first("Where did we go for a hike with the child?"),
        Some(1)
    );
    assert_eq!(memory.first("What work do my sisters do?"), Some(2));
    assert_eq!(memory.ask("volcano"), []);
}

#[test]
fn x04_languages_and_scripts_are_found() {
    for (said, asked) in [
        (
            "Meine Schwester hat zwei alte Häuser in Köln gekauft.",
            "Welches Haus hat die Schwester?",
        ),
        (
            "Nous avons visité les châteaux de la Loire.",
            "Quel château avons-nous visité ?",
        ),
        ("Nous avons visité les châteaux de la Loire.", "chateaux"),
        (
            "Mis hermanas viven en Sevilla con sus perros.",
            "¿Dónde vive mi hermana?",
        ),
        (
            "Мы купили новую машину в Казани.",
            "Какую машину мы купили?",
        ),
        ("我昨天在上海买了一辆自行车。", "自行车在哪里买的？"),
        ("我养了一只猫。", "猫"),
        ("来週、京都で友達に会います。", "京都の友達"),
        ("제주도에서 자전거를 탔어요.", "자전거 여행"),
        ("ฉันชอบกินข้าวผัดกุ้ง", "ข้าวผัด"),
        ("Mieszkam w Krakowie z moimi kotami.", "koty"),
        ("The concert was great 🎸", "🎸"),
        ("I rewrote it in C++ last week.", "what about C++"),
    ] {
        let memory = Memory::of(&[
            "Nothing to see here.",
            "Rien ici, rien là.",
            said,
            "Das ist nichts.",
        ]);
        assert_eq!(memory.first(asked), Some(2), "{asked}");
    }
}

#[test]
fn x04_any_language_is_asked_for_in_a_word() {
    let said = "Unsere Wohnungen in Hamburg sind alle vermietet.";
    let memory = Memory::of(&["The house is small.", said]);
    // A word alone shows no language.
    assert_eq!(memory.first("Wohnung"), Some(1));
    assert_eq!(memory.first("What about the Hamburg flat?"), Some(1));
}

proptest! {
    #[test]
    fn x04_no_text_makes_recall_fail(texts in prop::collection::vec(any::<String>(), 0..5), asked in any::<String>()) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for text in &texts {
            let analysis = analyse(text);
            let mut end = 0;
            for passage in &analysis.passages {
                prop_assert_eq!(passage.start, end);
                prop_assert!(text.get(passage.start as usize..passage.end as usize).is_some());
                prop_assert!(passage.terms.is_sorted());
                end = passage.end;
            }
            prop_assert_eq!(end as usize, text.len());
        }
        let memory = Memory::of(&texts);
        for hit in memory.ask(&asked) {
            prop_assert_eq!(hit.score, hit.parts.iter().map(|part| part.value).sum::<i64>());
        }
    }

    #[test]
    fn x04_the_order_of_postings_does_not_matter(
        texts in prop::collection::vec("([a-e]{1,2} ){1,120}[a-e][.?]", 1..12),
        asked in "([a-e]{1,2} ){1,8}",
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let memory = Memory::of(&texts);
        let query = Query::new(&asked, None);
        let evidence = memory.evidence(&query);
        let mut turned = evidence.clone();
        for postings in turned.postings.values_mut() {
            postings.reverse();
        }
        prop_assert_eq!(memory.ranked(&query, &evidence), memory.ranked(&query, &turned));
    }
}
