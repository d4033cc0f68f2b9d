//! The layers of a conversation after an answer.

use kitbag::core::conversation::ConversationTurn;
use kitbag::core::reasoning::StepSummary;
use kitbag::core::stored::ConversationContext;
use kitbag::core::view::TurnState;

use super::*;

#[test]
fn a13_an_answer_enters_the_layers_of_a_conversation_that_has_them() {
    Place::run(async |place| {
        let call = json!({"id": "c1", "name": "weather", "arguments": {}});
        let engine = place.scripted(&[
            json!({"when": "weather", "text": "Let me see.", "tool_calls": [call]}),
            json!({"text": "Soup it is."}),
        ]);
        let id = "1.1".parse().unwrap();
        ask(&engine, says("Hello.")).await;
        // A plain conversation has none: its history says all.
        let layers = place.store.layers(id).await.unwrap();
        assert_eq!(layers, ConversationContext::default());

        let mut layers = ConversationContext::new();
        layers
            .recent_turns
            .push(ConversationTurn::new("Hello.", "Soup it is."));
        place.store.set_layers(id, layers).await.unwrap();
        ask(&engine, says("I want it without salt.")).await;
        let layers = place.store.layers(id).await.unwrap();
        let said: Vec<&str> = layers
            .recent_turns
            .iter()
            .map(|turn| turn.user.as_str())
            .collect();
        assert_eq!(said, ["Hello.", "I want it without salt."]);
        assert_eq!(layers.turn_summaries.last().unwrap().turn_num, 2);

        ask(&engine, says("What is the weather?")).await;
        let layers = place.store.layers(id).await.unwrap();
        let step = &layers.turn_summaries.last().unwrap().steps[0];
        assert_eq!(
            (&*step.description, &*step.outcome),
            ("weather", "asked for, and not called")
        );
        assert!(
            layers.history_summary.contains("Soup"),
            "{}",
            layers.history_summary
        );
    });
}

#[test]
fn a10_the_steps_of_a_turn_under_way_are_kept_with_its_answer() {
    Place::run(async |place| {
        let engine = place.scripted(&[json!({"text": "There are two."})]);
        let mut state = TurnState::new(ConversationContext::new(), 1);
        let step = StepSummary::new(
            1,
            "read",
            "recipes",
            "read the recipes",
            Some("two found"),
            2,
        );
        state.finish_step(step, json!([{"id": 1}, {"id": 2}]));
        let mut turn = engine.turn(says("Which recipes are there?")).unwrap();
        turn.state = Some(state);
        let stop = std::pin::pin!(std::future::pending());
        engine.answer(turn, &mut |_| (), stop).await.unwrap();
        let layers = place.store.layers("1.1".parse().unwrap()).await.unwrap();
        assert_eq!(layers.turn_summaries[0].steps[0].outcome, "two found");
        assert_eq!(layers.recent_turns[0].assistant_summary, "There are two.");
    });
}
