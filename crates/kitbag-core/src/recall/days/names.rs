//! The words of dates in the common languages.
//!
//! Each file under `names/` holds the words of one language without accents, a line for each kind.
//! Words of one meaning are separated by spaces, meanings that are counted by `|`: months from
//! January, weekdays from Monday, days ago from today, counts from one. `-` stands for none.

use jiff::civil::Weekday;

use crate::text::{Language, Script, is_listed};

/// The meaning of a word in a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// A month; true if the word is a common one, too.
    Month(i16, bool),
    /// A day of the week.
    Weekday(Weekday),
    /// A stretch of time.
    Unit(Unit),
    /// The day that is this many days before today.
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

/// Returns the meaning of a folded word in a date, in a text whose Latin words are in one of
/// `latin`.
pub(super) fn meaning(folded: &str, script: Script, latin: &[Language]) -> Option<Name> {
    match script {
        Script::Latin => latin
            .iter()
            .find_map(|&language| meaning_in(language, folded)),
        Script::Unspaced => {
            // A token of such a script may hold several words.
            let holds = |words: &str| words.split(' ').any(|word| folded.contains(word));
            let found = UNSPACED.iter().find(|(_, words)| holds(words));
            found.map(|&(days, _)| Name::DaysAgo(days))
        }
        other => meaning_in(Language::of_script(other)?, folded),
    }
}

fn meaning_in(language: Language, folded: &str) -> Option<Name> {
    // Few words of a text are words of dates, and looking for one line by line takes long.
    let words = date_words(language).filter(|words| words.contains(folded))?;
    let (kind, at) = words.lines().find_map(|line| {
        let (kind, meanings) = line.split_once(": ")?;
        let at = meanings
            .split('|')
            .position(|words| is_listed(words, folded));
        Some((kind, at?))
    })?;
    let at = i8::try_from(at).ok()?;
    Some(match kind {
        "months" => Name::Month(i16::from(at) + 1, DOUBTFUL.contains(&folded)),
        "weekdays" => Name::Weekday(Weekday::from_monday_zero_offset(at).ok()?),
        "day" => Name::Unit(Unit::Day),
        "week" => Name::Unit(Unit::Week),
        "weekend" => Name::Unit(Unit::Weekend),
        "month" => Name::Unit(Unit::Month),
        "year" => Name::Unit(Unit::Year),
        "days_ago" => Name::DaysAgo(at.into()),
        "last" => Name::Last,
        "ago" => Name::Ago,
        "of" => Name::Of,
        "counts" => Name::Count(i64::from(at) + 1),
        _ => return None,
    })
}

/// Returns the words of a language for days; none if they are not known.
const fn date_words(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::English => include_str!("names/english.txt"),
        Language::German => include_str!("names/german.txt"),
        Language::French => include_str!("names/french.txt"),
        Language::Spanish => include_str!("names/spanish.txt"),
        Language::Italian => include_str!("names/italian.txt"),
        Language::Portuguese => include_str!("names/portuguese.txt"),
        Language::Dutch => include_str!("names/dutch.txt"),
        Language::Swedish => include_str!("names/swedish.txt"),
        Language::Danish => include_str!("names/danish.txt"),
        Language::Norwegian => include_str!("names/norwegian.txt"),
        Language::Polish => include_str!("names/polish.txt"),
        Language::Russian => include_str!("names/russian.txt"),
        _ => return None,
    })
}

/// Months that are other words as well.
const DOUBTFUL: [&str; 8] = ["dec", "jan", "mai", "maj", "mar", "march", "mars", "may"];

/// Days in scripts without spaces, and their distance from today. The order matters: 一昨日 holds 昨日.
const UNSPACED: [(i64, &str); 3] = [
    (2, "一昨日 前天 그저께"),
    (1, "昨天 昨日 어제 เมื่อวาน"),
    (0, "今天 今日 오늘"),
];
