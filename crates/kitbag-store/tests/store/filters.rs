//! Filters: the same messages in recall, export and the list of conversations, on both databases.

use std::collections::BTreeSet;

use kitbag_core::message::{Message, MessageMetadata};
use kitbag_core::role::Role;
use kitbag_store::{
    ExportFilter, Import, Incoming, MessageFilter, MessageTime, NewMessage, RecallRequest, Store,
};

use crate::on_both;
use crate::place::second;

on_both! {
    x04_the_limit_is_met_from_what_a_filter_admits
    x04_times_are_compared_as_they_were_written
    x04_metadata_and_words_are_compared
    x04_recall_and_export_agree_on_a_filter
    x04_a_message_is_found_at_its_own_time
}

fn time(text: &str) -> MessageTime {
    MessageTime::parse(text).unwrap()
}

/// 3,000 messages about apples in 30 conversations, one a day; every tenth is an answer.
async fn fill(store: &Store) {
    let messages = (0..3_000).map(|n| {
        let role = match n % 10 {
            9 => Role::Assistant,
            _ => Role::User,
        };
        let at = second(i64::from(n / 100) * 86_400 + i64::from(n % 100));
        let message = NewMessage::new(role, format!("apples number {n}"))
            .at(at)
            .with_reference(format!("r{n}"));
        Import::new("cli", "ann", Some(format!("day {}", n / 100)), message)
    });
    store.import(messages.collect(), second(0)).await.unwrap();
}

async fn recalled(store: &Store, filter: MessageFilter, limit: usize) -> Vec<String> {
    let request = RecallRequest::new("ann", "apples")
        .among(filter)
        .limit(limit);
    let hits = store.recall(&request).await.unwrap();
    let texts = hits.iter().map(|hit| hit.message.text().into_owned());
    texts.collect()
}

async fn exported(store: &Store, filter: MessageFilter) -> BTreeSet<String> {
    let filter = ExportFilter::new(Some("ann".into()), None).among(filter);
    let (mut texts, mut after) = (BTreeSet::new(), None);
    loop {
        let (page, next) = store.export(&filter, after, 700).await.unwrap();
        texts.extend(
            page.into_iter()
                .map(|one| one.unwrap().message.text().into_owned()),
        );
        if next.is_none() {
            return texts;
        }
        after = next;
    }
}

fn number(text: &str) -> u32 {
    text.rsplit(' ').next().unwrap().parse().unwrap()
}

/// All are alike by their words: without the filter, the newest come, and none of those asked for.
async fn x04_the_limit_is_met_from_what_a_filter_admits(store: Store) {
    fill(&store).await;
    let day = |day: i64| second(day * 86_400);
    let early = MessageFilter::default().since(day(2)).until(day(3));
    let found = recalled(&store, early.clone(), 50).await;
    assert_eq!(found.len(), 50);
    assert!(
        found.iter().all(|text| (200..300).contains(&number(text))),
        "{found:?}"
    );
    let answers = recalled(&store, early.clone().by_role(Role::Assistant), 50).await;
    assert_eq!(answers.len(), 10);
    assert!(answers.iter().all(|text| number(text) % 10 == 9));
    let both = MessageFilter::default()
        .in_conversation("day 4")
        .in_conversation("day 5");
    let found = recalled(&store, both.by_role(Role::Assistant), 50).await;
    assert_eq!(found.len(), 20);
    assert!(found.iter().all(|text| (400..600).contains(&number(text))));
    let id = store
        .latest_conversations(&ExportFilter::default(), 1)
        .await
        .unwrap();
    let by_id = MessageFilter::default().in_conversation(id[0].conversation.id);
    let found = recalled(&store, by_id, 200).await;
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|text| number(text) >= 2_900));
    let newest = id[0].conversation.id;
    let others = MessageFilter::default().except_conversation(newest);
    let others = others
        .except_conversation("day 28")
        .except_conversation("nowhere");
    let found = recalled(&store, others, 200).await;
    assert_eq!(found.len(), 200);
    assert!(found.iter().all(|text| number(text) < 2_800), "{found:?}");
    let none = MessageFilter::default()
        .in_conversation("day 4")
        .except_conversation("day 4");
    assert!(recalled(&store, none, 5).await.is_empty());
    let nowhere = MessageFilter::default().in_conversation("nowhere");
    assert!(recalled(&store, nowhere, 5).await.is_empty());
    let active = ExportFilter::default().among(early);
    let latest = store.latest_conversations(&active, 9).await.unwrap();
    let names: Vec<_> = latest
        .into_iter()
        .map(|one| one.conversation.name.unwrap())
        .collect();
    assert_eq!(names, ["day 2"]);
}

async fn x04_times_are_compared_as_they_were_written(store: Store) {
    let said = [
        ("apples 1", Some("2024-05-01T23:30:00")),
        ("apples 2", Some("2024-05-01T23:30:00-08:00")),
        ("apples 3", Some("2024-05-02T01:00:00+09:00")),
        ("apples 4", None),
    ];
    let said = said.map(|(text, at)| {
        let mut message = NewMessage::new(Role::User, text);
        message.at = at.map(time);
        Import::new("cli", "ann", Some("talk".into()), message)
    });
    store.import(said.into(), second(0)).await.unwrap();
    let of = async |filter: MessageFilter| {
        let mut found = recalled(&store, filter.clone(), 9).await;
        found.sort();
        let exported: Vec<String> = exported(&store, filter).await.into_iter().collect();
        assert_eq!(found, exported);
        found
    };
    let none = MessageFilter::default;
    // By the clocks on the speakers' walls.
    assert_eq!(
        of(none().until(time("2024-05-02"))).await,
        ["apples 1", "apples 2"]
    );
    assert_eq!(of(none().since(time("2024-05-02"))).await, ["apples 3"]);
    // By moments: the second was said at 07:30 UTC of the next day, the third at 16:00 UTC of the first.
    assert_eq!(
        of(none().until(time("2024-05-02T00:00:00Z"))).await,
        ["apples 1", "apples 3"]
    );
    assert_eq!(
        of(none().since(time("2024-05-02T00:00:00Z"))).await,
        ["apples 2"]
    );
    assert_eq!(of(none()).await.len(), 4);
}

async fn x04_metadata_and_words_are_compared(store: Store) {
    let mut first = Message::user("Apples from the Kätzchen shop");
    let metadata = MessageMetadata {
        run_id: Some("r7".into()),
        step_index: Some(3),
        ..MessageMetadata::default()
    };
    first.metadata = Some(metadata);
    let mut second_ = Message::user("apples again");
    second_.extra.insert(
        "shop".into(),
        serde_json::json!({"city": "Porto", "open": true}),
    );
    let mut said: Vec<Import> = [first, second_, Message::user("apples for the third time")]
        .map(|message| Import::new("cli", "ann", Some("talk".into()), message.into()))
        .into();
    let quiet = NewMessage::new(Role::User, "apples that may not come back").not_recallable();
    said.push(Import::new("cli", "ann", Some("talk".into()), quiet));
    store.import(said, second(0)).await.unwrap();
    let count = async |filter: MessageFilter| {
        let found = recalled(&store, filter.clone(), 9).await;
        (found.len(), exported(&store, filter).await.len())
    };
    let with = |key: &str, value: &str| MessageFilter::default().with_metadata(key, value);
    assert_eq!(count(with("run_id", "r7")).await, (1, 1));
    assert_eq!(
        count(with("run_id", "r7").with_metadata("step_index", "3")).await,
        (1, 1)
    );
    assert_eq!(
        count(with("run_id", "r7").with_metadata("step_index", "4")).await,
        (0, 0)
    );
    assert_eq!(count(with("shop.city", "Porto")).await, (1, 1));
    assert_eq!(count(with("shop.open", "true")).await, (1, 1));
    let words = |words: &str| MessageFilter::default().with_words(words);
    assert_eq!(count(words("kätzchen APPLES")).await, (1, 1));
    assert_eq!(count(words("time")).await, (1, 1));
    assert_eq!(count(words("times apple")).await, (1, 1), "by their stems");
    assert_eq!(count(words("tim")).await, (0, 0), "no part of a word");
    assert_eq!(count(words("come back")).await, (0, 1));
}

async fn x04_recall_and_export_agree_on_a_filter(store: Store) {
    fill(&store).await;
    let day = |day: i64| second(day * 86_400 + 50);
    for filter in [
        MessageFilter::default().since(day(28)),
        MessageFilter::default().until(day(1)),
        MessageFilter::default()
            .since(day(3))
            .until(day(5))
            .by_role(Role::User),
        MessageFilter::default()
            .since(day(9))
            .until(day(10))
            .in_conversation("day 9"),
        MessageFilter::default().by_role(Role::Tool),
    ] {
        let found: BTreeSet<String> = recalled(&store, filter.clone(), 5_000)
            .await
            .into_iter()
            .collect();
        assert_eq!(found, exported(&store, filter).await);
    }
}

/// A turn that was accepted late belongs to the time at which it was said.
async fn x04_a_message_is_found_at_its_own_time(store: Store) {
    let mut incoming = Incoming::new("cli", "ann", "apples of last year");
    incoming.message.at = Some(second(-400 * 86_400).into());
    store.accept(&incoming, second(0)).await.unwrap();
    let past = MessageFilter::default().until(second(-300 * 86_400));
    assert_eq!(recalled(&store, past, 5).await, ["apples of last year"]);
}
