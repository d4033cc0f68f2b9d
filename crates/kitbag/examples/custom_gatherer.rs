//! Brings more than the workspace has: an OpenAPI description by the gatherer that comes with
//! Kitbag, and tickets from a JSON file by one of our own.
//!
//! `cargo run -p kitbag --example custom_gatherer`

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use kitbag::Engine;
use kitbag::core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level};
use kitbag::core::tokens::Tokens;
use kitbag::engine::TurnPrompt;
use kitbag::gather::{
    GatherError, GatherFuture, GatherTask, Gathered, Gatherer, OpenApi, blocking,
};
use kitbag::pack::{Pack, PackRequest, pack};
use kitbag::tokens::Counter;
use serde::Deserialize;

/// Brings the tickets that the task names, such as `SHOP-17`.
struct Tickets {
    /// A JSON list, exported from the tracker.
    file: PathBuf,
}

#[derive(Deserialize)]
struct Ticket {
    key: String,
    title: String,
    text: String,
}

impl Gatherer for Tickets {
    /// Names the gatherer where it fails: a pack goes on without it, and says so.
    fn name(&self) -> &str {
        "tickets"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let (file, request) = (self.file.clone(), task.request.clone());
        // Reading a file blocks: it gets a thread of its own, whatever the runtime.
        Box::pin(blocking(move || {
            let unreadable =
                |error| GatherError::new(format_args!("cannot read `{}`: {error}", file.display()));
            let text = fs::read_to_string(&file).map_err(unreadable)?;
            let tickets: Vec<Ticket> = serde_json::from_str(&text).map_err(GatherError::new)?;
            let named = tickets
                .into_iter()
                .filter(|ticket| request.contains(&ticket.key));
            Ok(Gathered::from(named.map(chunk).collect::<Vec<_>>()))
        }))
    }
}

/// A ticket as a chunk of a kind of its own. Where there is no room for its text, its title stays.
fn chunk(ticket: Ticket) -> ContextChunk {
    let title = format!("{}: {}", ticket.key, ticket.title);
    let whole = format!("{title}\n\n{}", ticket.text);
    ContextChunk::new(ChunkType::Other("ticket".into()), ticket.key, whole)
        .with_priority(ContextPriority::High)
        .with_level(Level::new(Detail::Line, title))
}

/// Packs the project with both gatherers.
pub(crate) fn packed(project: &Path) -> Result<Pack, Box<dyn Error>> {
    let mut request = PackRequest::new(project.join("shop"), "fix SHOP-17 in the order endpoint")
        .with_budget(Tokens(2_000))
        .with_gatherer(OpenApi::new("openapi.json"))
        .with_gatherer(Tickets {
            file: project.join("tickets.json"),
        });
    request.survey.cache_folder = Some(project.join("cache"));
    let counter = Counter::for_model("gpt-4o")?;
    Ok(pollster::block_on(pack(&request, &counter))?)
}

/// Makes the prompt of a turn: an engine asks its gatherers in every one.
pub(crate) fn prompted(project: &Path) -> Result<TurnPrompt, Box<dyn Error>> {
    let file = project.join("tickets.json");
    let engine = Engine::builder().gatherer(Tickets { file }).build()?;
    let request = engine.task("What is SHOP-17 about?");
    Ok(pollster::block_on(engine.prompt(request))?)
}

/// Writes a small project to pack, with its tickets beside it.
pub(crate) fn write_project(project: &Path) -> std::io::Result<()> {
    let shop = project.join("shop");
    fs::create_dir_all(&shop)?;
    fs::write(
        shop.join("orders.py"),
        "def order_total(items):\n    return sum(item.price for item in items)\n",
    )?;
    fs::write(
        shop.join("openapi.json"),
        r#"{"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": {
            "/orders/{id}": {"get": {"summary": "One order with its total",
                "responses": {"200": {"description": "The order"}}}}}}"#,
    )?;
    fs::write(
        project.join("tickets.json"),
        r#"[{"key": "SHOP-17", "title": "Totals ignore discounts",
             "text": "GET /orders/{id} shows the total before the discount."},
            {"key": "SHOP-18", "title": "Dark mode", "text": "The shop is too bright at night."}]"#,
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    write_project(project.path())?;
    let pack = packed(project.path())?;
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}\n", pack.prompt())?;
    for chunk in pack.decisions.chunks {
        let (kind, source) = (chunk.chunk_type.as_str(), &chunk.source);
        writeln!(stdout, "{kind:>12} {:>5} {source}", chunk.tokens)?;
    }
    writeln!(stdout, "\n{}", prompted(project.path())?.composed.body())?;
    Ok(())
}
