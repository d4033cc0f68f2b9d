//! An extension: it counts what a day's answers cost, warns the model when little is left, and then lets a cheaper
//! model answer.
//!
//! `cargo run -p kitbag --features sqlite,providers --example extension`

use std::error::Error;
use std::fs;
use std::path::Path;

use kitbag::Engine;
use kitbag::answer::Answer;
use kitbag::core::inject::ContextMessage;
use kitbag::extension::{Extension, ExtensionError, Run, StateScope};
use kitbag::provider::{Reply, ScriptProvider};
use kitbag::store::{Incoming, Location, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for answer in runtime.block_on(talk(folder.path()))? {
        let model = answer.request.model().unwrap_or_default();
        println!("{model}: {}", answer.text());
    }
    Ok(())
}

/// A limit for the tokens of all conversations of a tenant.
struct Allowance {
    tokens: u64,
}

impl Extension for Allowance {
    fn name(&self) -> &str {
        "allowance"
    }

    async fn run_start(&self, run: &mut Run) -> Result<(), ExtensionError> {
        let used: u64 = run.get(StateScope::Tenant, "used")?.unwrap_or(0);
        if used >= self.tokens {
            run.set_model("small")?;
        } else if used * 2 >= self.tokens {
            let text = "Little of the allowance is left: be brief.";
            run.inject(ContextMessage::suffix_system("allowance", text));
        }
        Ok(())
    }

    async fn after_inference(&self, run: &mut Run, reply: &Reply) -> Result<(), ExtensionError> {
        let used: u64 = run.get(StateScope::Tenant, "used")?.unwrap_or(0);
        let more = reply.usage.map_or(0, |usage| usage.input + usage.output);
        // Written with the turn: an answer that fails costs nothing here.
        run.set(StateScope::Tenant, "used", &(used + more))
    }
}

pub(crate) async fn talk(folder: &Path) -> Result<Vec<Answer>, Box<dyn Error>> {
    let script = folder.join("answers.jsonl");
    let answer = r#"{"text": "Knead it longer.", "usage": {"input": 55, "output": 5}}"#;
    fs::write(&script, answer)?;
    let store = Store::open(&Location::Sqlite(folder.join("memory.db"))).await?;
    let engine = Engine::builder()
        .store(store)
        .provider(ScriptProvider::new("script", script))
        .model("large")
        .extension(Allowance { tokens: 100 })
        .build()?;
    let mut answers = Vec::new();
    for question in ["My dough tears.", "It still tears.", "And now?"] {
        answers.push(engine.ask(Incoming::new("cli", "ann", question)).await?);
    }
    Ok(answers)
}
