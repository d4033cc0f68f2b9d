//! Conversations that end: by a word, by silence, with a model that may not help.

use kitbag::command::Ended;
use kitbag::core::tokens::TokenCounter as _;
use kitbag::learn::{Learning, Lessons};
use kitbag::store::{ConversationId, FactsFromTalk, SummaryMaker};
use serde_json::{Value, json};

use super::*;

const SUMMARY: &str = "The user logs ferries to the island; the wind came from the north and the harbour \
was crowded.";

/// Talks for a while, ends the conversation, and learns from it.
async fn learned(engine: &Engine) -> (ConversationId, Lessons) {
    let mut incoming = says("");
    for number in 0..4 {
        let text = match number {
            0 => "I sail a red dinghy.".to_owned(),
            _ => chatter(number),
        };
        ask(engine, says(&text)).await;
        later(10);
    }
    match engine.end_conversation(&mut incoming).await.unwrap() {
        Ended::Closed(id) => (id, engine.learn_from(id).await),
        other => panic!("{other:?}"),
    }
}

fn script(summary: Value, facts: Value) -> [Value; 3] {
    let with = |mut answer: Value, when: &str| {
        answer["when"] = when.into();
        answer
    };
    [
        with(summary, "Summarise the conversation"),
        with(facts, "List lasting facts"),
        json!({"text": "Noted.", "usage": {"input": 10, "output": 1}}),
    ]
}

#[test]
fn o09_a_closed_conversation_is_summarised_and_its_facts_are_in_the_next_prompt() {
    Place::run(async |place| {
        let found = facts(&[("boat", "red dinghy", 1, "I sail a red dinghy")]);
        let usage = json!({"input": 400, "output": 20});
        let engine = place.scripted(&script(
            json!({"text": SUMMARY, "usage": usage}),
            json!({"text": format!("```json\n{found}\n```"), "usage": usage}),
        ));
        let (id, lessons) = learned(&engine).await;
        assert_eq!(lessons.problems, []);
        assert_eq!(lessons.summary.as_deref(), Some(SUMMARY));
        let purposes = lessons.inferences.iter().map(|one| one.purpose.as_deref());
        assert_eq!(
            purposes.collect::<Vec<_>>(),
            [Some("summary"), Some("facts")]
        );

        let store = &place.store;
        let summaries = store.summaries("cli", "ann", 9).await.unwrap();
        assert_eq!(summaries.len(), 1);
        assert_eq!(summaries[0].by, SummaryMaker::Model);
        let known = store.facts("ann", 9).await.unwrap();
        let known: Vec<_> = known
            .iter()
            .map(|fact| (&*fact.key, &*fact.value))
            .collect();
        assert_eq!(known, [("boat", "red dinghy")]);
        let source = store.facts("ann", 9).await.unwrap()[0].source;
        assert_eq!(source.unwrap().to_string(), format!("{id}#1"));
        // What it cost stands with the last turn of the conversation.
        let turn = format!("{id}.4").parse().unwrap();
        let record = store.turn(turn).await.unwrap().record;
        assert_eq!(record.inferences.len(), 3);
        assert_eq!(record.stages.last().unwrap().stage, "learn");

        let again = place.scripted(&[json!({"text": "Beans."})]);
        let answer = ask(&again, says("What shall I cook?")).await;
        let body = answer.prompt.composed.body().into_owned();
        assert!(body.contains("boat: red dinghy"), "{body}");
        assert!(body.contains(SUMMARY), "{body}");
    });
}

#[test]
fn o09_an_answer_that_cannot_be_used_leaves_the_rules_summary_and_is_asked_for_once() {
    let long = "ferry island ".repeat(300);
    let answers: [(Value, &str); 8] = [
        (json!({"error": "out of order"}), "out of order"),
        (json!({"text": "The ferry", "cut": true}), "ends here"),
        (
            json!({"text": "The ferry", "stop": "max_tokens"}),
            "max_tokens",
        ),
        (json!({"text": "The ferry", "stop": "refusal"}), "refusal"),
        (json!({"text": "  "}), "empty"),
        (json!({"text": long}), "tokens but may have"),
        (
            json!({"text": "I am sorry, this request cannot be fulfilled."}),
            "not about",
        ),
        (json!({"raw": "data: <html>\n\n"}), "an event is not JSON"),
    ];
    for (answer, problem) in answers {
        Place::run(async |place| {
            let nonsense = json!({"text": "{\"facts\": \"many\"}"});
            let engine = place.scripted(&script(answer.clone(), nonsense));
            let (_, lessons) = learned(&engine).await;
            assert_eq!(lessons.inferences.len(), 2, "{answer}");
            assert_eq!(
                (lessons.summary, lessons.facts.len()),
                (None, 0),
                "{answer}"
            );
            let told: Vec<String> = lessons.problems.iter().map(ToString::to_string).collect();
            assert_eq!(told.len(), 2, "{told:?}");
            assert!(told[0].contains(problem), "{told:?}");
            let summaries = place.store.summaries("cli", "ann", 9).await.unwrap();
            assert_eq!(summaries.len(), 1);
            assert_eq!(summaries[0].by, SummaryMaker::Rules);
            assert!(
                summaries[0].text.contains("dinghy"),
                "{}",
                summaries[0].text
            );
        });
    }
}

#[test]
fn o09_a_conversation_that_goes_on_while_it_is_summarised_keeps_nothing_of_that() {
    Place::run(async |place| {
        let talk = says("").in_conversation("log");
        let engine = place.scripted(&script(json!({"text": SUMMARY}), json!({"text": "{}"})));
        for number in 0..3 {
            let mut said = talk.clone();
            said.message = chatter(number).as_str().into();
            ask(&engine, said).await;
        }
        let id: ConversationId = "1.1".parse().unwrap();
        let closing = place.store.closing(id).await.unwrap();
        let closed = place
            .store
            .close(closing, Tokens(200), &*crate::COUNTER, now());
        closed.await.unwrap();

        let (store, incoming) = (
            place.store.clone(),
            says("One more.").in_conversation("log"),
        );
        let intruder = Recorder::new(move |asked| {
            if asked.contains("Summarise") {
                later(5);
                // On its own thread, since this one is at work.
                let (store, incoming, at) = (store.clone(), incoming.clone(), now());
                let said = std::thread::spawn(move || {
                    pollster::block_on(store.accept(&incoming, at)).unwrap();
                });
                said.join().unwrap();
            }
            SUMMARY.to_owned()
        });
        let engine = place.builder().provider(intruder).build().unwrap();
        let lessons = engine.learn_from(id).await;
        assert_eq!((lessons.summary, lessons.facts.len()), (None, 0));
        let told: Vec<String> = lessons.problems.iter().map(ToString::to_string).collect();
        assert!(
            told.iter().any(|one| one.contains("has gone on")),
            "{told:?}"
        );
        let summaries = place.store.summaries("cli", "ann", 9).await.unwrap();
        assert_eq!(summaries[0].by, SummaryMaker::Rules);
        let messages = place.store.messages(id, 9).await.unwrap();
        assert_eq!(messages.last().unwrap().text(), "One more.");
    });
}

#[test]
fn o09_a_conversation_that_ended_by_silence_is_summarised_after_the_next_reply() {
    Place::run(async |place| {
        let found = facts(&[("boat", "red dinghy", 1, "I sail a red dinghy")]);
        let engine = place.scripted(&script(json!({"text": SUMMARY}), json!({"text": found})));
        ask(&engine, says("I sail a red dinghy.")).await;
        for number in 0..3 {
            ask(&engine, says(&chatter(number))).await;
        }
        later(3_600);
        let answer = ask(&engine, says("Good morning.")).await;
        assert_eq!(place.store.summaries("cli", "ann", 9).await.unwrap(), []);
        let lessons = learn(&engine, &answer).await;
        assert_eq!(lessons.closed.unwrap().to_string(), "1.1");
        assert_eq!(lessons.summary.as_deref(), Some(SUMMARY));
        assert_eq!(lessons.facts.len(), 1);
        // The second turn finds nothing more to learn.
        let answer = ask(&engine, says("And now?")).await;
        let body = answer.prompt.composed.body().into_owned();
        assert!(body.contains(SUMMARY), "{body}");
        let lessons = learn(&engine, &answer).await;
        assert!(lessons.is_empty(), "{lessons:?}");
    });
}

#[test]
fn o09_a_conversation_that_ended_by_silence_is_learned_from_though_the_next_one_began_with_a_failure()
 {
    Place::run(async |place| {
        let found = facts(&[("boat", "red dinghy", 1, "I sail a red dinghy")]);
        // What failed stays before what is said next.
        let mut answers = vec![
            json!({"when": "Good morning", "text": "Good morning."}),
            json!({"when": "stumble", "error": "out of order"}),
        ];
        answers.extend(script(json!({"text": SUMMARY}), json!({"text": found})));
        let engine = place.scripted(&answers);
        ask(&engine, says("I sail a red dinghy.")).await;
        for number in 0..3 {
            ask(&engine, says(&chatter(number))).await;
        }
        later(3_600);
        engine.ask(says("You will stumble.")).await.unwrap_err();
        let answer = ask(&engine, says("Good morning.")).await;
        assert_eq!(answer.turn.as_ref().unwrap().id.to_string(), "1.2.2");
        let lessons = learn(&engine, &answer).await;
        assert_eq!(lessons.closed.unwrap().to_string(), "1.1");
        assert_eq!(lessons.summary.as_deref(), Some(SUMMARY));
        let answer = ask(&engine, says("And now?")).await;
        assert!(learn(&engine, &answer).await.is_empty());
    });
}

#[test]
fn o09_nonsense_in_the_place_of_facts_is_told_once_and_a_scripts_is_not() {
    Place::run(async |place| {
        let model = Recorder::new(|_| "Noted.".to_owned());
        let real = place.builder().provider(model).build().unwrap();
        let script = place.scripted(&[json!({"text": "Noted."})]);
        for (engine, told) in [(real, 1), (script, 0)] {
            ask(&engine, says("I sail a red dinghy.")).await;
            let ended = engine.end_conversation(&mut says("")).await.unwrap();
            let Ended::Closed(id) = ended else {
                panic!("{ended:?}");
            };
            let lessons = engine.learn_from(id).await;
            assert_eq!(lessons.inferences.len(), 1);
            assert_eq!(lessons.problems.len(), told, "{:?}", lessons.problems);
            later(60);
        }
    });
}

#[test]
fn o09_rules_ask_nobody_and_off_does_nothing() {
    for (learning, summaries) in [(Learning::Rules, 1), (Learning::Off, 0)] {
        Place::run(async |place| {
            let model = Recorder::new(|_| "Noted.".to_owned());
            let engine = place.builder().provider(model.clone()).learning(learning);
            let engine = engine.build().unwrap();
            ask(&engine, says("I sail a red dinghy.")).await;
            later(3_600);
            let answer = ask(&engine, says("Good morning.")).await;
            let lessons = learn(&engine, &answer).await;
            assert_eq!((lessons.inferences.len(), lessons.problems.len()), (0, 0));
            assert_eq!(model.asked("").len(), 2);
            let kept = place.store.summaries("cli", "ann", 9).await.unwrap();
            assert_eq!(kept.len(), summaries, "{learning:?}");
        });
    }
}

#[test]
fn o09_who_only_asks_and_who_wants_no_facts_is_not_searched_for_any() {
    Place::run(async |place| {
        let model = Recorder::new(|_| "Noted.".to_owned());
        let engine = place.builder().provider(model.clone()).build().unwrap();
        ask(&engine, says("How far is the island? And the harbour?")).await;
        engine.end_conversation(&mut says("")).await.unwrap();
        assert!(engine.learn_from("1.1".parse().unwrap()).await.is_empty());
        let store = place.store.with_facts_from_talk(FactsFromTalk::Ignore);
        let engine = engine.with_store(Some(store));
        ask(&engine, says("I sail a red dinghy.")).await;
        engine.end_conversation(&mut says("")).await.unwrap();
        assert!(engine.learn_from("1.2".parse().unwrap()).await.is_empty());
        assert_eq!(model.asked("lasting facts").len(), 0);
    });
}

#[test]
fn o09_a_long_conversation_is_summarised_in_parts() {
    Place::run(async |place| {
        let model = Recorder::new(|asked| match asked.contains("Summarise") {
            true => "The ferry to the island was late.".to_owned(),
            false => facts(&[]),
        });
        let engine = place.builder().provider(model.clone()).build().unwrap();
        let long = (0..40).map(chatter).collect::<Vec<_>>().join(" ");
        for _ in 0..6 {
            ask(&engine, says(&long)).await;
        }
        engine.end_conversation(&mut says("")).await.unwrap();
        let lessons = engine.learn_from("1.1".parse().unwrap()).await;
        assert_eq!(lessons.problems, []);
        let asked = model.asked("Summarise");
        assert!(asked.len() > 2, "{}", asked.len());
        let part = |one: &String| crate::COUNTER.count(one) <= Tokens(5_000);
        assert!(asked.iter().all(part));
        let follows = |one: &&String| one.contains("summary_so_far");
        assert_eq!(asked.iter().filter(follows).count(), asked.len() - 1);
    });
}
