//! A task is read as a person would read it.

use super::*;
use proptest::prelude::*;

fn zone_of(found: &[(Zone, &str)], part: &str) -> Vec<Zone> {
    let with = found.iter().filter(|(_, text)| text.contains(part));
    with.map(|(zone, _)| *zone).collect()
}

const TASK: &str = "Login redirects twice
<!-- please search first -->
### Steps
Call `login_required` as in https://example.org/docs.

```
$ curl localhost
```

    Traceback (most recent call last):
      File \"app/views.py\", line 12, in login
    ValueError: unknown target
";

#[test]
fn x05_words_count_by_where_they_stand() {
    let zones = zones(TASK);
    assert_eq!(zone_of(&zones, "redirects"), [Zone::Title]);
    assert_eq!(zone_of(&zones, "search"), [Zone::Comment]);
    assert_eq!(zone_of(&zones, "Steps"), [Zone::Heading]);
    assert_eq!(zone_of(&zones, "login_required"), [Zone::Inline]);
    assert_eq!(zone_of(&zones, "example.org"), [Zone::Url]);
    assert_eq!(zone_of(&zones, "curl"), [Zone::Code]);
    assert_eq!(zone_of(&zones, "ValueError"), [Zone::Log]);
}

#[test]
fn x05_a_task_may_begin_with_code() {
    let task = "```js\nimport { parse } from './parse.js';\nopen_file();\n```\nWhy is it empty?";
    let zones = zones(task);
    assert_eq!(zone_of(&zones, "open_file"), [Zone::Code]);
    assert_eq!(zone_of(&zones, "empty"), [Zone::Title]);
    assert_eq!(Query::new(task).names, Names::default());
}

#[test]
fn x05_only_names_of_definitions_are_names() {
    let symbols = |task: &str| {
        let symbols = Query::new(task).names.symbols.into_iter();
        symbols.map(|symbol| symbol.name).collect::<Vec<_>>()
    };
    let task = "GitHub loads config.json and index.html by `npm run build` in openapi.yaml";
    assert_eq!(symbols(task), [""; 0]);
    let task = "`run`, `Session.send`, a.b.load_all and `call build() twice` are slow";
    assert_eq!(symbols(task), ["run", "send", "load_all", "build"]);
}

#[test]
fn x05_a_product_is_no_file() {
    let paths = |task: &str| Query::new(task).names.paths;
    assert_eq!(paths("it leaks under Node.js 18 and next.js"), [""; 0]);
    assert_eq!(
        paths("mend `node.js` and src/vue.js"),
        ["node.js", "src/vue.js"]
    );
}

#[test]
fn x05_a_task_is_terms_mentions_phrases_and_frames() {
    let query = Query::new(TASK);
    let weight = |text: &str| {
        let term = query.terms.iter().find(|term| term.text == text);
        term.map(|term| term.weight)
    };
    assert!(weight("redirect") > weight("call"));
    assert!(weight("call") > weight("curl"));
    assert_eq!(weight("search"), None);
    assert!(weight("login_required").is_some());
    assert!(query.mentions.has_name("app/views.py"));
    assert!(query.mentions.has_tail("src/app/views.py"));
    assert!(query.phrases.contains(&"unknown target".to_owned()));
    let frame = Frame {
        path: "app/views.py".into(),
        line: 12,
    };
    assert_eq!(query.frames, [frame]);
}

#[test]
fn x05_frames_of_the_common_languages_are_read() {
    for (text, path, line) in [
        ("at foo (/srv/app/lib/a.js:10:5)", "/srv/app/lib/a.js", 10),
        ("at com.x.A.run(A.java:33)", "A.java", 33),
        ("src/main.rs:7:9", "src/main.rs", 7),
        ("panic: x\n\t/go/src/x/y.go:88 +0x1d", "/go/src/x/y.go", 88),
        ("in C:\\app\\a.cs:line 12", "C:/app/a.cs", 12),
        ("#0 /www/a.php(55): f()", "/www/a.php", 55),
        ("in /www/b.php on line 9", "/www/b.php", 9),
        ("lib/x.rb:4:in `go'", "lib/x.rb", 4),
    ] {
        let frames = Query::new(text).frames;
        let frame = Frame {
            path: path.into(),
            line,
        };
        assert_eq!(frames, [frame], "{text}");
    }
}

#[test]
fn x05_dotted_names_name_files() {
    let mentions = Query::new("django.db.models.query.QuerySet fails").mentions;
    assert!(mentions.has_dotted("django/db/models/query.py"));
    assert!(mentions.has_dotted("django/db/models/__init__.py"));
    assert!(!mentions.has_dotted("django/db/query.py"));
}

proptest! {
    #[test]
    fn x05_any_task_is_read(task in any::<String>()) {
        let query = Query::new(&task);
        prop_assert!(query.terms.is_sorted_by(|a, b| (&a.text, a.is_whole) < (&b.text, b.is_whole)));
    }

    #[test]
    fn x05_zones_hold_every_line(lines in proptest::collection::vec("[a-z`#$ ]{0,20}", 0..20)) {
        let task = lines.join("\n");
        let words: usize = task.split_whitespace().map(str::len).sum();
        let kept: usize = zones(&task).iter().map(|(_, text)| text.split_whitespace().map(str::len).sum::<usize>()).sum();
        prop_assert!(kept <= words);
    }
}
