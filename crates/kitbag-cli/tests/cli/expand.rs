//! `kitbag expand`.

use crate::pack::tree::{Tree, tree};

const SHOP: &str = "\
class User:
    def login(self):
        return 1

    def logout(self):
        return 2


class Order:
    def login(self):
        return 3


def other():
    return 4
";

fn shop() -> Tree {
    tree(&[
        ("src/shop.py", SHOP),
        ("c#/notes #1.md", "# One\n\nfirst\n\n# Two\n\nsecond\n"),
        ("a:5", "a colon\n"),
        ("c#/login.py", "def login():\n    return 5\n"),
    ])
}

#[track_caller]
fn expanded(handle: &str) -> String {
    shop().run(&["expand", handle]).success()
}

#[track_caller]
fn refused(handle: &str, code: i32, why: &str) {
    let error = shop().run(&["expand", handle]).failure(code);
    assert!(error.contains(why), "{handle}: {error}");
}

#[test]
fn x01_lines_are_those_of_the_file() {
    let all: Vec<&str> = SHOP.split_inclusive('\n').collect();
    assert_eq!(expanded("src/shop.py"), SHOP);
    assert_eq!(expanded("./src/shop.py:2-3"), all[1..3].concat());
    assert_eq!(expanded("file:src/shop.py:2"), all[1]);
    assert_eq!(expanded("src/shop.py:14-"), all[13..].concat());
    for beyond in ["99", "4294967295", "99999999999999999999999"] {
        let handle = format!("src/shop.py:14-{beyond}");
        assert_eq!(expanded(&handle), all[13..].concat(), "{beyond}");
        refused(&format!("src/shop.py:{beyond}"), 1, "has only 15 lines");
    }
    refused(
        "src/shop.py:5-2",
        2,
        "`5-2` is not a range of lines: it ends before it begins",
    );
    refused("src/shop.py:0-3", 2, "lines are counted from 1");
    refused("src/shop.py:0", 2, "lines are counted from 1");
    refused("src/shop.py:3-x", 2, "`3-x` is not a range of lines");
}

#[test]
fn x01_paths_may_hold_the_marks_of_a_handle() {
    assert_eq!(expanded("a:5"), "a colon\n");
    assert_eq!(expanded("a:5:1"), "a colon\n");
    assert!(expanded("c#/notes #1.md").starts_with("# One\n"));
    assert_eq!(expanded("c#/notes #1.md:5"), "# Two\n");
    let two = expanded("c#/notes #1.md#Two");
    assert_eq!(two.trim_end(), "# Two\n\nsecond");
    assert_eq!(
        expanded("c#/login.py#login"),
        "def login():\n    return 5\n"
    );
    refused(
        "gone#1.md",
        1,
        "there is no text file `gone` below the root",
    );
    refused(
        "src/gone.py:3-4",
        1,
        "there is no text file `src/gone.py` below the root",
    );
}

#[test]
fn x01_a_name_shows_what_it_defines() {
    assert_eq!(
        expanded("src/shop.py#other").trim(),
        "def other():\n    return 4"
    );
    let logout = expanded("src/shop.py#logout");
    assert!(
        logout.contains("def logout(self):\n        return 2\n") && !logout.contains("return 4"),
        "{logout}"
    );
    let both = expanded("src/shop.py#login");
    assert!(
        both.contains("return 1") && both.contains("return 3"),
        "{both}"
    );
    for one in [
        "src/shop.py#Order.login",
        "src/shop.py#Order::login",
        "src/shop.py#Order",
    ] {
        let one = expanded(one);
        assert!(
            one.contains("return 3") && !one.contains("return 1"),
            "{one}"
        );
    }
    refused("src/shop.py#gone", 1, "`src/shop.py` defines no `gone`");
    refused(
        "src/shop.py#gone",
        1,
        "hint: it defines User, login, logout, Order, other",
    );
}

#[test]
fn x01_what_is_no_text_of_the_project_is_refused() {
    let tree = shop();
    tree.write("../outside.txt", "secret\n");
    tree.write("bytes", b"a\0\0\0\x01");
    for handle in ["../outside.txt", "bytes", "src", ""] {
        let error = tree.run(&["expand", handle]).failure(1);
        assert!(error.contains("there is no text"), "{handle}: {error}");
    }
}

#[test]
fn x06_references_are_told_with_the_definition_around_them() {
    let tree = tree(&[
        (
            "src/a.py",
            "def pay():\n    return pay_now()\n\n\ndef shop():\n    pay()\n",
        ),
        ("README.md", "Use pay to pay.\n"),
        ("a_test.py", "from a import pay\n"),
        (
            "src/b.py",
            "from a import pay\n\n\nclass Till:\n    def close(self):\n        pay()\n        repay()\n",
        ),
    ]);
    let told = tree
        .run(&["expand", "src/a.py#pay", "--references"])
        .success();
    assert_eq!(
        told,
        "src/a.py:6 in shop: pay()\nsrc/b.py:1: from a import pay\nsrc/b.py:6 in Till.close: pay()\na_test.py:1: from a import pay\nREADME.md:1: Use pay to pay.\n",
        "code comes before prose"
    );
    let json = tree
        .run(&["expand", "src/a.py#shop", "--references", "--json"])
        .success();
    assert_eq!(json, "{\n  \"references\": []\n}\n");
    let error = tree.run(&["expand", "src/a.py", "--references"]).failure(2);
    assert!(
        error.contains("`src/a.py` does not name a definition"),
        "{error}"
    );
}
