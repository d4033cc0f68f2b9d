//! Files as people and agents write them, with our part in and out again.

use serde_json::json;

use super::*;

const PATH: [&str; 2] = ["mcpServers", "kitbag"];

fn server() -> Value {
    json!({"command": "kitbag", "args": ["mcp"]})
}

fn is_ours(value: &Value) -> bool {
    value["ours"] == true
}

#[test]
fn x11_a_file_is_the_same_after_adding_and_removing() {
    for text in [
        "",
        "{\"a\": 1}",
        "{\n  \"a\": 1\n}\n",
        "{\n\t\"mcpServers\": {\n\t\t\"x\": {\"command\": \"y\"}\n\t}\n}",
        "{\"mcpServers\":{\"x\":{\"command\":\"y\"}},\"z\":[1,2]}",
        "// mine\n{\n    \"mcpServers\": {\n        \"x\": {}, // the last\n    },\n}\n",
        "{\n  \"mcpServers\": {\n    \"x\": {} // no comma, \"yet\"\n    /* { */\n  }\n}\n",
        "{\r\n  \"a\": \"\\\"}//\"\r\n}\r\n",
        "{\"mcpServers\": {\"x\": {} // c\n}}",
        "{\"x\": {}, // c\u{a0}\n}",
    ] {
        let with = set(text, &PATH, &server()).unwrap();
        let tree = parse(&with).unwrap();
        assert_eq!(
            tree.at(&PATH).unwrap().value(&with).unwrap(),
            server(),
            "{with}"
        );
        assert_eq!(
            set(&with, &PATH, &server()).unwrap(),
            with,
            "a second time changes nothing"
        );
        assert_eq!(remove(&with, &PATH).unwrap(), text, "{with}");
    }
}

#[test]
fn x11_the_layout_of_the_file_is_followed() {
    let with = set(
        "{\n    \"mcpServers\": {\n        \"x\": {}\n    }\n}\n",
        &PATH,
        &server(),
    );
    let expected = "{\n    \"mcpServers\": {\n        \"x\": {},\n        \"kitbag\": {\n            \"args\": [\n                \"mcp\"\n            ],\n            \"command\": \"kitbag\"\n        }\n    }\n}\n";
    assert_eq!(with.unwrap(), expected);
}

#[test]
fn x11_items_of_lists_come_and_go_among_others() {
    let path = ["hooks", "Stop"];
    let item = json!({"ours": true});
    for text in [
        "",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": []\n      }\n    ]\n  }\n}\n",
        "{\"hooks\": {\"Stop\": [{\"x\": 1}], \"Other\": []}}",
        "{\n  \"permissions\": {\n    \"allow\": []\n  }\n}",
    ] {
        let with = push(text, &path, &item, is_ours).unwrap();
        assert_eq!(push(&with, &path, &item, is_ours).unwrap(), with);
        assert_eq!(remove_items(&with, &path, is_ours).unwrap(), text, "{with}");
        let other = json!({"ours": true, "more": 1});
        let changed = push(&with, &path, &other, is_ours).unwrap();
        assert_eq!(changed.matches("ours").count(), 1, "{changed}");
        assert_eq!(remove_items(&changed, &path, is_ours).unwrap(), text);
    }
    let text = "{\"hooks\": {\"Stop\": [{\"ours\": true}, {\"x\": 1}]}}";
    let without = remove_items(text, &path, is_ours).unwrap();
    let tree = parse(&without).unwrap();
    let left = tree.at(&path).unwrap().value(&without).unwrap();
    assert_eq!(left, json!([{"x": 1}]));
}

#[test]
fn x11_comments_stay_when_an_older_entry_is_replaced_or_removed() {
    let text = "{\n  // all of them\n  \"mcpServers\": {\n    // the memory\n    \"kitbag\": {\n      \"command\": \"/old/kitbag\", // by hand\n      \"env\": {\"A\": \"b\" /* mine */},\n      \"args\": [\"mcp\"]\n    } // here\n  }\n}\n";
    let entry = json!({"args": ["mcp"], "command": "kitbag", "env": {"A": "b"}, "type": "stdio"});
    let with = set(text, &PATH, &entry).unwrap();
    let expected = text
        .replace("/old/kitbag", "kitbag")
        .replace("[\"mcp\"]\n", "[\"mcp\"],\n      \"type\": \"stdio\"\n");
    assert_eq!(with, expected);
    let without = remove(&with, &PATH).unwrap();
    for comment in ["// all of them", "// the memory", "// here"] {
        assert!(without.contains(comment), "{without}");
    }
    let path = ["hooks", "Stop"];
    let item = json!({"ours": true, "more": 1});
    let text = "{\"hooks\": { // on\n\"Stop\": [ // first\n{\"ours\": true}, {\"x\": 1}, /* again */ {\"ours\": true} // last\n]}}";
    let with = push(text, &path, &item, is_ours).unwrap();
    let expected = "{\"hooks\": { // on\n\"Stop\": [ // first\n{\"more\":1,\"ours\":true}, {\"x\": 1} /* again */ // last\n]}}";
    assert_eq!(with, expected);
    let without = remove_items(&with, &path, |_| true).unwrap();
    assert!(
        without.contains("// on") && without.contains("// first"),
        "{without}"
    );
}

#[test]
fn x11_a_file_that_cannot_take_it_is_told() {
    let told = |text: &str| set(text, &PATH, &server()).unwrap_err();
    assert!(told("{\"a\": ").contains("it is not JSON"));
    assert_eq!(told("{\"mcpServers\": []}"), "`mcpServers` is no object");
    assert!(told("[]").contains("is no object"));
}

#[test]
fn x11_nothing_gets_into_a_comment() {
    let text = "{\"mcpServers\": {\"x\": {}, // c\n\"kitbag\": {}}}";
    let without = remove(text, &PATH).unwrap();
    assert_eq!(without, "{\"mcpServers\": {\"x\": {} // c\n}}");
    let text = "{\"mcpServers\": {\"x\": 1, // c\n\"kitbag\": {}, \"y\": 2}}";
    let without = remove(text, &PATH).unwrap();
    assert_eq!(without, "{\"mcpServers\": {\"x\": 1, // c\n \"y\": 2}}");
}

#[test]
fn x11_a_change_that_would_not_be_the_one_that_is_meant_is_an_error() {
    // Of a name that stands twice, the last counts.
    let twice = "{\"mcpServers\": {\"x\": 1}, \"mcpServers\": {\"kitbag\": {}, \"y\": 1}}";
    assert!(remove(twice, &PATH).is_err());
    let twice = "{\"mcpServers\": {\"kitbag\": {}, \"x\": 1}, \"mcpServers\": {\"y\": 1}}";
    assert!(set(twice, &PATH, &server()).is_err());
    let empty = "{\"mcpServers\": {}}";
    assert_eq!(remove(empty, &PATH).unwrap(), empty);
}

/// What may stand between the parts of an object.
const GAPS: [&str; 7] = [
    "",
    " ",
    "\n    ",
    " // c, \"}\n",
    "/* { // */",
    "\n/*\n*/\t",
    " //\u{3000}\n  ",
];

/// An object with such stretches, and with a comma at its end or without.
fn commented(keys: &[String], gaps: &[usize]) -> String {
    let mut gaps = gaps.iter().map(|gap| GAPS[*gap]).cycle();
    let mut gap = || gaps.next().unwrap();
    let mut text = format!("{}{{", gap());
    for (number, key) in keys.iter().enumerate() {
        let comma = match number + 1 < keys.len() || keys.len().is_multiple_of(2) {
            true => ",",
            false => "",
        };
        let key = Value::from(key.as_str());
        text += &[
            gap(),
            &key.to_string(),
            gap(),
            ":",
            gap(),
            "{}",
            gap(),
            comma,
        ]
        .concat();
    }
    text + gap() + "}"
}

proptest::proptest! {
    #[test]
    fn x11_any_comments_are_the_same_after_adding_and_removing(
        keys in proptest::collection::btree_set("[a-z]{1,4}", 1..4),
        gaps in proptest::collection::vec(0..GAPS.len(), 1..14),
    ) {
        let keys: Vec<String> = keys.into_iter().collect();
        let inner = commented(&keys, &gaps);
        for text in [inner.clone(), format!("{{\"mcpServers\":{inner}}}")] {
            let with = set(&text, &PATH, &server()).unwrap();
            let tree = parse(&with).unwrap();
            proptest::prop_assert_eq!(tree.at(&PATH).unwrap().value(&with).unwrap(), server());
            proptest::prop_assert_eq!(remove(&with, &PATH).unwrap(), text);
        }
        // Any of several may go; what is left is checked where it is taken out.
        if keys.len() > 1 {
            for key in &keys {
                let left = remove(&inner, &[key]).unwrap();
                proptest::prop_assert!(parse(&left).unwrap().at(&[key]).is_none());
            }
        }
    }

    #[test]
    fn x11_any_object_is_the_same_after_adding_and_removing(
        keys in proptest::collection::btree_map("[a-z\"{}/,]{1,4}", "[\\PC\n]{0,6}", 1..5),
    ) {
        let value = json!(keys);
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let with = set(&text, &PATH, &server()).unwrap();
            let tree = parse(&with).unwrap();
            proptest::prop_assert_eq!(tree.at(&PATH).unwrap().value(&with).unwrap(), server());
            proptest::prop_assert_eq!(remove(&with, &PATH).unwrap(), text);
        }
    }
}
