//! The context of each node for an agent that has a loop, a model and tools of its own.
//!
//! `cargo run -p kitbag --example node_context`

use std::error::Error;
use std::io::Write as _;

use kitbag::Engine;
use kitbag::core::reasoning::StepSummary;
use kitbag::core::stored::ConversationContext;
use kitbag::core::tokens::Tokens;
use kitbag::core::view::{TurnState, View};
use serde_json::{Value, json};

/// A turn of the agent, whose model is `model`: it plans, reads a recipe and answers. Each node gets a
/// prompt with what its view shows, within the budget.
pub(crate) fn run(mut model: impl FnMut(&str) -> String) -> Result<String, Box<dyn Error>> {
    let engine = Engine::builder().budget(Tokens(1_000)).build()?;
    let mut state = TurnState::new(ConversationContext::new(), 1);
    let registry = &mut state.conversation.id_registry;
    registry.register_read("row-7", "recipes", "Lemon Soup");
    let mut answer = String::new();
    for node in ["think", "act", "reply"] {
        let view = View::builtin(node).ok_or("no such node")?.clone();
        let request = engine.task("Is there garlic in the soup?");
        let request = request.for_node(view, state.clone());
        let prompt = pollster::block_on(engine.prompt(request))?;
        answer = model(&prompt.composed.body());
        if node == "act" {
            let step = StepSummary::new(1, "read", "recipes", "Read the soup", None, 1);
            state.finish_step(step, read_recipe());
        }
    }
    Ok(answer)
}

/// The agent's own tool.
fn read_recipe() -> Value {
    json!([{"id": "row-7", "name": "Lemon Soup", "garlic": true}])
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut stdout = std::io::stdout();
    let mut shown = Ok(());
    let answer = run(|prompt| {
        if shown.is_ok() {
            shown = writeln!(stdout, "{prompt}\n----");
        }
        "Yes, there is garlic in it.".to_owned()
    })?;
    shown?;
    writeln!(stdout, "{answer}")?;
    Ok(())
}
