//! Scores one answer against the fix.
//!
//! The program is not trusted: a line counts as shown when the answer says so and its text really is in
//! the prompt, and a prompt over its budget shows nothing.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use super::answer::{Answer, Chunk};
use super::instance::Instance;
use super::record::{Ranks, ShownShares};
use super::source_file::SourceFiles;

/// A file with fewer visible lines does not count as shown, unless one of them is a line of the fix.
const ENOUGH_LINES: usize = 10;

/// Measures the share of the fix that the prompt shows; `root` holds the tree that was packed.
pub(super) fn shown(
    instance: &Instance,
    answer: &Answer,
    tokens: usize,
    budget: u64,
    root: &Path,
) -> ShownShares {
    let over = u64::try_from(tokens).is_ok_and(|tokens| tokens > budget);
    let (mut all_lines, mut shown_lines, mut shown_files) = (0_usize, 0_usize, 0_usize);
    for path in &instance.gold_files {
        let text = lines_of(&root.join(path));
        let visible = if over {
            BTreeSet::new()
        } else {
            visible_lines(path, &text, answer)
        };
        let wanted: Vec<usize> = wanted_lines(instance, path);
        let found = wanted.iter().filter(|line| visible.contains(line)).count();
        all_lines += wanted.len();
        shown_lines += found;
        let telling = visible.iter().filter(|line| {
            let line = text.get(line.saturating_sub(1));
            // A blank line shows nothing of a file.
            line.is_some_and(|line| !stripped(line).is_empty())
        });
        shown_files += usize::from(found > 0 || telling.count() >= ENOUGH_LINES);
    }
    ShownShares {
        tokens,
        over,
        files: share(shown_files, instance.gold_files.len()),
        lines: share(shown_lines, all_lines),
        time: 0.0,
    }
}

/// Returns the places of the gold files among the source files of a ranking.
pub(super) fn ranks<'a>(
    instance: &Instance,
    ranked: impl Iterator<Item = &'a str>,
    sources: &SourceFiles,
) -> Ranks {
    let mut seen = HashSet::new();
    let is_gold: Vec<bool> = ranked
        // A file that is listed twice counts where it stands first.
        .filter(|path| seen.insert(*path) && sources.contain(path))
        .map(|path| instance.gold_files.iter().any(|gold| gold == path))
        .collect();
    let first = is_gold.iter().position(|is_gold| *is_gold);
    let hit = |within: usize| f64::from(u8::from(first.is_some_and(|place| place < within)));
    let among_ten = is_gold.iter().take(10).filter(|is_gold| **is_gold).count();
    Ranks {
        mrr: first.map_or(0.0, |place| share(1, place + 1)),
        hit1: hit(1),
        hit5: hit(5),
        hit10: hit(10),
        r10: share(among_ten, instance.gold_files.len()),
    }
}

/// The numbers of the lines of a file that the prompt really holds.
fn visible_lines(path: &str, text: &[String], answer: &Answer) -> BTreeSet<usize> {
    let chunks = answer.chunks.iter();
    let of_file = chunks.filter(|chunk| chunk.chunk_type == "file" && chunk.source == path);
    let claimed = of_file.flat_map(|chunk| claimed_spans(chunk, text.len()));
    let numbers = claimed.flat_map(|(first, last)| first..=last.min(text.len()));
    numbers
        .filter(|number| {
            let line = number.checked_sub(1).and_then(|index| text.get(index));
            line.is_some_and(|line| answer.prompt.contains(stripped(line)))
        })
        .collect()
}

fn claimed_spans(chunk: &Chunk, lines: usize) -> Vec<(usize, usize)> {
    match chunk.level.as_str() {
        "full" => vec![(1, lines)],
        "line" | "path" | "handle" => Vec::new(),
        _ => chunk.lines.clone(),
    }
}

/// The lines of the fix; the first one when none is known, as of a new file.
fn wanted_lines(instance: &Instance, path: &str) -> Vec<usize> {
    match instance.gold_spans.get(path).map(Vec::as_slice) {
        None | Some([]) => vec![1],
        Some(spans) => spans
            .iter()
            .flat_map(|(first, last)| *first..=*last)
            .collect(),
    }
}

/// A file's lines, whatever ends them; none when it cannot be read.
fn lines_of(file: &Path) -> Vec<String> {
    let Ok(bytes) = fs::read(file) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.split('\n').map(str::to_owned).collect()
}

/// Without white space around it; the separators of ASCII count as such.
fn stripped(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\x1c'..='\x1f'))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no file has so many lines that a float cannot count them"
)]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::answer::RankedFile;

    fn instance(gold: &[(&str, &[(usize, usize)])]) -> Instance {
        Instance {
            gold_files: gold.iter().map(|(path, _)| (*path).to_owned()).collect(),
            gold_spans: gold
                .iter()
                .map(|(path, spans)| ((*path).to_owned(), spans.to_vec()))
                .collect(),
            ..Instance::default()
        }
    }

    fn chunk(source: &str, level: &str, lines: &[(usize, usize)]) -> Chunk {
        Chunk {
            source: source.to_owned(),
            chunk_type: "file".to_owned(),
            level: level.to_owned(),
            lines: lines.to_vec(),
        }
    }

    fn answer(prompt: &str, chunks: Vec<Chunk>) -> Answer {
        Answer {
            prompt: prompt.to_owned(),
            ranked: Vec::<RankedFile>::new(),
            chunks,
        }
    }

    /// A tree with one file, `a.py`, whose line n reads `line n` between spaces.
    fn tree(lines: usize) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let text: String = (1..=lines).map(|n| format!("  line {n} \r\n")).collect();
        fs::write(root.path().join("a.py"), text).unwrap();
        root
    }

    fn files_and_lines(instance: &Instance, answer: &Answer, root: &Path) -> (f64, f64) {
        let shown = shown(instance, answer, 10, 10, root);
        (shown.files, shown.lines)
    }

    #[test]
    fn lines_count_when_they_are_claimed_and_there() {
        let root = tree(20);
        let task = instance(&[("a.py", &[(3, 4), (7, 8)])]);
        let prompt = "line 3\nline 4\nline 7\n";
        let slice = answer(prompt, vec![chunk("a.py", "slice", &[(4, 8)])]);
        assert_eq!(files_and_lines(&task, &slice, root.path()), (1.0, 0.5));
        let full = answer(prompt, vec![chunk("a.py", "full", &[])]);
        assert_eq!(files_and_lines(&task, &full, root.path()), (1.0, 0.75));
        for level in ["line", "path", "handle"] {
            let named = answer(prompt, vec![chunk("a.py", level, &[(3, 8)])]);
            assert_eq!(files_and_lines(&task, &named, root.path()), (0.0, 0.0));
        }
        let mut other = chunk("a.py", "full", &[]);
        other.chunk_type = "structure".to_owned();
        let other = answer(prompt, vec![other]);
        assert_eq!(files_and_lines(&task, &other, root.path()), (0.0, 0.0));
    }

    #[test]
    fn a_file_counts_with_ten_lines_that_are_not_blank() {
        let root = tree(30);
        let task = instance(&[("a.py", &[(1, 1)]), ("new.py", &[])]);
        let prompt: String = (1..=30).map(|n| format!("line {n}\n")).collect();
        for (last, files) in [(20, 0.0), (21, 0.5), (400, 0.5)] {
            let outline = answer(&prompt, vec![chunk("a.py", "outline", &[(12, last)])]);
            assert_eq!(files_and_lines(&task, &outline, root.path()), (files, 0.0));
        }
        // The last of the lines is the empty one after the end.
        let end = answer(&prompt, vec![chunk("a.py", "outline", &[(22, 31)])]);
        assert_eq!(files_and_lines(&task, &end, root.path()), (0.0, 0.0));
    }

    #[test]
    fn a_prompt_over_its_budget_shows_nothing() {
        let root = tree(20);
        let task = instance(&[("a.py", &[(1, 20)])]);
        let prompt: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let full = answer(&prompt, vec![chunk("a.py", "full", &[])]);
        let over = shown(&task, &full, 11, 10, root.path());
        assert!(over.over);
        assert_eq!((over.files, over.lines), (0.0, 0.0));
        assert_eq!(shown(&task, &full, 10, 10, root.path()).lines, 1.0);
    }

    #[test]
    fn only_source_files_have_places() {
        let task = instance(&[("b.py", &[]), ("z.py", &[]), ("never.py", &[])]);
        let ranked = [
            "README.md",
            "a.py",
            "a.py",
            "tests/b.py",
            "b.py",
            "c.py",
            "z.py",
        ];
        let sources = SourceFiles::new().unwrap();
        let expected = Ranks {
            mrr: 0.5,
            hit1: 0.0,
            hit5: 1.0,
            hit10: 1.0,
            r10: 2.0 / 3.0,
        };
        assert_eq!(ranks(&task, ranked.into_iter(), &sources), expected);
        let nothing = ranks(&task, [].into_iter(), &sources);
        assert_eq!(nothing, Ranks::default());
    }
}
