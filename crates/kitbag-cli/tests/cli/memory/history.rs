//! Which conversations there are, and what was said.

use serde_json::json;

use super::Memory;

#[test]
fn o06_conversations_come_latest_first() {
    let memory = Memory::talk();
    memory
        .import(&[
            json!({"sender": "bob", "channel": "mail", "conversation": "b", "text": "hello",
            "at": "2024-05-20T00:00:00Z"}),
        ])
        .success();
    let table = memory.run(&["history"]).success();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows[0],
        [
            "conversation",
            "active",
            "messages",
            "sender",
            "channel",
            "name"
        ]
    );
    let names: Vec<&str> = rows[1..].iter().map(|row| row[5]).collect();
    assert_eq!(names, ["trip", "b", "dog"]);
    assert_eq!(rows[1][..2], ["1.2", "2024-06-01T09:01:00Z"]);
    let list = memory.json(&["history", "--sender", "ann", "--limit", "1"]);
    assert_eq!(list["conversations"].as_array().unwrap().len(), 1);
    assert_eq!(list["conversations"][0]["name"], "trip");
    let told = |args: &[&str]| memory.run(args).stderr;
    assert_eq!(
        told(&["history", "--limit", "2"]),
        "only the latest conversations are shown, 2 of them; `--limit` shows more\n"
    );
    assert_eq!(told(&["history", "--limit", "3"]), "");
    assert_eq!(
        told(&["history", "1.1", "--limit", "2"]),
        "only the latest messages are shown, 2 of them; `--limit` shows more\n"
    );
    assert_eq!(told(&["history", "1.1", "--limit", "3"]), "");
    let list = memory.json(&["history", "--channel", "mail", "--sender", "bob"]);
    assert_eq!(list["conversations"][0]["messages"], 1);
    let nobody = memory.run(&["history", "--sender", "nobody"]);
    assert_eq!(
        nobody.stderr,
        "there is no sender `nobody`; the store has ann, bob\n"
    );
}

#[test]
fn o06_a_conversation_is_printed_in_its_order() {
    let memory = Memory::talk();
    let text = memory.run(&["history", "1.1"]).success();
    assert_eq!(
        text,
        "2024-05-08 13:56 Ann (1.1#1)\n  The puppy that we adopted answers to Biscuit\n\
         2024-05-08 13:57 Bot (1.1#2)\n  Congratulations! Which breed?\n\
         2024-05-08 13:58 Ann (1.1#3)\n  A beagle, from the shelter\n"
    );
    let last = memory.json(&["history", "1.1", "--limit", "1"]);
    assert_eq!(
        last["messages"],
        json!([{"id": "1.1#3", "ref": "m3", "at": "2024-05-08T13:58:00+02:00", "role": "user",
            "speaker": "Ann", "text": "A beagle, from the shelter", "recallable": true}])
    );
    let error = memory.run(&["history", "9.9"]).failure(1);
    assert!(error.contains("there is no conversation `9.9`"), "{error}");
    for wrong in ["nine", "1", "1.2.3.4", "99999999999.1"] {
        memory.run(&["history", wrong]).failure(2);
    }
    memory
        .run(&["history", "1.1", "--sender", "ann"])
        .failure(2);
}

#[test]
fn o06_forgotten_messages_are_not_counted() {
    let memory = Memory::talk();
    memory
        .run(&["forget", "--message", "1.1#2", "--yes"])
        .success();
    let list = memory.json(&["history", "--sender", "ann"]);
    assert_eq!(list["conversations"][1]["name"], "dog");
    assert_eq!(list["conversations"][1]["messages"], 2);
    let table = memory.run(&["history"]).success();
    let dog: Vec<&str> = table.lines().nth(2).unwrap().split_whitespace().collect();
    assert_eq!(dog[2], "2", "{table}");
}

#[test]
fn o06_a_time_without_a_zone_is_shown_without_one() {
    let memory = Memory::of(&[
        json!({"conversation": "here", "text": "one", "at": "2024-05-08T13:56:00.25"}),
        json!({"conversation": "there", "text": "two", "at": "2024-05-07T13:56:00.25+02:00"}),
    ]);
    let table = memory.run(&["history"]).success();
    let times = table
        .lines()
        .skip(1)
        .map(|row| row.split_whitespace().nth(1));
    let times: Vec<&str> = times.map(Option::unwrap).collect();
    assert_eq!(times, ["2024-05-08T13:56:00", "2024-05-07T11:56:00Z"]);
    let list = memory.json(&["history"]);
    assert_eq!(list["conversations"][0]["began"], "2024-05-08T13:56:00.25");
    assert_eq!(
        list["conversations"][1]["active"],
        "2024-05-07T11:56:00.25Z"
    );
}
