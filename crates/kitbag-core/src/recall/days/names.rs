//! The words of dates in the common languages, without accents.

mod tables;

use jiff::civil::Weekday;

use crate::text::{Language, Script};
use tables::DateWords;

/// What a word means in a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// A month, and whether the word is a common one besides.
    Month(i16, bool),
    /// A day of the week.
    Weekday(Weekday),
    /// A stretch of time.
    Unit(Unit),
    /// A day so long before today.
    DaysAgo(i64),
    /// "last": the stretch before this one.
    Last,
    /// "ago".
    Ago,
    /// A number in words.
    Count(i64),
    /// A word that joins the parts of a date.
    Of,
}

/// A stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Weekend,
    Month,
    Year,
}

/// What a folded word means in a date when its text is in one of `latin` as far as it is Latin.
pub(super) fn meaning(folded: &str, script: Script, latin: &[Language]) -> Option<Name> {
    match script {
        Script::Latin => latin
            .iter()
            .find_map(|&language| meaning_in(language, folded)),
        Script::Unspaced => {
            let found = UNSPACED.iter().find(|(word, _)| folded.contains(word));
            found.map(|&(_, days)| Name::DaysAgo(days))
        }
        other => meaning_in(Language::of_script(other)?, folded),
    }
}

fn meaning_in(language: Language, folded: &str) -> Option<Name> {
    let words = DateWords::of(language)?;
    let number = |groups: &str| position(groups, folded).and_then(|at| i64::try_from(at).ok());
    if let Some(month) = position(words.months, folded) {
        return Some(Name::Month(
            i16::try_from(month + 1).ok()?,
            DOUBTFUL.contains(&folded),
        ));
    }
    if let Some(day) = position(words.weekdays, folded) {
        let weekday = Weekday::from_monday_zero_offset(i8::try_from(day).ok()?).ok()?;
        return Some(Name::Weekday(weekday));
    }
    if let Some(unit) = position(words.units, folded) {
        return UNITS.get(unit).copied().map(Name::Unit);
    }
    if let Some(days) = number(words.days_ago) {
        return Some(Name::DaysAgo(days));
    }
    let is_one_of = |words: &str| words.split(' ').any(|word| word == folded);
    if is_one_of(words.last) {
        Some(Name::Last)
    } else if is_one_of(words.ago) {
        Some(Name::Ago)
    } else if is_one_of(words.of) {
        Some(Name::Of)
    } else {
        number(words.counts).map(|count| Name::Count(count + 1))
    }
}

const UNITS: [Unit; 5] = [
    Unit::Day,
    Unit::Week,
    Unit::Weekend,
    Unit::Month,
    Unit::Year,
];

/// In which of the groups a word is.
fn position(groups: &str, word: &str) -> Option<usize> {
    groups
        .split('|')
        .position(|group| group.split(' ').any(|other| other == word))
}

/// Months that are other words as well.
const DOUBTFUL: [&str; 8] = ["dec", "jan", "mai", "maj", "mar", "march", "mars", "may"];

/// Days in scripts without spaces, and how long before today they are.
const UNSPACED: [(&str, i64); 10] = [
    ("一昨日", 2),
    ("昨天", 1),
    ("昨日", 1),
    ("前天", 2),
    ("今天", 0),
    ("今日", 0),
    ("어제", 1),
    ("그저께", 2),
    ("오늘", 0),
    ("เมื่อวาน", 1),
];
