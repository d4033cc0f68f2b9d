//! Conversations that no longer fit: their older part is summarised, once in a while, and nothing that
//! must stay is lost.

use jiff::SignedDuration;
use kitbag::core::assembly::OutputForm;
use kitbag::core::message::Message;
use kitbag::core::role::Role;
use kitbag::core::view::View;
use kitbag::engine::replay;
use kitbag::learn::Learning;
use kitbag::store::{Forget, Learned};

use super::*;

const BUDGET: Tokens = Tokens(4_000);
const RULE: &str = "Never name the captain.";

/// Answers at length, and summarises in a sentence.
fn model() -> Recorder {
    Recorder::new(|asked| match asked {
        _ if asked.contains("Summarise") => {
            "The user asks about the log of the ferry, the harbour and the wind.".to_owned()
        }
        _ => format!("{} {}", chatter(77), chatter(78)),
    })
}

fn question(number: usize) -> String {
    match number {
        0 => RULE.to_owned(),
        _ => format!("What does entry {number} of the log say?"),
    }
}

/// The measures of a conversation of so many turns.
#[derive(Default)]
struct Run {
    /// Of each prompt but the first, in thousandths.
    reuse: Vec<u32>,
    /// The turns after which it was compacted.
    compacted: Vec<usize>,
    bodies: Vec<String>,
    problems: Vec<String>,
}

impl Run {
    async fn of(engine: &Engine, turns: usize) -> Self {
        let mut run = Self::default();
        for number in 0..turns {
            let answer = ask(engine, says(&question(number))).await;
            let assembly = &answer.prompt.composed.assembly;
            assert!(assembly.tokens <= engine.budget(), "turn {number}");
            run.reuse
                .extend(assembly.reuse.map(|reuse| reuse.permille()));
            run.bodies.push(answer.prompt.composed.body().into_owned());
            let lessons = learn(engine, &answer).await;
            run.compacted.extend(lessons.compacted.map(|_| number));
            let problems = lessons.problems.iter().chain(&assembly.ledger.problems);
            run.problems.extend(problems.map(ToString::to_string));
            later(10);
        }
        run
    }

    fn mean(&self) -> u32 {
        self.reuse.iter().sum::<u32>() / self.reuse.len() as u32
    }
}

#[test]
fn x02_a_conversation_that_no_longer_fits_is_compacted_and_stays_append_only() {
    Place::run(async |place| {
        let model = model();
        let engine = place.builder().provider(model.clone()).build().unwrap();
        let run = Run::of(&engine, 60).await;
        assert!(run.compacted.len() >= 2, "{:?}", run.compacted);
        assert_eq!(model.asked("Summarise").len(), run.compacted.len());
        // No message was left out untold.
        assert_eq!(run.problems, Vec::<String>::new());
        // The beginning changes with the prompt behind each compaction, and with no other.
        for (index, reuse) in run.reuse.iter().enumerate() {
            let is_renewed = run.compacted.contains(&index);
            assert_eq!(*reuse < 850, is_renewed, "turn {}: {reuse}", index + 1);
        }
        let mean = run.mean();
        println!(
            "{mean} thousandths are reused; compacted after {:?}",
            run.compacted
        );
        assert!(mean >= 900, "{mean} thousandths are reused");
        let last = run.bodies.last().unwrap();
        assert!(
            last.contains("messages of this conversation are not shown word for word; in short")
        );
        assert!(last.contains(RULE), "{last}");
        assert!(last.contains("The user asks about the log"), "{last}");
        // Everything is still there, and any prompt can be made again.
        let all = place
            .store
            .messages("1.1".parse().unwrap(), 999)
            .await
            .unwrap();
        assert_eq!(all.len(), 120);
        let turn = "1.1.60".parse().unwrap();
        let replayed = replay(&place.store, turn, None).await.unwrap();
        assert_eq!(&replayed.body, last);
        let noted = place
            .store
            .turn(format!("1.1.{}", run.compacted[0] + 1).parse().unwrap());
        let noted = noted.await.unwrap().record;
        let purpose = noted.inferences.last().unwrap().purpose.clone();
        assert_eq!(purpose.as_deref(), Some("compaction"));
    });
}

#[test]
fn a10_the_operators_instructions_reach_every_node_before_and_after_a_compaction() {
    const ORDER: &str = "Give every length in metres.";
    Place::run(async |place| {
        let builder = place.builder().budget(BUDGET).provider(model());
        let engine = builder.build().unwrap();
        let store = &place.store;
        let accepted = store.accept(&says("Hello."), now()).await.unwrap();
        let lease = store.begin(accepted.id, SignedDuration::from_mins(5), now());
        let mut learned = Learned::reply("Hello to you.", now());
        learned.steps = vec![Message::new(Role::System, ORDER)];
        store
            .learned(&lease.await.unwrap(), learned, now())
            .await
            .unwrap();
        let assert_all_see_it = async || {
            for node in ["understand", "think", "act", "reply"] {
                let view = View::builtin(node).unwrap().clone();
                let mut request = engine.turn(says("How long is the pier?")).unwrap();
                request.prompt.settings.form = OutputForm::Node;
                request.node = Some(view);
                let prompt = engine.prompt(request).await.unwrap();
                let body = prompt.composed.body().into_owned();
                assert_eq!(body.matches(ORDER).count(), 1, "{node}: {body}");
            }
        };
        assert_all_see_it().await;
        let run = Run::of(&engine, 30).await;
        assert!(!run.compacted.is_empty(), "{:?}", run.problems);
        let state = store.state("1.1".parse().unwrap()).await.unwrap();
        assert_eq!(state.compaction.instructions.len(), 1);
        assert_all_see_it().await;
    });
}

#[test]
fn a10_rules_compact_where_no_model_can() {
    for learning in [Learning::Rules, Learning::Model] {
        Place::run(async |place| {
            // A model whose summaries are about something else.
            let model = Recorder::new(|asked| match asked.contains("Summarise") {
                true => "I would rather not.".to_owned(),
                false => format!("{} {}", chatter(77), chatter(78)),
            });
            let engine = place.builder().budget(BUDGET).learning(learning);
            let engine = engine.provider(model.clone()).build().unwrap();
            let run = Run::of(&engine, 30).await;
            assert!(!run.compacted.is_empty());
            let asked = model.asked("Summarise").len();
            let expected = match learning {
                Learning::Model => run.compacted.len(),
                _ => 0,
            };
            assert_eq!(
                (asked, run.problems.len()),
                (expected, expected),
                "{:?}",
                run.problems
            );
            let last = run.bodies.last().unwrap();
            assert!(last.contains(RULE) && last.contains("ferry"), "{last}");
        });
    }
}

#[test]
fn a10_what_is_said_while_a_compaction_is_made_is_not_lost() {
    Place::run(async |place| {
        let store = place.store.clone();
        let intruder = Recorder::new(move |asked| {
            if asked.contains("Summarise") {
                let (store, at) = (store.clone(), now());
                let said = std::thread::spawn(move || {
                    pollster::block_on(store.accept(&says("Wait, one more."), at)).unwrap();
                });
                said.join().unwrap();
                return "The log of the ferry, the harbour and the wind.".to_owned();
            }
            format!("{} {}", chatter(77), chatter(78))
        });
        let engine = place
            .builder()
            .budget(BUDGET)
            .provider(intruder)
            .build()
            .unwrap();
        let run = Run::of(&engine, 30).await;
        assert!(!run.compacted.is_empty(), "{:?}", run.problems);
        let last = run.bodies.last().unwrap();
        assert!(last.contains("Wait, one more."), "{last}");
    });
}

#[test]
fn a10_a_message_that_is_changed_while_a_compaction_is_made_undoes_it() {
    Place::run(async |place| {
        let store = place.store.clone();
        let intruder = Recorder::new(move |asked| {
            if asked.contains("Summarise") {
                let store = store.clone();
                let forget = Forget::Message("1.1#3".parse().unwrap());
                let done = std::thread::spawn(move || {
                    pollster::block_on(store.forget(forget)).unwrap();
                });
                done.join().unwrap();
                return "The log of the ferry, the harbour and the wind.".to_owned();
            }
            format!("{} {}", chatter(77), chatter(78))
        });
        let engine = place
            .builder()
            .budget(BUDGET)
            .provider(intruder)
            .build()
            .unwrap();
        let mut number = 0;
        loop {
            let answer = ask(&engine, says(&question(number))).await;
            let lessons = learn(&engine, &answer).await;
            later(10);
            number += 1;
            if let Some(problem) = lessons.problems.first() {
                assert!(problem.message.contains("changed meanwhile"), "{problem}");
                assert_eq!(lessons.compacted, None);
                break;
            }
            assert!(number < 40, "it was never compacted");
        }
        let state = place.store.state("1.1".parse().unwrap()).await.unwrap();
        assert_eq!(state.compaction.messages, 0);
    });
}

#[test]
fn a10_forgetting_a_message_forgets_what_was_told_of_it_in_short() {
    Place::run(async |place| {
        let engine = place
            .builder()
            .budget(BUDGET)
            .provider(model())
            .build()
            .unwrap();
        let run = Run::of(&engine, 30).await;
        assert!(!run.compacted.is_empty());
        let id = "1.1".parse().unwrap();
        assert!(place.store.state(id).await.unwrap().compaction.messages > 0);
        let rule = Forget::Message("1.1#1".parse().unwrap());
        place.store.forget(rule).await.unwrap();
        assert_eq!(place.store.state(id).await.unwrap().compaction.messages, 0);
        let answer = ask(&engine, says("And now?")).await;
        let body = answer.prompt.composed.body().into_owned();
        assert!(!body.contains(RULE), "{body}");
        assert_eq!(place.store.check().await.unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a10_a_compaction_that_is_refused_is_not_tried_again_before_the_conversation_has_grown() {
    Place::run(async |place| {
        // Rules of the user that may not be shortened leave nothing to gain.
        let model = Recorder::new(|_| "Yes.".to_owned());
        let engine = place
            .builder()
            .budget(Tokens(1_500))
            .provider(model.clone());
        let engine = engine.build().unwrap();
        let mut refused = Vec::new();
        for number in 0..60 {
            let rule =
                format!("Never write number {number} into the log before noon, whoever asks.");
            let answer = ask(&engine, says(&rule)).await;
            let tokens = answer.prompt.composed.assembly.tokens;
            assert!(tokens <= Tokens(1_500), "turn {number}");
            let lessons = learn(&engine, &answer).await;
            assert_eq!(lessons.compacted, None);
            refused.extend(lessons.problems.first().map(|_| number));
            later(10);
        }
        assert_eq!(
            model.asked("Summarise").len(),
            0,
            "what is refused is not paid for"
        );
        assert!(refused.len() >= 2, "{refused:?}");
        // Eight turns are sixteen messages.
        assert!(
            refused.windows(2).all(|pair| pair[1] - pair[0] >= 8),
            "{refused:?}"
        );
    });
}
