//! Messages that change: by hand, or under the same reference in a later import.

use kitbag_core::role::Role;
use kitbag_store::{
    ExportFilter, Forget, Import, ImportBatch, Imported, LatestConversation, MessageId, NewFact,
    NewMessage, NewSummary, RecallRequest, Store, SummaryMaker,
};

use crate::on_both;
use crate::place::{new_tenant, second};

on_both! {
    x12_an_edited_message_keeps_its_older_text_and_recall_finds_the_new_one
    x12_an_edit_drops_what_was_made_of_the_older_text
    x12_a_message_that_changed_under_its_reference_is_updated
    x12_an_edit_is_found_in_a_block
    x12_titles_facts_and_summaries_come_with_messages
    x12_what_was_forgotten_does_not_come_back
    x12_a_forgotten_fact_does_not_come_back
}

fn line(reference: Option<&str>, text: &str) -> Import {
    let mut message = NewMessage::new(Role::User, text).at(second(1));
    message.reference = reference.map(str::to_owned);
    Import::new("chat", "ann", Some("c".into()), message)
}

async fn import(store: &Store, lines: Vec<Import>) -> Imported {
    store.import(lines, second(9)).await.unwrap()
}

async fn latest(store: &Store) -> Vec<LatestConversation> {
    let all = ExportFilter::default();
    store.latest_conversations(&all, 9).await.unwrap()
}

/// The first message of the conversation `c`.
async fn first(store: &Store) -> MessageId {
    let latest = latest(store).await.into_iter();
    let mut latest = latest.filter(|one| one.conversation.name.as_deref() == Some("c"));
    let id = latest.next().unwrap().conversation.id;
    store.messages(id, 1_000).await.unwrap()[0].id
}

async fn hits(store: &Store, query: &str) -> Vec<String> {
    let hits = store.recall(&RecallRequest::new("ann", query)).await;
    let hits = hits.unwrap().into_iter();
    hits.map(|hit| hit.text().into_owned()).collect()
}

async fn is_sound(store: &Store) {
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x12_an_edited_message_keeps_its_older_text_and_recall_finds_the_new_one(store: Store) {
    import(
        &store,
        vec![line(Some("r"), "the ferry leaves from quay seven")],
    )
    .await;
    let id = first(&store).await;
    let edit = async |text: &str| store.edit_message(id, text, second(10)).await.unwrap();
    assert!(edit("the tram leaves from platform two").await);
    assert!(!edit("the tram leaves from platform two").await);
    assert_eq!(hits(&store, "ferry quay").await, Vec::<String>::new());
    assert_eq!(
        hits(&store, "tram platform").await,
        ["the tram leaves from platform two"]
    );
    let stored = store.message(id).await.unwrap();
    assert_eq!(stored.reference.as_deref(), Some("r"));
    assert_eq!(stored.at.unwrap().to_string(), second(1).to_string());
    let versions = store.message_versions(id).await.unwrap();
    assert_eq!(versions.len(), 1);
    assert_eq!((versions[0].number, versions[0].replaced), (1, second(10)));
    assert_eq!(
        versions[0].message.content.text(),
        "the ferry leaves from quay seven"
    );
    is_sound(&store).await;
    // A copy has the versions, and forgetting takes them along.
    let other = store.for_tenant(new_tenant());
    store.copy_to(&other).await.unwrap();
    assert_eq!(other.message_versions(id).await.unwrap(), versions);
    store.forget(Forget::Message(id)).await.unwrap();
    assert_eq!(store.message_versions(id).await.unwrap(), []);
    is_sound(&store).await;
    let error = store.edit_message(id, "anything", second(11)).await;
    assert!(error.unwrap_err().to_string().contains("1.1#1"));
    let error = other.edit_message(id, " ", second(11)).await.unwrap_err();
    assert!(
        error.to_string().contains("the new text is empty"),
        "{error}"
    );
}

async fn x12_an_edit_drops_what_was_made_of_the_older_text(store: Store) {
    import(&store, vec![line(Some("r"), "I live in Berlin")]).await;
    let id = first(&store).await;
    let fact = NewFact::new("city", "Berlin").from_message(id);
    let other = NewFact::new("diet", "vegetarian");
    store
        .set_facts("ann", vec![fact, other], second(2))
        .await
        .unwrap();
    let summary = NewSummary::new((1, 1), "Ann lives in Berlin.", SummaryMaker::Rules);
    store
        .add_summary(id.conversation(), summary, second(2))
        .await
        .unwrap();
    store
        .edit_message(id, "My sister lives in Berlin", second(3))
        .await
        .unwrap();
    let facts = store.facts("ann", 9).await.unwrap();
    let keys: Vec<&str> = facts.iter().map(|fact| fact.key.as_str()).collect();
    assert!(!keys.contains(&"city"), "{keys:?}");
    assert!(keys.contains(&"diet"), "{keys:?}");
    assert_eq!(store.summaries("chat", "ann", 9).await.unwrap(), []);
    is_sound(&store).await;
}

async fn x12_a_message_that_changed_under_its_reference_is_updated(store: Store) {
    import(
        &store,
        vec![line(Some("r"), "first wording"), line(None, "no name")],
    )
    .await;
    let same = import(&store, vec![line(Some("r"), "first wording")]).await;
    assert_eq!((same.known, same.changed, same.messages), (1, 0, 0));
    let later = vec![
        line(Some("r"), "second wording"),
        line(Some("s"), "another"),
    ];
    let later = import(&store, later).await;
    assert_eq!((later.known, later.changed, later.messages), (0, 1, 1));
    let id = first(&store).await;
    assert_eq!(store.message(id).await.unwrap().text(), "second wording");
    assert_eq!(store.message_versions(id).await.unwrap().len(), 1);
    // An export that is older than the change undoes nothing.
    let older = import(&store, vec![line(Some("r"), "first wording")]).await;
    assert_eq!((older.known, older.changed), (1, 0));
    assert_eq!(store.message(id).await.unwrap().text(), "second wording");
    // Twice in one batch, the later one counts.
    let twice = vec![line(Some("t"), "third"), line(Some("t"), "fourth")];
    let twice = import(&store, twice).await;
    assert_eq!((twice.messages, twice.changed), (1, 1));
    assert_eq!(hits(&store, "third").await, Vec::<String>::new());
    assert_eq!(hits(&store, "fourth").await[0], "fourth");
    is_sound(&store).await;
}

async fn x12_an_edit_is_found_in_a_block(store: Store) {
    let said = |n: u32| line(Some(&format!("r{n}")), &format!("message zebra{n}"));
    import(&store, (0..700).map(said).collect()).await;
    let id = first(&store).await.conversation();
    let third = store.messages(id, 700).await.unwrap()[2].id;
    store
        .edit_message(third, "message giraffe", second(3))
        .await
        .unwrap();
    assert_eq!(hits(&store, "giraffe").await[0], "message giraffe");
    assert_eq!(hits(&store, "zebra2").await, Vec::<String>::new());
    assert_eq!(hits(&store, "zebra3").await[0], "message zebra3");
    is_sound(&store).await;
}

fn described(reference: &str) -> Import {
    let mut import = line(Some(reference), "Recipes without meat, please");
    import.title = Some("Recipes".into());
    import.facts = vec![NewFact::new("memory/1", "User is a vegetarian.")];
    import.summary = Some("Ann asked for recipes.".into());
    import
}

async fn x12_titles_facts_and_summaries_come_with_messages(store: Store) {
    let done = import(&store, vec![described("r")]).await;
    assert_eq!((done.messages, done.facts, done.summaries), (1, 1, 1));
    let title = latest(&store).await.remove(0).conversation.title;
    assert_eq!(title.as_deref(), Some("Recipes"));
    let fact = &store.facts("ann", 9).await.unwrap()[0];
    assert_eq!(fact.source, Some(first(&store).await));
    assert_eq!(fact.since, second(1));
    // Again, nothing is new.
    let again = import(&store, vec![described("r")]).await;
    assert_eq!((again.known, again.facts, again.summaries), (1, 0, 0));
    // A fact that was ended stays ended, a later title and summary replace the earlier ones.
    store
        .unset_fact("ann", "memory/1", second(20))
        .await
        .unwrap();
    let mut later = described("r");
    later.title = Some("Vegetarian recipes".into());
    later.summary = Some("Ann asked for vegetarian recipes.".into());
    let later = import(&store, vec![later]).await;
    assert_eq!((later.facts, later.summaries), (0, 1));
    assert_eq!(store.facts("ann", 9).await.unwrap(), []);
    let summaries = store.summaries("chat", "ann", 9).await.unwrap();
    let texts: Vec<&str> = summaries.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["Ann asked for vegetarian recipes."]);
    let title = latest(&store).await.remove(0).conversation.title;
    assert_eq!(title.as_deref(), Some("Vegetarian recipes"));
    is_sound(&store).await;
}

async fn x12_what_was_forgotten_does_not_come_back(store: Store) {
    let file = || {
        let mut other = line(Some("o"), "in another conversation");
        other.conversation = Some("d".into());
        vec![
            line(Some("r"), "my password is tulip"),
            line(None, "my other password is rose"),
            line(Some("s"), "hello"),
            other,
        ]
    };
    let export = async |store: &Store| {
        let (page, _) = store
            .export(&ExportFilter::default(), None, 99)
            .await
            .unwrap();
        let page = page.into_iter().map(|one| one.unwrap().message);
        let texts: Vec<String> = page.map(|one| one.text().into_owned()).collect();
        texts
    };
    import(&store, file()).await;
    for _ in 0..2 {
        let forget = Forget::Message(first(&store).await);
        store.forget(forget).await.unwrap();
    }
    let kept = export(&store).await;
    // The same file again: the mark keeps away what was forgotten, with a reference or without.
    let again = import(&store, file()).await;
    assert_eq!(again.messages + again.known + again.forgotten, 4);
    assert_eq!(again.forgotten, 2);
    assert_eq!(export(&store).await, kept);
    // All of the sender.
    store.forget(Forget::Sender("ann".into())).await.unwrap();
    let again = import(&store, file()).await;
    assert_eq!((again.messages, again.forgotten), (0, 4));
    assert_eq!(latest(&store).await, []);
    // New messages of the conversation are welcome.
    let more = import(&store, vec![line(Some("n"), "something new")]).await;
    assert_eq!(more.messages, 1);
    let id = first(&store).await.conversation();
    store.forget(Forget::Conversation(id)).await.unwrap();
    assert_eq!(
        import(&store, vec![line(Some("n"), "something new")])
            .await
            .forgotten,
        1
    );
    // Another tenant has forgotten nothing.
    let other = store.for_tenant(new_tenant());
    assert_eq!(import(&other, file()).await.messages, 4);
    // On purpose it comes back, and stays.
    let batch = ImportBatch::new(file()).unwrap().restoring_forgotten();
    let restored = store.import_batch(batch, second(9)).await.unwrap();
    assert_eq!((restored.messages, restored.forgotten), (4, 0));
    let again = import(&store, file()).await;
    assert_eq!(again.forgotten, 0);
    is_sound(&store).await;
}

async fn x12_a_forgotten_fact_does_not_come_back(store: Store) {
    import(&store, vec![described("r")]).await;
    let forget = Forget::Fact {
        sender: "ann".into(),
        key: "memory/1".into(),
    };
    store.forget(forget).await.unwrap();
    let again = import(&store, vec![described("r")]).await;
    assert_eq!((again.known, again.facts, again.forgotten), (1, 0, 1));
    assert_eq!(store.facts("ann", 9).await.unwrap(), []);
}
