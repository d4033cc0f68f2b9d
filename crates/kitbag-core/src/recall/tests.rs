//! Recall from end to end, with a store made of maps.

use alloc::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::role::Role;

mod change;
mod meaning;

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
                        by_person: facts.role == Role::User,
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
        rank(query, found, &facts, &weights, usize::MAX)
    }

    /// The message that ranks first.
    fn first(&self, text: &str) -> Option<u32> {
        self.ask(text).first().map(|hit| hit.message)
    }
}

#[test]
fn x04_an_assistant_hands_less_of_its_words_to_its_neighbours() {
    let words_after = |role| {
        let mut memory = Memory::default();
        memory.say(0, role, "Tomatoes and basil grow on a sunny balcony.");
        memory.say(0, Role::User, "Thank you!");
        let query = Query::new("tomatoes and basil", None);
        let found = candidates(
            &query,
            &memory.evidence(&query),
            &RecallWeights::default(),
            10,
        );
        let next = found.iter().find(|candidate| candidate.message == 1);
        next.map(|candidate| (candidate.words, candidate.words_as_reply))
            .unwrap()
    };
    let person = words_after(Role::User);
    let (words, as_reply) = words_after(Role::Assistant);
    assert!(0 < words && 0 < as_reply);
    assert!(2 * words < person.0 && 2 * as_reply < person.1);
    assert_eq!(words_after(Role::Tool), (words, as_reply));
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
fn x04_a_word_that_is_grammar_elsewhere_is_found() {
    // `cat` is a stop word of Romanian, without its accent.
    let memory = Memory::of(&["Cat pictures", "Dogs bark.", "The cat is ill."]);
    assert!(memory.first("cat").is_some());
    assert_eq!(memory.first("cat pictures"), Some(0));
    assert_eq!(memory.first("cat ill"), Some(2));
}

#[test]
fn x04_any_language_is_asked_for_in_a_word() {
    let said = "Unsere Wohnungen in Hamburg sind alle vermietet.";
    let memory = Memory::of(&["The house is small.", said]);
    // A word alone shows no language.
    assert_eq!(memory.first("Wohnung"), Some(1));
    assert_eq!(memory.first("What about the Hamburg flat?"), Some(1));
    let memory = Memory::of(&[
        "The house is small.",
        "Das alte Haus haben wir nicht verkauft.",
    ]);
    assert_eq!(memory.first("What did I say about the Häuser?"), Some(1));
}

/// A long answer that has nothing to do with anything that is asked here.
fn long_answer(inside: &str) -> String {
    let filler = "There are several things to consider before choosing a suitable approach. ";
    format!("{}{inside} {}", filler.repeat(40), filler.repeat(40))
}

#[test]
fn x04_mixed_languages_are_read_passage_by_passage() {
    let mut text = "The meeting was about the new offices that we want to rent. ".repeat(10);
    text.push_str(
        &"Wir haben danach über die alten Häuser gesprochen, die uns gehören. ".repeat(10),
    );
    let memory = Memory::of(&["Hello!", &text]);
    for asked in [
        "Welches Haus war das?",
        "Which office was that?",
        "Haus",
        "offices",
    ] {
        assert_eq!(memory.first(asked), Some(1), "{asked}");
    }
}

fn part_of<'t>(text: &'t str, passage: &PassageTerms) -> &'t str {
    text.get(passage.start as usize..passage.end as usize)
        .unwrap()
}

#[test]
fn x04_long_messages_are_cut_between_sentences() {
    let text = long_answer("The spare key is under the blue flowerpot.");
    let analysis = analyse(&text);
    assert!(analysis.passages.len() > 5);
    for passage in &analysis.passages {
        let part = part_of(&text, passage);
        assert!(part.trim_end().ends_with('.'), "{part}");
        assert!(passage.words <= 75 && passage.words > 10);
    }
    let memory = Memory::of(&["Good morning!", &text]);
    let hit = &memory.ask("Where is the spare key?")[0];
    let passage = &analysis.passages[usize::from(hit.passage)];
    let part = part_of(&text, passage);
    assert!(part.contains("under the blue flowerpot"), "{part}");
}

#[test]
fn x04_text_without_sentences_is_cut_at_words() {
    for text in ["ein wort ".repeat(300), "猫".repeat(500), "x".repeat(5000)] {
        let analysis = analyse(&text);
        assert!(
            analysis.passages.iter().all(|passage| passage.words <= 75),
            "{text:.10}"
        );
    }
    let empty = analyse("");
    assert_eq!((empty.passages.len(), empty.words()), (1, 0));
}

#[test]
fn x04_long_answers_stand_behind_what_a_person_said() {
    let mut memory = Memory::default();
    memory.say(
        0,
        Role::User,
        "I planted tomatoes and basil on the balcony.",
    );
    memory.say(
        0,
        Role::Assistant,
        &long_answer("Tomatoes and basil on a balcony need much water."),
    );
    memory.say(1, Role::User, "Thank you!");
    let hits = memory.ask("What grows on the balcony, tomatoes or basil?");
    assert_eq!((hits[0].conversation, hits[0].message), (0, 0));
    let of_answer = hits
        .iter()
        .find(|hit| hit.message == 1 && hit.conversation == 0)
        .unwrap();
    for name in ["role", "length"] {
        let part = of_answer
            .score
            .parts()
            .iter()
            .find(|part| part.name == name)
            .unwrap();
        assert!(part.value < 0, "{name}");
    }
}

#[test]
fn x04_neighbours_lend_their_words() {
    let mut memory = Memory::of(&["The train was late again.", "I paid the bill."]);
    memory.say(1, Role::User, "Which instrument did your brother learn?");
    memory.say(1, Role::User, "The cello, since he was six.");
    memory.say(1, Role::User, "I see.");
    let hits = memory.ask("Which instrument does the brother play?");
    let answer = hits
        .iter()
        .find(|hit| (hit.conversation, hit.message) == (1, 1))
        .unwrap();
    insta::assert_snapshot!(shown(answer), @"1/1 1254: words 900, conversation 300, reply 50, recency 4");
    assert!(hits.iter().all(|hit| hit.conversation == 1));
}

fn shown(hit: &Hit) -> String {
    let part = |part: &crate::rank::ScorePart| format!("{} {}", part.name, part.value);
    let parts: Vec<String> = hit.score.parts().iter().map(part).collect();
    format!(
        "{}/{} {}: {}",
        hit.conversation,
        hit.message,
        hit.score.total(),
        parts.join(", ")
    )
}

#[test]
fn x04_the_days_of_a_query_are_found_without_its_words() {
    let mut memory = Memory::default();
    for (text, at) in [
        ("Dinner with Ana was lovely.", "2024-05-03T19:00:00Z"),
        ("The car is at the garage.", "2024-05-14T09:00:00Z"),
        ("Long talk about rent.", "2024-04-02T09:00:00Z"),
    ] {
        memory.say(0, Role::User, text).at = at.parse().ok();
    }
    assert_eq!(memory.first("What happened yesterday?"), Some(1));
    assert_eq!(memory.first("Who was there on May 3?"), Some(0));
    let hit = &memory.ask("What happened yesterday?")[0];
    assert!(
        hit.score
            .parts()
            .iter()
            .any(|part| part.name == "day" && part.value == 1000)
    );
}

#[test]
fn x04_words_that_mean_nearly_the_same_are_found() {
    let memory = Memory::of(&["She felt unwell.", "The paint is dry."]);
    assert_eq!(memory.first("ill"), None);
    let now = "2024-05-15T12:00:00Z".parse().ok();
    let mut query = Query::new("Who was ill on May 3?", now);
    query.add_near(|words| {
        assert_eq!(words, ["ill"]);
        Vec::from([Vec::from([("unwell".to_owned(), 900)])])
    });
    let hits = memory.ranked(&query, &memory.evidence(&query));
    let found: Vec<u32> = hits.iter().map(|hit| hit.message).collect();
    assert_eq!(found.first(), Some(&0), "{hits:?}");
}

#[test]
fn x04_every_term_of_a_query_is_wanted() {
    let mut query = Query::new("What is my occupation, and wo wohne ich?", None);
    query.add_near(|words| {
        words
            .iter()
            .map(|_| vec![("mestiere".to_owned(), 700)])
            .collect()
    });
    let terms: Vec<&str> = query.terms().collect();
    assert!(terms.contains(&"job"), "{terms:?}");
    for term in terms {
        assert!(query.wants(term), "{term}");
    }
    assert!(!query.wants("rain"));
}

#[test]
fn x04_misspelled_words_are_found() {
    let memory = Memory::of(&["The guitar by the window is broken.", "We stayed at home."]);
    assert_eq!(memory.first("guittar"), Some(0));
}

#[test]
fn x04_near_duplicates_are_listed_with_the_best() {
    let said =
        "Please remind me to water the plants on Friday, and to call my sister about the party.";
    let again =
        "please remind me to water the plants on friday and to call my sister about the party!!";
    let other = "Please remind me to water the plants at 9, and to call my sister about the party.";
    let memory = Memory::of(&[said, "Yes.", again, other]);
    let hits = memory.ask("water the plants");
    let same = hits.iter().find(|hit| !hit.duplicates.is_empty()).unwrap();
    assert_eq!(same.duplicates.len(), 1);
    let mut pair = [same.message, same.duplicates[0].1];
    pair.sort_unstable();
    assert_eq!(pair, [0, 2]);
    assert!(hits.iter().any(|hit| hit.message == 3));
}

#[test]
fn x04_what_is_in_the_prompt_is_left_out() {
    let mut memory = Memory::of(&["I have two cats and an old parrot.", "Fine weather."]);
    memory
        .say(0, Role::User, "I have two cats and an old parrot")
        .in_prompt = true;
    let hits = memory.ask("cats and parrots");
    assert!(hits.iter().all(|hit| hit.message == 1), "{hits:?}");
}

#[test]
fn x04_what_is_remembered_and_new_counts_more() {
    let mut memory = Memory::of(&[
        "My favourite tea is green.",
        "Fine weather.",
        "Yes.",
        "No.",
        "So.",
    ]);
    memory.say(1, Role::User, "My favourite tea is black.");
    assert_eq!(memory.ask("favourite tea")[0].conversation, 1);
    memory.messages[0].0.remembered = 1;
    assert_eq!(memory.ask("favourite tea")[0].conversation, 0);
}

#[test]
fn x04_a_likeness_counts_where_a_model_gives_one() {
    let mut memory = Memory::of(&["My favourite tea is green."]);
    memory.say(1, Role::User, "My favourite tea is black.");
    let meaning = |hit: &Hit| {
        let part = hit.score.parts().iter().find(|part| part.name == "meaning");
        part.map(|part| part.value)
    };
    let without = memory.ask("favourite tea");
    assert_eq!(without[0].conversation, 1);
    assert!(without.iter().all(|hit| meaning(hit).is_none()));
    memory.messages[0].0.likeness = Some(500);
    memory.messages[1].0.likeness = Some(-100);
    let with = memory.ask("favourite tea");
    assert_eq!(with[0].conversation, 0);
    assert_eq!(meaning(&with[0]), Some(650));
    assert_eq!(meaning(&with[1]), Some(-130));
}

#[test]
fn x04_a_long_query_is_read_at_both_ends() {
    let middle: String = (0..500).map(|number| format!("word{number} ")).collect();
    let query = Query::new(&format!("giraffe {middle} elephant"), None);
    let terms: Vec<&str> = query.terms().collect();
    assert!(terms.len() <= 64 * 16);
    assert!(
        terms.contains(&"giraff") && terms.contains(&"eleph"),
        "{terms:?}"
    );
}

proptest! {
    #[test]
    fn x04_words_that_come_again_are_analysed_alike(
        texts in prop::collection::vec("([a-z]{1,4}|häuser|going|книги|猫です|the|und|l'été)( [a-z]{1,3}| der| running){0,30}", 1..40)
    ) {
        let mut analyser = Analyser::new();
        for text in &texts {
            prop_assert_eq!(analyser.analyse(text), analyse(text));
        }
    }

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
            prop_assert!(hit.score.parts().iter().all(|part| part.value != 0));
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
