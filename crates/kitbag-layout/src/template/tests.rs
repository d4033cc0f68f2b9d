//! What the comparison with Handlebars.js does not show: errors, settings and our own helpers.

use std::collections::BTreeMap;

use super::*;

fn render(source: &str, context: &str, settings: &RenderSettings<'_>) -> Result<String, String> {
    let context: Value = serde_json::from_str(context).unwrap();
    Template::parse("test", source)
        .and_then(|template| template.render(&context, settings))
        .map_err(|error| error.to_string())
}

fn rendered(source: &str, context: &str) -> String {
    render(source, context, &RenderSettings::default()).unwrap()
}

fn error(source: &str) -> String {
    render(source, "{}", &RenderSettings::default()).unwrap_err()
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    for (source, message) in [
        (
            "a\nbé {{#if x}}",
            "test:2:13: found the end where `{{/if}}` was expected",
        ),
        ("{{a b=}}", "test:1:7: found `}}` where a path was expected"),
        ("{{a\n=}}", "test:2:1: found `=}}` where `}}` was expected"),
        (
            "{{#if a}}{{/each}}",
            "test:1:4: the block `if` is closed by `each`",
        ),
        (
            "{{/if}}",
            "test:1:1: found `{{/if}}` where the end was expected",
        ),
        (
            "{{! x",
            "test:1:1: found a comment without an end where the end was expected",
        ),
        ("x {{foo 1}}", "test:1:5: there is no helper `foo`"),
        ("x {{> foo}}", "test:1:7: there is no partial `foo`"),
        (
            "{{eq 1}}",
            "test:1:3: `eq` takes 2 arguments but is given 1",
        ),
        ("{{if a}}", "test:1:3: `if` is a block, which `#` opens"),
        (
            "{{truncate 'a' 'b'}}",
            "test:1:3: `truncate` needs a number as its second argument",
        ),
        (
            "{{a/../b}}",
            "test:1:3: found `a/..` where a path was expected",
        ),
    ] {
        assert_eq!(error(source), message);
    }
}

#[test]
fn errors_have_a_hint_if_the_remedy_is_not_obvious() {
    let error = Template::parse("test", "{{list.0}}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "test:1:8: found `0}}` where a name was expected"
    );
    let hint = error.hint();
    assert_eq!(
        hint.as_deref(),
        Some("an index stands in brackets: `list.[0]`")
    );
    assert_eq!(Template::parse("test", "{{").unwrap_err().hint(), None);
}

#[test]
fn an_error_in_a_partial_names_the_partial() {
    let partial = Template::parse("part", "\n{{foo 1}}").unwrap();
    let partials = BTreeMap::from([("p".to_owned(), partial)]);
    let settings = RenderSettings {
        partials: &partials,
        ..RenderSettings::default()
    };
    assert_eq!(
        render("{{> p}}", "{}", &settings).unwrap_err(),
        "part:2:3: there is no helper `foo`"
    );
}

#[test]
fn missing_values_may_be_refused_unless_they_are_only_tested() {
    let strict = RenderSettings {
        missing: Missing::Refuse,
        ..RenderSettings::default()
    };
    for asked in [
        "{{#if a.b}}x{{/if}}",
        "{{#unless a}}{{/unless}}",
        "{{#each a}}x{{/each}}",
        "{{#with a}}x{{/with}}",
        "{{#a}}x{{/a}}",
        "{{#if (or a (not b) (eq c 1))}}{{/if}}",
        "{{n}}",
    ] {
        assert!(render(asked, r#"{"n": null}"#, &strict).is_ok(), "{asked}");
    }
    for (needed, path) in [
        ("{{a}}", "test:1:3: `a` leads to nothing"),
        ("{{{a.b}}}", "test:1:4: `a.b` leads to nothing"),
        ("{{json a.b}}", "test:1:8: `a.b` leads to nothing"),
        ("{{@index}}", "test:1:3: `@index` leads to nothing"),
        (
            "{{#if true}}{{../x}}{{/if}}",
            "test:1:15: `../x` leads to nothing",
        ),
    ] {
        assert_eq!(render(needed, r#"{"n": {}}"#, &strict).unwrap_err(), path);
    }
}

#[test]
fn escaping_may_be_left_out() {
    let plain = RenderSettings {
        escape: Escape::None,
        ..RenderSettings::default()
    };
    assert_eq!(
        render("{{a}}{{{a}}}", r#"{"a": "<"}"#, &plain).unwrap(),
        "<<"
    );
}

#[test]
fn values_that_hold_the_same_are_equal() {
    let context = r#"{"a": [1, {"b": 2, "c": 3}], "d": [1, {"c": 3, "b": 2}], "e": [1]}"#;
    assert_eq!(
        rendered(
            "{{eq a d}} {{ne a d}} {{eq a e}} {{contains a d.[1]}}",
            context
        ),
        "true false false true"
    );
}

#[test]
fn braces_in_values_stay_as_they_are() {
    let context = r#"{"a": "{{x}} }}"}"#;
    assert_eq!(rendered("{{{escapeHandlebars a}}}", context), "{{x}} }}");
}

const MESSAGES: &str = r#"{"messages": [
    {"text": "Hello <b>", "metadata": {"slack": {"user_profile": {"display_name": "Ann"}}}},
    {"text": "Hi", "isAssistant": true, "metadata": {"agent_id": "helper"}, "timestamp": "10:00"},
    {"text": "{{x}}", "metadata": {"slack": {"username": "bob"}},
     "files": [{"name": "a.png", "size": 2048, "localPath": "/tmp/a.png"}, {"name": "b", "size": 3}]},
    {"text": "1", "metadata": {"slack": {"user_id": "U1"}}},
    {"text": "2"}
]}"#;

#[test]
fn a_conversation_has_a_template_of_its_own() {
    assert_eq!(
        rendered("{{{formatConversation messages \"slack\"}}}", MESSAGES),
        "Primary agent: @helper\n\
         Previous conversation (5 messages):\n\
         **Ann**\n: Hello <b>\n\
         **Assistant (@helper)**\n: Hi\n\
         **bob**\n: {{x}}\n\
         📎 a.png (2 KB) - Local: /tmp/a.png\n\
         📎 b (3 B) - Local: \n\
         **User (U1)**\n: 1\n\
         **User**\n: 2\n"
    );
}

#[test]
fn a_conversation_is_a_text_as_any_other() {
    let given = Template::parse(
        "mine",
        "{{platform}}<{{messagesCount}}>{{messages.[0].text}}",
    );
    let given = given.unwrap();
    let settings = RenderSettings {
        conversation: Some(&given),
        ..RenderSettings::default()
    };
    assert_eq!(
        render(
            "{{formatConversation messages 'cli'}} {{x}}",
            MESSAGES,
            &settings
        )
        .unwrap(),
        "cli&lt;5&gt;Hello &lt;b&gt; "
    );
}

#[test]
fn paths_are_listed_in_their_order() {
    let source = "{{a}}\n{{#each b.c as |d|}}{{d.x}}{{../e}}{{@index}}{{else}}{{d}}{{/each}}\
                  {{> p f g=(eq h.[i j] 1)}}{{length}}{{> (lookup . 'k')}}{{#l}}{{/l}}";
    let template = Template::parse("test", source).unwrap();
    let listed: Vec<String> = template.paths().map(|path| path.parts.join(".")).collect();
    assert_eq!(
        listed,
        ["a", "b.c", "e", "index", "d", "f", "h.i j", "", "l"]
    );
}
