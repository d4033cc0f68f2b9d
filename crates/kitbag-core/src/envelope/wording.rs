//! The languages in which tasks are understood: the words that tell the type of a task, and how a
//! prompt for it ends. Each is a table; English has its own words in `infer/cues`.
//!
//! It tells which of them a request is in by grammar and by those words, and knows no other language:
//! a request in one that is not here gets an English ending.

use alloc::string::String;
use alloc::vec::Vec;

use super::TaskType;
use super::infer::{Words, english_cues, head};
use crate::text::{Language, Script, fold};

/// Returns what a prompt ends in: what a model is to do, in the language of the request. Without a
/// type it says what holds for all.
///
/// ```
/// use kitbag_core::envelope::{TaskType, ending};
///
/// assert!(ending(Some(TaskType::Debug), "fix the login").starts_with("As a debug task"));
/// assert!(ending(None, "Warum wird der Login abgelehnt?").starts_with("Bitte tue"));
/// ```
#[must_use]
pub fn ending(task_type: Option<TaskType>, request: &str) -> &'static str {
    named(task_type.map_or("any", TaskType::as_str), request)
}

/// Returns the note for a model about the context of a code base, in the language of the request: that it
/// is material and no orders, and how more of it is had.
#[must_use]
pub fn context_note(request: &str) -> &'static str {
    named("note", request)
}

fn named(name: &str, request: &str) -> &'static str {
    let mut lines = Wording::of(request).table.lines();
    let found = lines.find_map(|line| {
        let (of, text) = line.strip_prefix("ending ")?.split_once(": ")?;
        (of == name).then_some(text)
    });
    // A test sees to it that every table has every ending.
    found.unwrap_or_default()
}

/// The table of a language.
pub(super) struct Wording {
    /// The language whose grammar tells a text in Latin letters.
    language: Option<Language>,
    /// Tells a character that only this language has, of those that are here.
    is_own: fn(char) -> bool,
    table: &'static str,
}

static ENGLISH: Wording = Wording::latin(Language::English, include_str!("wording/english.txt"));

/// All but English. Japanese comes before Chinese, whose signs it shares.
static OTHERS: [Wording; 9] = [
    Wording::latin(Language::German, include_str!("wording/german.txt")),
    Wording::latin(Language::French, include_str!("wording/french.txt")),
    Wording::latin(Language::Spanish, include_str!("wording/spanish.txt")),
    Wording::latin(Language::Italian, include_str!("wording/italian.txt")),
    Wording::latin(Language::Portuguese, include_str!("wording/portuguese.txt")),
    Wording::latin(Language::Dutch, include_str!("wording/dutch.txt")),
    Wording::script(
        |c| Script::of(c) == Some(Script::Cyrillic),
        include_str!("wording/russian.txt"),
    ),
    Wording::script(
        |c| matches!(c, '\u{3041}'..='\u{30ff}'),
        include_str!("wording/japanese.txt"),
    ),
    Wording::script(
        |c| matches!(c, '\u{4e00}'..='\u{9fff}'),
        include_str!("wording/chinese.txt"),
    ),
];

impl Wording {
    const fn latin(language: Language, table: &'static str) -> Self {
        Self {
            language: Some(language),
            is_own: |_| false,
            table,
        }
    }

    const fn script(is_own: fn(char) -> bool, table: &'static str) -> Self {
        Self {
            language: None,
            is_own,
            table,
        }
    }

    /// The language of a request; English where nothing speaks for another.
    pub(super) fn of(request: &str) -> &'static Self {
        let prose = Words::of_request(request);
        let folded: Vec<String> = prose.iter().take(READ).map(fold).collect();
        let grammar = |language: Language| {
            let words = folded.iter();
            words.filter(|word| language.is_stop_word(word)).count()
        };
        let score = |wording: &Self| {
            let cues = wording.cues(&prose).count();
            wording.language.map_or(0, grammar) + 2 * cues
        };
        let others = OTHERS.iter().filter(|wording| wording.language.is_some());
        let english = grammar(Language::English) + 2 * english_cues(request);
        let mut scripts = OTHERS.iter().filter(|wording| wording.language.is_none());
        let own = scripts.find(|wording| prose.iter().any(|word| word.contains(wording.is_own)));
        // An English request may speak of a word in another script.
        if let Some(own) = own.filter(|_| english == 0 || is_mostly_foreign(&prose)) {
            return own;
        }
        let mut best: (usize, &Self) = (english.max(1), &ENGLISH);
        for wording in others {
            let score = score(wording);
            if score > best.0 {
                best = (score, wording);
            }
        }
        best.1
    }

    /// The words of a request that tell its type in this language.
    pub(super) fn cues<'w>(
        &self,
        words: &'w Words,
    ) -> impl Iterator<Item = (TaskType, u32, &'static str)> + use<'w> {
        let lines = self.table.lines().filter_map(head);
        lines.flat_map(move |(task_type, weight, list)| {
            let cues = list.split(", ");
            let heard = cues.filter(|cue| words.has(cue));
            heard.map(move |cue| (task_type, weight, cue))
        })
    }
}

/// Tells if most of a request is in another script than the Latin one. A sign of Chinese or Japanese says
/// about as much as three letters.
fn is_mostly_foreign(prose: &Words) -> bool {
    let letters = prose.iter().flat_map(str::chars);
    let letters = letters.filter(|c| c.is_alphabetic());
    let (mut latin, mut foreign) = (0, 0);
    for letter in letters {
        match letter {
            '\0'..='\u{36f}' => latin += 1,
            '\u{370}'..='\u{2e7f}' => foreign += 1,
            _ => foreign += 3,
        }
    }
    foreign >= latin
}

/// The number of words that show the language of a request.
const READ: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_an_ending_for_every_type() {
        for wording in OTHERS.iter().chain([&ENGLISH]) {
            let endings = wording.table.lines();
            let endings = endings.filter_map(|line| line.strip_prefix("ending "));
            let names: Vec<&str> = endings
                .filter_map(|line| line.split_once(": "))
                .map(|(name, _)| name)
                .collect();
            let mut expected: Vec<&str> = TaskType::ALL.into_iter().map(TaskType::as_str).collect();
            expected.extend(["any", "note"]);
            assert_eq!(names, expected);
            let lines = wording
                .table
                .lines()
                .filter(|line| !line.starts_with(['#', 'e']));
            for line in lines {
                assert!(head(line).is_some(), "{line}");
            }
        }
    }

    #[test]
    fn a_prompt_ends_in_the_language_of_its_request() {
        for (request, beginning) in [
            ("fix the login", "Please do"),
            ("Behebe den Fehler im Parser", "Bitte tue"),
            ("Warum stürzt `kitbag` ab?", "Bitte tue"),
            ("Explique el parser", "Haz lo"),
            ("Pourquoi la connexion est refusée ?", "Merci de faire"),
            ("Aggiungi una pagina di login", "Fai ciò"),
            ("Adicione uma página de login", "Faça o"),
            ("Waarom werkt de login niet?", "Doe wat"),
            ("Почему падает парсер?", "Сделай"),
            ("修复登录错误", "请根据"),
            ("ログインのバグを修正して", "上の"),
            ("Añade un test para el login", "Haz lo"),
            ("the parser drops the last line", "Please do"),
            ("update docs/guide.md", "Please do"),
            ("fix the garbled 日本 column in the CSV export", "Please do"),
            ("Search for привет finds nothing", "Please do"),
            ("修复 authentication middleware 错误", "请根据"),
            ("fix: 登录页面在提交后没有跳转", "请根据"),
            ("", "Please do"),
        ] {
            assert!(
                ending(None, request).starts_with(beginning),
                "{request}: {}",
                ending(None, request)
            );
        }
    }
}
