//! Messages are kept whole, and people see those that are for them.

use jiff::SignedDuration;
use kitbag_core::message::{Message, ToolCall};
use kitbag_core::role::{Role, Visibility};
use kitbag_store::{
    ExportFilter, Import, Incoming, Learned, MemoryRequest, NewMessage, RecallRequest, Store,
};

use crate::on_both;
use crate::place::{new_tenant, second};

on_both! {
    o13_a_message_comes_back_byte_for_byte
    o13_the_steps_of_a_turn_are_kept_in_order
    t09_internal_messages_are_history_alone
}

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

const ODD: [&str; 9] = [
    r#"{"role":"user","content":"plain","name":"Ann"}"#,
    r#"{"role":"user","content":""}"#,
    r#"{"role":"user","content":[{"type":"text","text":"a  b","cache_control":{"x":1.0}},{"type":"image","source":{"data":"zebra"}}]}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","name":"read","arguments":{"path":"a","n":1.0}}]}"#,
    r#"{"role":"assistant","content":"","tool_calls":[{"id":"c2","name":"read","arguments":"{\"a\":1}"}]}"#,
    r#"{"role":"tool","content":"result \u0000 of it","tool_call_id":"c1"}"#,
    r#"{"role":"system","content":"be brief","visibility":"internal"}"#,
    r#"{"id":"m1","role":"user","content":"hi","metadata":{"run_id":"r","step_index":2},"name":"Bo","zz":{"a":[2.5],"b":1}}"#,
    r#"{"role":"assistant","content":[],"visibility":"internal","refusal":null}"#,
];

async fn o13_a_message_comes_back_byte_for_byte(store: Store) {
    let mut conversation = None;
    for json in ODD {
        let message: Message = serde_json::from_str(json).unwrap();
        let incoming = Incoming::new("cli", "ann", message);
        let turn = store.accept(&incoming, second(0)).await.unwrap();
        let stored = store.message(turn.message).await.unwrap();
        assert_eq!(serde_json::to_string(&stored.message).unwrap(), json);
        assert_eq!(stored.message, incoming.message.message);
        conversation = Some(turn.id.conversation());
    }
    let all = store.messages(conversation.unwrap(), 50).await.unwrap();
    let json = |one: &kitbag_store::StoredMessage| serde_json::to_string(&one.message).unwrap();
    assert_eq!(all.iter().map(json).collect::<Vec<_>>(), ODD);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    // Words in blocks are found; what is in their JSON beside is not.
    let hits = async |query: &str| {
        let request = RecallRequest::new("ann", query);
        store.recall(&request).await.unwrap()
    };
    assert_eq!(hits("plain").await[0].text(), "plain");
    assert!(hits("zebra").await.is_empty());
    // A copy has every byte.
    let other = store.for_tenant(new_tenant());
    store.copy_to(&other).await.unwrap();
    let copied = other.messages(conversation.unwrap(), 50).await.unwrap();
    assert_eq!(copied, all);
}

async fn o13_the_steps_of_a_turn_are_kept_in_order(store: Store) {
    let incoming = Incoming::new("cli", "ann", "where does the ferry leave?");
    let turn = store.accept(&incoming, second(0)).await.unwrap();
    let lease = store.begin(turn.id, MINUTE, second(0)).await.unwrap();
    let call = |id: &str| ToolCall {
        id: id.into(),
        name: "search".into(),
        arguments: Default::default(),
    };
    let steps = vec![
        Message::assistant("I look for the quay first.").with_tool_calls(vec![call("c1")]),
        Message::tool("c1", "quay seven, harbour office, ferry timetable"),
        Message::assistant("").with_tool_calls(vec![call("c2")]),
        Message::tool("c2", "ferry at nine"),
    ];
    let mut learned = Learned::reply("From quay seven.", second(1));
    learned.steps.clone_from(&steps);
    let done = store
        .learned(&lease, learned.clone(), second(1))
        .await
        .unwrap();
    // A retry keeps nothing twice.
    let again = store.learned(&lease, learned, second(2)).await.unwrap();
    assert_eq!(again, done);
    let said = store.messages(turn.id.conversation(), 50).await.unwrap();
    assert_eq!(done.reply, Some(said[5].id));
    let kept: Vec<&Message> = said[1..5].iter().map(|one| &one.message).collect();
    assert_eq!(kept, steps.iter().collect::<Vec<_>>());
    let recallable: Vec<bool> = said.iter().map(|one| one.recallable).collect();
    assert_eq!(recallable, [true, true, false, false, false, true]);
    let request = RecallRequest::new("ann", "harbour office timetable");
    assert!(store.recall(&request).await.unwrap().is_empty());
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn t09_internal_messages_are_history_alone(store: Store) {
    let hidden = |role| {
        let message = Message::new(role, "The zebra enclosure opens at nine.");
        NewMessage::from(message.with_visibility(Visibility::Internal))
    };
    let line = |message| Import::new("cli", "ann", Some("zoo".into()), message);
    let lines = vec![
        line(hidden(Role::System)),
        line(hidden(Role::User)),
        line("I saw a zebra once.".into()),
    ];
    store.import(lines, second(0)).await.unwrap();
    let all = ExportFilter::default();
    let latest = store.latest_conversations(&all, 9).await.unwrap();
    assert_eq!(latest[0].kept, 1);
    let id = latest[0].conversation.id;
    assert_eq!(store.messages(id, 9).await.unwrap().len(), 3);
    // The limit counts what is shown.
    let shown = store.visible_messages(id, 1).await.unwrap();
    assert_eq!(shown[0].text(), "I saw a zebra once.");
    assert_eq!(store.visible_messages(id, 9).await.unwrap(), shown);
    let query = "zebra enclosure";
    let hits = store.recall(&RecallRequest::new("ann", query)).await;
    let hits = hits.unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].text(), "I saw a zebra once.");
    assert_eq!(hits[0].duplicates, []);
    let request = MemoryRequest::new(Incoming::new("cli", "ann", query), second(1));
    let known = store.recollect(&request, None, Vec::new()).await;
    assert_eq!(known.recalled.len(), 1);
    assert_eq!(known.recalled[0].message, hits[0].message);
}
