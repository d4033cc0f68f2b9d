//! Scores chunks with knowledge of one's own: what lies in `domain/models` matters more here than
//! the words of a task can tell.
//!
//! `cargo run -p kitbag --example custom_prioritizer`

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use kitbag::core::chunk::ContextChunk;
use kitbag::core::rank::{Prioritizer, RankTask, Score};
use kitbag::core::tokens::Tokens;
use kitbag::pack::{Pack, PackRequest, Retrieval, pack};
use kitbag::tokens::Counter;

/// Adds a part of its own to the score that a pack gives anyway.
#[derive(Default)]
pub(crate) struct DomainFirst {
    retrieval: Retrieval,
}

impl Prioritizer for DomainFirst {
    fn score(&self, chunk: &ContextChunk, task: &RankTask) -> Score {
        let score = self.retrieval.score(chunk, task);
        if chunk.source.starts_with("domain/models/") {
            // In thousandths of the best possible hit in contents.
            score.plus("domain", 2_000)
        } else {
            score
        }
    }
}

/// Packs the project for the same task, with and without the prioritizer.
pub(crate) fn request(project: &Path) -> PackRequest {
    let task = "change how the invoice total is rounded";
    let mut request = PackRequest::new(project.join("shop"), task).with_budget(Tokens(300));
    request.survey.cache_folder = Some(project.join("cache"));
    request
}

/// Packs what is asked.
pub(crate) fn packed(request: &PackRequest) -> Result<Pack, Box<dyn Error>> {
    let counter = Counter::for_model("gpt-4o")?;
    Ok(pollster::block_on(pack(request, &counter))?)
}

/// Writes a small project: a report that is named for what is asked, and the model that decides.
pub(crate) fn write_project(project: &Path) -> std::io::Result<()> {
    let shop = project.join("shop");
    let steps: String = (1..16)
        .map(|n| format!("    total_{n} = rounded(total, {n})\n"))
        .collect();
    let files = [
        (
            "reports/invoice_total.py",
            format!("def print_invoice_total(invoice, total):\n{steps}"),
        ),
        (
            "domain/models/money.py",
            format!("def round_total(amount, total):\n{steps}"),
        ),
    ];
    for (path, text) in files {
        let path = shop.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&shop))?;
        fs::write(path, text)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    write_project(project.path())?;
    let usual = request(project.path());
    let ours = request(project.path()).with_prioritizer(DomainFirst::default());
    let mut stdout = std::io::stdout().lock();
    for (name, request) in [("as usual", usual), ("the domain first", ours)] {
        writeln!(stdout, "{name}:")?;
        for chunk in packed(&request)?.decisions.chunks {
            let parts: Vec<String> = chunk
                .parts
                .iter()
                .map(|part| format!("{} {:+}", part.name, part.value))
                .collect();
            let (level, source) = (chunk.level.as_str(), &chunk.source);
            writeln!(stdout, "  {source} ({level}): {}", parts.join(", "))?;
        }
    }
    Ok(())
}
