//! The statements that are known, as data: one file for each language, read into patterns.
//!
//! A line is `say KEY | PATTERN`, `end KEY | PATTERN` for a value that no longer holds, `ask KEY | PATTERN`,
//! `all | PATTERN`, `time | PATTERN`, or the name of a list with its words: `_` joins several to one entry, and the
//! accents of a word behind `=` count (German `=würde` is not `wurde`). Of two patterns the first that matches
//! counts. In a pattern `(a|b c)` is one of several, `[a|b c]` may be missing, `{kind}` is a slot, `{,kind}` one
//! behind a comma, `~` a time that may be missing, `...` at the beginning lets it stand anywhere, and `word*` takes
//! the rest of a word as a slot. In a key, and in a value behind a second `|`, `{1}` is what the first slot holds.
//!
//! A time may stand before any statement. Where the subject then stands behind its verb (`jetzt wohne ich`), `swap`
//! lists the subjects, and each statement that begins with one is also known in that order.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::lexer::{Gap, Word, sentences};
use super::times::Times;

/// The statements and questions of one language.
#[derive(Debug, Default)]
pub(super) struct Grammar {
    pub(super) says: Vec<Pattern>,
    pub(super) asks: Vec<Pattern>,
    pub(super) asks_for_all: Vec<Pattern>,
    /// Times since or at which something is so: `since May`, `now`.
    pub(super) times: Times,
    /// Words with which a clause may begin before what it says.
    pub(super) lead: Phrases,
    /// Words that begin another clause, as a comma does.
    pub(super) join: Phrases,
    /// Words behind which a sentence states nothing: conditions, reports, wishes.
    pub(super) never: Phrases,
    /// Words behind a value which say that it no longer holds.
    pub(super) gone: Phrases,
    /// Words that deny in other languages, and not in this one.
    pub(super) affirms: Phrases,
    /// Verbs of a message that hands over a text to work on.
    pub(super) task: Phrases,
    /// Words with which a letter begins, and those with which it ends.
    pub(super) greeting: Phrases,
    pub(super) leave: Phrases,
    /// Words that end a value.
    pub(super) stop: Phrases,
    /// Words that no value begins with.
    pub(super) bad: Phrases,
    /// Words that show a change, or only a time.
    pub(super) cue: Phrases,
    /// Those of them that say that something ended or was replaced.
    pub(super) switch: Phrases,
    /// Words for what was so before, and is no more.
    pub(super) past: Phrases,
    /// Words for what happened once: a later change leaves that as it was.
    pub(super) event: Phrases,
    /// Words by which people speak of themselves.
    pub(super) self_words: Phrases,
    /// Words of a kind: occupations, languages.
    pub(super) lists: BTreeMap<String, Phrases>,
}

/// Words in a row, as they are compared.
pub(super) type Words = Vec<String>;

/// A way to say something.
#[derive(Debug, Default)]
pub(super) struct Pattern {
    pub(super) key: String,
    pub(super) value: Option<String>,
    pub(super) parts: Vec<Part>,
    /// Set if it need not stand at the beginning of a clause.
    pub(super) is_anywhere: bool,
    /// Set if it says that the value no longer holds.
    pub(super) retracts: bool,
    /// Set if it can only stand behind a time.
    pub(super) follows_time: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Part {
    /// One of several sequences of words.
    OneOf(Vec<Words>),
    /// One of several, or none.
    Maybe(Vec<Words>),
    /// A time, or none.
    Time,
    /// A word with this beginning; the rest of it is a slot.
    Prefix(String),
    /// A value of a kind, behind a comma or not.
    Slot { kind: String, has_comma: bool },
}

impl Grammar {
    /// Reads the data of a language. Lines that are none of those above are skipped.
    pub(super) fn read(data: &str) -> Self {
        let mut grammar = Self::default();
        let mut swapped_subjects = Words::new();
        for line in data.lines() {
            let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
            match name {
                "say" => grammar.says.extend(Pattern::read(rest)),
                "end" => grammar
                    .says
                    .extend(Pattern::read(rest).map(|pattern| Pattern {
                        retracts: true,
                        ..pattern
                    })),
                "ask" => grammar
                    .asks
                    // A question may go on: "where do I live now?"
                    .extend(Pattern::read(rest).map(Pattern::with_open_end)),
                // These have no key, so the name of the line stands in its column.
                "all" => grammar.asks_for_all.extend(Pattern::read(line)),
                "time" => {
                    if let Some(pattern) = Pattern::read(line) {
                        grammar.times.add(pattern.with_open_end());
                    }
                }
                "swap" => swapped_subjects.extend(words(rest)),
                "lead" => grammar.lead.read(rest),
                "join" => grammar.join.read(rest),
                "never" => grammar.never.read(rest),
                "gone" => grammar.gone.read(rest),
                "affirms" => grammar.affirms.read(rest),
                "task" => grammar.task.read(rest),
                "greeting" => grammar.greeting.read(rest),
                "leave" => grammar.leave.read(rest),
                "bad" => grammar.bad.read(rest),
                "self" => grammar.self_words.read(rest),
                "stop" => grammar.stop.read(rest),
                "cue" => grammar.cue.read(rest),
                "switch" => {
                    grammar.cue.read(rest);
                    grammar.switch.read(rest);
                }
                "past" => grammar.past.read(rest),
                "event" => grammar.event.read(rest),
                "list" => {
                    let (name, words) = rest.split_once(' ').unwrap_or((rest, ""));
                    grammar.lists.entry(name.into()).or_default().read(words);
                }
                _ => {}
            }
        }
        // Only now, since `swap` may stand behind the statements.
        let swapped = grammar
            .says
            .iter()
            .filter_map(|pattern| pattern.swapped(&swapped_subjects));
        let swapped: Vec<Pattern> = swapped.collect();
        grammar.says.extend(swapped);
        grammar
    }
}

impl Pattern {
    fn read(line: &str) -> Option<Self> {
        // With blanks: the bar between alternatives has none.
        let mut columns = line.split(" | ").map(str::trim);
        let (key, pattern) = (columns.next()?, columns.next()?);
        let value = columns.next().map(ToString::to_string);
        let mut pattern = pattern.trim();
        let is_anywhere = pattern.starts_with("...");
        pattern = pattern.trim_start_matches('.').trim_start();
        let mut parts = Vec::new();
        while let Some(first) = pattern.chars().next() {
            let closing = match first {
                '(' => ')',
                '[' => ']',
                '{' => '}',
                ' ' => {
                    pattern = pattern.trim_start();
                    continue;
                }
                '~' => {
                    pattern = pattern.trim_start_matches('~');
                    parts.push(Part::Time);
                    continue;
                }
                _ => {
                    let end = pattern.find([' ', '(', '[', '{']).unwrap_or(pattern.len());
                    let (word, rest) = pattern.split_at_checked(end)?;
                    pattern = rest;
                    parts.push(match word.strip_suffix('*') {
                        Some(prefix) => Part::Prefix(words(prefix).concat()),
                        None => Part::OneOf(Vec::from([words(word)])),
                    });
                    continue;
                }
            };
            let (inside, rest) = pattern.strip_prefix(first)?.split_once(closing)?;
            pattern = rest;
            // Folded here once, as the words of messages are, so that comparing is comparing strings.
            let alternatives = || inside.split('|').map(words).collect();
            parts.push(match first {
                '(' => Part::OneOf(alternatives()),
                '[' => Part::Maybe(alternatives()),
                _ => Part::Slot {
                    kind: inside.trim_start_matches(',').into(),
                    has_comma: inside.starts_with(','),
                },
            });
        }
        Some(Self {
            key: key.into(),
            value,
            parts,
            is_anywhere,
            retracts: false,
            follows_time: false,
        })
    }

    /// Returns the pattern with its subject behind the verb, if it begins with one of some
    /// subjects.
    fn swapped(&self, subjects: &[String]) -> Option<Self> {
        let (beginnings, rest) = match self.parts.as_slice() {
            // Subject and verb may stand in one part (`ich wohne`) or in two (`(ich|wir) wohne`).
            [Part::OneOf(subjects), Part::OneOf(verbs), rest @ ..]
                if subjects.iter().all(|words| words.len() == 1) =>
            {
                let beginnings = subjects.iter().flat_map(|subject| {
                    let verbs = verbs.iter();
                    verbs.map(|verb| [subject.as_slice(), verb.as_slice()].concat())
                });
                (beginnings.collect(), rest)
            }
            [Part::OneOf(beginnings), rest @ ..] => (beginnings.clone(), rest),
            _ => return None,
        };
        let swap = |mut words: Words| {
            let begins = words.first().is_some_and(|first| subjects.contains(first));
            // A subject without a verb behind it in the same part has nothing to change places with.
            (begins && words.len() > 1).then(|| {
                words.swap(0, 1);
                words
            })
        };
        let beginnings: Vec<Words> = beginnings.into_iter().filter_map(swap).collect();
        let parts = core::iter::once(Part::OneOf(beginnings.clone()));
        // A pattern that may stand anywhere also matches behind a time, without being turned.
        (!self.is_anywhere && !beginnings.is_empty()).then(|| Self {
            key: self.key.clone(),
            value: self.value.clone(),
            parts: parts.chain(rest.iter().cloned()).collect(),
            is_anywhere: false,
            retracts: self.retracts,
            follows_time: true,
        })
    }

    /// Lets any words follow the last slot.
    fn with_open_end(mut self) -> Self {
        self.parts.push(Part::Maybe(Vec::new()));
        self
    }

    /// Tells whether it may begin with a slot, so with any word.
    pub(super) fn begins_with_slot(&self) -> bool {
        let mut parts = self.parts.iter();
        let first = parts.find(|part| !matches!(part, Part::Maybe(_) | Part::Time));
        !matches!(first, Some(Part::OneOf(_)))
    }

    /// Returns the words that it may begin with: the first, and the second unless a slot stands
    /// there. A pattern that begins with a slot has none.
    pub(super) fn beginnings(&self, times: &Times) -> BTreeSet<(String, Option<String>)> {
        let mut beginnings = BTreeSet::new();
        collect_beginnings(&self.parts, None, times, &mut beginnings);
        beginnings
    }
}

fn collect_beginnings(
    parts: &[Part],
    first: Option<&String>,
    times: &Times,
    to: &mut BTreeSet<(String, Option<String>)>,
) {
    let (alternatives, rest) = match parts.split_first() {
        Some((Part::OneOf(alternatives), rest)) => (alternatives, rest),
        // Without the part first, and then with it.
        Some((Part::Maybe(alternatives), rest)) => {
            collect_beginnings(rest, first, times, to);
            (alternatives, rest)
        }
        Some((Part::Time, rest)) => {
            collect_beginnings(rest, first, times, to);
            let seconds = times.first_words().cloned();
            to.extend(first.into_iter().flat_map(|first| {
                let seconds = seconds.clone();
                seconds.map(move |second| (first.clone(), Some(second)))
            }));
            return;
        }
        Some((Part::Prefix(_) | Part::Slot { .. }, _)) | None => {
            to.extend(first.map(|first| (first.clone(), None)));
            return;
        }
    };
    for words in alternatives {
        match (first, words.as_slice()) {
            (Some(first), [second, ..]) | (None, [first, second, ..]) => {
                to.insert((first.clone(), Some(second.clone())));
            }
            (None, [first]) => collect_beginnings(rest, Some(first), times, to),
            (_, []) => {}
        }
    }
}

/// Returns the words of a text, in the form in which those of a message are compared.
pub(super) fn words(text: &str) -> Words {
    let sentences = sentences(text);
    let words = sentences.into_iter().flat_map(|sentence| sentence.words);
    words.map(|word| word.folded.into_owned()).collect()
}

/// Words and sequences of words, looked up by their first.
#[derive(Debug, Default)]
pub(super) struct Phrases(BTreeMap<String, Vec<Phrase>>);

/// An entry, without its first word.
#[derive(Debug)]
struct Phrase {
    rest: Words,
    /// The first word with its accents, where another word differs in these alone.
    accented: Option<String>,
}

impl Phrases {
    /// Adds entries; `_` stands between words that belong together, `=` before a word whose accents count.
    fn read(&mut self, entries: &str) {
        for entry in entries.split_whitespace() {
            let accented = entry.strip_prefix('=');
            let mut entry = words(&entry.replace('_', " ")).into_iter();
            if let Some(first) = entry.next() {
                self.0.entry(first).or_default().push(Phrase {
                    rest: entry.collect(),
                    accented: accented.map(ToString::to_string),
                });
            }
        }
    }

    /// Returns the words that entries begin with: the first, and the second if there is one.
    pub(super) fn beginnings(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().flat_map(|(first, entries)| {
            let seconds = entries
                .iter()
                .map(|entry| entry.rest.first().map(String::as_str));
            seconds.map(move |second| (first.as_str(), second))
        })
    }

    /// Returns the number of words of the longest entry that a sequence of words begins with.
    pub(super) fn length_at(&self, words: &[Word<'_>]) -> Option<usize> {
        let (first, rest) = words.split_first()?;
        let entries = self.0.get(first.folded.as_ref())?.iter();
        let matching = entries.filter(|entry| {
            let mut accented = entry.accented.iter();
            accented.all(|accented| first.is_written(accented)) && begins_with(rest, &entry.rest)
        });
        matching.map(|entry| 1 + entry.rest.len()).max()
    }

    /// Tells whether an entry stands anywhere among some words.
    pub(super) fn is_in(&self, words: &[Word<'_>]) -> bool {
        let from = (0..words.len()).filter_map(|at| words.get(at..));
        from.into_iter()
            .any(|words| self.length_at(words).is_some())
    }

    /// Tells whether some words are an entry.
    pub(super) fn is(&self, words: &[Word<'_>]) -> bool {
        self.length_at(words) == Some(words.len())
    }
}

/// Tells whether some words begin with others, with no sign between them.
pub(super) fn begins_with(words: &[Word<'_>], others: &[String]) -> bool {
    // Checked first, because `zip` would stop at the shorter of the two.
    words.len() >= others.len()
        && words
            .iter()
            .zip(others)
            .all(|(word, other)| word.folded == *other && word.gap == Gap::Space)
}
