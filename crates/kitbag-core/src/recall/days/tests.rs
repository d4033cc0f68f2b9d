//! Dates as people name them.

use jiff::Timestamp;

use super::*;
use crate::text::tokens;

/// A Wednesday.
const NOW: &str = "2024-05-15T12:00:00Z";

fn days(text: &str) -> Vec<String> {
    let now: Timestamp = NOW.parse().unwrap();
    let tokens: Vec<Token<'_>> = tokens(text).collect();
    let found = named_days(text, &tokens, Some(now)).days;
    let show = |range: DayRange| {
        if range.first == range.last {
            format!("{}", range.first)
        } else {
            format!("{}..{}", range.first, range.last)
        }
    };
    found.into_iter().map(show).collect()
}

#[test]
fn x04_dates_are_read_in_many_forms() {
    for text in [
        "What happened on 2023-05-08?",
        "on 8 May 2023",
        "on May 8, 2023",
        "May 8th 2023",
        "on the 8th of May 2023",
        "am 8. Mai 2023, was haben wir gemacht",
        "Was war am 08.05.2023?",
        "qu'est-ce que nous avons fait le 8 mai 2023",
        "¿qué hicimos el 8 de mayo de 2023?",
        "Что было 8 мая 2023?",
    ] {
        assert_eq!(days(text), ["2023-05-08"], "{text}");
    }
    assert_eq!(days("on 5/8/2023"), ["2023-05-08", "2023-08-05"]);
    assert_eq!(days("in June 2023"), ["2023-06-01..2023-06-30"]);
    assert_eq!(days("the trip in 2022"), ["2022-01-01..2022-12-31"]);
}

#[test]
fn x04_a_month_without_a_year_is_the_latest() {
    assert_eq!(days("what did I do in March"), ["2024-03-01..2024-03-31"]);
    assert_eq!(days("our plans in September?"), ["2023-09-01..2023-09-30"]);
    assert_eq!(days("on April 3rd"), ["2024-04-03"]);
    assert_eq!(days("may I march there?"), Vec::<String>::new());
}

#[test]
fn x04_relative_days_count_from_now() {
    for (text, day) in [
        ("what did I say yesterday?", "2024-05-14"),
        ("Was habe ich gestern gesagt?", "2024-05-14"),
        ("qu'est-ce que j'ai dit hier ?", "2024-05-14"),
        ("что я говорил вчера", "2024-05-14"),
        ("我昨天说了什么", "2024-05-14"),
        ("what did we plan on Monday", "2024-05-13"),
        ("what did we do last Wednesday", "2024-05-08"),
        ("the film from last week", "2024-05-06..2024-05-12"),
        ("la semana pasada me dijiste que", "2024-05-06..2024-05-12"),
        ("was war letzte Woche", "2024-05-06..2024-05-12"),
        ("the film from last month", "2024-04-01..2024-04-30"),
        ("what did I do last weekend", "2024-05-11..2024-05-12"),
        ("two weeks ago", "2024-04-28..2024-05-04"),
        ("a month ago", "2024-03-31..2024-04-30"),
        ("wer war vor zwei Wochen hier", "2024-04-28..2024-05-04"),
    ] {
        assert_eq!(days(text), [day], "{text}");
    }
    assert_eq!(days("the last time, a week of work"), Vec::<String>::new());
}

#[test]
fn without_a_time_only_full_dates_are_known() {
    let text = "yesterday, in May, on 2023-05-08";
    let tokens: Vec<Token<'_>> = tokens(text).collect();
    assert_eq!(named_days(text, &tokens, None).days.len(), 1);
}

#[test]
fn x04_people_talk_of_a_day_on_it_or_soon_after() {
    let range = [one(date(2023, 5, 8).unwrap())];
    let at = |day: &str| nearness(&range, format!("{day}T20:00:00Z").parse().unwrap());
    assert!(at("2023-05-08") > at("2023-05-10"));
    assert!(at("2023-05-10") > at("2023-05-20"));
    assert!(at("2023-05-07") == 0.0 && at("2023-06-20") == 0.0);
}
