//! Secrets: seen by the model in the turn they were typed in, masked in everything that is stored.

use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::content::Content;
use kitbag_core::inject::{ContextMessage, EntryAction};
use kitbag_core::message::Message;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    ExportFilter, Forget, Import, Incoming, Learned, MemoryRequest, NewFact, NewMessage,
    NewSummary, RecallRequest, Secrets, Store, SummaryMaker,
};

use crate::on_both;
use crate::place::second;
use crate::prompts::{begin, sent};

on_both! {
    x02_a_typed_secret_is_masked_everywhere_in_the_store
    x02_secrets_in_blocks_calls_and_names_are_masked
    x03_a_prompt_with_a_secret_is_archived_with_the_mask
    x02_secrets_are_kept_where_that_is_asked_for
    x02_names_references_keys_and_reminders_hold_no_secret
}

/// Made here, so that no file of the project holds one.
fn token() -> String {
    ["ghp", "1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX"].join("_")
}

fn password() -> String {
    ["rT7", "bf0Qz"].join("_")
}

/// Everything that the store gives back, as one text.
async fn everything(store: &Store) -> String {
    let (messages, _) = store
        .export(&ExportFilter::default(), None, 100)
        .await
        .unwrap();
    let facts = store.facts("ann", 100).await.unwrap();
    let summaries = store.summaries("cli", "ann", 100).await.unwrap();
    format!("{messages:?}{facts:?}{summaries:?}")
}

async fn x02_a_typed_secret_is_masked_everywhere_in_the_store(store: Store) {
    let (token, password) = (token(), password());
    let typed = format!("use {token} to push to the bakery repository");
    let lease = begin(&store, &typed, 0).await;
    let mut learned = Learned::reply(format!("I pushed with {token}."), second(1));
    learned.facts = vec![NewFact::new("login", format!("password: {password}"))];
    let made = NewSummary::new(
        (1, 2),
        format!("They pushed with {token}."),
        SummaryMaker::Model,
    );
    learned.summary = Some(made);
    store.learned(&lease, learned, second(1)).await.unwrap();
    let imported = NewMessage::from(format!("the token was {token}")).at(second(2));
    let import = Import::new("cli", "ann", Some("old".to_owned()), imported);
    store.import(vec![import], second(3)).await.unwrap();

    let shown = everything(&store).await;
    assert!(
        !shown.contains(&token) && !shown.contains(&password),
        "{shown}"
    );
    assert_eq!(
        shown.matches("[REDACTED:github-token]").count(),
        4,
        "{shown}"
    );
    assert!(
        shown.contains("to push to the bakery repository"),
        "{shown}"
    );
    // No word of it is in the index either: the whole message is found by its other words alone.
    let found = |query: &str| RecallRequest::new("ann", query.to_owned());
    let by_secret = store.recall(&found(&token)).await.unwrap();
    assert!(by_secret.is_empty(), "{by_secret:?}");
    assert!(
        !store
            .recall(&found("bakery repository"))
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x02_secrets_in_blocks_calls_and_names_are_masked(store: Store) {
    let (token, password) = (token(), password());
    let json = format!(
        r#"{{"role":"assistant","content":[{{"type":"text","text":"line\n{token}","zz":1.0}},{{"type":"tool_use","id":"t1","name":"login","input":{{"user":"ann","password":"{password}","n":1.50}}}},{{"type":"thinking","thinking":"use {token}","signature":"s"}}],"tool_calls":[{{"id":"c1","name":"run","arguments":"{{\"env\":\"TOKEN={token}\"}}"}}],"note":"{token}"}}"#
    );
    let message: Message = serde_json::from_str(&json).unwrap();
    let import = Import::new("cli", "ann", Some("old".to_owned()), message.into());
    store.import(vec![import], second(1)).await.unwrap();
    let shown = everything(&store).await;
    assert!(
        !shown.contains(&token) && !shown.contains(&password),
        "{shown}"
    );
    // Every other byte of a block stays, and reasoning, which is signed, goes as a whole.
    assert!(shown.contains("1.50") && shown.contains("1.0"), "{shown}");
    assert!(!shown.contains("thinking"), "{shown}");
}

async fn x03_a_prompt_with_a_secret_is_archived_with_the_mask(store: Store) {
    let token = token();
    for (number, form) in OutputForm::ALL.into_iter().enumerate() {
        let typed = format!("question {number}: is {token} still valid?");
        let lease = begin(&store, &typed, number as i64).await;
        let mut draft = Draft::new(typed.as_str());
        draft.identity = "You are brief.".into();
        draft.steps = vec![Message::assistant(format!("I try {token}."))];
        let settings = AssemblySettings::new(form, Tokens(10_000));
        let assembly = assemble(&draft, Vec::new(), &settings, &Characters, None).unwrap();
        let prompt = sent(draft, settings, assembly);
        assert!(prompt.body.contains(&token), "the model sees it: {form:?}");
        store.sent(&lease, prompt.clone(), second(1)).await.unwrap();
        // The same prompt a second time counts once, although its hash is of the mask.
        let again = store.sent(&lease, prompt, second(1)).await.unwrap();
        assert_eq!(again.inferences, 1);
        let replayed = store.replay(lease.turn, None).await.unwrap();
        assert_eq!(replayed.masked, 2, "{form:?}");
        let shown = format!("{}{:?}", replayed.body, replayed.blocks);
        assert!(!shown.contains(&token), "{form:?}: {shown}");
        assert!(
            shown.contains("[REDACTED:github-token] still valid?"),
            "{form:?}: {shown}"
        );
        let stored = store.messages(lease.turn.conversation(), 1).await.unwrap();
        let sent_as = stored[0].sent_as.as_ref().map(Content::text);
        assert!(sent_as.is_none(), "{sent_as:?}");
        let reply = Learned::reply("ok", second(2));
        store.learned(&lease, reply, second(2)).await.unwrap();
    }
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x02_secrets_are_kept_where_that_is_asked_for(store: Store) {
    let token = token();
    let keeping = store.with_secrets(Secrets::Keep);
    let incoming = Incoming::new("cli", "ann", format!("use {token}"));
    keeping.accept(&incoming, second(0)).await.unwrap();
    assert!(everything(&keeping).await.contains(&token));
}

async fn x02_names_references_keys_and_reminders_hold_no_secret(store: Store) {
    let (token, password) = (token(), password());
    let line = |name: &str, reference: &str| {
        let message = NewMessage::from("hello").with_reference(format!("{reference} {token}"));
        Import::new("cli", "ann", Some(format!("{name} {token}")), message)
    };
    let lines = || vec![line("one", "a"), line("one", "b"), line("two", "a")];
    let first = store.import(lines(), second(1)).await.unwrap();
    let again = store.import(lines(), second(2)).await.unwrap();
    assert_eq!((first.messages, again.messages, again.known), (3, 0, 3));
    assert_eq!(store.conversations("cli", "ann", 9).await.unwrap().len(), 2);

    let incoming = Incoming::new("cli", "ann", format!("My password is {password}."));
    let incoming = incoming.in_conversation(format!("one {token}"));
    let turn = store.accept(&incoming, second(3)).await.unwrap();
    let id = turn.id.conversation();
    let read = MemoryRequest::new(incoming, second(4));
    assert_eq!(store.read_conversation(&read).await.unwrap().id, Some(id));
    assert_eq!(store.conversations("cli", "ann", 9).await.unwrap().len(), 2);

    let fact = NewFact::new(format!("login {token}"), "ann");
    store.set_facts("ann", vec![fact], second(5)).await.unwrap();
    let message = ContextMessage::new("deploy", format!("Deploy with {token}."));
    let action = EntryAction::Upsert { message };
    store.change_entries(id, vec![action]).await.unwrap();

    let entries = store.state(id).await.unwrap().entries;
    let names = store.conversations("cli", "ann", 9).await.unwrap();
    let shown = format!("{}{entries:?}{names:?}", everything(&store).await);
    assert!(!shown.contains(&token), "{shown}");
    assert!(!shown.contains(&password), "{shown}");
    assert!(shown.contains("[REDACTED:password]"), "{shown}");

    // By the key that was given, the fact is found again.
    let key = format!("login {token}");
    let history = store.fact_history("ann", Some(&key), 9).await.unwrap();
    assert_eq!(history.len(), 1);
    assert!(store.unset_fact("ann", &key, second(6)).await.unwrap());
    let sender = "ann".to_owned();
    store.forget(Forget::Fact { sender, key }).await.unwrap();
    assert_eq!(store.fact_history("ann", None, 9).await.unwrap(), []);
}
