//! Measures counting, one JSON object a line on stdout; `cargo xtask bench core` reads it.
//!
//! - `files LIST COUNTS` counts the files whose paths are the lines of LIST with o200k_base, best of
//!   three, and writes each file's count into COUNTS.
//! - `worst` counts ten megabytes of each input that is hard for tokenizers, with every vocabulary
//!   in the build.
//! - `vocabulary FILE` writes o200k_base in the form in which it is published: base64 and rank.

#![expect(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use kitbag::core::tokens::{TokenCounter, Tokens};
use kitbag::tokens::{Counter, Vocabulary};

const WORST_CASE_BYTES: usize = 10_000_000;
const CODE_SAMPLE_BYTES: usize = 200_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words = arguments.iter().map(String::as_str);
    // Cargo adds a flag of its own.
    let words: Vec<&str> = words.filter(|word| *word != "--bench").collect();
    match words.as_slice() {
        ["files", list, counts] => files(list, counts),
        ["worst"] => worst(),
        ["vocabulary", file] => vocabulary(file),
        [] => Ok(()),
        other => Err(format!("no such measurement: {}", other.join(" ")).into()),
    }
}

fn files(list: &str, counts: &str) -> Result<(), Box<dyn Error>> {
    let texts = fs::read_to_string(list)?
        .lines()
        .map(fs::read_to_string)
        .collect::<Result<Vec<String>, _>>()?;
    let counter = Counter::for_vocabulary(Vocabulary::O200kBase)?;
    counter.load();

    let count_all = || texts.iter().map(|text| counter.count(text)).collect();
    let (seconds, result): (f64, Vec<Tokens>) = best_of_three(count_all);
    let lines: Vec<String> = result.iter().map(ToString::to_string).collect();
    fs::write(counts, lines.join("\n"))?;

    let code = texts.concat();
    let end = code.floor_char_boundary(CODE_SAMPLE_BYTES);
    let sample = code.get(..end).unwrap_or_default();
    let (sample_seconds, _) = best_of_three(|| counter.count(sample));

    let tokens: Tokens = result.into_iter().sum();
    println!(
        r#"{{"bench":"count","bytes":{},"tokens":{tokens},"seconds":{seconds},"sample_bytes":{},"sample_seconds":{sample_seconds}}}"#,
        code.len(),
        sample.len(),
    );
    Ok(())
}

fn best_of_three<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let start = Instant::now();
        let result = black_box(run());
        (start.elapsed().as_secs_f64(), result)
    };
    let (first, _) = timed();
    let (second, _) = timed();
    let (third, result) = timed();
    (first.min(second).min(third), result)
}

fn worst() -> Result<(), Box<dyn Error>> {
    let cases = worst_cases();
    for vocabulary in Vocabulary::available() {
        let counter = Counter::for_vocabulary(vocabulary)?;
        counter.load();
        for (input, text) in &cases {
            let start = Instant::now();
            let tokens = black_box(counter.count(text));
            let seconds = start.elapsed().as_secs_f64();
            println!(
                r#"{{"bench":"worst","tokenizer":"{vocabulary}","input":"{input}","bytes":{},"tokens":{tokens},"seconds":{seconds}}}"#,
                text.len(),
            );
        }
    }
    Ok(())
}

fn worst_cases() -> Vec<(&'static str, String)> {
    let repeated = |pattern: &str| pattern.repeat(WORST_CASE_BYTES / pattern.len());
    vec![
        ("spaces", repeated(" ")),
        ("newlines", repeated("\n")),
        ("one letter", repeated("a")),
        ("equals signs", repeated("=")),
        ("blank lines", repeated("\n    ")),
        ("slashes and newlines", repeated("/\n")),
        ("Chinese paragraphs", repeated("　　他说今天天气很好。\n")),
        ("wide spaces", repeated("\u{3000}\u{3000}a")),
        ("random a-z", random('a', 26)),
        ("random letters", random_of(LETTERS)),
        ("random A-Z", random('A', 26)),
        ("random printable ASCII", random('!', 94)),
        ("random base64", random_of(BASE64)),
        ("random Chinese", random('\u{4E00}', 20_000)),
        ("random Hangul", random('\u{AC00}', 11_000)),
        ("random Cyrillic", random('\u{410}', 64)),
        ("random Devanagari", random('\u{904}', 54)),
        ("random emoji", random('\u{1F600}', 80)),
    ]
}

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Characters from `first` on, in an order that is always the same.
fn random(first: char, how_many: u32) -> String {
    let last = u32::from(first).saturating_add(how_many - 1);
    let alphabet: String = (u32::from(first)..=last)
        .filter_map(char::from_u32)
        .collect();
    random_of(&alphabet)
}

fn random_of(alphabet: &str) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = 0x853C_49E6_748F_EA9B_u64;
    let mut text = String::with_capacity(WORST_CASE_BYTES + 4);
    while text.len() < WORST_CASE_BYTES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let index = usize::try_from(state >> 33).unwrap_or_default() % alphabet.len();
        text.extend(alphabet.get(index));
    }
    text
}

fn vocabulary(file: &str) -> Result<(), Box<dyn Error>> {
    let name = Vocabulary::O200kBase.name();
    let table = tiktoken::get_encoding(name).ok_or("the vocabulary is missing")?;
    let mut lines = String::new();
    for rank in 0..u32::try_from(table.vocab_size())? {
        let token = base64(&table.decode(&[rank]));
        lines.push_str(&format!("{token} {rank}\n"));
    }
    fs::write(file, lines)?;
    Ok(())
}

fn base64(bytes: &[u8]) -> String {
    let digit = |six_bits: u32| BASE64.chars().nth(six_bits as usize & 63).unwrap_or('=');
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digits = [bits >> 18, bits >> 12, bits >> 6, bits].map(digit);
        text.extend(digits.iter().take(group.len() + 1));
        text.extend(std::iter::repeat_n('=', 3 - group.len()));
    }
    text
}
