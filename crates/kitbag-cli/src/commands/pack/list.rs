//! The contents of a prompt as a tree: folders and files with their level and their tokens.

use std::collections::BTreeMap;

use kitbag::core::chunk::{ChunkType, Detail};
use kitbag::pack::{Pack, PackedChunk};

use crate::output::{grouped, one_line, ranges};

/// The tree, then what is no file, then the sum.
pub(super) fn text(pack: &Pack) -> String {
    let chunks = &pack.decisions.chunks;
    let is_file = |chunk: &&PackedChunk| chunk.chunk_type == ChunkType::File;
    let mut root = Folder::default();
    for chunk in chunks.iter().filter(is_file) {
        root.add(&chunk.source, chunk);
    }
    let mut rows = Vec::new();
    root.list(0, &mut rows);
    for chunk in chunks.iter().filter(|chunk| !is_file(chunk)) {
        let name = one_line(&chunk.source);
        rows.push((name, chunk.tokens.0, chunk.chunk_type.as_str().to_owned()));
    }
    let decided = &pack.decisions;
    // Headings, fences and the ending, which belong to no chunk, so that the rows add up to the total.
    let around: u32 = decided.chunks.iter().map(|chunk| chunk.tokens.0).sum();
    let around = decided.tokens.0.saturating_sub(around);
    rows.push(("text around them".to_owned(), around, String::new()));
    let widest = |column: &dyn Fn(&(String, u32, String)) -> usize| rows.iter().map(column).max();
    let name = widest(&|row| row.0.chars().count()).unwrap_or_default();
    let tokens = widest(&|row| grouped(row.1).len()).unwrap_or_default();
    let lines = rows.iter().map(|(text, count, level)| {
        let line = format!("{text:<name$}  {:>tokens$}  {level}", grouped(*count));
        line.trim_end().to_owned()
    });
    let lines: Vec<String> = lines.collect();
    let (used, budget) = (grouped(decided.tokens.0), grouped(decided.budget.0));
    format!("{}\n{used} of {budget} tokens", lines.join("\n"))
}

#[derive(Default)]
struct Folder<'a> {
    folders: BTreeMap<&'a str, Folder<'a>>,
    files: BTreeMap<&'a str, &'a PackedChunk>,
}

impl<'a> Folder<'a> {
    fn add(&mut self, path: &'a str, chunk: &'a PackedChunk) {
        match path.split_once('/') {
            Some((folder, rest)) => self.folders.entry(folder).or_default().add(rest, chunk),
            None => {
                self.files.insert(path, chunk);
            }
        }
    }

    fn tokens(&self) -> u32 {
        let files: u32 = self.files.values().map(|chunk| chunk.tokens.0).sum();
        files + self.folders.values().map(Self::tokens).sum::<u32>()
    }

    fn list(&self, depth: usize, rows: &mut Vec<(String, u32, String)>) {
        let indent = "  ".repeat(depth);
        for (name, folder) in &self.folders {
            let name = format!("{indent}{}/", one_line(name));
            rows.push((name, folder.tokens(), String::new()));
            folder.list(depth + 1, rows);
        }
        for (name, chunk) in &self.files {
            let name = format!("{indent}{}", one_line(name));
            rows.push((name, chunk.tokens.0, level(chunk)));
        }
    }
}

/// The level of a file in words, with the lines of parts.
fn level(chunk: &PackedChunk) -> String {
    let lines = ranges(&chunk.lines).join(", ");
    match chunk.level {
        Detail::Full => "whole".to_owned(),
        Detail::Slice => format!("lines {lines}"),
        Detail::Outline => "outline".to_owned(),
        _ => "name".to_owned(),
    }
}
