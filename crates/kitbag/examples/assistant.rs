//! An assistant that remembers what it was told.
//!
//! `cargo run -p kitbag --features sqlite,providers --example assistant`
//!
//! With ANTHROPIC_API_KEY it asks a model. Without, answers come from a file.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use kitbag::Engine;
use kitbag::answer::Answer;
use kitbag::engine::EngineBuilder;
use kitbag::provider::ScriptProvider;
use kitbag::store::{Incoming, Location, Store};
use tokio::runtime::Runtime;

/// Asks two questions. The second is answered from what the first one told.
pub(crate) async fn talk(who: EngineBuilder, folder: &Path) -> Result<Vec<Answer>, Box<dyn Error>> {
    let store = Store::open(&Location::Sqlite(folder.join("memory.db"))).await?;
    let engine = who.store(store).build()?;
    let mut answers = Vec::new();
    for question in ["My sister Clara keeps bees.", "What does Clara keep?"] {
        answers.push(engine.ask(Incoming::new("cli", "ann", question)).await?);
    }
    Ok(answers)
}

/// Answers from a file, for whoever has no key.
pub(crate) fn script(folder: &Path) -> std::io::Result<ScriptProvider> {
    let file = folder.join("answers.jsonl");
    let lines = r#"{"when": "keeps bees", "text": "Noted."}
{"when": "what does", "text": "Clara keeps bees."}
"#;
    std::fs::write(&file, lines)?;
    Ok(ScriptProvider::new("script", file))
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let who = match std::env::var_os("ANTHROPIC_API_KEY") {
        Some(_) => Engine::builder().configured_provider(),
        None => Engine::builder().provider(script(folder.path())?),
    };
    for answer in Runtime::new()?.block_on(talk(who, folder.path()))? {
        writeln!(std::io::stdout(), "{}", answer.text())?;
    }
    Ok(())
}
