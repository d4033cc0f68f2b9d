//! Counts how the code talks to its readers: comments inside code, which should say why, and doc comments that
//! begin with a question word, or with "So", instead of a noun or a verb.
//!
//! Tests and benches do not count. It cannot judge if a comment is true or worth reading.

use super::Problem;
use super::sources::Source;

/// Doc comments that begin with one of these usually hide their subject: "What a chunk costs" is "The cost of a chunk".
/// "So many are kept" is "The most keys to keep".
const QUESTION_WORDS: [&str; 9] = [
    "What", "How", "Whether", "Where", "Why", "Which", "Who", "Whose", "So",
];
/// In thousandths of all doc comments.
const MOST_QUESTIONS: usize = 15;
/// In thousandths of the lines of code.
const LEAST_REASONS: usize = 30;

/// Prints both shares, and fails where one is beyond its limit.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("tests.rs");
    let code = sources
        .iter()
        .filter(|source| !is_test(&source.path) && !source.path.contains("/benches/"));
    let counts = code.map(count).fold(Counts::default(), Counts::plus);
    let questions = in_thousandths(counts.questions, counts.docs);
    let reasons = in_thousandths(counts.reasons, counts.code);
    println!(
        "{} of {} doc comments begin with a question word or with So",
        percent(questions),
        counts.docs
    );
    println!(
        "comments inside code are {} of {} lines",
        percent(reasons),
        counts.code
    );
    let mut problems = Vec::new();
    if questions > MOST_QUESTIONS {
        problems.push(Problem::new(
            "crates",
            format!(
                "{} of the doc comments begin with a question word or with So, more than {}",
                percent(questions),
                percent(MOST_QUESTIONS)
            ),
            "begin them with a noun or a verb",
        ));
    }
    if reasons < LEAST_REASONS {
        problems.push(Problem::new(
            "crates",
            format!(
                "comments are {} of the lines of code, less than {}",
                percent(reasons),
                percent(LEAST_REASONS)
            ),
            "say why where a reader would ask",
        ));
    }
    problems
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    docs: usize,
    questions: usize,
    code: usize,
    reasons: usize,
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            docs: self.docs + other.docs,
            questions: self.questions + other.questions,
            code: self.code + other.code,
            reasons: self.reasons + other.reasons,
        }
    }
}

fn count(source: &Source) -> Counts {
    let text = &source.text;
    // Inline tests stand at the end of a file, and their comments do not count.
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let mut counts = Counts::default();
    let mut is_inside_doc = false;
    for line in text.get(..end).unwrap_or(text).lines().map(str::trim) {
        let doc = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
            .map(str::trim);
        match doc {
            Some(words) if !is_inside_doc && !words.is_empty() => {
                counts.docs += 1;
                let first = words.split(|c: char| !c.is_alphabetic()).next();
                counts.questions +=
                    usize::from(first.is_some_and(|word| QUESTION_WORDS.contains(&word)));
            }
            Some(_) => {}
            None if line.starts_with("//") => counts.reasons += 1,
            None if !line.is_empty() => counts.code += 1,
            None => {}
        }
        is_inside_doc = doc.is_some();
    }
    counts
}

fn in_thousandths(part: usize, whole: usize) -> usize {
    (part * 1000).checked_div(whole).unwrap_or(0)
}

fn percent(thousandths: usize) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_line_of_a_doc_comment_is_looked_at() {
        let text = "//! What it holds.\n//! How it does.\n\n/// The cost.\n/// Where it is.\nfn a() {\n    // Because.\n    b();\n}\n#[cfg(test)]\nmod tests {\n    /// How.\n}\n";
        let source = Source {
            path: "crates/a/src/a.rs".to_owned(),
            text: text.to_owned(),
        };
        let counts = Counts {
            docs: 2,
            questions: 1,
            code: 3,
            reasons: 1,
        };
        assert_eq!(count(&source), counts);
    }

    #[test]
    fn every_word_that_hides_a_subject_is_counted() {
        let count_of = |word: &str| {
            let source = Source {
                path: "crates/a/src/a.rs".to_owned(),
                text: format!("/// {word} many are kept.\nconst A: u32 = 1;\n"),
            };
            count(&source).questions
        };
        for word in [
            "What", "How", "Whether", "Where", "Why", "Which", "Who", "Whose", "So",
        ] {
            assert_eq!(count_of(word), 1, "{word}");
        }
        for word in ["Some", "Whole", "The"] {
            assert_eq!(count_of(word), 0, "{word}");
        }
    }
}
