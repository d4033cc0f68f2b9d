//! Messages that mean what a query asks in other words, or the opposite, and who said them.

use super::*;

/// The texts that a query finds, best first.
fn found<'t>(texts: &[&'t str], query: &str) -> Vec<&'t str> {
    let memory = Memory::of(texts);
    let hits = memory.ask(query);
    let text = |hit: &Hit| texts[hit.message as usize];
    hits.iter().map(text).collect()
}

#[test]
fn x04_other_words_for_the_same_thing_find_a_statement() {
    let texts = [
        "The weather is awful again.",
        "We moved to Lisbon in spring.",
        "Could you write a short poem?",
        "I work as a nurse.",
        "Let us see what comes next.",
        "I can't stand horror films.",
        "Good morning!",
    ];
    for (query, statement) in [
        ("Where do I live?", texts[1]),
        ("Wo wohne ich?", texts[1]),
        ("Où est-ce que j'habite ?", texts[1]),
        ("¿Dónde vivo?", texts[1]),
        ("What is my occupation?", texts[3]),
        ("Was ist mein Beruf?", texts[3]),
        ("我的职业是什么？", texts[3]),
        ("Which movies do I hate?", texts[5]),
        ("Quels films est-ce que je déteste ?", texts[5]),
    ] {
        assert_eq!(found(&texts, query).first(), Some(&statement), "{query}");
    }
}

#[test]
fn x04_negation_does_not_put_the_opposite_first() {
    for (query, liked, disliked) in [
        ("What do I not like?", "I like jazz.", "I hate opera."),
        ("What don't I like?", "I like jazz.", "I can't stand opera."),
        (
            "Was gefällt mir nicht?",
            "Mir gefällt Jazz.",
            "Ich hasse Oper.",
        ),
        ("¿Qué no me gusta?", "Me gusta el jazz.", "Odio la ópera."),
        ("我不喜欢什么？", "我喜欢爵士乐。", "我讨厌歌剧。"),
    ] {
        let texts = [liked, "It rains.", "See you tomorrow.", disliked];
        assert_eq!(found(&texts, query).first(), Some(&disliked), "{query}");
    }
    let texts = ["I don't like opera.", "It rains.", "I like jazz."];
    assert_eq!(found(&texts, "What do I like?").first(), Some(&texts[2]));
}

#[test]
fn x04_a_named_speaker_comes_first() {
    let told = |speakers: [(&str, Role); 2], query: &str| {
        let mut memory = Memory::default();
        let texts = ["Sailing is all I love.", "Nothing beats a day of sailing."];
        for ((speaker, role), text) in speakers.into_iter().zip(texts) {
            memory.say(0, role, text).speaker = Some(speaker.into());
        }
        let hits = memory.ask(query);
        let part = |hit: &Hit| {
            let mut parts = hit.score.parts().iter();
            parts.any(|part| part.name == "speaker" && part.value > 0)
        };
        let named: Vec<&str> = hits
            .iter()
            .filter(|hit| part(hit))
            .map(|hit| speakers[hit.message as usize].0)
            .collect();
        named.join(" and ")
    };
    let people = [("María López", Role::User), ("Tom López", Role::User)];
    assert_eq!(told(people, "Does Maria like sailing?"), "María López");
    assert_eq!(told(people, "Is sailing Tom's sport?"), "Tom López");
    assert_eq!(
        told(people, "Is it Marya who likes sailing?"),
        "María López"
    );
    for query in [
        "Who likes sailing?",
        "Do Maria and Tom like sailing?",
        "Does a López like sailing?",
    ] {
        assert_eq!(told(people, query), "", "{query}");
    }
    let one = [("Maria", Role::User), ("Kit", Role::Assistant)];
    assert_eq!(told(one, "Does Maria like sailing?"), "");
    assert_eq!(told(one, "Does Kit like sailing?"), "");
}

#[test]
fn x04_a_question_about_the_assistants_words_finds_them() {
    let mut memory = Memory::default();
    memory.say(0, Role::User, "I need a book about sailing.");
    memory.say(0, Role::Assistant, "For sailing, read the book by Slocum.");
    let first = |query: &str| memory.ask(query)[0].message;
    assert_eq!(
        first("Which book about sailing did you recommend to read?"),
        1
    );
    assert_eq!(first("Which book about sailing did I need?"), 0);
}
