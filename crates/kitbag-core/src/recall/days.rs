//! The days that a query names: dates, months, years, and days relative to now.
//!
//! Only what a person would take for a date; clock times and seasons are left to the words.

mod names;

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::text::{Language, Token, fold};
use names::{Name, Unit};

/// Consecutive days, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct DayRange {
    /// The first day.
    pub first: Date,
    /// The last day.
    pub last: Date,
}

impl DayRange {
    /// Creates the range from `first` to `last`.
    #[must_use]
    pub const fn new(first: Date, last: Date) -> Self {
        Self { first, last }
    }

    /// Returns the last day on which people may still talk about these days.
    #[must_use]
    pub fn told_until(&self) -> Date {
        moved(self.last, TALKED_ABOUT)
    }

    /// Tells whether the range is short enough to look at all of its messages.
    #[must_use]
    pub fn is_short(&self) -> bool {
        days_between(self.first, self.last) <= 45
    }
}

/// The number of days for which people talk about a day.
const TALKED_ABOUT: i64 = 14;

/// Returns the nearness of a time to the nearest of the days, from 0 to 1.
pub(super) fn nearness(days: &[DayRange], at: Timestamp) -> f64 {
    let day = at.to_zoned(TimeZone::UTC).date();
    let near = |range: &DayRange| match days_between(range.last, day) {
        _ if day < range.first => 0.0,
        ..=0 if range.is_short() => 1.0,
        ..=0 => 0.3,
        _ if !range.is_short() => 0.0,
        1..=3 => 0.8,
        4..=TALKED_ABOUT => 0.6,
        _ => 0.0,
    };
    days.iter().map(near).fold(0.0, f64::max)
}

/// The days that a query names, and the tokens that name them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dates {
    pub(super) days: Vec<DayRange>,
    pub(super) tokens: BTreeSet<usize>,
}

/// Reads the days that a query names.
pub(super) fn named_days(text: &str, tokens: &[Token<'_>], now: Option<Timestamp>) -> Dates {
    let today = now.map(|now| now.to_zoned(TimeZone::UTC).date());
    let folded: Vec<String> = tokens.iter().map(|token| fold(&token.word)).collect();
    let latin = Language::likeliest(&folded);
    let words = tokens.iter().zip(&folded).enumerate();
    let signs = words.map(|(at, (token, folded))| {
        let written = text.get(token.start..);
        Sign {
            token: at,
            number: number(folded),
            name: names::meaning(folded, token.script, &latin),
            is_capital: written.is_some_and(|word| word.starts_with(char::is_uppercase)),
            dotted: dotted(folded),
        }
    });
    // Words that join the parts of a date mean nothing: the 8th of May, el 8 de mayo.
    let signs: Vec<Sign> = signs.filter(|sign| sign.name != Some(Name::Of)).collect();
    let mut dates = Dates::default();
    let mut at = 0;
    while at < signs.len() {
        let rest = signs.get(at..).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|before| signs.get(before));
        let (found, used) = numeric(rest)
            .or_else(|| month(rest, before, today))
            .or_else(|| relative(rest, before, today?))
            .or_else(|| year(rest, today))
            .unwrap_or_default();
        if !found.is_empty() {
            // The day may stand before the name of its month.
            let around = signs.iter().skip(at.saturating_sub(1)).take(used + 2);
            let of_date = around.filter(|sign| sign.is_of_date());
            // As words these count less: the day itself is looked up.
            dates.tokens.extend(of_date.map(|sign| sign.token));
        }
        dates.days.extend(found);
        at += used.max(1);
    }
    dates.days.sort_unstable();
    dates.days.dedup();
    dates
}

/// The meanings that a word may have in a date.
#[derive(Clone, Copy)]
struct Sign {
    /// The number of the token.
    token: usize,
    number: Option<i16>,
    name: Option<Name>,
    is_capital: bool,
    dotted: Option<[i16; 3]>,
}

/// The days that some signs name, and the number of the signs.
type NamedDays = (Vec<DayRange>, usize);

/// Reads dates in figures: 2023-05-08, 8.5.2023, 5/8/2023 (which may be either order).
fn numeric(signs: &[Sign]) -> Option<NamedDays> {
    let first = signs.first()?;
    if let Some([day, month, year]) = first.dotted {
        return Some((Vec::from([one(date(year, month, day)?)]), 1));
    }
    let [a, b, c] = signs.get(..3)? else {
        return None;
    };
    let (a, b, c) = (a.number?, b.number?, c.number?);
    // Only a year has four figures.
    let orders = if a >= 1000 {
        [date(a, b, c), None]
    } else if c >= 1000 {
        [date(c, a, b), date(c, b, a)]
    } else {
        return None;
    };
    let found: Vec<DayRange> = orders.into_iter().flatten().map(one).collect();
    (!found.is_empty()).then_some((found, 3))
}

/// Reads a month by its name, with the day and the year next to it.
fn month(signs: &[Sign], before: Option<&Sign>, today: Option<Date>) -> Option<NamedDays> {
    let (first, rest) = signs.split_first()?;
    let Some(Name::Month(month, doubtful)) = first.name else {
        return None;
    };
    let is_day = |number: &i16| (1..=31).contains(number);
    let mut used = 1;
    let mut numbers = rest.iter().map_while(|sign| sign.number).peekable();
    let mut day = before.and_then(|sign| sign.number).filter(is_day);
    if day.is_none() {
        day = numbers.next_if(is_day);
        used += usize::from(day.is_some());
    }
    let year = numbers.next_if(|&number| number >= 1900);
    used += usize::from(year.is_some());
    // "may" and "march" are verbs as well.
    if doubtful && day.is_none() && year.is_none() && !(first.is_capital && before.is_some()) {
        return None;
    }
    let of_year = |year: i16| match day {
        Some(day) => date(year, month, day).map(one),
        None => date(year, month, 1).map(|first| DayRange::new(first, first.last_of_month())),
    };
    let found = match (year, today) {
        (Some(year), _) => of_year(year),
        // The latest such month that has begun, since people ask about the past.
        (None, Some(today)) => of_year(today.year())
            .filter(|range| range.first <= today)
            .or_else(|| of_year(today.year().checked_sub(1)?)),
        (None, None) => None,
    };
    Some((found.into_iter().collect(), used))
}

/// Reads days that are named by their distance from today.
fn relative(signs: &[Sign], before: Option<&Sign>, today: Date) -> Option<NamedDays> {
    let first = signs.first()?;
    let second = signs.get(1);
    let is_last = |sign: Option<&Sign>| sign.and_then(|sign| sign.name) == Some(Name::Last);
    let range = match first.name? {
        // "today" and "tonight" tell when a request is made, and name no day of the past.
        Name::DaysAgo(0) => return None,
        Name::DaysAgo(days) => one(moved(today, -days)),
        Name::Weekday(weekday) => one(latest(weekday, today)),
        Name::Unit(unit) if is_last(before) || is_last(second) => last_unit(unit, today),
        Name::Unit(unit) => {
            let count = before.and_then(Sign::count)?;
            second.filter(|sign| sign.name == Some(Name::Ago))?;
            ago(unit, count, today)?
        }
        // "vor zwei Wochen", "hace dos semanas": the word for "ago" comes first.
        Name::Ago => {
            let Some(Name::Unit(unit)) = signs.get(2).and_then(|sign| sign.name) else {
                return None;
            };
            ago(unit, second.and_then(Sign::count)?, today)?
        }
        Name::Month(..) | Name::Of | Name::Last | Name::Count(_) => return None,
    };
    Some((Vec::from([range]), 1))
}

/// Reads a year by itself.
fn year(signs: &[Sign], today: Option<Date>) -> Option<NamedDays> {
    let year = signs.first()?.number?;
    let latest = today.map_or(2100, |today| today.year() + 1);
    if !(1990..=latest).contains(&year) {
        return None;
    }
    let range = DayRange::new(date(year, 1, 1)?, date(year, 12, 31)?);
    Some((Vec::from([range]), 1))
}

impl Sign {
    fn is_of_date(&self) -> bool {
        self.name.is_some() || self.number.is_some() || self.dotted.is_some()
    }

    /// Returns a small number, in figures or as a word.
    fn count(&self) -> Option<i64> {
        match self.name {
            Some(Name::Count(count)) => Some(count),
            _ => self
                .number
                .filter(|number| (1..1000).contains(number))
                .map(i64::from),
        }
    }
}

fn last_unit(unit: Unit, today: Date) -> DayRange {
    let monday = moved(today, -i64::from(today.weekday().to_monday_zero_offset()));
    match unit {
        Unit::Day => one(moved(today, -1)),
        Unit::Week => DayRange::new(moved(monday, -7), moved(monday, -1)),
        Unit::Weekend => {
            let saturday = latest(Weekday::Saturday, today);
            DayRange::new(saturday, moved(saturday, 1))
        }
        Unit::Month => {
            let last = moved(today.first_of_month(), -1);
            DayRange::new(last.first_of_month(), last)
        }
        Unit::Year => {
            let last = moved(today.first_of_year(), -1);
            DayRange::new(last.first_of_year(), last)
        }
    }
}

/// Returns the days `count` units ago, as roughly as people mean it.
fn ago(unit: Unit, count: i64, today: Date) -> Option<DayRange> {
    let (days, around) = match unit {
        // People count few days exactly, and many roughly.
        Unit::Day => (1, count / 4),
        Unit::Week | Unit::Weekend => (7, 3),
        Unit::Month => (30, 15),
        Unit::Year => (365, 182),
    };
    let day = moved(today, -count.checked_mul(days)?);
    Some(DayRange::new(moved(day, -around), moved(day, around)))
}

/// Returns the latest such weekday before today.
fn latest(weekday: Weekday, today: Date) -> Date {
    moved(
        today,
        // From one to seven days ago: asked on a Monday, "on Monday" is not today.
        -i64::from((today.weekday().since(weekday) + 6) % 7 + 1),
    )
}

fn one(day: Date) -> DayRange {
    DayRange::new(day, day)
}

fn date(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()
}

fn moved(day: Date, days: i64) -> Date {
    // A count is below a thousand, and a thousand years of days are well within a span.
    let span = Span::new().try_days(days).unwrap_or_default();
    day.saturating_add(span)
}

fn days_between(first: Date, last: Date) -> i64 {
    first.duration_until(last).as_hours() / 24
}

/// Reads a number as people write it in dates: 3, 3rd, 2023.
fn number(word: &str) -> Option<i16> {
    let figures = word.trim_end_matches(|c: char| c.is_alphabetic());
    if word.len() > figures.len() + 2 || figures.len() > 4 {
        return None;
    }
    figures.parse().ok()
}

/// Reads the parts of 8.5.2023.
fn dotted(word: &str) -> Option<[i16; 3]> {
    let mut parts = word.splitn(3, '.').map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests;
