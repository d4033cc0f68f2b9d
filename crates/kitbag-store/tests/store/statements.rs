//! Facts that are drawn from talk: they carry their message, and the latest statement wins.

use kitbag_core::role::Role;
use kitbag_store::{
    Fact, FactsFromTalk, Forget, Import, ImportBatch, Incoming, MemoryRequest, NewFact, NewMessage,
    RecallRequest, Recalled, Store,
};

use crate::on_both;
use crate::place::second;

on_both! {
    x12_facts_are_drawn_from_what_a_person_states
    x12_the_statement_that_was_said_last_holds_in_whatever_order_it_arrives
    x12_a_forgotten_statement_gives_way_to_the_one_before
    x12_a_later_statement_replaces_what_was_told_and_an_earlier_one_does_not
    x12_the_latest_statement_ranks_first_and_the_older_is_outdated
    x12_each_speaker_has_facts_of_their_own
    x12_a_drawn_fact_replaces_a_told_one_on_its_own_channel_alone
    x12_a_value_that_is_told_confirms_what_was_drawn
    x12_an_older_fact_of_an_import_leaves_the_newer_one
    x12_a_forgotten_fact_is_not_drawn_from_the_same_words_again
    x12_a_told_fact_outdates_what_was_said_before
    x12_a_value_that_is_taken_back_no_longer_holds
    x12_a_value_taken_back_on_one_channel_leaves_those_of_others
    x12_what_is_known_about_me_is_asked_in_eight_languages
    x12_a_fact_that_is_asked_for_is_found_behind_hundreds_of_later_ones
    x12_a_change_that_is_told_in_other_words_ranks_above_what_it_outdates
    x12_a_change_that_stands_in_the_prompt_marks_what_it_outdates
    x12_a_message_with_a_secret_outdates_nothing_while_it_is_answered
    x12_a_change_about_something_else_outdates_nothing
    x12_what_was_so_before_ranks_below_what_is_so
}

fn said(reference: &str, text: &str, at: i64) -> Import {
    let message = NewMessage::from(text)
        .at(second(at))
        .with_reference(reference);
    Import::new("chat", "ann", Some("talk".to_owned()), message)
}

async fn current(store: &Store) -> Vec<(String, String)> {
    let facts = store.facts("ann", 99).await.unwrap();
    let pair = |fact: Fact| (fact.key, fact.value);
    facts.into_iter().map(pair).collect()
}

fn pair(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

async fn x12_facts_are_drawn_from_what_a_person_states(store: Store) {
    let incoming = Incoming::new(
        "chat",
        "ann",
        "I live in Porto, and I am allergic to peanuts.",
    );
    let turn = store.accept(&incoming, second(1)).await.unwrap();
    let facts = store.facts("ann", 9).await.unwrap();
    assert_eq!(facts.len(), 2);
    assert!(
        facts
            .iter()
            .all(|fact| fact.drawn && fact.source == Some(turn.message))
    );
    assert_eq!(
        (facts[1].value.as_str(), facts[1].since),
        ("Porto", second(1))
    );

    let others = [
        NewMessage::new(Role::Assistant, "I live in Faro."),
        NewMessage::new(Role::System, "I live in Faro."),
        NewMessage::from("I live in Faro.").not_recallable(),
        NewMessage::from("> I live in Faro."),
        NewMessage::from("Do I live in Faro?"),
        NewMessage::from("If only I lived in Faro. She said: \"I live in Faro.\""),
    ];
    let others = others.map(|message| Import::new("chat", "ann", None, message.at(second(2))));
    store.import(others.into(), second(2)).await.unwrap();
    assert_eq!(current(&store).await[1], pair("home", "Porto"));

    let ignoring = store.with_facts_from_talk(FactsFromTalk::Ignore);
    let moved = said("a", "I moved to Faro.", 3);
    ignoring.import(vec![moved], second(3)).await.unwrap();
    assert_eq!(current(&store).await[1], pair("home", "Porto"));
}

async fn x12_the_statement_that_was_said_last_holds_in_whatever_order_it_arrives(store: Store) {
    let lines = || {
        vec![
            said("c", "I moved to Lisbon last week.", 30),
            said("a", "I live in Porto.", 10),
            said("b", "I moved to Faro.", 20),
        ]
    };
    store.import(lines(), second(40)).await.unwrap();
    store.import(lines(), second(41)).await.unwrap();
    assert_eq!(current(&store).await, [pair("home", "Lisbon")]);
    let history = store.fact_history("ann", None, 9).await.unwrap();
    let history: Vec<_> = history
        .iter()
        .map(|fact| (fact.value.as_str(), fact.since, fact.until))
        .collect();
    assert_eq!(
        history,
        [
            ("Porto", second(10), Some(second(20))),
            ("Faro", second(20), Some(second(30))),
            ("Lisbon", second(30), None),
        ]
    );
}

async fn x12_a_forgotten_statement_gives_way_to_the_one_before(store: Store) {
    let lines = vec![
        said("a", "I live in Porto.", 10),
        said("b", "I live in Porto.", 15),
        said("c", "I moved to Faro.", 20),
    ];
    store.import(lines, second(40)).await.unwrap();
    let latest = store
        .facts("ann", 9)
        .await
        .unwrap()
        .remove(0)
        .source
        .unwrap();
    store.forget(Forget::Message(latest)).await.unwrap();
    assert_eq!(current(&store).await, [pair("home", "Porto")]);
    let first = store
        .facts("ann", 9)
        .await
        .unwrap()
        .remove(0)
        .source
        .unwrap();
    store.forget(Forget::Message(first)).await.unwrap();
    let facts = store.facts("ann", 9).await.unwrap();
    assert_eq!(
        (facts[0].value.as_str(), facts[0].since),
        ("Porto", second(15))
    );
}

async fn x12_a_later_statement_replaces_what_was_told_and_an_earlier_one_does_not(store: Store) {
    let told = vec![NewFact::new("home", "Porto")];
    store.set_facts("ann", told, second(20)).await.unwrap();
    let earlier = said("a", "I live in Faro.", 10);
    store.import(vec![earlier], second(40)).await.unwrap();
    assert_eq!(current(&store).await, [pair("home", "Porto")]);
    let later = said("b", "I moved to Lisbon.", 30);
    store.import(vec![later], second(40)).await.unwrap();
    assert_eq!(current(&store).await, [pair("home", "Lisbon")]);
}

async fn x12_the_latest_statement_ranks_first_and_the_older_is_outdated(store: Store) {
    let mut lines = vec![said("old", "I live in Porto, in a small flat.", 10)];
    lines.extend((0..20).map(|n| said(&format!("f{n}"), "The soup was good today.", 11 + n)));
    lines.push(said("new", "I moved to Lisbon last week.", 40));
    store.import(lines, second(50)).await.unwrap();
    for query in ["Where do I live?", "Wo wohne ich?", "我住在哪里？"] {
        let request = RecallRequest::new("ann", query);
        let found = store.recall(&request).await.unwrap();
        assert_eq!(
            found[0].message.reference.as_deref(),
            Some("new"),
            "{query}"
        );
        let old = found
            .iter()
            .find(|hit| hit.message.reference.as_deref() == Some("old"));
        if let Some(old) = old {
            let later = old.outdated_by.unwrap();
            assert_eq!(
                (later.id, later.at),
                (Some(found[0].message.id), found[0].message.at)
            );
        }
        let facts = store.recall_facts(&request).await.unwrap();
        assert_eq!(facts[0].fact.value, "Lisbon");
        let from = facts[0].message.as_ref().unwrap();
        assert_eq!(from.reference.as_deref(), Some("new"));
    }
    let all = RecallRequest::new("ann", "What do you know about me?");
    assert_eq!(store.recall_facts(&all).await.unwrap().len(), 1);
    let other = RecallRequest::new("ann", "How was the soup?");
    assert!(store.recall_facts(&other).await.unwrap().is_empty());
}

async fn x12_each_speaker_has_facts_of_their_own(store: Store) {
    let by = |name: &str, text: &str| {
        let message = NewMessage::from(text).with_speaker(name).at(second(1));
        Import::new("chat", "ann", None, message)
    };
    let lines = vec![by("ann", "I live in Porto."), by("Bob", "I live in Faro.")];
    store.import(lines, second(2)).await.unwrap();
    let facts = store.facts("ann", 9).await.unwrap();
    let facts: Vec<_> = facts
        .iter()
        .map(|fact| {
            (
                fact.key.as_str(),
                fact.value.as_str(),
                fact.speaker.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        facts,
        [("Bob/home", "Faro", Some("Bob")), ("home", "Porto", None)]
    );
    let asked = async |query: &str| {
        let facts = store
            .recall_facts(&RecallRequest::new("ann", query))
            .await
            .unwrap();
        facts
            .into_iter()
            .map(|found| found.fact.value)
            .collect::<Vec<_>>()
    };
    assert_eq!(asked("Where do I live?").await, ["Porto"]);
    assert_eq!(asked("Where does Bob live?").await, ["Faro", "Porto"]);
}

/// The values of `home` that prompts on two channels see.
async fn homes(store: &Store) -> [Vec<String>; 2] {
    let on = async |channel: &str| {
        let incoming = Incoming::new(channel, "ann", "Hello!");
        let request = MemoryRequest::new(incoming, second(99));
        let id = store.read_conversation(&request).await.unwrap().id;
        let known = store.recollect(&request, id, Vec::new()).await;
        let homes = known.facts.into_iter().filter(|fact| fact.key == "home");
        homes.map(|fact| fact.value).collect()
    };
    [on("chat").await, on("mail").await]
}

async fn x12_a_drawn_fact_replaces_a_told_one_on_its_own_channel_alone(store: Store) {
    let told = vec![NewFact::new("home", "Porto")];
    store.set_facts("ann", told, second(10)).await.unwrap();
    let moved = said("a", "I moved to Lisbon.", 20);
    store.import(vec![moved], second(20)).await.unwrap();
    let other = Import::new(
        "mail",
        "ann",
        None,
        NewMessage::from("Hello!").at(second(21)),
    );
    store.import(vec![other], second(21)).await.unwrap();
    assert_eq!(homes(&store).await, [["Lisbon"], ["Porto"]]);
    assert_eq!(current(&store).await, [pair("home", "Lisbon")]);

    let told = vec![NewFact::new("home", "Porto")];
    store.set_facts("ann", told, second(30)).await.unwrap();
    assert_eq!(homes(&store).await, [["Porto"], ["Porto"]]);
    assert!(store.check().await.unwrap().is_empty());

    assert!(store.unset_fact("ann", "home", second(40)).await.unwrap());
    assert_eq!(homes(&store).await, [Vec::<String>::new(), Vec::new()]);
}

async fn x12_a_value_that_is_told_confirms_what_was_drawn(store: Store) {
    let lives = said("a", "I live in Porto.", 10);
    store.import(vec![lives], second(10)).await.unwrap();
    assert_eq!(homes(&store).await, [vec!["Porto"], vec![]]);
    let told = vec![NewFact::new("home", "Porto")];
    store
        .set_facts("ann", told.clone(), second(20))
        .await
        .unwrap();
    store.set_facts("ann", told, second(30)).await.unwrap();
    let facts = store.facts("ann", 9).await.unwrap();
    assert_eq!((facts[0].drawn, facts[0].since), (false, second(20)));
    assert_eq!(homes(&store).await, [["Porto"], ["Porto"]]);
}

async fn x12_an_older_fact_of_an_import_leaves_the_newer_one(store: Store) {
    let line = |reference: &str, value: &str, at: i64| {
        let mut line = said(reference, "Hello!", at);
        line.facts.push(NewFact::new("home", value));
        line
    };
    let newer = store.import(vec![line("b", "Faro", 20)], second(30)).await;
    assert_eq!(newer.unwrap().facts, 1);
    let older = vec![line("a", "Porto", 10), line("b", "Faro", 20)];
    let older = store.import(older, second(40)).await.unwrap();
    assert_eq!(older.facts, 1);
    assert_eq!(current(&store).await, [pair("home", "Faro")]);
    let history = store.fact_history("ann", Some("home"), 9).await.unwrap();
    let ends: Vec<_> = history.iter().map(|fact| fact.until).collect();
    assert_eq!(ends, [Some(second(20)), None]);
}

async fn x12_a_forgotten_fact_is_not_drawn_from_the_same_words_again(store: Store) {
    let lines = |reference: &str| vec![said(reference, "I live in Porto.", 10)];
    store.import(lines("a"), second(10)).await.unwrap();
    let (sender, key) = ("ann".to_owned(), "home".to_owned());
    store.forget(Forget::Fact { sender, key }).await.unwrap();
    store.import(lines("b"), second(20)).await.unwrap();
    assert_eq!(current(&store).await, []);
    let batch = ImportBatch::new(lines("c")).unwrap().restoring_forgotten();
    store.import_batch(batch, second(30)).await.unwrap();
    assert_eq!(current(&store).await, [pair("home", "Porto")]);
}

async fn x12_a_told_fact_outdates_what_was_said_before(store: Store) {
    let lines = vec![
        said("old", "I live in Berlin, in a small flat.", 10),
        said("new", "I live in Porto.", 30),
    ];
    store.import(lines, second(10)).await.unwrap();
    let told = vec![NewFact::new("home", "Porto")];
    store.set_facts("ann", told, second(40)).await.unwrap();
    let request = RecallRequest::new("ann", "Where do I live?");
    let found = store.recall(&request).await.unwrap();
    let later = |reference: &str| {
        let mut found = found.iter();
        let hit = found.find(|hit| hit.message.reference.as_deref() == Some(reference));
        hit.unwrap().outdated_by
    };
    let by = later("old").unwrap();
    assert_eq!((by.id, by.at.unwrap().timestamp()), (None, second(40)));
    assert_eq!(later("new"), None);
}

async fn x12_a_value_that_is_taken_back_no_longer_holds(store: Store) {
    let lines = vec![
        said("c", "I no longer live in Berlin.", 30),
        said("a", "I live in Berlin and I have a dog.", 10),
        said("d", "My dog died.", 31),
    ];
    store.import(lines, second(40)).await.unwrap();
    assert_eq!(current(&store).await, []);
    assert!(store.check().await.unwrap().is_empty());
    let request = RecallRequest::new("ann", "Where do I live?");
    assert_eq!(store.recall_facts(&request).await.unwrap(), []);
    let found = store.recall(&request).await.unwrap();
    assert_eq!(found[0].message.reference.as_deref(), Some("c"));
    let old = found[1].outdated_by.unwrap();
    assert_eq!(old.id, Some(found[0].message.id));
    let history = store.fact_history("ann", Some("home"), 9).await.unwrap();
    let history: Vec<_> = history
        .iter()
        .map(|fact| (&*fact.value, fact.until))
        .collect();
    assert_eq!(history, [("Berlin", Some(second(30)))]);

    // What holds is another value than the one that is taken back.
    let lines = vec![
        said("e", "I moved to Faro.", 40),
        said("f", "I no longer live in Berlin.", 50),
    ];
    store.import(lines, second(60)).await.unwrap();
    assert_eq!(current(&store).await, [pair("home", "Faro")]);

    let told = vec![NewFact::new("home", "Berlin")];
    store.set_facts("ann", told, second(70)).await.unwrap();
    let again = said("g", "I no longer live in Berlin.", 80);
    store.import(vec![again], second(80)).await.unwrap();
    assert_eq!(homes(&store).await, [vec![], vec!["Berlin"]]);
}

async fn x12_a_value_taken_back_on_one_channel_leaves_those_of_others(store: Store) {
    let mailed = NewMessage::from("I live in Faro.").at(second(20));
    let lines = vec![
        said("a", "I live in Porto.", 10),
        Import::new("mail", "ann", None, mailed.with_reference("b")),
        said("c", "I no longer live in Porto.", 30),
    ];
    store.import(lines, second(40)).await.unwrap();
    assert_eq!(homes(&store).await, [vec![], vec!["Faro"]]);
    assert_eq!(current(&store).await, [pair("home", "Faro")]);
    let request = RecallRequest::new("ann", "Where do I live?");
    let found = store.recall(&request).await.unwrap();
    let mut hits = found.iter();
    let mailed = hits.find(|hit| hit.message.reference.as_deref() == Some("b"));
    assert_eq!(mailed.unwrap().outdated_by, None);
}

async fn x12_what_is_known_about_me_is_asked_in_eight_languages(store: Store) {
    let message = NewMessage::from("I live in Porto.")
        .with_speaker("Ann")
        .at(second(1));
    let line = Import::new("chat", "ann", None, message);
    store.import(vec![line], second(2)).await.unwrap();
    for query in [
        "What do you know about me?",
        "Was weißt du über mich?",
        "Que sais-tu de moi ?",
        "¿Qué sabes de mí?",
        "Cosa sai di me?",
        "O que você sabe sobre mim?",
        "Wat weet je over mij?",
        "你知道关于我的什么？",
        "你对我了解多少？",
    ] {
        let facts = store.recall_facts(&RecallRequest::new("ann", query)).await;
        let facts = facts.unwrap();
        assert_eq!(facts.len(), 1, "{query}");
        let said = facts[0].message.as_ref().unwrap();
        assert_eq!(said.message.name.as_deref(), Some("Ann"), "{query}");
    }
}

/// The messages that a query brings, and those of them that are marked as outdated.
async fn recalled(store: &Store, query: &str) -> (Vec<String>, Vec<String>) {
    let hits = store
        .recall(&RecallRequest::new("ann", query))
        .await
        .unwrap();
    let reference = |hit: &Recalled| hit.message.reference.clone().unwrap();
    let outdated = hits.iter().filter(|hit| hit.outdated_by.is_some());
    (
        hits.iter().map(reference).collect(),
        outdated.map(reference).collect(),
    )
}

async fn x12_a_fact_that_is_asked_for_is_found_behind_hundreds_of_later_ones(store: Store) {
    let lives = said("home", "I live in Porto.", 1);
    store.import(vec![lives], second(2)).await.unwrap();
    let facts = (0..600).map(|number| NewFact::new(format!("note/{number}"), "kept"));
    store
        .set_facts("ann", facts.collect(), second(9))
        .await
        .unwrap();
    let request = RecallRequest::new("ann", "Where do I live?");
    for request in [request.clone(), request.on_channel("chat")] {
        let found = store.recall_facts(&request).await.unwrap();
        assert_eq!(found[0].fact.value, "Porto");
    }
    let dog = NewFact::new("pet/rex", "a dog");
    store.set_facts("ann", vec![dog], second(3)).await.unwrap();
    assert_eq!(recalled(&store, "Where do I live?").await.0, ["home"]);
}

async fn x12_a_change_that_is_told_in_other_words_ranks_above_what_it_outdates(store: Store) {
    let lines = vec![
        said("gym", "My gym is FitOne.", 1),
        said("doctor", "My doctor is Dr. Hall.", 2),
        said("billing", "The billing service runs on Postgres.", 3),
        said("rain", "It rains a lot these days.", 4),
        said("left", "I left FitOne, I train at CrossBox now.", 5),
        said(
            "changed",
            "I changed doctors, it's Dr. Patel these days.",
            6,
        ),
        said("migrated", "The billing service runs on MySQL now.", 7),
    ];
    store.import(lines, second(9)).await.unwrap();
    for (query, earlier, later) in [
        ("Which gym do I go to?", "gym", "left"),
        ("Who is my doctor?", "doctor", "changed"),
        (
            "Which database does the billing service use?",
            "billing",
            "migrated",
        ),
    ] {
        let (hits, outdated) = recalled(&store, query).await;
        assert_eq!(hits[0], later, "{query}");
        // That of another change may be a hit, too, and is outdated for any query.
        assert!(outdated.iter().any(|one| one == earlier), "{query}");
    }
}

async fn x12_a_change_that_stands_in_the_prompt_marks_what_it_outdates(store: Store) {
    let lines = vec![
        said("gym", "My gym is FitOne.", 1),
        said("left", "I left FitOne, I train at CrossBox now.", 5),
        said("bees", "A new gym opens near my office.", 6),
    ];
    store.import(lines, second(9)).await.unwrap();
    let query = "Which gym do I go to?";
    let request = RecallRequest::new("ann", query);
    let hits = store.recall(&request).await.unwrap();
    let change = hits[0].message.id;
    assert_eq!(hits[0].message.reference.as_deref(), Some("left"));
    let hits = store.recall(&request.without(vec![change])).await.unwrap();
    assert!(hits.iter().all(|hit| hit.message.id != change));
    let of = |reference: &str, hits: &[Recalled]| {
        let mut hits = hits.iter();
        let hit = hits.find(|hit| hit.message.reference.as_deref() == Some(reference));
        hit.unwrap().clone()
    };
    let outdated = of("gym", &hits).outdated_by.unwrap();
    assert_eq!(outdated.id, Some(change));
    assert_eq!(of("bees", &hits).outdated_by, None);

    // The message that is answered would share all its own words with anything.
    let question = "I have a new question for my doctor.";
    let lines = vec![
        said("doctor", "My doctor is Dr. Hall.", 7),
        said("asked", question, 8),
    ];
    store.import(lines, second(9)).await.unwrap();
    let request = RecallRequest::new("ann", question);
    let hits = store.recall(&request).await.unwrap();
    let asked = of("asked", &hits).message.id;
    let mut request = request.without(vec![asked]);
    request.answering = Some(asked);
    let hits = store.recall(&request).await.unwrap();
    assert_eq!(of("doctor", &hits).outdated_by, None);
}

async fn x12_a_message_with_a_secret_outdates_nothing_while_it_is_answered(store: Store) {
    let lines = vec![said("doctor", "My doctor is Dr. Hall.", 1)];
    store.import(lines, second(2)).await.unwrap();
    // It is stored with a mask, and so differs from what was typed.
    let token = ["ghp", "1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX"].join("_");
    let question = format!("I have a new question for my doctor, with {token}.");
    let incoming = Incoming::new("chat", "ann", question);
    let turn = store.accept(&incoming, second(3)).await.unwrap();
    let mut request = MemoryRequest::new(incoming, second(4));
    request.answering = Some(turn.message);
    let shown = vec![turn.message];
    let known = store.recollect(&request, None, shown).await;
    assert_eq!(known.problems, []);
    let mut hits = known.recalled.iter();
    let doctor = hits.find(|hit| hit.text().contains("Dr. Hall")).unwrap();
    assert_eq!(doctor.outdated_by, None);
}

async fn x12_a_change_about_something_else_outdates_nothing(store: Store) {
    let lines = vec![
        said("met", "I met Clara in Paris.", 1),
        said("nurse", "I work as a nurse.", 2),
        said("left", "I left Paris yesterday.", 3),
        said("works", "The coffee machine at work is broken now.", 4),
        said("wish", "I wish I no longer worked as a nurse.", 5),
        said("home", "I live in Oslo.", 6),
        said("umbrella", "I left my umbrella in Oslo.", 7),
        said("employer", "I work at Siemens.", 8),
        said("smoking", "I quit smoking at work.", 8),
    ];
    store.import(lines, second(9)).await.unwrap();
    for query in [
        "Where did I meet Clara?",
        "What is my job?",
        "Do I work as a nurse?",
        "Where do I live?",
        "Where do I work?",
    ] {
        let (_, outdated) = recalled(&store, query).await;
        assert_eq!(outdated, Vec::<String>::new(), "{query}");
    }
}

async fn x12_what_was_so_before_ranks_below_what_is_so(store: Store) {
    let lines = vec![
        said("now", "I moved to Porto for the sea.", 1),
        said("before", "I used to live in Bonn.", 2),
    ];
    store.import(lines, second(9)).await.unwrap();
    assert_eq!(
        recalled(&store, "Where do I live?").await.0,
        ["now", "before"]
    );
}
