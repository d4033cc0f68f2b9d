//! Trees, their places, and what is refused.

use proptest::prelude::*;

use super::*;
use crate::problem::{FileProblem, Problems};

fn read(text: &str) -> (Value, Vec<FileProblem>) {
    Problems::reading("a.yaml", text, |root| Some(root.node.to_value()))
}

fn json(text: &str) -> String {
    let (value, warnings) = read(text);
    assert_eq!(warnings, []);
    serde_json::to_string(&value).unwrap()
}

fn refusal(text: &str) -> String {
    Node::read("a.yaml", text).unwrap_err().to_string()
}

#[test]
fn values_keep_their_order_and_their_kind() {
    assert_eq!(
        json("b: 1\na: [x, 1.5, true, ~]\n"),
        r#"{"b":1,"a":["x",1.5,true,null]}"#
    );
    assert_eq!(json("a: yes\nb: 0x10\n"), r#"{"a":"yes","b":16}"#);
    assert_eq!(json(""), "null");
}

#[test]
fn keys_are_texts_whatever_they_look_like() {
    assert_eq!(
        json("on: 1\n1: 2\ntrue: 3\n1.50: 4\n"),
        r#"{"on":1,"1":2,"true":3,"1.50":4}"#
    );
}

#[test]
fn anchors_and_merge_keys_work() {
    assert_eq!(
        json("a: &x |\n  one\n  two\nb: *x\n"),
        r#"{"a":"one\ntwo\n","b":"one\ntwo\n"}"#
    );
    assert_eq!(
        json("base: &b {k: 1, l: 2}\nc:\n  k: 3\n  <<: *b\n"),
        r#"{"base":{"k":1,"l":2},"c":{"k":3,"l":2}}"#
    );
}

#[test]
fn the_place_of_a_block_is_its_first_line() {
    let node = Node::read("a.yaml", "a: 1\nb: &x |\n  text\nc: *x\nd: 'q'\n").unwrap();
    let NodeKind::Map(entries) = node.kind else {
        panic!("expected a map");
    };
    let place = |name| entries.nodes.get(name).map(|node| (node.line, node.column));
    assert_eq!(place("a"), Some((1, 4)));
    assert_eq!(place("b"), Some((3, 3)));
    assert_eq!(
        place("c"),
        Some((3, 3)),
        "an alias stands where its anchor does"
    );
    assert_eq!(place("d"), Some((5, 4)));
}

#[test]
fn the_last_of_two_equal_keys_counts_with_a_warning() {
    let (value, warnings) = read("x:\n  a: 1\n  b: 2\n  a: 3\n");
    assert_eq!(
        serde_json::to_string(&value).unwrap(),
        r#"{"x":{"a":3,"b":2}}"#
    );
    insta::assert_snapshot!(warnings[0], @"a.yaml:4:3: x.a: this key is given twice, the last value counts");
}

#[test]
fn invalid_yaml_is_reported_with_its_place() {
    insta::assert_snapshot!(refusal("a: ["), @"a.yaml:1:4: unclosed bracket '['");
    insta::assert_snapshot!(refusal("a: 1\n---\nb: 2\n"), @"a.yaml:3:1: expected one document, got several");
    insta::assert_snapshot!(refusal("a:\n  ~: 1"), @"a.yaml:2:3: expected a key, got nothing");
    insta::assert_snapshot!(refusal("? [a]\n: 1"), @"a.yaml:1:3: expected a text as the key");
    insta::assert_snapshot!(refusal("a:\n\t- x"), @"a.yaml:2:2: tabs disallowed within this context (block indentation)");
    insta::assert_snapshot!(refusal("- &a [*a]"), @"a.yaml:1:7: Recursive reference not allowed here");
}

#[test]
fn bombs_are_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let last = n - 1;
        bomb += &format!("a{n}: &a{n} [*a{last}, *a{last}, *a{last}, *a{last}, *a{last}]\n");
    }
    assert!(Node::read("a.yaml", &bomb).is_err());
    let mut long = format!("a: &a {}\n", "x".repeat(1_000_000));
    for n in 0..100 {
        long += &format!("b{n}: *a\n");
    }
    assert!(Node::read("a.yaml", &long).is_err());
    for deep in ["[", "- ", "{a: ", "? "] {
        assert!(Node::read("a.yaml", &deep.repeat(10_000)).is_err());
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_with_its_place(text in "[a-c:&*<>|\\[\\]{}'\"#~!?, \n-]{0,60}") {
        for problem in read(&text).1 {
            prop_assert!(problem.line > 0, "{}", problem);
        }
    }
}
